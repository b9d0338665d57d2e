"""Selecting: everything of the memory log that a selector takes in, and what stays all the same, with the reason (ERASE.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from tallystick.beliefs import facets_of
from tallystick.log.canonical import entry_from_bytes
from tallystick.log.strict_json import json_value
from tallystick.model.entry import Entry, EntryKind
from tallystick.model.evidence import Origin
from tallystick.store.protocol import ArchivedEvent, PartRow, Reading
from tallystick.trail.archive import ArchiveReader, event_from_record, is_erased, names_itself, unpacked
from tallystick.trail.erasing import Erasure, with_copies
from tallystick.workflows.ingest import session_facts
from tallystick.workflows.occurrences import Needles
from tallystick.workflows.reconciling import about_key, text_key
from tallystick.workflows.tombstones import Digest, claim_keys, moment_key, nameless, session_key, source_key, words_key
from tallystick.workflows.tombstones import text_key as forgotten_text_key

OWN_PARTS = frozenset({"text", "quote", "facets", "because", "valid"})
"""Parts of an entry that opens a claim which say something of it."""
_ABOUT = {
    EntryKind.RECONFIRMED: frozenset({"facets", "quote"}),
    EntryKind.RETRACTED: frozenset({"because"}),
    EntryKind.REVISED: frozenset({"because"}),
    EntryKind.UNDONE: frozenset({"because"}),
}
"""Parts that say something of a claim, by the kind of an entry that touched it."""
_OF_HOLDER = {
    "because": frozenset({EntryKind.LINKED, EntryKind.UNDONE}),
    "proposal": frozenset({EntryKind.PROPOSED}),
}
"""Kinds of entries that say something of a holder, by the part that says it."""


class Kept(NamedTuple):
    """Something that stays, or that could not be erased."""

    place: str
    where: str
    """``c7``, ``s3 e12ab…``, ``entry 40``."""
    why: str
    failed: bool = False
    """It was to go, and could not."""
    unread: bool = False
    """It could not be read, so nobody can tell."""


class Selected:
    """What goes and what stays. Filled by the functions of this module; ``rows`` is the memory log as it stands."""

    def __init__(self, rows: Reading, digest: Digest) -> None:
        self.rows = rows
        self.digest = digest
        self.parts: defaultdict[int, set[str]] = defaultdict(set)
        self.events: dict[int, set[int]] = {}
        self.ids: dict[tuple[int, int], str] = {}
        """What erased events go by, by session and number, whose ids were made of a name that goes."""
        self.sources: set[int] = set()
        self.sessions: set[int] = set()
        """Sessions that are forgotten as such."""
        self.claims: set[int] = set()
        """Claims whose words go, or are gone already."""
        self.losing: set[int] = set()
        """Claims that stay and lose what a forgotten session says of them."""
        self.words: list[str] = []
        """Texts and quotes that go with claims."""
        self.names: list[str] = []
        """Of holders that go."""
        self.holders = {name.id: name.name for name in rows.names("holder")}
        self.kept: list[Kept] = []
        self.known: list[tuple[bytes, int]] = []
        """Keyed digests to recognise by what is erased."""
        self.evidence: dict[str, None] = {}
        """Ids of archived events that claims which go were found in or rest on."""
        self.transcripts: set[str] = set()
        """Paths of the harnesses' own files that told of it."""
        self.personal: set[str] = set()
        """What a person said or approved: ``c7``, ``s3 e12ab…``; each needs the person's key (ERASE.4)."""

    @property
    def erasure(self) -> Erasure:
        """What is to be erased of the memory log."""
        parts = {seq: names for seq, names in self.parts.items() if names}
        return Erasure(parts, {s: numbers for s, numbers in self.events.items() if numbers}, self.sources, self.ids)

    def take(self, seq: int, names: Collection[str], *, there: Collection[str] | None = None) -> set[str]:
        """Have those of an entry's parts go that are there; gives their names."""
        found = {part.name for part in self.rows.parts(seq)} if there is None else set(there)
        taken = found & set(names)
        if taken:
            self.parts[seq] |= taken
        return taken


