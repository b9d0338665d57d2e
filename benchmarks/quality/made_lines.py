"""Secrets that their place gives away: headers, connection strings, files of credentials; one list to look at, one held back."""

from __future__ import annotations

import base64
import string
from collections.abc import Callable
from random import Random

from benchmarks.quality.made_secrets import (
    ALNUM,
    DER,
    HEX,
    URL_SAFE,
    Core,
    Shape,
    base64_of,
    chars,
    jwt,
    password,
    pem,
    pgp,
    uuid,
)


def _line(kind: str, name: str, before: str, make: Callable[[Random], str], after: str = "") -> Shape:
    return Shape(kind, name, lambda rng: Core(before, make(rng), after))


def _no_sign(rng: Random) -> str:
    return chars(rng, ALNUM, rng.randint(8, 20))


def _basic(rng: Random) -> str:
    return base64.b64encode(f"deploy:{password(rng)}".encode()).decode()


def _kube_key(rng: Random) -> str:
    return base64.b64encode(pem(rng, "RSA PRIVATE KEY").encode()).decode()


def _service_account(rng: Random) -> Core:
    key = pem(rng, "PRIVATE KEY").replace("\n", "\\n") + "\\n"
    before = '{"type": "service_account", "project_id": "shop-prod", "private_key": "'
    return Core(before, key, '", "client_email": "ci@shop-prod.iam.gserviceaccount.com"}')


