"""Reads JSON lines of any harness by a mapping: a small TOML file that says where in a line its role, text and so on stand.

docs/formats/generic-jsonl.md describes the file. Nothing is guessed beyond it: a line without a role or of a role that is not
mapped is counted, a time without a zone is none, and how a call ended is its exit code or not known.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from io import BytesIO
from itertools import chain, islice
from typing import Any, NamedTuple

import msgspec

from tallystick.errors import NotATranscript, UsageError
from tallystick.model.evidence import Event, EventKind, Locator, Origin, Problem, SessionFacts, Status
from tallystick.model.temporal import Instant
from tallystick.transcripts.documents import UNREADABLE
from tallystick.transcripts.exports import unreadable
from tallystick.transcripts.lines import LineSource
from tallystick.transcripts.protocol import Adapter, FileState, FileView, Member, PendingCall, RawRecord, Reader
from tallystick.transcripts.texts import (
    cut,
    instant,
    is_own_tool,
    mended,
    pieces,
    runs_own_command,
    type_name,
    unix_instant,
)

NAME = "generic-jsonl"
PATHS = ("role", "text", "time", "tool", "call_id", "command", "exit_code", "session", "id", "cwd")
"""What a path may be given for; ``role`` and ``text`` must be."""
UNITS = {"iso": 0, "s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}
ROLES = {
    "user": ("user", "human"),
    "assistant": ("assistant", "ai", "model"),
    "thinking": ("thinking", "reasoning"),
    "tool_call": ("tool_call", "tool_use", "function_call"),
    "tool_result": ("tool", "tool_result", "function", "function_call_output"),
    "harness": ("system", "developer"),
    "delegated": (),
    "summary": ("summary",),
}
"""What a role may stand for, and the names it has where ``[roles]`` does not give others."""
_ORIGINS = {"user": Origin.USER, "harness": Origin.HARNESS, "delegated": Origin.DELEGATED}
_KINDS = {"thinking": EventKind.THINKING, "summary": EventKind.SUMMARY}
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}\Z")
_STEP = re.compile(r'(?:\A|(?<!\A)\.)(?:"((?:[^"\\]|\\.){1,200})"|([^.\[\]"]{1,200}))|\[(\d{1,6}|\*)\]')
_MOST_FOUND = 10_000
"""Values of a line that one path finds; it is told no more of one that finds more."""
_SHOWN_KEYS = 12
_LONG_LINE_BYTES = 32 * 1024
_NOWHERE = Locator(0, 0, 0, 0, 0)
_NUMBERS = msgspec.json.Decoder(float_hook=Decimal)


class Path(NamedTuple):
    """The way to a value in a line: keys, places in lists, and ``None`` for every member of a list."""

    said: str
    steps: tuple[str | int | None, ...]

    def found(self, value: Any) -> list[Any]:
        """The values there, in order; none where there is no such place, or null."""
        values = [value]
        for step in self.steps:
            values = list(islice(chain.from_iterable(_inside(each, step) for each in values), _MOST_FOUND))
        return [each for each in values if each is not None]


class Mapped(NamedTuple):
    """A mapping as its file says it."""

    file: str
    harness: str
    paths: Mapping[str, Path]
    roles: Mapping[str, str]
    """Of the names that a line may have for its role: which of ``ROLES`` they are."""
    per_second: int
    """The unit of a time that is a number; 0 where times are ISO 8601."""


def mapping_of(data: bytes, file: str, taken: Iterable[str] = ()) -> Mapped:
    """The mapping in a TOML file; ``taken`` are names of harnesses that it may not use.

    Raises:
        UsageError: it is no TOML or no mapping; the message names the file, the key and what was expected.
    """

    def wrong(what: str) -> UsageError:
        return UsageError(f"--mapping {file}: {what}")

    try:
        said = tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise wrong(f"not TOML: {error}") from None
    known = {"harness", "line", "roles", "time_unit"}
    if unknown := sorted(set(said) - known):
        raise wrong(f"{unknown[0]!r} is not known; expected {', '.join(sorted(known))}")
    harness = said.get("harness", NAME)
    if not isinstance(harness, str) or not _NAME.match(harness):
        raise wrong("harness: expected a name of small letters, digits and '-', at most 40")
    if harness in taken:
        raise wrong(f"harness = {harness!r}: that harness has a reader of its own; choose another name")
    unit = said.get("time_unit", "iso")
    if unit not in UNITS:
        raise wrong(f"time_unit: expected one of {', '.join(UNITS)}")
    return Mapped(file, harness, _paths(said.get("line"), wrong), _roles(said.get("roles", {}), wrong), UNITS[unit])


def _paths(line: Any, wrong: Callable[[str], UsageError]) -> dict[str, Path]:
    if not isinstance(line, dict):
        raise wrong("a table [line] is missing; it says where in a line its role and text stand")
    if unknown := sorted(set(line) - set(PATHS)):
        raise wrong(f"[line] {unknown[0]}: not known; expected {', '.join(PATHS)}")
    if missing := [name for name in ("role", "text") if name not in line]:
        raise wrong(f"[line] {missing[0]}: missing")
    return {name: _path(said, f"[line] {name}", wrong) for name, said in line.items()}


def _path(said: Any, where: str, wrong: Callable[[str], UsageError]) -> Path:
    form = f'{where}: expected a path such as message.content, "a.b".c, parts[0].text or parts[*].text'
    if not isinstance(said, str) or not said or len(said) > 1000:
        raise wrong(form)
    steps: list[str | int | None] = []
    at = 0
    while at < len(said):
        step = _STEP.match(said, at)
        if step is None or (not at and step[3] is not None):
            raise wrong(f"{form}; {said[:80]!r} is none")
        if step[3] is not None:
            steps.append(None if step[3] == "*" else int(step[3]))
        else:
            steps.append(step[2] or re.sub(r"\\(.)", r"\1", step[1]))
        at = step.end()
    return Path(said, tuple(steps))


def _roles(said: Any, wrong: Callable[[str], UsageError]) -> dict[str, str]:
    if not isinstance(said, dict):
        raise wrong("roles: expected a table of lists of names")
    if unknown := sorted(set(said) - set(ROLES)):
        raise wrong(f"[roles] {unknown[0]}: not known; expected {', '.join(ROLES)}")
    found: dict[str, str] = {}
    for role, names in {**ROLES, **said}.items():
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            raise wrong(f'[roles] {role}: expected a list of names, such as ["user", "human"]')
        for name in names:
            if name in found and role in said and found[name] in said:
                raise wrong(f"[roles] {name!r} stands for both {found[name]} and {role}")
            # A name that the file gives to a role is taken from the role that has it by default.
            if name not in found or role in said:
                found[name] = role
    return found


def _inside(value: Any, step: str | int | None) -> list[Any]:
    if isinstance(step, str):
        return [value[step]] if isinstance(value, dict) and step in value else []
    if not isinstance(value, list):
        return []
    return value if step is None else value[step : step + 1]


class GenericJsonlReader:
    """Reads the lines of one session by a mapping; see ``Reader``. ``records`` are lines."""

    def __init__(self, mapped: Mapped, name: str, calls: dict[str, PendingCall], *, gathered: bool) -> None:
        self._mapped = mapped
        self._gathered = gathered
        self._stem = name.rpartition("/")[2]
        self._named = False
        self.facts = SessionFacts(mapped.harness, "")
        self.counts: Counter[str] = Counter()
        self.problems: list[Problem] = []
        self.records = 0
        self.records_with_events = 0
        self.calls = dict(calls)
        self._called = dict(calls)
        """All calls so far: a result that stands there twice is joined twice."""

    def read(self, records: Iterable[RawRecord]) -> Iterator[Event]:
        """Yield the events of the lines in order. Raises nothing for bad data."""
        for record in records:
            # What is gathered comes as one document, which is the session's lines.
            for line in LineSource(BytesIO(record.data), final=True) if self._gathered else [record]:
                yield from self._line(line)

    def _line(self, record: RawRecord) -> Iterator[Event]:
        self.records += 1
        try:
            value = self._decoded(record)
        except UNREADABLE as error:
            self.problems.append(Problem(record.line, f"not JSON: {str(error)[:200]}"))
            return
        if not isinstance(value, dict):
            self.problems.append(Problem(record.line, "not an object"))
            return
        self._learn(value)
        name = self._word(value, "role")
        role = self._mapped.roles.get(name)
        if role is None:
            self.counts[f"record:unknown:{type_name(name) if name else 'without-a-role'}"] += 1
            return
        events = self._events(record, value, role)
        if events:
            self.records_with_events += 1
        else:
            self.counts[f"record:{role}"] += 1
        yield from events

    def _decoded(self, record: RawRecord) -> Any:
        try:
            return _NUMBERS.decode(record.data)
        except UNREADABLE:
            repaired = mended(record.data)
            if repaired is None:
                raise
        self.counts["mended"] += 1
        return _NUMBERS.decode(repaired)

    def _learn(self, value: dict[str, Any]) -> None:
        if not self._named and (native := self._word(value, "session") or self._stem.removesuffix(".jsonl")):
            self._named = True
            self.facts = self.facts._replace(native_id=native)
        if not self.facts.cwd and (cwd := self._word(value, "cwd")):
            self.facts = self.facts._replace(cwd=cwd)

    def _events(self, record: RawRecord, value: dict[str, Any], role: str) -> list[Event]:
        native = self._word(value, "id")
        # Of a line that was written again with other words both are kept; of one that was copied, one.
        digest = hashlib.blake2b(record.data, digest_size=6).hexdigest()
        uid = f"{native}:{digest}" if native else f"@{record.offset}"
        place = _Place(record, self._time(value))
        text = self._text(value, "text")
        tool, call_id = self._word(value, "tool"), self._word(value, "call_id")
        command = self._text(value, "command")
        if role == "tool_result":
            return self._result(place, uid, text, PendingCall(tool, command, (), ()), call_id, self._code(value))
        if role == "tool_call":
            return [self._call(place, uid, text or command, PendingCall(tool, command, (), ()), call_id)]
        kind, origin = _KINDS.get(role, EventKind.MESSAGE), _ORIGINS.get(role, Origin.ASSISTANT)
        events = []
        for number, piece in enumerate(pieces(text) if text else ()):
            whose = Origin.BRIEFING if piece.briefing else origin
            event = Event(f"{uid}:{number}" if number else uid, kind, whose, piece.text, _NOWHERE)
            events.append(self._placed(event, place))
        if role == "assistant" and tool:
            events.append(self._call(place, f"{uid}:call", command, PendingCall(tool, command, (), ()), call_id))
        return events

    def _call(self, place: _Place, uid: str, text: str, call: PendingCall, call_id: str) -> Event:
        own = is_own_tool(call.tool) or runs_own_command(call.command)
        call = call._replace(flags=("own_tool",) if own else ())
        if call_id:
            self.calls[call_id] = self._called[call_id] = call
        event = Event(uid, EventKind.TOOL_CALL, Origin.ASSISTANT, text, _NOWHERE, tool=call.tool, call_id=call_id)
        return self._placed(event._replace(command=call.command, flags=call.flags), place)

    def _result(
        self, place: _Place, uid: str, text: str, said: PendingCall, call_id: str, code: int | None
    ) -> list[Event]:
        self.calls.pop(call_id, None)
        # A result whose call is not told of may say itself what ran.
        pending = self._called.get(call_id, said)
        command, tool = pending.command, pending.tool or said.tool
        own = "own_tool" in pending.flags or is_own_tool(tool) or runs_own_command(command)
        status = Status.UNKNOWN if code is None else Status.FAILED if code else Status.OK
        events = []
        for number, piece in enumerate(pieces(text)):
            whose = Origin.BRIEFING if piece.briefing else Origin.TOOL
            event = Event(f"{uid}:{number}" if number else uid, EventKind.TOOL_RESULT, whose, piece.text, _NOWHERE)
            event = event._replace(tool=tool, call_id=call_id, status=status, exit_code=code, command=command)
            events.append(self._placed(event._replace(flags=("own_tool",) if own else ()), place))
        return events

    def _placed(self, event: Event, place: _Place) -> Event:
        text = cut(event.text)
        flags = event.flags
        if text is not event.text:
            self.counts["oversized_text"] += 1
            flags = (*flags, "truncated")
        return event._replace(text=text, flags=flags, at=place.at, locator=place.next_locator())

    def _found(self, value: dict[str, Any], name: str) -> list[Any]:
        path = self._mapped.paths.get(name)
        return path.found(value) if path else []

    def _word(self, value: dict[str, Any], name: str) -> str:
        """The one text or whole number there; empty for anything else."""
        found = self._found(value, name)
        one = found[0] if found else ""
        return str(one) if isinstance(one, str) or type(one) is int else ""

    def _text(self, value: dict[str, Any], name: str) -> str:
        """The texts there, one a line; what is no text as JSON."""
        return "\n".join(each if isinstance(each, str) else _json(each) for each in self._found(value, name))

    def _code(self, value: dict[str, Any]) -> int | None:
        said = self._word(value, "exit_code")
        return int(said) if re.fullmatch(r"-?\d{1,10}", said, re.ASCII) else None

    def _time(self, value: dict[str, Any]) -> Instant | None:
        found = self._found(value, "time")
        if not found:
            return None
        per_second = self._mapped.per_second
        at = (
            unix_instant(found[0], per_second) if per_second else instant(found[0] if isinstance(found[0], str) else "")
        )
        if at is None:
            self.counts["time_not_read"] += 1
        return at


class _Place:
    """A line while it is read, and where its events stand: they are numbered in order."""

    def __init__(self, record: RawRecord, at: Instant | None) -> None:
        self.at = at
        self._record = record
        self._block = 0

    def next_locator(self) -> Locator:
        self._block += 1
        record = self._record
        return Locator(record.line, record.line - 1, self._block - 1, record.offset, len(record.data))


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode("utf-8", "replace")
    except RecursionError:
        return ""


def adapter_by(mapped: Mapped) -> Adapter:
    """The adapter of a mapping: a session a file, or where lines name their session, as many as they name."""
    return _Sessions(mapped) if "session" in mapped.paths else _Files(mapped)


class _Files:
    """A session a file, which is read on from where it ended."""

    framing = "lines"

    def __init__(self, mapped: Mapped) -> None:
        self._mapped = mapped
        self.name = mapped.harness

    def recognises(self, head: bytes, name: str) -> bool:
        """True when a role and a text are found where the mapping says, in one line or in two.

        Raises:
            NotATranscript: the lines are objects, and one of the two is in none; the message says what they have instead.
        """
        del name  # A mapping says what is in a file, not what it is called.
        if len(head) > _LONG_LINE_BYTES and b"\n" not in head:
            return head.lstrip()[:1] == b"{"
        keys: dict[str, None] = {}
        lacking = {"role", "text"}
        for record in LineSource(BytesIO(head)):
            try:
                value = _NUMBERS.decode(record.data)
            except UNREADABLE:
                continue
            if isinstance(value, dict):
                keys.update(dict.fromkeys(value))
                lacking -= {each for each in lacking if self._mapped.paths[each].found(value)}
        if lacking and keys:
            where = " and ".join(f"{each} = {self._mapped.paths[each].said!r}" for each in sorted(lacking))
            shown = ", ".join(repr(key[:40]) for key in list(keys)[:_SHOWN_KEYS])
            raise NotATranscript(
                f"the mapping {self._mapped.file} has {where}, and no line has anything there; lines have {shown}"
            )
        return bool(keys)

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> Reader:
        """A new reader for the file."""
        return GenericJsonlReader(self._mapped, name, calls or {}, gathered=False)


class _Sessions(_Files):
    """A ``Gatherer``: the lines of a file that name one session are that session, wherever they stand."""

    framing = "gathered"

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> Reader:
        """A new reader; what is gathered is read whole."""
        del calls
        return GenericJsonlReader(self._mapped, name, {}, gathered=True)

    def anchor(self, path: str) -> str:
        """The file itself."""
        return path

    def gather(self, view: FileView, anchor: str) -> Iterator[Member]:
        """The sessions in the order in which they first appear; of the file one line and the places of all are held."""
        places: dict[str, list[tuple[int, int]]] = {}
        path = self._mapped.paths["session"]
        with view.opened(anchor) as stream:
            source = LineSource(stream)
            for record in source:
                try:
                    found = path.found(_NUMBERS.decode(record.data))
                except UNREADABLE:
                    found = []
                session = str(found[0]) if found and (isinstance(found[0], str) or type(found[0]) is int) else ""
                places.setdefault(session, []).append((record.offset, len(record.data)))
        stem = anchor.rpartition("/")[2].removesuffix(".jsonl")
        taken: set[str] = set()
        for number, (session, spots) in enumerate(places.items(), 1):
            plain = "".join(each if each.isalnum() or each in "-_.:" else "_" for each in session)[:120] or stem
            name = plain if plain not in taken else f"session-{number}"
            taken.add(name)
            size = sum(length for _, length in spots)
            yield Member(name, FileState(size, spots[-1][0], len(spots)), _Lines(view, anchor, spots))
        for problem in source.problems:
            yield unreadable(anchor, f"line-{problem.line}", problem.reason)


class _Lines:
    """Some lines of a file, read when they are asked for."""

    def __init__(self, view: FileView, path: str, spots: list[tuple[int, int]]) -> None:
        self._view = view
        self._path = path
        self._spots = spots

    def __call__(self) -> bytes:
        lines = []
        with self._view.opened(self._path) as stream:
            for offset, length in self._spots:
                stream.seek(offset)
                lines.append(stream.read(length) + b"\n")
        return b"".join(lines)