def select_claims(to: Selected, claims: Iterable[int]) -> None:
    """Claims with everything that was said of them; the words they were found in stay in the archive, and are named."""
    for claim in sorted(set(claims) - to.claims):
        _claim(to, claim)
    _verdicts(to, frozenset(to.claims), frozenset())


def select_session(to: Selected, sessions: Collection[int], claims: Collection[int] | None = None) -> None:
    """Sessions with all of their events, and the claims that no other session bears out.

    With ``claims`` those alone go, whoever bears them out.
    """
    rows = to.rows
    for session in sorted(sessions):
        to.sessions.add(session)
        to.events.setdefault(session, set()).update(row.n for row in rows.session_events(session) if not is_erased(row))
        for row in rows.claims_of(session):
            if claims is None and not _borne_out_elsewhere(to, row.claim, session):
                to.claims.add(row.claim)
            elif claims is None or row.claim not in claims:
                to.losing.add(row.claim)
        _session_notes(to, session)
    for claim in sorted(to.claims | set(claims or ())):
        _claim(to, claim)
    _verdicts(to, frozenset(to.claims), frozenset(sessions))
    to.losing -= to.claims
    for claim in sorted(to.losing):
        _loses(to, claim, sessions)
    _with_events(to, moment_key)
    _ids_that_stay(to, sessions)


def select_holder(to: Selected, holder: str) -> None:
    """A holder with its claims, its sessions and its name."""
    rows = to.rows
    mine = {
        int(str(row[0])) for row in rows.rows("claim") if row[1] == holder and rows.text(int(str(row[0]))) is not None
    }
    sessions = [name.seq for name in rows.names("session") if _entry(rows, name.seq).holder == holder]
    select_session(to, sessions, mine)
    for name in rows.names("holder"):
        if name.id == holder and to.take(name.seq, {"holder"}):
            to.names.append(name.name)
            _of_holder(to, name.seq)


def _of_holder(to: Selected, introduced: int) -> None:
    """Why a holder was joined with another or parted from it, and what was proposed of it."""
    about = {introduced, *(link.seq for link in to.rows.links_of(introduced))}
    for part in all_parts(to.rows):
        kinds = _OF_HOLDER.get(part.name, ())
        entry = _entry(to.rows, part.seq) if kinds else None
        if entry is not None and entry.kind in kinds and not about.isdisjoint(entry.refs):
            to.parts[part.seq].add(part.name)


def select_text(to: Selected, needles: Needles) -> None:
    """Everything in which a text stands: a claim as a whole, an archived event as a whole, else the one part."""
    rows = to.rows
    found: set[int] = set()
    for part in all_parts(rows):
        if needles.stand_in_part(part.name, part.body):
            found |= _where_text_stands(to, part)
    reader = ArchiveReader(rows)
    blocks = _blocks_with(rows, needles)
    for row in rows.events() if blocks else ():
        if row.block in blocks and needles.stand_in_record(reader.record(row)):
            to.events.setdefault(row.session, set()).add(row.n)
    for claim in sorted(found):
        _claim(to, claim)
    _verdicts(to, frozenset(to.claims), frozenset())
    for name in rows.names("session"):
        for source in rows.sources(name.seq):
            if needles.stand_in(source.path) or needles.may_stand_in(source.calls):
                _forget_sources(to, name.seq)
    _with_events(to, words_key)
    _ids_that_stay(to, _names_in_ids(to, needles))
    to.known += [(to.digest(forgotten_text_key(text)), rows.head().size) for text in needles.texts]
    _valid_that_stays(to, found, needles)


