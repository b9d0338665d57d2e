"""The fold: what one entry does to the set of beliefs, as rows of views that any store can keep (TIME.1–13, TRAIL.9).

``effects`` is the only place where an entry's meaning is decided. It is a pure function of the entry, its parts as bytes,
and a few questions to the beliefs before it, so that a store that appends, ``verify`` that recomputes, and a replay that
starts from nothing all come to the same rows. It is total: any content of a log gives some effect, and an entry that this
version does not know, or whose content has been erased, changes no belief.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Annotated, Any, NamedTuple, Protocol

from tallystick.log.strict_json import object_of as object_of
from tallystick.log.strict_json import within_limits
from tallystick.model.entry import FORMAT, Entry, EntryKind
from tallystick.model.temporal import END_OF_TIME, START_OF_TIME, Interval
from tallystick.model.views import ClaimRow as ClaimRow
from tallystick.model.views import Closing as Closing
from tallystick.model.views import Ending as Ending
from tallystick.model.views import Epoch as Epoch
from tallystick.model.views import Link as Link
from tallystick.model.views import Name as Name
from tallystick.model.views import Touch as Touch
from tallystick.model.views import VerdictRow as VerdictRow
from tallystick.model.views import Version as Version

ALWAYS: tuple[Interval, ...] = (Interval(START_OF_TIME, END_OF_TIME),)


# Half the time of the call that checks the number of fields; an ingest makes a million.
_claim_row = partial(tuple.__new__, ClaimRow)
_version = partial(tuple.__new__, Version)
_verdict_row = partial(tuple.__new__, VerdictRow)

Row = ClaimRow | Version | VerdictRow | Touch | Link | Name | Epoch | Closing | Ending
Effects = list[Row]


class Held(Protocol):
    """The questions that the fold asks about the beliefs just before an entry."""

    def open_version(self, claim: int) -> Version | None:
        """The version of the claim that is open now, if it is held."""
        ...

    def claim_row(self, claim: int) -> ClaimRow | None:
        """The claim's unchanging part."""
        ...

    def versions_changed(self, seq: int) -> list[Version]:
        """Versions that entry ``seq`` opened or closed, in order of claim, then of ``tx_from``."""
        ...

    def verdicts(self, claim: int) -> list[VerdictRow]:
        """All verdicts on the claim, in order of axis, then seq."""
        ...

    def made(self, seq: int) -> list[Link | Name]:
        """The links, and the attributes registered, that entry ``seq`` made: what can end; ended ones too."""
        ...


class Facets(NamedTuple):
    """The part ``facets`` of an entry that opens a claim."""

    kind: str = ""
    origin: str = ""
    session: int = -1
    event: str = ""
    said_at: int = -1
    tokens: int = 0
    subject: str = ""
    attribute: str = ""
    value: str = ""


_FACET_TYPES: dict[str, type] = {name: type(default) for name, default in Facets._field_defaults.items()}

Parts = Mapping[str, bytes]

_ASKING = frozenset({EntryKind.RETRACTED, EntryKind.REVISED, EntryKind.UNDONE, EntryKind.ERASED})
MEMORY = "memory"
"""The log whose claims other logs name in ``xrefs``."""


def effects(entry: Entry, parts: Parts, held: Held) -> Effects:
    """The rows that ``entry`` adds to the views. ``parts`` holds the bodies that have not been erased."""
    fold = _FOLDS.get(entry.kind) if entry.v <= FORMAT else None
    return fold(entry, parts, held) if fold else []


def asks(entry: Entry) -> bool:
    """Whether the fold of ``entry`` asks about the beliefs before it; a batch applies what it has gathered first."""
    return entry.kind in _ASKING or (bool(entry.refs) and entry.kind == EntryKind.ASSERTED)


def make_ready() -> None:
    """Load what the fold reads with; asked for before a lock is taken, since it takes longer than an append."""
    _strict_decoders()


