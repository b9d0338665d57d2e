"""Secrets that their name gives away: ``NAME=value``, ``"name": "value"``, ``name: value``, ``--name value``.

A value that is a variable, a call, a placeholder, a type or a word of configuration names a secret and is none: it stays.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tallystick.redaction.found import MARK, MAX_VALUE, UNREAL, Finder, Found, has_digit_and_letter

_ASSIGNED = re.compile(
    r"(?P<rest>[A-Za-z0-9_.-]{0,40}+)(?:\\{0,3}+[\"'])?\]?"
    r"(?P<sep>[ \t]{0,4}(?::[ \t]{0,2}[A-Za-z][A-Za-z0-9_.]{0,20}(?:[ \t]?\|[ \t]?None)?[ \t]{1,2}="
    r"|:=|=>|=(?!=)|:(?!:))[ \t]{0,4}|[ \t]{1,2})"
    r"(?:(?P<quote>\\{0,3}[\"'`])(?P<quoted>[^\"'`\\\n]{1,512})|(?P<plain>[^\s\"'`,;&|<>(){}\[\]\\]{1,512}))"
)
_REST = {"quoted": re.compile(r"[^\"'`\\\n]*"), "plain": re.compile(r"[^\s\"'`,;&|<>(){}\[\]\\]*")}
"""How a value goes on that is longer than ``MAX_VALUE``; it always matches."""
_NAME_BEFORE = re.compile(r"[A-Za-z0-9_.-]{1,48}$")
_OTHER_THINGS = re.compile(
    r"[_.-]?(?:length|len|size|bytes|bits|count|limit|max|min|type|kind|url|uri|endpoint|name|names|id|ids|path|file|dir|field|input|label|hash|placeholder|"
    r"reset|policy|env|var|header|prefix|suffix|expiry|expires|expiration|ttl|timeout|usage|budget|cost|price|index|format|pattern|regex|regexp|"
    r"vault|store|manager|provider|ref|arn|version|rotation|scope|scopes|algorithm|alg|column|schema|class|message|error|hint|help|prompt|"
    r"s|map|list|set|info|status|state|valid|required|enabled|used|using|rules|strength|check|form|page|test|tests|detection|scanning|scanner)(?![a-z])",
    re.IGNORECASE,
)
"""What a name goes on with when it is about a secret and is none: ``KEY_LENGTH``, ``token_count``, ``passwordField``."""
_OTHER_KEYS = re.compile(
    r"(?:PUBLIC|PUBLISHABLE|PRIMARY|FOREIGN|CACHE|SORT|PARTITION|INDEX|LOOKUP|ROUTING|GROUP|MAP|HOT|ANY|HASH|RANGE|SHORTCUT|PRESS|STORAGE|REGISTRY)[_-]$",
    re.IGNORECASE,
)
ALL_CAPS_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$")
_CODE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:(?:\.|->|::)[A-Za-z_][A-Za-z0-9_]*)*[!?]?$")
_REFERENCES = tuple(
    (
        "$ % < { * @ & ... … xxx XXX http:// https:// process.env os.environ os.getenv env. config. settings. secrets. "
        "self. this. "
        "import.meta ENV[ your- your_ YOUR my- my_ MY_ example REDACTED redacted [redacted -- ~/ ./ ../ #"
    ).split()
)
_NO_VALUES = frozenset(
    "true false none null nil undefined string str int bool bytes number boolean required optional redacted example "
    "placeholder password secret "
    "token passwd changeit unset empty default missing invalid valid hidden masked omitted disabled enabled anything "
    "something nothing "
    "unknown unused expired revoked refresh access bearer basic never always sensitive".split()
)


class _Name(NamedTuple):
    """How a secret's name is written and what it is assigned with."""

    family: str
    shell: bool
    """``NAME=value`` or ``NAME: value`` in capitals: an environment variable."""
    option: bool
    """``--name value``."""
    quoted: bool
    connection: bool
    """``Name=value;`` as in a connection string."""


def _assignment(family: str) -> Finder:
    def find(text: str, start: int, end: int) -> Found | None:
        assigned = _ASSIGNED.match(text, end)
        if assigned is None:
            return None
        rest = assigned["rest"]
        if _OTHER_THINGS.match(rest) or (rest[:1].isalpha() and not (rest[0].isupper() and text[end - 1].islower())):
            return None  # "tokenizer", "SECRETARY", "_AUTHOR"; "tokenValue" goes on
        group = "quoted" if assigned["quote"] else "plain"
        value = assigned[group] if group == "quoted" else assigned[group].rstrip(".:")
        if group == "plain" and family != "password" and text[end - 1].islower() and not has_digit_and_letter(value):
            return None  # as ``_is_secret`` would say, before the name is read
        name = _named(text, start, assigned, family)
        if name is None or not value or not _is_secret(value, name):
            return None
        first = assigned.start(group)
        if group == "plain" and text[first + len(value) : first + len(value) + 1] in ("(", "[", "{"):
            return None
        last = first + len(value)
        if len(value) >= MAX_VALUE and (more := _REST[group].match(text, last)):
            last = more.end()
        if family == "secret" and "aws" in text[max(0, start - 12) : start].lower():
            return Found(first, last, "aws-secret-key", 1)
        return Found(first, last, family, 3 if family == "api-key" else 2)

    return find


