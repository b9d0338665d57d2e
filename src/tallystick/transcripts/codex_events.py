"""Builds the events of Codex's records: whose words they are, where they stand, and what had to be left out.

A text that holds our own briefing becomes several events, so that no piece of it mixes whose words it is (EVID.6).
"""

from __future__ import annotations

from collections import Counter

from tallystick.model.evidence import Event, EventKind, Locator, Origin
from tallystick.model.temporal import Instant
from tallystick.transcripts import codex_records as shapes
from tallystick.transcripts import codex_tools as tools
from tallystick.transcripts.codex_speech import turn_parts
from tallystick.transcripts.protocol import PendingCall, RawRecord
from tallystick.transcripts.texts import cut, pieces, type_name


class Place:
    """A physical record while it is read: where its events stand, and what is still open of it.

    ``waiting`` counts its user items whose words are not yet known, and one for the reading itself; ``count`` is the type
    it is counted under.
    """

    __slots__ = ("at", "block", "count", "had_events", "record", "waiting")

    def __init__(self, record: RawRecord) -> None:
        self.record = record
        self.at: Instant | None = None
        self.block = 0
        self.count = ""
        self.had_events = False
        self.waiting = 1

    def next_locator(self) -> Locator:
        """Where the next event of this record stands."""
        record = self.record
        block = self.block
        self.block += 1
        return Locator(record.line, record.line - 1, block, record.offset, len(record.data))


class EventBuilder:
    """Makes events of one rollout; what it leaves out goes into ``counts``."""

    def __init__(self, counts: Counter[str]) -> None:
        self.counts = counts
        self.thread = ""

    def call(self, place: Place, call_id: str, text: str, pending: PendingCall) -> Event:
        """A call; without a native id its place is its id."""
        locator = place.next_locator()
        text, flags = self._fitted(text, pending.flags)
        return Event(
            f"call:{call_id}" if call_id else f"L{locator.line}:{locator.block}",
            EventKind.TOOL_CALL,
            Origin.ASSISTANT,
            text,
            locator,
            place.at,
            self.thread,
            pending.tool,
            call_id,
            command=pending.command,
            paths=pending.paths,
            flags=flags,
        )

    def results(self, place: Place, call_id: str, pending: PendingCall, ending: tools.Ending) -> list[Event]:
        """The result of a call: one event, or more where our own briefing stands in the output."""
        events = []
        for part, piece in enumerate(pieces(ending.text)):
            text, flags = self._fitted(piece.text, ending.flags)
            event = Event(
                f"out:{call_id}:{part}" if part else f"out:{call_id}",
                EventKind.TOOL_RESULT,
                Origin.BRIEFING if piece.briefing else Origin.TOOL,
                text,
                place.next_locator(),
                place.at,
                self.thread,
                pending.tool,
                call_id,
                ending.status,
                ending.exit_code,
                pending.command,
                pending.paths,
                flags,
            )
            events.append(event)
        return events

    def person(self, place: Place, text: str, origin: Origin, flags: tuple[str, ...] = ()) -> list[Event]:
        """A person's turn without what the client wrapped around it, and without a prompt file that it stands for."""
        events: list[Event] = []
        for part in turn_parts(text):
            more = flags if part.typed or part.flags else ()
            whose = origin if part.typed else Origin.HARNESS
            events += self.texts(place, part.text, EventKind.MESSAGE, whose, (*more, *part.flags))
        return events

    def texts(
        self, place: Place, text: str, kind: EventKind, origin: Origin, flags: tuple[str, ...] = ()
    ) -> list[Event]:
        """Events for ``text``: one, or more where our own briefing stands in it; none when it is empty."""
        events = []
        for piece in pieces(text) if text else ():
            locator = place.next_locator()
            fitted, all_flags = self._fitted(piece.text, flags)
            uid = f"L{locator.line}:{locator.block}"
            whose = Origin.BRIEFING if piece.briefing else origin
            events.append(Event(uid, kind, whose, fitted, locator, place.at, self.thread, flags=all_flags))
        return events

    def _fitted(self, text: str, flags: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        fitted = cut(text)
        if fitted is text:
            return text, flags
        self.counts["oversized_text"] += 1
        return fitted, flags if "truncated" in flags else (*flags, "truncated")

    def joined(self, content: list[shapes.Part] | str) -> str:
        """The text of content blocks; those that are no text are counted."""
        if isinstance(content, str):
            return content
        if len(content) == 1 and content[0].text is not None:
            return content[0].text
        for part in content:
            if part.text is None:
                self.counts["image" if part.type == "input_image" else f"block:{type_name(part.type)}"] += 1
        return "\n".join(part.text for part in content if part.text is not None)
