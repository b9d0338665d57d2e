"""Synthetic claims that look like real ones: sentences of about 120 bytes over a vocabulary whose words are used unevenly.

The same seed gives the same claims. Nothing here is measured; it is what the measures of appending and briefing work on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from tallystick.log.canonical import encode
from tallystick.model.claim import Candidate, ClaimKind, Derivation, Outcome, Verdict
from tallystick.model.entry import EntryKind
from tallystick.model.evidence import Origin, Span
from tallystick.plugins import open_trail
from tallystick.trail import Appender, Trail
from tallystick.workflows.certifying import Certified
from tallystick.workflows.reconciling import Holders, Reconciler

SEED = 20261130
WORDS = 6_000
FIRST_SAID = 1_772_000_000_000_000
BY = "rules/1"

_SYLLABLES = ("ba co de fi gu ha jo ke li mo nu pa qui ra so te vu wa xi yo ze str ing er tion ment").split()
_KINDS = (ClaimKind.FACT, ClaimKind.OUTCOME, ClaimKind.DECISION, ClaimKind.OPEN_LOOP, ClaimKind.RULE)


def vocabulary(rng: random.Random) -> list[str]:
    """Distinct made-up words of one to four syllables."""
    words: dict[str, None] = {}
    while len(words) < WORDS:
        words["".join(rng.choices(_SYLLABLES, k=rng.randint(1, 4)))] = None
    return list(words)


def certified_claims(count: int, session: int, seed: int = SEED) -> Iterator[Certified]:
    """``count`` claims with a quote and its verdict each, one in five with an outcome; all texts differ."""
    rng = random.Random(seed)
    words = vocabulary(rng)
    weights = list(accumulate(1 / (rank + 10) for rank in range(WORDS)))
    for n in range(count):
        said = rng.choices(words, cum_weights=weights, k=rng.randint(10, 20))
        said[rng.randrange(len(said))] = f"src/{rng.choice(words)}/{rng.choice(words)}.py"
        text = f"The {' '.join(said)} is {n}."
        yield _certified(rng, n, text, session)


def _certified(rng: random.Random, n: int, text: str, session: int) -> Certified:
    event = f"e{rng.getrandbits(64):016x}"
    kind = _KINDS[n % len(_KINDS)]
    origin = Origin.USER if kind is ClaimKind.RULE else Origin.ASSISTANT
    candidate = Candidate(kind, text, text, origin, event, said_at=FIRST_SAID + n * 1_000_000)
    start = rng.randrange(5_000)
    span = Span(f"s{session}", event, start, start + len(text))
    verdicts = [Verdict("quotation/1", Derivation.VERBATIM, "contiguous", (span,))]
    if kind is ClaimKind.OUTCOME:
        verdicts.append(Verdict("outcome/1", Outcome.UNWITNESSED, "no result of that kind in the session"))
    settle = "git status" if kind is ClaimKind.OUTCOME else ""
    return Certified(candidate, event, n, tuple(verdicts), settle)


def opened(appender: Appender, project: str) -> tuple[Holders, int]:
    """The holders and a session to put claims under."""
    holders = Holders(appender.holder(project, "project"), appender.holder("person:someone", "person"))
    facts = {"harness": "claude-code", "name": "00000000-0000-4000-8000-000000000000"}
    session = appender.add(EntryKind.INTRODUCED, {"session": encode(facts)}, holder=holders.project)
    return holders, session


def reconciled(trail: Trail, appender: Appender, holders: Holders, session: int, said: Sequence[Certified]) -> None:
    """Append claims as an ingest does; tokens are counted as bytes ÷ 4, so that no tokenizer's time is in it."""
    reconciler = Reconciler(
        appender, holders, lambda data: trail.outside.digest(trail.id, data), lambda text: len(text) // 4
    )
    reconciler.session(session, said, BY)


def trail_with(count: int, folder: Path, project: str) -> Trail:
    """A new trail in ``folder`` that holds ``count`` claims of ``project``."""
    from tallystick.config import Places

    trail = open_trail(Places(folder / "trail", folder / "state"))
    with trail.writing() as appender:
        holders, session = opened(appender, project)
        reconciled(trail, appender, holders, session, list(certified_claims(count, session)))
    trail.seal()
    return trail