def _named(text: str, start: int, assigned: re.Match[str], family: str) -> _Name | None:
    before = _NAME_BEFORE.search(text, max(0, start - 48), start)
    lead = before[0] if before else ""
    if text.endswith(MARK, 0, start - len(lead)) or (
        family == "api-key" and _OTHER_KEYS.search(lead + text[start : start + 1])
    ):
        return None
    option = lead.startswith("--") and not lead.startswith("--no-")
    separator = assigned["sep"]
    if not separator.strip() and not option:
        return None
    whole = (lead + text[start : assigned.start("rest")] + assigned["rest"]).lstrip("-.")
    tight = not (separator[0] == " " or (separator[-1] == " " and ":" not in separator))
    after = text[assigned.end() : assigned.end() + 1]
    return _Name(
        family,
        shell=tight and ALL_CAPS_NAME.match(whole) is not None and whole not in ("PWD", "OLDPWD"),
        option=option and not separator.strip(),
        quoted=bool(assigned["quote"]),
        connection=separator == "=" and after == ";" and whole[:1].isupper(),
    )


def is_reference(value: str) -> bool:
    """Whether a value only points at a secret, stands for one, or has been redacted."""
    return (
        value.startswith(_REFERENCES)
        or MARK in value
        or "xxxx" in value.lower()
        or value.lower() in _NO_VALUES
        or UNREAL.issuperset(value)
    )


_PATH_LIKE = re.compile(r"/?[\w.-]+(?:/[\w.-]+)+/?$")
_WORD_AND_NUMBER = re.compile(
    r"(?:pass|password|passwd|pwd|token|secret|key|user|test|arg|param|value|field|item|sha|md|v|base)[_-]?\d{1,3}$",
    re.IGNORECASE,
)


def _is_secret(value: str, name: _Name) -> bool:
    """Whether a value of this form under a name of this form is a literal secret rather than code or configuration."""
    if is_reference(value) or (ALL_CAPS_NAME.match(value) and "_" in value):
        return False
    if len(value) != 40 and value.startswith("/") and _PATH_LIKE.match(value):
        return False
    if name.family == "password":
        return _is_password(value, name)
    if value.replace(".", "").replace("_", "").isdigit() or " " in value or _WORD_AND_NUMBER.match(value):
        return False
    if name.shell:
        return len(value) >= (4 if name.family == "secret" else 8) and not (
            not name.quoted and _CODE_NAME.match(value) and "." in value
        )
    if name.quoted:
        return len(value) >= 8 and (
            has_digit_and_letter(value) or (name.family == "secret" and len(value) >= 12 and value.isalnum())
        )
    return len(value) >= 10 and has_digit_and_letter(value) and not ("." in value and _CODE_NAME.match(value))


def _is_password(value: str, name: _Name) -> bool:
    if name.shell or name.connection:
        return len(value) >= 3 and not (not name.quoted and "." in value and _CODE_NAME.match(value))
    if " " in value or _WORD_AND_NUMBER.match(value):
        return False
    if name.quoted:
        return len(value) >= 5
    symbols = not value.replace("_", "").replace("-", "").replace(".", "").isalnum()
    return (
        len(value) >= 5
        and not value.isdigit()
        and (has_digit_and_letter(value) or (symbols and "/" not in value and ":" not in value))
    )


def _cases(*words: str) -> list[str]:
    return [form for word in words for form in (word, word.capitalize(), word.upper())]


def _key_names() -> list[str]:
    qualifiers = (
        "api access private auth encryption signing master account shared service app license deploy webhook client "
        "ssh rsa aes hmac jwt session "
        "cookie consumer subscription admin"
    ).split()
    names = [form for q in qualifiers for form in (f"{q}_key", f"{q}-key", f"{q}Key", f"{q.capitalize()}Key")]
    return [*names, "_KEY", "-KEY", "apikey", "Apikey", "APIKEY", "-Key"]


def finders() -> list[tuple[str, Finder]]:
    """Each word that a secret's name can end or go on with, in the cases it is written in."""
    table = [
        (word, _assignment("password"))
        for word in [*_cases("password", "passwd", "passphrase", "pwd"), "_PASS", "_pass"]
    ]
    table += [(word, _assignment("secret")) for word in _cases("secret")]
    table += [(word, _assignment("token")) for word in [*_cases("token"), "_auth", "_AUTH"]]
    table += [(word, _assignment("api-key")) for word in _key_names()]
    return table
