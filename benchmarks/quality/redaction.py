"""How many secrets redaction takes out, of each kind; and how often it takes out what is none (EVID.9).

Positives are made up (``made_secrets``, ``made_contexts``) in two halves: one that the rules were looked over with, and one
with another seed, other contexts, names and lines. A secret is *out* when no eight characters of it in a row are left (of a
shorter one, none of it), *named* when it is counted under its kind, and *apart* when what stands around it is untouched.
Negatives are made up too, and the real sessions of the shared data, which were scrubbed, are searched for false positives:
a sample of the hits was judged by hand (``labels/redaction.md``).

    python -m benchmarks.quality.redaction ../shared [--per-shape 40] [--seed 20261130] [--sample 100]
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks.quality.made_contexts import Positive, positives
from benchmarks.quality.made_lookalikes import negatives
from benchmarks.quality.quotes import share
from tallystick.redaction import REDACTOR, redact

SEED = 20261130
HELD_BACK_SEED = 20270411
HERE = Path(__file__).parent
LABELS = HERE / "labels" / "redaction.jsonl"
LEFT = 8
"""Characters of a secret in a row that must not be left."""
AROUND = 60
_REPLACED = re.compile(r"\[redacted:([a-z0-9-]+)\]")


class Judged(NamedTuple):
    """What became of one secret."""

    out: bool
    named: bool
    apart: bool
    """Whether the text around the secret came through, the secret's own line aside."""


def judged(positive: Positive) -> Judged:
    """What redaction makes of ``positive``."""
    result = redact(positive.text)
    kept = result.text.replace(positive.lead, "", 1)
    return Judged(
        not _is_left(positive.secret, kept),
        bool(set(positive.kind.split("|")) & set(result.counts)),
        result.text.startswith(positive.lead) and result.text.endswith(positive.tail),
    )


def _is_left(secret: str, text: str) -> bool:
    """Whether the secret, or a piece of its random part, is in ``text``: what has no digit is a fixed beginning or a host."""
    if secret in text:
        return True
    runs = re.findall(r"[A-Za-z0-9+/_=.~!@#%*-]{8,}", secret)
    pieces = (run[at : at + LEFT] for run in runs for at in range(len(run) - LEFT + 1))
    return any(piece in text for piece in pieces if any(letter.isdigit() for letter in piece))


def recall(seed: int, per_shape: int, *, held_back: bool) -> dict[str, Any]:
    """Shares of secrets that are out, named and apart, by kind; and the forms that are not always out."""
    found: dict[str, list[Judged]] = defaultdict(list)
    missed: Counter[str] = Counter()
    unnamed: Counter[str] = Counter()
    cut: Counter[str] = Counter()
    for positive in positives(seed, per_shape, held_back=held_back):
        verdict = judged(positive)
        found[positive.kind].append(verdict)
        missed[f"{positive.kind}: {positive.shape}: {positive.context}"] += not verdict.out
        unnamed[f"{positive.kind}: {positive.shape}"] += verdict.out and not verdict.named
        cut[f"{positive.kind}: {positive.shape}: {positive.context}"] += not verdict.apart
    every = [verdict for verdicts in found.values() for verdict in verdicts]
    return {
        "seed": seed,
        "kinds": len(found),
        "out": share(sum(v.out for v in every), len(every)),
        "named": share(sum(v.named for v in every), len(every)),
        "apart": share(sum(v.apart for v in every), len(every)),
        "by kind": {kind: share(sum(v.out for v in found[kind]), len(found[kind])) for kind in sorted(found)},
        "missed": dict((+missed).most_common(60)),
        "out but named otherwise": dict((+unnamed).most_common(40)),
        "more than the secret's line": dict((+cut).most_common(40)),
    }


def lookalikes(seed: int, per_kind: int) -> dict[str, Any]:
    """Made-up texts without secrets: how many are left as they are, and what was taken out of the others."""
    whole: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    size, taken, hits = 0, Counter[str](), 0
    for kind, text in negatives(seed, per_kind):
        result = redact(text)
        whole[kind][0] += not result.counts
        whole[kind][1] += 1
        size += len(text.encode())
        hits += sum(result.counts.values())
        taken.update({f"{kind}: {name}": n for name, n in result.counts.items()})
    return {
        "left whole": {kind: share(*pair) for kind, pair in whole.items()},
        "bytes": size,
        "false positives": hits,
        "false positives per MB": round(hits / size * 1e6, 3),
        "taken": dict(taken.most_common(40)),
    }


# Real sessions


