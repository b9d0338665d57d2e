"""Tokens that a provider's prefix or form gives away: one row a form, so that a new provider is one line."""

from __future__ import annotations

import re

from tallystick.redaction.found import UNREAL, Finder, Found, begins

_TOKENS: tuple[tuple[str, str, str], ...] = (
    ("aws-access-key-id", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{30,255}"),
    ("github-token", "github_pat_", r"[A-Za-z0-9_]{22,255}"),
    ("gitlab-token", "glpat- glptt- gldt- glrt- glcbt- gloas- glsoat-", r"[A-Za-z0-9_.-]{20,255}"),
    ("slack-token", "xoxb- xoxp- xoxa- xoxe- xoxo- xoxr- xoxs- xoxe. xapp-", r"[A-Za-z0-9.-]{10,255}"),
    ("slack-webhook", "hooks.slack.com/services/", r"T[A-Za-z0-9]{5,20}/B[A-Za-z0-9]{5,20}/[A-Za-z0-9]{16,64}"),
    (
        "slack-webhook",
        "hooks.slack.com/workflows/",
        r"T[A-Za-z0-9]{5,20}/A[A-Za-z0-9]{5,20}/[0-9]{5,30}/[A-Za-z0-9]{16,64}",
    ),
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"[A-Za-z0-9+/=]{16,255}"),
    ("anthropic-key", "sk-ant-", r"[A-Za-z0-9_-]{16,255}"),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin-", r"[A-Za-z0-9_-]{20,255}"),
    ("api-key", "sk-or-v1-", r"[0-9a-f]{32,128}"),
    ("openai-key", "sk-", r"(?=[A-Za-z0-9]{20})(?=[A-Za-z]{0,255}+[0-9])[A-Za-z0-9]{20,255}"),
    ("google-api-key", "AIza", r"[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("google-oauth", "ya29.", r"[A-Za-z0-9_.-]{20,1024}"),
    ("google-oauth", "GOCSPX-", r"[A-Za-z0-9_-]{20,64}"),
    ("google-oauth", "1//0", r"[A-Za-z0-9_-]{30,255}"),
    ("npm-token", "npm_", r"[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    ("huggingface-token", "hf_ api_org_", r"[A-Za-z0-9]{30,64}(?![A-Za-z0-9_])"),
    ("pypi-token", "pypi-", r"A[A-Za-z0-9_-]{40,512}"),
    ("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}"),
    ("twilio-key", "SK", r"[0-9a-f]{32}(?![0-9A-Za-z])"),
    (
        "discord-webhook",
        "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
        r"[0-9]{10,25}/[A-Za-z0-9_-]{40,100}",
    ),
    ("jwt", "eyJ", r"[A-Za-z0-9_-]{8,1024}+\.[A-Za-z0-9_-]{8,8192}+(?:\.[A-Za-z0-9_-]{0,1024}+){1,3}"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{40,80}"),
    ("docker-token", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_-]{20,64}"),
    ("databricks-token", "dapi", r"[0-9a-f]{32}(?![0-9a-z])(?:-\d)?"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    ("vault-token", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{24,255}"),
    ("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{40,80}"),
    ("atlassian-token", "ATATT3 ATCTT3", r"[A-Za-z0-9_=-]{40,255}"),
    ("grafana-token", "glsa_ glc_", r"[A-Za-z0-9_+/=]{32,255}"),
    ("linear-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,80}"),
    ("notion-token", "ntn_", r"[A-Za-z0-9]{40,64}"),
    ("postman-key", "PMAK-", r"[A-Za-z0-9-]{40,80}"),
    ("square-token", "sq0atp- sq0csp-", r"[A-Za-z0-9_-]{20,60}"),
    ("supabase-token", "sbp_ sb_secret_", r"[A-Za-z0-9_]{24,80}"),
    (
        "api-key",
        "gsk_ xai- pplx- r8_ tvly- nvapi- figd_ fo1_ pscale_tkn_ rubygems_ sntrys_ NRAK-",
        r"(?=[A-Za-z_-]{0,60}+[0-9])[A-Za-z0-9_-]{20,255}",
    ),
    ("password-hash", "$2a$ $2b$ $2x$ $2y$", r"[0-9]{2}\$[./A-Za-z0-9]{22,53}"),
    ("password-hash", "$1$ $5$ $6$ $apr1$", r"(?:rounds=[0-9]{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{16,86}"),
    ("password-hash", "$y$ $gy$ $7$", r"[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{16,86}"),
    (
        "password-hash",
        "$argon2id$ $argon2i$ $argon2d$",
        r"(?:v=[0-9]{1,3}\$)?[a-z0-9=,]{1,60}\$[A-Za-z0-9+/=]{8,128}\$[A-Za-z0-9+/=]{16,255}",
    ),
    (
        "password-hash",
        "pbkdf2_sha256$ pbkdf2_sha1$ pbkdf2:sha256:",
        r"[0-9]{1,9}\$[A-Za-z0-9]{1,64}\$[A-Za-z0-9+/=]{16,128}",
    ),
)
_ANYWHERE = frozenset(
    "AKIA ASIA ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xoxb- xoxp- xapp- hooks.slack.com/services/ "
    "hooks.slack.com/workflows/ sk_live_ sk_test_ rk_live_ rk_test_ whsec_ sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or-v1- "
    "AIza GOCSPX- npm_ dop_v1_ doo_v1_ dor_v1_ dckr_pat_ dckr_oat_ discord.com/api/webhooks/ discordapp.com/api/webhooks/ "
    "shpat_ shpca_ shppa_ shpss_ ATATT3 ATCTT3 lin_api_ lin_oauth_ sq0atp- sq0csp- AGE-SECRET-KEY-1 sb_secret_".split()
)
"""Prefixes so particular that a word run into them does not make them another word."""


def _token(kind: str, prefix: str, pattern: str) -> Finder:
    body = re.compile(pattern)
    anywhere = prefix in _ANYWHERE or prefix[0] == "$"

    def find(text: str, start: int, end: int) -> Found | None:
        if not (anywhere or begins(text, start) or _after_name(text, start)):
            return None
        rest = body.match(text, end)
        if rest is None or UNREAL.issuperset(rest[0]):
            return None
        return Found(start, end + len(rest[0].rstrip(".")), kind, 0)

    return find


def _after_name(text: str, start: int) -> bool:
    """Whether a short plain name and an underscore stand before, as in ``my_hf_…``; in base64 the letters are mixed."""
    if text[start - 1 : start] != "_":
        return False
    before = text[max(0, start - 24) : start]
    name = before[len(before.rstrip(_NAME_CHARACTERS)) :].replace("_", "")
    return len(name) < 20 and name.isalpha() and (name.islower() or name.isupper())


_NAME_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_TELEGRAM = re.compile(r"AA[A-Za-z0-9_-]{32,36}(?![A-Za-z0-9_-])")
_BOT_ID = re.compile(r"(?<![0-9])[0-9]{7,12}$")


def _telegram(text: str, start: int, end: int) -> Found | None:
    bot = _BOT_ID.search(text, max(0, start - 13), start)
    body = _TELEGRAM.match(text, start + 1) if bot else None
    return Found(bot.start(), body.end(), "telegram-token", 0) if bot and body else None


_DISCORD = re.compile(r"[A-Za-z0-9_-]{20,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])")
_DISCORD_LITERALS = tuple(
    first + third for first in ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT") for third in "AEIMQUYcgk"
)
"""How base64 writes the first three digits of a bot's numeric id."""


def _discord(text: str, start: int, end: int) -> Found | None:
    body = _DISCORD.match(text, end) if begins(text, start) else None
    return Found(start, body.end(), "discord-token", 0) if body else None


def finders() -> list[tuple[str, Finder]]:
    """Each literal that a token begins with, and what reads the rest of it."""
    table = [
        (prefix, _token(kind, prefix, pattern)) for kind, prefixes, pattern in _TOKENS for prefix in prefixes.split()
    ]
    return [*table, (":AA", _telegram), *((literal, _discord) for literal in _DISCORD_LITERALS)]
