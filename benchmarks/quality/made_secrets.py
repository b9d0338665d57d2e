"""Secrets made up in the forms of some ninety kinds: random, with the checksums that the kind has, the same for the same seed.

Nothing here was issued by anyone. A shape is one form of one kind; ``made_contexts`` puts it where agents' sessions have it.
Tokens are here, which their form gives away, and values that their name does; ``made_lines`` has what its place gives away.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import string
import zlib
from collections.abc import Callable
from random import Random
from typing import NamedTuple

BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
ALNUM = string.ascii_letters + string.digits
URL_SAFE = ALNUM + "-_"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits


class Core(NamedTuple):
    """A secret with what makes it one on either side."""

    before: str
    secret: str
    after: str = ""


class Shape(NamedTuple):
    """One form of a kind."""

    kind: str
    """What the replacement should name; several are parted by ``|`` where more than one name is right."""
    name: str
    make: Callable[[Random], Core]


def chars(rng: Random, alphabet: str, n: int) -> str:
    """``n`` characters; from letters and digits, so that both are there."""
    while True:
        made = "".join(rng.choices(alphabet, k=n))
        mixed = any(c.isdigit() for c in made) and any(c.isalpha() for c in made)
        if mixed or n < 12 or alphabet in (string.digits, string.ascii_lowercase):
            return made


def base64_of(rng: Random, n: int) -> str:
    """``n`` random bytes in base64."""
    return base64.b64encode(rng.randbytes(n)).decode()


def uuid(rng: Random) -> str:
    """A version 4 UUID."""
    raw = bytearray(rng.randbytes(16))
    raw[6], raw[8] = raw[6] & 0x0F | 0x40, raw[8] & 0x3F | 0x80
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _base62(number: int, width: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, 62)
        digits = BASE62[rest] + digits
    return digits.rjust(width, "0")


def with_crc32(prefix: str, body: str) -> str:
    """GitHub's and npm's form: the last six characters are the CRC-32 of the random part in base 62."""
    return f"{prefix}{body}{_base62(zlib.crc32(body.encode()), 6)}"


def jwt(rng: Random, payload: dict[str, object] | None = None) -> str:
    """A JSON Web Token with a true HMAC-SHA-256 signature."""
    claims = payload or {"sub": chars(rng, HEX, 12), "iat": 1_700_000_000 + rng.randrange(10**7), "role": "admin"}
    parts = [_unpadded(json.dumps(each).encode()) for each in ({"alg": "HS256", "typ": "JWT"}, claims)]
    signature = hmac.new(rng.randbytes(32), ".".join(parts).encode(), hashlib.sha256).digest()
    return ".".join([*parts, _unpadded(signature)])


def _unpadded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _wrapped(text: str, width: int) -> str:
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


DER = {
    "RSA PRIVATE KEY": b"\x30\x82\x04\xa4\x02\x01\x00\x02\x82\x01\x01\x00",
    "PRIVATE KEY": b"\x30\x82\x04\xbe\x02\x01\x00\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00",
    "EC PRIVATE KEY": b"\x30\x77\x02\x01\x01\x04\x20",
    "ENCRYPTED PRIVATE KEY": b"\x30\x82\x05\x0e\x30\x40\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d",
    "OPENSSH PRIVATE KEY": b"openssh-key-v1\0\0\0\0\4none\0\0\0\4none\0\0\0\0\0\0\0\1",
}
_SIZES = {"EC PRIVATE KEY": 114, "OPENSSH PRIVATE KEY": 300}


def pem(rng: Random, label: str) -> str:
    """A private key block with the beginning its format has."""
    head = DER[label]
    body = base64.b64encode(head + rng.randbytes(_SIZES.get(label, 600) - len(head))).decode()
    width = 70 if "OPENSSH" in label else 64
    return f"-----BEGIN {label}-----\n{_wrapped(body, width)}\n-----END {label}-----"


def pgp(rng: Random) -> str:
    """An armoured OpenPGP secret key with its CRC-24."""
    data = b"\x95\x03\x98\x04" + rng.randbytes(500)
    crc = 0xB704CE
    for byte in data:
        crc ^= byte << 16
        for _ in range(8):
            crc = crc << 1 ^ (0x1864CFB if crc & 0x800000 else 0)
    check = base64.b64encode((crc & 0xFFFFFF).to_bytes(3, "big")).decode()
    body = _wrapped(base64.b64encode(data).decode(), 64)
    return f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{body}\n={check}\n-----END PGP PRIVATE KEY BLOCK-----"


def password(rng: Random) -> str:
    """As people and generators choose them: 8 to 20 characters, letters, digits, most with a sign."""
    while True:
        signs = rng.choice(("", "!", "#", "!@", "-_", "%+", "*~"))
        made = "".join(rng.choices(ALNUM + signs * 6, k=rng.randint(8, 20)))
        if made[0].isalnum() and any(c.isdigit() for c in made) and any(c.isalpha() for c in made):
            return made


# Tokens: their form gives them away


def _form(form: str) -> Callable[[Random], str]:
    """``a{20}`` letters and digits, ``h{8}`` hexadecimal, ``u{9}`` URL-safe, ``U{4}`` capitals and digits,
    ``d{3}`` digits, ``b{9}`` small letters and digits;
    ``uuid{0}``. All else stands as written."""
    alphabets = {
        "a": ALNUM,
        "h": HEX,
        "u": URL_SAFE,
        "U": UPPER,
        "d": string.digits,
        "l": string.ascii_lowercase,
        "b": string.ascii_lowercase + string.digits,
    }

    def make(rng: Random) -> str:
        pieces, rest = [], form
        while "{" in rest:
            head, _, rest = rest.partition("{")
            count, _, rest = rest.partition("}")
            if head.endswith("uuid"):
                pieces += [head[:-4], uuid(rng)]
            else:
                made = chars(rng, alphabets[head[-1]], int(count))
                pieces += [
                    head[:-1],
                    made.replace("--", "-a").rstrip("-_") + "x" * (len(made) - len(made.rstrip("-_"))),
                ]
        return "".join([*pieces, rest])

    return make


_FORMS = """
aws-access-key-id AKIAU{16}
aws-access-key-id ASIAU{16}
gitlab-token glpat-u{20}
gitlab-token glpat-u{27}.01.h{9}
gitlab-token gldt-u{20}
gitlab-token glrt-u{20}
slack-token xoxb-d{12}-d{13}-a{24}
slack-token xoxp-d{12}-d{12}-d{13}-h{32}
slack-token xapp-1-AU{10}-d{13}-h{64}
stripe-key sk_live_a{24}
stripe-key sk_test_51a{97}
stripe-key rk_live_51a{97}
stripe-key whsec_a{32}
anthropic-key sk-ant-api03-u{93}AA
anthropic-key sk-ant-oat01-u{93}AA
openai-key sk-a{20}T3BlbkFJa{20}
openai-key sk-proj-u{74}T3BlbkFJu{74}A
openai-key sk-svcacct-u{58}T3BlbkFJu{58}A
google-api-key AIzaSyu{33}
google-oauth ya29.a0u{160}
google-oauth GOCSPX-u{28}
huggingface-token hf_a{34}
sendgrid-key SG.u{22}.u{43}
twilio-key SKh{32}
telegram-token d{10}:AAu{33}
digitalocean-token dop_v1_h{64}
docker-token dckr_pat_u{27}
databricks-token dapih{32}
shopify-token shpat_h{32}
vault-token hvs.u{95}
vault-token hvs.u{24}
atlassian-token ATATT3xFfGF0u{170}=U{8}
grafana-token glsa_a{32}_h{8}
linear-key lin_api_a{40}
notion-token ntn_d{11}a{35}
notion-token secret_a{43}
postman-key PMAK-h{24}-h{34}
square-token sq0atp-u{22}
square-token EAAAu{60}
supabase-token sbp_h{40}
supabase-token sb_secret_u{22}_u{8}
figma-token figd_u{40}
groq-key gsk_a{52}
xai-key xai-a{80}
perplexity-key pplx-a{48}
replicate-token r8_a{37}
openrouter-key sk-or-v1-h{64}
nvidia-key nvapi-u{64}
tavily-key tvly-a{32}
rubygems-key rubygems_h{48}
sentry-token sntryu_h{64}
newrelic-key NRAK-U{27}
planetscale-token pscale_tkn_u{43}
planetscale-token pscale_pw_u{43}
langsmith-key lsv2_pt_h{32}_h{10}
cerebras-key csk-a{48}
elevenlabs-key sk_h{48}
langfuse-key sk-lf-uuid{0}
pinecone-key pcsk_a{6}_a{63}
firecrawl-key fc-h{32}
fireworks-key fw_a{24}
together-key tgp_v1_u{43}
jina-key jina_h{32}a{28}
wandb-key wandb_v1_a{27}_a{49}
mailgun-key key-h{32}
mailgun-key h{32}-h{8}-h{8}
mailchimp-key h{32}-us14
brevo-key xkeysib-h{64}-a{16}
resend-key re_a{8}_a{24}
paypal-token access_token$production$a{16}$h{32}
plaid-token access-production-uuid{0}
paddle-key pdl_live_apikey_l{26}_a{22}_a{3}
razorpay-key rzp_live_a{14}
flutterwave-key FLWSECK-h{32}-X
crates-token cioa{32}
nuget-key oy2b{43}
clojars-token CLOJARS_h{60}
artifactory-token AKCpa{69}
vercel-token vcp_a{56}
netlify-token nfp_a{36}
heroku-key HRKU-AAu{58}
flyio-token fm2_u{120}
render-key rnd_a{28}
cloudflare-key v1.0-h{24}-h{146}
terraform-token a{14}.atlasv1.u{67}
pulumi-token pul-h{40}
doppler-token dp.pt.a{43}
doppler-token dp.st.prd.a{43}
neon-key napi_a{64}
alibaba-key LTAI5ta{18}
tencent-key AKIDa{32}
yandex-token y0_u{55}
onepassword-token ops_eyJu{300}
dynatrace-token dt0c01.U{24}.U{64}
honeycomb-key hcaik_01a{58}
posthog-key phx_a{43}
airtable-token pata{14}.h{64}
asana-token 2/d{16}/d{16}:h{32}
dropbox-token sl.u{130}
mapbox-token sk.eyJ1Ijoiu{50}.u{22}
contentful-token CFPAT-u{43}
hubspot-token pat-na1-uuid{0}
buildkite-token bkua_h{40}
circleci-token CCIPAT_a{22}_h{40}
sourcegraph-token sgp_h{16}_h{40}
typeform-token tfp_u{44}_u{14}
prefect-key pnu_a{36}
easypost-key EZAKh{54}
shippo-key shippo_live_h{40}
tailscale-key tskey-auth-a{16}CNTRL-a{32}
azure-client-secret a{3}8Q~a{34}
age-key AGE-SECRET-KEY-1U{58}
facebook-token EAACEdEose0cBAa{160}
password-hash $2b$12$a{53}
password-hash $6$a{16}$a{86}
password-hash $argon2id$v=19$m=65536,t=3,p=4$a{22}$a{43}
"""


def _tokens() -> list[Shape]:
    made: list[tuple[str, str, Callable[[Random], str]]] = []
    for line in _FORMS.split("\n"):
        if line:
            kind, form = line.split(" ")
            made.append((kind, form, _form(form)))
    made += [("github-token", f"gh{letter}_ with CRC-32", _github(f"gh{letter}_")) for letter in "pousr"]
    made += [
        ("github-token", "github_pat_", lambda r: f"github_pat_{chars(r, ALNUM, 22)}_{chars(r, ALNUM, 59)}"),
        ("npm-token", "npm_ with CRC-32", _github("npm_")),
        ("pypi-token", "pypi- macaroon", _pypi),
        ("jwt", "HS256 with its signature", jwt),
        ("discord-token", "bot token", _discord),
        ("slack-webhook", "services", lambda r: _slack_webhook(r)),
        ("discord-webhook", "api/webhooks", _discord_webhook),
        ("teams-webhook", "webhookb2", _teams_webhook),
        (
            "zapier-webhook",
            "hooks/catch",
            lambda r: (
                f"https://hooks.zapier.com/hooks/catch/{chars(r, string.digits, 7)}/b{chars(r, ALNUM, 7).lower()}/"
            ),
        ),
        ("google-chat-webhook|google-api-key|token", "spaces", _google_chat),
        (
            "ifttt-webhook",
            "with/key",
            lambda r: f"https://maker.ifttt.com/trigger/deploy/with/key/{chars(r, URL_SAFE, 22)}",
        ),
        (
            "make-webhook",
            "hook.make.com",
            lambda r: f"https://hook.make.com/{chars(r, string.ascii_lowercase + string.digits, 32)}",
        ),
        ("feishu-webhook", "bot/v2/hook", lambda r: f"https://open.feishu.cn/open-apis/bot/v2/hook/{uuid(r)}"),
        ("wecom-webhook", "webhook/send", lambda r: f"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={uuid(r)}"),
    ]
    return [Shape(kind, name, _alone(make)) for kind, name, make in made]


def _alone(make: Callable[[Random], str]) -> Callable[[Random], Core]:
    return lambda rng: Core("", make(rng))


def _github(prefix: str) -> Callable[[Random], str]:
    return lambda rng: with_crc32(prefix, chars(rng, BASE62, 30))


def _pypi(rng: Random) -> str:
    permissions = json.dumps({"version": 1, "permissions": "user"}).encode()
    location, identifier = b"pypi.org", uuid(rng).encode()
    body = b"\x02\x01" + bytes([len(location)]) + location + b"\x02" + bytes([len(identifier)]) + identifier + b"\0"
    body += b"\x02" + bytes([len(permissions)]) + permissions + b"\0\x06\x20" + rng.randbytes(32)
    return "pypi-" + _unpadded(body)


def _discord(rng: Random) -> str:
    bot = base64.b64encode(str(rng.randrange(10**17, 9 * 10**17)).encode()).decode().rstrip("=")
    return f"{bot}.G{chars(rng, ALNUM, 5)}.{chars(rng, URL_SAFE, 37)}a"


def _slack_webhook(rng: Random) -> str:
    return f"https://hooks.slack.com/services/T0{chars(rng, UPPER, 9)}/B0{chars(rng, UPPER, 9)}/{chars(rng, ALNUM, 24)}"


def _discord_webhook(rng: Random) -> str:
    return f"https://discord.com/api/webhooks/{chars(rng, string.digits, 19)}/{chars(rng, URL_SAFE, 67)}a"


def _teams_webhook(rng: Random) -> str:
    ids = f"{uuid(rng)}@{uuid(rng)}/IncomingWebhook/{chars(rng, HEX, 32)}/{uuid(rng)}"
    return f"https://contoso.webhook.office.com/webhookb2/{ids}"


def _google_chat(rng: Random) -> str:
    key, token = chars(rng, URL_SAFE, 33), chars(rng, URL_SAFE, 42)
    return f"https://chat.googleapis.com/v1/spaces/AAAAb1/messages?key=AIzaSy{key}&token={token}x"


# Named values: their name gives them away


class Named(NamedTuple):
    """Values that only their name makes secrets; the second list of names is held back."""

    kind: str
    names: tuple[str, ...]
    held_back: tuple[str, ...]
    make: Callable[[Random], str]


def _hex(n: int) -> Callable[[Random], str]:
    return lambda rng: chars(rng, HEX, n)


def _alnum(n: int) -> Callable[[Random], str]:
    return lambda rng: chars(rng, ALNUM, n)


NAMED = (
    Named(
        "password",
        ("DB_PASSWORD", "POSTGRES_PASSWORD", "ADMIN_PASSWORD", "db_password", "SMTP_PASS", "PGPASSWORD"),
        ("REDIS_PASSWORD", "MYSQL_ROOT_PASSWORD", "KEYSTORE_PASSWORD", "root_password", "MAIL_PASS", "SSH_PASSPHRASE"),
        password,
    ),
    Named(
        "api-key",
        (
            "MISTRAL_API_KEY",
            "DATADOG_API_KEY",
            "ALGOLIA_ADMIN_KEY",
            "cohere_api_key",
            "encryption_key",
            "LINODE_API_KEY",
        ),
        ("TOGETHER_API_KEY", "WANDB_API_KEY", "OPENWEATHER_API_KEY", "deepgram_api_key", "signing_key", "HMAC_KEY"),
        _hex(32),
    ),
    Named(
        "token",
        ("CLOUDFLARE_API_TOKEN", "VERCEL_TOKEN", "access_token", "GITEA_TOKEN", "refresh_token", "HEROKU_API_TOKEN"),
        ("CIRCLE_TOKEN", "TWILIO_AUTH_TOKEN", "auth_token", "BITBUCKET_TOKEN", "id_token", "TRAVIS_TOKEN"),
        _alnum(40),
    ),
    Named(
        "secret",
        ("CLIENT_SECRET", "SESSION_SECRET", "client_secret", "JWT_SECRET", "NEXTAUTH_SECRET", "DJANGO_SECRET_KEY"),
        ("APP_SECRET", "COOKIE_SECRET", "consumer_secret", "WEBHOOK_SECRET", "AUTH0_CLIENT_SECRET", "FLASK_SECRET_KEY"),
        lambda rng: base64_of(rng, 30),
    ),
    Named(
        "aws-secret-key",
        ("AWS_SECRET_ACCESS_KEY", "aws_secret_access_key"),
        ("AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY"),
        lambda rng: base64_of(rng, 30),
    ),
    Named(
        "api-key|secret",
        ("PRIVATE_KEY", "WALLET_PRIVATE_KEY", "DEPLOYER_PRIVATE_KEY"),
        ("ETH_PRIVATE_KEY", "SIGNER_PRIVATE_KEY"),
        lambda rng: "0x" + chars(rng, HEX, 64),
    ),
)


TOKENS = _tokens()
