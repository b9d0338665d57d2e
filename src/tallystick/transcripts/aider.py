"""Aider's chat history: one Markdown file in a repository to which every run appends (docs/formats/aider.md).

Aider ends each line of a person's and of its own with two spaces, and nothing that a model writes: that tells them apart.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import PurePosixPath
from typing import NamedTuple

import msgspec

from tallystick.model.evidence import EventKind, Origin, SessionFacts
from tallystick.transcripts.documents import Message, Read
from tallystick.transcripts.protocol import FileState, FileView, Member, PendingCall
from tallystick.transcripts.turns import Turn, TurnReader, lines_of, told, with_folder

FILE = ".aider.chat.history.md"
_HEADER = re.compile(rb"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[ \t]{0,8}\Z")
_HEADER_LINE = re.compile(rb"(?m)^# aider chat started at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d[ \t\r]{0,8}$")
_VERSION = re.compile(rb"(?m)^> Aider v([0-9][\w.+-]{0,40})[ \t\r]{0,8}$")
_MODE_LINE = re.compile(rb"-\*- [^\n]{0,200} -\*-[ \t\r]{0,8}(?:\n|\Z)")
_BREAK = b"  "
"""Ends every line that Aider writes of a person or of itself: a line break in Markdown."""
_USER, _HARNESS, _START, _TEXT = "user", "harness", "run", "assistant"
_OWN_LINE = re.compile(
    rb"> (?:Tokens: |Applied edit to |Did not apply edit to |Commit [0-9a-f]{7,40} |Removed: [0-9a-f]{7,40} )"
)
"""What Aider says in a line of its own, an event each: the block around it grows while the run goes on."""
_COMMAND = re.compile(r"/[a-z][\w-]{0,40}\s+")
_WRITTEN_FOR_THEM = (("# Fix any errors below, if possible.", ""), ("# Question: ", "\n# Relevant docs:"))
"""Begin, and stand in, what Aider puts into a person's mouth: a linter's output, the documents that ``/help`` looked up."""


class _Run(NamedTuple):
    started: str
    """Local time as Aider writes it; empty for what stands before the first header."""
    start: int
    end: int


class AiderReader(TurnReader):
    """Reads one run; see ``Reader``. ``records`` are the header, prompts, answers and stretches of Aider's own lines."""

    harness = "aider"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._whole = self._asked = False
        self._command = ""
        """What stood behind a slash command in the prompt just read."""
        self._answer: list[str] = []
        """Lines of the last answer."""

    def turns(self, data: bytes) -> list[Turn]:
        """The turns of one run, and the facts of the session; a run has no times but that of its start, without a zone."""
        run, where = told(data)
        found = _turns(run)
        if not found:
            raise msgspec.DecodeError("nothing in it")
        started = _HEADER.match(data[found[0].start : found[0].end])
        version = _VERSION.search(run)
        self._whole = started is not None
        self.facts = SessionFacts(
            self.harness,
            _native_id(run, started[1].decode() if started else "", self.name),
            cwd=self.decoded(where),
            version=version[1].decode() if version else "",
            has_results=False,
        )
        return found

    def message(self, message: Message) -> Read:
        """By who wrote it: the header is counted, the rest are messages."""
        uid = f"@{message.offset}"
        if self.kind == _START:
            return Read("header" if message.data.startswith(b"#") else "mode_line", ())
        if self.kind == _HARNESS:
            text = self.decoded(b"\n".join(_unmarked(line) for _, line in lines_of(message.data))).strip()
            return Read("blank", self.texts(message, uid, text, EventKind.MESSAGE, Origin.HARNESS))
        if self.kind == _USER:
            return self._prompt(message, uid)
        text = self.decoded(message.data)
        self._answer = _stripped(text)
        # What begins without a run's header, before anything was asked, may be the end of anyone's words.
        whose = Origin.ASSISTANT if self._whole or self._asked else Origin.HARNESS
        return Read("answer", self.texts(message, uid, text, EventKind.MESSAGE, whose))

    def _prompt(self, message: Message, uid: str) -> Read:
        text = self.decoded(b"\n".join(line[5:].removesuffix(_BREAK) for _, line in lines_of(message.data))).strip()
        command, self._command = self._command, ""
        self._asked = True
        if not text or text == "<blank>":
            return Read("blank", ())
        if text == command:
            return Read("copy", ())
        if typed := _COMMAND.match(text):
            self._command = text[typed.end() :].strip()
        if any(text.startswith(begins) and holds in text for begins, holds in _WRITTEN_FOR_THEM):
            return Read("prompt", self.texts(message, uid, text, EventKind.MESSAGE, Origin.HARNESS, ("expanded",)))
        # An architect's answer is the prompt of the editor that carries it out.
        whose = Origin.DELEGATED if self._answer and _stripped(text) == self._answer else Origin.USER
        return Read("prompt", self.texts(message, uid, text, EventKind.MESSAGE, whose))


def _stripped(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().split("\n")]


def _unmarked(line: bytes) -> bytes:
    """A line of Aider's without its marks, of which the lines inside a longer message have none."""
    return (
        line.removesuffix(_BREAK).removeprefix(b">").removeprefix(b" ")
        if line.startswith(b"> ")
        else line.removesuffix(_BREAK)
    )


