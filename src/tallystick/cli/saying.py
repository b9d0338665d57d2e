"""Text to a standard stream as click writes it; click itself is loaded only for what is not written plainly."""

from __future__ import annotations

import codecs
import sys
from typing import TextIO

_ESCAPE = "\u001b"


def say(text: str, *, err: bool = False) -> None:
    """Write a line to stdout, or to stderr, at once."""
    stream: TextIO | None = sys.stderr if err else sys.stdout
    if stream is None or _ESCAPE in text or not (text.isascii() or _goes_beyond_ascii(stream)):
        # Colours are for terminals alone, and a locale that was never set is no reason to lose letters: click knows how.
        import click

        click.echo(text, err=err)
        return
    stream.write(f"{text}\n")
    stream.flush()


def complain(message: str) -> None:
    """One line on stderr, whatever a file's name or an engine's message holds: no line break, nothing a terminal obeys."""
    flat = " ".join(message.split())
    if not flat.isprintable():
        flat = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in flat)
    say(f"tally: {flat}", err=True)


def _goes_beyond_ascii(stream: TextIO) -> bool:
    """Whether the stream's encoding has more than ASCII, as far as it says."""
    try:
        return codecs.lookup(stream.encoding).name != "ascii"
    except (LookupError, TypeError):
        return False
