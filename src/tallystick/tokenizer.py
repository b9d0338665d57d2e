"""Counts tokens with a tokenizer whose vocabulary is inside its package (CARRY.2, 6); loaded at the first count."""

from __future__ import annotations

from functools import cache
from typing import Any

TOKENIZER = "cl100k_base"
"""Chosen over o200k_base, which takes three times as long to load; counts differ by a few per cent (docs/decisions/0005)."""


def count_tokens(text: str) -> int:
    """Tokens of ``text``, special tokens not recognised."""
    return int(_encoding().count(text))


@cache
def _encoding() -> Any:
    import quicktok  # 0.3 s with its vocabulary; only an ingest pays it

    return quicktok.get_encoding(TOKENIZER)
