"""The options that narrow what was said: by project, by harness, and by when it was said."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from tallystick.cli.asked import Asked, with_project
from tallystick.cli.narrowing import ZONE
from tallystick.trail.instants import parse_moment

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--project", metavar="P", help="The project's folder or name, instead of where you stand."),
    click.option("--harness", metavar="NAME", default="", help="Only sessions of this harness, such as claude-code."),
    click.option("--since", metavar="T", help="Only what happened at this instant, or as this day began, or later."),
    click.option("--until", metavar="T", help="Only what happened before this instant, or before this day began."),
    ZONE,
)


def within(function: F) -> F:
    """Add the options; hand over ``since`` and ``until`` in microseconds UTC, and the scope narrowed to the project."""

    @wraps(function)
    def command(
        asked: Asked, *args: Any, project: str | None, since: str | None, until: str | None, zone: str, **rest: Any
    ) -> Any:
        return function(
            asked._replace(scope=with_project(asked.scope, project)),
            *args,
            since=parse_moment(since, zone) if since else None,
            until=parse_moment(until, zone) if until else None,
            **rest,
        )

    for option in reversed(_OPTIONS):
        command = option(command)
    return command  # type: ignore[return-value]
