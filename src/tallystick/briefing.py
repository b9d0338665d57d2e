"""The briefing: which beliefs open the next session, in what order, within a budget, in words that cannot forge it (CARRY).

Everything here is a function of the beliefs at a point, that point's time and a budget: the same three give the same
bytes. Tokens of a claim were counted when it was appended; the frame around it is bounded here, so no tokenizer is
loaded, and the whole never exceeds the budget.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from heapq import heapify, heappop, heapreplace
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from tallystick.model.claim import ClaimKind, Derivation, Outcome, Standing
from tallystick.model.origin import Origin
from tallystick.model.temporal import DAY, SECOND

OPENING = "<tallystick-briefing"
CLOSING = "</tallystick-briefing>"
FRAME_TOKENS = 70
"""Most that the opening line, the note on the marks, and the closing lines take."""
HEADING_TOKENS = 8
LINE_TOKENS = 40
"""Most that a line's mark, quotation marks, source, age and id take, its settling command apart."""
STALE_AFTER = 7 * DAY
MAX_WORDS = 600
"""Characters of a claim that a line shows; the rest is behind its id."""

_CONTROLS = "\u0000-\u0008\u000b-\u001f\u007f-\u009f"
_BLANKS = (
    "\u00ad\u061c\u115f\u1160\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063"
    "\u2064\u2065\u2066\u2067\u2068\u2069\u206a\u206b\u206c\u206d\u206e\u206f\u2800\u3164\ufeff\uffa0\ufff9\ufffa\ufffb"
)
"""Bidi, zero width, and blanks that look like nothing."""
_HALVES, _TAGS = "\ud800-\udfff", "\U000e0000-\U000e0fff"
_EACH_BLANK = frozenset(_BLANKS)
_MARKS = str.maketrans({"✓": "v", "<": "‹", ">": "›", '"': "”"})

# Keyed by plain words: a value of a newer version, which has none of these, counts for nothing (TRAIL.9).
_ORIGIN: dict[str, int] = {Origin.USER: 4}
_DERIVATION: dict[str, int] = {Derivation.VERBATIM: 2}
_DOUBT: dict[str, int] = {Outcome.CONTRADICTED: 3, Outcome.STALE_WITNESS: 2, Outcome.UNWITNESSED: 1}
_FACT: str = ClaimKind.FACT.value
_LASTING: frozenset[str] = frozenset((ClaimKind.RULE.value, ClaimKind.PREFERENCE.value))
_FADES_EACH = 14 * DAY


class Section(NamedTuple):
    """A part of the briefing, in order of appearance."""

    key: str
    heading: str


VERIFY = Section("verify", "VERIFY BEFORE TRUSTING")
DECISIONS = Section("decisions", "DECISIONS")
OPEN_LOOPS = Section("open_loops", "OPEN LOOPS")
RULES = Section("rules", "RULES")
FACTS = Section("facts", "FACTS")
SECTIONS = (VERIFY, DECISIONS, OPEN_LOOPS, RULES, FACTS)
_SECTION_OF: dict[str, str] = {
    ClaimKind.OUTCOME: VERIFY.key,
    ClaimKind.OPEN_LOOP: OPEN_LOOPS.key,
    ClaimKind.RULE: RULES.key,
    ClaimKind.PREFERENCE: RULES.key,
    ClaimKind.FACT: FACTS.key,
}
"""Of a kind that may not be stale; every other kind is a decision."""


class Line(NamedTuple):
    """One line of the briefing."""

    claim: int
    section: str
    mark: str
    text: str
    """The words shown, neutralised."""
    quote: str
    """The same where they are verbatim, else empty."""
    age: int
    """Microseconds between the words and the point; -1 where no record says."""
    rendered: str


class Briefing(NamedTuple):
    """What is shown and what was not."""

    lines: tuple[Line, ...]
    left_out: int
    text: str
    tokens: int
    """An upper bound from the counts at append; the text never has more."""


def shown(text: str) -> str:
    """A claim's words as one safe line: no structure, no control, no mark of ours can be forged by them (CARRY.3)."""
    flat = " ".join(text.split())
    if not _hides_nothing(flat):
        ansi, invisible = _hidden()
        flat = " ".join(ansi.sub("", text).split())
        flat = " ".join(invisible.sub("", flat).split())
    # Cut first: composing a long run of combining marks takes the square of its length.
    flat = flat[: 4 * MAX_WORDS]
    if not flat.isascii():
        import unicodedata

        flat = unicodedata.normalize("NFC", flat)
    if not flat[:1].isalpha():
        flat = _leading().sub("", flat)
    flat = flat.translate(_MARKS).strip()
    return flat if len(flat) <= MAX_WORDS else flat[: MAX_WORDS - 1].rstrip() + "…"


