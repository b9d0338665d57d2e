"""Typed things that a sentence is about: paths, numbers with units, commits, issues, hosts, versions, symbols …

The text is cut into runs at blanks, quotes, brackets, ``=``, ``,``, ``;`` and ``|``; each distinct run is classified once and
remembered, and only units, "PR 12", "port 80" and "commit abc" look at a neighbour. Linear in the length of the text.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple


class AnchorKind(StrEnum):
    """What sort of thing an anchor names."""

    PATH = "path"
    NUMBER = "number"
    COMMIT = "commit"
    ISSUE = "issue"
    HOST = "host"
    PORT = "port"
    VERSION = "version"
    SYMBOL = "symbol"
    """A code identifier: snake_case, camelCase, dotted or with ``()``, and whatever stands in back-ticks as one word."""
    ENV = "env"
    URL = "url"
    FLAG = "flag"
    """A command-line option such as ``--no-verify``."""


class Anchor(NamedTuple):
    """One anchor and where it stands."""

    kind: AnchorKind
    value: str
    """As written, without back-ticks or surrounding punctuation; numbers keep their unit (``30 s``, ``5.75 MB``)."""
    start: int
    """Character offset into the text, half-open with ``end``."""
    end: int


_RUN = re.compile(
    r"(?:(?:(?!(?<=commit )[a-f]{7})[A-Za-zÀ-ÿ][a-zà-ÿ]*+(?:-[a-zà-ÿ]++)*+)?+"
    r"[.:!?*]{0,3}+(?:[\s,;\")\[\]{}]|\((?!\)))|[`'<>|=“”«»„…—–→•·×≥≤≈±])*+"
    r"([^\s`\"'()\[\]{}<>,;|=“”«»„…—–→•·×≥≤≈±]++|\Z)"
)
"""Steps over plain words that end at a blank, then takes one run. It matches wherever it is tried, so nothing is read twice."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,15}$")
_URL_REST = re.compile(r"[^\s<>\"'`|\\“”«»]+")
_MAX_RUN = 256
"""A longer run is data (base64, minified code), not something a sentence is about."""

_Part = tuple[AnchorKind, int, int]


def anchors(text: str) -> list[Anchor]:
    """The anchors of ``text`` in order, not overlapping; the most specific kind wins."""
    found: list[Anchor] = []
    position = 0
    if "://" in text:
        for url in _urls(text):
            _scan(text, position, url.start, found)
            found.append(url)
            position = url.end
    _scan(text, position, len(text), found)
    return found


def _urls(text: str) -> list[Anchor]:
    found: list[Anchor] = []
    done = 0
    at = text.find("://")
    while at >= 0:
        scheme = _SCHEME.search(text, max(done, at - 16), at)
        rest = (
            _URL_REST.match(text, at + 3) if scheme else None
        )  # without a scheme nothing is read, or "://://" were quadratic
        if scheme and rest:
            end = _trimmed_url_end(text, scheme.start(), rest.end())
            if end > at + 3:
                found.append(Anchor(AnchorKind.URL, text[scheme.start() : end], scheme.start(), end))
            done = max(rest.end(), at + 3)
        at = text.find("://", max(done, at + 3))
    return found


def _trimmed_url_end(text: str, start: int, end: int) -> int:
    """Without the sentence's punctuation; a closing bracket stays where the URL opened it."""
    opened = text.count("(", start, end) - text.count(")", start, end)
    while end > start:
        last = text[end - 1]
        if last == ")" and opened < 0:
            opened += 1
        elif last not in ".,;:!?*_~]}":
            break
        end -= 1
    return end


def _scan(text: str, start: int, stop: int, found: list[Anchor]) -> None:
    """Append the anchors between two URLs."""
    done = start
    for run in _RUN.finditer(text, start, stop):
        begin, end = run.span(1)
        if begin < done or begin == end:
            continue
        word = run[1]
        parts = _classified(word) if end - begin <= _MAX_RUN else ()
        following = text[end : end + 1]
        if parts:
            if parts[0][0] in _CONTEXTUAL:
                done = _in_context(text, begin, stop, parts, found)
            else:
                found.extend([Anchor(kind, word[a:b], begin + a, begin + b) for kind, a, b in parts])
                done = end
            if (
                following == "("
                and text.startswith("()", end)
                and found[-1].end == end
                and found[-1].kind is AnchorKind.SYMBOL
            ):
                last = found.pop()
                found.append(Anchor(last.kind, last.value + "()", last.start, end + 2))
        elif text.startswith("commit ", begin - 7) and begin >= 7 and (digest := _HEX_HEAD.match(word)):
            found.append(Anchor(AnchorKind.COMMIT, digest[0], begin, begin + digest.end()))
        elif following and following in "`(":
            _called_or_ticked(text, begin, end, found)


