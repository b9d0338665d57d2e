"""Reconciling: what a session says now against what is already believed, as entries (CARRY.4, 6, TIME.8, 12, 13).

Nothing is merged, retired or superseded by similarity. The same words of the same kind are the same claim; words that say
the contrary are linked and both kept; a claim that its own session no longer bears out once it went on is withdrawn.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from tallystick.beliefs import ClaimRow, facets_of
from tallystick.language.polarity import negations
from tallystick.language.telling import telling_words
from tallystick.model.claim import Candidate, ClaimKind
from tallystick.model.entry import EntryKind
from tallystick.model.temporal import UNKNOWN_VALID_TIME, ValidTime
from tallystick.store.protocol import Reading
from tallystick.trail import Appender
from tallystick.workflows.certifying import Certified, verdict_part, words_shown

JUDGED_AT_ONCE = 50
LEAST_WORDS = 2
"""Telling words that two claims must share, all of them, before their polarity is compared."""
WITHDRAWN = "the session went on and no longer bears this out"


class Holders(NamedTuple):
    """In whose memory a session's claims stand, by id."""

    project: str
    person: str

    def of(self, candidate: Candidate) -> str:
        """A person's preferences follow the person; everything else stays with the project."""
        return self.person if candidate.kind is ClaimKind.PREFERENCE else self.project


class Known(NamedTuple):
    """A claim of before, with the events that bear it."""

    claim: int
    is_open: bool
    """Held, and not narrowed to a time that is over: saying it again is no news."""
    events: frozenset[str]
    withdrawn: bool
    """Closed by an earlier reading of its own session, and by nobody else."""
    said_at: int