def facets_of(parts: Parts) -> Facets:
    """The facets of an entry that opens a claim; empty ones where they were erased or cannot be read."""
    said = object_of(parts.get("facets", b""))
    known: dict[str, Any] = {name: value for name, value in said.items() if type(value) is _FACET_TYPES.get(name)}
    return Facets(**known)


def valid_of(parts: Parts) -> tuple[Interval, ...]:
    """The valid intervals an entry states; all of time where it states none."""
    if "valid" not in parts:
        return ALWAYS
    try:
        intervals = tuple(Interval(start, end) for start, end in object_of(parts["valid"])["intervals"])
        bounds = [bound for interval in intervals for bound in interval]
        holds = bounds == sorted(bounds) and all(interval.start < interval.end for interval in intervals)
    except (KeyError, TypeError, ValueError):
        return ALWAYS
    return intervals if intervals and holds and all(map(_is_number, bounds)) else ALWAYS


def axis_of(verifier: str) -> str:
    """The trust axis that a verifier speaks to."""
    return "outcome" if verifier.startswith("outcome/") else "derivation"


def cut_off(valid: tuple[Interval, ...], start: int) -> tuple[Interval, ...]:
    """``valid`` without everything from ``start`` on: what a change in the world leaves of the old claim (TIME.5)."""
    return tuple(Interval(i.start, min(i.end, start)) for i in valid if i.start < start)


def without(valid: tuple[Interval, ...], gone: tuple[Interval, ...]) -> tuple[Interval, ...]:
    """``valid`` minus ``gone``, in order (TIME.7)."""
    kept = list(valid)
    for hole in gone:
        pieces: list[Interval] = []
        for each in kept:
            if hole.end <= each.start or each.end <= hole.start:
                pieces.append(each)
                continue
            if each.start < hole.start:
                pieces.append(Interval(each.start, hole.start))
            if hole.end < each.end:
                pieces.append(Interval(hole.end, each.end))
        kept = pieces
    return tuple(kept)


def _introduced(entry: Entry, parts: Parts, held: Held) -> Effects:
    rows: Effects = []
    for what in ("actor", "attribute", "holder", "session"):
        if not any(name == what for name, _ in entry.parts):
            continue
        body = parts.get(what, b"{}")
        facts = object_of(body)
        subject = str(entry.seq) if what == "session" else entry.actor if what == "actor" else entry.holder
        name = facts.get("name", "")
        rows.append(Name(entry.seq, what, subject, name if _is_text(name) else "", body.decode(errors="replace")))
    return rows


def _asserted(entry: Entry, parts: Parts, held: Held) -> Effects:
    """``refs`` is empty, or [the closed claim that is taken up again]."""
    seq, refs = entry.seq, entry.refs
    if not refs:
        return [_opening(entry, parts, seq), _version((seq, seq, END_OF_TIME, valid_of(parts)))]
    return [
        _opening(entry, parts, _lineage(entry, held)),
        Version(seq, seq, END_OF_TIME, valid_of(parts)),
        Touch(refs[0], seq, entry.kind),
    ]


def _opening(entry: Entry, parts: Parts, lineage: int) -> ClaimRow:
    kind, origin, session, *rest = _said_of_opening(parts.get("facets", b""))
    return _claim_row((entry.seq, entry.holder, kind, origin, lineage, session, *rest))


_Opening = tuple[str, str, int, int, int, str, str, str]


def _said_of_opening(facets: bytes) -> _Opening:
    """(kind, origin, session, when it was said, tokens, subject, attribute, value); nothing where one is no such thing."""
    read = _strictly(_OPENING, facets)
    if read is not None:
        return (
            read.kind, read.origin, read.session, read.said_at, read.tokens, read.subject, read.attribute, read.value,
        )  # fmt: skip
    said = object_of(facets)
    words = kind, origin, *about = [said.get(name, "") for name in ("kind", "origin", "subject", "attribute", "value")]
    numbers = session, said_at, tokens = said.get("session", -1), said.get("said_at", -1), said.get("tokens", 0)
    if not (all(map(_is_text, words)) and all(map(_is_number, numbers))):
        return "", "", -1, -1, 0, "", "", ""
    return kind, origin, session, said_at, tokens, about[0], about[1], about[2]


