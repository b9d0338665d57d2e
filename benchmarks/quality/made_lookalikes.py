"""Texts that look like secrets and hold none: hashes, ids, images, lock files, minified code, dumps, names, placeholders."""

from __future__ import annotations

import base64
import hashlib
import string
import zlib
from collections.abc import Callable, Iterator
from random import Random

from benchmarks.quality.made_secrets import ALNUM, HEX, base64_of, chars, uuid

_WORDS = (
    "user token session key secret password auth login cache parser config index build test value request response header "
    "cookie access refresh client server worker queue async retry limit handler provider store manager factory"
).split()
_PACKAGES = (
    "react lodash left-pad @babel/core typescript vite eslint requests numpy tokio serde rand secrecy jsonwebtoken"
).split()
_PLACEHOLDERS = (
    "your-api-key-here", "<YOUR_TOKEN>", "xxxxxxxxxxxxxxxx", "changeme", "${API_KEY}", "$TOKEN",
    "{{ secrets.DEPLOY_KEY }}", "...",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxx", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "REPLACE_ME", "********", "[REDACTED]", "example",
    "process.env.API_KEY", "os.environ['API_KEY']", "my-secret-value", "placeholder", "%(token)s", "TODO",
    "null", "AKIAXXXXXXXXXXXXXXXX",
)  # fmt: skip


def _sha(rng: Random, name: str = "sha1") -> str:
    return hashlib.new(name, rng.randbytes(16)).hexdigest()


def _integrity(rng: Random) -> str:
    return "sha512-" + base64.b64encode(rng.randbytes(64)).decode()


def _version(rng: Random) -> str:
    return f"{rng.randrange(20)}.{rng.randrange(30)}.{rng.randrange(9)}"


def _git(rng: Random) -> str:
    commit, blob, other = _sha(rng), _sha(rng)[:9], _sha(rng)[:9]
    return (
        f"commit {commit}\nAuthor: A B <a@example.com>\n\n    Token refresh: key handling\n\ndiff --git a/token.py b/token.py\n"
        f"index {blob}..{other} 100644\nHEAD is now at {commit[:8]} secret: rotate keys\ntree {_sha(rng)}\nparent {_sha(rng)}\n"
    )


def _uuids(rng: Random) -> str:
    return (
        f'{{"sessionId": "{uuid(rng)}", "uuid": "{uuid(rng)}", "parentUuid": "{uuid(rng)}", "session_id": "{uuid(rng)}"}}\n'
        f"request-id: {uuid(rng)}\nX-Request-Id: {uuid(rng)}\nsession={uuid(rng)}\n"
        f"toolu_01{chars(rng, ALNUM, 22)} msg_01{chars(rng, ALNUM, 22)}\n"
    )


def _image(rng: Random) -> str:
    pixels = zlib.compress(rng.randbytes(rng.randint(500, 3_000)))
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + pixels).decode()
    return rng.choice(
        (f"data:image/png;base64,{data}", f'{{"type": "base64", "media_type": "image/png", "data": "{data}"}}')
    )


def _package_lock(rng: Random) -> str:
    name, version = rng.choice(_PACKAGES), _version(rng)
    url = f"https://registry.npmjs.org/{name}/-/{name.split('/')[-1]}-{version}.tgz"
    return (
        f'"node_modules/{name}": {{\n  "version": "{version}",\n  "resolved": "{url}",\n'
        f'  "integrity": "{_integrity(rng)}"\n}},\n'
    )


def _yarn_lock(rng: Random) -> str:
    name, version = rng.choice(_PACKAGES), _version(rng)
    url = f"https://registry.yarnpkg.com/{name}/-/{name}-{version}.tgz#{_sha(rng)}"
    return f'"{name}@^{version}":\n  version "{version}"\n  resolved "{url}"\n  integrity {_integrity(rng)}\n'


def _other_locks(rng: Random) -> str:
    name, version, digest = rng.choice(_PACKAGES), _version(rng), _sha(rng, "sha256")
    go = base64.b64encode(rng.randbytes(32)).decode()
    return (
        f'[[package]]\nname = "{name}"\nversion = "{version}"\nchecksum = "{digest}"\n'
        f'{{file = "{name}-{version}-py3-none-any.whl", hash = "sha256:{digest}"}},\n'
        f"github.com/a/{name} v{version} h1:{go}\n{name}=={version} --hash=sha256:{digest}\n"
        f"FROM node:20@sha256:{digest}\nsha256:{digest}: Pull complete\n"
    )


