"""A sentence as the outcome rules read it, and the claim that they read out of it: the words around a verb, what is named,
where a clause begins (OUTCOME.1-2)."""

from __future__ import annotations

import re
from typing import NamedTuple

from tallystick.language.anchors import Anchor, AnchorKind, anchors
from tallystick.verifiers.commands import actions
from tallystick.verifiers.outcome_words import BOUNDARY, CONCESSION, REPORTING, Achievement
from tallystick.verifiers.programs import LOOKING, CommandKind

MAX_SENTENCE_CHARS = 1_200
"""A longer sentence is read up to here."""


class OutcomeClaim(NamedTuple):
    """One outcome that a sentence asserts."""

    achievement: Achievement
    kinds: tuple[CommandKind, ...]
    """Kinds of command that can witness it; all of them are claimed for ``PASSED`` unless ``any_kind``."""
    targets: tuple[str, ...] = ()
    """Files, packages, tests, pull requests that it names, as written."""
    numbers: tuple[str, ...] = ()
    """Figures, as ``name=number`` for ``MEASURED``, else bare numbers."""
    commits: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    """Words that narrow it: ``integration``, ``unit``, a folder."""
    phrase: str = ""
    """The words that assert it."""
    any_kind: bool = False
    """"All green" with no check named."""
    everything: bool = False
    """It is said of all tests, not of some."""
    at: int = 0
    """Offset of the verb in the sentence."""
    commands: tuple[str, ...] = ()
    """Commands that it names, as written: "`cargo test -q` OK"."""
    own: tuple[int, int] | None = None
    """The stretch of the sentence that asserts it, for its mood where the sentence as a whole is in another one."""
    existing: bool = False
    """It is said of tests that were there before."""
    only: bool = False
    """"I only started the one"."""
    whole: bool = False
    """It is said of the whole suite, with no word that narrows it."""
    outright: bool = False
    """It says so in as many words: "the full suite", "the entire test suite"."""
    tests: int = -1
    """How many tests are said to pass; -1 where no number is said."""
    tests_are_all: bool = False
    """``tests`` is said to be all there are."""
    objects: tuple[str, ...] = ()
    """What an act was done to or where, by its kind: branches, packages, an environment, a registry; lower-cased."""
    versions: tuple[str, ...] = ()
    """Versions that it names."""


_TICKED = re.compile(r"(`{1,3})([^`\n]{1,400})\1")
_LINKED = re.compile(r"\[([^\]\n]{1,200})\]\([^)\s]{1,400}\)")
_EMPHASIS = re.compile(r"\*\*|~~")
_ASIDE = re.compile(r"\([^()\n]{0,400}\)")
_PLAIN = str.maketrans("’‘“”‑\u00a0\u202f", "''\"\"-  ")
"""Typographic marks as the rules know them, one for one: quotation marks, the non-breaking hyphen and spaces."""


class Text(NamedTuple):
    """A sentence in two forms: ``shown`` without Markdown, ``masked`` the same, lower-cased, with code and what stands
    in parentheses blotted out."""

    shown: str
    masked: str
    spoken: str
    """As ``masked``, with what stands in parentheses left in."""
    ticked: tuple[tuple[int, str], ...]
    found: tuple[Anchor, ...]


def read(sentence: str) -> Text:
    """``sentence`` as the rules read it; offsets in both forms are the same."""
    shown = _LINKED.sub(r"\1", sentence[:MAX_SENTENCE_CHARS]).translate(_PLAIN)
    shown = _EMPHASIS.sub("", shown)
    ticked = tuple((m.start(), m[2]) for m in _TICKED.finditer(shown))
    spoken = _TICKED.sub(lambda m: m[1] + "¤" * len(m[2]) + m[1], shown)
    lowered = spoken.lower()
    spoken = lowered if len(lowered) == len(shown) else spoken
    masked = _ASIDE.sub(lambda m: "¤" * len(m.group()), spoken)
    return Text(shown, masked, spoken, ticked, tuple(anchors(shown)))


