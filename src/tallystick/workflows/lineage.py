"""Lineage of sessions: which were spawned, resumed or forked from which, and where their context was compacted (EVID.5).

A sub-agent names its parent. A resumed or forked session may name one too; where it does not, the records that it repeats
tell: they are archived once, under several sessions. Of two sessions that share records, the one that went its own way
later is the fork of the other, whichever of them was read first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from typing import NamedTuple

from tallystick.log.canonical import entry_from_bytes
from tallystick.model.evidence import EventKind
from tallystick.model.temporal import Instant
from tallystick.store.protocol import ArchivedEvent, Reading
from tallystick.trail import Trail
from tallystick.trail.archive import ArchiveReader, event_from_record, is_erased, manifest_digests, manifests
from tallystick.trail.points import point
from tallystick.workflows.ingest import session_facts

MOST_TELLERS = 64
"""Sessions that are looked at for one record that many of them tell; whoever copies a session more often has the first of them
compared."""


class Compaction(NamedTuple):
    """Where the context was summed up and the session went on from the summary."""

    event: str
    """Id of the summary; a fork repeats its original's."""
    at: Instant | None


class Kin(NamedTuple):
    """One session, and how it hangs together with others; sessions by number, -1 where there is none."""

    session: int
    harness: str
    native_id: str
    thread: str
    """A sub-agent's id; empty for a main session."""
    project: str
    """Name of the project's holder; empty where it was forgotten."""
    events: int
    """Archived events, erased ones among them."""
    parent: int = -1
    """The session that spawned this sub-agent."""
    fork_of: int = -1
    """The session that this one was resumed or forked from."""
    shared: int = 0
    """Events that it has in common with ``fork_of``."""
    missing: str = ""
    """The native id of the parent or original that it names and the trail does not know."""
    agents: tuple[int, ...] = ()
    """Sub-agents that have a session of their own."""
    forks: tuple[int, ...] = ()
    threads: tuple[str, ...] = ()
    """Sub-agents whose records stand among the session's own."""
    compactions: tuple[Compaction, ...] = ()

    @property
    def above(self) -> int:
        """What it stands under in a tree."""
        return self.parent if self.parent >= 0 else self.fork_of


def lineage(trail: Trail, session: int | None = None, as_of: str | None = None) -> list[Kin]:
    """Every session that was known at a point, or all that hang together with one, in order of session.

    Following ``above`` from any of them ends: where sessions name each other in a circle, one of them stands under nothing.

    Raises:
        UsageError: ``as_of`` names no point.
    """
    if not trail.id:
        return []
    with trail.reading() as rows:
        seq = point(trail, rows, as_of).seq
        known = _joined(rows, _introduced(rows, seq), seq)
        wanted = set(known) if session is None else _family(known, session)
        return [_marked(rows, known[each], seq) for each in sorted(wanted)]


