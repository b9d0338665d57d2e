"""Bytes of a trail's files flipped here and there; ``benchmarks/accountability/flips.py`` flips all of them."""

from __future__ import annotations

from benchmarks.accountability import flips


def test_no_flipped_byte_goes_unnoticed() -> None:
    """TRAIL.7: every read is as before or ``verify`` says not sound, and it names the entry whose bytes were flipped."""
    result = flips.run(stride=997, processes=1)
    assert result["failures"] == 0, result["first failures"]
    assert {name for name, counts in result["files"].items() if counts["not sound"]} == {
        "memory.db", "access.db", "memory.db-wal",
    }  # fmt: skip