def clause_start(masked: str, at: int) -> int:
    """Offset of the clause that holds ``at``: behind the last boundary in front of it."""
    start = 0
    for boundary in BOUNDARY.finditer(masked, max(0, at - 400), at):
        if boundary.start() > 3 or not CONCESSION.match(boundary.group()):
            start = boundary.end()
    return start


_LABEL = re.compile(r"[^.;!?,]{0,80}:\s*|[^;!?]{0,300}(?:;| - |—|–)\s*|")
"""What may stand in front of a main clause: nothing, a label, another main clause."""


def opens_clause(masked: str, start: int) -> bool:
    """Whether a main clause begins at ``start``: nothing stands in front of it, or a label, or another main clause."""
    return _LABEL.fullmatch(masked, 0, start) is not None


def guarded(left: str) -> str:
    """What stands in front of a verb, without the words that look like a subordinate clause and are none."""
    return _DEMONSTRATIVE.sub("", REPORTING.sub(" ", CONCESSION.sub("", left.lstrip())))


_DEMONSTRATIVE = re.compile(r"^[^\w`]{0,10}that\b")


def until(boundary: re.Pattern[str], masked: str, start: int, stop: int) -> str:
    """The words from ``start`` up to the next ``boundary``, at most 200 characters."""
    stop = min(stop, start + 200)
    found = boundary.search(masked, start, stop)
    return masked[start : found.start() if found else stop]


_NAMES = (AnchorKind.PATH, AnchorKind.ISSUE, AnchorKind.SYMBOL, AnchorKind.URL)


def targets_of(text: Text, start: int, stop: int) -> tuple[str, ...]:
    """What the claim names between two offsets: files, issues, symbols; code as it stands in ticks."""
    named = [code.strip().replace("\\_", "_") for at, code in text.ticked if start <= at < stop]
    named = [code for code in named if not _HASH.fullmatch(code)]
    named += [a.value for a in text.found if a.kind in _NAMES and start <= a.start < stop and a.value not in named]
    return tuple(dict.fromkeys(name for name in named if not any(name != other and name in other for other in named)))[
        :8
    ]


_HASH = re.compile(r"[0-9a-f]{7,40}")


def commits_of(text: Text, start: int, stop: int) -> tuple[str, ...]:
    """The commits named between two offsets."""
    named = [a.value for a in text.found if a.kind is AnchorKind.COMMIT and start <= a.start < stop]
    named += [code for at, code in text.ticked if start <= at < stop and _HASH.fullmatch(code)]
    return tuple(dict.fromkeys(named))


_WORD = re.compile(r"[^\W\d_]{4,30}")
_STOP = frozenset(
    "that this with from have been also into when then than they them were will your their there about after before "
    "dans pour avec cette sont plus aussi tous both each more some only just been being over under which while added "
    "created updated fixed removed changed deleted file files successfully test tests code".split()
)


def words_of(text: str) -> tuple[str, ...]:
    """Content words of at least four letters, for telling which file a claim without a path is about."""
    return tuple(dict.fromkeys(w for w in _WORD.findall(text) if w not in _STOP))[:24]


def is_command(code: str) -> bool:
    """Whether code in ticks is a command line that does something, and no name, value or call."""
    if len(code) > 200 or code[:1] in "-/~$({[\"'" or "=" in code.split(" ", 1)[0]:
        return False
    script = code.startswith(("./", "scripts/"))
    done = [a for a in actions(code) if a.kind not in LOOKING]
    return any(a.kind is not CommandKind.RUN or script or (" " in code and a.program in _RUNNERS) for a in done)


_RUNNERS = frozenset("python node bash sh go cargo npm pnpm yarn make docker deno bun uv mise java ruby php perl dotnet "
                     "tsx just task gradle mvn terraform kubectl psql sqlite3 curl git".split())  # fmt: skip
"""Programs by which a run is told from code, where nothing else tells."""