def tree(kin: Sequence[Kin]) -> list[str]:
    """Lines that a person can read: each session under the one that it comes from."""
    by_session = {each.session: each for each in kin}
    below: dict[int, list[int]] = defaultdict(list)
    for each in kin:
        below[each.above if each.above in by_session else -1].append(each.session)
    lines = []
    waiting = [(session, "", "") for session in reversed(below[-1])]
    while waiting:
        session, lead, branch = waiting.pop()
        lines.append(f"{lead}{branch}{_line(by_session[session])}")
        lead += {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
        children = below[session]
        marks = ["├─ "] * (len(children) - 1) + ["└─ "]
        waiting += [(child, lead, mark) for child, mark in reversed(list(zip(children, marks, strict=False)))]
    return lines


def _line(kin: Kin) -> str:
    what = [f"s{kin.session} {kin.harness}"]
    if kin.parent >= 0 or (kin.missing and kin.thread):
        what = [f"s{kin.session} sub-agent"]
    elif kin.fork_of >= 0:
        what = [f"s{kin.session} resumed or forked"]
    if kin.shared:
        what.append(f"{kin.shared} of {kin.events} events told by s{kin.fork_of} too")
    else:
        what.append(f"{kin.events} events")
    if kin.missing:
        what.append("from a session that was not ingested")
    if kin.threads:
        what.append(f"{len(kin.threads)} sub-agents inside")
    if kin.compactions:
        what.append(f"compacted {len(kin.compactions)} times")
    return ", ".join(what)


# --- who comes from whom


def _introduced(rows: Reading, seq: int) -> dict[int, Kin]:
    """Every session by a point, with the parents that they name themselves."""
    holders = {name.id: name.name for name in rows.names("holder")}
    known: dict[int, Kin] = {}
    said: dict[int, str] = {}
    threads: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for name in rows.names("session"):
        if name.seq > seq:
            continue
        facts = session_facts(name)
        harness, thread = facts.get("harness", ""), facts.get("thread", "")
        entry = next((entry_from_bytes(row.canon) for row in rows.entries(name.seq, name.seq + 1)), None)
        project = holders.get(entry.holder, "") if entry else ""
        known[name.seq] = Kin(name.seq, harness, name.name, thread, project, _size(rows, name.seq, seq))
        said[name.seq] = facts.get("parent", "")
        threads[harness, name.name][thread] = name.seq
    for session, parent in said.items():
        kin = known[session]
        if not parent or (parent == kin.native_id and not kin.thread):
            continue
        named = threads.get((kin.harness, parent), {})
        # Sub-agents of one session may all go by its id, and none of them is another's parent then.
        other = -1 if parent == kin.native_id else next(iter(named.values()), -1)
        above = named.get("", other)
        if above < 0:
            known[session] = kin._replace(missing=parent)
        else:
            known[session] = kin._replace(parent=above) if kin.thread else kin._replace(fork_of=above)
    return known


def _joined(rows: Reading, known: dict[int, Kin], seq: int) -> dict[int, Kin]:
    """With the originals of sessions that repeat records, both ways, and without circles."""
    shared = _Shared(rows, known, seq)
    for session, kin in known.items():
        original = kin.fork_of if kin.fork_of >= 0 else shared.original(session)
        if original >= 0:
            known[session] = kin._replace(fork_of=original, shared=shared.count(session, original))
    _break_circles(known)
    agents: dict[int, list[int]] = defaultdict(list)
    forks: dict[int, list[int]] = defaultdict(list)
    for session, kin in known.items():
        agents[kin.parent].append(session)
        forks[kin.fork_of].append(session)
    return {
        session: kin._replace(agents=tuple(agents.get(session, ())), forks=tuple(forks.get(session, ())))
        for session, kin in known.items()
    }


def _break_circles(known: dict[int, Kin]) -> None:
    done: set[int] = set()
    for start in known:
        way: dict[int, None] = {}
        at = start
        while at >= 0 and at not in done and at not in way:
            way[at] = None
            at = known[at].above
        if at in way:
            first = min(list(way)[list(way).index(at) :])
            known[first] = known[first]._replace(parent=-1, fork_of=-1, shared=0)
        done.update(way)


class _Shared:
    """Records that several sessions tell. Looked for by the blocks that hold them, so that all others cost nothing."""

    def __init__(self, rows: Reading, known: Collection[int], seq: int) -> None:
        self._archive = ArchiveReader(rows)
        users: dict[int, list[int]] = defaultdict(list)
        for block, session, _ in rows.block_uses():
            if session in known and block >= 0:
                users[block].append(session)
        self._blocks = {block for block, sessions in users.items() if len(sessions) > 1}
        involved = sorted({session for block in self._blocks for session in users[block]})
        tellers: dict[str, tuple[int, ...]] = {}
        for session in involved:
            for row in self._told(rows, session, seq):
                those = tellers.get(row.event, ())
                if row.block in self._blocks and len(those) < MOST_TELLERS:
                    tellers[row.event] = (*those, session)
        self._counts: dict[int, Counter[int]] = defaultdict(Counter)
        self._own_way: dict[int, dict[int, Instant]] = defaultdict(dict)
        """By session, then the other: when it first told something after all that both tell; -1 where it did not."""
        for session in involved:
            self._compare(session, list(self._told(rows, session, seq)), tellers)

    @staticmethod
    def _told(rows: Reading, session: int, seq: int) -> Iterator[ArchivedEvent]:
        return rows.session_events(session, 0, _size(rows, session, seq))

    def _compare(self, session: int, told: Sequence[ArchivedEvent], tellers: dict[str, tuple[int, ...]]) -> None:
        """How much a session shares with each other one, and when it went its own way."""
        after: ArchivedEvent | None = None
        groups: Counter[tuple[int, ...]] = Counter()
        for row in reversed(told):
            those = tellers.get(row.event, ())
            if those and those not in groups:
                at = self._at(after)
                for other in those:
                    self._own_way[session].setdefault(other, at)
            groups[those] += 1
            after = row
        for those, count in groups.items():
            for other in those:
                self._counts[session][other] += count

    def count(self, session: int, other: int) -> int:
        """How many events both tell."""
        return self._counts[session][other]

    def original(self, session: int) -> int:
        """The session that this one repeats; -1 where it repeats none.

        Of those that went their own way earlier it is the one it has most in common with, and of several of them the first.
        """
        others = [other for other in self._counts[session] if other != session and self._is_younger(session, other)]
        if not others:
            return -1
        most = max(self._counts[session][other] for other in others)
        nearest = [other for other in others if self._counts[session][other] == most]
        return reduce(lambda one, other: other if self._is_younger(one, other) else one, nearest)

    def _is_younger(self, session: int, other: int) -> bool:
        """Whether it went its own way later; one that did not at all is the other's beginning."""
        mine, theirs = self._own_way[session].get(other, -1), self._own_way[other].get(session, -1)
        return (mine, session) > (theirs, other)

    def _at(self, row: ArchivedEvent | None) -> Instant:
        if row is None or is_erased(row):
            return -1
        at = event_from_record(self._archive.record(row)).at
        return 0 if at is None else at


def _size(rows: Reading, session: int, seq: int) -> int:
    """How many events of a session were archived by a point."""
    if rows.head().size <= seq + 1:
        return rows.session_size(session)
    return sum(len(manifest_digests(manifest)[1]) for manifest in manifests(rows, session, seq))


def _family(known: dict[int, Kin], session: int) -> set[int]:
    """All that hang together with a session."""
    family: set[int] = set()
    waiting = [session] if session in known else []
    while waiting:
        at = waiting.pop()
        if at in family:
            continue
        family.add(at)
        kin = known[at]
        waiting += [each for each in (kin.parent, kin.fork_of, *kin.agents, *kin.forks) if each >= 0]
    return family


def _marked(rows: Reading, kin: Kin, seq: int) -> Kin:
    """With what only its events tell."""
    threads: dict[str, None] = {}
    compactions = []
    for event, content in ArchiveReader(rows).session(kin.session, seq):
        if content.thread and content.thread != kin.thread:
            threads[content.thread] = None
        if content.kind is EventKind.SUMMARY:
            compactions.append(Compaction(event, content.at))
    return kin._replace(threads=tuple(threads), compactions=tuple(compactions))