class Reconciler:
    """Appends what a session says to a trail that may know part of it."""

    def __init__(
        self, appender: Appender, holders: Holders, digest: Callable[[bytes], bytes], count_tokens: Callable[[str], int]
    ) -> None:
        self._to = appender
        self._holders = holders
        self._digest = digest
        self._count_tokens = count_tokens
        self._verdicts: dict[int, bytes] = {}
        self._filed: dict[bytes, int] = {}
        self._texts: dict[int, str] = {}
        self._borne: set[tuple[int, str]] = set()
        self.counts: Counter[str] = Counter()

    def session(self, session: int, said: Sequence[Certified], by: str) -> None:
        """Append everything that one session says, and withdraw what it said before and no longer does.

        ``by`` names the extractor; claims that came another way are never withdrawn here.
        """
        rows = self._to.rows
        before = [row for row in rows.claims_of(session) if rows.open_version(row.claim)]
        keys = [self._key(certified.candidate) for certified in said]
        known = self._known(rows, said, keys)
        told = {claim: known_claim(rows, claim, self._to.at) for claim in set(known.values())}
        offered = {known[key] for key in keys if key in known}
        for certified, key in zip(said, keys, strict=True):
            claim = self._filed.get(key, known.get(key))
            if claim is None:
                self.assert_claim(certified, session, by, key=key)
            elif claim in told:
                self._again(told[claim], certified, session, by, key)
            elif (claim, certified.event) not in self._borne:
                self._reconfirm(claim, certified, session)
        self._withdraw(rows, [row for row in before if row.claim not in offered], session, by)
        self.finish()

    def one(self, certified: Certified, session: int, by: str) -> int:
        """Append a single claim, or reconfirm the one that says the same, and return its id."""
        key = self._key(certified.candidate)
        claim = self._known(self._to.rows, [certified], [key]).get(key)
        if claim is None:
            claim = self.assert_claim(certified, session, by, key=key)
        else:
            known = known_claim(self._to.rows, claim, self._to.at)
            if not known.is_open:
                claim = self.assert_claim(certified, session, by, key=key, again=claim)
            elif certified.event and certified.event in known.events:
                self._rejudge(claim, certified)
            else:
                self._reconfirm(claim, certified, session)
                self._judge(claim, certified)
        self.finish()
        return claim

    def _known(self, rows: Reading, said: Sequence[Certified], keys: Sequence[bytes]) -> dict[bytes, int]:
        """Claims of before by the key of what is said: byte-equal text, or else equal ``about``."""
        known: dict[bytes, int] = {}
        for certified, key in zip(said, keys, strict=True):
            for each in (key, *self._about_key(certified.candidate)):
                claim = rows.same(each) if key not in known else None
                # The key only finds it; whether it says the same is for its own words to tell.
                if claim is not None and (each != key or _text(rows, claim) == certified.candidate.text):
                    known[key] = claim
        return known

    def assert_claim(self, certified: Certified, session: int, by: str, *, key: bytes = b"", again: int = -1) -> int:
        """Open a claim and return its id; ``again`` names the closed one that it takes up."""
        candidate = certified.candidate
        holder = self._holders.of(candidate)
        facets = {
            "attribute": candidate.about.attribute,
            "by": by,
            "event": certified.event,
            "kind": str(candidate.kind),
            "origin": str(candidate.origin),
            "said_at": -1 if candidate.said_at is None else candidate.said_at,
            "session": session,
            "subject": candidate.about.subject,
            "tokens": max(map(self._count_tokens, words_shown(candidate))),
            "value": candidate.about.value,
        }
        parts = {
            "facets": _json({name: value for name, value in facets.items() if value != ""}),
            "text": _utf8(candidate.text),
        }
        if candidate.quote:
            parts["quote"] = _utf8(candidate.quote)
        if candidate.valid != UNKNOWN_VALID_TIME:
            parts["valid"] = valid_part(candidate.valid)
        claim = self._to.add(EntryKind.ASSERTED, parts, refs=[again] if again >= 0 else [], holder=holder)
        self.counts["asserted"] += 1
        self.opened(claim, certified, key or self._key(candidate))
        return claim

    def opened(self, claim: int, certified: Certified, key: bytes) -> None:
        """What follows when a claim has been opened: its verdicts, its keys, and its conflicts."""
        candidate = certified.candidate
        self._borne.add((claim, certified.event))
        self._judge(claim, certified)
        self._filed[key] = claim
        self._texts[claim] = candidate.text
        for other_key in self._about_key(candidate):
            self._filed[other_key] = claim
        self._conflict(claim, candidate)

    def _again(self, known: Known, certified: Certified, session: int, by: str, key: bytes) -> None:
        if certified.event in known.events or (known.claim, certified.event) in self._borne:
            if known.is_open:
                self._rejudge(known.claim, certified)
            elif known.withdrawn:
                self.assert_claim(certified, session, by, key=key, again=known.claim)
            return
        if not known.is_open:
            self.assert_claim(certified, session, by, key=key, again=known.claim)
            return
        self._reconfirm(known.claim, certified, session)
        if (certified.candidate.said_at or -1) >= known.said_at:
            self._judge(known.claim, certified)

    def _reconfirm(self, claim: int, certified: Certified, session: int) -> None:
        """A second observation, no second claim (TIME.12)."""
        said_at = certified.candidate.said_at
        facets = {"event": certified.event, "said_at": -1 if said_at is None else said_at, "session": session}
        parts = {"facets": _json(facets)}
        if certified.candidate.quote:
            parts["quote"] = _utf8(certified.candidate.quote)
        self._borne.add((claim, certified.event))
        self._to.add(EntryKind.RECONFIRMED, parts, refs=[claim])
        self.counts["reconfirmed"] += 1

    def _judge(self, claim: int, certified: Certified) -> None:
        self._verdicts[claim] = verdict_part(certified.verdicts, certified.settle)
        if len(self._verdicts) >= JUDGED_AT_ONCE:
            self._write_verdicts()

    def _rejudge(self, claim: int, certified: Certified) -> None:
        """A verdict is written again only where it changed (TIME.13)."""
        standing = {row.axis: (row.value, row.reason) for row in self._to.rows.verdicts(claim)}
        now = {
            "outcome" if verdict.verifier.startswith("outcome/") else "derivation": (str(verdict.value), verdict.reason)
            for verdict in certified.verdicts
        }
        if any(standing.get(axis) != value for axis, value in now.items()):
            self._judge(claim, certified)
            self.counts["rejudged"] += 1

    def _write_verdicts(self) -> None:
        if self._verdicts:
            parts = {f"verdict/{claim}": body for claim, body in self._verdicts.items()}
            self._to.add(EntryKind.JUDGED, parts, refs=sorted(self._verdicts))
            self._verdicts = {}

    def _withdraw(self, rows: Reading, gone: Iterable[ClaimRow], session: int, by: str) -> None:
        for row in gone:
            parts = {part.name: part.body for part in rows.parts(row.claim)}
            others = [
                event for event in known_claim(rows, row.claim, self._to.at).events if event != facets_of(parts).event
            ]
            if _by(parts) == by and not others:
                self._to.add(EntryKind.RETRACTED, {"because": _utf8(WITHDRAWN), "withdrawn": b"{}"}, refs=[row.claim])
                self.counts["withdrawn"] += 1

    def _conflict(self, claim: int, candidate: Candidate) -> None:
        """Flag an open claim of the same holder that says the contrary in the same words; resolve nothing (CARRY.4)."""
        words = telling_words(candidate.text)
        if len(words) < LEAST_WORDS:
            return
        key = self._digest(_words_key(self._holders.of(candidate), words))
        other = self._filed.get(key)
        if other is None:
            other = self._to.same(key)
        self._filed[key] = claim
        if other is None or other == claim:
            return
        rows = self._to.rows
        text = self._texts.get(other) or _text(rows, other)
        if rows.open_version(other) and _denies(text) != _denies(candidate.text):
            older = rows.claim_row(other)
            said = -1 if candidate.said_at is None else candidate.said_at
            newer, earlier = (claim, other) if older is None or said >= older.said_at else (other, claim)
            self._to.add(EntryKind.LINKED, {"contradicts": b"{}"}, refs=[newer, earlier])
            self.counts["contradictions"] += 1

    def finish(self) -> None:
        """Write what is still held back."""
        self._write_verdicts()
        self._to.rows.file(self._filed.items())
        self._filed = {}

    def _key(self, candidate: Candidate) -> bytes:
        """Same holder, same kind, byte-equal text."""
        return self._digest(_text_key(self._holders.of(candidate), candidate.kind, candidate.text))

    def _about_key(self, candidate: Candidate) -> list[bytes]:
        if not all(candidate.about):
            return []
        return [self._digest(_about_key(self._holders.of(candidate), candidate.kind, candidate.about))]


