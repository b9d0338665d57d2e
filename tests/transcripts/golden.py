"""Expected events of the sessions in ``corpora``: one compact JSON line an event, then one with what was counted.

``python -m corpora.regenerate`` writes them anew; a person reads the difference before it is committed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from tallystick.model.evidence import Event, Status
from tallystick.transcripts.atif import ATIF
from tallystick.transcripts.codex import CODEX
from tallystick.transcripts.gemini_cli import GEMINI_CLI
from tallystick.transcripts.lines import records
from tallystick.transcripts.mini_swe_agent import MINI_SWE_AGENT
from tallystick.transcripts.openhands import OPENHANDS
from tallystick.transcripts.protocol import Adapter, Gatherer, RawRecord
from tallystick.transcripts.swe_agent import SWE_AGENT
from tallystick.transcripts.view import DiskView

CORPORA = Path(__file__).resolve().parents[2] / "corpora"
SHOWN_CHARACTERS = 160
_LEFT_OUT = ("", (), None, Status.NONE)
ADAPTERS: dict[str, Adapter] = {
    adapter.name: adapter for adapter in (CODEX, GEMINI_CLI, MINI_SWE_AGENT, SWE_AGENT, ATIF, OPENHANDS)
}


def sessions(harness: str) -> list[Path]:
    """The sessions of ``harness`` in the corpora, by name."""
    named = json.loads((CORPORA / harness / "SOURCES.json").read_text("utf-8"))
    return sorted(CORPORA / harness / source["file"] for source in named)


def expected_path(session: Path) -> Path:
    """Where the expected events of ``session`` stand."""
    return session.parent / "expected" / f"{session.name}.events.jsonl"


def raw_records(adapter: Adapter, data: bytes) -> Iterator[RawRecord]:
    """``data`` as the reader of ``adapter`` is fed."""
    if adapter.framing != "lines":
        return iter([RawRecord(1, 0, data)])
    return records(BytesIO(data), final=True)


def golden(adapter: Adapter, session: Path) -> str:
    """The events of ``session`` as they are kept for comparison; the session itself stands beside them.

    Of what holds several sessions, or is a folder of files of one, those of each member, its name before them.
    """
    if not isinstance(adapter, Gatherer):
        return _golden(adapter, f"corpora/{adapter.name}/{session.name}", session.read_bytes())
    with DiskView() as view:
        found = [(member.name, member.load()) for member in adapter.gather(view, adapter.anchor(str(session)))]
    return "".join(f"{json.dumps({'member': name})}\n{_golden(adapter, name, data)}" for name, data in found)


def _golden(adapter: Adapter, name: str, data: bytes) -> str:
    reader = adapter.reader(name)
    lines = [_line(event) for event in reader.read(raw_records(adapter, data))]
    end = {
        "facts": {name: value for name, value in reader.facts._asdict().items() if value != ""},
        "counts": dict(sorted(reader.counts.items())),
        "problems": [problem._asdict() for problem in reader.problems],
        "records": reader.records,
        "records_with_events": reader.records_with_events,
        "open_calls": sorted(reader.calls),
    }
    return "\n".join([*lines, json.dumps(end, ensure_ascii=False)]) + "\n"


def _line(event: Event) -> str:
    shown: dict[str, object] = {name: value for name, value in event._asdict().items() if value not in _LEFT_OUT}
    shown["locator"] = list(event.locator)
    shown["text"] = event.text[:SHOWN_CHARACTERS]
    shown["text_sha256"] = hashlib.sha256(event.text.encode()).hexdigest()
    if event.command:
        shown["command"] = event.command[:SHOWN_CHARACTERS]
    return json.dumps(shown, ensure_ascii=False)
