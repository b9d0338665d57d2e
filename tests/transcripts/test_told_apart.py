"""Whose a file is: every sample is recognised by the adapter of its harness, and by no other (EVID.12, pitfall 11)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tallystick.plugins import adapters
from tallystick.transcripts.sources import HEAD_BYTES
from tests.transcripts.databases import CORPORA, database_of

HARNESSES = sorted(path.parent.name for path in CORPORA.glob("*/SOURCES.json"))
SHARED = Path(__file__).resolve().parents[2] / "../shared/data/transcripts"


def recognised_by(path: Path) -> list[str]:
    """The names of the adapters that take a file for theirs."""
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    return [adapter.name for adapter in adapters() if adapter.recognises(head, path.name)]


@pytest.mark.parametrize("harness", HARNESSES)
def test_a_sample_is_its_harnesses_alone(harness: str, tmp_path: Path) -> None:
    """EVID.12, pitfall 11: each file of the corpora, and each database that is made of one."""
    for source in json.loads((CORPORA / harness / "SOURCES.json").read_text("utf-8")):
        path = CORPORA / harness / source["file"]
        made = database_of(path, tmp_path) if path.suffix == ".sql" else path
        assert recognised_by(made) == [harness], source["file"]
    for beside in (CORPORA / harness / "expected").iterdir():
        assert recognised_by(beside) == [], beside.name


@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not beside the repository")
def test_real_sessions_have_one_reader_at_most() -> None:
    """EVID.12, pitfall 11: no real file is taken by two adapters, nor by one of another harness that has its own folder."""
    known = {adapter.name for adapter in adapters()}
    tried = 0
    for path in sorted(path for path in SHARED.rglob("*") if path.is_file()):
        folder = path.relative_to(SHARED).parts[0].removesuffix("-records")
        taken = recognised_by(path)
        tried += 1
        assert len(taken) <= 1, path
        assert folder not in known or set(taken) <= {folder}, path
    assert tried >= 273
