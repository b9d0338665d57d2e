"""``tally outcome``: the outcome verifier alone."""

from __future__ import annotations

import click

from tallystick.cli.app import stop
from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.model.claim import Outcome
from tallystick.plugins import adapters
from tallystick.workflows.remember import judge_outcome
from tallystick.workflows.sessions import find_session, located


@click.command(
    "outcome", help="Say whether TEXT claims an outcome, and what in the session witnesses or contradicts it."
)
@click.argument("text")
@click.option(
    "--session", metavar="S", required=True, help="s…, the harness's id or a prefix of it, or a transcript's path."
)
@click.option(
    "--at", "locator", metavar="LOCATOR", help="Where the words were said: line:383, index:12 or an event id."
)
@click.option(
    "--fail-on", multiple=True, type=click.Choice([str(each) for each in Outcome]), help="Exit 1 on this verdict."
)
@shared()
def command(asked: Asked, text: str, session: str, locator: str | None, fail_on: tuple[str, ...]) -> None:
    """Verify one outcome."""
    found = find_session(asked.trail, session, adapters(), asked.as_of)
    verdict, _ = judge_outcome(text, found, located(found, locator) if locator else None)
    document = {
        "is_outcome": verdict.is_outcome,
        "mood": verdict.mood,
        "verdict": verdict.outcome,
        "witness": [
            {
                "session": found.label,
                "event": witness.event,
                "command": witness.command,
                "status": witness.status,
                "excerpt": witness.excerpt,
            }
            for witness in verdict.witness
        ],
        "reason": verdict.reason,
        **({"erased": found.erased} if found.erased else {}),
    }

    def human() -> str:
        if not verdict.is_outcome:
            return f"not an outcome claim ({verdict.mood}): {verdict.reason}"
        lines = [f"{verdict.outcome}: {verdict.reason}"]
        if found.erased:
            lines.append(f"  {found.erased} more events of the session were erased")
        lines += [f"  {w.event} {w.command} → {w.status}: {w.excerpt}" for w in verdict.witness]
        return "\n".join(lines)

    asked.show(document, human)
    if verdict.outcome in fail_on:
        stop(1)
