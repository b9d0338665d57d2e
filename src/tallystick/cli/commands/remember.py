"""``tally remember``: one claim by hand or by an agent."""

from __future__ import annotations

import os

import click

from tallystick.cli.asked import Asked, project_name
from tallystick.cli.narrowing import ZONE
from tallystick.cli.options import shared
from tallystick.config import person_name
from tallystick.errors import UsageError
from tallystick.model.claim import About, ClaimKind
from tallystick.model.temporal import UNKNOWN_VALID_TIME
from tallystick.plugins import adapters
from tallystick.tokenizer import count_tokens
from tallystick.trail.instants import flag_notes, parse_valid
from tallystick.workflows.remember import Said, Tools, remember
from tallystick.workflows.scoping import EVERYONE, holder_name
from tallystick.workflows.sessions import find_session


def _holder(asked: Asked) -> str:
    """The holder that was named: one that the trail knows, or a new project of that name."""
    if not asked.scope.asked:
        return ""
    if len(asked.scope.asked) > 1 or EVERYONE in asked.scope.asked:
        raise UsageError("--holder: a claim stands in one memory; name one holder")
    return holder_name(asked.trail, asked.scope.asked[0])


@click.command(
    "remember", help="Keep one claim; its quote is looked for in the session, and an outcome needs a witness there."
)
@click.argument("text")
@click.option(
    "--quote", metavar="Q", default="", help="The words that support it, exactly as they stand in the session."
)
@click.option("--session", metavar="S", help="s…, the harness's id or a prefix of it, or a transcript's path.")
@click.option(
    "--kind",
    type=click.Choice([str(kind) for kind in ClaimKind]),
    default="fact",
    show_default=True,
    help="What it is.",
)
@click.option(
    "--about",
    nargs=3,
    metavar="SUBJECT ATTRIBUTE VALUE",
    help="What it says of one thing, such as: --about mini state up. Where the attribute has one value at a time (`tally "
    "register`), another value gives way.",
)
@click.option(
    "--valid-from", metavar="T", help="Since when it holds: 2023, 2026-05, 2026-05-01 or an instant with a zone."
)
@click.option("--valid-to", metavar="T", help="Until when, not including it.")
@ZONE
@shared(reads=False)
def command(
    asked: Asked,
    text: str,
    quote: str,
    session: str | None,
    kind: str,
    about: tuple[str, str, str] | None,
    valid_from: str | None,
    valid_to: str | None,
    zone: str,
) -> None:
    """Remember and say how it stands."""
    valid = parse_valid(valid_from, valid_to, zone) if valid_from or valid_to else UNKNOWN_VALID_TIME
    found = find_session(asked.trail, session, adapters()) if session else None
    tools = Tools(count_tokens, _holder(asked) or project_name(), person_name(os.environ))
    made = remember(asked.trail, Said(text, ClaimKind(kind), quote, valid, About(*about or ())), found, tools)
    nearest = made.nearest._asdict() if made.nearest else None
    document = {
        "id": f"c{made.id}",
        "derivation": made.derivation,
        "outcome": made.outcome,
        "reason": made.reason,
        "closes": [f"c{claim}" for claim in made.closes],
        "flags": list(valid.flags),
        "nearest": nearest,
    }

    def human() -> str:
        said = f"c{made.id}: {made.derivation}, {made.reason}"
        if made.closes:
            said += f"; takes the place of {', '.join(f'c{claim}' for claim in made.closes)}"
        said = "\n".join([said, *flag_notes(valid)])
        return f"{said}\nnearest: {made.nearest.text}\n{made.nearest.differs}" if made.nearest else said

    asked.show(document, human)
