"""``tally doctor``: is everything found, reachable, sound, current; what to do if not."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

import click

from tallystick.cli.app import stop
from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.config import found_places, in_main_checkout
from tallystick.errors import TallyError
from tallystick.plugins import adapters, home
from tallystick.trail.instants import iso
from tallystick.workflows.doctor import accept_heads, examine
from tallystick.workflows.harnesses import Harness
from tallystick.workflows.lineage import Kin, lineage


@click.command("doctor", help="Check the trail, its keys, the clock and the harnesses, and say what to do.")
@click.option(
    "--accept-head", is_flag=True, help="Take the trail as it is now for true, after a backup was put back on purpose."
)
@shared(reads=False)
def command(asked: Asked, accept_head: bool) -> None:
    """Examine."""
    if accept_head:
        accept_heads(asked.trail)
    examined = examine(asked.trail, found_places(os.environ, home()), adapters(), in_main_checkout)
    document: dict[str, Any] = {
        "checks": [check._asdict() for check in examined.checks],
        "harnesses": [_document(each) for each in examined.harnesses],
    }
    if asked.as_json:
        # What its checks say of a trail that cannot be read is all that can be said of it.
        with suppress(TallyError):
            document["lineage"] = [_relations(each) for each in lineage(asked.trail)]
    asked.show(document, lambda: "\n".join(f"{each.state:5} {each.name}: {each.advice}" for each in examined.checks))
    if any(check.state == "bad" for check in examined.checks):
        stop(1)


def _document(seen: Harness) -> dict[str, Any]:
    return {
        **seen._asdict(),
        "refused": [each._asdict() for each in seen.refused],
        "newest": None if seen.newest is None else iso(seen.newest),
    }


def _relations(kin: Kin) -> dict[str, Any]:
    def name(session: int) -> str | None:
        return f"s{session}" if session >= 0 else None

    return {
        "session": name(kin.session),
        "harness": kin.harness,
        "native_id": kin.native_id,
        "thread": kin.thread,
        "project": kin.project,
        "events": kin.events,
        "parent": name(kin.parent),
        "fork_of": name(kin.fork_of),
        "shared": kin.shared,
        "missing": kin.missing,
        "agents": [name(each) for each in kin.agents],
        "forks": [name(each) for each in kin.forks],
        "threads": list(kin.threads),
        "compactions": [
            {"event": each.event, "at": None if each.at is None else iso(each.at)} for each in kin.compactions
        ],
    }
