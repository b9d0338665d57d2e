"""Brief: what the next session should know, logged as surfaced before it is shown (CARRY.1–7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tallystick.beliefs import object_of
from tallystick.briefing import FRAME_TOKENS, LINE_TOKENS, Briefing, brief
from tallystick.errors import UsageError
from tallystick.model.claim import Standing
from tallystick.model.entry import LogName
from tallystick.store.protocol import Reading, Selection
from tallystick.trail import Trail
from tallystick.trail.intact import intact_parts
from tallystick.trail.points import Point, point
from tallystick.workflows.contexts import exactly, surface
from tallystick.workflows.scoping import Scope, holders

DEFAULT_BUDGET_TOKENS = 1500


class Briefed(NamedTuple):
    """The briefing and the point it was made at."""

    briefing: Briefing
    point: Point
    number: int = -1
    """``r7``: the entry of the access log that keeps what was shown; -1 where there is no trail yet."""
    shown: str = ""
    """What was kept as shown; to be printed exactly so (ACCESS.3)."""


def as_it_stands(made: Briefed) -> str:
    """The briefing's own text, which is what a harness hands to its agent."""
    return made.briefing.text


def make_briefing(
    trail: Trail, scope: Scope, *, as_of: str | None, budget: int, render: Callable[[Briefed], str] = as_it_stands
) -> Briefed:
    """Choose, log, and return the briefing. ``render`` gives the text in which it will be shown, and that is what is kept.

    Raises:
        UsageError, BadTime: see ``trail.points.point`` and ``scoping.holders``.
        MachineError: the access log cannot be written, or a claim to be shown is not as it was committed to; then nothing
            is shown.
    """
    if budget < FRAME_TOKENS + LINE_TOKENS:
        raise UsageError(f"--budget {budget}: the frame and one line take up to {FRAME_TOKENS + LINE_TOKENS} tokens")
    with trail.reading() as rows:
        at = point(trail, rows, as_of)
        now = max(trail.clock(), at.at) if as_of is None else at.at
        held = rows.standings(Selection(at.seq, holders(rows, scope, at.seq), valid_at=now))
        made = brief(
            held,
            now=now,
            budget=budget,
            text=rows.text,
            opposed=_opposed(rows, at.seq, held),
            settle=lambda claim: _settle(rows, claim, at.seq),
            quote=lambda claim: intact_parts(rows, claim).get("quote", b"").decode("utf-8", "replace"),
        )
        newest = rows.head().size - 1
    briefed = Briefed(made, at)
    briefed = briefed._replace(shown=exactly(render(briefed)))
    if trail.id:
        claims = sorted(line.claim for line in made.lines)
        with trail.writing(LogName.ACCESS) as appender:
            number = surface(appender, briefed.shown, at, newest, claims)
        briefed = briefed._replace(number=number)
    return briefed


def _opposed(rows: Reading, seq: int, held: Sequence[Standing]) -> dict[int, int]:
    """Claims that a newer held one contradicts: older → newer (CARRY.4)."""
    links = rows.links(seq, "contradicts")
    if not links:
        return {}
    claims = {standing.claim for standing in held}
    return {link.older: link.newer for link in links if link.older in claims and link.newer in claims}


def _settle(rows: Reading, claim: int, seq: int) -> str:
    """The command that the newest verdict offers at a point."""
    for verdict in reversed([verdict for verdict in rows.verdicts(claim) if verdict.seq <= seq]):
        body = next((part.body for part in rows.parts(verdict.seq) if part.name == f"verdict/{claim}"), b"")
        return str(object_of(body).get("settle", ""))
    return ""
    return ""
