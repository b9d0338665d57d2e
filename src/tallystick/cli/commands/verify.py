"""``tally verify``: the whole trail from bytes."""

from __future__ import annotations

from pathlib import Path

import click

from tallystick.cli.app import stop
from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.cli.progress import counted
from tallystick.cli.public_key import key_said
from tallystick.errors import MachineError, UsageError
from tallystick.trail.appending import exchanged
from tallystick.trail.verifying import Report
from tallystick.workflows.verify import Verification, verify_trail


@click.command(
    "verify", help="Recompute entries, parts, archive and views from bytes; exit 0 sound, 1 broken, 3 cannot tell."
)
@click.option(
    "--against", metavar="CHECKPOINT", type=click.Path(path_type=Path), help="A signed checkpoint kept elsewhere."
)
@click.option(
    "--key",
    metavar="KEY",
    help="With --against: the trail's public key, or a file with it, as `tally checkpoint --key` prints it.",
)
@click.option(
    "--incremental",
    is_flag=True,
    help="Only what was added since all was last found sound; quick, and older parts, views and files are not looked at again.",
)
@shared(reads=False)
def command(asked: Asked, against: Path | None, key: str | None, incremental: bool) -> None:
    """Verify."""
    try:
        note = against.read_bytes() if against else None
    except OSError as error:
        raise UsageError(f"--against {against}: {error.strerror}") from None
    if key is not None and note is None:
        raise UsageError("--key checks the signature of a checkpoint; name the checkpoint with --against")
    if not asked.trail.id:
        if why := exchanged(asked.trail):
            raise MachineError(f"{asked.trail.store.location}: {why}; restore it, or `tally doctor --accept-head`")
        raise MachineError(
            f"{asked.trail.store.location}: nothing was ever written there, so there is nothing to verify"
        )
    with counted("entries") as progress:
        found = verify_trail(
            asked.trail, note, key=key_said(key), incremental=incremental, progress=lambda done: progress(done, None)
        )
    first = found.first_bad
    document = {
        "sound": found.sound,
        "size": found.memory.size,
        "root": found.memory.root.hex(),
        "first_bad": None if first is None else {"seq": first[1].seq, "what": first[1].what, "log": first[0]},
        "checkpoint": {"state": found.memory.checkpoint},
        "logs": {
            report.log: {
                "size": report.size,
                "root": report.root.hex(),
                "checkpoint": report.checkpoint,
                "bad": len(report.bad),
                "unknown_kinds": report.unknown_kinds,
                "since": report.since,
            }
            for report in found.reports
        },
    }
    asked.show(document, lambda: _shown(found))
    if not found.sound:
        stop(1)


def _shown(found: Verification) -> str:
    lines = []
    for report in found.reports:
        state = "sound" if report.sound else f"BROKEN ({len(report.bad)} problems)"
        lines.append(
            f"{report.log}: {state}, {_entries(report)}, root {report.root.hex()[:16]}…, checkpoint {report.checkpoint}"
        )
        lines += [f"  {'entry ' + str(bad.seq) if bad.seq >= 0 else 'files'}: {bad.what}" for bad in report.bad[:5]]
    return "\n".join(lines)


def _entries(report: Report) -> str:
    since = f", those before {report.since} as verified before" if report.since else ""
    return f"{report.size} entries{since}"
