"""``tally export``: a trail as JSON lines, or one of its logs as tiles."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.errors import UsageError
from tallystick.model.entry import LogName
from tallystick.workflows.exports import note_export
from tallystick.workflows.portable import export_lines
from tallystick.workflows.tiled import Tiled, export_tiles
from tallystick.workflows.whole import written_whole


@click.command("export", help="Write entries, parts and archive as JSON lines, byte for byte; to FILE, or to stdout.")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--tiles",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Instead: one log under its newest checkpoint as C2SP tlog-tiles, without content; run again to bring it up to date.",
)
@click.option(
    "--log", type=click.Choice([str(log) for log in LogName]), help="Which log the tiles are of.  [default: memory]"
)
@shared(reads=False)
def command(asked: Asked, file: Path | None, tiles: Path | None, log: str | None) -> None:
    """Export."""
    if not asked.trail.id:
        raise UsageError(f"{asked.trail.store.location}: nothing was ever written there; `tally ingest` first")
    if tiles is not None:
        if file is not None:
            raise UsageError(f"{file}: --tiles writes a folder and no file; give one of the two")
        _tiles(asked, tiles, LogName(log or LogName.MEMORY))
        return
    if log is not None:
        raise UsageError(f"--log {log}: an export has every log; --log goes with --tiles")
    if file is None and asked.as_json:
        raise UsageError("--json tells of an export to a FILE; without one the export itself goes to stdout")
    if file is None:
        for line in export_lines(asked.trail):
            sys.stdout.buffer.write(line)
        return
    note_export(asked.trail, file)
    count = written_whole(file, export_lines(asked.trail))
    asked.show({"file": str(file), "lines": count}, lambda: f"{count} lines to {file}")


def _tiles(asked: Asked, folder: Path, log: LogName) -> None:
    done = export_tiles(asked.trail, folder, log)
    document = {
        "folder": str(folder),
        "log": log,
        "size": done.checkpoint.size,
        "root": done.checkpoint.root.hex(),
        "written": done.written,
        "kept": done.kept,
        "left_out": list(done.left_out),
    }
    asked.show(document, lambda: _shown(done, folder))


def _shown(done: Tiled, folder: Path) -> str:
    stated = done.checkpoint
    lines = [f"{stated.origin}: {stated.size} entries to {folder}, {done.written} files new, {done.kept} as they were"]
    if done.left_out:
        named = ", ".join(map(str, done.left_out[:8])) + (", …" if len(done.left_out) > 8 else "")
        lines.append(f"  too long for an entry bundle, which was left out; their hashes are there: {named}")
    return "\n".join(lines)
