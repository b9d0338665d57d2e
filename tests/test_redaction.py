"""EVID.9, EVID.10 and failure case 35: secrets are taken out and counted; what only looks like one, or names one, stays."""

from __future__ import annotations

import json
import re
import string
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tallystick.redaction import REDACTOR, Redaction, redact

SHARED = Path(__file__).resolve().parents[1] / "../shared/data"
ALNUM = string.ascii_letters + string.digits
BODY = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA1bC2dE3fG4hJ5kL6mN7pQ8rS9tU0vW"
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


def _issued(kind: str, form: str) -> tuple[str, str]:
    """A token of ``form`` with ``{n}`` for n letters and digits and ``<n>`` for n hexadecimal digits."""
    out = form
    for n in range(1, 65):
        out = out.replace(f"{{{n}}}", BODY[:n]).replace(f"<{n}>", HEX[:n])
    return kind, out


TOKENS = [
    _issued(kind, form)
    for kind, form in (
        ("aws-access-key-id", "AKIAIOSFODNN7EXAMPLE"),
        ("aws-access-key-id", "ASIAQ3EGUHFSKDJF2WLD"),
        *(("github-token", f"gh{letter}_{{36}}") for letter in "pousr"),
        ("github-token", "github_pat_{22}_{59}"),
        ("gitlab-token", "glpat-{20}"),
        ("slack-token", "xoxb-123456789012-1234567890123-{24}"),
        ("slack-token", "xoxp-123456789012-{24}"),
        ("slack-webhook", "hooks.slack.com/services/T01ABCDEFGH/B01ABCDEFGH/{24}"),
        ("stripe-key", "sk_live_{24}"),
        ("stripe-key", "rk_live_{24}"),
        ("openai-key", "sk-{48}"),
        ("openai-key", "sk-proj-{48}-{20}_{20}"),
        ("anthropic-key", "sk-ant-api03-{48}-{24}AA"),
        ("google-api-key", "AIzaSy{33}"),
        ("google-oauth", "ya29.a0{60}"),
        ("google-oauth", "GOCSPX-{28}"),
        ("npm-token", "npm_{36}"),
        ("huggingface-token", "hf_{34}"),
        ("pypi-token", "pypi-AgEIcHlwaS5vcmc{60}"),
        ("sendgrid-key", "SG.{22}.{43}"),
        ("twilio-key", "SK<32>"),
        ("telegram-token", "123456789:AAH{32}"),
        ("discord-token", "MTA4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.{27}"),
        ("discord-webhook", "discord.com/api/webhooks/123456789012345678/{60}"),
        ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{43}"),
        ("digitalocean-token", "dop_v1_<64>"),
        ("docker-token", "dckr_pat_{27}"),
        ("databricks-token", "dapi<32>"),
        ("shopify-token", "shpat_<32>"),
        ("vault-token", "hvs.{30}"),
        ("atlassian-token", "ATATT3{60}"),
        ("grafana-token", "glsa_{32}"),
        ("linear-key", "lin_api_{40}"),
        ("square-token", "sq0atp-{22}"),
        ("groq-key", "gsk_{52}"),
    )
]
SURROUNDINGS = (
    "{}",
    "key is {}.",
    '"{}"',
    "'{}'",
    "({})",
    "{}\nnext",
    "a\\n{}\\nb",
    "x={}&y",
    "`{}`",
    "[{}]",
    "é{}"[1:],
    "https://h/?k={}",
)


@pytest.mark.parametrize(("kind", "token"), TOKENS, ids=lambda value: value[:24])
def test_a_providers_token_is_taken_out_wherever_it_stands(kind: str, token: str) -> None:
    """EVID.9: a token of a known provider is replaced whole, its kind counted, and nothing around it touched."""
    for around in SURROUNDINGS:
        text = around.format(token)
        result = redact(text)
        assert result == Redaction(around.format(f"[redacted:{kind}]"), {kind: 1}), text


AMBIGUOUS = {  # beginnings that words and base64 end with: only a whole word of them is a token
    *("gitlab-token", "slack-token", "stripe-key", "google-oauth", "huggingface-token", "pypi-token", "sendgrid-key"),
    *("twilio-key", "discord-token", "jwt", "databricks-token", "vault-token", "grafana-token", "groq-key"),
}