def _claim(to: Selected, claim: int) -> None:
    """Everything that is kept of one claim but the words it was found in."""
    rows = to.rows
    to.claims.add(claim)
    row = rows.claim_row(claim)
    there = {part.name: part.body for part in rows.parts(claim)}
    touches = rows.touches(claim)
    if row is not None and (row.origin == Origin.USER or any(t.kind == EntryKind.APPROVED for t in touches)):
        to.personal.add(f"c{claim}")
    names = set(OWN_PARTS)
    if "valid" in there and _is_rested_on(rows, claim, [touch.seq for touch in touches]):
        names.discard("valid")
        to.kept.append(Kept("parts", f"c{claim}", "when it held: the valid time of another claim rests on it"))
    events = [facets_of(there).event]
    if "text" in there and row is not None:
        _known_by(to, claim, row.holder, there)
    to.words += [there[name].decode("utf-8", "replace") for name in ("text", "quote") if name in there]
    to.take(claim, names, there=there)
    for touch in touches:
        parts = {part.name: part.body for part in rows.parts(touch.seq)}
        to.take(touch.seq, _ABOUT.get(EntryKind(touch.kind), frozenset()), there=parts)
        if touch.kind == EntryKind.RECONFIRMED:
            events.append(facets_of(parts).event)
            to.words += [parts["quote"].decode("utf-8", "replace")] if "quote" in parts else []
    for link in rows.links_of(claim):
        to.take(link.seq, {"because"})
    told = {facets_of(there).session}
    for verdict in rows.verdicts(claim):
        body = next((p.body for p in rows.parts(verdict.judged) if p.name == f"verdict/{claim}"), b"")
        events += [event for _, event in _spans(body)]
    told |= {row.session for row in map(rows.event, filter(None, events)) if row is not None}
    to.transcripts |= {source.path for session in told for source in rows.sources(session)}
    to.evidence |= dict.fromkeys(event for event in events if event)


def _known_by(to: Selected, claim: int, holder: str, there: Mapping[str, bytes]) -> None:
    """File the claim under what it says, unless another one that is kept says the same.

    Under its holder's id, and under the name: a holder that was forgotten and is named again has another id.
    """
    facets = facets_of(there)
    text, about = there["text"].decode("utf-8", "replace"), (facets.subject, facets.attribute, facets.value)
    keys = [text_key(holder, facets.kind, text)]
    if all(about):
        keys.append(about_key(holder, facets.kind, about))
    name = to.holders.get(holder, "")
    named = claim_keys(name, facets.kind, text, about) if name else [b""] * len(keys)
    for key, by_name in zip(map(to.digest, keys), named, strict=True):
        other = to.rows.same(key)
        if other is None or other == claim or to.rows.text(other) is None:
            to.known += [(key, claim), *([(to.digest(by_name), claim)] if by_name else [])]


def _is_rested_on(rows: Reading, claim: int, touched: Iterable[int]) -> bool:
    """Whether the claim revised another or was revised: then when others held came out of when it did (TIME.5–7)."""
    for seq in (claim, *touched):
        entry = _entry(rows, seq)
        if entry.kind == EntryKind.REVISED and not any(name == "into" for name, _ in entry.parts):
            return True
    return False


def _borne_out_elsewhere(to: Selected, claim: int, session: int) -> bool:
    for touch in to.rows.touches(claim):
        if touch.kind == EntryKind.RECONFIRMED:
            again = facets_of({part.name: part.body for part in to.rows.parts(touch.seq)})
            if again.session != session:
                return True
    return False


def _loses(to: Selected, claim: int, sessions: Collection[int]) -> None:
    """What a claim that stays has of forgotten sessions: its quote if it was said there, and reconfirmations."""
    rows = to.rows
    there = {part.name: part.body for part in rows.parts(claim)}
    if facets_of(there).session in sessions and "quote" in there:
        to.words.append(there["quote"].decode("utf-8", "replace"))
        to.take(claim, {"quote"})
    for touch in rows.touches(claim):
        parts = {part.name: part.body for part in rows.parts(touch.seq)}
        if touch.kind == EntryKind.RECONFIRMED and facets_of(parts).session in sessions:
            to.words += [parts["quote"].decode("utf-8", "replace")] if "quote" in parts else []
            to.take(touch.seq, {"facets", "quote"}, there=parts)
    if rows.text(claim) is not None:
        to.kept.append(Kept("parts", f"c{claim}", "another session or holder bears it out; it lost its evidence here"))


