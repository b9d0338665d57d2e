"""Every sample is of one harness only, and whatever else lies beside the samples is of none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.plugins import adapters
from tallystick.transcripts.sources import HEAD_BYTES
from tests.transcripts.golden import ADAPTERS, CORPORA, sessions

SAMPLES = [path for harness in sorted({"claude-code", *ADAPTERS}) for path in sessions(harness) if path.is_file()]


def takers(path: Path) -> list[str]:
    """The adapters that take a file for theirs."""
    head = path.read_bytes()[:HEAD_BYTES]
    return [adapter.name for adapter in adapters() if adapter.recognises(head, path.name)]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_sample_is_of_one_harness(sample: Path) -> None:
    """EVID.12: content decides, and no two adapters decide for themselves (pitfall 11)."""
    assert takers(sample) == [sample.relative_to(CORPORA).parts[0]]


def test_what_is_no_session_is_of_none() -> None:
    """EVID.12: licences, lists of sources and expected events are nobody's."""
    others = [
        path for path in CORPORA.rglob("*") if (path.is_file() and "expected" in path.parts) or "SOURCES" in path.name
    ]
    assert len(others) > 10
    assert [path.name for path in others if takers(path)] == []
