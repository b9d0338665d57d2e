"""Histories told through the workflows, as a person or an agent would: what the bitemporal contract is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tallystick.errors import TrailUnwritable
from tallystick.log.canonical import entry_from_bytes
from tallystick.model.claim import About, ClaimKind
from tallystick.model.entry import Entry, Head, LogName
from tallystick.model.evidence import Event, EventKind, Locator, Origin, SessionFacts
from tallystick.model.temporal import DAY, END_OF_TIME, SECOND, UNKNOWN_VALID_TIME, Interval, ValidTime
from tallystick.store.protocol import Selection, Store, Writing
from tallystick.testing.trails import FIRST_MOMENT, RepeatingEntropy, SetClock
from tallystick.trail import Trail
from tallystick.trail.instants import parse_instant
from tallystick.workflows.amend import Amended, revise
from tallystick.workflows.remember import Remembered, Said, Tools, remember
from tallystick.workflows.replay import Asking, replay
from tallystick.workflows.scoping import Scope
from tallystick.workflows.sessions import Session

PROJECT = "project:one"
OTHER = "project:two"
EVERYONE = Scope(asked=("*",))
ABOUT_NOTHING = About()


def day(n: int) -> int:
    """Midnight UTC of a numbered day before the trail begins."""
    return FIRST_MOMENT // DAY * DAY - 1000 * DAY + n * DAY


def between(first: int, last: int | None = None) -> ValidTime:
    """From the start of one numbered day to the start of another, or on without end."""
    interval = Interval(day(first), END_OF_TIME if last is None else day(last))
    return ValidTime((interval,), start_known=True, end_known=last is not None, precision="day")


def tell(
    trail: Trail,
    text: str,
    *,
    holder: str = PROJECT,
    valid: ValidTime = UNKNOWN_VALID_TIME,
    about: About = ABOUT_NOTHING,
    kind: ClaimKind = ClaimKind.FACT,
    quote: str = "",
    session: Session | None = None,
) -> int:
    """Have something remembered; the claim that says it."""
    return told(trail, Said(text, kind, quote, valid, about), holder, session).id


def told(trail: Trail, said: Said, holder: str = PROJECT, session: Session | None = None) -> Remembered:
    """Have something remembered; how it stands."""
    return remember(trail, said, session, Tools(len, holder, "person:ada"))


def corrected(trail: Trail, claim: int, text: str, valid: ValidTime = UNKNOWN_VALID_TIME, value: str = "") -> Amended:
    """It was never so."""
    return revise(trail, claim, text, "it never was", change=False, valid=valid, count_tokens=len, value=value)


def changed(trail: Trail, claim: int, text: str, valid: ValidTime = UNKNOWN_VALID_TIME) -> Amended:
    """It is different since."""
    return revise(trail, claim, text, "it moved", change=True, valid=valid, count_tokens=len)


def newest(trail: Trail) -> int:
    """Seq of the last entry of the memory log."""
    with trail.reading() as rows:
        return rows.head().size - 1


def held(
    trail: Trail,
    as_of: int | str | None = None,
    valid_at: int | None = None,
    *,
    strict: bool = False,
    scope: Scope = EVERYONE,
) -> list[str | None]:
    """The texts of what was believed at a point, of an instant of the world where one is given; in order of claim."""
    asking = Asking(valid_at=valid_at, strict=strict)
    found = replay(trail, scope, as_of=None if as_of is None else str(as_of), asking=asking)
    assert found.total == len(found.items)
    return [belief.text for belief in found.items]


def valid_days(trail: Trail, claim: int) -> list[tuple[int, int | None]]:
    """The valid time of a held claim in numbered days; None where it has no end."""
    with trail.reading() as rows:
        version = rows.open_version(claim)
    assert version is not None
    first = day(0)
    ends = [None if each.end == END_OF_TIME else (each.end - first) // DAY for each in version.valid]
    return [((each.start - first) // DAY, end) for each, end in zip(version.valid, ends, strict=True)]


def entry_at(trail: Trail, seq: int) -> Entry:
    """An entry of the memory log."""
    with trail.reading() as rows:
        return next(entry_from_bytes(row.canon) for row in rows.entries(seq, seq + 1))


def session_of(*texts: str, name: str = "s") -> Session:
    """A session in which an assistant says these things, one an event."""
    events = tuple(
        Event(
            f"e{n:015x}{len(name):x}", EventKind.MESSAGE, Origin.ASSISTANT, text, Locator(n, n, 0, 0, 0), FIRST_MOMENT
        )
        for n, text in enumerate(texts, 1)
    )
    return Session(name, SessionFacts("test", name), events, -1)


class Deaf:
    """A store whose access log cannot be written."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.location = store.location

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def _full(self) -> Iterator[Writing]:
        raise TrailUnwritable("no room for another line")
        yield  # What makes it a generator.

    def writing(self, log: LogName, committed: Callable[[Head], None]) -> AbstractContextManager[Writing]:
        """See ``protocol.Store``."""
        return self._full() if log is LogName.ACCESS else self._store.writing(log, committed)


def beside(trail: Trail, store: Store, clock: SetClock | None = None, seed: int = 7) -> Trail:
    """Another session's trail over the same log."""
    return Trail(store, trail.outside, clock=clock or SetClock(), entropy=RepeatingEntropy(seed), actor="another")


def later(trail: Trail, span: int = 60 * SECOND) -> None:
    """Let time go by: microseconds."""
    assert isinstance(trail.clock, SetClock)
    trail.clock.now += span


def set_to(trail: Trail, when: str) -> None:
    """Set the clock to an instant as people type it."""
    assert isinstance(trail.clock, SetClock)
    trail.clock.now = parse_instant(when)[0]


def derivation_at(trail: Trail, claim: int, seq: int) -> str:
    """What the quotation verifier said of a claim, as of a point."""
    with trail.reading() as rows:
        return rows.believed(Selection(seq, claims=(claim,)))[0].derivation
