"""``tally export``: a trail as JSON lines."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import click

from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.errors import UsageError
from tallystick.workflows.portable import export_lines


@click.command("export", help="Write entries, parts and archive as JSON lines, byte for byte; to FILE, or to stdout.")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@shared(reads=False)
def command(asked: Asked, file: Path | None) -> None:
    """Export."""
    if not asked.trail.id:
        raise UsageError(f"{asked.trail.store.location}: nothing was ever written there; `tally ingest` first")
    if file is None and asked.as_json:
        raise UsageError("--json tells of an export to a FILE; without one the export itself goes to stdout")
    if file is None:
        for line in export_lines(asked.trail):
            sys.stdout.buffer.write(line)
        return
    count = _write(asked, file)
    asked.show({"file": str(file), "lines": count}, lambda: f"{count} lines to {file}")


def _write(asked: Asked, file: Path) -> int:
    """Write beside and rename, so that the file is whole or as it was; returns the number of lines."""
    if not file.name or file.is_dir():
        raise UsageError(f"{file}: a folder; name the file to write")
    beside = file.with_name(f"{file.name}.part")
    try:
        with beside.open("wb") as stream:
            count = sum(1 for line in export_lines(asked.trail) if stream.write(line))
        beside.replace(file)
        return count
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