@pytest.mark.parametrize(("kind", "token"), TOKENS, ids=lambda value: value[:24])
def test_a_token_cut_short_is_no_token_and_one_run_into_a_word_is(kind: str, token: str) -> None:
    """EVID.9: eight characters of a token are none; `a_ghp_…` holds one; `risk-…` or `zzhf_…` would be another word."""
    assert redact(token[:8]).counts == {}
    if kind not in ("telegram-token", "discord-token"):
        assert kind in redact(f"a_{token}").counts
        run_in = redact(f"zz{token}")
        assert run_in.counts == {} or run_in.text == f"zz[redacted:{kind}]"
        assert kind in AMBIGUOUS or token.startswith(f"sk-{BODY[:4]}") or run_in.counts == {kind: 1}


@pytest.mark.parametrize("letter", ["\u200b", "\u00ad", "\u2060", "\ufeff", "\u200d"])
@pytest.mark.parametrize(("kind", "token"), TOKENS[::4], ids=lambda value: value[:24])
def test_a_character_that_no_one_sees_hides_no_token(kind: str, token: str, letter: str) -> None:
    """EVID.9: zero-width characters and soft hyphens inside a token, anywhere, go with it; those outside stay."""
    for at in (1, 3, len(token) // 2, len(token) - 1):
        text = f"é{letter} {token[:at]}{letter}{token[at:]} {letter}b"
        assert redact(text) == Redaction(f"é{letter} [redacted:{kind}] {letter}b", {kind: 1})


ASSIGNMENTS = [
    ("aws-secret-key", "AWS_SECRET_ACCESS_KEY=", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""),
    ("aws-secret-key", "aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "\n"),
    ("aws-secret-key", 'export AWS_SECRET_ACCESS_KEY="', "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", '"'),
    ("secret", "CLIENT_SECRET=", "keyboardcat", " run"),
    ("secret", '"client_secret": "', "d41d8cd98f00b204", '",'),
    ("secret", '\\"client_secret\\": \\"', "d41d8cd98f00b204", '\\",'),
    ("secret", "DJANGO_SECRET_KEY='", "django-insecure-7#x!k2(a)", "'"),
    ("token", "MY_TOKEN=", "abcdef123456", "\n"),
    ("token", "export CI_JOB_TOKEN='", "abcdef123456", "'"),
    ("token", "//registry.npmjs.org/:_authToken=", "0a1b2c3d4e5f6071", "\n"),
    ("token", 'access_token: "', "9c8b7a6d5e4f", '"'),
    ("token", "--token ", "9c8b7a6d5e4f", " --verbose"),
    ("token", "?access_token=", "9c8b7a6d5e4f", "&page=2"),
    ("api-key", "STRIPE_KEY=", "abcdef123456", " "),
    ("api-key", "api_key: ", "9c8b7a6d5e4f", "\n"),
    ("api-key", '"apiKey": "', "9c8b7a6d5e4f", '"'),
    ("api-key", "x-api-key: ", "9c8b7a6d5e4f", "\n"),
    ("api-key", "--api-key=", "9c8b7a6d5e4f", " go"),
    ("api-key", 'private String apiKey = "', "9c8b7a6d5e4f", '";'),
    ("password", "DB_PASSWORD=", "hunter2", "\n"),
    ("password", "password: ", "hunter2", "\n"),
    ("password", '"password": "', "hunter2", '"'),
    ("password", "--password ", "hunter2", " -h db"),
    ("password", "--password=", "hunter2", " -h db"),
    ("password", "Server=db;User Id=sa;Password=", "letmein", ";"),
    ("password", 'password: str = "', "hunter2", '"'),
    ("password", "PGPASSWORD=", "12345678", " psql"),
    ("password", "MYSQL_PASS=", "s3cr3t!", " mysql"),
    ("secret", 'export SECRET_TOKEN="', "multi word secret", '"'),
    ("secret", "SECRET_KEY='", "a b c", "' run"),
    ("secret", 'CLIENT_SECRET=\\"', "abc", '\\"'),
    ("secret", '{"command": "export CLIENT_SECRET=\\"', "abc d", '\\" && x"}'),
    ("secret", "__SECRET=", "keyboardcat", "\n"),
    ("token", 'MY_TOKEN="', "it's three words", '"'),
    ("api-key", "API_KEY=", "abc12345xyz", ""),
    ("password", 'PASSWORD="', 'a \\"b\\" c', '"'),
    ("password", "mysql -p", "PASS", " db"),
    ("password", "mysqldump -u root -p'", "my pass", "' db > x.sql"),
    ("password", "mysql -h db --password ", "PASS", ""),
    ("password", "mysql --password=", "hunter", " db"),
    ("password", '--password "', "two words", '"'),
    ("password", "sshpass -p ", "hunter2", " ssh h"),
    ("password", "docker login -u me -p ", "hunter2", " registry.example"),
    ("password", "redis-cli -a ", "hunter2", " ping"),
    ("password-hash", "root:", "$6$saltsalt$" + BODY + BODY[:22], ":19000:0:"),
    ("password-hash", "hash = '", "$2b$12$" + BODY[:53], "'"),
    ("password-hash", "", "$argon2id$v=19$m=65536,t=3,p=4$" + BODY[:22] + "$" + BODY[:43], "\n"),
    ("basic-auth", "curl https://h -u user:", "pass", ""),
    ("basic-auth", "curl -uuser:", "pass", " https://h"),
    ("basic-auth", 'curl --user "user:', "my pass", '" https://h'),
    ("basic-auth", "curl \\\n  --user=user:", "pass", " \\\n  https://h"),
    ("url-credentials", "https://", "ghp_abc123", "@github.com/a/b"),
    ("url-credentials", "https://", "a1b2c3d4e5f6a7b8c9d0", "@host.example/a"),
    ("url-credentials", "https://", "abcdefghijklmnopqrstuvwx", "@github.com/a/b"),
    ("url-credentials", "https://", "a1b2c3d4e5f6a7b8c9d0", ":x-oauth-basic@github.com/a/b"),
    ("bearer-token", "Authorization: Bearer ", "abc123def456ghi789", "\n"),
    ("bearer-token", '-H "Authorization: Bearer ', "abc123def456ghi789", '"'),
    ("basic-auth", "Authorization: Basic ", "dXNlcjpwYXNzd29yZA==", "\n"),
    ("basic-auth", "curl -s -u admin:", "hunter2", " https://h"),
    ("url-credentials", "https://user:", "pass", "@host/path"),
    ("url-credentials", "git clone https://bot:", "p%40ss", "@git.example/x.git"),
    ("database-url", "DATABASE_URL=postgres://app:", "pa55", "@db.internal:5432/app"),
    ("database-url", "mongodb+srv://app:", "pa55", "@cluster.example/x"),
    ("database-url", "redis://:", "pa55", "@cache:6379/0"),
    ("azure-key", "AccountName=a;AccountKey=", BODY + "abcdefghijklmnopqrstuv==", ";EndpointSuffix=x"),
    ("azure-key", "SharedAccessKeyName=k;SharedAccessKey=", BODY[:43] + "=", ""),
    ("azure-key", "https://a.blob.core.windows.net/c?sv=2020&sig=", BODY[:43] + "%3D", "&se=2021"),
]


@pytest.mark.parametrize(
    ("kind", "before", "secret", "after"), ASSIGNMENTS, ids=[f"{a[0]}:{a[1][:16]}" for a in ASSIGNMENTS]
)
def test_an_assigned_secret_is_taken_out_and_its_name_kept(kind: str, before: str, secret: str, after: str) -> None:
    """EVID.9, failure case 35: names, user, host and what follows stay; the value goes, in env, JSON, YAML and options."""
    assert redact(before + secret + after) == Redaction(f"{before}[redacted:{kind}]{after}", {kind: 1})


PEM_BODY = "\n".join(BODY[i : i + 16] * 4 for i in range(8))
PEM_KINDS = (
    "RSA PRIVATE KEY",
    "PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "EC PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
)


@pytest.mark.parametrize("name", PEM_KINDS)
@pytest.mark.parametrize("form", ["plain", "json", "numbered", "headers", "no end", "no end in json", "indented"])
def test_a_private_key_is_taken_out_whole(name: str, form: str) -> None:
    """EVID.9, failure case 35: a key block goes whole, with escapes, line numbers or headers, and also when its end is cut."""
    block = f"-----BEGIN {name}-----\n{PEM_BODY}\n-----END {name}-----"
    if form == "json":
        block = block.replace("\n", "\\n")
    elif form == "numbered":
        block = "\n".join(f"{i:5}→{line}" for i, line in enumerate(block.split("\n")))
        assert redact(block) == Redaction("    0→[redacted:private-key]", {"private-key": 1})
        return
    elif form == "headers":
        block = block.replace("-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n", 1)
    elif form.startswith("no end"):
        block = block[: block.index("-----END") - 1]
        block = block.replace("\n", "\\n") if "json" in form else block
    elif form == "indented":
        block = block.replace("\n", "\n    ")
    for before, after in (("", ""), ("key:\n", "\n\nAll tests pass."), ('{"key": "', '", "n": 1}')):
        assert redact(before + block + after) == Redaction(f"{before}[redacted:private-key]{after}", {"private-key": 1})


def test_a_private_key_whose_beginning_was_cut_off_is_taken_out() -> None:
    """EVID.9: the tail of a key block in a truncated output is as secret as its head."""
    result = redact(f"cut:\n{PEM_BODY}\n-----END RSA PRIVATE KEY-----\ndone")
    assert result.counts == {"private-key": 1}
    assert BODY[:16] not in result.text
    assert result.text.endswith("\ndone")


def test_a_key_that_was_cut_does_not_reach_into_the_next_one() -> None:
    """EVID.9: what stands between a key without an end and the next key is kept."""
    cut = f"-----BEGIN PRIVATE KEY-----\n{PEM_BODY}"
    whole = f"{cut}\n-----END PRIVATE KEY-----"
    expected = "[redacted:private-key]\n\nAll tests pass.\n\n[redacted:private-key]"
    assert redact(f"{cut}\n\nAll tests pass.\n\n{whole}") == Redaction(expected, {"private-key": 2})


def test_secrets_inside_secrets_are_one() -> None:
    """EVID.9: where two overlap, the whole of both goes, once, whichever was found first."""
    tail = f"{PEM_BODY}\nSK{HEX[:32]}\n-----END PRIVATE KEY-----"
    assert redact(f"x:\n{tail}").text == "x:\n[redacted:private-key]"
    text = f"https://user:ghp_{BODY[:36]}@host"
    assert redact(text) == Redaction("https://user:[redacted:github-token]@host", {"github-token": 1})


STAYS = [
    "commit c2b0273d9f86d081884c7d659a2feaa0c55ad015",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  file.bin",
    "session 03a1382e-ecd5-42c4-b3d4-5c659e165904",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    '"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="',
    "--hash=sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "pip install sk-learn scikit-learn",
    "task-manager-for-long-running-jobs-2024",
    "risk-assessment-and-mitigation-plan-v2",
    "TOKEN=$TOKEN",
    'API_KEY="${API_KEY}"',
    "PASSWORD=$(cat file)",
    'os.environ["API_KEY"]',
    "api_key = os.environ['OPENAI_API_KEY']",
    "apiKey: process.env.OPENAI_API_KEY,",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "API_KEY=<your-key>",
    "API_KEY=your-api-key-here",
    "password: ***",
    "PASSWORD=********",
    "SECRET=REDACTED",
    "token=[redacted:token]",
    "GH_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "token = get_token()",
    "const token = await getToken(user2);",
    "secret = self.secret",
    "password = form.password.data",
    "KEY_LENGTH=32",
    "TOKEN_COUNT=123456",
    "TOKEN_URL=https://auth.example.com/oauth2/token",
    "PASSWORD_FILE=/run/secrets/db",
    "SECRET_NAME=prod-db-credentials1",
    "key: value",
    "key: 0123456789abcdef0123",
    "primary_key: user_id_1234567",
    "PUBLIC_KEY=abcdef123456",
    "max_tokens=4096",
    '"input_tokens": 12',
    '"cache_read_input_tokens": 1234567890123',
    "tokens: 1234567890",
    "tokenizer = AutoTokenizer2024x",
    "accessTokenProvider",
    "sessionTokenFactoryBean42",
    "func tokenFromRequest(r *http.Request) (string, error)",
    "password: string;",
    "password?: string | undefined",
    'type="password"',
    "Token: token,",
    "Password: cfg.Password,",
    'if token == "abc123def456" {',
    "PWD=/home/user/project",
    "OLDPWD=/home/user/project2",
    "GIT_AUTHOR_EMAIL=test@example.com",
    "the --token flag",
    "use --password to pass it",
    "https://host:8080/path@2x.png",
    "git@github.com:owner/repo.git",
    "ssh://git@github.com/owner/repo",
    "http://localhost:3000",
    "https://user:$PASS@host",
    "https://{user}:{password}@host",
    "https://USER:PASSWORD@host",
    "postgres://app:${DB_PASSWORD}@db/app",
    "Bearer token",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer ${token}",
    "Basic usage",
    "basic authentication2",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
    '"-----BEGIN PRIVATE KEY-----"',
    'strings.HasPrefix(s, "-----BEGIN RSA PRIVATE KEY-----")',
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ user@host",
    "pk_live_" + BODY[:24],
    "eyJhbGciOiJIUzI1NiJ9",
    "SKILL.md",
    "SKU12345",
    "npm_config_registry=https://x",
    "hf_hub_download",
    "AKIA",
    "AIza",
    "A=b=c A=b=c",
    "_KEY = ",
    "secret",
    "token:",
    "Password=",
    "curl -u",
    "://:@",
    "compare_keys(api_key, other)",
    "The API key is missing.",
    "Secrets are redacted before anything is stored.",
    "la clé d'API et le mot de passe",
    "auth_token_ttl: 3600000000000",
    "JWT_SECRET must be set",
    "sort -k2 -t: file",
    "primary_key=id",
    "primary_key=user_id_1234567",
    "tool --key value --sort-key created2024",
    "LOG_LEVEL=debug MODE=production COLOR=always",
    "mkdir -p build && cp -pr a1b2 c",
    "docker run --name mysql -p3306:3306 mysql",
    "mysql -p db",
    "mysql -p$PASS db",
    "mysql x | ssh -p2222 host",
    "python -u main:app",
    "git push -u origin feature:main",
    "ls -a hunter2",
    'API_KEY="Your API key here"',
    'PASSWORD="Enter your password"',
    'TOKEN="not found in $FILE"',
    'SSH_KEY="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ user@host"',
    "docker login --password-stdin registry1.example",
    "use the --password option and wait",
    "https://hub@example.com",
    "https://someone-with-a-long-name@example.com/",
    "https://cdn.example/npm/react@18.2.0",
    "$2 costs $1$ and $6 more",
    "awk '{print $1$2}'",
    "xai-org-some-long-package-name-here",
    "lndXiFRR7YaHWtqh0zH_k0Bbzb-R1Lzu_r8_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYz",
    "RLzusiXllxC_r8_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYz",
    "zero\u200bwidth and soft\u00adhyphen words",
    '"integrity": "sha1-' + BODY[:27] + '="',
]


@pytest.mark.parametrize("text", STAYS, ids=lambda text: text[:32])
def test_what_is_no_secret_stays(text: str) -> None:
    """EVID.9, pitfall 55: hashes, ids, integrity strings, variables, placeholders, code and configuration words are left
    as they are."""
    assert redact(text) == Redaction(text, {})


def test_each_secret_is_counted_under_its_kind() -> None:
    """EVID.9: the kind and count are kept; a provider's token inside an assignment counts once, as the provider's."""
    text = f"A=ghp_{BODY[:36]} STRIPE_SECRET_KEY=sk_live_{BODY[:24]}\nGH_TOKEN=ghp_{BODY[1:37]}\nDB_PASSWORD=hunter2"
    assert redact(text).counts == {"github-token": 2, "stripe-key": 1, "password": 1}


def test_addresses_go_only_when_asked() -> None:
    """EVID.9: e-mail addresses are redacted when asked, and `git@host` is none."""
    text = "mail dev.one@example.com or git@github.com:a/b"
    assert redact(text).text == text
    assert redact(text, emails=True) == Redaction("mail [redacted:email] or git@github.com:a/b", {"email": 1})


def test_a_lone_surrogate_is_no_obstacle() -> None:
    """EVID.9, failure case 37: a text that UTF-8 cannot say is redacted like any other, offsets exact."""
    assert redact(f"\ud800é TOKEN=ghp_{BODY[:36]} \udfff") == Redaction(
        "\ud800é TOKEN=[redacted:github-token] \udfff", {"github-token": 1}
    )


PIECES = st.sampled_from(
    [token for _, token in TOKENS]
    + [before + secret + after for _, before, secret, after in ASSIGNMENTS]
    + STAYS
    + [before for _, before, _, _ in ASSIGNMENTS]
    + [
        " ",
        "\n",
        "=",
        ":",
        '"',
        "'",
        "\\n",
        "\\",
        "-",
        "_",
        "@",
        "[redacted:token]",
        "[redacted:",
        "]",
        "é",
        "😀",
        "\ud800",
        "x",
        "9",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join))
@example("".join(token for _, token in TOKENS))
@example("\n".join(before + secret + after for _, before, secret, after in ASSIGNMENTS))
@example("TOKEN=TOKEN=TOKEN=abcdef123456")
@example("curl" + " -u a:hunter2" * 4 + " --user a:hunter2" * 4)
@example("https://ghp_" + BODY[:36] + "@github.com")
def test_redacting_twice_is_redacting_once(text: str) -> None:
    """EVID.9: `redact(redact(x)) == redact(x)`, and the second time counts nothing."""
    once = redact(text, emails=True)
    assert redact(once.text, emails=True) == Redaction(once.text, {})
    assert (once.text == text) == (not once.counts)
    assert once.text.count("[redacted:") >= max(sum(once.counts.values()), 0) - text.count("[redacted:")


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80), st.sampled_from(TOKENS), st.text(max_size=80))
@example("Bearer", TOKENS[0], "")
def test_no_token_survives_between_any_texts(before: str, token: tuple[str, str], after: str) -> None:
    """EVID.9: whatever stands around it at a distance of a blank, the token is gone and all else of it is there."""
    result = redact(f"{before} {token[1]} {after}")
    assert token[1] not in result.text
    assert f"[redacted:{token[0]}]" in result.text