_ISSUE_CUES = frozenset(("PR", "pr", "PRs", "issue", "Issue", "pull", "MR", "ticket", "Ticket", "bug"))
_PORT_CUES = frozenset(("port", "Port", "ports", "PORT"))
_HASH_CUES = frozenset(("commit", "Commit", "commits", "sha", "SHA", "revision", "hash"))
_VERSION_CUES = frozenset(
    "version Version versions v python Python py node Node Node.js Go go golang ruby Ruby php PHP java Java rust Rust "
    "postgres Postgres PostgreSQL postgresql mysql MySQL redis Redis ubuntu Ubuntu debian Debian macOS iOS django "
    "Django react React release Release kubernetes Kubernetes sqlite SQLite clang gcc npm pip swift Swift kotlin "
    "Kotlin TypeScript terraform".split()
)
_CONTEXTUAL = frozenset((AnchorKind.NUMBER, AnchorKind.COMMIT))
_HEX_HEAD = re.compile(r"[0-9a-f]{7,40}(?![\w-])")
_HEX = re.compile(r"[0-9a-f]{7,40}$")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$.:]{0,80}$")


def _called_or_ticked(text: str, begin: int, end: int, found: list[Anchor]) -> None:
    """A plain word is an anchor when ``()`` follows it or when it stands alone in back-ticks."""
    if end - begin > _MAX_RUN:
        return
    word = text[begin:end]
    if text.startswith("()", end):
        if _IDENTIFIER.match(word):
            found.append(Anchor(AnchorKind.SYMBOL, word + "()", begin, end + 2))
    elif text[end] == "`" and begin and text[begin - 1] == "`" and any(letter.isalnum() for letter in word):
        kind = (
            AnchorKind.PATH
            if "/" in word.strip("/")
            else AnchorKind.FLAG
            if _SHORT_FLAG.match(word)
            else AnchorKind.SYMBOL
        )
        found.append(Anchor(kind, word, begin, end))


_SHORT_FLAG = re.compile(r"-[A-Za-z][\w-]*$")
_TIME_UNITS = (
    "ms|µs|μs|us|ns|s|secs?|seconds?|mins?|minutes?"
    "|h|hrs?|hours?|days?|weeks?|months?|years?|secondes?|heures?|jours?|semaines?|mois|ans"
)
_SIZE_UNITS = "[kKMGTP]i?[Bb](?:/s|ps)?|[kMGT]o|bytes?|octets?|bits?|[kMG]?Hz|px|rps|qps|fps|req/s|percent|dB|°C"
_NUMBER = re.compile(
    r"[+\-~]?[$€£]?(?:\d{1,3}(?:,\d{3}){1,8}(?!\d)|\d[\d_]{0,60})(?:\.\d{1,30})?(?:[eE][+-]?\d{1,4})?"
    rf"(?:\s?(?:%|(?:{_TIME_UNITS}|{_SIZE_UNITS})(?![\w-]))|(?:[kKMBx]|MB|m|d|w)(?![\w]))?"
)


