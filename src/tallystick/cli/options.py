"""Declared options as click has them: whole commands, and the decorator that gives a command what every one takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar

import click

from tallystick.cli.asked import answered
from tallystick.cli.declared import READS, WRITES, Command, Option

F = TypeVar("F", bound=Callable[..., Any])


def shared(*, reads: bool = True) -> Callable[[F], F]:
    """Add ``--json``, ``--trail``, ``--holder`` and, where the command reads, ``--as-of``; hand over an ``Asked``."""

    def decorate(function: F) -> F:
        command = wraps(function)(partial(answered, function))
        for option in reversed(READS if reads else WRITES):
            command = click.option(option.name, option.parameter, **_attributes(option))(command)
        return command  # type: ignore[return-value]

    return decorate


def clicked(command: Command) -> click.Command:
    """A declared command as one of click's."""
    options = [click.Option([option.name, option.parameter], **_attributes(option)) for option in command.options]
    return click.Command(command.name, help=command.help, params=list(options), callback=command.answer)


def _attributes(option: Option) -> dict[str, Any]:
    """What click is told of an option beside its names."""
    told: dict[str, Any] = {"help": option.help}
    if not option.metavar:
        return {**told, "is_flag": True}
    told["metavar"] = option.metavar
    if option.multiple:
        told["multiple"] = True
    if option.least is not None:
        told.update(type=click.IntRange(min=option.least), default=option.default, show_default=True)
    return told
