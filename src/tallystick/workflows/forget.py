"""Forget: erase by claim, session, holder or text, from every place a value can be in, with a report per place (ERASE.1–4).

The access log and the ledger go first, the memory log last: only it says what is to be looked for in the others, so an
erasure that was stopped between two logs is finished by running it again. While it selects and erases, the memory log is held,
so nothing is added to it meanwhile. A briefing that was being made at that moment may still be logged after it; running it
again takes that too. The files of the engine are rid of free pages after the commits; a log for which that is outstanding says
so, and any later ``forget`` does it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

from tallystick.errors import MachineError, UnknownId, UsageError
from tallystick.model.entry import EntryKind, LogName
from tallystick.store.protocol import Reading
from tallystick.trail import Appender, Trail
from tallystick.trail.archive import is_erased
from tallystick.trail.erased import is_unscrubbed
from tallystick.trail.erasing import Erasure, erase, leave_known, scrub
from tallystick.workflows.corrections import mark_corrected
from tallystick.workflows.exports import Sought, drop_exports_named, known_exports
from tallystick.workflows.occurrences import Needles, forms_of
from tallystick.workflows.places import (
    CANNOT_TELL,
    ERASED,
    FOUND,
    KEPT,
    NOT_FOUND,
    PROPOSED,
    Place,
    stays,
    transcripts,
)
from tallystick.workflows.selecting import (
    Kept,
    Selected,
    select_claims,
    select_holder,
    select_session,
    select_text,
)
from tallystick.workflows.staying import Wording, evidence_that_stays, parts_in_answers, same_words
from tallystick.workflows.typed import fit

OTHER_LOGS = (LogName.ACCESS, LogName.LEDGER)
_SHORTEST_SAID = 4
"""Characters from which a reason is refused that has words of a claim in it."""


class Selector(NamedTuple):
    """What is to be forgotten; exactly one of these."""

    claim: int = -1
    session: int = -1
    """The seq that introduced it."""
    holder: str = ""
    """In full, by what follows the colon, or by id."""
    text: str = ""

    @property
    def said(self) -> str:
        """As a person would write it."""
        if self.claim >= 0:
            return f"c{self.claim}"
        if self.session >= 0:
            return f"s{self.session}"
        return f"--holder {self.holder}" if self.holder else f"--text {self.text}"


class Forgotten(NamedTuple):
    """What was done, or would be, place by place."""

    places: tuple[Place, ...]
    claims: tuple[int, ...]
    """Claims whose words are gone."""
    seq: int = -1
    """The entry of the memory log that says so; -1 where there is none."""
    proposal: int = -1
    """The entry that proposes it, where it needs the person's key."""
    personal: tuple[str, ...] = ()
    """What of it a person said or approved."""
    dry_run: bool = False

    @property
    def exit_code(self) -> int:
        """0 all gone, 1 something is left that was to go, 3 cannot tell."""
        states = {place.state for place in self.places}
        if self.dry_run:
            return 0
        if states & {FOUND, PROPOSED}:
            return 1
        return 3 if CANNOT_TELL in states else 0


def forget(
    trail: Trail, selector: Selector, because: str, *, dry_run: bool = False, persons_key: bool = False
) -> Forgotten:
    """Erase what ``selector`` takes in; with ``dry_run`` only say where it stands.

    What a person said or approved goes only with ``persons_key``, which says that the person's key was unlocked for this act;
    without it nothing is erased, and a proposal is appended instead (ERASE.4).

    Raises:
        UnknownId: no such claim or session. UsageError: no such holder, an empty text, or a reason that repeats what goes.
        TrailLocked, TrailUnwritable, TrailUnreadable: see ``Trail.writing``; what was erased before stays erased.
    """
    because = fit(because).strip()
    if not (because or dry_run):
        raise UsageError("forgetting needs --because; say why, and not what")
    if not trail.id:
        raise UsageError(f"{trail.store.location}: nothing was ever written there, so there is nothing to forget")
    with ExitStack() as logs:
        appender = None if dry_run else logs.enter_context(trail.writing())
        rows = logs.enter_context(trail.reading()) if appender is None else appender.rows
        act = _Act(trail, selector, rows)
        if not dry_run:
            _refuse_what_repeats(because, act)
        if appender is None:
            return act.report(FOUND, dry_run=True)
        if act.selected.personal and not persons_key:
            proposal = _propose(appender, selector, because, act.refs)
            done = act.report(PROPOSED)._replace(proposal=proposal)
        else:
            done = act.report(ERASED)
            answers = act.erase_answers(because)
            done = done._replace(seq=_erase(appender, act, because, answers))
            drop_exports_named(trail, act.needles)
    for log in LogName:
        if log in act.touched or log is LogName.MEMORY:
            trail.seal(log)
    if done.proposal >= 0:
        return done
    mark_corrected(trail)
    return done._replace(places=(*done.places, _scrubbed(trail)))


