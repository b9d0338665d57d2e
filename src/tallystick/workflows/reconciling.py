"""Reconciling: what a session says now against what is already believed, as entries (CARRY.4, 6, TIME.8, 12, 13).

Nothing is merged, retired or superseded by similarity. The same words of the same kind are the same claim; words that say
the contrary are linked and both kept; a claim that its own session no longer bears out once it went on is withdrawn.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from tallystick.beliefs import ClaimRow, facets_of, object_of
from tallystick.errors import UsageError
from tallystick.language.polarity import denies
from tallystick.language.telling import telling_words
from tallystick.model.claim import Candidate, ClaimKind
from tallystick.model.entry import EntryKind
from tallystick.model.temporal import UNKNOWN_VALID_TIME
from tallystick.store.protocol import Reading
from tallystick.trail import Appender
from tallystick.trail.erased import was_erased
from tallystick.workflows.attributes import Superseding, is_one_valued, one_valued, superseding
from tallystick.workflows.certifying import Certified, verdict_part, words_shown
from tallystick.workflows.tombstones import Tombstones
from tallystick.workflows.valid_times import valid_part

JUDGED_AT_ONCE = 50
LEAST_WORDS = 2
"""Telling words that two claims must share, all of them, before their polarity is compared."""
FORGOTTEN = "these words were forgotten, and what was forgotten is not kept again; say it in other words"
LATER = "another value of an attribute that has one at a time"
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
        self._one_valued: frozenset[tuple[str, str]] | None = None
        self._has_gaps = False
        """Whether events of the session at hand were erased."""
        self._forgotten: set[int] = set()
        """Claims that were looked up and whose words were erased: what says the same is not kept again."""
        self.counts: Counter[str] = Counter()

    def session(self, session: int, said: Sequence[Certified], by: str) -> None:
        """Append everything that one session says, and withdraw what it said before and no longer does.

        ``by`` names the extractor; claims that came another way are never withdrawn here.
        """
        rows = self._to.rows
        self._has_gaps = was_erased(rows, session)
        before = [row for row in rows.claims_of(session) if rows.open_version(row.claim)]
        keys = [self._key(certified.candidate) for certified in said]
        known = self._known(rows, said, keys)
        told = {claim: known_claim(rows, claim, self._to.at) for claim in set(known.values()) - self._forgotten}
        offered = {known[key] for key in keys if key in known}
        for certified, key in zip(said, keys, strict=True):
            claim = self._filed.get(key, known.get(key))
            if claim in self._forgotten:
                self.counts["tombstoned"] += 1
            elif self._has_one_value(certified.candidate):
                offered.add(self._say_value(certified, session, by, key))
            elif claim is None:
                self.assert_claim(certified, session, by, key=key)
            elif claim in told:
                self._again(told[claim], certified, session, by, key)
            elif (claim, certified.event) not in self._borne:
                self._reconfirm(claim, certified, session)
        if not self._has_gaps:
            self._withdraw(rows, [row for row in before if row.claim not in offered], session, by)
        self.finish()

    def one(self, certified: Certified, session: int, by: str) -> int:
        """Append a single claim, or reconfirm the one that says the same, and return its id.

        Raises:
            UsageError: the claim that says the same was forgotten.
        """
        key = self._key(certified.candidate)
        self._has_gaps = was_erased(self._to.rows, session)
        claim = self._known(self._to.rows, [certified], [key]).get(key)
        if claim in self._forgotten:
            raise UsageError(f"{FORGOTTEN} (it was c{claim})")
        if self._has_one_value(certified.candidate):
            claim = self._say_value(certified, session, by, key)
        elif claim is None:
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
        """Claims of before by the key of what is said: byte-equal text, or else equal ``about``; forgotten ones too."""
        known: dict[bytes, int] = {}
        for certified, key in zip(said, keys, strict=True):
            for each in (key, *self._about_key(certified.candidate)):
                claim = rows.same(each) if key not in known else None
                if claim is None:
                    continue
                text = rows.text(claim)
                if text is None and was_erased(rows, claim):
                    self._forgotten.add(claim)
                    known[key] = claim
                # The key only finds it; whether it says the same is for its own words to tell, while it has them.
                elif each != key or text == certified.candidate.text:
                    known[key] = claim
            claim = self._forgotten_by_name(rows, certified.candidate) if key not in known else -1
            if claim >= 0:
                self._forgotten.add(claim)
                known[key] = claim
        return known

    def _forgotten_by_name(self, rows: Reading, candidate: Candidate) -> int:
        """A claim that was forgotten and said this, of a holder of the same name that is forgotten too; -1 for none."""
        tombstones = Tombstones(rows, self._digest)
        if not tombstones:
            return -1
        holder = self._holders.of(candidate)
        name = next((each.name for each in rows.names("holder") if each.id == holder), "")
        return tombstones.claim(name, candidate.kind, candidate.text, candidate.about)

    def assert_claim(
        self,
        certified: Certified,
        session: int,
        by: str,
        *,
        key: bytes = b"",
        again: int = -1,
        place: Superseding | None = None,
    ) -> int:
        """Open a claim and return its id; ``again`` names the one that it takes up, ``place`` what it takes the place of."""
        candidate = certified.candidate
        holder = self._holders.of(candidate)
        key = key or self._key(candidate)
        if place is not None:
            candidate = candidate._replace(valid=place.valid)
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
        if place is not None and place.olds:
            parts["because"] = _utf8(LATER)
            if place.change:
                parts["change"] = b"{}"
            claim = self._to.add(EntryKind.REVISED, parts, refs=place.olds, holder=holder)
            self.counts["superseding"] += 1
        else:
            claim = self._to.add(EntryKind.ASSERTED, parts, refs=[again] if again >= 0 else [], holder=holder)
        self.counts["asserted"] += 1
        self.opened(claim, certified, key)
        return claim

    def _has_one_value(self, candidate: Candidate) -> bool:
        """Whether it is about an attribute that is registered as having one value at a time."""
        if not all(candidate.about):
            return False
        if self._one_valued is None:
            self._one_valued = one_valued(self._to.rows)
        return is_one_valued(self._one_valued, candidate.about.subject, candidate.about.attribute)

    def _say_value(self, certified: Certified, session: int, by: str, key: bytes) -> int:
        """Say what value an attribute has that has one at a time, given what is held now; the claim that says it (TIME.6)."""
        rows, candidate = self._to.rows, certified.candidate
        holder = self._holders.of(candidate)
        same = [row.claim for row in rows.about(holder, *candidate.about[:2]) if row.value == candidate.about.value]
        known = [known_claim(rows, claim, self._to.at) for claim in same]
        for each in known:
            if certified.event and certified.event in each.events and not each.withdrawn:
                if rows.open_version(each.claim):
                    self._rejudge(each.claim, certified)
                return each.claim
        place = superseding(rows, holder, candidate, self._to.at)
        if place.said_in >= 0:
            self._reconfirm(place.said_in, certified, session)
            self._judge(place.said_in, certified)
            return place.said_in
        claim = self.assert_claim(certified, session, by, key=key, again=max(same, default=-1), place=place)
        for other in place.against:
            self._to.add(EntryKind.LINKED, {"contradicts": b"{}"}, refs=[claim, other])
            self.counts["contradictions"] += 1
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
        """A verdict is written again only where it changed (TIME.13), and never over what is left of a session: what was
        erased of it may be what spoke against the claim."""
        if self._has_gaps:
            return
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
        if rows.open_version(other) and denies(text) != denies(candidate.text):
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
        return self._digest(text_key(self._holders.of(candidate), candidate.kind, candidate.text))

    def _about_key(self, candidate: Candidate) -> list[bytes]:
        if not all(candidate.about):
            return []
        return [self._digest(about_key(self._holders.of(candidate), candidate.kind, candidate.about))]


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
        yield from keys_of(rows, digest, claim, str(row[1]))


def keys_of(rows: Reading, digest: Callable[[bytes], bytes], claim: int, holder: str) -> Iterator[tuple[bytes, int]]:
    """The keys under which a claim is filed, so that it is known when it is said again."""
    parts = {part.name: part.body for part in rows.parts(claim)}
    facets = facets_of(parts)
    if "text" in parts:
        text = parts["text"].decode("utf-8", "replace")
        yield digest(text_key(holder, facets.kind, text)), claim
        words = telling_words(text)
        if len(words) >= LEAST_WORDS:
            yield digest(_words_key(holder, words)), claim
    if facets.subject and facets.attribute and facets.value:
        yield digest(about_key(holder, facets.kind, (facets.subject, facets.attribute, facets.value))), claim


def text_key(holder: str, kind: str, text: str) -> bytes:
    """Same holder, same kind, byte-equal text."""
    return f"text\0{holder}\0{kind}\0{text}".encode("utf-8", "replace")


def about_key(holder: str, kind: str, about: Sequence[str]) -> bytes:
    """Same holder, same kind, equal subject, attribute and value."""
    return "\0".join(["about", holder, kind, *about]).encode("utf-8", "replace")


def _words_key(holder: str, words: Sequence[str]) -> bytes:
    """Same holder, the same telling words, whichever way they are turned."""
    return "\0".join(["words", holder, *words]).encode("utf-8", "replace")


def _by(parts: dict[str, bytes]) -> str:
    return str(object_of(parts.get("facets", b"")).get("by", ""))


def _text(rows: Reading, claim: int) -> str:
    return next((part.body.decode("utf-8", "replace") for part in rows.parts(claim) if part.name == "text"), "")


def _json(value: dict[str, object]) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8", "replace")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