LINES_SEEN = (
    *(_line("private-key", label, "", lambda r, label=label: pem(r, label)) for label in DER),  # type: ignore[misc]
    _line("database-url", "postgres", "postgresql://app:", _no_sign, "@db.internal:5432/app"),
    _line("database-url", "mongodb", "mongodb+srv://svc:", _no_sign, "@cluster0.ab1cd.mongodb.net/?retryWrites=true"),
    _line("database-url", "redis", "redis://:", _no_sign, "@cache:6379/0"),
    _line("password", "ado.net", "Server=tcp:db.example.net,1433;User ID=sa;Password=", password, ";Encrypt=True;"),
    _line("password", "libpq", "host=db.internal port=5432 user=app password=", password, " dbname=app"),
    _line("url-credentials", "https clone", "https://bot:", _no_sign, "@git.example.com/team/app.git"),
    _line("url-credentials", "registry", "https://ci:", _no_sign, "@registry.example.com/v2/"),
    _line("bearer-token", "header", "Authorization: Bearer ", lambda r: chars(r, URL_SAFE, 43) + "a"),
    _line("bearer-token|jwt", "header, jwt", "authorization: Bearer ", jwt),
    _line("basic-auth", "header", "Authorization: Basic ", _basic),
    _line("basic-auth", "curl -u", "curl -sS -u deploy:", _no_sign, " https://ci.example.com/api/json"),
    _line("bearer-token", "header, token", "Authorization: token ", lambda r: chars(r, HEX, 40)),
    _line("api-key", "x-api-key", "X-Api-Key: ", lambda r: chars(r, ALNUM, 40)),
    _line(
        "cookie",
        "request",
        "Cookie: theme=dark; sessionid=",
        lambda r: chars(r, string.ascii_lowercase + string.digits, 32),
    ),
    _line(
        "cookie",
        "response",
        "Set-Cookie: session=",
        lambda r: chars(r, URL_SAFE, 60) + "a",
        "; Path=/; HttpOnly; SameSite=Lax",
    ),
    _line("session-id|cookie", "php", "PHPSESSID=", lambda r: chars(r, string.ascii_lowercase + string.digits, 26)),
    _line("session-id|cookie", "java", "JSESSIONID=", lambda r: chars(r, HEX.upper(), 32)),
    _line("private-key|api-key", "kubeconfig, client key", "    client-key-data: ", _kube_key),
    _line("token|jwt|bearer-token", "kubeconfig, token", "    token: ", jwt),
    _line("registry-auth", "docker config", '{"auths": {"ghcr.io": {"auth": "', _basic, '"}}}'),
    Shape("private-key", "service account", _service_account),
    _line("token", "npmrc", "//registry.npmjs.org/:_authToken=", uuid),
    _line("password", "netrc", "machine api.heroku.com login me@example.com password ", lambda r: chars(r, HEX, 36)),
    _line(
        "azure-key",
        "storage",
        "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=",
        lambda r: base64_of(r, 64),
        ";EndpointSuffix=core.windows.net",
    ),
    _line(
        "azure-key",
        "signed URL",
        "https://shop.blob.core.windows.net/c/a.zip?sv=2022-11-02&sp=r&sig=",
        lambda r: chars(r, ALNUM, 43) + "%3D",
    ),
    _line("password", "mysql -p", "mysql -u root -p", _no_sign, " shop < dump.sql"),
    _line("password", "sshpass", "sshpass -p ", _no_sign, " ssh deploy@10.0.0.4"),
    _line(
        "otp-secret|secret",
        "otpauth",
        "otpauth://totp/Shop:me@example.com?secret=",
        lambda r: chars(r, string.ascii_uppercase + "234567", 32),
        "&issuer=Shop",
    ),
    _line(
        "wireguard-key|api-key",
        "wireguard",
        "[Interface]\nPrivateKey = ",
        lambda r: base64_of(r, 32),
        "\nAddress = 10.8.0.2/24",
    ),
)
LINES_HELD_BACK = (
    *(_line("private-key", label, "", lambda r, label=label: pem(r, label)) for label in DER),  # type: ignore[misc]
    _line("private-key", "OpenPGP with CRC-24", "", pgp),
    _line("database-url", "mysql", "mysql+pymysql://shop:", _no_sign, "@10.2.0.7:3306/shop?charset=utf8mb4"),
    _line("database-url", "amqp", "amqps://worker:", _no_sign, "@mq.example.com/prod"),
    _line("database-url", "clickhouse", "clickhouse://default:", _no_sign, "@ch:9000/logs"),
    _line("password", "odbc", "Driver={ODBC Driver 18};Server=db;UID=sa;PWD=", password, ";"),
    _line("password", "jdbc", "jdbc:postgresql://db:5432/app?user=app&password=", _no_sign, "&ssl=true"),
    _line("url-credentials", "proxy", "http://proxyuser:", _no_sign, "@proxy.corp.example:3128"),
    _line("url-credentials", "pip index", "https://__token__:", _no_sign, "@pypi.corp.example/simple"),
    _line("bearer-token", "python dict", "{'Authorization': 'Bearer ", lambda r: chars(r, URL_SAFE, 51) + "a", "'}"),
    _line("bearer-token|jwt", "fetch", '"Authorization": `Bearer ', jwt, "`,"),
    _line("basic-auth", "json header", '"authorization": "Basic ', _basic, '"'),
    _line("basic-auth", "proxy header", "Proxy-Authorization: Basic ", _basic),
    _line("basic-auth", "curl --user", "curl --fail --user 'ci:", _no_sign, "' https://nexus.example.com/repository/"),
    _line("bearer-token|token", "http header, token", "> authorization: token ", lambda r: chars(r, HEX, 40)),
    _line("token", "private-token", "PRIVATE-TOKEN: ", lambda r: chars(r, URL_SAFE, 20) + "a"),
    _line("cookie", "curl -b", "curl -b 'sid=", lambda r: chars(r, ALNUM, 40), "' https://app.example.com/me"),
    _line(
        "cookie",
        "json header",
        '"cookie": "_ga=GA1.2.1; connect.sid=s%3A',
        lambda r: chars(r, URL_SAFE, 32) + ".b" + chars(r, ALNUM, 42),
        '"',
    ),
    _line(
        "cookie", "http/2 response", "< set-cookie: __Host-session=", lambda r: chars(r, ALNUM, 48), "; Secure; Path=/"
    ),
    _line(
        "session-id|cookie",
        "asp.net",
        "ASP.NET_SessionId=",
        lambda r: chars(r, string.ascii_lowercase + string.digits, 24),
    ),
    _line("session-id|cookie", "laravel", "laravel_session=", lambda r: "eyJpdiI6" + chars(r, ALNUM, 120)),
    _line("private-key", "secret manifest, tls.key", "  tls.key: ", _kube_key),
    _line(
        "registry-auth",
        "pull secret",
        '{"auths":{"https://index.docker.io/v1/":{"username":"ci","auth":"',
        _basic,
        '"}}}',
    ),
    Shape("private-key", "service account", _service_account),
    _line("token", "yarnrc", 'npmAuthToken: "', lambda r: chars(r, HEX, 40), '"'),
    _line(
        "password", "netrc, lines", "machine git.example.com\n  login ci\n  password ", lambda r: chars(r, ALNUM, 20)
    ),
    _line(
        "azure-key",
        "service bus",
        "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=",
        lambda r: base64_of(r, 32),
    ),
    _line("password", "mysqldump -p", "mysqldump -h db -u shop -p'", _no_sign, "' shop"),
    _line("password", "docker login", "docker login -u ci -p ", _no_sign, " registry.example.com"),
    _line("password", "redis-cli", "redis-cli -h cache -a ", _no_sign, " ping"),
    _line("password", "pgpass", "db.internal:5432:app:deploy:", _no_sign),
    _line(
        "otp-secret|secret",
        "otpauth, hotp",
        "otpauth://hotp/me?counter=0&secret=",
        lambda r: chars(r, string.ascii_uppercase + "234567", 32),
    ),
    _line(
        "wireguard-key|api-key",
        "wireguard, peer",
        "PresharedKey = ",
        lambda r: base64_of(r, 32),
        "\nAllowedIPs = 0.0.0.0/0",
    ),
)