ADVERSARIAL = {
    "assignments": "A=b=c " * 170_000,
    "names": "secret" * 170_000,
    "named assignments": "secret=" * 150_000,
    "tokens": "sk-" * 330_000,
    "capital assignments": "SECRET=" * 150_000,
    "jwt heads": "eyJ" * 330_000,
    "jwt dots": "eyJ." * 250_000,
    "key heads": "-----BEGIN RSA PRIVATE KEY-----\n" * 31_000,
    "key tails": "-----END RSA PRIVATE KEY-----\n" * 33_000,
    "key body without end": "-----BEGIN RSA PRIVATE KEY-----\n" + ("A" * 64 + "\n") * 16_000,
    "urls": "://" * 330_000,
    "users": "://a:" * 200_000,
    "curls": "curl " * 200_000,
    "ats": "@" * 1_000_000,
    "locals": "a" * 1_000_000 + "@",
    "one word": "a" * 1_000_000,
    "backslashes": 'token\\\\\\" ' * 100_000,
    "bots": "1" * 20 + ":AA" * 330_000,
    "tags": "<a " * 330_000,
    "base64": BODY * 16_000,
    "chained names": "_KEY_SECRET_TOKEN=" * 58_000,
    "chained keys": "KEY=KEY=" * 125_000,
    "chained api keys": "API_KEY=" * 125_000,
    "names and blanks": "secret= " * 125_000,
    "unclosed quotes": "secret='" * 125_000,
    "quotes of every depth": "".join("SECRET=" + "\\" * n + q for n in range(4) for q in "\"'`") * 10_000,
    "one unclosed quote": 'PASSWORD="' + "a b " * 250_000,
    "found everywhere": "password: hunter2 " * 55_000,
    "found and all different": " ".join(f"TOKEN=a{n}b{n}c" for n in range(60_000)),
    "phrases": "SECRET='a b c' " * 66_000,
    "jwt heads apart": "-eyJ" * 250_000,
    "users without an end": "https://a:b" * 90_000,
    "tokens as users": "https://a1b2c3d4e5f6a7b8c9d0@" * 34_000,
    "one key without end": "-----BEGIN PRIVATE KEY-----" + "A" * 1_000_000,
    "blanks in keys": ("-----BEGIN PRIVATE KEY-----\n" + " " * 32_000) * 31,
    "digits before key tails": ("1" * 200 + "!\n-----END PRIVATE KEY-----\n") * 4_300,
    "curl options": "curl " + " -u" * 330_000,
    "mysql options": "mysql -p" * 125_000,
    "many mysql options": "mysql " + "-p1234 -p" * 110_000,
    "mysql lines": "mysql \\\n" * 120_000,
    "sshpass": "sshpass -p hunter2 " * 53_000,
    "option values": "--password " * 90_000,
    "hashes": "$6$" * 330_000,
    "hash rounds": "$6$rounds=" * 100_000,
    "unseen": "\u200b" * 1_000_000,
    "unseen in names": "sec\u200bret=" * 100_000,
    "domains": "a@" + "a" * 63 + ("@" + "a" * 63) * 15_000,
    "cookies": "cookie: a=b; " * 77_000,
    "cookies in cookies": "cookie: a=" * 100_000,
    "one cookie": "cookie: a=" + "a" * 1_000_000,
    "cookies that are issued": "cookie: a=abcdef1234567890abcdef; " * 30_000,
    "many small cookies": "cookie: " + "a=b; " * 200_000,
    "session names": "PHPSESSID=" * 100_000,
    "machines": "machine a login b password " * 37_000,
    "machines and lines": "machine a\n" * 100_000,
    "hosts of passwords": "a" * 100 + ":5432:a:b:" * 100_000,
    "registries": '"auth": "' * 110_000,
    "keys in base64": "LS0tLS1CRUdJTi" * 71_000,
    "one key in base64": "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpN" + "A" * 1_000_000,
    "phrases of wallets": "mnemonic: " + "legal winner " * 77_000,
    "names of phrases": "mnemonic" * 125_000,
    "authorizations": "authorization: " * 67_000,
    "curl cookies": "curl -b a=b " * 83_000,
    "sets": "set -gx SECRET " * 67_000,
    "colours": "\x1b[1mtoken" * 100_000,
    "middles": "Q~-us1.atlasv1." * 67_000,
    "templates": "password='${a}' " * 62_000,
    "one line of 5 MB": "token=abc123def456ghi789 x " * 185_000,
}