def _verdicts(to: Selected, claims: Collection[int], sessions: Collection[int]) -> None:
    """The verdicts on claims that go, and on others those that rest on a session that goes: one pass over all parts."""
    labels = {f"s{session}" for session in sessions}
    if not (claims or labels):
        return
    reconfirmed: set[int] = set()
    for part in all_parts(to.rows):
        kind, _, number = part.name.partition("/")
        if kind == "verdict" and number.isdecimal():
            claim = int(number)
            if claim in claims:
                to.parts[part.seq].add(part.name)
            elif labels and any(session in labels for session, _ in _spans(part.body)):
                to.parts[part.seq].add(part.name)
                to.losing.add(claim)
        elif labels and part.name == "facets" and facets_of({"facets": part.body}).session in sessions:
            reconfirmed.add(part.seq)
    for seq in reconfirmed:
        entry = _entry(to.rows, seq)
        if entry.kind == EntryKind.RECONFIRMED and entry.refs:
            to.losing.add(entry.refs[0])


def _spans(body: bytes) -> list[tuple[str, str]]:
    """(session, event) of every span in a verdict."""
    try:
        verdicts = json_value(body)["verdicts"]
        return [(str(span[0]), str(span[1])) for each in verdicts for span in each.get("spans", ())]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        return []


def _session_notes(to: Selected, session: int) -> None:
    """Name, title and folder of a session, the paths of its files, and what ingest noted of them."""
    rows = to.rows
    for name in rows.names("session"):
        if name.seq == session and to.take(session, {"session"}):
            facts = session_facts(name)
            key = session_key(facts.get("harness", ""), name.name, facts.get("thread", ""))
            to.known.append((to.digest(key), session))
    for touch in rows.touches(session):
        if touch.kind == EntryKind.OBSERVED:
            to.take(touch.seq, {"source"})
    _forget_sources(to, session)


def _forget_sources(to: Selected, session: int) -> None:
    for source in to.rows.sources(session):
        to.sources.add(session)
        to.transcripts.add(source.path)
        to.known.append((to.digest(source_key(source.path)), session))


def _with_events(to: Selected, key: Callable[..., bytes]) -> None:
    """Every copy of the events that go; what they are known by; and which of them a person said."""
    to.events = with_copies(to.rows, to.events)
    reader = ArchiveReader(to.rows)
    uids: dict[str, str] = {}
    for session, numbers in sorted(to.events.items()):
        to.transcripts |= {source.path for source in to.rows.sources(session)} if numbers else set()
        for row in to.rows.session_events(session):
            if row.n in numbers and row.event not in uids:
                uids[row.event] = _event(to, row, reader, key)
    for session in sorted({*to.events, *(seq for seq, names in to.parts.items() if "session" in names)}):
        _nameless(to, session, uids)


def _nameless(to: Selected, session: int, uids: Mapping[str, str]) -> None:
    """Other ids for the events that go of a session whose name goes or is gone: their own confirm a guess of it (ERASE.2).

    Those that went before the name get one as well; a UUID's is kept, since nobody guesses it and an import knows it.
    """
    goes = "session" in to.parts.get(session, ())
    if not goes and any(part.name == "session" for part in to.rows.parts(session)):
        return
    for row in to.rows.session_events(session) if goes or to.events.get(session) else ():
        if (goes and is_erased(row)) or (
            row.n in to.events.get(session, ()) and not names_itself(uids.get(row.event, ""))
        ):
            to.ids[session, row.n] = nameless(to.digest, row.event)