def _lineage(entry: Entry, held: Held) -> int:
    older = held.claim_row(entry.refs[0]) if entry.refs else None
    return older.lineage if older else entry.seq


def _touching(entry: Entry, parts: Parts, held: Held) -> Effects:
    said_at = object_of(parts.get("facets", b"")).get("said_at", -1)
    return [Touch(claim, entry.seq, entry.kind, said_at if _is_number(said_at) else -1) for claim in entry.refs[:1]]


def _judged(entry: Entry, parts: Parts, held: Held) -> Effects:
    seq = entry.seq
    rows: Effects = []
    for claim in entry.refs:
        body = parts.get(f"verdict/{claim}", b"")
        read = _strictly(_VERDICTS, body)
        if read is not None:
            rows += [
                _verdict_row((claim, axis_of(each.verifier), seq, each.value, each.reason, seq))
                for each in read.verdicts
            ]
        else:
            rows += [
                _verdict_row((claim, axis_of(verifier), seq, *said, seq)) for verifier, *said in _verdicts_in(body)
            ]
    return rows


def _verdicts_in(body: bytes) -> list[tuple[str, str, str]]:
    """(verifier, value, reason) of each verdict in ``body`` that can be read, where the strict decoder refuses it."""
    listed = object_of(body).get("verdicts", ())
    said = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    found = [(each.get("verifier", ""), each.get("value", ""), each.get("reason", "")) for each in said]
    return [each for each in found if all(map(_is_text, each))]


def _strictly(shape: int, body: bytes) -> Any:
    """``body`` read by a decoder of exactly the expected types; None where that decoder refuses it.

    It is ten times faster than ``object_of`` and refuses more (text beyond ASCII, half of a surrogate pair, a wrong type);
    whatever it accepts, it reads as ``object_of`` does, which a property test holds it to.
    """
    if not (body.isascii() and within_limits(body)):
        return None
    try:
        return _strict_decoders()[shape](body)
    except ValueError:
        return None


_OPENING, _VERDICTS = 0, 1
_NUMBERS_OF_OPENING = {"session": -1, "said_at": -1, "tokens": 0}


@cache
def _strict_decoders() -> tuple[Callable[[bytes], Any], Callable[[bytes], Any]]:
    import msgspec  # 10 ms and more; a briefing folds nothing

    number = msgspec.Meta(ge=START_OF_TIME, le=END_OF_TIME)
    numbers = [(name, Annotated[int, number], default) for name, default in _NUMBERS_OF_OPENING.items()]
    words = [(name, str, "") for name in ("kind", "origin", "subject", "attribute", "value")]
    opening = msgspec.defstruct("Opening", [*words, *numbers], gc=False)
    verdict = msgspec.defstruct("Verdict", [("verifier", str, ""), ("value", str, ""), ("reason", str, "")], gc=False)
    verdicts = msgspec.defstruct("Verdicts", [("verdicts", list[verdict], ())])  # type: ignore[valid-type]
    return msgspec.json.Decoder(opening).decode, msgspec.json.Decoder(verdicts).decode


def _is_text(value: object) -> bool:
    """Whether it is a string that UTF-8 can hold; JSON can also escape half of a surrogate pair."""
    return type(value) is str and (value.isascii() or value.encode("utf-8", "replace").decode() == value)


def _is_number(value: object) -> bool:
    return type(value) is int and START_OF_TIME <= value <= END_OF_TIME


def _retracted(entry: Entry, parts: Parts, held: Held) -> Effects:
    rows = _touching(entry, parts, held)
    if entry.refs and held.open_version(entry.refs[0]):
        rows.append(Closing(entry.refs[0], entry.seq))
    return rows