def _hides_nothing(flat: str) -> bool:
    """Whether ``_hidden`` would find nothing in words with single spaces between them; no control is printable."""
    return flat.isprintable() and _EACH_BLANK.isdisjoint(flat) and max(flat, default="") < _TAGS[0]


# Compiled when they are asked for: most words need none, and these take longer than many a briefing has for all its lines.
@cache
def _hidden() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A terminal's sequences, and every character that is not seen."""
    ansi = "\u001b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\u0007\u001b]*(?:\u0007|\u001b\\\\)?|[@-Z\\\\-_])"
    return re.compile(ansi), re.compile(f"[{_CONTROLS}{_BLANKS}{_HALVES}{_TAGS}]")


@cache
def _leading() -> re.Pattern[str]:
    """What would make a heading, a list, a quotation or a rule of the line."""
    return re.compile(r"\A(?:[\s#>*+\-=_|~`]|\d+[.)]\s)+")


def brief(
    offered: Iterable[Standing],
    *,
    now: int,
    budget: int,
    text: Callable[[int], str | None],
    opposed: Mapping[int, int] = MappingProxyType({}),
    settle: Callable[[int], str] = lambda _: "",
    quote: Callable[[int], str | None] = lambda _: None,
) -> Briefing:
    """Choose and render. ``now`` is the point's time, ``budget`` in tokens; each claim is offered once.

    ``text`` gives the words of a claim, None where they were erased: such a claim is passed over, and counted as left out.
    It is asked only of claims whose turn comes. ``opposed`` is claim → a newer claim that says the contrary. ``settle``
    gives the command that would settle a claim now, made from a template and never from a transcript. ``quote`` gives the
    words that a verbatim claim was certified by, which are what is shown; None where they are its text.

    What can go stale comes first, then decisions, open loops, rules, facts. Within the budget each section gets its
    share in turn, best first, so that no section starves the others; what did not fit is counted.
    """
    waiting = _waiting(offered, now, opposed)
    count = sum(queue.size for queue in waiting.values())
    chosen, used = _fill(waiting, budget, text, settle)
    lines = tuple(
        _line(standing, words, quote(standing.claim), command, section, now, opposed.get(standing.claim, -1))
        for section in SECTIONS
        for standing, words, command in chosen[section.key]
    )
    left_out = count - len(lines)
    return Briefing(lines, left_out, _render(lines, left_out), used)


class _Queue:
    """What waits in one section, best first.

    It holds runs: standings that differ in nothing that counts but when they were said, oldest first. So a comparison of a
    few runs' last ones finds the best of thousands, and nothing has to be computed of a claim before its turn comes.
    """

    def __init__(self, runs: Iterable[list[Standing]], rank: Callable[[Standing], _Rank]) -> None:
        self._rank = rank
        self._runs = [(*rank(run[-1]), run) for run in runs]
        heapify(self._runs)
        self.size = sum(len(run) for *_, run in self._runs)
        self.sizes = Counter(map(_TOKENS, chain.from_iterable(run for *_, run in self._runs)))
        """Tokens → how many of that size wait."""

    def pop(self) -> Standing | None:
        """Take the best off; None where nothing is left."""
        if not self._runs:
            return None
        run = self._runs[0][-1]
        standing = run.pop()
        if run:
            heapreplace(self._runs, (*self._rank(run[-1]), run))
        else:
            heappop(self._runs)
        self.sizes[standing.tokens] -= 1
        return standing


_Rank = tuple[int, int, int]
_CLAIM, _SAID_AT, _TOKENS, _KIND_AND_TRUST = itemgetter(0), itemgetter(3), itemgetter(4), itemgetter(1, 2, 5, 6)


def _waiting(offered: Iterable[Standing], now: int, opposed: Mapping[int, int]) -> dict[str, _Queue]:
    """Every section's queue: what the world may have changed since is every outcome and doubt, and old facts."""
    alike: defaultdict[tuple[str, ...], list[Standing]] = defaultdict(list)
    for standing in offered:
        alike[_KIND_AND_TRUST(standing)].append(standing)
    runs: dict[str, list[list[Standing]]] = {section.key: [] for section in SECTIONS}
    for (kind, _, _, outcome), run in alike.items():
        run.sort(key=_CLAIM)
        run.sort(key=_SAID_AT)
        if opposed:
            runs[VERIFY.key].append([each for each in run if each.claim in opposed])
            run = [each for each in run if each.claim not in opposed]
        if kind == _FACT:
            fresh = bisect_left(run, max(0, now - STALE_AFTER), key=_SAID_AT)
            runs[VERIFY.key].append(run[:fresh])
            run = run[fresh:]
        runs[VERIFY.key if outcome in _DOUBT else _SECTION_OF.get(kind, DECISIONS.key)].append(run)
    return {key: _Queue(filter(None, each), lambda one: _rank(one, now, opposed)) for key, each in runs.items()}


