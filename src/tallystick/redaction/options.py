"""Passwords that a program's own short option takes: ``curl -u user:…``, ``mysql -p…``, ``sshpass -p …`` (EVID.9).

The program is what is looked for; its option is then sought after it in the same command, within a bounded distance.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tallystick.redaction.assignments import is_reference
from tallystick.redaction.found import MARK, Finder, Found, begins

_REACH = 300
"""Characters between a program's name and its option."""
_TRIES = 4
"""This many places where the option could stand are looked at."""
_VALUE = r"(?:\\{0,3}[\"'](?P<quoted>[^\"'\\\n]{3,128})|(?P<plain>[^\s\"'<>{}()\\;|&`$][^\s\"'<>{}()\\;|&`]{2,127}))"
_USER_AND = re.compile(
    r"[ =]{0,2}(?:\\{0,3}[\"'][^\s:\"'$<\\]{1,64}:(?P<quoted>[^\"'$<{\\\n]{3,128})"
    r"|[^\s:\"'$<\\-][^\s:\"'$<\\]{0,63}:(?P<plain>[^\s\"'$<{\\]{3,128}))"
)
_COOKIE = re.compile(
    r"[ =]{0,2}\\{0,3}[\"']?(?:[A-Za-z0-9_.-]{1,64}=[^\s\"'$<{\\;]{0,15}; ?){0,4}"
    r"[A-Za-z0-9_.-]{1,64}=(?P<plain>[^\s\"'$<{\\;]{16,512})"
)
_TIGHT = re.compile(_VALUE)
_APART = re.compile(" {1,2}" + _VALUE)
_EITHER = re.compile(" {0,2}" + _VALUE)
_PORTS = frozenset("0123456789.:/")
_LINE_END = "\n"
_COMMAND_END = "\n;|&"


class _Option(NamedTuple):
    """An option that takes a password, and the programs that have it."""

    programs: tuple[str, ...]
    literals: tuple[str, ...]
    value: re.Pattern[str]
    """What follows the literal, the password in its groups ``quoted`` or ``plain``."""
    ends: str
    """Characters that may not stand between program and option."""
    kind: str


_MYSQL = (
    "mysql ",
    "mysqldump ",
    "mysqladmin ",
    "mysqlimport ",
    "mysqlsh ",
    "mariadb ",
    "mariadb-dump ",
    "mariadb-admin ",
)
_OPTIONS = (
    _Option(("curl ",), (" -u", " --user"), _USER_AND, _LINE_END, "basic-auth"),
    _Option(("curl ",), (" -b", " --cookie"), _COOKIE, _LINE_END, "cookie"),
    _Option(_MYSQL, (" -p",), _TIGHT, _COMMAND_END, "password"),
    _Option(("sshpass ",), (" -p",), _EITHER, _COMMAND_END, "password"),
    _Option(("docker login ", "podman login ", "registry login "), (" -p",), _APART, _COMMAND_END, "password"),
    _Option(("redis-cli ",), (" -a",), _APART, _COMMAND_END, "password"),
)


def _finder(option: _Option) -> Finder:
    def find(text: str, start: int, end: int) -> Found | None:
        if not begins(text, start):
            return None
        limit = _command_end(text, end, option.ends)
        for literal in option.literals:
            at = text.find(literal, end - 1, limit)
            for _ in range(_TRIES):
                if at < 0:
                    break
                value = option.value.match(text, at + len(literal))
                group = value.lastgroup if value else None
                if value and group and MARK in value[group]:
                    return None
                if value and group and not is_reference(value[group]) and not _PORTS.issuperset(value[group]):
                    return Found(*value.span(group), option.kind, 1)
                at = text.find(literal, at + 1, limit)
        return None

    return find


def _command_end(text: str, start: int, ends: str) -> int:
    """Where the command is over that goes on at ``start``, at most ``_REACH`` on; a line that ends in ``\\`` goes on."""
    limit = start + _REACH
    for end in ends:
        at = text.find(end, start, limit)
        for _ in range(_TRIES):
            if at < 0 or end != "\n" or text[at - 1] != "\\":
                break
            at = text.find(end, at + 1, limit)
        limit = at if at >= 0 else limit
    return limit


def finders() -> list[tuple[str, Finder]]:
    """The name of each program that has such an option."""
    return [(program, _finder(option)) for option in _OPTIONS for program in option.programs]
