"""Options that every command takes, and what they open: the trail, the scope, the output."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from tallystick.config import person_name, places, project_here
from tallystick.errors import UsageError
from tallystick.plugins import open_trail
from tallystick.trail.appending import Trail
from tallystick.workflows.scoping import Scope

F = TypeVar("F", bound=Callable[..., Any])
MOST_DIGITS = 15
"""Of an id or a seq: all that canonical JSON can hold."""


class Asked(NamedTuple):
    """What the shared options came to."""

    trail: Trail
    as_json: bool
    scope: Scope
    as_of: str | None

    def show(self, document: dict[str, Any], human: Callable[[], str]) -> None:
        """One JSON document, or the human view."""
        if self.as_json:
            sys.stdout.write(_encodable(document) + "\n")
        else:
            click.echo(human().rstrip("\n"))


def _encodable(document: dict[str, Any]) -> str:
    """As JSON that loses nothing: escaped where stdout's encoding has no character for it, or where it is half of one."""
    text = json.dumps(document, ensure_ascii=False, default=str)
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return json.dumps(document, default=str)
    return text


def shared(*, reads: bool = True) -> Callable[[F], F]:
    """Add ``--json``, ``--trail``, ``--holder`` and, where the command reads, ``--as-of``; hand over an ``Asked``."""

    def decorate(function: F) -> F:
        @wraps(function)
        def wrapped(
            as_json: bool, trail: str | None, holder: tuple[str, ...], as_of: str | None = None, **rest: Any
        ) -> Any:
            if as_of is not None:
                _can_be_looked_for(as_of)
            opened = open_trail(places(trail, os.environ))
            try:
                return function(Asked(opened, as_json, _scope(holder), as_of), **rest)
            finally:
                opened.store.close()
                for notice in opened.notices:
                    click.echo(f"tally: note: {notice}", err=True)

        command = click.option(
            "--json", "as_json", is_flag=True, help="One JSON document on stdout, nothing else there."
        )(wrapped)
        command = click.option(
            "--trail", metavar="FOLDER", help="The trail. Default: $TALLY_TRAIL, else the user's data folder."
        )(command)
        command = click.option(
            "--holder",
            metavar="H",
            multiple=True,
            help="Whose memory; default this project and this person; '*' is everyone's.",
        )(command)
        if reads:
            command = click.option(
                "--as-of", metavar="POINT", help="A seq, an instant (ISO 8601 with a zone), or a checkpoint file."
            )(command)
        return command  # type: ignore[return-value]

    return decorate


def _can_be_looked_for(as_of: str) -> None:
    try:
        Path(as_of).is_file()
    except OSError as error:
        raise UsageError(f"--as-of {as_of[:80]}: {error.strerror}") from None


def _scope(holder: tuple[str, ...]) -> Scope:
    if holder:
        return Scope(asked=holder)
    return Scope(project=project_name(), person=person_name(os.environ))


def project_name() -> str:
    """Name of the project one stands in.

    Raises:
        UsageError: one stands nowhere: the folder has been removed.
    """
    try:
        here = Path.cwd()
    except OSError as error:
        raise UsageError(f"the folder you stand in: {error.strerror}; go to one that is there") from None
    return project_here(here)


def claim_id(text: str) -> int:
    """``c1234`` or ``1234`` as a number.

    Raises:
        UsageError: it has another form.
    """
    digits = text.removeprefix("c")
    if not digits.isdecimal() or len(digits) > MOST_DIGITS:
        shortened = text if len(text) <= 40 else f"{text[:40]}…"
        raise UsageError(
            f"{shortened!r} is not a claim id; expected c1234, as `tally replay` and `tally brief` print them"
        )
    return int(digits)


def project_option(function: F) -> F:
    """``--project P``: the project's folder, instead of the one stood in."""
    return click.option("--project", metavar="P", help="The project's folder or name, instead of where you stand.")(
        function
    )


def with_project(scope: Scope, project: str | None) -> Scope:
    """The scope narrowed to a named project and this person."""
    if not project:
        return scope
    name = (
        project
        if ":" in project
        else f"project:{Path(project).expanduser().resolve() if Path(project).exists() else project}"
    )
    return Scope(project=name, person=person_name(os.environ))
