"""Where the sessions of Hermes Agent lie, how one is put together, and which of its messages are copies of earlier ones.

Compressing a context begins a new session, or a new stretch of the same one, with a summary between copies of the first and
the last messages; branching begins one with copies of all. A copy is no second turn (EVID.5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from tallystick.errors import UsageError
from tallystick.transcripts.databases import columns_of, row_of, rows_of, text_of
from tallystick.transcripts.documents import UNREADABLE, json_in, json_lines
from tallystick.transcripts.hermes_speech import is_summary
from tallystick.transcripts.protocol import FileState, FileView, Member

DELEGATE = "delegate"
"""A session that another one started for a task."""
_BRANCH, _COMPRESSION, _RESET = "branch", "compression", "reset"
_MARKS = (("_delegate_from", DELEGATE), ("_branched_from", _BRANCH), ("_reset_from", _RESET))
_ENDS = {"compression": _COMPRESSION, "branched": _BRANCH} | dict.fromkeys(
    ("session_reset", "session_switch", "idle", "daily", "suspended", "resume_pending_expired", "new_session"), _RESET
)
"""What the end of its parent says of a session."""
_JSON_CONTENT = "\0json:"
_SESSION = (
    "id",
    "source",
    "parent_session_id",
    "model_config",
    "end_reason",
    "title",
    "cwd",
    "git_branch",
    "git_repo_root",
)
_TEXTS = ("role", "tool_call_id", "tool_name", "reasoning", "reasoning_content")
_MESSAGE = (*_TEXTS, "content", "tool_calls", "timestamp", "observed", "active", "compacted", "_compressed_summary")


def in_database(view: FileView, path: str, only: str = "") -> Iterator[Member]:
    """The sessions of ``state.db``, by id, or one of them."""
    there = columns_of(view, path, "messages")
    active, compacted = (
        ("sum(m.active)" if "active" in there else "0"),
        ("sum(m.compacted)" if "compacted" in there else "0"),
    )
    counted = f"""SELECT s.id, sum(ifnull(octet_length(m.content), 0) + ifnull(octet_length(m.tool_calls), 0)),
        max(m.id), count(m.id), {active}, {compacted}
        FROM sessions s LEFT JOIN messages m ON m.session_id = s.id
        WHERE ? IN ('', s.id) GROUP BY s.id ORDER BY s.id"""  # noqa: S608
    for session, *numbers in view.rows(path, counted, (only,)):
        size, last, count, live, gone = (int(each) if isinstance(each, int | float) else 0 for each in numbers)
        state = FileState(size, last, (count * (count + 1) + live) * (count + 1) + gone)

        def load(session: str = str(session)) -> bytes:
            return _document(view, path, session)

        yield Member(str(session), state, load)


def in_file(view: FileView, path: str) -> Iterator[Member]:
    """The session of a log or snapshot, or the sessions of an export.

    A session that the database beside the file's folder has, too, is read from there: it is told in full only there.
    """
    folder, _, name = path.rpartition("/")
    state = view.state(path)
    if state is None:
        raise UsageError(f"{path}: no session of Hermes lies there")
    stem = name.rpartition(".")[0].removeprefix("session_")
    known = _in_database_beside(view, f"{folder.rpartition('/')[0]}/state.db", stem)
    if known is not None:
        yield known
    elif name.endswith(".json"):
        yield Member(stem, state, lambda: view.read(path))
    else:
        yield from _in_lines(stem, state, view.read(path))


def _in_database_beside(view: FileView, database: str, session: str) -> Member | None:
    if view.state(database) is None:
        return None
    try:
        return next(in_database(view, database, session), None)
    except UsageError:
        return None


def _in_lines(stem: str, state: FileState, data: bytes) -> Iterator[Member]:
    lines = json_lines(data)
    exported = [_fields(line) for line in lines[:1]]
    if exported and "messages" in exported[0]:
        seen: set[str] = set()
        for number, line in enumerate(lines):
            name = _name(line) or f"line-{number + 1}"
            if name not in seen:
                seen.add(name)
                yield Member(name, state, lambda line=line: bytes(line))  # type: ignore[misc]
        return
    head = _fields(lines[0]) if lines else {}
    if bytes(head.get("role", b"")) == b'"session_meta"':
        lines = lines[1:]
    document = {"session_id": stem, "platform": head.get("platform"), "messages": lines}
    yield Member(stem, state, lambda: msgspec.json.encode(document))


def _fields(raw: msgspec.Raw) -> dict[str, msgspec.Raw]:
    try:
        return msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except UNREADABLE:
        return {}


class _Named(msgspec.Struct):
    id: str = ""


def _name(raw: msgspec.Raw) -> str:
    try:
        return msgspec.json.decode(raw, type=_Named).id
    except UNREADABLE:
        return ""


def _document(view: FileView, path: str, session: str) -> bytes:
    """A session of the database, copies and what was taken back marked."""
    row = row_of(view, path, "sessions", _SESSION, session)
    parent = text_of(row["parent_session_id"])
    above = next(iter(rows_of(view, path, "sessions", _SESSION, "WHERE id = ?", (parent,))), None) if parent else None
    relation = _relation(row, above) if parent else ""
    rows = _messages_of(view, path, session)
    inherits = relation in (_COMPRESSION, _BRANCH)
    copied = _copied(rows, _messages_of(view, path, parent) if inherits else (), from_start=inherits)
    messages = [_message(each, copied=number in copied) for number, each in enumerate(rows)]
    facts = {name: text_of(row[name]) for name in ("source", "title", "cwd", "git_branch", "git_repo_root")}
    told = {"session_id": session, "parent_session_id": parent, "relation": relation, **facts}
    return msgspec.json.encode({**told, "messages": messages})


def _messages_of(view: FileView, path: str, session: str) -> list[dict[str, object]]:
    return list(rows_of(view, path, "messages", _MESSAGE, "WHERE session_id = ? ORDER BY id", (session,)))


def _relation(row: dict[str, object], above: dict[str, object] | None) -> str:
    """What a session is to its parent: by the mark that it carries, else by how the parent ended, else a task of it."""
    try:
        config: Any = msgspec.json.decode(text_of(row["model_config"]) or "{}")
    except (*UNREADABLE, UnicodeEncodeError):
        config = None
    for mark, relation in _MARKS:
        # A mark that names another session was inherited with the rest of the configuration.
        if isinstance(config, dict) and config.get(mark) == row["parent_session_id"]:
            return relation
    return _ENDS.get(text_of(above["end_reason"]), DELEGATE) if above else DELEGATE


def _message(row: dict[str, object], *, copied: bool) -> dict[str, object]:
    content = text_of(row["content"])
    is_json = content.startswith(_JSON_CONTENT)
    told: dict[str, object] = {name: row[name] for name in _TEXTS if row[name] is not None}
    told["content"] = json_in(content.removeprefix(_JSON_CONTENT).encode()) if is_json else content
    told["timestamp"] = row["timestamp"]
    if row["tool_calls"]:
        told["tool_calls"] = json_in(text_of(row["tool_calls"]).encode())
    if row["observed"]:
        told["observed"] = True
    if copied:
        told["copied"] = True
    if row["active"] == 0 and not row["compacted"]:
        told["rewound"] = True
    return told


def _key(row: dict[str, object]) -> tuple[str, str]:
    """By what a message is known again: a call by its ids, a result by its call's, since old outputs are cut in copies."""
    role = text_of(row["role"])
    if row["tool_call_id"]:
        return "tool", text_of(row["tool_call_id"])
    return (role, text_of(row["tool_calls"])) if row["tool_calls"] else (role, text_of(row["content"]))


def _copied(rows: Sequence[dict[str, object]], before: Sequence[dict[str, object]], *, from_start: bool) -> set[int]:
    """The places of messages that are there already: side by side with a summary, or at the start of what was branched off."""
    seen = {_key(row) for row in before}
    repeats, summaries = [], []
    for row in rows:
        key = _key(row)
        repeats.append(key in seen)
        summaries.append(bool(row["_compressed_summary"]) or is_summary(text_of(row["content"])))
        seen.add(key)
    copied: set[int] = set()
    joined = from_start
    for places in (range(len(rows)), range(len(rows) - 1, -1, -1)):
        for at in places:
            if summaries[at]:
                joined = True
            elif joined and repeats[at]:
                copied.add(at)
            else:
                joined = False
        joined = False
    return copied
