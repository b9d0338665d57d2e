"""What a caller typed, made fit to be kept: secrets taken out, and no half characters (EVID.9)."""

from __future__ import annotations

from tallystick.redaction import redact


def fit(text: str) -> str:
    """The text as it may be stored and shown. Bytes of an argument that were no UTF-8 become ``?``."""
    return redact(text.encode("utf-8", "replace").decode()).text
