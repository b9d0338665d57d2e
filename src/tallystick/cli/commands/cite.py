"""``tally cite``: an answer bound to the claims it used."""

from __future__ import annotations

import sys
from typing import Any

import click

from tallystick.cli.asked import Asked, access_id, claim_id
from tallystick.cli.commands.answers import correction, told
from tallystick.cli.options import shared
from tallystick.errors import UsageError
from tallystick.workflows.cite import MOST_BYTES, Cited, cite


@click.command(
    "cite",
    help="Keep which claims an answer used. ANSWER is its text, or - to read it from stdin; it may be left out.",
)
@click.argument("answer", required=False)
@click.option(
    "--claims",
    metavar="C,…",
    multiple=True,
    help="What it used: c12,c15. Without, it used nothing of what it was shown.",
)
@click.option(
    "--recall",
    "--briefing",
    "numbers",
    metavar="R",
    multiple=True,
    help="The recall or briefing it answers from, r5. Default: the newest that showed all of the claims.",
)
@shared(reads=False)
def command(asked: Asked, answer: str | None, claims: tuple[str, ...], numbers: tuple[str, ...]) -> None:
    """Cite."""
    wanted = [claim_id(each.strip()) for given in claims for each in given.split(",") if each.strip()]
    named = [int(access_id(each, "r", "a recall or a briefing; expected r5")[1:]) for each in numbers]
    done = cite(asked.trail, _from_stdin() if answer == "-" else answer, wanted, named)
    asked.show(_document(done), lambda: _shown(done))


def _from_stdin() -> str:
    """No more than shows that it is too much."""
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise UsageError("stdin is closed; give the answer's text")
    data: bytes = stream.read(MOST_BYTES + 1)
    return data.decode("utf-8", "replace")


def _document(done: Cited) -> dict[str, Any]:
    return {
        "answer": f"a{done.answer}",
        "claims": [f"c{claim}" for claim in done.claims],
        "ignored": [f"c{claim}" for claim in done.ignored],
        "recalls": [f"r{number}" for number in done.shown],
        "corrected": [correction(each) for each in done.corrected],
    }


def _shown(done: Cited) -> str:
    cited = ", ".join(f"c{claim}" for claim in done.claims) or "nothing"
    lines = [f"a{done.answer} cites {cited} of {', '.join(f'r{number}' for number in done.shown)}"]
    if done.ignored:
        lines.append(f"  ignored: {', '.join(f'c{claim}' for claim in done.ignored)}")
    lines += [f"  MEANWHILE {told(each)}" for each in done.corrected]
    return "\n".join(lines)
