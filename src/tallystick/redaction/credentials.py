"""Credentials that their place gives away: HTTP headers, the user part of URLs, connection strings."""

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
    return Found(value.start(1), value.end(1), "bearer-token", 1)


def _basic(text: str, start: int, end: int) -> Found | None:
    value = _BASIC.match(text, end - 1) if "uthorization" in text[max(0, start - 24) : start] else None
    return Found(value.start(1), value.end(1), "basic-auth", 0) if value else None


_USERINFO = re.compile(r"([^\s/:@\"'<>\\]{0,128}+):([^\s/\"'<>\\]{1,256})@(?=[\w\[$])")
_USER_TOKEN = re.compile(r"([A-Za-z0-9_-]{10,255}+)(?::(?:x-oauth-basic)?)?@(?=(\w[\w.-]{0,64}+))")
_ISSUED = ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "glptt-")
_FORGES = ("github.com", "gitlab.com", "bitbucket.org", "dev.azure.com", "codeberg.org", "huggingface.co")
_DATABASES = tuple(
    "postgres postgresql mysql mariadb mongodb redis rediss amqp amqps mssql clickhouse sqlserver nats mqtt".split()
)
_SCHEME_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789+"


def _url(text: str, start: int, end: int) -> Found | None:
    """The password of ``scheme://user:password@host``, or the token that is its user; user and host are kept."""
    token = _USER_TOKEN.match(text, end)
    if token and _is_token(token[1], token[2]):
        return Found(*token.span(1), "url-credentials", 1)
    userinfo = _USERINFO.match(text, end)
    if userinfo is None:
        return None
    user, after = userinfo.groups()
    if after == "x-oauth-basic" or user.startswith(MARK[:-1]) or is_reference(after) or ALL_CAPS_NAME.match(after):
        return None
    before = text[max(0, start - 34) : start]
    scheme = before[len(before.rstrip(_SCHEME_CHARACTERS)) :]
    known = any(
        part.endswith(_DATABASES) for part in scheme.split("+")
    )  # what an escape or colour ends with may be glued to it
    return Found(*userinfo.span(2), "database-url" if known else "url-credentials", 1)


def _is_token(user: str, host: str) -> bool:
    """Whether a user without a password is a token: it says so, or is as long as one and mixed or at a forge.

    An address to which a program reports its errors (a DSN of Sentry) is published with the program.
    """
    if host.endswith("sentry.io"):
        return False
    return user.startswith(_ISSUED) or (len(user) >= 20 and (has_digit_and_letter(user) or host.endswith(_FORGES)))


_AUTHORIZATION = re.compile(
    r"(?:\\{0,3}[\"'])?[ \t]{0,2}:[ \t]{0,2}(?:\\{0,3}[\"'`])?(?!Credential=)"
    r"(?:[A-Za-z][A-Za-z0-9-]{1,20} {1,2}(?:token=\\{0,3}[\"']?)?)?(?P<value>[A-Za-z0-9._~+/=-]{16,512}+)"
)


def _authorization(text: str, start: int, end: int) -> Found | None:
    """What an Authorization header holds under whatever scheme, or under none."""
    value = _AUTHORIZATION.match(text, end)
    if value is None or is_reference(value["value"]) or not has_digit_and_letter(value["value"]):
        return None
    return Found(*value.span("value"), "authorization", 2)


_AZURE = re.compile(r"=([A-Za-z0-9+/]{20,128}={0,2})")
_SIGNATURE = re.compile(r"[A-Za-z0-9%+/_-]{32,128}(?:={0,2})")


def _azure(text: str, start: int, end: int) -> Found | None:
    value = _AZURE.match(text, end)
    return Found(*value.span(1), "azure-key", 0) if value else None


def _sas(text: str, start: int, end: int) -> Found | None:
    value = _SIGNATURE.match(text, end) if text[start - 1 : start] in ("?", "&", ";") else None
    return Found(*value.span(), "azure-key", 0) if value else None


def finders() -> list[tuple[str, Finder]]:
    """Each literal that such a place begins with."""
    table: list[tuple[str, Finder]] = [("://", _url), ("sig=", _sas)]
    table += [(f"{letter}uthorization", _authorization) for letter in "aA"]
    table += [(literal, _azure) for literal in ("AccountKey", "SharedAccessKey")]
    table += [
        (f"{word} ", _bearer) for word in ("Bearer", "bearer", "BEARER", "Authorization: token", "authorization: token")
    ]
    table += [(f"{word} ", _basic) for word in ("Basic", "basic")]
    return table
