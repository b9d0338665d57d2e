"""How fast claims are appended and verified: 100,000 in one ingest, hashing, views and search included.

``Appender.add`` is given parts that are ready, as bytes; the second run goes through ``Reconciler``, which also makes
them, files the claims and looks for contradictions. Floors of the same texts: SHA-256 of every part with its salt, and
an insert into a plain table. The garbage collector is set as ``tally ingest`` sets it.
"""

from __future__ import annotations

import gc
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.speed import floors
from benchmarks.speed.claims import certified_claims, opened, reconciled
from benchmarks.speed.running import Figure, Measure, Spent, here, interleaved, median
from tallystick.cli import COLLECTED_EACH
from tallystick.config import Places
from tallystick.log.canonical import encode
from tallystick.model.entry import EntryKind, LogName
from tallystick.plugins import open_trail
from tallystick.trail import Trail
from tallystick.trail.verifying import verify_log
from tallystick.workflows.certifying import Certified, verdict_part
from tallystick.workflows.reconciling import JUDGED_AT_ONCE

CLAIMS = 100_000
ROUNDS = 3
APPENDS_PER_SECOND = 20_000
VERIFIED_PER_SECOND = 80_000


class Ready(NamedTuple):
    """A claim as bytes."""

    parts: dict[str, bytes]
    verdict: bytes


def run(scratch: Path, count: int = CLAIMS, rounds: int = ROUNDS) -> Measure:
    """Rates of appending and verifying, medians of interleaved rounds."""
    before = gc.get_threshold()
    gc.set_threshold(COLLECTED_EACH)
    try:
        return _measured(scratch, count, rounds)
    finally:
        gc.set_threshold(*before)


def _measured(scratch: Path, count: int, rounds: int) -> Measure:
    said = list(certified_claims(count, session=4))
    ready = [_ready(each) for each in said]
    texts = [each.candidate.text for each in said]
    hashed = [bytes(32) + body for each in ready for body in (*each.parts.values(), each.verdict)]
    sizes: list[int] = []

    def verified() -> Spent:
        trail = _trail(scratch / "appended")
        took = here(lambda: sizes.append(_sound(trail)))
        trail.store.close()
        return took

    found = interleaved(
        rounds,
        {
            "append": lambda: _appended(scratch / "appended", ready),
            "verify": verified,
            "reconcile": lambda: _reconciled(scratch / "reconciled", said),
            "hash": lambda: here(lambda: floors.hash_all(hashed)),
            "insert": lambda: _inserted(scratch / "plain.db", texts),
        },
    )
    bytes_each = sum(path.stat().st_size for path in (scratch / "appended" / "trail").iterdir()) / count
    append, verify, reconcile = (median(found[name]) for name in ("append", "verify", "reconcile"))
    return Measure(
        "appending",
        f"{count:,} claims of {sum(map(len, texts)) // count} bytes with facets, quote and verdict, {sizes[-1]:,} entries, "
        f"one transaction; medians of {rounds}, in turn",
        (
            *_rates("appends", count, append, APPENDS_PER_SECOND),
            *_rates("through Reconciler", count, reconcile, None),
            *_rates("verified entries", sizes[-1], verify, VERIFIED_PER_SECOND),
            Figure("on disk, a claim", bytes_each, "bytes"),
            Figure("append ÷ plain insert, CPU", append.cpu / median(found["insert"]).cpu, "×"),
            *_rates("floor: plain inserts", count, median(found["insert"]), None),
            *_rates("floor: SHA-256 of the parts, claims", count, median(found["hash"]), None),
        ),
    )


def _rates(name: str, count: int, spent: Spent, goal: float | None) -> tuple[Figure, Figure]:
    return (
        Figure(f"{name}, wall", count / spent.wall, "/s", goal, at_least=True),
        Figure(f"{name}, CPU", count / spent.cpu, "/s", goal, at_least=True),
    )


def _ready(certified: Certified) -> Ready:
    candidate = certified.candidate
    facets = {
        "by": "rules/1",
        "event": certified.event,
        "kind": str(candidate.kind),
        "origin": str(candidate.origin),
        "said_at": candidate.said_at or -1,
        "session": 4,
        "tokens": len(candidate.text) // 4,
    }
    parts = {"facets": encode(facets), "text": candidate.text.encode(), "quote": candidate.quote.encode()}
    return Ready(parts, verdict_part(certified.verdicts, certified.settle))


def _trail(folder: Path) -> Trail:
    return open_trail(Places(folder / "trail", folder / "state"))


def _appended(folder: Path, ready: Sequence[Ready]) -> Spent:
    shutil.rmtree(folder, ignore_errors=True)
    trail = _trail(folder)

    def work() -> None:
        with trail.writing() as appender:
            holders, _ = opened(appender, "project:speed")
            verdicts: dict[int, bytes] = {}
            for each in ready:
                verdicts[appender.add(EntryKind.ASSERTED, each.parts, holder=holders.project)] = each.verdict
                if len(verdicts) == JUDGED_AT_ONCE:
                    parts = {f"verdict/{claim}": body for claim, body in verdicts.items()}
                    appender.add(EntryKind.JUDGED, parts, refs=sorted(verdicts))
                    verdicts = {}
        trail.seal()

    spent = here(work)
    trail.store.close()
    return spent


def _reconciled(folder: Path, said: Sequence[Certified]) -> Spent:
    shutil.rmtree(folder, ignore_errors=True)
    trail = _trail(folder)

    def work() -> None:
        with trail.writing() as appender:
            holders, session = opened(appender, "project:speed")
            reconciled(trail, appender, holders, session, said)
        trail.seal()

    spent = here(work)
    trail.store.close()
    shutil.rmtree(folder)
    return spent


def _inserted(database: Path, texts: Sequence[str]) -> Spent:
    database.unlink(missing_ok=True)
    return here(lambda: floors.insert_rows(texts, database))


def _sound(trail: Trail) -> int:
    report = verify_log(trail, LogName.MEMORY)
    if not report.sound:
        raise RuntimeError(f"the trail that was just written is not sound: {report.bad[0].what}")
    return report.size
