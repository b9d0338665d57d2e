"""Tokens that a provider's prefix or form gives away: one row a form, so that a new provider is one line."""

from __future__ import annotations

import re
import string
from typing import NamedTuple

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
    ("openrouter-key", "sk-or-v1-", r"[0-9a-f]{32,128}"),
    ("langfuse-key", "sk-lf-", r"[0-9a-f]{8}-[0-9a-f-]{20,40}"),
    ("elevenlabs-key", "sk_", r"[0-9a-f]{48}(?![0-9A-Za-z])"),
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
    ("notion-token", "secret_", r"(?=[A-Za-z]{0,42}+[0-9])[A-Za-z0-9]{43}(?![A-Za-z0-9_])"),
    ("postman-key", "PMAK-", r"[A-Za-z0-9-]{40,80}"),
    ("square-token", "sq0atp- sq0csp-", r"[A-Za-z0-9_-]{20,60}"),
    ("square-token", "EAAA", r"(?=[A-Za-z_-]{0,59}+[0-9])[A-Za-z0-9_-]{56,64}(?![A-Za-z0-9_+/=-])"),
    ("facebook-token", "EAAB EAAC EAAD EAAG", r"(?=[A-Za-z]{0,79}+[0-9])[A-Za-z0-9]{80,400}(?![A-Za-z0-9_+/=-])"),
    ("supabase-token", "sbp_ sb_secret_", r"[A-Za-z0-9_-]{24,80}"),
    *(
        (kind, prefixes, r"(?=[A-Za-z_-]{0,60}+[0-9])[A-Za-z0-9_-]{20,255}")
        for kind, prefixes in (
            ("groq-key", "gsk_"),
            ("xai-key", "xai-"),
            ("perplexity-key", "pplx-"),
            ("replicate-token", "r8_"),
            ("tavily-key", "tvly-"),
            ("nvidia-key", "nvapi-"),
            ("fireworks-key", "fw_"),
            ("together-key", "tgp_v1_"),
            ("cerebras-key", "csk-"),
            ("jina-key", "jina_"),
            ("wandb-key", "wandb_v1_"),
            ("langsmith-key", "lsv2_pt_ lsv2_sk_"),
            ("pinecone-key", "pcsk_"),
            ("figma-token", "figd_ figo_"),
            ("flyio-token", "fo1_ fm1r_ fm1a_ fm2_"),
            ("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_"),
            ("rubygems-key", "rubygems_"),
            ("sentry-token", "sntrys_ sntryu_"),
            ("newrelic-key", "NRAK-"),
            ("vercel-token", "vcp_ vci_ vca_ vck_"),
            ("netlify-token", "nfp_"),
            ("heroku-key", "HRKU-"),
            ("render-key", "rnd_"),
            ("neon-key", "napi_"),
            ("contentful-token", "CFPAT-"),
            ("circleci-token", "CCIPAT_"),
            ("typeform-token", "tfp_"),
            ("prefect-key", "pnu_ pnb_"),
            ("posthog-key", "phx_"),
            ("honeycomb-key", "hcaik_ hcalk_ hcxik_"),
            ("yandex-token", "y0_"),
            ("tailscale-key", "tskey-auth- tskey-api- tskey-client- tskey-scim- tskey-webhook-"),
            ("dropbox-token", "sl.u. sl.B"),
        )
    ),
    ("dropbox-token", "sl.", r"(?=[A-Za-z_-]{0,60}+[0-9])[A-Za-z0-9_-]{120,1400}"),
    ("buildkite-token", "bkua_", r"[0-9a-f]{40}"),
    ("pulumi-token", "pul-", r"[0-9a-f]{40}(?![0-9A-Za-z])"),
    ("shippo-key", "shippo_live_ shippo_test_", r"[0-9a-f]{40}"),
    ("clojars-token", "CLOJARS_", r"[0-9a-f]{60}"),
    ("sourcegraph-token", "sgp_", r"(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}(?![0-9A-Za-z])"),
    ("firecrawl-key", "fc-", r"[0-9a-f]{32}(?![0-9A-Za-z-])"),
    ("crates-token", "cio", r"(?=[A-Za-z]{0,31}+[0-9])[A-Za-z0-9]{32}(?![A-Za-z0-9_])"),
    ("nuget-key", "oy2", r"(?=[a-z]{0,42}+[0-9])[a-z0-9]{43}(?![A-Za-z0-9_])"),
    ("artifactory-token", "AKCp", r"[A-Za-z0-9]{60,80}(?![A-Za-z0-9_])"),
    ("alibaba-key", "LTAI", r"[A-Za-z0-9]{16,22}(?![A-Za-z0-9_])"),
    ("tencent-key", "AKID", r"(?=[A-Za-z]{0,31}+[0-9])[A-Za-z0-9]{32}(?![A-Za-z0-9_])"),
    ("onepassword-token", "ops_eyJ", r"[A-Za-z0-9_=-]{100,2048}"),
    ("dynatrace-token", "dt0c01. dt0s16.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    ("cloudflare-key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{146}"),
    ("mapbox-token", "sk.eyJ", r"[A-Za-z0-9_-]{30,300}\.[A-Za-z0-9_-]{20,60}"),
    ("hubspot-token", "pat-na1- pat-eu1- pat-na2- pat-ap1-", r"[0-9a-f]{8}-[0-9a-f-]{20,40}"),
    ("easypost-key", "EZAK EZTK", r"[A-Za-z0-9]{54}"),
    ("mailgun-key", "key-", r"[0-9a-f]{32}(?![0-9A-Za-z-])"),
    ("brevo-key", "xkeysib- xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("resend-key", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?![A-Za-z0-9_])"),
    ("paypal-token", "access_token$production$ access_token$sandbox$", r"[a-z0-9A-Z]{16}\$[0-9a-f]{32}"),
    ("plaid-token", "access-production- access-sandbox- access-development-", r"[0-9a-f]{8}-[0-9a-f-]{20,40}"),
    ("paddle-key", "pdl_live_apikey_ pdl_sdbx_apikey_", r"[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}"),
    ("razorpay-key", "rzp_live_ rzp_test_", r"[A-Za-z0-9]{14}(?![A-Za-z0-9_])"),
    ("flutterwave-key", "FLWSECK-", r"[0-9a-zA-Z]{32,48}-X"),
    ("zapier-webhook", "hooks.zapier.com/hooks/catch/", r"[0-9]{4,12}/[a-z0-9]{4,20}"),
    ("make-webhook", ".make.com/", r"[a-z0-9]{32}(?![A-Za-z0-9])"),
    ("ifttt-webhook", "maker.ifttt.com/trigger/", r"[A-Za-z0-9_-]{1,64}/(?:json/)?with/key/[A-Za-z0-9_-]{16,64}"),
    (
        "teams-webhook",
        ".webhook.office.com/webhookb2/ outlook.office.com/webhook/",
        r"[0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36}(?:/[A-Za-z0-9_-]{20,80})?",
    ),
    (
        "google-chat-webhook",
        "chat.googleapis.com/v1/spaces/",
        r"[A-Za-z0-9_-]{4,40}/messages\?key=[A-Za-z0-9_-]{20,60}&token=[A-Za-z0-9_%-]{20,80}",
    ),
    ("feishu-webhook", "/open-apis/bot/v2/hook/", r"[0-9a-f]{8}-[0-9a-f-]{20,40}"),
    ("wecom-webhook", "qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", r"[0-9a-f]{8}-[0-9a-f-]{20,40}"),
    ("dingtalk-webhook", "oapi.dingtalk.com/robot/send?access_token=", r"[0-9a-f]{64}"),
    ("signed-url", "X-Amz-Signature= X-Goog-Signature=", r"[0-9a-f]{64,1024}"),
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
    "shpat_ shpca_ shppa_ shpss_ ATATT3 ATCTT3 lin_api_ lin_oauth_ sq0atp- sq0csp- AGE-SECRET-KEY-1 sb_secret_ "
    "hooks.zapier.com/hooks/catch/ .make.com/ maker.ifttt.com/trigger/ .webhook.office.com/webhookb2/ "
    "outlook.office.com/webhook/ chat.googleapis.com/v1/spaces/ /open-apis/bot/v2/hook/ "
    "qyapi.weixin.qq.com/cgi-bin/webhook/send?key= "
    "oapi.dingtalk.com/robot/send?access_token= wandb_v1_ lsv2_pt_ lsv2_sk_ pscale_tkn_ pscale_pw_ pscale_oauth_ "
    "CLOJARS_ CCIPAT_ CFPAT- shippo_live_ xkeysib- dt0c01.".split()
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


class _Middle(NamedTuple):
    """A token that is known by what stands inside it."""

    kind: str
    literal: str
    before: re.Pattern[str]
    """The ``length`` characters before the literal."""
    length: int
    after: re.Pattern[str]


_MIDDLES = (
    _Middle(
        "azure-client-secret", "Q~", re.compile(r"[A-Za-z0-9_~.-]{3}[0-9]$"), 4, re.compile(r"[A-Za-z0-9_~.-]{31,34}")
    ),
    _Middle("terraform-token", ".atlasv1.", re.compile(r"[A-Za-z0-9]{14}$"), 14, re.compile(r"[A-Za-z0-9_=-]{60,70}")),
    *(
        _Middle("mailchimp-key", f"-us{n}", re.compile(r"[0-9a-f]{32}$"), 32, re.compile(r"[0-9]?(?![0-9A-Za-z])"))
        for n in range(1, 10)
    ),
)


def _middle(form: _Middle) -> Finder:
    def find(text: str, start: int, end: int) -> Found | None:
        first = start - form.length
        after = form.after.match(text, end) if first >= 0 and form.before.match(text, first, start) else None
        return Found(first, after.end(), form.kind, 0) if after and begins(text, first) else None

    return find


_AIRTABLE = re.compile(r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}")
_COMMON = "htcie"
"""Letters that words go on with after ``pat``; looked at only where what follows is no small letter, for speed."""
_LETTERS_AND_DIGITS = string.ascii_letters + string.digits
_AIRTABLE_LITERALS = (
    *(f"pat{letter}" for letter in _LETTERS_AND_DIGITS if letter not in _COMMON),
    *(f"pat{first}{second}" for first in _COMMON for second in string.ascii_uppercase + string.digits),
)


def _airtable(text: str, start: int, end: int) -> Found | None:
    token = _AIRTABLE.match(text, start) if begins(text, start) else None
    return Found(start, token.end(), "airtable-token", 0) if token else None


def finders() -> list[tuple[str, Finder]]:
    """Each literal that a token begins with or is known by, and what reads the rest of it."""
    table = [
        (prefix, _token(kind, prefix, pattern)) for kind, prefixes, pattern in _TOKENS for prefix in prefixes.split()
    ]
    table += [(form.literal, _middle(form)) for form in _MIDDLES]
    table += [(literal, _airtable) for literal in _AIRTABLE_LITERALS]
    return [*table, (":AA", _telegram), *((literal, _discord) for literal in _DISCORD_LITERALS)]
