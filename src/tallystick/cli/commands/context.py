"""``tally context``: the exact bytes that an answer was given."""

from __future__ import annotations

from typing import Any

import click

from tallystick.cli.app import stop
from tallystick.cli.asked import Asked, access_id
from tallystick.cli.options import shared
from tallystick.cli.saying import complain, write_bytes
from tallystick.trail.instants import iso
from tallystick.workflows.contexts import Context, Given, contexts

CANNOT_TELL = 3


@click.command(
    "context",
    help="Print the exact bytes that an answer (a12) was given, or that a recall or a briefing (r5) showed, and nothing else. "
    "Several contexts follow each other in the order of time. Exit 3 where one of them is not there any more.",
)
@click.argument("answer")
@shared()
def command(asked: Asked, answer: str) -> None:
    """Give back."""
    wanted = access_id(answer, "ar", "an answer; expected a12, or r5 for a recall or a briefing")
    found = contexts(asked.trail, wanted, asked.as_of)
    gone = [each for each in found.contexts if each.body is None]
    if asked.as_json:
        asked.show(_document(found), lambda: "")
    elif not gone:
        write_bytes(b"".join(each.body or b"" for each in found.contexts))
    if gone:
        complain("; ".join(map(_told, gone)))
        stop(CANNOT_TELL)


def _document(found: Given) -> dict[str, Any]:
    return {"answer": found.id, "text": found.text, "contexts": [_item(each) for each in found.contexts]}


def _item(each: Context) -> dict[str, Any]:
    from hashlib import sha256

    return {
        "id": f"r{each.number}",
        "at": iso(each.at),
        "text": None if each.body is None else each.body.decode("utf-8", "replace"),
        "sha256": None if each.body is None else sha256(each.body).hexdigest(),
        "state": each.gone or "kept",
    }


def _told(each: Context) -> str:
    return f"r{each.number}: the context was {each.gone}" + ("" if each.gone == "erased" else " by an earlier version")
