"""``tally export``: a trail as JSON lines."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tallystick.cli.options import Asked, shared
from tallystick.errors import UsageError
from tallystick.workflows.portable import export_lines


@click.command("export", help="Write entries, parts and archive as JSON lines, byte for byte; to FILE, or to stdout.")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@shared(reads=False)
def command(asked: Asked, file: Path | None) -> None:
    """Export."""
    if not asked.trail.id:
        raise UsageError(f"{asked.trail.store.location}: nothing was ever written there; `tally ingest` first")
    if file is None:
        for line in export_lines(asked.trail):
            sys.stdout.buffer.write(line)
        return
    try:
        beside = file.with_name(f"{file.name}.part")
        with beside.open("wb") as stream:
            count = sum(1 for line in export_lines(asked.trail) if stream.write(line))
        beside.replace(file)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    asked.show({"file": str(file), "lines": count}, lambda: f"{count} lines to {file}")
