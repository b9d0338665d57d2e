"""The options that narrow what was believed: by kind, by trust, and by when it holds in the world."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from tallystick.errors import UsageError
from tallystick.model.claim import ClaimKind, Derivation
from tallystick.trail.instants import parse_moment
from tallystick.workflows.replay import Asking

F = TypeVar("F", bound=Callable[..., Any])

ZONE = click.option(
    "--zone",
    metavar="Z",
    envvar="TALLY_ZONE",
    default="",
    help="Where bare dates begin and end, such as Europe/Berlin. Default: $TALLY_ZONE, else UTC.",
)
"""Of every command that takes a time of the world."""

_OPTIONS = (
    click.option(
        "--kind",
        "kinds",
        multiple=True,
        type=click.Choice([str(kind) for kind in ClaimKind]),
        help="Only claims of this kind; may be given again.",
    ),
    click.option("--verbatim-only", is_flag=True, help="Only claims whose quote stands: no guesses."),
    click.option(
        "--valid-at",
        metavar="T",
        help="Only what held in the world at this instant, or as this day, month or year began, as far as is known.",
    ),
    ZONE,
    click.option("--strict", is_flag=True, help="With --valid-at: only where it is known since when."),
)


def narrowed(function: F) -> F:
    """Add the options, and hand over an ``Asking``."""

    @wraps(function)
    def command(
        *args: Any,
        kinds: tuple[str, ...],
        verbatim_only: bool,
        valid_at: str | None,
        zone: str,
        strict: bool,
        **rest: Any,
    ) -> Any:
        if strict and not valid_at:
            raise UsageError("--strict goes with --valid-at: the instant at which it must be known to hold")
        asking = Asking(
            kinds or None,
            (Derivation.VERBATIM,) if verbatim_only else None,
            parse_moment(valid_at, zone) if valid_at else None,
            strict,
        )
        return function(*args, asking=asking, **rest)

    wrapped: Any = command
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[no-any-return]
