"""What ``--key`` says: a trail's public key, or a file with it."""

from __future__ import annotations

from pathlib import Path

from tallystick.errors import UsageError


def key_said(key: str | None) -> str | None:
    """The key as text, read from the file where it names one; None where none is given.

    Raises:
        UsageError: the file cannot be read.
    """
    if key is None:
        return None
    try:
        path = Path(key)
        return path.read_text("utf-8").strip() if path.is_file() else key
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"--key {key[:80]}: neither a key nor a file with one") from None