class _Act:
    """One forgetting: what was selected, and where it stands."""

    def __init__(self, trail: Trail, selector: Selector, rows: Reading) -> None:
        self.trail = trail
        self.rows = rows
        self.refs: list[int] = []
        self.selected = Selected(rows, partial(trail.outside.digest, trail.id))
        self.needles = Needles(())
        self.touched: set[LogName] = set()
        self._select(selector)
        self.wording = Wording(self.selected, self.needles)
        self.stays = [
            *self.selected.kept,
            *evidence_that_stays(self.selected),
            *same_words(self.selected, self.wording),
        ]

    def _select(self, selector: Selector) -> None:
        rows, selected = self.rows, self.selected
        if selector.claim >= 0:
            if rows.claim_row(selector.claim) is None:
                raise UnknownId(f"c{selector.claim}: no such claim; `tally replay` lists what is believed")
            self.refs = [selector.claim]
            select_claims(selected, [selector.claim])
        elif selector.session >= 0:
            if not any(name.seq == selector.session for name in rows.names("session")):
                raise UnknownId(f"s{selector.session}: no such session")
            self.refs = [selector.session]
            select_session(selected, [selector.session])
        elif selector.holder:
            holder, seq = _holder(rows, selector.holder)
            self.refs = [seq]
            select_holder(selected, holder)
        elif selector.text.strip():
            self.needles = Needles(forms_of(selector.text))
            select_text(selected, self.needles)
        else:
            raise UsageError("the text to forget is empty; it would be everything")

    def answers(self, rows: Reading) -> tuple[dict[int, set[str]], list[Kept]]:
        """What another log says of it."""
        return parts_in_answers(rows, self.selected.claims, self.wording)

    def erase_answers(self, because: str) -> list[tuple[str, tuple[int, ...]]]:
        """Erase it from the other logs; gives the entries that say so, by log."""
        said: list[tuple[str, tuple[int, ...]]] = []
        for log in OTHER_LOGS:
            with self.trail.reading(log) as rows:
                found, _ = self.answers(rows)
            if not found:
                continue
            with self.trail.writing(log) as appender:
                found, _ = self.answers(appender.rows)
                said.append((str(log), (erase(appender, Erasure(found, {}), because),)))
            self.touched.add(log)
        return said

    def report(self, state: str, *, dry_run: bool = False) -> Forgotten:
        """Where everything stands, told before any of it goes; ``state`` is what becomes of what is to go."""
        selected, erasure = self.selected, self.selected.erasure
        texts = [
            seq for seq, names in erasure.parts.items() if "text" in names and self.rows.claim_row(seq) is not None
        ]
        views = sum(1 for names in erasure.parts.values() for name in names if name in _VIEWED or "/" in name)
        notes = sum(len(self.rows.sources(session)) for session in erasure.sources)
        stays_too: list[Kept] = []
        in_others: list[Place] = []
        sought: dict[str, Mapping[int, Iterable[str]]] = {str(LogName.MEMORY): self._parts_ever()}
        for log in OTHER_LOGS:
            with self.trail.reading(log) as rows:
                found, more = self.answers(rows)
            stays_too += more
            sought[str(log)] = found
            in_others.append(_place(f"{log} log", state, sum(map(len, found.values()))))
        places = [
            _place("parts", state, sum(map(len, erasure.parts.values()))),
            _place("archive", state, sum(map(len, erasure.events.values()))),
            _place("search index", state, len(texts)),
            _place("views", state, views),
            *in_others,
            _place("source notes", state, notes),
            *stays([*self.stays, *stays_too]),
            _digests(len({key for key, _ in selected.known}), dry_run=dry_run or state == PROPOSED),
            Place("vectors", NOT_FOUND, 0, "this version keeps none"),
            Place("vault", NOT_FOUND, 0, "this version has none"),
            *known_exports(self.trail, Sought(self.trail.id, sought, self._events_ever(), self.needles)),
            Place("backups", NOT_FOUND, 0, "this version writes none; a copy that you made is yours to delete"),
            *transcripts(sorted(selected.transcripts)),
        ]
        return Forgotten(
            tuple(places), tuple(sorted(selected.claims)), personal=tuple(sorted(selected.personal)), dry_run=dry_run
        )

    def _parts_ever(self) -> dict[int, set[str]]:
        """Parts that go and, of claims that are gone already, their words: an older export may have them."""
        parts = {seq: set(names) for seq, names in self.selected.parts.items()}
        for claim in self.selected.claims:
            parts.setdefault(claim, set()).update(("text", "quote"))
        return parts

    def _events_ever(self) -> frozenset[tuple[int, int]]:
        sessions = self.selected.sessions
        gone = {(s, row.n) for s in sessions for row in self.rows.session_events(s) if is_erased(row)}
        return frozenset(gone | {(s, n) for s, numbers in self.selected.events.items() for n in numbers})


