"""Typed things that a sentence is about: paths, numbers with units, commits, issues, hosts, versions, symbols …"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class AnchorKind(StrEnum):
    """What sort of thing an anchor names."""

    PATH = "path"
    NUMBER = "number"
    COMMIT = "commit"
    ISSUE = "issue"
    HOST = "host"
    PORT = "port"
    VERSION = "version"
    SYMBOL = "symbol"
    """A code identifier: snake_case, camelCase, dotted or with ``()``, and whatever stands in back-ticks as one word."""
    ENV = "env"
    URL = "url"
    FLAG = "flag"
    """A command-line option such as ``--no-verify``."""


class Anchor(NamedTuple):
    """One anchor and where it stands."""

    kind: AnchorKind
    value: str
    """As written, without back-ticks or surrounding punctuation; numbers keep their unit (``30 s``, ``5.75 MB``)."""
    start: int
    """Character offset into the text, half-open with ``end``."""
    end: int


def anchors(text: str) -> list[Anchor]:
    """The anchors of ``text`` in order, not overlapping; the most specific kind wins."""
    raise NotImplementedError
