"""Which session of ours a harness's session is: asked once for each file that is read, so looked up and not looked for."""

from __future__ import annotations

from collections.abc import Callable

from tallystick.store.protocol import Reading, Writing
from tallystick.workflows.tombstones import live_key

_ALL = live_key("", "", "")
"""Filed once every session of the log is; a log of an earlier version has its sessions filed when the next one comes."""


def known_session(rows: Writing, digest: Callable[[bytes], bytes], names: tuple[str, str, str]) -> int:
    """Our number of a session by (harness, the harness's own id, thread), once all are filed; -1 where it is not known."""
    found = rows.same(digest(live_key(*names)))
    return -1 if found is None else found


def file_session(rows: Writing, digest: Callable[[bytes], bytes], names: tuple[str, str, str], seq: int) -> None:
    """File a session that was introduced under what it is looked up by."""
    rows.file([(digest(live_key(*names)), seq)])


def file_all(
    rows: Writing, digest: Callable[[bytes], bytes], told: Callable[[Reading], list[tuple[tuple[str, str, str], int]]]
) -> None:
    """File every session that is not, once in the life of a log; ``told`` lists (names, number) of all."""
    if rows.same(digest(_ALL)) is None:
        rows.file([*((digest(live_key(*names)), seq) for names, seq in told(rows)), (digest(_ALL), 0)])
