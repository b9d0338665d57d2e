"""What the options that every command takes come to: the trail, opened; the scope; the form of the answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from tallystick.cli.saying import as_said, complain, say_exactly
from tallystick.config import in_main_checkout, person_name, places, project_here, work_tree
from tallystick.errors import UsageError
from tallystick.plugins import open_trail
from tallystick.trail.appending import Trail
from tallystick.workflows.scoping import Scope

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
        say_exactly(self.form(document, human))

    def form(self, document: dict[str, Any], human: Callable[[], str]) -> str:
        """What ``show`` prints, to its last line feed: for what is kept before it is shown, and then said exactly so."""
        if self.as_json:
            return _encodable(document) + "\n"
        return as_said(human().rstrip("\n") + "\n")


def answered(
    function: Callable[..., Any],
    *,
    as_json: bool,
    trail: str | None,
    holder: tuple[str, ...],
    as_of: str | None = None,
    **rest: Any,
) -> Any:
    """Open what the shared options name, hand it to a command's function with ``rest``, and close it again."""
    if as_of is not None:
        _can_be_looked_for(as_of)
    opened = open_trail(places(trail, os.environ))
    try:
        return function(Asked(opened, as_json, _scope(holder), as_of), **rest)
    finally:
        opened.store.close()
        for notice in opened.notices:
            complain(f"note: {notice}")


def _encodable(document: dict[str, Any]) -> str:
    """As JSON that loses nothing: escaped where stdout's encoding has no character for it, or where it is half of one."""
    import json

    text = json.dumps(document, ensure_ascii=False, default=str)
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return json.dumps(document, default=str)
    return text


def _can_be_looked_for(as_of: str) -> None:
    from pathlib import Path

    try:
        Path(as_of).is_file()
    except OSError as error:
        raise UsageError(f"--as-of {as_of[:80]}: {error.strerror}") from None


def _scope(holder: tuple[str, ...]) -> Scope:
    if holder:
        return Scope(asked=holder)
    here = _here()
    return _of_project(project_here(here), f"project:{work_tree(here) or here}")


def project_name() -> str:
    """Name of the project one stands in.

    Raises:
        UsageError: one stands nowhere: the folder has been removed.
    """
    return project_here(_here())


def _here() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        raise UsageError(f"the folder you stand in: {error.strerror}; go to one that is there") from None


def _of_project(project: str, own: str) -> Scope:
    """A project and this person; ``own`` is what the folder itself is called, where it is a linked work tree."""
    return Scope(project=project, person=person_name(os.environ), also=own if own != project else "")


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


def access_id(text: str, letters: str, expected: str) -> str:
    """``a12`` or ``r5`` as it is, where its letter is one of ``letters``.

    Raises:
        UsageError: it has another form; ``expected`` says which.
    """
    digits = text[1:]
    if text[:1] not in tuple(letters) or not digits.isdecimal() or len(digits) > MOST_DIGITS:
        shortened = text if len(text) <= 40 else f"{text[:40]}…"
        raise UsageError(f"{shortened!r} is not {expected}")
    return f"{text[0]}{int(digits)}"


def with_project(scope: Scope, project: str | None) -> Scope:
    """The scope narrowed to a named project and this person."""
    if not project:
        return scope
    from pathlib import Path

    if ":" in project:
        return _of_project(project, project)
    folder = str(Path(project).expanduser().resolve()) if Path(project).exists() else project
    return _of_project(f"project:{in_main_checkout(folder)}", f"project:{folder}")
