"""``tally show``: what the events of a session say, from the archive."""

from __future__ import annotations

from typing import Any

import click

from tallystick.briefing import shown
from tallystick.cli.asked import Asked
from tallystick.cli.commands.sessions import session_document, session_line
from tallystick.cli.options import shared
from tallystick.cli.tombstones import tombstone_document, tombstone_line
from tallystick.errors import UsageError
from tallystick.model.evidence import Event, Status
from tallystick.plugins import adapters
from tallystick.trail.instants import iso
from tallystick.workflows.show import Page, show_session

LONGEST = 2000
"""Characters of an event on a page for a reader; --event shows all of it."""


@click.command(
    "show", help="Show what the events of SESSION say: s…, the harness's id or a prefix of it, or a transcript's path."
)
@click.argument("session")
@click.option("--event", metavar="N|e…", default="", help="Only this one, whole: its number or its id.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(min=1), default=100, show_default=True, help="Events on a page."
)
@click.option(
    "--after", metavar="N", type=click.IntRange(min=0), help="The number of the last event of the page before."
)
@shared()
def command(asked: Asked, session: str, event: str, limit: int, after: int | None) -> None:
    """Show a page."""
    if event and after is not None:
        raise UsageError("--event and --after: give one of them")
    page = show_session(
        asked.trail,
        session,
        asked.scope,
        adapters(),
        as_of=asked.as_of,
        event=event,
        after=-1 if after is None else after,
        limit=limit,
    )
    asked.show(_document(page), lambda: _shown(page, whole=bool(event)))


def _document(page: Page) -> dict[str, Any]:
    return {
        "seq": page.point.seq,
        **session_document(page.session),
        "items": [
            {"n": item.n, "event": item.id, **(_event(item.event) if item.event else _erased(page))}
            for item in page.items
        ],
        "next": page.items[-1].n if page.more else None,
    }


def _erased(page: Page) -> dict[str, Any]:
    return {"erased": tombstone_document(page.gone)}


def _event(event: Event) -> dict[str, Any]:
    return {
        "line": event.locator.line,
        "index": event.locator.index,
        "at": iso(-1 if event.at is None else event.at) or None,
        "kind": event.kind,
        "role": event.origin,
        "tool": event.tool or None,
        "status": None if event.status is Status.NONE else event.status,
        "exit_code": event.exit_code,
        "command": event.command or None,
        "paths": event.paths,
        "flags": event.flags,
        "thread": event.thread or None,
        "text": event.text,
    }


def _shown(page: Page, *, whole: bool) -> str:
    lines = [session_line(page.session)]
    for item in page.items:
        event = item.event
        if event is None:
            lines.append(f"#{item.n} {item.id} {tombstone_line(page.gone)}")
            continue
        when = iso(-1 if event.at is None else event.at) or "no time"
        tool = f" {shown(event.tool)}" if event.tool else ""
        ended = "" if event.status is Status.NONE else f", {event.status}"
        code = "" if event.exit_code is None else f" ({event.exit_code})"
        lines.append(f"#{item.n} {item.id} {when} {event.origin} {event.kind}{tool}{ended}{code}")
        text = event.text if whole else event.text[:LONGEST]
        lines += [f"  {_safe(line)}" for line in text.splitlines()]
        if len(text) < len(event.text):
            lines.append(f"  … {len(event.text) - len(text)} more characters: --event {item.n}")
    if page.more:
        lines.append(f"more with --after {page.items[-1].n}")
    return "\n".join(lines)


def _safe(line: str) -> str:
    """Without what a terminal would obey or not show."""
    return "".join(each if each.isprintable() else " " for each in line.expandtabs(4))
