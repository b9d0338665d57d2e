"""Credentials that their place gives away: HTTP headers, the user part of URLs, connection strings, ``curl -u``."""

from __future__ import annotations

import re

from tallystick.redaction.assignments import ALL_CAPS_NAME, is_reference
from tallystick.redaction.found import MARK, Finder, Found, begins, has_digit_and_letter

_BEARER = re.compile(r"[ \t]+(?:\\?[\"'])?([A-Za-z0-9._~+/-]{12,4096}={0,2})")
_BASIC = re.compile(r"[ \t]+([A-Za-z0-9+/_-]{8,512}={0,2})")


def _bearer(text: str, start: int, end: int) -> Found | None:
    value = _BEARER.match(text, end - 1)
    if value is None or not begins(text, start) or not any(letter.isdigit() for letter in value[1]):
        return None
    return Found(value.start(1), value.end(1), "bearer-token", 0)


def _basic(text: str, start: int, end: int) -> Found | None:
    value = _BASIC.match(text, end - 1) if "uthorization" in text[max(0, start - 24) : start] else None
    return Found(value.start(1), value.end(1), "basic-auth", 0) if value else None


_USERINFO = re.compile(r"([^\s/:@\"'<>\\]{0,128}):([^\s/\"'<>\\]{1,256})@(?=[\w\[$])")
_USER_TOKEN = re.compile(r"([A-Za-z0-9_-]{24,255})@(?=\w)")
_DATABASES = (
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "mongodb",
    "mongodb+srv",
    "redis",
    "rediss",
    "amqp",
    "amqps",
    "mssql",
    "clickhouse",
)
_DATABASE = re.compile(r"([a-z][a-z+]{1,16})(?:\+[a-z0-9]{1,16})?$")


def _url(text: str, start: int, end: int) -> Found | None:
    """The password of ``scheme://user:password@host``; the user and the host are kept."""
    userinfo = _USERINFO.match(text, end)
    if userinfo is None:
        token = _USER_TOKEN.match(text, end)
        return (
            Found(token.start(1), token.end(1), "url-credentials", 1)
            if token and has_digit_and_letter(token[1])
            else None
        )
    password = userinfo[2]
    if is_reference(password) or ALL_CAPS_NAME.match(password):
        return None
    scheme = _DATABASE.search(text, max(0, start - 34), start)
    known = scheme is not None and (scheme[0] in _DATABASES or scheme[1] in _DATABASES)
    return Found(*userinfo.span(2), "database-url" if known else "url-credentials", 1)


_AZURE = re.compile(r"=([A-Za-z0-9+/]{20,128}={0,2})")
_SIGNATURE = re.compile(r"[A-Za-z0-9%+/_-]{32,128}(?:={0,2})")


def _azure(text: str, start: int, end: int) -> Found | None:
    value = _AZURE.match(text, end)
    return Found(*value.span(1), "azure-key", 0) if value else None


def _sas(text: str, start: int, end: int) -> Found | None:
    value = _SIGNATURE.match(text, end) if text[start - 1 : start] in ("?", "&", ";") else None
    return Found(*value.span(), "azure-key", 0) if value else None


_CURL = re.compile(r"[^\n]{0,300}?(?:-u|--user)[ =]{1,2}[\"']?[^\s:\"'$<]{1,64}:([^\s\"'$<{]{3,128})")


def _curl(text: str, start: int, end: int) -> Found | None:
    value = _CURL.match(text, end) if begins(text, start) else None
    return None if value is None or value[1].startswith(MARK) else Found(*value.span(1), "basic-auth", 1)


def finders() -> list[tuple[str, Finder]]:
    """Each literal that such a place begins with."""
    table: list[tuple[str, Finder]] = [("://", _url), ("curl ", _curl), ("sig=", _sas)]
    table += [(literal, _azure) for literal in ("AccountKey", "SharedAccessKey")]
    table += [
        (f"{word} ", _bearer) for word in ("Bearer", "bearer", "BEARER", "Authorization: token", "authorization: token")
    ]
    table += [(f"{word} ", _basic) for word in ("Basic", "basic")]
    return table
