"""``tally search``: everything that was said, shown and printed by tools."""

from __future__ import annotations

import re
from typing import Any

import click

from tallystick.briefing import shown
from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.cli.within import within
from tallystick.errors import UsageError
from tallystick.model.evidence import Status
from tallystick.plugins import adapters
from tallystick.trail.instants import iso
from tallystick.workflows.search import ROLES, Found, Hit, Searching, search
from tallystick.workflows.sessions import session_number

_CODE = re.compile(r"-?\d{1,10}\Z")


@click.command(
    "search",
    help="Search everything that was said, shown and printed by tools, newest first. Plain words match by their stems;"
    ' "a phrase in quotes" and whatever is no plain word (src/api.py, #123, mini.local, --no-verify) match as they are written.',
)
@click.argument("query", nargs=-1)
@click.option("--role", "roles", multiple=True, type=click.Choice(ROLES), help="Whose words; may be given again.")
@click.option(
    "--tool", "tools", metavar="NAME", multiple=True, help="Calls and results of this tool; may be given again."
)
@click.option("--exit", "exit_", metavar="CODE|failed", default="", help="Only results that ended so.")
@click.option(
    "--session", metavar="S", help="Only this one: s…, the harness's id or a prefix of it, or a transcript's path."
)
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, 1000), default=10, show_default=True, help="Most items shown."
)
@shared()
@within
def command(
    asked: Asked,
    query: tuple[str, ...],
    roles: tuple[str, ...],
    tools: tuple[str, ...],
    exit_: str,
    session: str | None,
    harness: str,
    since: int | None,
    until: int | None,
    limit: int,
) -> None:
    """Search and show."""
    if exit_ and exit_ != Status.FAILED and not _CODE.match(exit_):
        raise UsageError(f"--exit {exit_[:40]}: expected an exit code such as 1, or failed")
    number = session_number(asked.trail, session, adapters()) if session else None
    narrowed = Searching(roles, tools, exit_, harness, number, since, until)
    found = search(asked.trail, " ".join(query), asked.scope, as_of=asked.as_of, narrowed=narrowed, limit=limit)
    asked.show(_document(found), lambda: _shown(found))


def _document(found: Found) -> dict[str, Any]:
    return {
        "seq": found.point.seq,
        "items": [
            {
                "session": f"s{hit.session}",
                "n": hit.n,
                "event": hit.event.uid,
                "line": hit.event.locator.line,
                "index": hit.event.locator.index,
                "at": iso(-1 if hit.event.at is None else hit.event.at) or None,
                "kind": hit.event.kind,
                "role": hit.event.origin,
                "tool": hit.event.tool or None,
                "status": None if hit.event.status is Status.NONE else hit.event.status,
                "exit_code": hit.event.exit_code,
                "thread": hit.event.thread or None,
                "excerpt": hit.excerpt,
                "marks": hit.marks,
            }
            for hit in found.items
        ],
        "more": found.more,
    }


def _shown(found: Found) -> str:
    lines: list[str] = []
    for hit in found.items:
        event = hit.event
        ended = "" if event.status in (Status.NONE, Status.OK) else f", {event.status}"
        code = "" if not event.exit_code else f" ({event.exit_code})"
        tool = f" {shown(event.tool)}" if event.tool else ""
        when = iso(-1 if event.at is None else event.at) or "no time"
        lines.append(f"s{hit.session} {event.uid} {when} {event.origin}{tool}{ended}{code}")
        lines.append(f"  {_marked(hit)}")
    if not found.items:
        lines.append("nothing that was said in scope holds it; --holder '*' looks everywhere")
    if found.more:
        lines.append("there are more: --limit N, or narrow the search")
    return "\n".join(lines)


def _marked(hit: Hit) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in hit.marks:
        pieces += [hit.excerpt[at:start], "»", hit.excerpt[start:end], "«"]
        at = end
    return "".join([*pieces, hit.excerpt[at:]])