def _minified(rng: Random) -> str:
    pieces = []
    for _ in range(60):
        a, b, c = (chars(rng, string.ascii_letters, 1) for _ in range(3))
        word, other = rng.choice(_WORDS), rng.choice(_WORDS)
        pieces.append(
            rng.choice(
                (
                    f"function {a}({b},{c}){{return {b}.{word}==={c}.{other}?void 0:{b}}}",
                    f"{a}.{word}={b}.{other}||{c},",
                    f'case"{word}":return {a}({b},{{{word}:{c},{other}:!0,key:"{word}"}});',
                    f"var {a}={{{word}:{b},{other}:{c}.{word},type:{rng.randrange(99)}}};",
                    f"{a}={b}?{c}.{word}Token:{b}.{other}Key,",
                )
            )
        )
    return "!" + "".join(pieces) + f"\n//# sourceMappingURL=app.{chars(rng, HEX, 8)}.js.map\n"


def _hex_dump(rng: Random) -> str:
    lines = []
    for at in range(0, 160, 16):
        row = rng.randbytes(16)
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        pairs = " ".join(row[i : i + 2].hex() for i in range(0, 16, 2))
        lines.append(f"{at:08x}: {pairs}  {shown}")
    return "\n".join(lines) + "\n"


def _tests(rng: Random) -> str:
    lines = []
    for _ in range(12):
        words = "_".join(rng.choices(_WORDS, k=rng.randint(3, 7)))
        lines.append(
            rng.choice(
                (
                    f"tests/test_{rng.choice(_WORDS)}.py::test_{words} PASSED",
                    f"--- PASS: Test{words.title()} (0.0{rng.randrange(9)}s)",
                )
            )
        )
        lines.append(f"  ✓ {words.replace('_', ' ')} ({rng.randrange(90)} ms)")
    return "\n".join(lines) + "\n"


def _identifiers(rng: Random) -> str:
    lines = []
    for _ in range(12):
        first, second, third = rng.choices(_WORDS, k=3)
        lines += [
            f"from {first}.{second} import {third.title()}{first.title()}Provider as {second}_{third}_v2",
            f"{first}_{second} = get_{third}({first}, {second}_id={rng.randrange(10**6)})",
            f"def {first}_{second}({third}_key: str, {first}_token: str | None = None) -> {second.title()}Secret:",
            f"MAX_{first.upper()}_{second.upper()}_COUNT = {rng.randrange(10**5)}",
            f"const {first}Key = `{second}-${{{third}Id}}`; // {first} key of the {second}",
            f"https://example.com/{first}/{second}-{third}/{rng.randrange(10**9)}?page={rng.randrange(99)}&sort={first}",
            f"arn:aws:iam::{rng.randrange(10**12):012}:role/{first}-{second}-{third}",
            f"sk-learn-{first}-{second} risk-{second}-{third}-2024 task-{first}-{second}-{rng.randrange(10**4)}",
        ]
    return "\n".join(lines) + "\n"


def _placeholders(rng: Random) -> str:
    lines = []
    for _ in range(10):
        name, value = rng.choice(_WORDS).upper(), rng.choice(_PLACEHOLDERS)
        lines.append(
            rng.choice((
                f"{name}_TOKEN={value}", f'{name}_API_KEY="{value}"', f'"{name.lower()}Password": "{value}",',
                f"export {name}_SECRET={value}", f"Authorization: Bearer {value}", f"  password: {value}",
                f"postgres://user:{value}@localhost/db" if value.startswith(("$", "<", "*", "{")) else f"--token {value}",
            ))
        )  # fmt: skip
    return "\n".join(lines) + "\n"


def _public_keys(rng: Random) -> str:
    body = base64.b64encode(rng.randbytes(400)).decode()
    return (
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{base64_of(rng, 30)} dev@host\n"
        f"SHA256:{base64_of(rng, 32).rstrip('=')} dev@host (ED25519)\n"
        f"-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n"
        f"-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n"
        f"pk_live_{chars(rng, ALNUM, 24)} age1{chars(rng, string.ascii_lowercase + string.digits, 58)}\n"
        f"https://{chars(rng, HEX, 32)}@o{rng.randrange(10**6)}.ingest.sentry.io/{rng.randrange(10**7)}\n"
    )