def _revised(entry: Entry, parts: Parts, held: Held) -> Effects:
    """``refs`` are the old claims. The part ``change`` is there when the world changed; without it they were never so.

    With the part ``into`` they are [the old claim, one that is held and says it right]: none is opened.
    """
    if not entry.refs:
        return []
    names = {name for name, _ in entry.parts}
    if "into" in names:
        return _merged(entry, held)
    olds = list(dict.fromkeys(entry.refs))
    versions = [held.open_version(old) for old in olds]
    before = [version.valid if version else () for version in versions]
    valid = valid_of(parts)
    if "change" in names:
        valid, narrowed = _moved(before, valid, entry.at)
    else:
        narrowed = [without(each, valid) for each in before]
    rows: Effects = [_opening(entry, parts, _lineage(entry, held)), Version(entry.seq, entry.seq, END_OF_TIME, valid)]
    for old, was, left in zip(olds, before, narrowed, strict=True):
        rows.extend([Touch(old, entry.seq, entry.kind), Link(entry.seq, entry.seq, old, "revises")])
        if left != was:
            rows.append(Closing(old, entry.seq))
            rows.extend(Version(old, entry.seq, END_OF_TIME, each) for each in [left] if each)
    return rows


def _merged(entry: Entry, held: Held) -> Effects:
    """The old claim gives way to one that is there already, and the evidence of both is that one's from here on."""
    if len(entry.refs) != 2 or entry.refs[0] == entry.refs[1] or not held.open_version(entry.refs[1]):
        return []
    old, into = entry.refs
    rows: Effects = [Touch(claim, entry.seq, entry.kind) for claim in (old, into)]
    rows.append(Link(entry.seq, into, old, "revises"))
    if held.open_version(old):
        rows.append(Closing(old, entry.seq))
    return rows


_Valid = tuple[Interval, ...]


def _moved(before: list[_Valid], valid: _Valid, at: int) -> tuple[_Valid, list[_Valid]]:
    """(valid time of the new, what is left of each old) when the world changed; since ``at`` where nothing is said.

    A change that was earlier than an old claim's own beginning is older news: it holds until then and replaces nothing of
    that one (TIME.6). The new is always left some time: what cuts it off begins after it does.
    """
    since = at if valid[0].start == START_OF_TIME else valid[0].start
    valid = without(valid, (Interval(START_OF_TIME, since),)) or valid
    since = max(since, valid[0].start)
    later = [each[0].start for each in before if each and since < each[0].start]
    if later:
        valid = cut_off(valid, min(later))
    return valid, [each if each and since < each[0].start else cut_off(each, since) for each in before]


def _undone(entry: Entry, parts: Parts, held: Held) -> Effects:
    """Takes back what entry ``refs[0]`` opened and gives back what it closed, from here on (TIME.9).

    Of a judgement the further ``refs`` are the claims that were judged: each has its verdicts of before again.
    """
    if not entry.refs:
        return []
    undone = entry.refs[0]
    changed = held.versions_changed(undone)
    rows: Effects = []
    for claim in sorted({version.claim for version in changed}):
        rows.append(Touch(claim, entry.seq, entry.kind))
        if held.open_version(claim):
            rows.append(Closing(claim, entry.seq))
        given_back = [version for version in changed if version.claim == claim and version.tx_to == undone]
        rows.extend(Version(claim, entry.seq, END_OF_TIME, version.valid) for version in given_back)
    if any(row.tx_to == END_OF_TIME for row in held.made(undone)):
        rows.append(Ending(undone, entry.seq))
    for claim in dict.fromkeys(entry.refs[1:]):
        given = _verdicts_before(held.verdicts(claim), undone)
        rows.extend(row._replace(seq=entry.seq) for row in given)
        if not any(version.claim == claim for version in changed):
            # Whether or not there was a verdict: it may be erased, and the row of a touch stays as it is.
            rows.append(Touch(claim, entry.seq, entry.kind))
    return rows


NO_VERDICT = {"derivation": "inferred", "outcome": "none"}
"""By axis, what stands where no verifier has spoken."""