class Hit(NamedTuple):
    """One replacement in a real session."""

    place: str
    """File, line or record, and number of the replacement there."""
    kind: str
    around: str
    """The words around it, after redaction: nothing secret stands in it."""
    value: str
    """What was taken out; shown to who judges and kept nowhere."""


def texts(path: Path) -> Iterator[tuple[str, str]]:
    """(place, text) of every string of a file of sessions: each JSON string, or each line."""
    for number, line in enumerate(path.read_text("utf-8", "replace").split("\n"), 1):
        try:
            record = json.loads(line) if path.suffix == ".jsonl" else line
        except ValueError:
            record = line
        yield from ((f"{number}", text) for text in _strings(record))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


def hits_in(name: str, path: Path) -> Iterator[Hit]:
    """Every replacement in a file, in order."""
    for place, text in texts(path):
        result = redact(text)
        for n, found in enumerate(_REPLACED.finditer(result.text) if result.counts else ()):
            before, after = (
                result.text[max(0, found.start() - AROUND) : found.start()],
                result.text[found.end() :][:AROUND],
            )
            yield Hit(f"{name}:{place}#{n}", found[1], f"{before}{found[0]}{after}", _value(text, before, after))


def _value(text: str, before: str, after: str) -> str:
    start = text.find(before[-25:].rpartition("]")[2]) + len(before[-25:].rpartition("]")[2])
    return text[start : start + 80] if before else text[:80]


def real_files(shared: Path) -> list[tuple[str, Path]]:
    """(name, path) of each file of sessions, in order."""
    folder = shared / "data" / "transcripts"
    paths = (
        path
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in (".json", ".jsonl", ".md", ".txt", ".traj")
    )
    return sorted((str(path.relative_to(folder)), path) for path in paths if "LICENSE" not in str(path))


def real(shared: Path) -> dict[str, Any]:
    """Hits over all real sessions, and the false ones among those that were judged, scaled to a megabyte."""
    hits = [hit for name, path in real_files(shared) for hit in hits_in(name, path)]
    size = sum(path.stat().st_size for _, path in real_files(shared))
    labels = {label["place"]: label for label in _labels()}
    judged_hits = [hit for hit in hits if hit.place in labels]
    verdicts = Counter(labels[hit.place]["verdict"] for hit in judged_hits)
    rate = share(verdicts["none"], len(judged_hits))
    no_more_than_words = share(verdicts["none"] + verdicts["fixture"], len(judged_hits))
    per_mb = len(hits) / size * 1e6
    return {
        "files": len(real_files(shared)),
        "bytes": size,
        "hits": len(hits),
        "by kind": dict(Counter(hit.kind for hit in hits).most_common()),
        "judged": len(judged_hits),
        "labels without their hit": len(labels) - len(judged_hits),
        "no secret, of the judged": rate,
        "false positives per MB": {key: round(per_mb * value, 3) for key, value in _scaled(rate).items()},
        "the same with fixtures of tests": {
            key: round(per_mb * value, 3) for key, value in _scaled(no_more_than_words).items()
        },
    }


def _scaled(rate: dict[str, Any]) -> dict[str, float]:
    return {"estimate": rate["found"] / max(1, rate["n"]), "low": rate["low"], "high": rate["high"]}


def _labels() -> Iterable[dict[str, str]]:
    if not LABELS.is_file():
        return []
    return [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]


def sample(shared: Path, n: int, seed: int) -> None:
    """Print ``n`` hits drawn at random for someone to judge, with what was taken out."""
    hits = [hit for name, path in real_files(shared) for hit in hits_in(name, path)]
    for hit in Random(seed).sample(hits, min(n, len(hits))):
        print(json.dumps(hit._asdict(), ensure_ascii=False))


def run(shared: Path, *, seed: int = SEED, per_shape: int = 40) -> dict[str, Any]:
    """All measures, ready for JSON."""
    return {
        "redactor": REDACTOR,
        "looked at": recall(seed, per_shape, held_back=False),
        "held back": recall(HELD_BACK_SEED, per_shape, held_back=True),
        "lookalikes": lookalikes(seed, per_shape * 5),
        "real sessions": real(shared),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--per-shape", type=int, default=40)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--sample", type=int, default=0)
    options = parser.parse_args()
    if options.sample:
        sample(options.shared, options.sample, options.seed)
        return
    date = time.strftime("%Y-%m-%d", time.gmtime())
    about = {
        "date": date,
        "command": "python -m benchmarks.quality.redaction ../shared",
        "python": platform.python_version(),
    }
    result = {**about, **run(options.shared, seed=options.seed, per_shape=options.per_shape)}
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    (HERE / "results" / f"redaction-{date}.json").write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    main()