WORDS = re.compile(r"\w+|\W")
TRIES = 3
"""The machine is shared: what is slow once may have had to wait; what is slow three times is slow."""


def _cpu_seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_no_input_makes_it_slow(name: str) -> None:
    """EVID.10, failure case 34: hostile text costs a small multiple of cutting plain text of its length into words."""
    text = ADVERSARIAL[name]
    plain = ("plain words of a text. " * (len(text) // 23 + 1))[: len(text)]
    measure = min(_cpu_seconds(lambda: WORDS.findall(plain)) for _ in range(2))
    assert any(_cpu_seconds(lambda: redact(text, emails=True)) < 25 * measure + 0.3 for _ in range(TRIES))


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_four_times_the_input_takes_no_more_than_about_four_times_as_long(name: str) -> None:
    """EVID.10: cost grows with the length of the text, not with its square."""
    text = ADVERSARIAL[name]
    part = text[: len(text) // 4]
    quarter = min(_cpu_seconds(lambda: redact(part)) for _ in range(2))
    assert any(_cpu_seconds(lambda: redact(text)) < 8 * quarter + 0.3 for _ in range(TRIES))


def test_the_redactor_has_a_name_and_a_version() -> None:
    """EVID.9: an archived event says by which rules it was redacted."""
    assert REDACTOR == "redaction/3"


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.is_dir(), reason="shared data is absent")
def test_scrubbed_sessions_hold_few_secrets_and_hashes_survive() -> None:
    """EVID.9: in real sessions that were scrubbed, what is found are the fixtures of their test suites, and it is idempotent."""
    total = 0
    for path in sorted((SHARED / "transcripts/codex").rglob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            for text in _strings(record):
                result = redact(text)
                total += sum(result.counts.values())
                if result.counts:
                    assert redact(result.text) == Redaction(result.text, {})
    assert 1 <= total <= 100
