"""Bundles for tests: of a small trail, whole or changed line by line; and the stand-alone verifier, loaded."""

from __future__ import annotations

import importlib.util
import io
import json
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from tallystick.log.merkle import leaf_hash
from tallystick.model.entry import EntryKind, Head, LogName
from tallystick.model.temporal import DAY, Interval, ValidTime
from tallystick.store.memory import MemoryStore
from tallystick.testing.trails import MemoryOutside, RepeatingEntropy, SetClock
from tallystick.trail import Appender, Trail
from tallystick.trail.points import root_at
from tallystick.workflows.bundle import ask, bundle_lines, line
from tallystick.workflows.check_bundle import Checked, check_bundle
from tallystick.workflows.note_key import keys
from tallystick.workflows.scoping import Scope
from tallystick.workflows.valid_times import valid_part

SCRIPT = Path(__file__).resolve().parents[1] / "docs" / "spec" / "verify_bundle.py"
EVERYONE = Scope(asked=("*",))

Lines = list[dict[str, Any]]


def stand_alone() -> ModuleType:
    """docs/spec/verify_bundle.py as a module."""
    spec = importlib.util.spec_from_file_location("verify_bundle", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Story(NamedTuple):
    """A trail of two holders, and the claims in it."""

    trail: Trail
    port: int
    """Held, judged ``verbatim``, said again."""
    tests: int
    """Retracted."""
    cache: int
    """Held until a change, with a valid time."""
    oslo: int
    """That change."""
    secret: int
    """The other holder's, judged too."""
    judged: int
    again: int


def story(seed: int = 1) -> Story:
    """Made alike for the same seed; another seed is another trail. Its checkpoint is signed."""
    trail = Trail(MemoryStore(), MemoryOutside(seed), clock=SetClock(), entropy=RepeatingEntropy(seed))
    with trail.writing() as appender:
        shop, other = (appender.holder(f"project:/work/{name}", "project") for name in ("shop", "other"))
        port = _said(appender, shop, "The port is 5433.", quote=b"the port is 5433")
        tests = _said(appender, shop, "Tests pass; größer ist nicht besser.")
        cache = _said(appender, shop, "The cache lives in Rome.", valid=valid_part(_days(0, 9)))
        secret = _said(appender, other, "The password is in the vault.", kind="rule")
        verdicts = {f"verdict/{claim}": _verdict() for claim in (port, secret)}
        judged = appender.add(EntryKind.JUDGED, verdicts, refs=[port, secret])
        again = appender.add(EntryKind.RECONFIRMED, {"facets": _json(said_at=appender.at + 1)}, refs=[port])
        appender.add(EntryKind.RETRACTED, {"because": b"a guess"}, refs=[tests])
        parts = _opening("The cache lives in Oslo.") | {"because": b"moved", "change": b"{}"}
        oslo = appender.add(EntryKind.REVISED, parts | {"valid": valid_part(_days(4, 9))}, refs=[cache], holder=shop)
        appender.add("dreamt", {"text": b"of a later version"}, refs=[port])
    trail.seal()
    return Story(trail, port, tests, cache, oslo, secret, judged, again)


def _days(first: int, last: int) -> ValidTime:
    return ValidTime((Interval(first * DAY, last * DAY),), start_known=True, end_known=True, precision="day")


def _said(appender: Appender, holder: str, text: str, kind: str = "fact", **more: bytes) -> int:
    return appender.add(EntryKind.ASSERTED, _opening(text, kind) | more, holder=holder)


def _opening(text: str, kind: str = "fact") -> dict[str, bytes]:
    facets = _json(by="hand", kind=kind, origin="assistant", said_at=SetClock().now, session=-1, tokens=9)
    return {"text": text.encode(), "facets": facets}


def _verdict() -> bytes:
    return _json(verdicts=[{"reason": "", "spans": [], "value": "verbatim", "verifier": "quotation/1"}])


def _json(**facts: object) -> bytes:
    return json.dumps(facts, sort_keys=True).encode()


def sign_at(trail: Trail, size: int, file: Path) -> Path:
    """A checkpoint of the first ``size`` entries, as it was signed when there were no more; the newest stays the newest."""
    newest = trail.outside.read_checkpoint(trail.id, LogName.MEMORY)
    with trail.reading() as rows:
        note = trail.outside.write_checkpoint(trail.id, LogName.MEMORY, Head(size, root_at(rows, size), 0, 0))
    if newest is not None:
        assert isinstance(trail.outside, MemoryOutside)
        trail.outside.notes[trail.id, LogName.MEMORY] = newest
    file.write_bytes(note)
    return file


def bundle(
    trail: Trail,
    as_of: Path | None = None,
    scope: Scope = EVERYONE,
    valid_at: int | None = None,
    kinds: tuple[str, ...] | None = None,
) -> bytes:
    """The bytes of a bundle."""
    with trail.reading() as rows:
        asked = ask(trail, rows, scope, None if as_of is None else str(as_of), valid_at)
        asked = asked._replace(selection=asked.selection._replace(kinds=kinds))
        return b"".join(bundle_lines(rows, asked))


def checked(trail: Trail, data: bytes, key: str | None = None) -> Checked:
    """What the product finds."""
    return check_bundle(io.BytesIO(data), keys(trail.outside, key))


def parsed(data: bytes) -> Lines:
    """The lines as values."""
    return [json.loads(each) for each in data.splitlines()]


def joined(lines: Lines) -> bytes:
    """The lines as bytes again, each in its one form."""
    return b"".join(map(line, lines))


def leaf(lines: Lines, seq: int) -> dict[str, Any]:
    """The line of a leaf."""
    return lines[1 + seq]


def believed(lines: Lines, claim: int) -> dict[str, Any]:
    """What a bundle claims of a claim."""
    found = next(each["believed"] for each in lines if "believed" in each and each["believed"]["claim"] == claim)
    assert isinstance(found, dict)
    return found


def rewritten(lines: Lines, seq: int, old: str, new: str) -> Lines:
    """A leaf rewritten, and its hash with it: only the root tells."""
    each = leaf(lines, seq)
    assert old in each["leaf"]
    each["leaf"] = each["leaf"].replace(old, new)
    each["hash"] = leaf_hash(each["leaf"].encode()).hex()
    return lines
