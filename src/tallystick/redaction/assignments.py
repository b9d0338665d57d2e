"""Secrets that their name gives away: ``NAME=value``, ``"name": "value"``, ``name: value``, ``--name value``.

A value that is a variable, a call, a placeholder, a type or a word of configuration names a secret and is none: it stays.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from tallystick.redaction.found import EXAMINED, MARK, UNREAL, Finder, Found, has_digit_and_letter

_ASSIGNED = re.compile(
    r"(?P<rest>[A-Za-z0-9_.-]{0,40}+)(?:\\{0,3}+[\"'])?\]?"
    r"(?P<sep>[ \t]{0,4}+(?::[ \t]{0,2}[A-Za-z][A-Za-z0-9_.]{0,20}(?:[ \t]?\|[ \t]?None)?[ \t]{1,2}="
    r"|:=|=>|=(?!=)|:(?!:))[ \t]{0,4}+|[ \t]{1,2}+)"
    r"(?:(?P<quote>\\{0,3}[\"'`])|(?P<plain>[^\s\"'`,;&|<>(){}\[\]\\\x1b]{1,48}+))"
)
_REST = re.compile(r"[^\s\"'`,;&|<>(){}\[\]\\\x1b]*+")
"""How a plain value goes on that is longer than what is examined of it; it always matches."""


def _quoted_bodies() -> dict[str, re.Pattern[str]]:
    bodies: dict[str, re.Pattern[str]] = {}
    for quote in "\"'`":
        closed = rf"(?:[^{quote}\\\n]|\\[^\n]){{1,512}}+(?={quote})"
        escaped = rf"(?:[^{quote}\\\n]|\\(?!\\{{0,2}}{quote})){{1,512}}+(?=\\{{1,3}}{quote})"
        cut_off = rf"[^\s{quote}\\]{{1,512}}+"
        bodies[quote] = re.compile(f"{closed}|{cut_off}")
        for depth in (1, 2, 3):
            bodies["\\" * depth + quote] = re.compile(f"{escaped}|{cut_off}")
    return bodies


_BODIES = _quoted_bodies()
"""What stands between quotes of each form, JSON-escaped ones too; without a closing quote, the first word."""
_SETS = re.compile(
    r"(?:(?<![A-Za-z_])|(?<=\\[nrt])|(?<=[0-9\[]m))"
    r"(?:(?:set|setenv|setx|config|env)(?: (?:set|-[a-zA-Z]{1,3}|--[a-z]{1,10})){0,3}|ENV) $"
)
"""A command whose next words are a name and its value: ``set -gx``, ``setx``, ``npm config set``, a Dockerfile's ``ENV``."""
_NAME_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_OTHER_THINGS = re.compile(
    r"[_.-]?(?:length|len|size|bytes|bits|count|limit|max|min|type|kind|url|uri|endpoint|name|names|id|ids|path|file|dir|field|input|label|hash|placeholder|"
    r"reset|policy|stdin|cmd|env|var|header|prefix|suffix|expiry|expires|expiration|ttl|timeout|usage|budget|cost|price|index|format|pattern|regex|regexp|"
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
        "self. this. pk_live_ pk_test_ pk. phc_ sb_publishable_ "
        "import.meta ENV[ your- your_ YOUR my- my_ MY_ example REDACTED redacted [redacted -- ~/ ./ ../ #"
    ).split()
)
_TEMPLATE = ("${", "{{", "#{", "%(", "$(", "<%")
"""What opens the place of another value inside one: the text is a template, wherever its secret comes from."""
_NO_VALUES = frozenset(
    "true false none null nil undefined string str int bool bytes number boolean required optional redacted example "
    "placeholder password secret "
    "token passwd changeit unset empty default missing invalid valid hidden masked omitted disabled enabled anything "
    "something nothing "
    "changeme change_me change-me replaceme replace_me replace-me todo fixme tbd insert_here none. n/a dummy xxx "
    "unknown unused expired revoked refresh access bearer basic never always sensitive".split()
)