def _logs(rng: Random) -> str:
    lines = []
    for _ in range(12):
        lines += [
            f"level=info msg=request id={chars(rng, HEX, 16)} trace_id={chars(rng, HEX, 32)} "
            f"span_id={chars(rng, HEX, 16)} tokens={rng.randrange(10**5)}",
            f'"usage": {{"input_tokens": {rng.randrange(10**6)}, '
            f'"cache_read_input_tokens": {rng.randrange(10**8)}, "output_tokens": {rng.randrange(10**4)}}}',
            f'ETag: "{chars(rng, HEX, 32)}"',
            f"cache key: node-modules-linux-{_sha(rng, 'sha256')}",
            f"key={rng.choice(_WORDS)}_{rng.randrange(10**6)} sort_key=created_{rng.randrange(2100)}",
            f"container {chars(rng, HEX, 12)} image sha256:{chars(rng, HEX, 12)} 0x{chars(rng, HEX, 12)}",
            f"password authentication failed for user {rng.choice(_WORDS)}{rng.randrange(9)}",
        ]
    return "\n".join(lines) + "\n"


def _markup(rng: Random) -> str:
    path = " ".join(f"{rng.choice('MLHVCQZ')}{rng.random() * 100:.3f} {rng.random() * 100:.3f}" for _ in range(40))
    mappings = "".join(rng.choice("ACEGIKMOQSUWYacegikmoqsuwy,;") for _ in range(200))
    return (
        f'<svg viewBox="0 0 24 24"><path d="{path}"/></svg>\n'
        f'<input type="password" name="password" autocomplete="current-password">\n'
        f'{{"version":3,"sources":["token.ts"],"mappings":"{mappings}"}}\n<label for="api-key">API key</label>\n'
        f'<script integrity="{_integrity(rng)}" src="/a.{chars(rng, HEX, 8)}.js"></script>\n'
    )


def _schemas(rng: Random) -> str:
    first, second = rng.choices(_WORDS, k=2)
    return (
        f'password: string;\napiKey?: string | undefined;\n"password": {{"type": "string", "minLength": 8}},\n'
        f"CREATE TABLE {first} (token varchar(255), password_hash text NOT NULL, {second}_key integer PRIMARY KEY);\n"
        f"password = Column(String(255))\nself.token = token\nsecret = secrets.token_hex(32)\nif password != confirm_password:\n"
        f'throw new Error("Invalid token: {first}");\ntoken = request.headers.get("X-{second.title()}-Token")\n'
        f"api_key = kwargs.pop('api_key', None)\ntype Token = {{ kind: TokenKind; text: string }};\nlet token = tokens.next()?;\n"
        f"Cookie: theme=dark; lang=de\nSet-Cookie: lang=en; Path=/\n"
        f"cookies = {{'{first}': '{second}'}}\nsession_id = str(uuid4())\n"
        f"curl -H 'Authorization: Bearer $TOKEN' https://api.example.com\n"
        f"curl -b cookies.txt -c cookies.txt https://example.com\n"
    )


LOOKALIKES: dict[str, Callable[[Random], str]] = {
    "git objects": _git,
    "uuids and ids of sessions": _uuids,
    "base64 images": _image,
    "package-lock.json": _package_lock,
    "yarn.lock": _yarn_lock,
    "cargo, uv, go and image digests": _other_locks,
    "minified scripts": _minified,
    "hex dumps": _hex_dump,
    "names of tests": _tests,
    "long identifiers": _identifiers,
    "placeholders": _placeholders,
    "public keys and certificates": _public_keys,
    "logs and counts of tokens": _logs,
    "markup and source maps": _markup,
    "code and schemas about secrets": _schemas,
}


def negatives(seed: int, per_kind: int) -> Iterator[tuple[str, str]]:
    """(kind, text) of each kind of text that looks like a secret and holds none."""
    rng = Random(seed)
    for kind, make in LOOKALIKES.items():
        for _ in range(per_kind):
            yield kind, make(rng)
