"""``tally import``: an exported trail, byte for byte."""

from __future__ import annotations

from pathlib import Path

import click

from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.errors import UsageError
from tallystick.workflows.portable import import_lines


@click.command("import", help="Read an exported trail into an empty place; every byte is checked on the way.")
@click.argument("file", type=click.Path(path_type=Path))
@shared(reads=False)
def command(asked: Asked, file: Path) -> None:
    """Import."""
    try:
        with file.open("rb") as stream:
            done = import_lines(asked.trail, stream)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    document = {"trail": asked.trail.id, "sizes": done, "size": done.get("memory", 0)}
    asked.show(document, lambda: ", ".join(f"{log}: {size} entries" for log, size in done.items()))