def _in_context(text: str, begin: int, stop: int, parts: tuple[_Part, ...], found: list[Anchor]) -> int:
    """A number takes its unit, or the kind that the word before it gives; returns where reading goes on.

    Neither neighbour may be part of another anchor: the word before begins behind the last one, and at ``stop`` a URL begins.
    """
    free = found[-1].end if found else 0
    kind, a, b = parts[0]
    value = text[begin + a : begin + b]
    if value[0].isalnum() and (cue := _word_before(text, free, begin)):
        previous, previous_start = cue
        if previous in _ISSUE_CUES and value.isdigit():
            found.append(Anchor(AnchorKind.ISSUE, text[previous_start : begin + b], previous_start, begin + b))
            return begin + b
        named = _named(previous, value)
        if named is not None:
            found.append(Anchor(named, value, begin + a, begin + b))
            return begin + b
    done = begin
    for kind, a, b in parts:
        start, end = begin + a, begin + b
        if start < done:
            continue
        if (
            kind is AnchorKind.NUMBER
            and b == parts[-1][2]
            and (number := _NUMBER.match(text, start, stop))
            and number.end() >= end
        ):
            end = number.end()
        start += text[start] == "~"
        found.append(Anchor(kind, text[start:end], start, end))
        done = end
    return done


_BEFORE = re.compile(r"[A-Za-z.]{1,12}[ `]{1,2}$")


def _word_before(text: str, free: int, begin: int) -> tuple[str, int] | None:
    before = _BEFORE.search(text, max(free, begin - 14), begin)
    return (before[0].rstrip(" `"), before.start()) if before else None


def _named(previous: str, value: str) -> AnchorKind | None:
    if previous in _PORT_CUES and value.isdigit() and len(value) <= 5:
        return AnchorKind.PORT
    if previous in _HASH_CUES and _HEX.match(value):
        return AnchorKind.COMMIT
    if (
        previous in _VERSION_CUES
        and value.replace(".", "").isdigit()
        and (value.count(".") or previous.lower() in ("version", "v"))
    ):
        return AnchorKind.VERSION
    return None


_NOTHING = re.compile(r"(?:[^\W\d_][^\W\d_A-Z]*(?:[-/][^\W\d_A-Z]+)?)?[.:!?*_~]*$")
"""A plain word: one capital at most, and that in front, with one hyphen or slash at most."""
_EMPHASIS = re.compile(r"([*_~]{1,3})(.+?)\1[.:!?]*$")


@lru_cache(maxsize=1 << 16)
def _classified(run: str) -> tuple[_Part, ...]:
    """The anchors inside one run, as kind and range; the neighbours may still change a number."""
    if _NOTHING.match(run):
        return ()
    start, end = _bare(run)
    core = run[start:end]
    if not core:
        return ()
    return tuple((kind, a + start, b + start) for kind, a, b in _classify(core))


def _bare(run: str) -> tuple[int, int]:
    """The range of a run without emphasis and the sentence's punctuation."""
    start, end = 0, len(run)
    while end and run[end - 1] in ".:!?*~":
        end -= 1
    if end and run[start] == "*":
        start = len(run) - len(run.lstrip("*"))
    while start < end and run[start] in ":!?^" and not run[start + 1 : start + 2].isdigit():
        start += 1
    if end - start > 2 and run[start] == "_" and run[end - 1] == "_" and not _DUNDER.match(run, start, end):
        start, end = start + 1, end - 1
        while start < end and run[start] == "_" == run[end - 1]:
            start, end = start + 1, end - 1
    if (
        start < end
        and run[start] == "~"
        and run[start + 1 : start + 2] not in ("/", "")
        and not run[start + 1].isdigit()
    ):
        start += len(run[start:]) - len(run[start:].lstrip("~"))
    return min(start, end), end


