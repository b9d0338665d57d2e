"""Provable replay: a bundle written whole, and held before it is there (TIME.3, TRAIL.3)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tallystick.errors import TrailUnreadable
from tallystick.trail import Trail
from tallystick.workflows.bundle import Asked, ask, bundle_lines
from tallystick.workflows.check_bundle import check_bundle
from tallystick.workflows.note_key import Key
from tallystick.workflows.scoping import Scope
from tallystick.workflows.whole import written_whole


class ProvedReplay(NamedTuple):
    """What a bundle was written about."""

    seq: int
    """The last entry that the checkpoint covers: the point of the answer."""
    believed: int
    leaves: int
    newer: int
    """Entries of the log that the checkpoint does not cover."""


def prove_replay(
    trail: Trail, scope: Scope, file: Path, *, as_of: str | None = None, valid_at: int | None = None
) -> ProvedReplay:
    """Write a bundle of what the holders in scope believed under the checkpoint in ``as_of``, or the newest signed one.

    It is checked as a stranger would before it takes the file's name.

    Raises:
        UsageError, BadTime: see ``bundle.ask``; or the file cannot be written.
        TrailUnreadable: the trail does not say what its entries say, and no bundle of it would hold.
    """
    with trail.reading() as rows:
        asked = ask(trail, rows, scope, as_of, valid_at)
        lines = written_whole(file, bundle_lines(rows, asked), lambda path: _require_it_holds(trail, asked, path))
    size = asked.under.checkpoint.size
    leaves = asked.later.checkpoint.size if asked.later else size
    return ProvedReplay(size - 1, lines - leaves - 2, leaves, asked.size - size)


def _require_it_holds(trail: Trail, asked: Asked, path: Path) -> None:
    key = Key(trail.id, asked.under.public_key, "state")
    with path.open("rb") as stream:
        flaw = check_bundle(stream, lambda _origin, _carried: key).flaw
    if flaw is not None:
        raise TrailUnreadable(
            f"{trail.store.location}: what it says was believed is not what its entries say: {flaw.what}; run `tally verify`"
        )
