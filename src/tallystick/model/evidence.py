"""What a harness left on disk, as values: events, where they stand in their source, and byte spans into them."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from tallystick.model.origin import Origin as Origin  # Part of what an event is.
from tallystick.model.temporal import Instant


class EventKind(StrEnum):
    """What sort of thing happened in the transcript."""

    MESSAGE = "message"
    """Words to be read: of a person, an assistant, the harness, another agent, or our briefing (see ``origin``)."""
    THINKING = "thinking"
    """The model's private reasoning. Quotable, never an assertion to anyone."""
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    SUMMARY = "summary"
    """A compaction summary: written by a model, witness of nothing."""


class Status(StrEnum):
    """How a tool call ended (EVID.7). ``NONE`` on everything that is not a tool result."""

    NONE = "none"
    OK = "ok"
    FAILED = "failed"
    REJECTED = "rejected"
    """A person or a policy refused it; it did not run."""
    UNKNOWN = "unknown"
    """Backgrounded, interrupted, missing, or the harness does not say."""


class Locator(NamedTuple):
    """Where an event stands in its source file: what an audit re-opens."""

    line: int
    """1-based physical line of a line-based file; 0 where there are no lines."""
    index: int  # type: ignore[assignment]  # shadows tuple.index, which nobody needs of a locator
    """0-based position of the message in the file (equals the record's ordinal for line-based files)."""
    block: int
    """0-based content block in the record; 0 where the record is one block."""
    offset: int
    """Byte offset of the record in the file."""
    length: int
    """Bytes of the record, without its line end."""


class Event(NamedTuple):
    """One thing in a transcript: the unit of the archive and the unit a quote must stand inside.

    ``uid`` is unique in its session and comes from the record (native id and block, or place), never from a
    counter or a random number (EVID.1); a copy of the record in a forked session has the same ``uid``.
    """

    uid: str
    kind: EventKind
    origin: Origin
    text: str
    locator: Locator
    at: Instant | None = None
    """Microseconds UTC, or None where the record has no time (EVID.8)."""
    thread: str = ""
    """Empty for the main thread, else the sub-agent's id."""
    tool: str = ""
    """Tool name on calls and results, as the harness names it (``Bash``, ``Edit``, ``shell_command``)."""
    call_id: str = ""
    """Joins a result to its call."""
    status: Status = Status.NONE
    exit_code: int | None = None
    """Only where the harness stated one (a field, or a prefix that the harness itself writes)."""
    command: str = ""
    """The shell command of a call that runs one, as one string; on the result too, joined through ``call_id``."""
    paths: tuple[str, ...] = ()
    """Files that a call writes or edits (on its result too); empty for calls that only read."""
    flags: tuple[str, ...] = ()
    """``truncated`` (part of the output is missing), ``persisted`` (output kept in a side file), ``background``,
    ``interrupted``, ``image`` (image data was left out), ``plan`` (plan-mode hand-over), ``expanded`` (a slash command's
    or skill's body), ``pasted`` (supplied by a person beside their words, not typed), ``negative_result`` (the tool itself
    says that nothing was found), ``own_tool`` (tallystick's own command or MCP tool), ``feedback`` (a person's words found
    inside a tool result), ``rewound`` (taken back: the person went on from before it)."""


class Problem(NamedTuple):
    """Something in a source that could not be read; counted and shown, never raised."""

    line: int
    reason: str
    """``not JSON: …``, ``not an object``, ``glued``, ``line longer than … bytes`` …; no content of the line."""


class SessionFacts(NamedTuple):
    """What a source says of its session as a whole; empty strings where it does not say."""

    harness: str
    native_id: str
    """The harness's own session id."""
    thread: str = ""
    """Agent id where the file is a sub-agent's transcript, else empty."""
    cwd: str = ""
    repository: str = ""
    branch: str = ""
    version: str = ""
    title: str = ""
    parent: str = ""
    """Native id of the session this one was resumed, forked or spawned from; of a second telling, that of the first."""
    has_results: bool = True
    """False for harnesses whose transcripts carry no tool results (OUTCOME.5)."""


class Span(NamedTuple):
    """A half-open byte range of one archived event's UTF-8 text, and the record that text came from (QUOTE.4)."""

    session: str
    event: str
    start: int
    end: int