def _rank(standing: Standing, now: int, opposed: Mapping[int, int]) -> _Rank:
    """Sort key, best first: what a person said, then how well it stands, then how recent; rules do not fade (CARRY.7).

    Of claims alike in all but their time it never prefers the older one, nor of one time the smaller id: ``_Queue`` rests
    on that.
    """
    claim, kind, origin, said_at, _, derivation, outcome = standing
    weight = _ORIGIN.get(origin, 0) + _DERIVATION.get(derivation, 0) + _DOUBT.get(outcome, 0)
    if claim in opposed:
        weight += 6
    fading = 0 if kind in _LASTING or said_at > now else min((now - said_at) // _FADES_EACH, 6)
    return fading - weight, -said_at, -claim


_Chosen = dict[str, list[tuple[Standing, str, str]]]


def _fill(
    waiting: Mapping[str, _Queue], budget: int, text: Callable[[int], str | None], settle: Callable[[int], str]
) -> tuple[_Chosen, int]:
    chosen: _Chosen = {key: [] for key in waiting}
    used = FRAME_TOKENS

    def has_room(key: str) -> bool:
        """Whether the words of anything that waits in a section may still fit; the budget only shrinks, so no is for good."""
        room = budget - used - LINE_TOKENS - (0 if chosen[key] else HEADING_TOKENS)
        # Without their sizes, a section with room for a line's frame and nobody's words would have the words of all read.
        return room >= 0 and any(count and tokens <= room for tokens, count in waiting[key].sizes.items())

    while used + LINE_TOKENS < budget and (fitting := [key for key in waiting if has_room(key)]):
        for key in fitting:
            found = _next(waiting[key], text)
            if found is None:
                continue
            standing, words = found
            tokens = standing.tokens or len(shown(words).encode())
            cost = tokens + LINE_TOKENS + (0 if chosen[key] else HEADING_TOKENS)
            if used + cost > budget:
                continue
            command = settle(standing.claim) if _is_checkable(standing) else ""
            if used + cost + len(command.encode()) > budget:
                command = ""
            used += cost + len(command.encode())
            chosen[key].append((standing, words, command))
    return chosen, used


def _next(queue: _Queue, text: Callable[[int], str | None]) -> tuple[Standing, str] | None:
    """The best that is left and has its words, taken off; None where nothing is left."""
    while standing := queue.pop():
        words = text(standing.claim)
        if words is not None:
            return standing, words
    return None


def _is_checkable(standing: Standing) -> bool:
    """Whether a command may be offered that would settle it."""
    return standing.kind in (ClaimKind.OUTCOME, ClaimKind.FACT) or standing.outcome != Outcome.NONE


def _line(
    standing: Standing, text: str, quote: str | None, command: str, section: Section, now: int, opposed_by: int
) -> Line:
    """A tick never stands without the words it certifies: where those are gone, the line is no quote any more."""
    verbatim = standing.derivation == Derivation.VERBATIM and quote != ""
    words = shown(quote if verbatim and quote else text)
    mark = "✓ verbatim" if verbatim else "~ inferred"
    age = max(0, now - standing.said_at) if standing.said_at >= 0 else -1
    said = f'"{words}"' if verbatim else words
    notes = [standing.origin or "unknown", "no date" if age < 0 else f"{in_words(age)} ago", f"c{standing.claim}"]
    if standing.outcome not in (Outcome.NONE, ""):
        notes.insert(0, str(standing.outcome).replace("_", " "))
    if opposed_by >= 0:
        notes.append(f"opposed by newer c{opposed_by}")
    settle = f" → `{command}`" if command else ""
    return Line(
        standing.claim,
        section.key,
        mark,
        words,
        words if verbatim else "",
        age,
        f"- {mark} {said} ({', '.join(notes)}){settle}",
    )


def _render(lines: Sequence[Line], left_out: int) -> str:
    out = [
        f"{OPENING}>",
        "Memory of earlier sessions. ✓ verbatim: the words were said; whether they hold is another matter.",
    ]
    for section in SECTIONS:
        mine = [line.rendered for line in lines if line.section == section.key]
        if mine:
            out += ["", f"## {section.heading}", *mine]
    out += ["", f"{left_out} left out. `tally why ID` shows the evidence of a line.", CLOSING]
    return "\n".join(out) + "\n"


def in_words(age: int) -> str:
    """An age in its largest whole unit: ``40 s``, ``12 min``, ``5 h``, ``3 d``."""
    seconds = age // SECOND
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
