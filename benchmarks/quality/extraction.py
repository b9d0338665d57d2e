"""How much of what a reader would note the rules find, per kind, and a sample of what they offer for a reader to judge.

A label is found when a candidate of the same session and kind has a quote that shares at least half of the shorter
quote's words (each word counted as often as it occurs) with the label's quote, and stands on the same record or on one of
the neighbouring two; or on a record where the label says that the same was said again, and shares half its words with the
label's quote and note together (Codex writes every turn twice, so the twin of a label is up to two lines away).
``recall_any_kind`` drops the condition on the kind: the same choice is often told once as a decision and once as an outcome.

    python benchmarks/quality/extraction.py ../shared                     recall on the development labels
    python benchmarks/quality/extraction.py ../shared --labels b          recall on set b; a to c were tuned on, d and e were not
    python benchmarks/quality/extraction.py ../shared --readers           how far two readers of the same sessions agree
    python benchmarks/quality/extraction.py ../shared --sample 20261201   write 200 candidates for a reader to judge
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tallystick.extractors.rules import RulesExtractor
from tallystick.model.claim import Candidate
from tallystick.model.evidence import Event, EventKind, Origin
from tallystick.transcripts.claude_code import CLAUDE_CODE
from tallystick.transcripts.codex import CODEX
from tallystick.transcripts.protocol import Adapter, RawRecord

LABELS = Path(__file__).parent / "labels"
SAMPLE_FILE = LABELS / "candidates.jsonl"
SAMPLE_SIZE = 200
TWO_READERS = ("extraction_e.jsonl", "extraction_e_second_reader.jsonl")
NEIGHBOURING_RECORDS = 2
CONTEXT_CHARACTERS = 600
Z_95 = 1.959963984540054


class Offered(NamedTuple):
    """A candidate and where its event stands."""

    session: str
    """Path under ``transcripts/``."""
    line: int
    candidate: Candidate
    context_before: str


class Share(NamedTuple):
    """``found`` of ``n`` with the Wilson 95 % interval of the proportion."""

    found: int
    n: int
    low: float
    high: float


def wilson(found: int, n: int) -> Share:
    """Wilson (1927) score interval; ``(0, 1)`` where there is nothing to count."""
    if n == 0:
        return Share(0, 0, 0.0, 1.0)
    share = found / n
    spread = Z_95 * math.sqrt(share * (1 - share) / n + Z_95**2 / (4 * n * n))
    scale = 1 + Z_95**2 / n
    return Share(found, n, (share + Z_95**2 / (2 * n) - spread) / scale, (share + Z_95**2 / (2 * n) + spread) / scale)


def run(shared: Path, labels: str = "a") -> dict[str, Any]:
    """Recall per kind and over all kinds against ``labels/extraction_<labels>.jsonl``, and how many candidates were offered."""
    wanted = [label for label in _read_lines(LABELS / f"extraction_{labels}.jsonl") if label["kind"] != "none"]
    sessions = sorted({label["session"] for label in _read_lines(LABELS / f"extraction_{labels}.jsonl")})
    offered = {session: list(candidates_of(shared, session)) for session in sessions}
    found: Counter[str] = Counter()
    any_kind: Counter[str] = Counter()
    total: Counter[str] = Counter(label["kind"] for label in wanted)
    for label in wanted:
        near = [each for each in offered[label["session"]] if _is_hit(label, each)]
        any_kind[label["kind"]] += bool(near)
        found[label["kind"]] += any(each.candidate.kind == label["kind"] for each in near)
    kinds = sorted(total)
    return {
        "labels": labels,
        "sessions": len(sessions),
        "offered": sum(map(len, offered.values())),
        "offered_per_session_max": max(map(len, offered.values()), default=0),
        "recall": {kind: wilson(found[kind], total[kind])._asdict() for kind in kinds},
        "recall_all": wilson(sum(found.values()), sum(total.values()))._asdict(),
        "recall_any_kind": {kind: wilson(any_kind[kind], total[kind])._asdict() for kind in kinds},
    }


def readers() -> dict[str, Any]:
    """How much of what one reader noted another reader of the same sessions noted too, counted as ``run`` counts: what a
    recall of the rules is to be held against."""
    noted = [[each for each in _read_lines(LABELS / name) if each["kind"] != "none"] for name in TWO_READERS]
    shared_sessions = set.intersection(*({label["session"] for label in labels} for labels in noted))
    first, second = ([label for label in labels if label["session"] in shared_sessions] for labels in noted)
    return {
        "sessions": len(shared_sessions),
        "first reader's, noted by the second": _noted_too(first, second),
        "second reader's, noted by the first": _noted_too(second, first),
    }


def _noted_too(labels: list[dict[str, Any]], others: list[dict[str, Any]]) -> dict[str, Any]:
    total: Counter[str] = Counter(label["kind"] for label in labels)
    found: Counter[str] = Counter()
    for label in labels:
        alike = (
            other
            for other in others
            if (other["session"], other["kind"]) == (label["session"], label["kind"])
            and any(_stands_for(label, line, other["quote"]) for line in (other["line"], *other.get("also", ())))
        )
        found[label["kind"]] += any(True for _ in alike)
    kinds = {kind: wilson(found[kind], total[kind])._asdict() for kind in sorted(total)}
    return {**kinds, "all": wilson(found.total(), total.total())._asdict()}


def sample(shared: Path, seed: int, into: Path = SAMPLE_FILE) -> int:
    """Write up to 200 candidates of all sessions in random order for a reader to judge; returns how many.

    Raises:
        FileExistsError: ``into`` holds verdicts already; they are never overwritten.
    """
    if into.exists() and any(each.get("verdict") is not None for each in _read_lines(into)):
        raise FileExistsError(f"{into.name} holds verdicts")
    everything = [each for session in _all_sessions(shared) for each in candidates_of(shared, session)]
    chosen = random.Random(seed).sample(everything, min(SAMPLE_SIZE, len(everything)))
    with into.open("w", encoding="utf-8") as file:
        for number, each in enumerate(chosen):
            record = {
                "id": f"s{seed}-{number:03}",
                "session": each.session,
                "line": each.line,
                "kind": str(each.candidate.kind),
                "text": each.candidate.text,
                "quote": each.candidate.quote,
                "context_before": each.context_before,
                "verdict": None,
            }
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return len(chosen)


def precision(judged: Path = SAMPLE_FILE) -> dict[str, Any]:
    """Share of the sampled candidates that a reader kept, per kind and over all.

    A reader sets ``verdict`` to ``good`` (a note worth handing over, of the kind it claims, understood as it stands) or
    ``bad``; candidates without a verdict are left out and counted.
    """
    sampled = _read_lines(judged) if judged.exists() else []
    verdicts = [(each["kind"], each["verdict"] == "good") for each in sampled if each.get("verdict") in ("good", "bad")]
    total = Counter(kind for kind, _ in verdicts)
    good = Counter(kind for kind, kept in verdicts if kept)
    return {
        "sampled": len(sampled),
        "unjudged": len(sampled) - len(verdicts),
        "precision": {kind: wilson(good[kind], total[kind])._asdict() for kind in sorted(total)},
        "precision_all": wilson(good.total(), total.total())._asdict(),
    }


def candidates_of(shared: Path, session: str) -> Iterator[Offered]:
    """What the rules offer for one session file, with the message that stood before each candidate's event."""
    adapter = CODEX if session.startswith("codex/") else CLAUDE_CODE
    extractor = RulesExtractor()
    places: dict[str, tuple[int, str]] = {}
    before = ""
    found: list[Candidate] = []
    for event, facts in _events(shared / "data/transcripts" / session, adapter):
        places[event.uid] = (event.locator.line, before)
        found += extractor.offer(event, facts)
        if event.kind is EventKind.MESSAGE and event.origin in (Origin.USER, Origin.ASSISTANT) and event.text.strip():
            before = f"[{event.origin}] {event.text[-CONTEXT_CHARACTERS:]}"
    found += extractor.close()
    for candidate in found:
        line, context = places[candidate.event]
        yield Offered(session, line, candidate, context)


