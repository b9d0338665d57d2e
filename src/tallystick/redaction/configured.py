"""Secrets as certain files hold them: ``.netrc``, ``.pgpass``, a registry's ``auth``, keys in base64, phrases of a wallet."""

from __future__ import annotations

import base64
import binascii
import re

from tallystick.redaction.assignments import is_reference
from tallystick.redaction.found import MARK, Finder, Found, has_digit_and_letter

_GAP = r"(?:[ \t]{1,8}|[ \t]{0,8}(?:\\{0,3}[rn]|[\r\n]){1,2}[^\n\\]{0,48}?)"
_NETRC = re.compile(
    rf"(?P<host>[^\s\\]{{1,255}}+){_GAP}login{_GAP}[^\s\\]{{1,128}}+{_GAP}password[ \t]{{1,8}}(?P<value>[^\s\\\"'\x1b]{{3,256}}+)"
)


def _netrc(text: str, start: int, end: int) -> Found | None:
    """``machine host login name password …``, on one line or several."""
    entry = _NETRC.match(text, end)
    if entry is None or not ("." in entry["host"] or has_digit_and_letter(entry["value"])):
        return None
    return _unless_reference(*entry.span("value"), entry["value"], "password")


_PGPASS_HOST = re.compile(r"(?:^|[\s+|:→>=\[\"'\\-])[A-Za-z0-9_.*-]{1,128}$")
_PGPASS_REST = re.compile(
    r"[A-Za-z0-9_*-]{1,63}+:[A-Za-z0-9_*-]{1,63}+:(?P<value>[^\s:\\\"'/\x1b]{3,128}+)(?![^\s\\\"'\x1b])"
)


def _pgpass(text: str, start: int, end: int) -> Found | None:
    """``host:5432:database:user:password``."""
    entry = _PGPASS_REST.match(text, end)
    if entry is None or not _PGPASS_HOST.search(text[max(0, start - 130) : start]):
        return None
    return _unless_reference(*entry.span("value"), entry["value"], "password")


def _unless_reference(start: int, end: int, value: str, kind: str) -> Found | None:
    return None if is_reference(value) or MARK in value else Found(start, end, kind, 1)


_AUTH = re.compile(r"\\{0,3}\"[ \t]{0,2}:[ \t]{0,2}\\{0,3}\"(?P<value>[A-Za-z0-9+/]{8,512}+={0,2})\\{0,3}\"")


def _registry(text: str, start: int, end: int) -> Found | None:
    """``"auth": "…"`` of a container registry: name and password in base64."""
    auth = _AUTH.match(text, end)
    if auth is None or b":" not in _decoded(auth["value"]):
        return None
    return Found(*auth.span("value"), "registry-auth", 1)


def _decoded(value: str) -> bytes:
    """The bytes, or none where they are no printable text."""
    try:
        data = base64.b64decode(value, validate=True)
    except binascii.Error:
        return b""
    return data if data.isascii() and data.decode("ascii").isprintable() else b""


_BASE64 = re.compile(r"[A-Za-z0-9+/]*+={0,2}(?:(?:\\{0,3}n|\r?\n)[ \t]{0,16}[A-Za-z0-9+/]{64,76}={0,2})*+")
_KEY_BEGIN = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,20}PRIVATE KEY")


def _key_in_base64(text: str, start: int, end: int) -> Found | None:
    """A key block that is in base64 once more, as kubeconfig and manifests of secrets have it."""
    head = text[start : start + 64]
    if len(head) < 64 or not head.isascii():
        return None
    try:
        begin = base64.b64decode(head, validate=True)
    except binascii.Error:
        return None
    body = _BASE64.match(text, start) if _KEY_BEGIN.match(begin) else None
    return Found(start, body.end(), "private-key", 0) if body else None


_WORDS_11, _WORDS_12 = r"(?: [a-z]{3,8}){11}", r"(?: [a-z]{3,8}){12}"
_PHRASE = re.compile(
    r"(?:\\{0,3}[\"'])?[ \t]{0,2}[:=][ \t]{0,2}(?:\\{0,3}[\"'`])?"
    rf"(?P<value>[a-z]{{3,8}}{_WORDS_11}(?:{_WORDS_12})?)(?! ?[A-Za-z])"
)


def _phrase(text: str, start: int, end: int) -> Found | None:
    """Twelve or twenty-four words from which a wallet's keys are made."""
    words = _PHRASE.match(text, end)
    return Found(*words.span("value"), "seed-phrase", 1) if words else None


def finders() -> list[tuple[str, Finder]]:
    """What each of these begins with."""
    table: list[tuple[str, Finder]] = [("machine ", _netrc), (":5432:", _pgpass), ('"auth', _registry)]
    table.append(("LS0tLS1CRUdJTi", _key_in_base64))
    names = ("mnemonic", "seed_phrase", "seedPhrase", "recovery_phrase", "seed phrase", "recovery phrase")
    return table + [(form, _phrase) for name in names for form in (name, name.upper(), name.capitalize())]
