"""How often the quotation verifier is right: on labelled quotes, on true quotes cut from real sessions, and on altered ones.

Alterations are generated from real events: a digit, an operator, the case of a letter or a word changed, a negation put
in or taken out, a word dropped or swapped with its neighbour, an end cut inside a word or number, two events joined. An
altered quote may pass only where an oracle that shares no code with the verifier finds the altered words in the session.

    python benchmarks/quality/quotes.py ../shared [--n 10000] [--seed 20261130]
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tallystick.model.claim import Derivation
from tallystick.model.evidence import Event, Origin
from tallystick.transcripts.claude_code import CLAUDE_CODE
from tallystick.transcripts.codex import CODEX
from tallystick.transcripts.gemini_cli import GEMINI_CLI
from tallystick.transcripts.lines import LineSource
from tallystick.transcripts.protocol import Adapter, RawRecord
from tallystick.verifiers.quotation import QuoteVerdict, span_reads, verify_quotes

SEED = 20261130
PER_SESSION = 250
Z_95 = 1.959963984540054
_ADAPTERS: dict[str, Adapter] = {"claude-code": CLAUDE_CODE, "codex": CODEX, "gemini-cli": GEMINI_CLI}


class Altered(NamedTuple):
    """A quote that was changed, how, and what it was."""

    kind: str
    text: str
    was: str


# Sessions


def read_session(path: Path) -> list[Event]:
    """The events of one session file of a harness named by one of its folders."""
    harness = next(part for part in path.parts if part in _ADAPTERS)
    reader = _ADAPTERS[harness].reader("/".join(path.parts[-3:]))
    if path.suffix == ".json":
        return list(reader.read([RawRecord(1, 0, path.read_bytes())]))
    with path.open("rb") as stream:
        return list(reader.read(LineSource(stream, final=True)))


def session_paths(shared: Path) -> list[Path]:
    """The Claude Code and Codex sessions of the shared data, in order of their names."""
    folder = shared / "data" / "transcripts"
    return sorted([*folder.glob("claude-code/*.jsonl"), *folder.glob("codex/**/*.jsonl")])


# The oracle: deliberately simple, and written without the verifier's modules


_DRESSING = re.compile(r"[*_`~\u00ad\u200b-\u200f\u2060\ufeff]|\x1b\[[\d;]*m")
_SAME = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "‑": "-"})


def bare(text: str) -> str:
    """``text`` without any character Markdown may use for emphasis, on one line. Digits, letters, signs all stay."""
    return " ".join(unicodedata.normalize("NFC", _DRESSING.sub("", text.translate(_SAME))).split())


def stands(text: str, session: Sequence[str]) -> bool:
    """Whether the bare ``text`` stands in one of the bare texts of a session, cutting no word or number."""
    wanted = bare(text)
    for event in session:
        at = event.find(wanted)
        while at >= 0:
            if not _cuts(event, at) and not _cuts(event, at + len(wanted)):
                return True
            at = event.find(wanted, at + 1)
    return False


def _cuts(text: str, at: int) -> bool:
    around = text[max(0, at - 2) : at], text[at : at + 2]
    if not around[0] or not around[1]:
        return False
    left, right = around[0][-1], around[1][0]
    inside_number = around[0][-1:].isdigit() and right in ".," and around[1][1:].isdigit()
    inside_number |= right.isdigit() and left in ".," and around[0][:1].isdigit()
    return (left.isalnum() and right.isalnum()) or inside_number


# Generating quotes


def true_quote(rng: random.Random, text: str, fewest: int = 2) -> str | None:
    """A run of ``fewest`` to 25 words of ``text`` as it stands there, or None when it has too few."""
    words = list(re.finditer(r"\S+", text[:20_000]))
    if len(words) < fewest:
        return None
    size = rng.randint(fewest, min(25, len(words)))
    first = rng.randrange(len(words) - size + 1)
    quote = text[words[first].start() : words[first + size - 1].end()]
    return quote if len(quote) < 1_000 and len(re.findall(r"[^\W\d_]{2,}", quote)) >= 2 else None


def alter(rng: random.Random, quote: str, other: str) -> Altered | None:
    """One alteration of ``quote`` of a kind chosen by ``rng``; ``other`` is a quote from elsewhere. None where it does
    not apply."""
    kind = rng.choice(list(_ALTERATIONS))
    text = _ALTERATIONS[kind](rng, quote, other)
    return Altered(kind, text, quote) if text is not None and bare(text) != bare(quote) else None


def _replaced(rng: random.Random, quote: str, pattern: str, new: Callable[[str], str]) -> str | None:
    places = list(re.finditer(pattern, quote))
    if not places:
        return None
    place = rng.choice(places)
    return quote[: place.start()] + new(place[0]) + quote[place.end() :]


def _digit(rng: random.Random, quote: str, _: str) -> str | None:
    return _replaced(rng, quote, r"\d", lambda old: rng.choice([d for d in "0123456789" if d != old]))


def _operator(rng: random.Random, quote: str, _: str) -> str | None:
    return _replaced(rng, quote, r"[-+/<>=!&|%^]", lambda old: rng.choice([o for o in "-+/<=!&|%^" if o != old]))


def _sign(rng: random.Random, quote: str, _: str) -> str | None:
    return _replaced(rng, quote, r"(?<![\w.+-])\d", lambda old: rng.choice("-+") + old)


def _case(rng: random.Random, quote: str, _: str) -> str | None:
    return _replaced(rng, quote, r"[A-Za-z]", str.swapcase)


def _negation_in(rng: random.Random, quote: str, _: str) -> str | None:
    return _replaced(rng, quote, r"(?<=\w) (?=\w)", lambda _: rng.choice([" not ", " never ", " no ", " don't "]))


def _negation_out(rng: random.Random, quote: str, _: str) -> str | None:
    return _replaced(rng, quote, r"\b(?:not|never|no|without) |n['’]t\b", lambda _: "")


def _word_replaced(rng: random.Random, quote: str, other: str) -> str | None:
    words = re.findall(r"[A-Za-z]{2,}", other)
    return _replaced(rng, quote, r"\b[A-Za-z]{2,}\b", lambda _: rng.choice(words)) if words else None


def _word_dropped(rng: random.Random, quote: str, _: str) -> str | None:
    return _replaced(rng, quote, r"(?<=\s)(?!\d+\.\s)\w\S*\s", lambda _: "")  # a list number may be dropped


def _words_swapped(rng: random.Random, quote: str, _: str) -> str | None:
    return _replaced(rng, quote, r"(?<!\S)\w\S* \w\S*(?!\S)", lambda old: " ".join(reversed(old.split(" "))))


def _cut(rng: random.Random, quote: str, _: str) -> str | None:
    if rng.random() < 0.5:
        return quote[:-1] if quote[-2:].isalnum() else None
    return quote[1:] if quote[:2].isalnum() else None


def _joined(rng: random.Random, quote: str, other: str) -> str | None:
    ours, theirs = quote.split(), other.split()
    return " ".join(ours[-rng.randint(2, 5) :] + theirs[: rng.randint(2, 5)])


_ALTERATIONS = {
    "digit changed": _digit,
    "operator changed": _operator,
    "sign inserted": _sign,
    "case changed": _case,
    "negation inserted": _negation_in,
    "negation removed": _negation_out,
    "word replaced": _word_replaced,
    "word dropped": _word_dropped,
    "words swapped": _words_swapped,
    "cut inside a word": _cut,
    "two events joined": _joined,
}


def alterations(rng: random.Random, events: Sequence[Event], n: int) -> Iterator[Altered]:
    """At most ``n`` altered quotes of one session, fewer where its events are short."""
    texts = [event.text for event in events if len(event.text) > 40 and event.origin is not Origin.BRIEFING]
    for _ in range(n * 4 if texts else 0):
        quote, other = true_quote(rng, rng.choice(texts)), true_quote(rng, rng.choice(texts))
        altered = alter(rng, quote, other) if quote and other else None
        if altered is not None:
            yield altered
            n -= 1
            if not n:
                return


# Measures


def share(found: int, n: int) -> dict[str, Any]:
    """``found`` of ``n`` with the Wilson 95 % interval."""
    if not n:
        return {"found": 0, "n": 0, "low": 0.0, "high": 1.0}
    p, z2 = found / n, Z_95 * Z_95
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z_95 * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return {"found": found, "n": n, "low": round(max(0.0, middle - half), 4), "high": round(min(1.0, middle + half), 4)}


def _is_verbatim(verdict: QuoteVerdict) -> bool:
    return verdict.derivation is Derivation.VERBATIM


def gold(shared: Path) -> dict[str, Any]:
    """The labelled quotes: those that match are found on the labelled record, those that do not are refused."""
    found, refused, wrong = [0, 0], [0, 0], []
    for line in (shared / "data" / "gold.jsonl").read_text(encoding="utf-8").splitlines():
        label = json.loads(line)
        if label["kind"] != "quote" or label["doubtful"]:
            continue
        events = read_session(shared / "data" / label["session"])
        verdict = verify_quotes([label["text"]], events)[0]
        tally = refused if label["expected"] == "no_match" else found
        right = not _is_verbatim(verdict) if tally is refused else _on_record(verdict, events, label)
        tally[0] += right
        tally[1] += 1
        if not right:
            wrong.append({"id": label["id"], "expected": label["expected"], "reason": verdict.reason})
    return {"matches found": share(*found), "non-matches refused": share(*refused), "wrong": wrong}


def _on_record(verdict: QuoteVerdict, events: Sequence[Event], label: dict[str, Any]) -> bool:
    by_uid = {event.uid: event for event in events}
    place, value = next((key, label["locator"][key]) for key in ("line", "index") if key in label["locator"])
    return _is_verbatim(verdict) and any(
        abs(getattr(by_uid[span.event].locator, place) - value) <= (2 if "codex" in label["session"] else 0)
        and span_reads(by_uid[span.event].text, span.start, span.end, label["text"])
        for span in verdict.spans
    )


def unaltered(shared: Path, rng: random.Random, n: int) -> dict[str, Any]:
    """True quotes cut from real events at blanks: how many are found, and why the others are not."""
    reasons: Counter[str] = Counter()
    misses: list[str] = []
    for events in _sampled_sessions(shared, rng, n):
        texts = [event.text for event in events if len(event.text) > 40 and event.origin is not Origin.BRIEFING]
        quotes = [q for _ in range(PER_SESSION if texts else 0) if (q := true_quote(rng, rng.choice(texts)))]
        for quote, verdict in zip(quotes, verify_quotes(quotes, events, nearest=False), strict=True):
            reasons[verdict.reason] += 1
            if verdict.reason in ("no_match", "boundary", "stitched") and len(misses) < 20:
                misses.append(quote)
        if reasons.total() >= n:
            break
    return {"found": share(reasons["contiguous"], reasons.total()), "reasons": dict(reasons), "misses": misses}


def altered(shared: Path, rng: random.Random, n: int) -> dict[str, Any]:
    """Altered quotes: how many are refused, or really stand in the session by the oracle."""
    kinds: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    total, stood, passed = 0, 0, []
    for events in _sampled_sessions(shared, rng, n):
        batch = list(alterations(rng, events, min(PER_SESSION, n - total)))
        texts = [bare(event.text) for event in events]
        verdicts = verify_quotes([each.text for each in batch], events, nearest=False)
        for each, verdict in zip(batch, verdicts, strict=True):
            total += 1
            kinds[each.kind][1] += 1
            allowed = _is_verbatim(verdict) and stands(each.text, texts)
            stood += allowed
            if _is_verbatim(verdict) and not allowed:
                passed.append({"kind": each.kind, "text": each.text, "was": each.was})
            else:
                kinds[each.kind][0] += 1
        if total >= n:
            break
    return {
        "refused or truly there": share(total - len(passed), total),
        "truly there": stood,
        "by kind": {kind: share(*kinds[kind]) for kind in sorted(kinds)},
        "passed": passed[:20],
    }


def _sampled_sessions(shared: Path, rng: random.Random, n: int) -> Iterator[list[Event]]:
    paths = session_paths(shared)
    while True:
        for path in rng.sample(paths, len(paths)):
            yield read_session(path)
        if not paths or not n:
            return


def run(shared: Path, *, n: int = 10_000, seed: int = SEED) -> dict[str, Any]:
    """All three measures, ready for JSON."""
    return {
        "seed": seed,
        "gold": gold(shared),
        "unaltered": unaltered(shared, random.Random(seed), n // 2),
        "altered": altered(shared, random.Random(seed + 1), n),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    json.dump(run(options.shared, n=options.n, seed=options.seed), sys.stdout, indent=2, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
