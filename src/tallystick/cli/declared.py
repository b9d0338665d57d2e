"""A command's options, declared once: read here in their common forms, or by click, which both are made from.

A command that somebody waits for, such as one that a harness calls at the start of a session, should not wait for click: it
takes longer to load than most commands take. What is read here is what click would read in the same way. Everything else
(help, a mistake, an abbreviation, a value that looks like an option) is left to click, so that there is one authority on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

_MOST_DIGITS = 9


class Option(NamedTuple):
    """One option. It takes text, or a whole number of at least ``least``, or, without a metavar, no value."""

    name: str
    """``--as-of``"""
    parameter: str
    """The name of the argument that its value becomes."""
    help: str
    metavar: str = ""
    least: int | None = None
    default: int | None = None
    """Of a number; text that is not given is None, a flag False."""
    multiple: bool = False
    """May be given again; its value is then a tuple."""

    @property
    def absent(self) -> object:
        """Its value where it is not given."""
        if self.multiple:
            return ()
        return self.default if self.metavar else False


class Command(NamedTuple):
    """A command: what it is called, what it takes, and what it does with that."""

    name: str
    help: str
    options: tuple[Option, ...]
    """In the order of its help."""
    answer: Callable[..., None]
    """Takes every option's value by the name of its parameter."""


JSON = Option("--json", "as_json", "One JSON document on stdout, nothing else there.")
TRAIL = Option("--trail", "trail", "The trail. Default: $TALLY_TRAIL, else the user's data folder.", "FOLDER|URL")
HOLDER = Option(
    "--holder",
    "holder",
    "Whose memory; default this project and this person; '*' is everyone's.",
    "H",
    multiple=True,
)
AS_OF = Option("--as-of", "as_of", "A seq, an instant (ISO 8601 with a zone), or a checkpoint file.", "POINT")
PROJECT = Option("--project", "project", "The project's folder or name, instead of where you stand.", "P")

WRITES = (HOLDER, TRAIL, JSON)
"""What every command takes."""
READS = (AS_OF, *WRITES)
"""And one that reads."""


def values(options: Sequence[Option], arguments: Sequence[str]) -> dict[str, Any] | None:
    """The value of each option by its parameter's name; None where click is to read the arguments."""
    known: Mapping[str, Option] = {option.name: option for option in options}
    found: dict[str, Any] = {option.parameter: option.absent for option in options}
    waiting = list(reversed(arguments))
    while waiting:
        name, is_joined, said = waiting.pop().partition("=")
        option = known.get(name)
        if option is None or (is_joined and not option.metavar):
            return None
        if not option.metavar:
            found[option.parameter] = True
            continue
        if not is_joined:
            said = waiting.pop() if waiting else ""
        value = _value(option, said)
        if value is None:
            return None
        found[option.parameter] = (*found[option.parameter], value) if option.multiple else value
    return found


def _value(option: Option, said: str) -> str | int | None:
    """What was said for an option; None where it is not plainly of its type."""
    if not said or said.startswith("-"):
        return None
    if option.least is None:
        return said
    is_plain = said.isascii() and said.isdecimal() and len(said) <= _MOST_DIGITS
    return int(said) if is_plain and int(said) >= option.least else None