def known_claim(rows: Reading, claim: int, at: int) -> Known:
    """What is known of a claim: whether it is held, and which events bear it."""
    parts = {part.name: part.body for part in rows.parts(claim)}
    facets = facets_of(parts)
    events = {facets.event}
    said_at = facets.said_at
    last = ""
    for touch in rows.touches(claim):
        last = touch.kind
        if touch.kind == EntryKind.RECONFIRMED:
            again = facets_of({part.name: part.body for part in rows.parts(touch.seq)})
            events.add(again.event)
            said_at = max(said_at, again.said_at)
    version = rows.open_version(claim)
    is_open = version is not None and any(interval.end > at for interval in version.valid)
    withdrawn = False
    if not is_open and last == EntryKind.RETRACTED:
        seq = rows.touches(claim)[-1].seq
        withdrawn = any(part.name == "withdrawn" for part in rows.parts(seq))
    return Known(claim, is_open, frozenset(events), withdrawn, said_at)


def refile(rows: Reading, digest: Callable[[bytes], bytes]) -> Iterator[tuple[bytes, int]]:
    """The keys of every claim of a log, to be filed anew under another digest key; a later claim takes a key over."""
    for row in rows.rows("claim"):
        claim = row[0] if isinstance(row[0], int) else -1
        parts = {part.name: part.body for part in rows.parts(claim)}
        facets, holder = facets_of(parts), str(row[1])
        if "text" in parts:
            text = parts["text"].decode("utf-8", "replace")
            yield digest(_text_key(holder, facets.kind, text)), claim
            words = telling_words(text)
            if len(words) >= LEAST_WORDS:
                yield digest(_words_key(holder, words)), claim
        if facets.subject and facets.attribute and facets.value:
            yield digest(_about_key(holder, facets.kind, (facets.subject, facets.attribute, facets.value))), claim


def _text_key(holder: str, kind: str, text: str) -> bytes:
    """Same holder, same kind, byte-equal text."""
    return f"text\0{holder}\0{kind}\0{text}".encode("utf-8", "replace")


def _about_key(holder: str, kind: str, about: Sequence[str]) -> bytes:
    """Same holder, same kind, equal subject, attribute and value."""
    return "\0".join(["about", holder, kind, *about]).encode("utf-8", "replace")


def _words_key(holder: str, words: Sequence[str]) -> bytes:
    """Same holder, the same telling words, whichever way they are turned."""
    return "\0".join(["words", holder, *words]).encode("utf-8", "replace")


def valid_part(valid: ValidTime) -> bytes:
    """The bytes of a ``valid`` part."""
    return _json(
        {
            "end_known": valid.end_known,
            "flags": list(valid.flags),
            "intervals": [list(interval) for interval in valid.intervals],
            "precision": valid.precision,
            "start_known": valid.start_known,
            "words": valid.words,
        }
    )


def _by(parts: dict[str, bytes]) -> str:
    try:
        return str(json.loads(parts.get("facets", b"{}")).get("by", ""))
    except ValueError:
        return ""


def _text(rows: Reading, claim: int) -> str:
    return next((part.body.decode("utf-8", "replace") for part in rows.parts(claim) if part.name == "text"), "")


def _denies(text: str) -> bool:
    return len(negations(text)) % 2 == 1


def _json(value: dict[str, object]) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8", "replace")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