_VIEWED = frozenset({"facets", "valid", "actor", "attribute", "holder", "session"})


def _place(place: str, state: str, count: int) -> Place:
    return Place(place, state if count else NOT_FOUND, count)


def _digests(count: int, *, dry_run: bool) -> Place:
    """What is filed to recognise it by: the price of a tombstone (ERASE.3)."""
    why = "so that it is known when it comes again; no guess can be tested on them without the digest key"
    if dry_run or not count:
        return Place("keyed digests", NOT_FOUND, 0, f"{count} would be filed, {why}" if count else "")
    return Place("keyed digests", KEPT, count, why)


def _erase(appender: Appender, act: _Act, because: str, answers: list[tuple[str, tuple[int, ...]]]) -> int:
    erasure, known = act.selected.erasure, act.selected.known
    if erasure.is_empty:
        if known or erasure.sources or erasure.ids:
            leave_known(appender.rows, erasure, known)
        return -1
    act.touched.add(LogName.MEMORY)
    return erase(appender, erasure, because, xrefs=answers, known=known)


def _propose(appender: Appender, selector: Selector, because: str, refs: list[int]) -> int:
    said = {"because": because, "does": "forget", "selector": selector.said}
    body = json.dumps(said, ensure_ascii=False, sort_keys=True).encode()
    return appender.add(EntryKind.PROPOSED, {"proposal": body}, refs=refs)


def _refuse_what_repeats(because: str, act: _Act) -> None:
    """The reason stays for ever: it must not say what is to be gone."""
    told = because.casefold()
    texts = [text for text in act.selected.words if len(text.strip()) >= _SHORTEST_SAID]
    names = [name.name for name in act.rows.names("holder") if "holder" in act.selected.parts.get(name.seq, ())]
    for text in (*act.needles.texts, *texts, *names, *(name.partition(":")[2] for name in names)):
        if text.strip() and text.strip().casefold() in told:
            raise UsageError("--because repeats what is to be forgotten, and a reason is kept; say why in other words")


def _holder(rows: Reading, asked: str) -> tuple[str, int]:
    """(id, the seq that introduced it)."""
    known = [name for name in rows.names("holder") if name.name]
    mine = [name for name in rows.names("holder") if asked in (name.name, name.id, name.name.partition(":")[2])]
    if len(mine) == 1 and asked:
        return mine[0].id, mine[0].seq
    if not mine:
        listed = ", ".join(name.name for name in known[:8]) or "none yet"
        raise UsageError(f"--holder {asked}: no such holder; there are {listed}")
    raise UsageError(f"--holder {asked}: {len(mine)} holders go by that; name one in full or by its id")


def _scrubbed(trail: Trail) -> Place:
    """Rid the engine's files of free pages, of every log for which that is outstanding."""
    done, left = 0, []
    for log in LogName:
        with trail.reading(log) as rows:
            due = is_unscrubbed(rows)
        if not due:
            continue
        try:
            scrub(trail, log)
            done += 1
        except MachineError as error:
            left.append(str(error))
    if left:
        return Place("free pages", CANNOT_TELL, len(left), f"they may still hold it; run it again: {'; '.join(left)}")
    return Place("free pages", ERASED if done else NOT_FOUND, done)
