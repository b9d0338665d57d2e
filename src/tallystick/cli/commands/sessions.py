"""``tally sessions``: the sessions that a trail knows."""

from __future__ import annotations

from typing import Any

import click

from tallystick.briefing import shown
from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.cli.within import within
from tallystick.trail.instants import iso
from tallystick.workflows.show import Listed, list_sessions


@click.command("sessions", help="List sessions, the last first, with how many events and claims each has.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(min=1), default=50, show_default=True, help="Most items shown."
)
@shared()
@within
def command(asked: Asked, harness: str, since: int | None, until: int | None, limit: int) -> None:
    """List them."""
    found = list_sessions(
        asked.trail, asked.scope, as_of=asked.as_of, harness=harness, since=since, until=until, limit=limit
    )
    document = {"seq": found.point.seq, "count": found.total, "items": list(map(session_document, found.items))}

    def human() -> str:
        lines = [session_line(each) for each in found.items]
        if found.total > len(found.items):
            lines.append(f"and {found.total - len(found.items)} before: --limit N, or narrow the list")
        return "\n".join(lines or ["no session in scope; --holder '*' lists everyone's"])

    asked.show(document, human)


def session_document(session: Listed) -> dict[str, Any]:
    """A session for ``--json``."""
    return {
        "session": f"s{session.seq}",
        "name": session.name or None,
        "harness": session.facts.get("harness"),
        "project": session.project or None,
        "thread": session.facts.get("thread"),
        "parent": session.facts.get("parent"),
        "title": session.facts.get("title"),
        "began": iso(session.began) or None,
        "ended": iso(session.ended) or None,
        "events": session.events,
        "erased": session.erased,
        "claims": session.claims,
    }


def session_line(session: Listed) -> str:
    """A session for a reader."""
    facts = session.facts
    title = f": {shown(facts['title'])}" if facts.get("title") else ""
    thread = f", thread {shown(facts['thread'])}" if facts.get("thread") else ""
    erased = f", {session.erased} erased" if session.erased else ""
    return (
        f"s{session.seq} {iso(session.ended) or 'no time'} {shown(facts.get('harness', ''))} {shown(session.name)}{thread},"
        f" {session.events} events{erased}, {session.claims} claims, {shown(session.project)}{title}"
    )
