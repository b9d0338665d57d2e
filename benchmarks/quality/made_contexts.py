"""Where agents' sessions have secrets: forms of naming one, and texts around it; one list to look at and one held back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from benchmarks.quality.made_lines import LINES_HELD_BACK, LINES_SEEN
from benchmarks.quality.made_secrets import NAMED, TOKENS, Core, Named, Shape


class Positive(NamedTuple):
    """One text with one secret in it."""

    kind: str
    shape: str
    context: str
    lead: str
    """What stands before the place of the secret and must be there afterwards."""
    text: str
    tail: str
    secret: str
    """As it stands in the text."""


class Around(NamedTuple):
    """A text around a core."""

    name: str
    lead: str
    tail: str
    written: Callable[[str], str] = str
    """How the core is written in it."""


def _json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _twice(text: str) -> str:
    return _json(_json(text))


def _each_line(prefix: str) -> Callable[[str], str]:
    return lambda text: text.replace("\n", "\n" + prefix)


def _numbered(text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"{n:6}→{line}" for n, line in enumerate(rest, 13))])


AROUND_SEEN = (
    Around("alone", "", ""),
    Around("shell output", "$ cat config\n# settings\n", "\n$ echo done\ndone\n"),
    Around("env dump", "HOME=/root\nLANG=C.UTF-8\n", "\nSHLVL=1\nPATH=/usr/bin:/bin\n"),
    Around("json", '{"type": "tool_result", "content": "line one\\n', '\\nline two", "is_error": false}', _json),
    Around("diff", "@@ -1,3 +1,4 @@\n import os\n-old = 1\n+", "\n print(old)\n", _each_line("+")),
    Around("numbered lines", "    11→import os\n    12→", "\n    99→print(1)\n", _numbered),
    Around("markdown", "I found this in the file:\n\n```\n", "\n```\n\nIt should be rotated."),
    Around("heredoc", "cat > .env <<'EOF'\nDEBUG=1\n", "\nEOF\nls -la\n"),
)
AROUND_HELD_BACK = (
    Around("sentence", "Please use ", "\nfor the next run, then delete it."),
    Around("json in json", '{"payload":"{\\"out\\":\\"first\\\\n', '\\\\nlast\\",\\"code\\":0}"}', _twice),
    Around(
        "grep output", "config/prod.env:12:", "\nconfig/prod.env:13:DEBUG=false\n", _each_line("config/prod.env:13:")
    ),
    Around("traced shell", "+ set -e\n+ ", "\n+ exit 0\n", _each_line("+ ")),
    Around(
        "traceback",
        'Traceback (most recent call last):\n  File "app.py", line 3, in <module>\n    ',
        "\nValueError: bad value\n",
        _each_line("    "),
    ),
    Around("log line", "2026-03-04T05:06:07Z INFO boot config=", "\n2026-03-04T05:06:08Z INFO ready\n"),
    Around("removed in a diff", "--- a/x\n+++ b/x\n-", "\n+nothing here\n", _each_line("-")),
    Around("colours", "\x1b[32mok\x1b[0m \x1b[1m", "\x1b[0m\n"),
    Around("windows lines", "first\r\n", "\r\nlast\r\n", lambda text: text.replace("\n", "\r\n")),
    Around("yaml block", "script:\n  - |\n    ", "\n    true\n", _each_line("    ")),
)
_TOKEN_FORMS_SEEN = (
    ("", ""), ('"', '"'), ("value: ", ""), ("?k=", "&page=2"), ('{"value": "', '"}'),
    ("export THING=", ""), ("login(", ")"), ("'", "',"),
)  # fmt: skip
_TOKEN_FORMS_HELD_BACK = (
    ("`", "`"), ("x = '", "'  # temporary"), ("<value>", "</value>"), ("cmd --with ", " --verbose"), ("| prod | ", " |"),
    ("['a', '", "', 'b']"), ("$env:THING = \"", '"'), ("curl -H 'X-Thing: ", "' https://api.example.com/v1"),
)  # fmt: skip


def _camel(name: str) -> str:
    first, *rest = name.lower().split("_")
    return first + "".join(word.capitalize() for word in rest)


NamedForm = tuple[str, Callable[[str, str], Core]]
_NAMED_SEEN: tuple[NamedForm, ...] = (
    ("env", lambda name, value: Core(f"{name.upper()}=", value)),
    ("export", lambda name, value: Core(f'export {name.upper()}="', value, '"')),
    ("json", lambda name, value: Core(f'"{name.lower()}": "', value, '",')),
    ("yaml", lambda name, value: Core(f"{name.lower()}: ", value)),
    ("python", lambda name, value: Core(f'{name.lower()} = "', value, '"')),
    ("option", lambda name, value: Core(f"tool --{name.lower().replace('_', '-')} ", value, " --verbose")),
    ("single quotes", lambda name, value: Core(f"{name.upper()}='", value, "'")),
    ("call", lambda name, value: Core(f'connect({name.lower()}="', value, '", timeout=3)')),
)
_NAMED_HELD_BACK: tuple[NamedForm, ...] = (
    ("docker -e", lambda name, value: Core(f"docker run -e {name.upper()}=", value, " app:latest")),
    ("dockerfile", lambda name, value: Core(f"ENV {name.upper()}=", value)),
    ("systemd", lambda name, value: Core(f'Environment="{name.upper()}=', value, '"')),
    ("powershell", lambda name, value: Core(f'$env:{name.upper()} = "', value, '"')),
    ("javascript", lambda name, value: Core(f"  {_camel(name)}: '", value, "',")),
    ("python dict", lambda name, value: Core(f"{{'{name.lower()}': '", value, "', 'port': 5432}")),
    ("environ", lambda name, value: Core(f'os.environ["{name.upper()}"] = "', value, '"')),
    ("properties", lambda name, value: Core(f"app.{name.lower().replace('_', '.')}=", value)),
    ("fish", lambda name, value: Core(f"set -gx {name.upper()} ", value)),
    ("terraform", lambda name, value: Core(f'  {name.lower()} = "', value, '"')),
    ("option with =", lambda name, value: Core(f"tool --{name.lower().replace('_', '-')}=", value, " run")),
    ("go", lambda name, value: Core(f'\t{_camel(name)[:1].upper()}{_camel(name)[1:]}: "', value, '",')),
)


def _positive(kind: str, shape: str, core: Core, around: Around) -> Positive:
    before, secret, after = (around.written(part) for part in core)
    return Positive(
        kind, shape, around.name, around.lead, f"{around.lead}{before}{secret}{after}{around.tail}", around.tail, secret
    )


def positives(seed: int, per_shape: int, *, held_back: bool) -> Iterator[Positive]:
    """``per_shape`` texts of each shape, in one fixed order; the held-back half has other contexts, forms, names and lines."""
    arounds = AROUND_HELD_BACK if held_back else AROUND_SEEN
    forms = _TOKEN_FORMS_HELD_BACK if held_back else _TOKEN_FORMS_SEEN
    rng = Random(seed)
    for shape in TOKENS:
        for n in range(per_shape):
            before, after = rng.choice(forms)
            core = shape.make(rng)
            yield _positive(shape.kind, shape.name, Core(before, core.secret, after), _turn(arounds, n))
    for named in NAMED:
        yield from _named(rng, named, per_shape, arounds, held_back=held_back)
    lines: Sequence[Shape] = LINES_HELD_BACK if held_back else LINES_SEEN
    for shape in lines:
        for n in range(per_shape):
            yield _positive(shape.kind, shape.name, shape.make(rng), _turn(arounds, n))


def _named(rng: Random, named: Named, n_each: int, arounds: Sequence[Around], *, held_back: bool) -> Iterator[Positive]:
    names = named.held_back if held_back else named.names
    for form, written in _NAMED_HELD_BACK if held_back else _NAMED_SEEN:
        for n in range(n_each):
            core = written(rng.choice(names), named.make(rng))
            yield _positive(named.kind, f"{form}", core, _turn(arounds, n))


def _turn(arounds: Sequence[Around], n: int) -> Around:
    return arounds[n % len(arounds)]
