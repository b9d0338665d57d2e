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


def say_exactly(text: str) -> None:
    """Write a text that ends its last line."""
    say(text.removesuffix("\n"))


def as_said(text: str) -> str:
    """A text in the characters that stdout has: what ``say`` would show in the place of one that it has not."""
    encoding = sys.stdout.encoding if sys.stdout else None
    if text.isascii() or not encoding or not _goes_beyond_ascii(sys.stdout):
        return text  # Where a locale has ASCII alone, click writes all of it.
    return text.encode(encoding, "replace").decode(encoding)


def write_bytes(data: bytes) -> None:
    """Write bytes to stdout as they are."""
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(data.decode("utf-8", "replace"))
        return
    stream.write(data)
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
