"""Passwords that a program's own short option takes: ``curl -u user:…``, ``mysql -p…``, ``sshpass -p …`` (EVID.9).

The option is what is looked for; the program is then sought before it in the same command, within a bounded distance.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tallystick.redaction.assignments import is_reference
from tallystick.redaction.found import Finder, Found, begins

_REACH = 300
"""Characters between a program's name and its option."""
_LINE_END = re.compile(r"(?<!\\)\n")
_COMMAND_END = re.compile(r"(?<!\\)\n|[;|&]")
_VALUE = r"(?:\\{0,3}[\"'](?P<quoted>[^\"'\\\n]{3,128})|(?P<plain>[^\s\"'<>{}()\\;|&`]{3,128}))"
_PORTS = frozenset("0123456789.:/")


class _Option(NamedTuple):
    """One option of some programs."""

    literal: str
    programs: tuple[str, ...]
    value: re.Pattern[str]
    """What follows the literal, the password in its groups ``quoted`` or ``plain``."""
    ends: re.Pattern[str]
    """What may not stand between program and option."""


_USER = re.compile(
    r"[ =]{0,2}(?:\\{0,3}[\"'][^\s:\"'$<\\]{1,64}:(?P<quoted>[^\"'$<{\\\n]{3,128})"
    r"|[^\s:\"'$<\\-][^\s:\"'$<\\]{0,63}:(?P<plain>[^\s\"'$<{\\]{3,128}))"
)
_SPACED = re.compile(" {1,2}" + _VALUE)
_TIGHT = re.compile(_VALUE)
_OPTIONS = (
    _Option(" -u", ("curl ",), _USER, _LINE_END),
    _Option("--user", ("curl ",), _USER, _LINE_END),
    _Option(
        " -p",
        ("mysql ", "mysqldump ", "mysqladmin ", "mysqlimport ", "mysqlsh ", "mariadb ", "mariadb-dump "),
        _TIGHT,
        _COMMAND_END,
    ),
    _Option(" -p", ("sshpass ", "docker login ", "podman login ", "registry login "), _SPACED, _COMMAND_END),
    _Option(" -p", ("sshpass ",), _TIGHT, _COMMAND_END),
    _Option(" -a", ("redis-cli ",), _SPACED, _COMMAND_END),
)


def _finder(options: tuple[_Option, ...]) -> Finder:
    def find(text: str, start: int, end: int) -> Found | None:
        before = text[max(0, start - _REACH) : start + 1]
        for option in options:
            at = max([before.rfind(program) for program in option.programs])
            if at < 0 or not begins(before, at) or option.ends.search(before, at):
                continue
            value = option.value.match(text, end)
            group = value.lastgroup if value else None
            if value and group and not is_reference(value[group]) and not _PORTS.issuperset(value[group]):
                return Found(*value.span(group), "basic-auth" if option.value is _USER else "password", 1)
        return None

    return find


def finders() -> list[tuple[str, Finder]]:
    """Each literal that such an option is written with."""
    literals = dict.fromkeys(option.literal for option in _OPTIONS)
    return [(literal, _finder(tuple(o for o in _OPTIONS if o.literal == literal))) for literal in literals]