def _events(path: Path, adapter: Adapter) -> Iterator[tuple[Event, Any]]:
    reader = adapter.reader("/".join(path.parts[-3:]))
    for event in reader.read(_records(path)):
        yield event, reader.facts


def _records(path: Path) -> Iterator[RawRecord]:
    offset = 0
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if line:
            yield RawRecord(number, offset, line.removesuffix(b"\r"))
        offset += len(line) + 1


def _is_hit(label: dict[str, Any], offered: Offered) -> bool:
    return _stands_for(label, offered.line, offered.candidate.quote)


def _stands_for(label: dict[str, Any], on_line: int, quote: str) -> bool:
    ours = _words(quote)
    if abs(label["line"] - on_line) <= NEIGHBOURING_RECORDS and _shares_half(ours, _words(label["quote"])):
        return True
    also = any(abs(line - on_line) <= NEIGHBOURING_RECORDS for line in label.get("also", ()))
    return also and _shares_half(ours, _words(f"{label['quote']} {label['text']}"))


def _shares_half(ours: Counter[str], theirs: Counter[str]) -> bool:
    shorter = min(ours.total(), theirs.total())
    return shorter > 0 and (ours & theirs).total() * 2 >= shorter


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


def _all_sessions(shared: Path) -> list[str]:
    root = shared / "data/transcripts"
    files = [*root.glob("claude-code/**/*.jsonl"), *root.glob("codex/**/rollout*.jsonl")]
    return sorted(
        str(file.relative_to(root)) for file in files if "@" not in file.name and "subagents" not in file.parts
    )


def _read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _main(arguments: Iterable[str]) -> None:
    parser = argparse.ArgumentParser(description="Recall of the rules extractor against hand labels.")
    parser.add_argument("shared", type=Path)
    parser.add_argument("--labels", choices=("a", "b", "c", "d", "e"), default="a")
    parser.add_argument("--sample", type=int, metavar="SEED")
    parser.add_argument("--readers", action="store_true", help="how far two readers of the same sessions agree")
    options = parser.parse_args(list(arguments))
    if options.readers:
        print(json.dumps(readers(), indent=1))
        return
    if options.sample is not None:
        print(f"seed {options.sample}: {sample(options.shared, options.sample)} candidates in {SAMPLE_FILE.name}")
        return
    print(json.dumps(run(options.shared, options.labels), indent=1))


if __name__ == "__main__":
    _main(sys.argv[1:])
