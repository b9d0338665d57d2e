"""``tally quote``: the quotation verifier alone."""

from __future__ import annotations

import click

from tallystick.cli.app import stop
from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.model.claim import Derivation
from tallystick.plugins import adapters
from tallystick.verifiers.quotation import verify_quote
from tallystick.verifiers.superseding import superseded
from tallystick.workflows.sessions import find_session, located


@click.command("quote", help="Say whether TEXT stands, word for word, in one event of a session, and where.")
@click.argument("text")
@click.option(
    "--session", metavar="S", required=True, help="s…, the harness's id or a prefix of it, or a transcript's path."
)
@click.option("--at", "locator", metavar="LOCATOR", help="Only there: line:383, index:12 or an event id.")
@click.option("--fail-on", type=click.Choice(["inferred"]), help="Exit 1 when the quote is not verbatim.")
@shared()
def command(asked: Asked, text: str, session: str, locator: str | None, fail_on: str | None) -> None:
    """Verify one quote."""
    found = find_session(asked.trail, session, adapters(), asked.as_of)
    events = {found.events[n].uid: found.events[n] for n in located(found, locator)}
    verdict = verify_quote(text, events.values(), surfaced=found.surfaced())
    spans = [
        {
            "session": found.label,
            "event": span.event,
            "start": span.start,
            "end": span.end,
            "text": events[span.event]
            .text.encode("utf-8", "replace")[span.start : span.end]
            .decode("utf-8", "replace"),
            "line": events[span.event].locator.line,
            "origin": events[span.event].origin,
        }
        for span in verdict.spans
    ]
    verbatim = verdict.derivation is Derivation.VERBATIM
    nearest = verdict.nearest._asdict() if verdict.nearest else None
    later = superseded(text, verdict.spans[0].event, found.events) if verbatim else None
    document = {
        "verbatim": verbatim,
        "reason": verdict.reason,
        "spans": spans,
        "nearest": nearest,
        "superseded": later._asdict() if later else None,
        **({"erased": found.erased} if found.erased else {}),
    }

    def human() -> str:
        lines = [f"{'✓ verbatim' if verbatim else '~ inferred'} ({verdict.reason})"]
        lines += [
            f"  {s['session']} {s['event']} line {s['line']}, bytes {s['start']}–{s['end']}, {s['origin']}: {s['text']}"
            for s in spans[:5]
        ]
        if later:
            lines.append(f"  superseded later in the session by {later.value}: {later.text} ({later.event})")
        if found.erased:
            lines.append(f"  {found.erased} more events of the session were erased")
        if verdict.nearest:
            lines += [f"  nearest: {verdict.nearest.text}", f"  {verdict.nearest.differs}"]
        return "\n".join(lines)

    asked.show(document, human)
    if fail_on and not verbatim:
        stop(1)
