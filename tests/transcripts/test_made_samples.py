"""What is kept of sessions: made samples say that they are made, and each is recognised by the one adapter that reads it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tallystick.plugins import adapters
from tests.transcripts.databases import database_of
from tests.transcripts.golden import CORPORA, MADE

KEPT = [*sorted(CORPORA.glob("*/SOURCES.json")), *sorted(MADE.glob("*/SOURCES.json"))]
HEAD_BYTES = 64 * 1024


def files(source: Path) -> list[Path]:
    """The files of what ``SOURCES.json`` lists: itself, or those of a folder."""
    named = [source.parent / each["file"] for each in json.loads(source.read_text("utf-8"))]
    return [
        path for each in named for path in ([each] if each.is_file() else sorted(each.rglob("*"))) if path.is_file()
    ]


@pytest.mark.parametrize("source", KEPT, ids=lambda path: path.parent.name)
def test_each_sample_is_recognised_by_one_adapter(source: Path, tmp_path: Path) -> None:
    """EVID.12: by content, under any name; a file that only stands beside a session is nobody's (pitfall 11)."""
    recognised = 0
    for path in files(source):
        data = database_of(path, tmp_path).read_bytes() if path.suffix == ".sql" else path.read_bytes()
        head = data[:HEAD_BYTES]
        for name in (path.name, "unnamed"):
            taken = [adapter.name for adapter in adapters() if adapter.recognises(head, name)]
            assert taken in ([], [source.parent.name]), (path, name, taken)
            recognised += bool(taken)
    assert recognised


@pytest.mark.parametrize("source", sorted(MADE.glob("*/SOURCES.json")), ids=lambda path: path.parent.name)
def test_made_samples_say_so(source: Path) -> None:
    """What is no one's session is marked so, and is the file that was read when its events were kept."""
    for each in json.loads(source.read_text("utf-8")):
        assert each["made"]
        data = b"".join(
            path.read_bytes() for path in files(source) if path.is_relative_to(source.parent / each["file"])
        )
        assert (each["sha256"], each["size"]) == (hashlib.sha256(data).hexdigest(), len(data)), each["file"]
