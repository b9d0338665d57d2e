"""Demo: the sample sessions in, the briefing out, one why, one replay, one caught tampering, in a throw-away trail."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tallystick.errors import UsageError
from tallystick.store.protocol import Selection
from tallystick.trail import Trail
from tallystick.trail.instants import iso
from tallystick.workflows.brief import make_briefing
from tallystick.workflows.ingest import Tools, ingest
from tallystick.workflows.replay import replay
from tallystick.workflows.scoping import EVERYONE, Scope
from tallystick.workflows.verify import verify_trail
from tallystick.workflows.why import why

BUDGET_TOKENS = 1200
ALL = Scope(asked=(EVERYONE,))


class Stage(NamedTuple):
    """What the demo plays on, handed in by the composition root."""

    corpora: Path
    tools: Tools
    open_trail: Callable[[Path, Path], Trail]
    """From a trail's folder and a state folder."""


def demonstrate(stage: Stage, say: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Play it; ``say`` is told what a person reads, and each step is yielded as a document.

    Raises:
        UsageError: the sample sessions are not there.
    """
    if not stage.corpora.is_dir():
        raise UsageError(f"{stage.corpora}: the sample sessions are not there; reinstall tallystick")
    folder = Path(tempfile.mkdtemp(prefix="tally-demo-"))
    trail = stage.open_trail(folder / "trail", folder / "state")
    try:
        yield from _play(stage, trail, folder, say)
    finally:
        trail.store.close()
        shutil.rmtree(folder, ignore_errors=True)


def _play(stage: Stage, trail: Trail, folder: Path, say: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    say("# 1. Sessions in: every record accounted for, secrets redacted, each claim checked\n")
    found = ingest(trail, [stage.corpora], stage.tools)
    counted = f"{found.files} files, {found.counts['records']} records, {found.events} events"
    say(f"{counted}, {found.claims} claims in {found.seconds:.1f} s\n")
    yield {"step": "ingest", "sessions": len(found.sessions), "claims": found.claims, "seconds": found.seconds}
    say("# 2. The briefing: ✓ is a quote, ~ a guess; what may be stale comes first\n")
    made = make_briefing(trail, ALL, as_of=None, budget=BUDGET_TOKENS)
    say(made.briefing.text)
    yield {"step": "brief", "lines": len(made.briefing.lines), "left_out": made.briefing.left_out}
    claim = next((line.claim for line in made.briefing.lines if line.quote), made.briefing.lines[0].claim)
    say(f"# 3. Why c{claim}? The words are read again from the archive and checked\n")
    yield _why(trail, claim, say)
    say("# 4. What was believed earlier? The answer names its seq and root, and asking again gives the same\n")
    yield _replay(trail, say)
    say("# 5. Someone edits the record on disk\n")
    yield _tamper(stage, trail, folder, claim, say)
    say(
        "# What to try next\n\n"
        "  tally ingest                 read the sessions of the agents on this machine\n"
        "  tally brief                  in a project's folder: what its next session should know\n"
        "  tally recall 'retry policy'  search what is believed\n"
        "  tally quote 'words' --session FILE     is that really what was said?\n"
        "  tally outcome 'All tests pass' --session FILE    and is there a witness?\n"
        "  tally verify                 recompute everything from bytes"
    )


def _why(trail: Trail, claim: int, say: Callable[[str], None]) -> dict[str, Any]:
    found = why(trail, claim, None)
    say(f"c{claim}: {found.text}")
    for line in found.evidence[:3]:
        state = "bytes as committed" if line.digest_ok else "BYTES CHANGED"
        say(
            f'  {line.role}: "{line.text[:160]}" ({line.origin}, {iso(line.at)}, s{line.session} {line.event}, {state})'
        )
    say("")
    return {
        "step": "why",
        "claim": f"c{claim}",
        "evidence": len(found.evidence),
        "digest_ok": all(line.digest_ok for line in found.evidence),
    }


def _replay(trail: Trail, say: Callable[[str], None]) -> dict[str, Any]:
    with trail.reading() as rows:
        middle = rows.head().size // 2
        now = rows.count(Selection(rows.head().size - 1))
    past = replay(trail, ALL, as_of=str(middle), limit=3)
    say(f"as of {past.point.seq}: {past.total} claims, root {past.root.hex()[:24]}…; now: {now}")
    for belief in past.items:
        say(f"  c{belief.row.claim} {belief.row.kind}: {(belief.text or '')[:110]}")
    say("")
    return {"step": "replay", "seq": past.point.seq, "count": past.total, "now": now}


def _tamper(stage: Stage, trail: Trail, folder: Path, claim: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Change one letter of a claim in a copy of the files, as an editor of the disk would."""
    with trail.reading() as rows:
        text = next(part.body for part in rows.parts(claim) if part.name == "text")
    trail.store.close()
    shutil.copytree(folder / "trail", folder / "copy")
    target = folder / "copy" / "memory.db"
    data = target.read_bytes()
    at = data.find(text)
    word = bytes([data[at] ^ 0x20])
    target.write_bytes(data[:at] + word + data[at + 1 :])
    copy = stage.open_trail(folder / "copy", folder / "state")
    found = verify_trail(copy)
    copy.store.close()
    first = found.first_bad
    say(f"one letter of c{claim} changed in memory.db; `tally verify` says:")
    say(
        f"  sound: {found.sound}; first bad: {f'{first[0]} entry {first[1].seq}: {first[1].what}' if first else 'nothing'}\n"
    )
    return {"step": "tamper", "caught": not found.sound, "seq": first[1].seq if first else None}


def bundled(package: Path) -> Path:
    """Where the sample sessions are: inside the installed package, or beside the sources."""
    inside = package / "corpora"
    return inside if inside.is_dir() else package.parents[1] / "corpora"
