"""What any transcript reader must hold to, as a test class to inherit: same bytes, same events, nothing dropped.

::

    class TestMyHarness(ReaderContract):
        adapter = MY_HARNESS

        def sources(self) -> dict[str, bytes]:
            return {"session.jsonl": SMALL_SESSION}

        def with_unknown(self, data: bytes) -> bytes:
            return insert_lines(data, b'{"type":"of-next-year"}')

Every test names the rule it stands for (EVID.1-8).
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import chain
from typing import NamedTuple

from tallystick.model.evidence import Event, EventKind, Status
from tallystick.model.temporal import END_OF_TIME
from tallystick.transcripts.lines import LineSource, Position
from tallystick.transcripts.protocol import Adapter, PendingCall, RawRecord, Reader

EVERY_BYTE_UP_TO = 3_000
"""Sources up to this size are cut at each byte; larger ones around each line end and at a fixed stride."""


class Reading(NamedTuple):
    """The events of one reading and the reader that gave them."""

    events: list[Event]
    reader: Reader


class Framed(NamedTuple):
    """The records of some bytes, and where a later read goes on."""

    records: list[RawRecord]
    position: Position


def insert_lines(data: bytes, *lines: bytes) -> bytes:
    """``data`` with each of ``lines`` put in at the start and after every line: for ``with_unknown``."""
    block = b"".join(line + b"\n" for line in lines)
    return block + b"".join(line.rstrip(b"\n") + b"\n" + block for line in data.split(b"\n") if line)


def without_place(event: Event) -> Event:
    """``event`` without its place in the file, which moves when lines are put in before it."""
    return event._replace(locator=event.locator._replace(line=0, index=0, offset=0, length=0))


class ReaderContract:
    """Inherit, set ``adapter``, say which small ``sources`` to try; override ``frame`` where a record is no line."""

    adapter: Adapter

    def sources(self) -> dict[str, bytes]:
        """File names (as ``Adapter.reader`` takes them) and whole contents: small, without unreadable records."""
        raise NotImplementedError

    def with_unknown(self, data: bytes) -> bytes:
        """``data`` with records of a type that the harness does not have put in; the events must not change."""
        raise NotImplementedError

    def frame(self, data: bytes, at: Position, *, final: bool) -> Framed:
        """The records of ``data`` from ``at`` on. A format that is one document gives one record or, torn, none."""
        source = LineSource(BytesIO(data), offset=at.offset, line=at.line, final=final)
        records = list(source)
        return Framed(records, source.position)

    def read(self, name: str, records: Iterable[RawRecord], calls: dict[str, PendingCall] | None = None) -> Reading:
        """The events of ``records``, read by a new reader."""
        reader = self.adapter.reader(name, calls)
        return Reading(list(reader.read(records)), reader)

    def read_all(self, name: str, data: bytes) -> Reading:
        """The events of a whole file."""
        return self.read(name, self.frame(data, Position(), final=True).records)

    # --- the contract

    def test_sources_hold_events(self) -> None:
        """EVID.12: the contract is tried on sources that say something."""
        for name, data in self.sources().items():
            assert self.read_all(name, data).events, name

    def test_recognised_by_content(self) -> None:
        """EVID.12: a source is recognised by its first bytes whatever it is called, and other text is not."""
        for name, data in self.sources().items():
            assert self.adapter.recognises(data[: 64 * 1024], name.rsplit("/", 1)[-1]), name
            assert self.adapter.recognises(data[: 64 * 1024], "unnamed"), name
        for other in (b"", b"\n", b"{}\n", b"[]", b"# Notes\n", b"\xff\xfe\x00", b'{"type":"', b"null\n1\n"):
            assert not self.adapter.recognises(other, "session.jsonl"), other

    def test_every_record_is_accounted_for(self) -> None:
        """EVID.3: each record ends in events, a count or a problem, and in one of them only."""
        for name, data in self.sources().items():
            self._assert_accounted(self.read_all(name, data).reader, name)

    def test_same_bytes_same_events(self) -> None:
        """EVID.1: reading twice gives equal events, counts, problems and facts."""
        for name, data in self.sources().items():
            first, second = self.read_all(name, data), self.read_all(name, data)
            assert first.events == second.events, name
            assert first.reader.counts == second.reader.counts, name
            assert first.reader.problems == second.reader.problems, name
            assert first.reader.facts == second.reader.facts, name
            assert first.reader.facts.harness == self.adapter.name, name

    def test_uids_are_unique(self) -> None:
        """EVID.1: one uid, one event; a record that is there twice gives the same event twice, places apart."""
        for name, data in self.sources().items():
            seen: dict[str, Event] = {}
            for event in self.read_all(name, data).events:
                assert event.uid, name
                assert without_place(seen.setdefault(event.uid, event)) == without_place(event), event.uid

    def test_a_torn_file_is_read_up_to_the_tear(self) -> None:
        """EVID.2: cut anywhere, the events are the first of the whole file's, and the rest come when it has arrived."""
        for name, data in self.sources().items():
            whole = self.read_all(name, data).events
            for cut in cuts(data):
                framed = self.frame(data[:cut], Position(), final=False)
                torn = self.read(name, framed.records)
                assert torn.events == whole[: len(torn.events)], (name, cut)
                self._assert_accounted(torn.reader, (name, cut))
                assert not torn.reader.problems, (name, cut, torn.reader.problems)
                rest = self.frame(data, framed.position, final=True)
                resumed = self.read(name, rest.records, torn.reader.calls)
                assert torn.events + resumed.events == whole, (name, cut)

    def test_reading_may_pause_at_any_record(self) -> None:
        """EVID.4: two readings that meet at a record boundary, open calls handed over, give what one reading gives, of one
        session."""
        for name, data in self.sources().items():
            records = self.frame(data, Position(), final=True).records
            whole = self.read(name, records).events
            for boundary in range(len(records) + 1):
                first = self.read(name, records[:boundary])
                second = self.read(name, records[boundary:], first.reader.calls)
                assert first.events + second.events == whole, (name, boundary)
                if boundary and first.reader.facts.native_id and second.events:
                    # The ids of events that do not name themselves are made of the session's.
                    named = [(each.native_id, each.thread) for each in (first.reader.facts, second.reader.facts)]
                    assert named[0] == named[1], (name, boundary)

    def test_unknown_records_only_change_counts(self) -> None:
        """EVID.3: records of a kind that is not known yet change no event, and are counted."""
        for name, data in self.sources().items():
            before = self.read_all(name, data)
            after = self.read_all(name, self.with_unknown(data))
            assert [without_place(event) for event in before.events] == [without_place(event) for event in after.events]
            assert sum(after.reader.counts.values()) > sum(before.reader.counts.values()), name
            self._assert_accounted(after.reader, name)

    def test_damage_is_counted_and_never_raised(self) -> None:
        """EVID.2: whatever bytes are spoilt, the reading ends, its records add up and its texts can be stored."""
        for name, data in self.sources().items():
            for spoilt in damaged(data):
                self._assert_can_be_kept(self.read_all(name, spoilt), name)

    def test_any_value_in_any_place_is_read_or_counted(self) -> None:
        """EVID.2, 3: whatever stands where a value is expected, of any type or size, the records add up."""
        for name, data in self.sources().items():
            for rewritten in with_other_values(data):
                self._assert_can_be_kept(self.read_all(name, rewritten), name)

    def test_places_can_be_opened_again(self) -> None:
        """EVID.1: a locator names bytes of the file, inside it, in the order of the events."""
        for name, data in self.sources().items():
            for event in self.read_all(name, data).events:
                place = event.locator
                assert 0 <= place.offset < place.offset + place.length <= len(data), (name, event.uid)
                assert place.line == 0 or data.count(b"\n", 0, place.offset) == place.line - 1, (name, event.uid)

    def test_only_results_have_a_status(self) -> None:
        """EVID.7: every tool result says how it ended, and nothing else does; a result has its call's command."""
        for name, data in self.sources().items():
            commands: dict[str, str] = {}
            for event in self.read_all(name, data).events:
                assert (event.status is not Status.NONE) == (event.kind is EventKind.TOOL_RESULT), event.uid
                if event.kind is EventKind.TOOL_CALL and event.call_id:
                    commands[event.call_id] = event.command
                elif event.kind is EventKind.TOOL_RESULT and event.call_id in commands:
                    assert event.command == commands[event.call_id], event.uid

    def _assert_can_be_kept(self, reading: Reading, what: object) -> None:
        """The records add up, and every event's texts and time are such as a log can hold."""
        self._assert_accounted(reading.reader, what)
        for event in reading.events:
            for text in (event.text, event.command, event.uid, event.tool, event.call_id, *event.paths):
                text.encode("utf-8")
            assert event.at is None or 0 <= event.at < END_OF_TIME, (what, event.at)

    def _assert_accounted(self, reader: Reader, what: object) -> None:
        without_events = sum(count for key, count in reader.counts.items() if key.startswith("record:"))
        accounted = reader.records_with_events + without_events + len(reader.problems)
        assert reader.records == accounted, (what, reader.counts, reader.problems)