def _ids_that_stay(to: Selected, sessions: Collection[int]) -> None:
    """Claims that stay and name an event whose id was made of a name that goes: a guess of the name is confirmed by it."""
    rows = to.rows
    gone = {row.event for each in sessions for row in rows.session_events(each) if (each, row.n) in to.ids}
    why = "names an event by an id made of the session's name, which confirms a guess of it; forget the claim too"
    found: set[int] = set()
    for part in all_parts(rows) if gone else ():
        kind, _, number = part.name.partition("/")
        if part.name in to.parts.get(part.seq, ()):
            continue
        if kind == "facets" and facets_of({kind: part.body}).event in gone:
            found |= {part.seq} if rows.claim_row(part.seq) is not None else set(_entry(rows, part.seq).refs[:1])
        elif kind == "verdict" and number.isdecimal() and any(event in gone for _, event in _spans(part.body)):
            found.add(int(number))
    to.kept += [Kept("parts", f"c{claim}", why, failed=True) for claim in sorted(found)]


def _names_in_ids(to: Selected, needles: Needles) -> set[int]:
    """The sessions whose own name has the text; named are those of which events stay, by ids that confirm the whole name."""
    why = "ids of events that stay are made of its name, and confirm a guess of all of it; `--session` erases them"
    reader = ArchiveReader(to.rows)
    found: set[int] = set()
    for name in to.rows.names("session"):
        if "session" not in to.parts.get(name.seq, ()):
            continue
        if not (needles.stand_in(name.name) or needles.stand_in(session_facts(name).get("thread", ""))):
            continue
        found.add(name.seq)
        going = to.events.get(name.seq, ())
        stay = (row for row in to.rows.session_events(name.seq) if row.n not in going and not is_erased(row))
        if any(not names_itself(event_from_record(reader.record(row)).uid) for row in stay):
            to.kept.append(Kept("archive", f"s{name.seq}", why, failed=True))
    return found


def _event(to: Selected, row: ArchivedEvent, reader: ArchiveReader, key: Callable[..., bytes]) -> str:
    """Take one event; gives the id that its harness gave it."""
    event = event_from_record(reader.record(row))
    to.known.append((to.digest(key(event)), row.session))
    if event.origin is Origin.USER:
        to.personal.add(f"s{row.session} {row.event}")
    return event.uid


def _where_text_stands(to: Selected, part: PartRow) -> set[int]:
    """Take the part in which a text stands; gives the claim, where it is one's own."""
    rows = to.rows
    entry = _entry(rows, part.seq)
    if entry.kind == EntryKind.ERASED:
        to.kept.append(
            Kept("parts", f"entry {part.seq}", "the reason of an earlier erasure is never erased", failed=True)
        )
        return set()
    if part.name in OWN_PARTS - {"because"} and rows.claim_row(part.seq) is not None:
        return {part.seq}
    to.parts[part.seq].add(part.name)
    if part.name == "session":
        _session_notes(to, part.seq)
    elif part.name == "source" and entry.refs:
        _forget_sources(to, entry.refs[0])
    return set()


def _valid_that_stays(to: Selected, claims: Iterable[int], needles: Needles) -> None:
    """Words in a valid time that others rest on: they were to go."""
    for claim in claims:
        for part in to.rows.parts(claim):
            if part.name == "valid" and "valid" not in to.parts[claim] and needles.stand_in_part(part.name, part.body):
                why = "the words of when it held: the valid time of another claim rests on them"
                to.kept.append(Kept("parts", f"c{claim}", why, failed=True))


def _blocks_with(rows: Reading, needles: Needles) -> set[int]:
    """Blocks in which a text stands somewhere."""
    return {row.block for row in rows.blocks() if needles.may_stand_in(unpacked(row.block, row.data))}


def all_parts(rows: Reading) -> Iterator[PartRow]:
    """Every part of a log, in order."""
    for seq, parts in rows.parts_between():
        for part in parts:
            yield PartRow(seq, *part)


def _entry(rows: Reading, seq: int) -> Entry:
    return next(entry_from_bytes(row.canon) for row in rows.entries(seq, seq + 1))
