"""How often the outcome verifier agrees with readers who looked at the records around a claim.

Two sets: the labels of the shared data (two readers; claims and hedges), and ``labels/outcomes.jsonl`` of this folder (one
reader, before the verifier was run). Run as ``python -m benchmarks.quality.outcomes``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tallystick.model.evidence import Event, EventKind
from tallystick.transcripts.claude_code import CLAUDE_CODE
from tallystick.transcripts.codex import CODEX
from tallystick.transcripts.gemini_cli import GEMINI_CLI
from tallystick.transcripts.mini_swe_agent import MINI_SWE_AGENT
from tallystick.transcripts.sources import adapter_for, records_of
from tallystick.verifiers.outcome import OutcomeVerdict, verify_outcome
from tallystick.verifiers.signals import Signals, signal_of

ADAPTERS = (CLAUDE_CODE, CODEX, GEMINI_CLI, MINI_SWE_AGENT)
OWN_LABELS = Path(__file__).parent / "labels" / "outcomes.jsonl"
HELD_OUT = Path(__file__).parent / "labels" / "outcomes_held_out.jsonl"
DRAWN = Path(__file__).parent / "labels" / "outcomes_random.jsonl"
_SAME = {"not_witnessed": "unwitnessed", "not_an_outcome_claim": "none", "not_an_outcome": "none"}


class Label(NamedTuple):
    """One sentence with the verdict that readers gave it."""

    session: str
    """Relative to the transcripts folder."""
    line: int
    """1-based physical line; 0 where ``ordinal`` is given."""
    ordinal: int
    """0-based position of the message in a file that is one document; -1 where ``line`` is given."""
    text: str
    expected: str
    doubtful: bool


class Judged(NamedTuple):
    """A label and what the verifier says."""

    label: Label
    verdict: OutcomeVerdict


def gold_labels(shared: Path) -> list[Label]:
    """The claims and hedges of the shared development set."""
    rows = map(json.loads, (shared / "data" / "gold.jsonl").read_text(encoding="utf-8").splitlines())
    return [
        Label(
            row["session"].removeprefix("transcripts/"),
            row["locator"].get("line", 0),
            row["locator"].get("index", -1),
            row["text"],
            _SAME.get(row["expected"], row["expected"]),
            bool(row["doubtful"]),
        )
        for row in rows
        if row["kind"] in ("claim", "hedge")
    ]


def own_labels() -> list[Label]:
    """The labels of this folder."""
    rows = map(json.loads, OWN_LABELS.read_text(encoding="utf-8").splitlines())
    return [
        Label(row["session"], row["line"], -1, row["text"], _SAME.get(row["expected"], row["expected"]), False)
        for row in rows
    ]


def set_aside(path: Path) -> list[Label]:
    """Labels that were made blind: of sessions that nobody had read (``HELD_OUT``, read since), or of sentences drawn at
    random (``DRAWN``)."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        Label(
            row["session"],
            row["locator"].get("line", 0),
            row["locator"].get("index", -1),
            row["text"],
            _SAME.get(row["expected"], row["expected"]),
            bool(row["doubtful"]),
        )
        for row in rows
    ]


def events_of(path: Path) -> list[Event]:
    """The events of one transcript, in order."""
    adapter = adapter_for(path, ADAPTERS)
    reader = adapter.reader("/".join(path.parts[-3:]))
    with path.open("rb") as stream:
        return list(reader.read(records_of(adapter, stream, 0, 1)))


def signals_of(events: list[Event]) -> Signals:
    """The memory of a whole session."""
    signals = Signals()
    for position, event in enumerate(events):
        signal = signal_of(event, position)
        if signal is not None:
            signals.add(signal)
        signals.add_message(event, position)
    return signals


