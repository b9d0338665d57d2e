"""Verify: all three logs recomputed, one answer (TRAIL.7, 8)."""

from __future__ import annotations

from typing import NamedTuple

from tallystick.errors import ProofError, UsageError
from tallystick.log.checkpoint import parse
from tallystick.model.entry import LogName
from tallystick.trail import Trail
from tallystick.trail.verifying import Bad, Report, verify_log


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


def verify_trail(trail: Trail, against: bytes | None = None) -> Verification:
    """Recompute the trail; ``against`` is a signed checkpoint of one of its logs, kept elsewhere.

    Raises:
        UsageError: ``against`` is not a checkpoint of this trail.
        TrailUnreadable: the files cannot be opened at all.
    """
    mine = _log_of(trail, against) if against is not None else None
    reports = [verify_log(trail, LogName.MEMORY, against if mine is LogName.MEMORY else None)]
    for log in (LogName.ACCESS, LogName.LEDGER):
        report = verify_log(trail, log, against if mine is log else None)
        if report.size or report.bad:
            reports.append(report)
    return Verification(tuple(reports))


def _log_of(trail: Trail, note: bytes) -> LogName:
    try:
        name = parse(note).checkpoint.origin
    except ProofError as error:
        raise UsageError(f"--against: {error}") from None
    for log in LogName:
        if name == f"tallystick/{trail.id}/{log}":
            return log
    raise UsageError(f"--against: a checkpoint of {name}; this trail is tallystick/{trail.id}")
