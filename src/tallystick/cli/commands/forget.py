"""``tally forget``: erase, with a report per place."""

from __future__ import annotations

import re
from typing import Any

import click

from tallystick.briefing import shown
from tallystick.cli.app import stop
from tallystick.cli.asked import Asked, claim_id
from tallystick.cli.options import shared
from tallystick.errors import UsageError
from tallystick.plugins import adapters
from tallystick.workflows.forget import Forgotten, Selector, forget
from tallystick.workflows.places import Place
from tallystick.workflows.scoping import EVERYONE
from tallystick.workflows.sessions import session_number

_SESSION = re.compile(r"s\d{1,15}\Z")


@click.command(
    "forget",
    help="Erase a claim (c12), a session (s5 or --session), everything that contains a TEXT (--text), or a holder's memory "
    "(--holder), from every place it stands in, and say place by place what became of it. What a person said or approved "
    "is only proposed: it needs the person's key. Exit 1: something is left; 3: cannot tell.",
)
@click.argument("selector", required=False)
@click.option("--session", metavar="S", help="s…, the harness's id or a prefix of it, or a transcript's path.")
@click.option("--text", metavar="TEXT", help="Everything in which it stands, byte for byte.")
@click.option("--because", metavar="R", default="", help="Why, and not what: the reason is kept.")
@click.option("--dry-run", is_flag=True, help="Only say where it stands; change nothing.")
@shared(reads=False)
def command(
    asked: Asked, selector: str | None, session: str | None, text: str | None, because: str, dry_run: bool
) -> None:
    """Forget."""
    chosen = _chosen(asked, selector, session, text)
    done = forget(asked.trail, chosen, because, dry_run=dry_run)
    asked.show(_document(done), lambda: _shown(done))
    if done.exit_code:
        stop(done.exit_code)


def _chosen(asked: Asked, selector: str | None, session: str | None, text: str | None) -> Selector:
    holder = asked.scope.asked
    if sum(given is not None for given in (selector, session, text)) + len(holder) != 1:
        raise UsageError("name one thing to forget: c12, s5, --session S, --text TEXT or --holder H")
    if holder:
        if EVERYONE in holder:
            raise UsageError("--holder '*': to forget a whole trail, delete its folder and its state folder")
        return Selector(holder=holder[0])
    if text is not None:
        return Selector(text=text)
    if selector is not None and not _SESSION.match(selector):
        return Selector(claim=claim_id(selector))
    return Selector(session=session_number(asked.trail, session or selector or "", adapters()))


def _document(done: Forgotten) -> dict[str, Any]:
    return {
        "places": [_place(place) for place in done.places],
        "claims": [f"c{claim}" for claim in done.claims],
        "seq": None if done.seq < 0 else done.seq,
        "proposal": None if done.proposal < 0 else f"p{done.proposal}",
        "personal": list(done.personal),
        "dry_run": done.dry_run,
    }


def _place(place: Place) -> dict[str, Any]:
    said: dict[str, Any] = {"place": place.place, "state": place.state, "count": place.pieces}
    if place.why:
        said["why"] = place.why
    if place.where:
        said["where"] = list(place.where)
    return said


def _shown(done: Forgotten) -> str:
    lines = []
    if done.proposal >= 0:
        lines.append(
            f"p{done.proposal}: proposed, and nothing erased: {len(done.personal)} of it a person said or approved "
            f"({', '.join(done.personal[:4])}{' …' if len(done.personal) > 4 else ''}), which needs the person's key"
        )
    elif done.dry_run:
        lines.append("nothing was changed; this is where it stands")
    elif done.seq >= 0:
        lines.append(f"erased at {done.seq}")
    else:
        lines.append("nothing of it was in the memory log")
    for place in done.places:
        count = f" {place.pieces}" if place.pieces else ""
        where = f" ({', '.join(map(shown, place.where[:4]))}{' …' if place.pieces > 4 else ''})" if place.where else ""
        why = f": {shown(place.why)}" if place.why else ""
        lines.append(f"  {place.place}: {place.state}{count}{where}{why}")
    return "\n".join(lines)