class _Name(NamedTuple):
    """How a secret's name is written and what it is assigned with."""

    family: str
    shell: bool
    """``NAME=value`` or ``NAME: value`` in capitals: an environment variable."""
    option: bool
    """``--name value`` or ``--name=value``."""
    quoted: bool
    connection: bool
    """``Name=value;`` as in a connection string, or ``&name=value`` as in a URL."""
    equals: bool


def _assignment(family: str) -> Finder:
    def find(text: str, start: int, end: int) -> Found | None:
        assigned = _ASSIGNED.match(text, end)
        if assigned is None:
            return None
        rest, separator, quote, value = assigned.groups()
        before = text[max(0, start - 48) : start]
        if separator.isspace() and "--" not in before and "et" not in before and "ENV" not in before:
            return None  # prose; a blank assigns to an option, or after a command that sets
        first = assigned.end()
        if quote is not None:
            body = _BODIES[quote].match(text, first)
            value = body[0] if body else ""
        else:
            first -= len(value)
            value = value.rstrip(".:")
        lower = text[end - 1].islower()
        if lower and family != "password" and not (quote and family == "secret") and not has_digit_and_letter(value):
            return None  # as ``_is_secret`` would say, before the name is read
        if rest and (_OTHER_THINGS.match(rest) or (rest[0].isalpha() and not (rest[0].isupper() and lower))):
            return None  # "tokenizer", "SECRETARY", "_AUTHOR"; "tokenValue" goes on
        lead = before[len(before.rstrip(_NAME_CHARACTERS)) :]
        if not value or text.endswith(MARK, 0, start - len(lead)):
            return None
        last = first + len(value)
        if separator.isspace() and _SETS.search(before, 0, len(before) - len(lead)):
            separator = "="
        if text[start - len(lead) - 1 : start - len(lead)] in ("?", "&"):
            lead = "&" + lead
        if not _judged(
            family, lead, text[start:end] + rest, separator, quote is not None, value, text[last : last + 1]
        ):
            return None
        return _found(text, start, first, value, family, quote is None)

    return find


def _found(text: str, start: int, first: int, value: str, family: str, plain: bool) -> Found:
    last = first + len(value)
    if plain and len(value) >= EXAMINED and (more := _REST.match(text, last)):
        last = more.end()
    if family == "secret" and "aws" in text[max(0, start - 12) : start].lower():
        return Found(first, last, "aws-secret-key", 1)
    return Found(first, last, family, 3 if family == "api-key" else 2)


@lru_cache(maxsize=256)
def _judged(family: str, lead: str, word: str, separator: str, quoted: bool, value: str, after: str) -> bool:
    """Whether a value is a secret under a name. Remembered, since what is repeated in a text is repeated often (EVID.10)."""
    if not quoted and after and after in "([{":
        return False
    if family == "api-key" and _OTHER_KEYS.search(lead + word[:1]):
        return False
    option = lead.startswith("--") and not lead.startswith("--no-")
    if separator.isspace() and not option:
        return False
    whole = (lead + word).lstrip("-._&")
    tight = not (separator[0] == " " or (separator[-1] == " " and ":" not in separator))
    name = _Name(
        family,
        shell=tight and ALL_CAPS_NAME.match(whole) is not None and whole not in ("PWD", "OLDPWD"),
        option=option,
        quoted=quoted,
        connection=separator == "=" and ((after == ";" and whole[:1].isupper()) or lead.startswith("&")),
        equals="=" in separator,
    )
    return _is_secret(value, name)


def is_reference(value: str) -> bool:
    """Whether a value only points at a secret, stands for one, or has been redacted."""
    return (
        value.startswith(_REFERENCES)
        or MARK in value
        or "xxxx" in value.lower()
        or value.lower().startswith(("[redacted", "redacted", "[masked", "[secret", "[hidden"))
        or any(mark in value for mark in _TEMPLATE)
        or value.lower() in _NO_VALUES
        or UNREAL.issuperset(value)
    )


