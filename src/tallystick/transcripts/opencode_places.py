"""Where the sessions of OpenCode lie, and how one is put together from rows or files into the shape of ``opencode export``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from tallystick.errors import UsageError
from tallystick.transcripts.databases import instant_of, row_of, rows_of, text_of
from tallystick.transcripts.documents import UNREADABLE, json_in
from tallystick.transcripts.protocol import FileState, FileView, Member

MILLISECOND = 1_000
"""In microseconds: the unit of all times here."""
_SESSION = ("id", "parent_id", "directory", "title", "version", "revert", "time_created", "time_updated")
_COUNTED = """
SELECT s.id, s.time_updated, m.n, m.last, m.bytes, p.n, p.last, p.bytes FROM session s
LEFT JOIN (SELECT session_id, count(*) n, max(time_updated) last, sum(octet_length(data)) bytes FROM message GROUP BY 1) m
  ON m.session_id = s.id
LEFT JOIN (SELECT session_id, count(*) n, max(time_updated) last, sum(octet_length(data)) bytes FROM part GROUP BY 1) p
  ON p.session_id = s.id
ORDER BY s.id
"""


def in_database(view: FileView, path: str) -> Iterator[Member]:
    """The sessions of ``opencode.db``, by id."""
    for row in view.rows(path, _COUNTED):
        session = str(row[0])
        updated, messages, last_message, message_bytes, parts, last_part, part_bytes = (
            int(each) if isinstance(each, int | float) else 0 for each in row[1:]
        )
        changed = max(updated, last_message, last_part)
        state = FileState(message_bytes + part_bytes, changed * 1_000_000, messages + parts)

        def load(session: str = session) -> bytes:
            return document_of(view, path, session)

        yield Member(session, state, load)


def document_of(view: FileView, path: str, session: str) -> bytes:
    """A session of the database in the shape of an export."""
    of_it = "WHERE session_id = ? ORDER BY "
    parts: dict[object, list[msgspec.Raw]] = {}
    for row in rows_of(view, path, "part", ("id", "message_id", "data"), of_it + "message_id, id", (session,)):
        parts.setdefault(row["message_id"], []).append(
            _with_ids(text_of(row["data"]).encode(), {"id": text_of(row["id"])})
        )
    messages = [
        {
            "info": _with_ids(text_of(row["data"]).encode(), {"id": text_of(row["id"])}),
            "parts": parts.get(row["id"], []),
        }
        for row in rows_of(view, path, "message", ("id", "data"), of_it + "time_created, id", (session,))
    ]
    row = row_of(view, path, "session", _SESSION, session)
    info = {
        "id": session,
        "directory": text_of(row["directory"]),
        "parentID": text_of(row["parent_id"]) or None,
        "title": text_of(row["title"]),
        "version": text_of(row["version"]),
        "revert": json_in(text_of(row["revert"]).encode()) if row["revert"] else None,
    }
    return msgspec.json.encode({"info": info, "messages": messages})


def _with_ids(data: bytes, ids: dict[str, str]) -> msgspec.Raw:
    """The JSON of a row, with what its own columns hold put in; of what is no object, the value alone."""
    raw = json_in(data)
    try:
        fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except UNREADABLE:
        return raw
    return msgspec.Raw(msgspec.json.encode({**ids, **fields, **ids}))


def in_tree(view: FileView, root: str) -> Iterator[Member]:
    """The sessions of ``storage``, whose path is ``root``, by project and id."""
    seen: set[str] = set()
    for project in view.names(f"{root}/session"):
        for name in view.names(f"{root}/session/{project.rstrip('/')}") if project.endswith("/") else ():
            session = name.removesuffix(".json")
            # A session that was moved to another project may lie in both; its messages lie in one place.
            if session == name or session in seen:
                continue
            seen.add(session)
            yield _tree_member(view, root, f"{root}/session/{project}{name}", session)


def _tree_member(view: FileView, root: str, path: str, session: str) -> Member:
    folder = f"{root}/message/{session}"
    files = [path]
    of_message: dict[str, list[str]] = {}
    for name in view.names(folder):
        message = name.removesuffix(".json")
        if message != name:
            beside = f"{root}/part/{message}"
            of_message[f"{folder}/{name}"] = [
                f"{beside}/{each}" for each in view.names(beside) if each.endswith(".json")
            ]
    files += (each for message, parts in of_message.items() for each in (message, *parts))
    states = [state for each in files if (state := view.state(each)) is not None]
    state = FileState(
        sum(each.size for each in states), max((each.mtime_ns for each in states), default=0), len(states)
    )

    def load() -> bytes:
        messages = [
            {"info": _file(view, message), "parts": [_file(view, part) for part in parts]}
            for message, parts in of_message.items()
        ]
        messages.sort(key=lambda each: _created(each["info"]))
        return msgspec.json.encode({"info": _file(view, path), "messages": messages})

    return Member(session, state, load)


def _file(view: FileView, path: str) -> msgspec.Raw:
    return _with_ids(view.read(path), {"id": path.rpartition("/")[2].removesuffix(".json")})


class _Created(msgspec.Struct):
    id: str = ""
    time: Any = None


def _created(message: object) -> tuple[int, str]:
    assert isinstance(message, msgspec.Raw)
    try:
        decoded = msgspec.json.decode(message, type=_Created)
    except UNREADABLE:
        return 0, ""
    created = decoded.time.get("created") if isinstance(decoded.time, dict) else None
    return instant_of(created, MILLISECOND) or 0, decoded.id


def in_export(view: FileView, path: str) -> Iterator[Member]:
    """The session that a file holds which ``opencode export`` wrote."""
    state = view.state(path)
    if state is None or not path.endswith(".json"):
        raise UsageError(f"{path}: no session of OpenCode lies there")

    def load() -> bytes:
        return view.read(path)

    yield Member(path.rpartition("/")[2].removesuffix(".json"), state, load)
