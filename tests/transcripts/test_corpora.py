"""Whatever lies beside the samples is of no harness, and a text that quotes records stays what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.plugins import adapters
from tallystick.transcripts.sources import HEAD_BYTES
from tests.transcripts.golden import ADAPTERS, CORPORA, sessions

SHARED = Path(__file__).resolve().parents[2] / "../shared/data/transcripts"
SAMPLES = [path for harness in sorted({"claude-code", *ADAPTERS}) for path in sessions(harness) if path.is_file()]


def takers(path: Path) -> list[str]:
    """The adapters that take a file for theirs."""
    head = path.read_bytes()[:HEAD_BYTES]
    return [adapter.name for adapter in adapters() if adapter.recognises(head, path.name)]


def test_what_is_no_session_is_of_none() -> None:
    """EVID.12: licences, lists of sources and expected events are nobody's."""
    others = [
        path for path in CORPORA.rglob("*") if (path.is_file() and "expected" in path.parts) or "SOURCES" in path.name
    ]
    assert len(others) > 10
    assert [path.name for path in others if takers(path)] == []


@pytest.mark.parametrize("sample", [path for path in SAMPLES if path.suffix == ".jsonl"], ids=lambda path: path.name)
@pytest.mark.parametrize("above", ["aider/chat-history@excerpt.md", "specstory/"])
def test_a_text_that_quotes_records_is_not_theirs(sample: Path, above: str) -> None:
    """EVID.12: a conversation about transcripts, in which records of another harness are shown, stays what it is."""
    (quoting,) = sorted(CORPORA.glob(f"{above}*.md" if above.endswith("/") else above))[:1]
    head = (
        quoting.read_bytes() + b"\n```\n" + b"\n".join(sample.read_bytes().split(b"\n")[:3]) + b"\n```\n\n- so it is\n"
    )
    assert [adapter.name for adapter in adapters() if adapter.recognises(head, "x.md")] == [above.partition("/")[0]]


@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not beside the repository")
def test_real_texts_are_of_one_harness() -> None:
    """EVID.12: every real export and history is taken by its own adapter alone, whatever is shown in it."""
    texts = {"aider": [*(SHARED / "aider").rglob("*.md")], "specstory": [*(SHARED / "specstory-md").glob("*.md")]}
    assert [len(each) for each in texts.values()] == [15, 18]
    assert [
        (path.name, takers(path)) for name, paths in texts.items() for path in paths if takers(path) != [name]
    ] == []
