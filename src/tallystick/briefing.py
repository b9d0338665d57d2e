"""The briefing: which beliefs open the next session, in what order, within a budget, in words that cannot forge it (CARRY).

Everything here is a function of the beliefs at a point, that point's time and a budget: the same three give the same
bytes. Tokens of a claim were counted when it was appended; the frame around it is bounded here, so no tokenizer is
loaded, and the whole never exceeds the budget.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from tallystick.model.claim import ClaimKind, Derivation, Outcome
from tallystick.model.evidence import Origin
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

_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800"
    "\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Controls, bidi, zero width, blanks that look like nothing, tag characters, and halves of characters."""
_ANSI = re.compile("\u001b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\u0007\u001b]*(?:\u0007|\u001b\\\\)?|[@-Z\\\\-_])")
_LEADING = re.compile(r"\A(?:[\s#>*+\-=_|~`]|\d+[.)]\s)+")
_MARKS = str.maketrans({"✓": "v", "<": "‹", ">": "›", '"': "”"})

_DOUBT: dict[str, int] = {Outcome.CONTRADICTED: 3, Outcome.STALE_WITNESS: 2, Outcome.UNWITNESSED: 1}


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


class Item(NamedTuple):
    """One belief as the briefing needs it."""

    claim: int
    kind: str
    text: str
    derivation: str
    outcome: str
    origin: str
    said_at: int
    """Microseconds UTC; -1 where no record says."""
    tokens: int
    """Of the words as ``shown`` gives them."""
    checkable: bool = False
    """Whether a command may be offered that would settle it."""
    opposed_by: int = -1
    """A newer claim that says the contrary."""


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
    flat = " ".join(_ANSI.sub("", text).split())
    flat = " ".join(_INVISIBLE.sub("", flat).split())
    # Cut first: composing a long run of combining marks takes the square of its length.
    flat = unicodedata.normalize("NFC", flat[: 4 * MAX_WORDS])
    flat = _LEADING.sub("", flat).translate(_MARKS).strip()
    return flat if len(flat) <= MAX_WORDS else flat[: MAX_WORDS - 1].rstrip() + "…"


def brief(
    items: Iterable[Item],
    *,
    now: int,
    budget: int,
    settle: Callable[[int], str] = lambda _: "",
    quote: Callable[[int], str | None] = lambda _: None,
    left_before: int = 0,
) -> Briefing:
    """Choose and render. ``now`` is the point's time, ``budget`` in tokens; ``left_before`` counts what was never offered.

    ``settle`` gives the command that would settle a claim now, made from a template and never from a transcript. ``quote``
    gives the words that a verbatim claim was certified by, which are what is shown; None where they are its text.

    What can go stale comes first, then decisions, open loops, rules, facts. Within the budget each section gets its
    share in turn, best first, so that no section starves the others; what did not fit is counted.
    """
    sections: dict[str, list[Item]] = {section.key: [] for section in SECTIONS}
    for item in items:
        sections[_section(item, now).key].append(item)
    for section in sections.values():
        section.sort(key=lambda item: _standing(item, now))
    offered = sum(map(len, sections.values()))
    chosen, used = _fill(sections, budget, settle)
    lines = tuple(
        _line(item, quote(item.claim), command, section, now)
        for section in SECTIONS
        for item, command in chosen[section.key]
    )
    left_out = offered - len(lines) + left_before
    return Briefing(lines, left_out, _render(lines, left_out), used)


def _section(item: Item, now: int) -> Section:
    if item.opposed_by >= 0 or _can_be_stale(item, now):
        return VERIFY
    match item.kind:
        case ClaimKind.OPEN_LOOP:
            return OPEN_LOOPS
        case ClaimKind.RULE | ClaimKind.PREFERENCE:
            return RULES
        case ClaimKind.FACT | ClaimKind.OUTCOME:
            return FACTS
        case _:
            return DECISIONS


def _can_be_stale(item: Item, now: int) -> bool:
    """What the world may have changed since: every outcome, and facts that are old or were not witnessed."""
    if item.kind == ClaimKind.OUTCOME or item.outcome in (
        Outcome.UNWITNESSED,
        Outcome.CONTRADICTED,
        Outcome.STALE_WITNESS,
    ):
        return True
    return item.kind == ClaimKind.FACT and (item.said_at < 0 or now - item.said_at > STALE_AFTER)


def _standing(item: Item, now: int) -> tuple[int, int, int]:
    """Sort key, best first: what a person said, then how well it stands, then how recent; rules do not fade (CARRY.7)."""
    weight = 4 if item.origin == Origin.USER else 0
    weight += 2 if item.derivation == Derivation.VERBATIM else 0
    weight += _DOUBT.get(item.outcome, 0)
    weight += 6 if item.opposed_by >= 0 else 0
    fading = 0 if item.kind in (ClaimKind.RULE, ClaimKind.PREFERENCE) else max(0, now - item.said_at) // (14 * DAY)
    return int(min(fading, 6)) - weight, -item.said_at, -item.claim


_Chosen = dict[str, list[tuple[Item, str]]]


def _fill(sections: Mapping[str, list[Item]], budget: int, settle: Callable[[int], str]) -> tuple[_Chosen, int]:
    chosen: _Chosen = {key: [] for key in sections}
    waiting = {key: list(reversed(items)) for key, items in sections.items()}
    used = FRAME_TOKENS
    while any(waiting.values()) and used + LINE_TOKENS < budget:
        for key in sections:
            if not waiting[key]:
                continue
            item = waiting[key].pop()
            cost = item.tokens + LINE_TOKENS + (0 if chosen[key] else HEADING_TOKENS)
            if used + cost > budget:
                continue
            command = settle(item.claim) if item.checkable else ""
            if used + cost + len(command.encode()) > budget:
                command = ""
            used += cost + len(command.encode())
            chosen[key].append((item, command))
    return chosen, used


def _line(item: Item, quote: str | None, command: str, section: Section, now: int) -> Line:
    """A tick never stands without the words it certifies: where those are gone, the line is no quote any more."""
    verbatim = item.derivation == Derivation.VERBATIM and quote != ""
    words = shown(quote if verbatim and quote else item.text)
    mark = "✓ verbatim" if verbatim else "~ inferred"
    age = max(0, now - item.said_at) if item.said_at >= 0 else -1
    said = f'"{words}"' if verbatim else words
    notes = [item.origin or "unknown", "no date" if age < 0 else f"{in_words(age)} ago", f"c{item.claim}"]
    if item.outcome not in (Outcome.NONE, ""):
        notes.insert(0, str(item.outcome).replace("_", " "))
    if item.opposed_by >= 0:
        notes.append(f"opposed by newer c{item.opposed_by}")
    settle = f" → `{command}`" if command else ""
    return Line(
        item.claim,
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