def place(events: list[Event], label: Label) -> int | None:
    """Ordinal of the event that says the label's words; None when it is not found."""
    at = [i for i, e in enumerate(events) if e.kind is EventKind.MESSAGE and _distance(e, label) <= NEAR_LINES]
    saying = [i for i in at if label.text in events[i].text] or [i for i in at if _distance(events[i], label) == 0]
    return min(saying, key=lambda i: _distance(events[i], label), default=None)


NEAR_LINES = 3
"""A turn that a harness writes twice is read from one of its two lines."""


def _distance(event: Event, label: Label) -> int:
    """Lines (or messages) between an event and where the label says its words stand."""
    if label.line:
        return abs(event.locator.line - label.line)
    return abs(event.locator.index - label.ordinal) * (NEAR_LINES + 1)


def judged(labels: list[Label], transcripts: Path) -> Iterator[Judged]:
    """The verifier's verdict for each label, at the place where the words were said."""
    sessions: dict[str, tuple[list[Event], Signals]] = {}
    for label in labels:
        if label.session not in sessions:
            events = events_of(transcripts / label.session)
            sessions[label.session] = (events, signals_of(events))
        events, signals = sessions[label.session]
        position = place(events, label)
        if position is None:
            raise LookupError(f"{label.session}:{label.line or label.ordinal}: no message says {label.text[:60]!r}")
        yield Judged(label, verify_outcome(label.text, signals, position=position))


def wilson(hits: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a proportion. Wilson (1927)."""
    if not n:
        return (0.0, 1.0)
    z, share = 1.96, hits / n
    middle = share + z * z / (2 * n)
    spread = z * ((share * (1 - share) + z * z / (4 * n)) / n) ** 0.5
    return (round((middle - spread) / (1 + z * z / n), 3), round((middle + spread) / (1 + z * z / n), 3))


def _rate(hits: int, n: int) -> dict[str, Any]:
    return {"hits": hits, "n": n, "interval": wilson(hits, n)}


def figures(found: list[Judged]) -> dict[str, Any]:
    """Confusion table and the four figures that matter; doubtful labels count for none."""
    certain = [j for j in found if not j.label.doubtful]
    said = [j for j in certain if j.verdict.outcome.value == "witnessed"]
    meant = [j for j in certain if j.label.expected == "witnessed"]
    refuted = [j for j in certain if j.label.expected == "contradicted"]
    hedges = [j for j in certain if j.label.expected == "none"]
    table = Counter((j.label.expected, j.verdict.outcome.value) for j in found)
    return {
        "n": len(found),
        "confusion": {f"{expected} -> {given}": n for (expected, given), n in sorted(table.items())},
        "witnessed_precision": _rate(sum(j.label.expected == "witnessed" for j in said), len(said)),
        "witnessed_recall": _rate(sum(j.verdict.outcome.value == "witnessed" for j in meant), len(meant)),
        "contradicted_recall": _rate(sum(j.verdict.outcome.value == "contradicted" for j in refuted), len(refuted)),
        "hedges_taken_for_claims": _rate(sum(j.verdict.is_outcome for j in hedges), len(hedges)),
        "witnessed_called_contradicted": sum(j.verdict.outcome.value == "contradicted" for j in meant),
        "missed": [
            f"{j.label.session}:{j.label.line or j.label.ordinal} {j.label.expected} -> {j.verdict.outcome.value}: "
            f"{j.label.text[:70]} ({j.verdict.reason})"
            for j in found
            if j.label.expected != j.verdict.outcome.value
        ],
    }


def run(shared: Path) -> dict[str, Any]:
    """Figures of each set."""
    transcripts = shared / "data" / "transcripts"
    return {
        "gold": figures(list(judged(gold_labels(shared), transcripts))),
        "own": figures(list(judged(own_labels(), transcripts))),
        "held out": figures(list(judged(set_aside(HELD_OUT), transcripts))),
        "drawn at random, blind": figures(list(judged(set_aside(DRAWN), transcripts))),
    }


if __name__ == "__main__":
    print(json.dumps(run(Path(__file__).resolve().parents[2] / "../shared"), indent=2, ensure_ascii=False))
