"""Makes ``vectors/trail``: ``python -m tests.make_vectors``. Fixed clock, fixed bytes for salts and keys; never for real use."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tallystick.log.canonical import entry_bytes, part_digest
from tallystick.log.merkle import Frontier, leaf_hash
from tallystick.model.entry import Entry, EntryKind, LogName
from tallystick.model.evidence import Event, EventKind, Locator, Origin
from tallystick.model.temporal import DAY, Interval, ValidTime
from tallystick.store.memory import MemoryStore
from tallystick.store.outside import key_name, origin
from tallystick.testing.trails import MemoryOutside, RepeatingEntropy, SetClock
from tallystick.trail import Appender, Trail
from tallystick.trail.archive import Packer, event_id, keep, record_bytes
from tallystick.trail.erasing import Erasure, erase
from tallystick.workflows.portable import export_lines
from tallystick.workflows.valid_times import valid_part

FOLDER = Path(__file__).resolve().parents[1] / "vectors" / "trail"
SEED = 1
ID = "00112233445566778899aabbccddeeff"
DIGEST = "ab" * 32

Lines = list[dict[str, Any]]


def files() -> dict[str, bytes]:
    """Every file of the vectors, by path under ``vectors/trail``."""
    made = {
        "entries.json": _json(_entries()),
        "refused.json": _json(_refused()),
        "parts.json": _json(_parts()),
        "archive.json": _json(_archive()),
    }
    trail = small_trail()
    note = trail.seal()
    lines = [json.loads(line) for line in export_lines(trail)]
    public = trail.outside.public_key(trail.id) or b""
    made["checkpoint.json"] = _json(_checkpoints(trail, note, public))
    made |= _trails("good", TAMPERED, lines, note, public)
    forgetful = erased_trail(trail)
    lines = [json.loads(line) for line in export_lines(forgetful)]
    return made | _trails("erased", TAMPERED_ERASED, lines, forgetful.seal(), public)


def _trails(good: str, tampered: Tampered, lines: Lines, note: bytes, public: bytes) -> dict[str, bytes]:
    """A sound trail and what was made of it, each with its checkpoint and what a verifier says."""
    made = {}
    for name, (change, expected) in {good: (_unchanged, {"sound": True}), **tampered}.items():
        folder = name if name == good else f"{name}_fail"
        changed = change([json.loads(json.dumps(line)) for line in lines])
        made[f"{folder}/trail.jsonl"] = b"".join(_line(line) for line in changed)
        made[f"{folder}/memory.checkpoint"] = note
        made[f"{folder}/expected.json"] = _json({"public_key": public.hex(), **expected})
    return made


def small_trail() -> Trail:
    """Nineteen entries: one of each kind that the memory log has in this version, with two archived events."""
    clock = SetClock()
    trail = Trail(MemoryStore(), MemoryOutside(SEED), clock=clock, entropy=RepeatingEntropy(SEED), actor="tally")
    with trail.writing() as appender:
        holder = appender.holder("project:/work/shop", "project")
        session = appender.add(
            EntryKind.INTRODUCED, {"session": _json_part(harness="made-up", name="one")}, holder=holder
        )
        _observe(appender, session)
        first = _assert(appender, holder, session, "The port is 5433.", quote="the port is 5433")
        second = _assert(appender, holder, session, "Tests pass; größer ist nicht besser.")
        third = _assert(appender, holder, session, "The cache lives in Rome.", valid=(Interval(0, DAY),))
        verdicts = {f"verdict/{claim}": _verdict(session, claim) for claim in (first, second)}
        appender.add(EntryKind.JUDGED, verdicts, refs=[first, second])
        appender.add(EntryKind.RECONFIRMED, {"facets": _json_part(said_at=clock.now)}, refs=[first])
        appender.add(EntryKind.LINKED, {"contradicts": b"{}"}, refs=[second, first])
    clock.now += 5_000_000
    with trail.writing() as appender:
        gone = appender.add(EntryKind.RETRACTED, {"because": b"it was a guess"}, refs=[second])
        appender.add(EntryKind.UNDONE, {"because": b"doch, sie laufen"}, refs=[gone])
        _revise(appender, holder, third, "The cache lives in Oslo.", {"change": b"{}"})
        _revise(appender, holder, first, "The port is 5434.", {})
        appender.add(EntryKind.RETRACTED, {"because": b"over"}, refs=[second])
        _assert(appender, holder, session, "Tests pass; größer ist nicht besser.", again=second)
        appender.add("dreamt", {"text": b"of a later version"}, refs=[first])
    clock.now -= 3 * DAY
    with trail.writing() as appender:
        appender.add(EntryKind.LINKED, {"same_as": b"{}"}, refs=[first, second])
    return trail


def erased_trail(trail: Trail) -> Trail:
    """The small trail, of which a claim, a verdict and an archived event were erased, and more of it is proposed."""
    with trail.writing() as appender:
        what = Erasure({4: ["facets", "quote", "text"], 7: ["verdict/4"], 8: ["facets"]}, {2: [0]})
        erase(appender, what, "asked for")
        appender.add(EntryKind.PROPOSED, {"proposal": _json_part(because="x", does="forget", selector="c5")}, refs=[5])
    return trail


def _observe(appender: Appender, session: int) -> None:
    packer = Packer(session=session, first=0, block=0, salts=appender.salt)
    for event in _events():
        packer.add(event_id("made-up", "one", "", event.uid), event)
    made = packer.finish({"reader": "made-up", "redactor": "redaction/1"})
    keep(appender.rows, made)
    parts = {"manifest": made.manifest, "source": _json_part(path="/work/shop/one.jsonl")}
    appender.add(EntryKind.OBSERVED, parts, refs=[session])


def _events() -> list[Event]:
    at = SetClock().now
    return [
        Event("r1", EventKind.MESSAGE, Origin.USER, "No, the port is 5433.", Locator(1, 0, 0, 0, 90), at),
        Event("r2", EventKind.MESSAGE, Origin.ASSISTANT, "Größer.\nTests pass.", Locator(2, 1, 0, 91, 120), None),
    ]


def _assert(
    appender: Appender,
    holder: str,
    session: int,
    text: str,
    *,
    quote: str = "",
    valid: tuple[Interval, ...] = (),
    again: int = -1,
) -> int:
    facets = _json_part(by="hand", kind="fact", origin="assistant", said_at=SetClock().now, session=session, tokens=9)
    parts = {"text": text.encode(), "facets": facets}
    if quote:
        parts["quote"] = quote.encode()
    if valid:
        parts["valid"] = valid_part(ValidTime(valid, start_known=True, end_known=True, precision="day"))
    return appender.add(EntryKind.ASSERTED, parts, refs=[again] if again >= 0 else [], holder=holder)


def _revise(appender: Appender, holder: str, claim: int, text: str, more: dict[str, bytes]) -> None:
    facets = _json_part(by="revise", kind="fact", origin="assistant", said_at=appender.at, session=-1, tokens=9)
    parts = {"text": text.encode(), "facets": facets, "because": b"moved", **more}
    appender.add(EntryKind.REVISED, parts, refs=[claim], holder=holder)


def _verdict(session: int, claim: int) -> bytes:
    event = event_id("made-up", "one", "", "r1")
    spans = [[f"s{session}", event, 4, 20]]
    said = {"reason": "", "spans": spans, "value": "verbatim", "verifier": "quotation/1"}
    return _json_part(verdicts=[said])


def _entries() -> list[dict[str, Any]]:
    """Entries with every optional field there and not, and what they come to as one log."""
    entries = [
        Entry(ID, LogName.MEMORY, 0, 1, 1, "introduced", ID),
        Entry(ID, LogName.MEMORY, 1, 2**53 - 1, -(2**53 - 1), "asserted", ID, ID[::-1], (), (("text", DIGEST),)),
        Entry(
            ID, LogName.MEMORY, 2, 0, 0, "judged", ID, "", (1, 0), (("verdict/0", DIGEST), ("verdict/1", DIGEST[::-1]))
        ),
        Entry(
            ID, LogName.ACCESS, 3, 5, 5, "surfaced", ID, "", (2,), (), (("ledger", (7,)), ("memory", (0, 2**53 - 1)))
        ),
        Entry(ID, LogName.LEDGER, 4, 5, 4, "dreamt", ID, "", (), (), (), 2),
    ]
    frontier = Frontier()
    made = []
    for entry in entries:
        canon = entry_bytes(entry)
        frontier.append(leaf_hash(canon))
        fields: dict[str, Any] = entry._asdict()
        fields |= {
            "refs": list(entry.refs),
            "parts": dict(entry.parts),
            "xrefs": {log: list(to) for log, to in entry.xrefs},
        }
        made.append(
            {
                "fields": fields,
                "canonical": canon.decode(),
                "leaf": leaf_hash(canon).hex(),
                "root_with_all_before": frontier.root().hex(),
            }
        )
    return made


def _refused() -> list[dict[str, str]]:
    good = entry_bytes(Entry(ID, LogName.MEMORY, 1, 2, 2, "asserted", ID, "", (0,), (("text", DIGEST),))).decode()
    changes = {
        "a space": ('"at":2', '"at": 2'),
        "a float": ('"at":2', '"at":2.0'),
        "an integer beyond 2^53-1": ('"seq":1', '"seq":9007199254740992'),
        "a negative seq": ('"seq":1', '"seq":-1'),
        "an upper-case id": (ID, ID.upper()),
        "a short digest": (DIGEST, DIGEST[2:]),
        "an unknown field": ('"at":2', '"at":2,"body":"x"'),
        "a field twice": ('"at":2', '"at":2,"at":2'),
        "fields out of order": ('"at":2,"clock":2', '"clock":2,"at":2'),
        "a missing field": ('"clock":2,', ""),
        "an empty holder": ('"kind"', '"holder":"","kind"'),
        "empty cross-references": ("}", ',"xrefs":{}}'),
        "a part name with capitals": ('"text"', '"Text"'),
        "an escape that need not be": ('"asserted"', '"\\u0061sserted"'),
        "a string for a number": ('"at":2', '"at":"2"'),
        "true for a number": ('"at":2', '"at":true'),
        "a format before the first": ('"v":1', '"v":0'),
        "a reference to itself": ('"refs":[0]', '"refs":[1]'),
        "a reference to a later entry": ('"refs":[0]', '"refs":[0,9]'),
        "a newer format with an escape": ('"v":1', '"v":2,"word":"\\n"'),
        "a newer format beyond ASCII": ('"v":1', '"v":2,"word":"é"'),
        "a newer format with a float": ('"v":1', '"v":2,"weight":0.5'),
        "a newer format with an integer beyond 2^53-1": ('"v":1', '"v":2,"weight":9007199254740992'),
        "a newer format nested too deep": ('"v":1', f'"v":2,"word":{128 * "["}{128 * "]"}'),
        "a newer format with a space": ('"v":1', '"v": 2'),
        "a newer format with empty cross-references": ('"v":1', '"v":2,"word":1,"xrefs":{}'),
    }
    made = []
    for why, (old, new) in changes.items():
        head, found, tail = good.rpartition(old) if old == "}" else good.partition(old)
        assert found
        made.append({"why": why, "entry": head + new + tail})
    return made


def _parts() -> list[dict[str, Any]]:
    bodies = {"empty": b"", "words": b"the port is 5433", "any bytes": bytes(range(256))}
    salt = RepeatingEntropy(2)(32)
    return [
        {"what": what, "salt": salt.hex(), "body": _b64(body), "digest": part_digest(salt, body)}
        for what, body in bodies.items()
    ]


def _archive() -> list[dict[str, Any]]:
    made = []
    for event in _events():
        salt = RepeatingEntropy(3)(32)
        name = event_id("made-up", "one", "", event.uid)
        packer = Packer(session=0, first=0, block=0, salts=iter([salt]).__next__)
        packer.add(name, event)
        made.append(
            {
                "harness": "made-up",
                "session": "one",
                "thread": "",
                "uid": event.uid,
                "event": name,
                "record": _b64(record_bytes(event)),
                "salt": salt.hex(),
                "digest": packer.finish({}).manifest[-32:].hex(),
            }
        )
    return made


def _checkpoints(trail: Trail, note: bytes, public: bytes) -> dict[str, Any]:
    text = note.decode()
    origin_line, size, root, _, signature, _ = text.split("\n")
    bad = {
        "another size": text.replace(f"\n{size}\n", f"\n{int(size) - 1}\n"),
        "another origin": text.replace(origin_line, origin(trail.id, LogName.ACCESS)),
        "no signature": text.replace(f"{signature}\n", ""),
        "a short root": text.replace(root, root[4:]),
        "a size with a zero before it": text.replace(f"\n{size}\n", f"\n0{size}\n"),
        "a fourth line": text.replace(f"{root}\n", f"{root}\nmore\n"),
    }
    return {
        "key_name": key_name(trail.id),
        "origin": origin(trail.id, LogName.MEMORY),
        "public_key": public.hex(),
        "size": int(size),
        "root": base64.b64decode(root).hex(),
        "note": text,
        "bad": [{"why": why, "note": changed} for why, changed in bad.items()],
    }


def _unchanged(lines: Lines) -> Lines:
    return lines


def _entry_of(lines: Lines, seq: int) -> dict[str, Any]:
    return next(line for line in lines if "entry" in line and f'"seq":{seq},' in line["entry"])


def _part_of(lines: Lines, seq: int, name: str) -> dict[str, Any]:
    return next(line for line in lines if line.get("part") == name and line["seq"] == seq)


def _clock_changed(lines: Lines) -> Lines:
    entry = _entry_of(lines, 6)
    entry["entry"] = entry["entry"].replace('"clock":17', '"clock":16')
    return lines


def _text_changed(lines: Lines) -> Lines:
    _part_of(lines, 4, "text")["body"] = _b64(b"The port is 5432.")
    return lines


def _salt_cut(lines: Lines) -> Lines:
    part = _part_of(lines, 5, "text")
    part["salt"] = part["salt"][:32]
    return lines


def _part_gone(lines: Lines) -> Lines:
    lines.remove(_part_of(lines, 11, "because"))
    return lines


def _part_added(lines: Lines) -> Lines:
    at = lines.index(_entry_of(lines, 8)) + 1
    lines.insert(at, {"body": _b64(b"x"), "part": "quote", "salt": "00" * 32, "seq": 8})
    return lines


def _entry_gone(lines: Lines) -> Lines:
    gone = _entry_of(lines, 9)
    return [line for line in lines if line is not gone and line.get("seq") != 9]


def _entries_exchanged(lines: Lines) -> Lines:
    first, second = _entry_of(lines, 4), _entry_of(lines, 5)
    first["entry"], second["entry"] = second["entry"], first["entry"]
    return lines


def _tail_cut(lines: Lines) -> Lines:
    """A whole and valid older copy: only the checkpoint tells."""
    last = 16
    kept = [line for line in lines if line.get("seq", 0) < last and ("entry" not in line or _seq(line) < last)]
    frontier = Frontier()
    for line in kept:
        if "entry" in line:
            frontier.append(leaf_hash(line["entry"].encode()))
    kept[0] |= {"size": frontier.size, "root": frontier.root().hex()}
    return kept


def _rewritten(lines: Lines) -> Lines:
    """A reason, its digest, its entry and the header made anew: only the checkpoint tells."""
    part, entry = _part_of(lines, 14, "because"), _entry_of(lines, 14)
    old = part_digest(bytes.fromhex(part["salt"]), base64.b64decode(part["body"]))
    part["body"] = _b64(b"it was never said")
    new = part_digest(bytes.fromhex(part["salt"]), base64.b64decode(part["body"]))
    entry["entry"] = entry["entry"].replace(old, new)
    frontier = Frontier()
    frontier.extend(leaf_hash(line["entry"].encode()) for line in lines if "entry" in line)
    lines[0]["root"] = frontier.root().hex()
    return lines


def _event_renamed(lines: Lines) -> Lines:
    next(line for line in lines if "event" in line)["event"][2] = "e0123456789abcdef"
    return lines


def _event_moved(lines: Lines) -> Lines:
    next(line for line in lines if "event" in line)["event"][4] += 1
    return lines


def _time_back(lines: Lines) -> Lines:
    entry = _entry_of(lines, 12)
    entry["entry"] = entry["entry"].replace('"at":1780000005', '"at":1780000000')
    return lines


def _erased_back(lines: Lines) -> Lines:
    """A part that was erased is put back, as it was."""
    as_it_was = _part_of([json.loads(line) for line in export_lines(small_trail())], 4, "text")
    lines.insert(lines.index(_entry_of(lines, 4)) + 1, as_it_was)
    return lines


def _erased_more(lines: Lines) -> Lines:
    """A part of which nobody says that it was erased."""
    lines.remove(_part_of(lines, 5, "text"))
    return lines


def _event_erased_more(lines: Lines) -> Lines:
    """An archived event of which nobody says that it was erased."""
    event = [line for line in lines if "event" in line][1]["event"]
    event[3:] = [-1, 0, 0, ""]
    return lines


Tampered = dict[str, tuple[Callable[[Lines], Lines], dict[str, Any]]]

TAMPERED_ERASED: Tampered = {
    "erased_back": (_erased_back, {"sound": False, "seq": 4, "what": "part"}),
    "erased_more": (_erased_more, {"sound": False, "seq": 5, "what": "part"}),
    "event_erased_more": (_event_erased_more, {"sound": False, "seq": 3, "what": "archive"}),
}
TAMPERED: Tampered = {
    "clock_changed": (_clock_changed, {"sound": False, "what": "root"}),
    "text_changed": (_text_changed, {"sound": False, "seq": 4, "what": "part"}),
    "salt_cut": (_salt_cut, {"sound": False, "seq": 5, "what": "part"}),
    "part_gone": (_part_gone, {"sound": False, "seq": 11, "what": "part"}),
    "part_added": (_part_added, {"sound": False, "seq": 8, "what": "part"}),
    "entry_gone": (_entry_gone, {"sound": False, "seq": 9, "what": "seq"}),
    "entries_exchanged": (_entries_exchanged, {"sound": False, "seq": 4, "what": "seq"}),
    "tail_cut": (_tail_cut, {"sound": False, "what": "checkpoint"}),
    "rewritten": (_rewritten, {"sound": False, "what": "checkpoint"}),
    "event_renamed": (_event_renamed, {"sound": False, "seq": 3, "what": "archive"}),
    "event_moved": (_event_moved, {"sound": False, "seq": 3, "what": "archive"}),
    "time_back": (_time_back, {"sound": False, "seq": 12, "what": "time"}),
}


def _seq(line: dict[str, Any]) -> int:
    return int(json.loads(line["entry"])["seq"])


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _json_part(**fields: Any) -> bytes:
    return json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode() + b"\n"


def main() -> None:
    """Write them all."""
    for name, data in files().items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    main()