def cuts(data: bytes) -> list[int]:
    """Where to tear a file: at each byte of a small one, else around each line end and at 200 places between."""
    if len(data) <= EVERY_BYTE_UP_TO:
        return list(range(len(data) + 1))
    ends = [at for at, byte in enumerate(data) if byte == 0x0A]
    around = chain.from_iterable((end - 1, end, end + 1) for end in ends[:100])
    return sorted({*around, *range(0, len(data), max(1, len(data) // 200)), len(data)})


ODD_VALUES: tuple[object, ...] = (
    *(None, True, 0, -1, 2**63, 10**40, -(2**70), 1.5, 1e308, float("nan"), float("-inf"), [], {}, [[]], [{}], [None]),
    *(
        "",
        "NaN",
        "-Infinity",
        "1" * 5_000,
        "x" * 5_000,
        "\ud800",
        "\0",
        "📎\u2028",
        "\n\n```\n" * 50,
        "../../etc/passwd",
    ),
    *("2026-13-45T99:99:99Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999+14:00", {"": {}}, {"type": "text"}),
)


MOSTLY_ONCE = (1, 1, 1, 1, 1, 1, 1, 1, 0, 2)


def with_other_values(data: bytes, *, seed: int = 20261130, times: int = 150) -> Iterator[bytes]:
    """``data`` with a few of its JSON values exchanged, their keys lost or doubled, differently each time, the same on
    every run of one ``seed``. Data in which no line, nor the whole, is JSON, comes back as it is."""
    chance = random.Random(seed)
    try:
        documents, between = [json.loads(data)], b""
    except ValueError:
        documents, between = [_loaded(line) for line in data.split(b"\n")], b"\n"
    for _ in range(times):
        yield between.join(each if isinstance(each, bytes) else _dumped(_rewritten(each, chance)) for each in documents)


def _loaded(line: bytes) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return line


def _dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _rewritten(value: object, chance: random.Random) -> object:
    if chance.random() < 0.03:
        return chance.choice(ODD_VALUES)
    if isinstance(value, dict):
        kept = {key: _rewritten(each, chance) for key, each in value.items() if chance.random() > 0.02}
        return kept if chance.random() > 0.02 else {**kept, chance.choice(("type", "", "id", "\ud800")): {}}
    if isinstance(value, list):
        return [_rewritten(each, chance) for each in value for _ in range(chance.choice(MOSTLY_ONCE))]
    return value


def damaged(data: bytes, *, seed: int = 20261130, times: int = 60) -> Iterator[bytes]:
    """``data`` with a byte or a stretch of it spoilt, differently each time, the same on every run of one ``seed``."""
    chance = random.Random(seed)
    spoil = (
        b"\0",
        b"\xff",
        b'"',
        b"{",
        b"}",
        b"]",
        b"\n",
        b"\\",
        b"\\ud83d",
        b"\xed\xa0\xbd",
        b"null",
        b"[[[[",
        b"1e999",
    )
    for turn in range(times):
        at = chance.randrange(len(data) + 1)
        gone = chance.choice((0, 1, 1, 7, 100))
        yield data[:at] + spoil[turn % len(spoil)] + data[at + gone :]
