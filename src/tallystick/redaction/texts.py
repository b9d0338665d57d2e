"""Takes secrets out of one text, and says how many of which kind (EVID.9).

An Aho–Corasick automaton finds the literals that secrets begin with or are assigned under; only around a hit is anything
examined, by patterns of bounded length, so that a text without hits costs one pass and no input costs more than a
multiple of its length (EVID.10). What only names a secret (a variable, a placeholder, a call, a type) stays.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick, Implementation

from tallystick.redaction import assignments, configured, cookies, credentials, options, private_keys, tokens
from tallystick.redaction.found import MARK, MAX_VALUE, Finder, Found

REDACTOR = "redaction/3"
"""Name and version of these rules; stands on every archived event."""


class Redaction(NamedTuple):
    """A text without its secrets, and what was taken out."""

    text: str
    """Each secret replaced by ``[redacted:<kind>]``; all else as it was."""
    counts: dict[str, int]
    """Number of replacements by kind; empty when ``text`` is unchanged."""


_SURROGATES = re.compile("[\ud800-\udfff]")


def redact(text: str, *, emails: bool = False) -> Redaction:
    """``text`` with every secret replaced by ``[redacted:<kind>]``. Pure, idempotent, linear; raises nothing.

    With ``emails``, e-mail addresses too. Hosts, user names and variable names around a secret are kept.
    """
    counts: dict[str, int] = {}
    for _ in range(4):  # one pass is enough unless a replacement uncovers a neighbour; idempotence is worth the check
        found = _find(text, emails)
        if not found:
            break
        text = _replace(text, found, counts)
    return Redaction(text, counts)


def may_hold_secrets(text: str, *, emails: bool = False) -> bool:
    """Whether anything in ``text`` needs a closer look; False means that ``redact`` leaves each line of it as it is."""
    return bool(_hits(text)) or (emails and "@" in text)


def _hits(text: str) -> list[tuple[int, int, int]]:
    try:
        return _AUTOMATON.find_matches_as_indexes(text, overlapping=True)
    except UnicodeError:
        return _AUTOMATON.find_matches_as_indexes(_SURROGATES.sub("?", text), overlapping=True)


def _find(text: str, emails: bool) -> list[Found]:
    found: list[Found] = []
    finders = _FINDERS
    covered = 0
    invisible = False
    for literal, start, end in _hits(text):
        if start < covered:
            continue  # inside a private key or a token: its body is not read again for every literal in it
        if literal < _INVISIBLES:
            invisible = True
            continue
        secret = finders[literal - _INVISIBLES](text, start, end)
        if secret is not None:
            found.append(secret)
            if secret.rank == 0 or secret.end - secret.start >= MAX_VALUE:
                covered = secret.end
    if emails and "@" in text:
        found.extend(_emails(text))
    if invisible:
        found.extend(_through_invisibles(text, emails))
    return found


def _through_invisibles(text: str, emails: bool) -> list[Found]:
    """What is a secret once the characters that no one sees are left out, with them where they stand inside it."""
    pieces = _INVISIBLE.split(text)
    starts: list[int] = []
    position = 0
    for piece in pieces[:-1]:
        position += len(piece)
        starts.append(position)
    return [
        secret._replace(
            start=secret.start + bisect_right(starts, secret.start), end=secret.end + bisect_left(starts, secret.end)
        )
        for secret in _find("".join(pieces), emails)
    ]


def _replace(text: str, found: list[Found], counts: dict[str, int]) -> str:
    found.sort()
    pieces: list[str] = []
    position = 0
    start, end, kind, rank = found[0]
    for secret in [*found[1:], Found(len(text) + 1, 0, "", 0)]:
        if secret.start < end:
            if secret.rank < rank:
                kind, rank = secret.kind, secret.rank
            end = max(end, secret.end)
            continue
        pieces += (text[position:start], MARK, kind, "]")
        counts[kind] = counts.get(kind, 0) + 1
        position = end
        start, end, kind, rank = secret
    pieces.append(text[position:])
    return "".join(pieces)


_LOCAL_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._%+-"
_DOMAIN = re.compile(r"(?<=[A-Za-z0-9._%+-])@[A-Za-z0-9-]{1,63}+(?:\.[A-Za-z0-9-]{1,63}+){1,8}")


def _emails(text: str) -> list[Found]:
    found: list[Found] = []
    for domain in _DOMAIN.finditer(text):
        at = domain.start()
        before = text[max(0, at - 64) : at]
        local = before[len(before.rstrip(_LOCAL_CHARACTERS)) :]
        if local != "git":
            found.append(Found(at - len(local), domain.end(), "email", 3))
    return found


_INVISIBLE = re.compile("[\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Soft hyphen, zero-width characters, marks of direction: a token goes on through them."""
_INVISIBLE_LITERALS = [letter for letter in map(chr, range(0x10000)) if _INVISIBLE.match(letter)]
_INVISIBLES = len(_INVISIBLE_LITERALS)
_TABLE: list[tuple[str, Finder]] = [
    *tokens.finders(),
    *private_keys.finders(),
    *credentials.finders(),
    *cookies.finders(),
    *configured.finders(),
    *options.finders(),
    *assignments.finders(),
]
_FINDERS = [finder for _, finder in _TABLE]
_AUTOMATON = AhoCorasick([*_INVISIBLE_LITERALS, *(literal for literal, _ in _TABLE)], implementation=Implementation.DFA)