_DUNDER = re.compile(r"__[a-z]\w*__$")
_SHAPES: tuple[tuple[re.Pattern[str], AnchorKind], ...] = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"\$[A-Za-z_]\w*$", AnchorKind.ENV),
        (r"--[A-Za-z][\w-]*$", AnchorKind.FLAG),
        (r"-[A-Za-z]$", AnchorKind.FLAG),
        (r"#\d{1,7}$", AnchorKind.ISSUE),
        (r"[\w.-]+/[\w.-]+#\d{1,7}$", AnchorKind.ISSUE),
        (r"[\w.-]+#\d{1,7}$", AnchorKind.ISSUE),
        (r"(?!(?:UTF|SHA|ISO|RFC|AES|HTTP|MD|EC|P|GPT|ED|CVE|BLAKE)-)[A-Z][A-Z0-9]{1,9}-\d{1,6}$", AnchorKind.ISSUE),
        (r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}$", AnchorKind.COMMIT),
        (r"v\d{1,5}(?:\.\d{1,6}){0,3}(?:[-+][0-9A-Za-z.-]+)?$", AnchorKind.VERSION),
        (r"[~^]?\d{1,5}\.\d{1,6}\.\d{1,6}(?:[-+][0-9A-Za-z][0-9A-Za-z.-]*)?$", AnchorKind.VERSION),
        (r"\d{1,5}\.\d{1,5}\.x$|\d{1,5}\.x$", AnchorKind.VERSION),
        (r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$", AnchorKind.ENV),
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", AnchorKind.SYMBOL),
        (r"[A-Za-z]:\\.+$", AnchorKind.PATH),
        (r"@[a-z0-9][\w.-]*/[\w.-]+$", AnchorKind.SYMBOL),
        (r"\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?$|\d{1,2}:\d{2}(?::\d{2})?$|0x[0-9a-fA-F]+$", AnchorKind.NUMBER),
        (r"_{0,2}[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+_{0,2}$|_{1,2}[A-Za-z]\w*$", AnchorKind.SYMBOL),
        (
            r"[a-z]+[A-Z][A-Za-z0-9]*$|[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*$|[A-Z]{2,}[a-z]+[A-Z][A-Za-z0-9]*$",
            AnchorKind.SYMBOL,
        ),
        (r"[A-Z]{1,5}\d{1,5}$|[a-z]\d{1,3}[a-z]\d?$", AnchorKind.SYMBOL),
    )
)
_ADDRESS = re.compile(r"(\d{1,3}(?:\.\d{1,3}){3})(?::(\d{1,5}))?(?:/\d{1,2})?$")
_AT = re.compile(r"([\w.+-]+@)([A-Za-z0-9][A-Za-z0-9.-]*)(?::.*)?$")
_HOST_PORT = re.compile(r"([A-Za-z0-9][A-Za-z0-9.-]*):(\d{2,5})$")
_BARE_PORT = re.compile(r":(\d{2,5})$")
_LINE = re.compile(r"(?::\d+){0,2}(?:-\d+)?$")
_RANGE = re.compile(r"[A-Z]?\d[\d_.]{0,30}%?")


def _classify(core: str) -> list[_Part]:
    for shape, kind in _SHAPES:
        if shape.match(core):
            return [(kind, 0, len(core))]
    if "0" <= core.lstrip("+-~$€£")[:1] <= "9":
        return _numeric(core)
    if address := _AT.match(core):
        return _at(core, address)
    if port := _BARE_PORT.match(core):
        return [(AnchorKind.PORT, port.start(1), port.end(1))]
    if "/" in core or "\\" in core:
        return [(AnchorKind.PATH, 0, len(core))] if _is_path(core) else []
    if ("." in core or core in _FILES or core.startswith("localhost")) and (dotted := _dotted(core)):
        return dotted
    if "::" in core and _IDENTIFIER.match(core):
        return [(AnchorKind.SYMBOL, 0, len(core))]
    return _pairs(core)


def _numeric(core: str) -> list[_Part]:
    """What begins with a digit: an address, a number, or the numbers of a range or a ratio."""
    if address := _ADDRESS.match(core):
        host: list[_Part] = [(AnchorKind.HOST, *address.span(1))]
        return [*host, (AnchorKind.PORT, *address.span(2))] if address[2] else host
    if "/" in core and _is_path(core):
        return [(AnchorKind.PATH, 0, len(core))]
    number = _NUMBER.match(core)
    if number and number.end() == len(core):
        return [(AnchorKind.NUMBER, 0, len(core))]
    if _EXTENSION.search(core):
        return [(AnchorKind.PATH, 0, len(core))]
    if re.fullmatch(r"[\d./:%xX+-]+", core):
        return [(AnchorKind.NUMBER, *piece.span()) for piece in _RANGE.finditer(core)]
    return [(AnchorKind.NUMBER, 0, number.end())] if number and core[number.end()] in "-/:+*" else []


def _at(core: str, address: re.Match[str]) -> list[_Part]:
    name, host = address[1], address[2]
    if host[0].isdigit() and not _ADDRESS.match(host):
        return [(AnchorKind.SYMBOL, 0, len(name) - 1), (AnchorKind.VERSION, len(name), address.end(2))]
    return [(AnchorKind.HOST, 0, address.end(2))]


