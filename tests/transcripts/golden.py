"""Expected events of the sessions in ``corpora``: one compact JSON line an event, then one with what was counted.

``python -m corpora.regenerate`` writes them anew; a person reads the difference before it is committed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from tallystick.model.evidence import Event, Status
from tallystick.plugins import adapters
from tallystick.transcripts.lines import records
from tallystick.transcripts.protocol import Adapter, Gatherer, RawRecord
from tallystick.transcripts.view import DiskView
from tests.transcripts.databases import database_of

CORPORA = Path(__file__).resolve().parents[2] / "corpora"
MADE = Path(__file__).resolve().parent / "made"
"""Samples of harnesses of which there was no real session: made by us after public sources, and no part of the demo."""
SHOWN_CHARACTERS = 160
_LEFT_OUT = ("", (), None, Status.NONE)
ADAPTERS: dict[str, Adapter] = {each.name: each for each in adapters() if each.name != "claude-code"}


def home(harness: str) -> Path:
    """The folder of the sessions of ``harness``: in the corpora, or among those that are made."""
    return MADE / harness if (MADE / harness).is_dir() else CORPORA / harness


def sessions(harness: str) -> list[Path]:
    """The sessions of ``harness`` that are kept, by name."""
    named = json.loads((home(harness) / "SOURCES.json").read_text("utf-8"))
    return sorted(home(harness) / source["file"] for source in named)


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

    Of what holds several sessions, or is a folder of files of one, those of each member, its name before them. A ``.sql`` file
    stands for the database that it makes.
    """
    if not isinstance(adapter, Gatherer):
        return _golden(adapter, f"corpora/{adapter.name}/{session.name}", session.read_bytes())
    with TemporaryDirectory() as folder, DiskView() as view:
        place = database_of(session, Path(folder)) if session.suffix == ".sql" else session
        found = [(member.name, member.load()) for member in adapter.gather(view, adapter.anchor(str(place)))]
    return "".join(f"{json.dumps({'member': name})}\n{_golden(adapter, name, data)}" for name, data in found)


def _golden(adapter: Adapter, name: str, data: bytes) -> str:
    reader = adapter.reader(name)
    lines = [_line(event) for event in reader.read(raw_records(adapter, data))]
    end = {
        "facts": {name: _portable(value) for name, value in reader.facts._asdict().items() if value != ""},
        "counts": dict(sorted(reader.counts.items())),
        "problems": [problem._asdict() for problem in reader.problems],
        "records": reader.records,
        "records_with_events": reader.records_with_events,
        "open_calls": sorted(reader.calls),
    }
    return "\n".join([*lines, json.dumps(end, ensure_ascii=False)]) + "\n"


def _portable(value: object) -> object:
    """A fact that is a path below the corpora, the same in whatever folder they lie."""
    return value.replace(str(CORPORA), "corpora") if isinstance(value, str) else value


def _line(event: Event) -> str:
    shown: dict[str, object] = {name: value for name, value in event._asdict().items() if value not in _LEFT_OUT}
    shown["locator"] = list(event.locator)
    shown["text"] = event.text[:SHOWN_CHARACTERS]
    shown["text_sha256"] = hashlib.sha256(event.text.encode()).hexdigest()
    if event.command:
        shown["command"] = event.command[:SHOWN_CHARACTERS]
    return json.dumps(shown, ensure_ascii=False)
