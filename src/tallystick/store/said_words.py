"""By which words an archived event is found: the stems of those of its text and its command, and words of ours, which no text
has: whose words they are, which tool, how it ended, of which session, and in whose memory.

The index only finds. Whether a phrase, a path or a number stands in an event is read off the event's own text afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from tallystick.log.canonical import entry_from_bytes
from tallystick.model.evidence import Event, Status
from tallystick.store.records import event_from_record, unpacked
from tallystick.store.said import (
    BEGINNING,
    Said,
    code_word,
    holder_word,
    role_word,
    session_word,
    shortened,
    status_word,
    tool_word,
)
from tallystick.store.stems import stem
from tallystick.store.words import words

if TYPE_CHECKING:
    from tallystick.store.protocol import Reading, Writing


def said_of(session: int, n: int, holder: str, event: Event) -> Said:
    """What the ``n``-th event of a session is found by; ``holder`` is whose session it is."""
    found = set(map(sought_word, set(words(searchable(event)))))
    found.update((role_word(event.origin), session_word(session)))
    if holder:
        found.add(holder_word(holder))
    if event.tool:
        found.add(tool_word(event.tool))
    if event.status is not Status.NONE:
        found.add(status_word(event.status))
    if event.exit_code is not None:
        found.add(code_word(event.exit_code))
    return Said(session, n, -1 if event.at is None else event.at, frozenset(found))


def searchable(event: Event) -> str:
    """What of an event is searched: its text, and the command that it runs or is the result of."""
    return event.text if not event.command or event.command in event.text else f"{event.text}\n{event.command}"


@lru_cache(maxsize=200_000)
def sought_word(word: str) -> str:
    """A word of a text, as ``words.words`` gives it, as the index has it."""
    return shortened(stem(word))


def beginning(word: str) -> str:
    """Every word of the index that begins like this one."""
    return f"{word[:BEGINNING]}*"


def holder_of(rows: Reading, session: int) -> str:
    """Id of the holder under which a session was introduced; empty where it was not."""
    return next((entry_from_bytes(row.canon).holder for row in rows.entries(session, session + 1)), "")


def index_anew(rows: Writing) -> None:
    """Add all of an archive to an index that has nothing yet.

    Raises:
        CanonicalError, TrailUnreadable: an entry or event is damaged.
    """
    for _, said in groupby(archived(rows), itemgetter(0)):
        rows.say(said)


def archived(rows: Reading) -> Iterator[Said]:
    """What every event that is in the archive is found by, in order of session, then number."""
    block, data, session, holder = -1, b"", -1, ""
    for row in rows.events():
        if row.block < 0:
            continue
        if row.block != block:
            block, data = row.block, unpacked(row.block, rows.block(row.block))
        if row.session != session:
            session, holder = row.session, holder_of(rows, row.session)
        yield said_of(row.session, row.n, holder, event_from_record(data[row.offset : row.offset + row.length]))