_EXTENSIONS = (
    "py pyi ipynb js jsx ts tsx mjs cjs go rs rb java kt kts swift c h cc cpp hpp cs php pl lua sh bash zsh fish ps1 "
    "bat sql r jl ex exs erl hs ml scala clj dart vue svelte html htm css scss sass less json jsonl json5 yaml yml "
    "toml ini cfg conf env xml csv tsv md mdx rst txt log lock sum mod tmpl tpl j2 proto graphql tf tfvars patch diff "
    "png jpg jpeg gif svg webp ico pdf zip tar gz tgz zst bz2 xz whl deb rpm exe dll so dylib a o wasm bin db sqlite "
    "sqlite3 parquet pem key crt pub gitignore dockerignore editorconfig traj xlsx docx pptx"
)
_EXTENSION = re.compile(rf"\.(?:{'|'.join(_EXTENSIONS.split())})(?::\d+){{0,2}}(?:-\d+)?$")
_FILES = frozenset("Makefile Dockerfile CODEOWNERS Gemfile Procfile Vagrantfile Jenkinsfile Rakefile Justfile".split())
_FOLDERS = frozenset(
    "src lib libs test tests docs doc cmd pkg internal app apps api bin usr etc home var tmp opt dev proc node_modules "
    "packages crates scripts tools examples config configs build dist target vendor assets static public templates "
    "migrations components hooks utils refs heads origin feature feat bugfix fix chore release hotfix main master "
    "models views server client core web".split()
)
_TOP_LEVEL = frozenset(
    "com org net io dev local lan internal app ai co uk fr de eu ch nl us edu gov info cloud invalid test example "
    "localhost home tech me".split()
)
_DNS = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)+$")
_DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$-]*)+$")
_DOTFILE = re.compile(r"\.[a-z][\w-]*(?:\.[\w-]+)*$")
_PROSE_DOTS = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]$|p\.ex$|etc\..*$")


def _is_path(core: str) -> bool:
    bare = _LINE.sub("", core)
    if core.startswith(("/", "./", "../", "~/", ".\\", "..\\", "**/")):
        return any(letter.isalnum() for letter in core) and (core[0] != "/" or len(core) > 2)
    if core.replace("/", "").replace(".", "").replace("%", "").isdigit():
        return False
    if _EXTENSION.search(bare):
        return True
    segments = bare.replace("\\", "/").split("/")
    plain = all(segment.isalpha() or not segment for segment in segments)
    if not plain:
        return all(_SEGMENT.match(segment) for segment in segments if segment) and any(
            s[:1].isalpha() or s[:1] in "._" for s in segments
        )
    return len([s for s in segments if s]) >= 1 and any(segment in _FOLDERS for segment in segments) and bare.islower()


_SEGMENT = re.compile(r"[\w.@+*:~%-]+$")


def _dotted(core: str) -> list[_Part]:
    """Something with a dot: a file, a host (and its port), or a dotted name."""
    whole = len(core)
    bare = _LINE.sub("", core)
    if core in _FILES or _EXTENSION.search(core) or (_DOTFILE.match(core) and whole > 2):
        return [(AnchorKind.PATH, 0, whole)]
    if (host := _HOST_PORT.match(core)) and ("." in host[1] or host[1] == "localhost"):
        return [(AnchorKind.HOST, *host.span(1)), (AnchorKind.PORT, *host.span(2))]
    if core == "localhost" or (_DNS.match(core) and core.rsplit(".", 1)[1] in _TOP_LEVEL):
        return [(AnchorKind.HOST, 0, whole)]
    if _DOTTED.match(bare) and not _PROSE_DOTS.match(bare):
        return [(AnchorKind.SYMBOL, 0, len(bare))]
    return []


def _pairs(core: str) -> list[_Part]:
    """``key:value`` and ``name+name``: the parts are classified apart."""
    found: list[_Part] = []
    if ":" in core or "+" in core or "&" in core:
        for piece in re.finditer(r"[^:+&]+", core):
            if piece[0] != core:
                found.extend((kind, a + piece.start(), b + piece.start()) for kind, a, b in _classified(piece[0]))
    return found