_PATH_LIKE = re.compile(r"/?[\w.-]+(?:/[\w.-]+)+/?$")
_WORD_AND_NUMBER = re.compile(
    r"(?:pass|password|passwd|pwd|token|secret|key|user|test|arg|param|value|field|item|sha|md|v|base)[_-]?\d{1,3}$",
    re.IGNORECASE,
)


_SPOKEN = frozenset(
    "your my the this no not none please enter insert change changeme replace put add paste must should set is are was "
    "missing invalid unknown todo fixme use see example error failed cannot could bearer ssh-rsa ssh-ed25519".split()
)
"""What begins a sentence about a secret rather than a secret of several words."""


def _is_secret(value: str, name: _Name) -> bool:
    """Whether a value of this form under a name of this form is a literal secret rather than code or configuration."""
    if is_reference(value) or ("_" in value and ALL_CAPS_NAME.match(value)):
        return False
    if len(value) != 40 and value[0] == "/" and _PATH_LIKE.match(value):
        return False
    if name.quoted and value[0] in ")]},;+" and not value[1:2].isalnum():
        return False  # the quote before it closes: code goes on
    if " " in value and not _is_phrase(value, name):
        return False
    if name.family == "password":
        return _is_password(value, name)
    if value.replace(".", "").replace("_", "").isdigit() or _WORD_AND_NUMBER.match(value):
        return False
    if name.shell:
        return len(value) >= (3 if name.family == "secret" else 8) and not (
            not name.quoted and "." in value and _CODE_NAME.match(value)
        )
    if name.quoted:
        return len(value) >= 8 and (
            has_digit_and_letter(value) or (name.family == "secret" and len(value) >= 12 and value.isalnum())
        )
    return len(value) >= 10 and has_digit_and_letter(value) and not ("." in value and _CODE_NAME.match(value))


def _is_phrase(value: str, name: _Name) -> bool:
    """Whether several words are a secret: between the quotes of ``NAME="…"`` or of an option, not a sentence or a template."""
    return (
        name.quoted
        and ((name.shell and name.equals) or (name.option and name.family == "password"))
        and value.split(None, 1)[0].lower() not in _SPOKEN
        and not any(mark in value for mark in ("$", "{", "<", "%("))
    )


def _is_password(value: str, name: _Name) -> bool:
    if name.shell or name.connection:
        return len(value) >= 3 and not (not name.quoted and "." in value and _CODE_NAME.match(value))
    if _WORD_AND_NUMBER.match(value):
        return False
    if name.option:
        return len(value) >= 3 and (name.equals or name.quoted or not (value.isalpha() and value.islower()))
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


def _pass_names() -> list[str]:
    owners = "db database user admin root mail smtp ftp ssh sudo http proxy redis mysql pg auth login".split()
    return [f"{form}Pass" for owner in owners for form in (owner, owner.capitalize())]


def _key_names() -> list[str]:
    qualifiers = (
        "api access private auth encryption signing master account shared service app license deploy webhook client "
        "ssh rsa aes hmac jwt session "
        "cookie consumer subscription admin preshared integration"
    ).split()
    names = [
        form for q in qualifiers for form in (f"{q}_key", f"{q}-key", f"{q}.key", f"{q}Key", f"{q.capitalize()}Key")
    ]
    return [*names, "_KEY", "-KEY", "apikey", "Apikey", "APIKEY", "-Key"]


def finders() -> list[tuple[str, Finder]]:
    """Each word that a secret's name can end or go on with, in the cases it is written in."""
    table = [
        (word, _assignment("password"))
        for word in [
            *_cases("password", "passwd", "passphrase", "pwd"),
            "_PASS",
            "_pass",
            "-pass",
            ".pass",
            *_pass_names(),
        ]
    ]
    table += [(word, _assignment("secret")) for word in _cases("secret")]
    table += [(word, _assignment("token")) for word in [*_cases("token"), "_auth", "_AUTH"]]
    table += [(word, _assignment("api-key")) for word in _key_names()]
    return table
