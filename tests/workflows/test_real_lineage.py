"""How real sessions of Claude Code hang together, held against a plain count of the same files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.surface import Tally

SHARED = Path(__file__).resolve().parents[2] / "../shared/data/transcripts/claude-code"
pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data is not here"),
]


def records(path: Path) -> list[dict[str, Any]]:
    """The lines of a file that are objects."""
    found = []
    for line in path.read_text("utf-8", "replace").split("\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        found += [record] if isinstance(record, dict) else []
    return found


def test_sub_agents_and_compactions(tally: Tally) -> None:
    """EVID.5, EVID.6: each sub-agent stands under the session whose id its records have, and each summary is one round."""
    told = {path: records(path) for path in sorted(SHARED.rglob("*.jsonl"))}
    agents = {path: found for path, found in told.items() if path.name.startswith("agent-")}
    parents = {record.get("sessionId") for found in agents.values() for record in found}
    summaries = {record["uuid"] for found in told.values() for record in found if record.get("isCompactSummary")}
    chosen = [
        path
        for path, found in told.items()
        if any(record.get("isCompactSummary") or record.get("sessionId") in parents for record in found)
    ]
    assert agents
    assert summaries
    assert tally("ingest", *chosen).code == 0
    kin = tally.json("doctor")["lineage"]
    by_session = {each["session"]: each for each in kin}
    below = [each for each in kin if each["thread"]]
    assert len(below) == len({(each["native_id"], each["thread"]) for each in below}) == len(agents)
    assert all(each["parent"] is None or by_session[each["parent"]]["native_id"] == each["native_id"] for each in below)
    assert all((each["parent"] is None) == bool(each["missing"]) for each in below)
    assert len({each["event"] for one in kin for each in one["compactions"]}) == len(summaries)