def _native_id(run: bytes, started: str, name: str) -> str:
    """The start of the run and a digest of the line after it, which is the command that was run: a copy has the same.

    The name of the member says which one it is of several that started alike in one file.
    """
    lines = (line.strip() for _, line in lines_of(run))
    first = next((line for line in lines if line and not _HEADER.match(line)), b"")
    again = name.rpartition("~")[2] if "~" in name else ""
    begun = started.replace(" ", "T") or "headless"
    return f"{begun}-{sha256(first).hexdigest()[:8]}{'~' + again if again.isdecimal() else ''}"


def _turns(data: bytes) -> list[Turn]:
    """The turns in ``data``, line by line: whatever is no white space is in one of them."""
    found: list[Turn] = []
    kind, first, apart, open_message, may_end = "", b"", True, False, False
    for at, line in lines_of(data):
        blank = not line.strip()
        if may_end and (blank or line.startswith(b">")):
            open_message = False
        may_end = False
        if blank:
            apart = True
            continue
        new = _kind(line, kind if found else "", apart=apart, open_message=open_message)
        joined = new == kind and (new == _TEXT or open_message or not apart)
        if joined and new == _HARNESS and not open_message and (_OWN_LINE.match(line) or _OWN_LINE.match(first)):
            joined = False
        if joined:
            found[-1] = found[-1]._replace(end=at + len(line))
        else:
            found.append(Turn(new, at, at + len(line)))
            first = line
        if new != _HARNESS:
            open_message = False
        elif line.endswith(_BREAK):
            may_end = open_message
        elif line.startswith(b"> "):
            open_message = True
        kind, apart = new, False
    return found


def _kind(line: bytes, before: str, *, apart: bool, open_message: bool) -> str:
    """Who wrote a line that is not blank, after one of kind ``before``, ``apart`` from it when blank lines stand between.

    ``open_message``: Aider writes the lines of one message as they are, with its marks before the first and behind the last.
    """
    if not before and (_HEADER.match(line) or _MODE_LINE.match(line)):
        return _START
    if line.startswith(b"#### ") and line.endswith(_BREAK) and (apart or before == _USER):
        return _USER
    if open_message or (not apart and before in (_USER, _HARNESS)):
        return _HARNESS
    if not line.startswith(b"> "):
        return _TEXT
    if line.endswith(_BREAK):
        return _HARNESS if apart or before != _TEXT else _TEXT
    return _HARNESS if before in ("", _START) or (apart and line.startswith(b"> Tokens: ")) else _TEXT


def _runs(data: bytes) -> Iterator[_Run]:
    """The runs of a history, in order; what stands before the first header is one too, unless it is an editor's mode line."""
    begins = len(data) - len(data.lstrip())
    starts = [
        found
        for found in _HEADER_LINE.finditer(data)
        if found.start() == begins or data.endswith((b"\n\n", b"\n\r\n"), 0, found.start())
    ]
    mode = _MODE_LINE.match(data)
    ends = [found.start() for found in starts] + [len(data)]
    if data[mode.end() if mode else 0 : ends[0]].strip():
        yield _Run("", 0, ends[0])
    for found, end in zip(starts, ends[1:], strict=True):
        yield _Run(found[0].split(b" at ")[1].strip().decode(), found.start(), end)


class Aider:
    """``.aider.chat.history.md``; the prompts in ``.aider.input.history`` are in it, ``.aider.llm.history`` is not read."""

    name = "aider"
    framing = "gathered"

    def recognises(self, head: bytes, name: str) -> bool:
        """True for a file that begins with a run, or with lines as Aider writes them and a run behind them."""
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        mode = _MODE_LINE.match(start)
        start = start[mode.end() :].lstrip() if mode else start
        if _HEADER_LINE.match(start):
            return True
        first = start.partition(b"\n")[0].removesuffix(b"\r")
        if not (first.startswith((b"> ", b"#### ", b">")) and first.endswith(_BREAK)):
            return False
        return name == FILE or any(run.started for run in _runs(start))

    def anchor(self, path: str) -> str:
        """The file itself."""
        return path

    def gather(self, view: FileView, anchor: str) -> Iterator[Member]:
        """A member a run, called by when it started: the run as it stands there, and a line that says in which folder."""
        data = view.read(anchor).removeprefix(b"\xef\xbb\xbf")
        folder = PurePosixPath(anchor).parent.as_posix()
        names: Counter[str] = Counter()
        for run in _runs(data):
            name = run.started.replace(" ", "T") or "headless"
            names[name] += 1
            called = name if names[name] == 1 else f"{name}~{names[name]}"
            text = data[run.start : run.end].rstrip(b"\r\n") + b"\n"

            def load(text: bytes = text) -> bytes:
                return with_folder(text, folder)

            yield Member(called, FileState(len(text), 0, zlib.crc32(text)), load)

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> AiderReader:
        """A new reader; a run has no calls."""
        del calls
        return AiderReader(name)


AIDER = Aider()