def _verdicts_before(verdicts: list[VerdictRow], undone: int) -> list[VerdictRow]:
    """On each axis where the verdict of entry ``undone`` stands: the one that stood before it."""
    found = []
    for axis in dict.fromkeys(row.axis for row in verdicts):
        mine = [row for row in verdicts if row.axis == axis]
        if mine[-1].judged == undone:
            earlier = [row for row in mine if row.judged != undone]
            value = NO_VERDICT.get(axis, "")
            found.append(earlier[-1] if earlier else VerdictRow(mine[-1].claim, axis, -1, value, "", -1))
    return found


_PLAIN = re.compile(r"0|[1-9][0-9]{0,14}")
"""A seq in decimal, in the one way to write it."""


class Places(NamedTuple):
    """What an ``erased`` entry says that it erased."""

    parts: dict[int, tuple[str, ...]]
    """Names of parts by the seq of their entry."""
    events: dict[int, tuple[int, ...]]
    """Numbers of archived events by the seq of their session."""


def places_of(parts: Parts) -> Places:
    """What an ``erased`` entry erased; nothing where its part cannot be read."""
    said = object_of(parts.get("places", b""))
    found = Places({}, {})
    for name, kept, is_one in (("parts", found.parts, _is_text), ("events", found.events, _is_number)):
        listed = said.get(name, {})
        for seq, each in listed.items() if isinstance(listed, dict) else ():
            if _PLAIN.fullmatch(seq) and isinstance(each, list) and all(map(is_one, each)):
                kept[int(seq)] = tuple(each)
    return found


def _erased(entry: Entry, parts: Parts, held: Held) -> Effects:
    """A claim whose words are gone is held no more (ERASE.2); what lost a verdict, or events of a session, has it on record."""
    places, about = places_of(parts), frozenset(entry.refs)
    gone = [
        seq
        for seq, names in places.parts.items()
        if "text" in names and seq in about and held.claim_row(seq) is not None
    ]
    judged = {claim for seq, names in places.parts.items() if seq in about for claim in _judged_in(names)}
    touched = {*gone, *(claim for claim in judged if held.claim_row(claim) is not None), *places.events}
    rows: Effects = [Touch(each, entry.seq, entry.kind) for each in sorted(touched)]
    rows.extend(Closing(claim, entry.seq) for claim in sorted(gone) if held.open_version(claim))
    return rows


def _judged_in(names: Iterable[str]) -> Iterator[int]:
    """The claims of the verdicts among names of parts."""
    for name in names:
        kind, _, claim = name.partition("/")
        if kind == "verdict" and claim.isdecimal() and len(claim) < 16:
            yield int(claim)


def _named_across(entry: Entry, parts: Parts, held: Held) -> Effects:
    """What became of claims of the memory log, in the access log (ACCESS)."""
    claims = dict(entry.xrefs).get(MEMORY, ())
    return [Touch(claim, entry.seq, entry.kind) for claim in dict.fromkeys(claims)]


def _linked(entry: Entry, parts: Parts, held: Held) -> Effects:
    if len(entry.refs) != 2:
        return []
    kinds = [name for name, _ in entry.parts if name in ("contradicts", "derived_from", "same_as")]
    return [Link(entry.seq, entry.refs[0], entry.refs[1], kind) for kind in kinds]


def _clock_repaired(entry: Entry, parts: Parts, held: Held) -> Effects:
    return [Epoch(-1, entry.seq, entry.at)]


_FOLDS: dict[str, Callable[[Entry, Parts, Held], Effects]] = {
    EntryKind.INTRODUCED: _introduced,
    EntryKind.OBSERVED: _touching,
    EntryKind.ASSERTED: _asserted,
    EntryKind.RECONFIRMED: _touching,
    EntryKind.JUDGED: _judged,
    EntryKind.RETRACTED: _retracted,
    EntryKind.REVISED: _revised,
    EntryKind.UNDONE: _undone,
    EntryKind.LINKED: _linked,
    EntryKind.CLOCK_REPAIRED: _clock_repaired,
    EntryKind.ERASED: _erased,
    EntryKind.RECALLED: _named_across,
    EntryKind.SURFACED: _named_across,
    EntryKind.CITED: _named_across,
    EntryKind.IGNORED: _named_across,
    EntryKind.CORRECTED: _named_across,
}
