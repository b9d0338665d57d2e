"""Verify: all three logs recomputed, one answer (TRAIL.7, 8)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from tallystick.errors import MachineError, ProofError, TrailUnwritable, UsageError
from tallystick.log.checkpoint import parse
from tallystick.model.entry import LogName
from tallystick.store.outside import Verified, origin
from tallystick.trail import Trail
from tallystick.trail.incremental import verify_since
from tallystick.trail.verifying import Bad, Report, checking_key, verify_log
from tallystick.workflows.note_key import keys

MOST_NEW = 200_000
"""Entries up to which what is new is verified by itself; of more, all is."""


class Verification(NamedTuple):
    """What was found, a report for each log that was ever written or is known to have been."""

    reports: tuple[Report, ...]

    @property
    def sound(self) -> bool:
        """Whether every log is."""
        return all(report.sound for report in self.reports)

    @property
    def memory(self) -> Report:
        """The memory log's report."""
        return self.reports[0]

    @property
    def first_bad(self) -> tuple[str, Bad] | None:
        """(log, the first problem in order of seq) of the first log that has one."""
        return next(((report.log, report.bad[0]) for report in self.reports if report.bad), None)


def verify_trail(
    trail: Trail,
    against: bytes | None = None,
    *,
    key: str | None = None,
    incremental: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Verification:
    """Recompute the trail; ``against`` is a signed checkpoint of one of its logs, kept elsewhere, which counts beside what is
    known of the log here. ``key`` is the trail's public key as ``note_key.keys`` takes it; without it, the one that is kept here.

    With ``incremental`` what was found sound before is taken as it was then; a log that never was is recomputed whole.
    ``progress`` is called with the number of entries read of a log.

    Raises:
        UsageError: ``against`` is not a checkpoint of this trail, or ``key`` no key of it.
        MachineError: there is no key to check the signature of ``against`` with.
        TrailUnreadable: the files cannot be opened at all.
    """
    mine = _log_of(trail, against) if against is not None else None
    public = checking_key(trail, trail.id, _public_key(trail, mine, key)) if mine is not None else None
    reports = []
    for log in LogName:
        verified = trail.outside.read_verified(trail.id, log) if incremental and mine is not log else None
        if verified is not None and _size(trail, log) - verified.size <= MOST_NEW:
            report = verify_since(trail, log, verified, progress)
        else:
            report = verify_log(trail, log, against if mine is log else None, progress, key=public)
        if report.sound and report.size and trail.outside.public_key(trail.id) is not None:
            with suppress(TrailUnwritable):  # Then the next one has more to do.
                trail.outside.write_verified(trail.id, log, Verified(report.size, report.frontier))
        if report.size or report.bad or log is LogName.MEMORY:
            reports.append(report)
    return Verification(tuple(reports))


def _size(trail: Trail, log: LogName) -> int:
    try:
        with trail.reading(log, checked=False) as rows:
            return rows.head().size
    except (ProofError, MachineError):
        return 0


def _public_key(trail: Trail, log: LogName, key: str | None) -> bytes | None:
    """The key handed in, where one is."""
    if key is None:
        return None
    try:
        return keys(trail.outside, key)(origin(trail.id, log), None).public_key
    except ProofError as error:
        raise UsageError(f"--key {key[:40]}: {error}") from None


def _log_of(trail: Trail, note: bytes) -> LogName:
    try:
        name = parse(note).checkpoint.origin
    except ProofError as error:
        raise UsageError(f"--against: {error}") from None
    for log in LogName:
        if name == f"tallystick/{trail.id}/{log}":
            return log
    raise UsageError(f"--against: a checkpoint of {name}; this trail is tallystick/{trail.id}")
