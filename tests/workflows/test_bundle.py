"""Provable replay: what a bundle holds, and that nothing in it can be changed unnoticed, by the product or by a stranger."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallystick.errors import UsageError
from tallystick.log.canonical import entry_bytes, part_digest
from tallystick.log.checkpoint import verifier_key
from tallystick.log.merkle import Frontier, leaf_hash
from tallystick.model.entry import Entry, EntryKind, Head, LogName
from tallystick.model.temporal import DAY
from tallystick.store.outside import key_name
from tallystick.trail import Trail
from tallystick.workflows.bundle import erased_parts, needed
from tallystick.workflows.scoping import Scope
from tests.bundles import (
    SCRIPT,
    Lines,
    believed,
    bundle,
    checked,
    joined,
    leaf,
    parsed,
    rewritten,
    sign_at,
    stand_alone,
    story,
)

STORY = story()
GOOD = bundle(STORY.trail)
PORT, OSLO = STORY.port, STORY.oslo
STRANGER = stand_alone()


def key_of(trail: Trail) -> str:
    return verifier_key(key_name(trail.id), trail.outside.public_key(trail.id) or b"")


Ask = Callable[..., tuple[int, str]]


@pytest.fixture
def by_a_stranger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """(exit code, what is printed) of the stand-alone verifier."""

    def ask(data: bytes, *key: str) -> tuple[int, str]:
        file = tmp_path / "a.tally-bundle"
        file.write_bytes(data)
        code = STRANGER.main(str(file), *key)
        return code, "".join(capsys.readouterr())

    return ask


def test_a_good_one_holds(by_a_stranger: Ask) -> None:
    """TIME.3: the product and a stranger find that the beliefs are what the leaves say, under the key that is known."""
    found = checked(STORY.trail, GOOD, key_of(STORY.trail))
    assert (found.flaw, found.believed, found.holders) == (None, 4, None)
    assert found.key is not None
    assert found.key.known_from == "given"
    assert found.checkpoint is not None
    assert found.checkpoint.size == len([each for each in parsed(GOOD) if "leaf" in each])
    code, said = by_a_stranger(GOOD, key_of(STORY.trail))
    assert code == 0
    assert said.startswith("holds: the 4 claims")
    assert by_a_stranger(GOOD) == (code, said)
    assert key_of(STORY.trail).endswith(said.strip().rpartition("…")[2])


def test_what_it_claims() -> None:
    """TIME.3: each claim comes with words, trust on its axes, valid time, when it was said last, and its lineage."""
    lines = parsed(GOOD)
    port = believed(lines, PORT)
    assert (port["text"], port["kind"], port["origin"]) == ("The port is 5433.", "fact", "assistant")
    assert (port["derivation"], port["outcome"], port["lineage"], port["since"]) == ("verbatim", "none", PORT, PORT)
    assert port["said_at"] == believed(lines, STORY.secret)["said_at"] + 1
    assert believed(lines, STORY.cache)["valid"] == [[0, 4 * DAY]]
    assert (believed(lines, OSLO)["valid"], believed(lines, OSLO)["lineage"]) == ([[4 * DAY, 9 * DAY]], STORY.cache)


def test_what_is_not_needed_is_left_out() -> None:
    """SEC.3: quotes and reasons are in no bundle, and of claims that are not shown there are no words, facets or verdicts."""
    lines = parsed(GOOD)
    disclosed = {name for each in lines for name in each.get("parts", {})}
    assert disclosed == {"holder", "facets", "text", "valid", f"verdict/{PORT}", f"verdict/{STORY.secret}"}
    assert leaf(lines, STORY.tests)["parts"] == {}
    lines = parsed(bundle(STORY.trail, scope=Scope(asked=("project:/work/shop",))))
    assert leaf(lines, STORY.secret)["parts"] == {}
    assert set(leaf(lines, STORY.judged)["parts"]) == {f"verdict/{PORT}"}
    bodies = b"\n".join(base64.b64decode(body) for each in lines for _, body in each.get("parts", {}).values())
    assert b"Rome" in bodies
    assert b"password" not in bodies
    assert b"/work/other" not in bodies


@pytest.mark.parametrize("asked", [("project:/work/shop",), ("project:/work/other",), ("*",)])
@pytest.mark.parametrize("valid_at", [None, 0, 4 * DAY, 9 * DAY])
def test_scopes(asked: tuple[str, ...], valid_at: int | None) -> None:
    """SEC.3, TIME.1: of some holders, or of what held at an instant, the answer is exactly theirs, and says whose it is."""
    data = bundle(STORY.trail, scope=Scope(asked=asked), valid_at=valid_at)
    found = checked(STORY.trail, data)
    assert (found.flaw, found.valid_at) == (None, valid_at)
    assert STRANGER.check(data.splitlines(keepends=True), b"")
    claims = [each["believed"]["claim"] for each in parsed(data) if "believed" in each]
    mine = {"project:/work/shop": [PORT, STORY.cache, OSLO], "project:/work/other": [STORY.secret]}
    wanted = sorted(claim for name, theirs in mine.items() for claim in theirs if asked[0] in (name, "*"))
    gone = {None: [], 0: [OSLO], 4 * DAY: [STORY.cache], 9 * DAY: [STORY.cache, OSLO]}[valid_at]
    assert claims == [claim for claim in wanted if claim not in gone]
    assert found.holders is None if asked == ("*",) else [name for _, name in found.holders or ()] == [*asked]


def test_some_kinds() -> None:
    """TIME.3: of some kinds the answer is theirs alone; of the other claims the part that says their kind has to be there."""
    data = bundle(STORY.trail, kinds=("rule", "decision"))
    assert checked(STORY.trail, data).believed == 1
    assert STRANGER.check(data.splitlines(keepends=True), b"")
    lines = parsed(data)
    assert believed(lines, STORY.secret)["kind"] == "rule"
    bad = joined(_held_back(lines, PORT, "facets"))
    flaw = checked(STORY.trail, bad).flaw
    assert flaw is not None
    assert f"'facets' of leaf {PORT} is missing" in flaw.what
    with pytest.raises(STRANGER.Wrong, match="'facets' is missing"):
        STRANGER.check(bad.splitlines(keepends=True), b"")


def test_every_point_of_the_past(tmp_path: Path) -> None:
    """TIME.3: under the checkpoint of any size, the bundle is the same whatever was appended since, and holds."""
    size = len([each for each in parsed(GOOD) if "leaf" in each])
    for n in range(size + 1):
        file = sign_at(STORY.trail, n, tmp_path / f"{n}")
        data = bundle(STORY.trail, file)
        assert checked(STORY.trail, data).flaw is None
        assert STRANGER.check(data.splitlines(keepends=True), b"")
        assert len([each for each in parsed(data) if "leaf" in each]) == n


def _without(lines: Lines, gone: dict[str, Any]) -> Lines:
    return [each for each in lines if each is not gone]


def _reordered(lines: Lines) -> Lines:
    lines[5], lines[6] = lines[6], lines[5]
    return lines


def _extra(lines: Lines) -> Lines:
    last = max(place for place, each in enumerate(lines) if "leaf" in each)
    text = lines[last]["leaf"].replace(f'"seq":{last - 1}', f'"seq":{last}')
    more = {"hash": leaf_hash(text.encode()).hex(), "leaf": text, "parts": {}}
    return [*lines[: last + 1], more, *lines[last + 1 :]]


def _leaf(lines: Lines, **values: Any) -> Lines:
    leaf(lines, PORT).update(values)
    return lines


def _text(lines: Lines, text: bytes) -> Lines:
    leaf(lines, PORT)["parts"]["text"][1] = base64.b64encode(text).decode()
    return lines


def _spare_bits(lines: Lines) -> Lines:
    """The same salt in other letters."""
    pair = leaf(lines, PORT)["parts"]["text"]
    other = pair[0][:-2] + chr(ord(pair[0][-2]) + 1) + "="
    assert base64.b64decode(other) == base64.b64decode(pair[0])
    pair[0] = other
    return lines


def _recommitted(lines: Lines) -> Lines:
    """A text rewritten with its digest, its leaf and its hash, and claimed: only the root tells."""
    salt, _ = leaf(lines, PORT)["parts"]["text"]
    old = json.loads(leaf(lines, PORT)["leaf"])["parts"]["text"]
    believed(lines, PORT)["text"] = "The port is 5432."
    new = part_digest(base64.b64decode(salt), b"The port is 5432.")
    return rewritten(_text(lines, b"The port is 5432."), PORT, old, new)


def _swapped(lines: Lines) -> Lines:
    one, other = (leaf(lines, seq)["parts"] for seq in (PORT, OSLO))
    one["text"], other["text"] = other["text"], one["text"]
    return lines


def _held_back(lines: Lines, seq: int, name: str) -> Lines:
    del leaf(lines, seq)["parts"][name]
    return lines


def _claimed(lines: Lines, **values: Any) -> Lines:
    believed(lines, PORT).update(values)
    return lines


def _claim_gone(lines: Lines) -> Lines:
    return [each for each in lines if each.get("believed", {}).get("claim") != PORT]


def _claim_more(lines: Lines) -> Lines:
    place = lines.index({"believed": believed(lines, STORY.cache)})
    more = believed(lines, PORT) | {"claim": STORY.tests, "text": "Tests pass; größer ist nicht besser."}
    return [*lines[:place], {"believed": more}, *lines[place:]]


def _last_claim_more(lines: Lines) -> Lines:
    return [*lines[:-1], {"believed": believed(lines, OSLO) | {"claim": OSLO + 1}}, lines[-1]]


def _header(lines: Lines, **values: Any) -> Lines:
    lines[0].update(values)
    return lines


def _asked(lines: Lines, **values: Any) -> Lines:
    lines[0]["asked"].update(values)
    return lines


def _signature_flipped(lines: Lines) -> Lines:
    note = lines[0]["checkpoint"]
    return _header(lines, checkpoint=note[:-10] + ("A" if note[-10] != "A" else "B") + note[-9:])


def _of_one_leaf_less(lines: Lines) -> Lines:
    """Size and root are made anew; the signature is over the old ones."""
    leaves = [each for each in lines if "leaf" in each]
    frontier = Frontier()
    frontier.extend(leaf_hash(each["leaf"].encode()) for each in leaves[:-1])
    origin, _, _, *rest = lines[0]["checkpoint"].split("\n")
    note = [origin, str(frontier.size), base64.b64encode(frontier.root()).decode(), *rest]
    return _without(_header(lines, checkpoint="\n".join(note)), leaves[-1])


def _another_trail(lines: Lines) -> Lines:
    other = parsed(bundle(story(2).trail))[0]
    return _header(lines, checkpoint=other["checkpoint"], key=other["key"])


def _of_the_access_log(lines: Lines) -> Lines:
    trail = STORY.trail
    with trail.reading() as rows:
        note = trail.outside.write_checkpoint(trail.id, LogName.ACCESS, rows.head())
    return _header(lines, checkpoint=note.decode())


PART = rf"part 'text' of leaf {PORT} is not what|leaf {PORT}: part 'text' is not what"
TAMPERED: dict[str, tuple[Callable[[Lines], Lines], str]] = {
    "leaf missing": (lambda lines: _without(lines, leaf(lines, 9)), "leaf 9 is missing or out of place"),
    "first leaf missing": (lambda lines: _without(lines, leaf(lines, 0)), "leaf 0 is missing or out of place"),
    "last leaf missing": (lambda lines: _without(lines, leaf(lines, OSLO + 1)), f"leaf {OSLO + 1} is missing"),
    "leaf extra": (_extra, f"one leaf more than the {OSLO + 2}|leaf {OSLO + 3} is missing, or one is extra"),
    "leaf twice": (lambda lines: [*lines[:5], lines[4], *lines[5:]], "leaf 4 is missing or out of place"),
    "leaves reordered": (_reordered, "leaf 4 is missing or out of place"),
    "leaf altered": (
        lambda lines: _leaf(lines, leaf=leaf(lines, PORT)["leaf"].replace('"clock":17', '"clock":16')),
        f"leaf {PORT} was altered",
    ),
    "leaf with a space": (lambda lines: rewritten(lines, PORT, ',"v":1', ', "v":1'), f"leaf {PORT}"),
    "leaf and hash altered": (lambda lines: rewritten(lines, 6, '"clock":17', '"clock":16'), "root that was signed"),
    "hash altered": (lambda lines: _leaf(lines, hash="00" * 32), f"leaf {PORT} was altered"),
    "leaf of another trail": (
        lambda lines: rewritten(lines, PORT, STORY.trail.id, "ab" * 16),
        f"leaf {PORT} is .*{'ab' * 16}",
    ),
    "leaf that is a number": (lambda lines: _leaf(lines, leaf=5), "line"),
    "leaf with more": (lambda lines: _leaf(lines, more=5), "line"),
    "part altered": (lambda lines: _text(lines, b"The port is 5432."), PART),
    "part and all above it altered": (_recommitted, "root that was signed"),
    "parts swapped": (_swapped, PART),
    "part of another's name": (
        lambda lines: _leaf(lines, parts={"words": leaf(lines, PORT)["parts"]["text"]}),
        f"leaf {PORT}.*'words'",
    ),
    "part that is a number": (lambda lines: _leaf(lines, parts={"text": 5}), "line"),
    "salt with bits to spare": (_spare_bits, "base64|part 'text' of leaf"),
    "text held back": (lambda lines: _held_back(lines, PORT, "text"), f"leaf {PORT}(: part 'text')? is missing"),
    "facets held back": (lambda lines: _held_back(lines, STORY.again, "facets"), f"leaf {STORY.again}.*is missing"),
    "verdict held back": (lambda lines: _held_back(lines, STORY.judged, f"verdict/{PORT}"), "verdict.*is missing"),
    "valid time held back": (lambda lines: _held_back(lines, STORY.cache, "valid"), "'valid'.*is missing"),
    "claim missing": (_claim_gone, f'c{PORT} is missing here|the leaves say {{"believed":{{"claim":{PORT}'),
    "claim extra": (_claim_more, f'c{STORY.tests} is here|here is {{"believed":{{"claim":{STORY.tests}'),
    "last claim extra": (_last_claim_more, f'c{OSLO + 1} is here|here is {{"believed":{{"claim":{OSLO + 1}'),
    "claim that is a number": (lambda lines: [*lines[:-1], {"believed": 5}, lines[-1]], "line"),
    "words altered": (lambda lines: _claimed(lines, text="The port is 5432."), "'text' of c|here is .*5432"),
    "trust altered": (lambda lines: _claimed(lines, outcome="witnessed"), "'outcome' of c|here is .*witnessed"),
    "valid time altered": (lambda lines: _claimed(lines, valid=[[0, 5]]), r"'valid' of c|here is .*\[\[0,5\]\]"),
    "true for a number": (lambda lines: _claimed(lines, since=True), '\'since\' of c|here is .*"since":true'),
    "a field more": (lambda lines: _claimed(lines, approval="approved"), "'approval' of c|here is .*approved"),
    "a field less": (lambda lines: (_without(lines, {}), believed(lines, PORT).pop("lineage"))[0], "'lineage' of c|here is"),
    "count altered": (lambda lines: [*lines[:-1], {"end": lines[-1]["end"] | {"believed": 5}}], "end"),
    "answer twice": (lambda lines: [*lines, *lines[-5:]], "after the end|here is"),
    "line after the end": (lambda lines: [*lines, {"end": {}}], "after the end|here is"),
    "signature flipped": (_signature_flipped, "signature|not signed|base64"),
    "size and root anew": (_of_one_leaf_less, "signature"),
    "checkpoint of another trail": (_another_trail, "another trail|another key|leaf 0 is of|leaf 0 is missing or out of place"),
    "checkpoint of another log": (_of_the_access_log, "only the memory log|no checkpoint of a memory log"),
    "no checkpoint": (lambda lines: _header(lines, checkpoint="hello\n5\n"), "line 1"),
    "checkpoint with a control character": (
        lambda lines: _header(lines, checkpoint=lines[0]["checkpoint"] + "\x0c"),
        "line 1",
    ),
    "another key": (lambda lines: _header(lines, key="ab" * 32), "another key|not signed"),
    "key that is none": (lambda lines: _header(lines, key="abc"), "line 1"),
    "header with more": (lambda lines: _header(lines, more="x"), "header"),
    "header with less": (lambda lines: (_header(lines), lines[0].pop("asked"))[0], "header"),
    "later checkpoint that is not": (lambda lines: _header(lines, later=5), "line 1"),
    "others asked for": (lambda lines: _asked(lines, holders=[]), "line"),
    "another time asked for": (lambda lines: _asked(lines, valid_at=5), "line"),
    "no time at all": (lambda lines: _asked(lines, valid_at="5"), "line"),
    "holders that are none": (lambda lines: _asked(lines, holders=5), "line"),
}  # fmt: skip
"""What is done to the lines of a good bundle, and what is said of it: by the product, or by the stand-alone verifier."""


@pytest.mark.parametrize("name", TAMPERED)
def test_tampering_is_named(name: str, by_a_stranger: Ask) -> None:
    """TRAIL.8: whatever was changed, both verifiers refuse it, exit 1, and name the line and what is wrong."""
    change, named = TAMPERED[name]
    data = joined(change(parsed(GOOD)))
    flaw = checked(STORY.trail, data).flaw
    assert flaw is not None
    assert re.search(named, f"line {flaw.line}: {flaw.what}"), flaw
    code, said = by_a_stranger(data)
    assert code == 1, said
    assert re.search(named, said), said
    assert re.search(r"line \d+: ", said)


CUT: dict[str, Callable[[bytes], bytes]] = {
    "in the middle of a line": lambda data: data[: len(data) // 2],
    "after a leaf": lambda data: b"".join(data.splitlines(keepends=True)[:9]),
    "before the end": lambda data: b"".join(data.splitlines(keepends=True)[:-1]),
    "before the last line feed": lambda data: data[:-1],
    "after the header": lambda data: data.splitlines(keepends=True)[0],
    "with a space more": lambda data: data.replace(b'{"hash"', b'{ "hash"', 1),
    "with a line between": lambda data: data.replace(b"\n", b"\n\n", 1),
}


@pytest.mark.parametrize("name", CUT)
def test_cut_and_damaged(name: str, by_a_stranger: Ask) -> None:
    """TRAIL.8: a bundle that ends too early, or whose bytes are not in their one form, does not hold."""
    data = CUT[name](GOOD)
    assert checked(STORY.trail, data).flaw is not None
    assert by_a_stranger(data)[0] == 1


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"garbage\n", bytes(range(256)), b"[]\n", b"{}\n", b'{"export":"x"}\n', b"[" * 9_000]
)
def test_what_is_no_bundle(data: bytes, tmp_path: Path, by_a_stranger: Ask) -> None:
    """TRAIL.8: what is no bundle at all is refused by both, in a line."""
    with contextlib.suppress(UsageError):
        assert checked(STORY.trail, data).flaw is not None
    code, said = by_a_stranger(data)
    assert (code, said.count("\n")) == (1, 1)
    assert STRANGER.main(str(tmp_path / "none")) == 2
    assert STRANGER.main(str(tmp_path / "a.tally-bundle"), "no key") == 2


PROGRAM = [
    "leaf missing",
    "leaf extra",
    "leaves reordered",
    "leaf altered",
    "part altered",
    "parts swapped",
    "claim missing",
]
PROGRAM += ["claim extra", "trust altered", "valid time altered", "checkpoint of another trail", "signature flipped"]


@pytest.mark.parametrize("name", ["good", *PROGRAM, "in the middle of a line", "garbage"])
def test_as_a_program(name: str, tmp_path: Path) -> None:
    """TRAIL.8: the stand-alone verifier imports nothing of ours, and says by exit code and one line what it found."""
    file = tmp_path / "a.tally-bundle"
    data = {"good": GOOD, "garbage": bytes(range(256))}.get(name)
    data = CUT[name](GOOD) if name in CUT else data or joined(TAMPERED[name][0](parsed(GOOD)))
    file.write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-I", str(SCRIPT), str(file)], capture_output=True, text=True, check=False, timeout=60
    )
    if name == "good":
        assert (done.returncode, done.stderr, done.stdout[:19]) == (0, "", "holds: the 4 claims")
    else:
        assert (done.returncode, done.stdout) == (1, "")
        assert re.fullmatch(r".*a\.tally-bundle: line \d+: .+\n", done.stderr)


def test_the_program_is_short_and_on_its_own(tmp_path: Path) -> None:
    """TRAIL.8: at most 300 lines, and of packages only cryptography, whose absence is said with exit code 3."""
    text = SCRIPT.read_text("utf-8")
    assert len(text.splitlines()) <= 300
    imported = {name.split(".")[0] for name in re.findall(r"^\s*(?:from|import) (\S+)", text, re.MULTILINE)}
    assert imported - sys.stdlib_module_names == {"cryptography"}
    file = tmp_path / "a.tally-bundle"
    file.write_bytes(GOOD)
    bare = [sys.executable, "-I", "-S", str(SCRIPT), str(file)]
    done = subprocess.run(bare, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (3, "")
    assert "cryptography" in done.stderr


def test_no_flipped_bit_goes_unnoticed() -> None:
    """TRAIL.8: any bit of a bundle flipped, both verifiers refuse it, or it asks for something else and that is the answer."""
    lines = GOOD.splitlines(keepends=True)
    asked = len(lines[0].partition(b'"bundle"')[0])
    for place in range(0, len(GOOD), 47):
        bad = GOOD[:place] + bytes([GOOD[place] ^ 1 << place % 8]) + GOOD[place + 1 :]
        with pytest.raises(STRANGER.Wrong):
            STRANGER.check(bad.splitlines(keepends=True), b"")
        try:
            assert place < asked or checked(STORY.trail, bad).flaw is not None
        except UsageError:
            assert place < len(lines[0])


def test_the_key_is_the_one_that_is_known(by_a_stranger: Ask) -> None:
    """TRAIL.8: without a key of our own the bundle's is used and said to be; another trail's is refused, by name."""
    stranger = story(3).trail
    found = checked(stranger, GOOD)
    assert found.flaw is None
    assert found.key is not None
    assert (found.key.known_from, found.key.id) == ("bundle", key_of(STORY.trail).split("+")[1])
    cut = key_of(STORY.trail)[:-1]
    for key in ("no key", cut, f"{cut}A", f"{STORY.trail.id}+00000000+{'A' * 44}"):
        with pytest.raises(UsageError, match="--key"):
            checked(stranger, GOOD, key)
    for key, why in ((key_of(stranger), "another trail"), ("ab" * 32, "another key")):
        flaw = checked(stranger, GOOD, key).flaw
        assert flaw is not None
        assert why in flaw.what
    public = STORY.trail.outside.public_key(STORY.trail.id) or b""
    assert checked(stranger, GOOD, public.hex()).flaw is None
    assert by_a_stranger(GOOD, public.hex())[0] == 0
    code, said = by_a_stranger(GOOD, key_of(stranger))
    assert code == 1
    assert "another key" in said


def test_what_is_refused(tmp_path: Path) -> None:
    """TIME.4: a proof is under a checkpoint of this trail: a seq, a time, one of another trail or log is refused by name."""
    made = story(4)
    trail, size = made.trail, made.oslo + 2
    refused = {
        str(size): f"the trail has {size} entries",
        "3": "that nobody signed",
        "2001-01-01T00:00:00Z": "before the trail",
        "2999-01-01T00:00:00Z": "later than now",
    }
    other = sign_at(story(5).trail, 3, tmp_path / "other")
    refused[str(other)] = "a checkpoint of tallystick/"
    newer = sign_at(trail, size, tmp_path / "newer")
    newer.write_bytes(newer.read_bytes().replace(f"\n{size}\n".encode(), f"\n{size + 9}\n".encode()))
    refused[str(newer)] = "does not hold"
    for as_of, why in refused.items():
        with pytest.raises(UsageError, match=re.escape(why)):
            bundle(trail, Path(as_of))
    newer.write_bytes(trail.outside.write_checkpoint(trail.id, LogName.MEMORY, Head(size + 9, bytes(32), 0, 0)))
    with pytest.raises(UsageError, match=f"of {size + 9} entries, and the log has {size}"):
        bundle(trail, newer)
    trail.seal()
    with pytest.raises(UsageError, match="no such holder"):
        bundle(trail, scope=Scope(asked=("nobody",)))


def erase(trail: Trail, seq: int, name: str) -> int:
    """What ``forget`` is to do: a part gone from the store, and an entry that says so."""
    places = json.dumps({"parts": {str(seq): [name]}, "events": {}}).encode()
    with trail.writing() as appender:
        erased = appender.add(EntryKind.ERASED, {"places": places}, refs=[seq])
        del appender.rows._parts[seq, name]  # type: ignore[attr-defined]
    return erased


def test_what_was_erased_since(tmp_path: Path, by_a_stranger: Ask) -> None:
    """TIME.3, TRAIL.8: words erased after a point are a tombstone there; the newer leaves that say so are in the bundle."""
    made = story(6)
    size = made.oslo + 2
    file = sign_at(made.trail, size, tmp_path / "before")
    erase(made.trail, PORT, "text")
    made.trail.seal()
    data = bundle(made.trail, file)
    lines = parsed(data)
    assert "later" in lines[0]
    assert believed(lines, PORT)["text"] is None
    assert lines[-1]["end"] == {"believed": 4, "leaves": size + 1}
    assert checked(made.trail, data).flaw is None
    assert by_a_stranger(data)[0] == 0
    forked = made.trail.outside.write_checkpoint(made.trail.id, LogName.MEMORY, Head(size, bytes(32), 0, 0))
    for change in (
        lambda lines: _held_back(lines, size, "places"),
        lambda lines: (lines[0].pop("later"), lines)[1],
        lambda lines: _without(lines, leaf(lines, size)),
        lambda lines: rewritten(lines, size, '"clock":17', '"clock":16'),
        lambda lines: _header(lines, later=lines[0]["checkpoint"]),
        lambda lines: _header(lines, checkpoint=lines[0]["later"]),
        lambda lines: _header(lines, checkpoint=lines[0]["later"], later=lines[0]["checkpoint"]),
        lambda lines: _claimed(lines, text="The port is 5433."),
        lambda lines: _header(lines, checkpoint=forked.decode()),
    ):
        bad = joined(change(parsed(data)))
        assert checked(made.trail, bad).flaw is not None
        with pytest.raises(STRANGER.Wrong):
            STRANGER.check(bad.splitlines(keepends=True), b"")


def test_what_was_not_erased_is_missed(by_a_stranger: Ask) -> None:
    """TRAIL.8: a part that is gone, and that no entry says was erased, is missed by name."""
    made = story(7)
    with made.trail.writing() as appender:
        del appender.rows._parts[PORT, "text"]  # type: ignore[attr-defined]
    made.trail.seal()
    data = bundle(made.trail)
    flaw = checked(made.trail, data).flaw
    assert flaw is not None
    assert f"part 'text' of leaf {PORT} is missing" in flaw.what
    assert by_a_stranger(data)[0] == 1


def test_a_line_of_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """SEC.2: a line that is longer than any of ours is refused by its length, and not read to its end."""
    longest = max(map(len, GOOD.splitlines(keepends=True)))
    monkeypatch.setattr("tallystick.workflows.check_bundle.LONGEST_LINE", longest)
    assert checked(STORY.trail, GOOD).flaw is None
    monkeypatch.setattr("tallystick.workflows.check_bundle.LONGEST_LINE", longest - 1)
    flaw = checked(STORY.trail, GOOD).flaw
    assert flaw is not None
    assert f"more than {longest - 1} bytes" in flaw.what


def test_a_short_salt() -> None:
    """TRAIL.4: a salt that is not 32 bytes is refused, also where the leaf commits to it."""
    body, salt = b"words", b"short"
    digest = hashlib.sha256(salt + body).hexdigest()
    entry = Entry(STORY.trail.id, "memory", 0, 1, 1, EntryKind.ASSERTED, "a" * 32, "", (), (("text", digest),))
    text = entry_bytes(entry).decode()
    parts = {"text": [base64.b64encode(each).decode() for each in (salt, body)]}
    with pytest.raises(STRANGER.Wrong, match="is not what the leaf commits to"):
        STRANGER.entry_in(0, STORY.trail.id, text, leaf_hash(text.encode()).hex(), parts)


def test_an_empty_verdict_is_none() -> None:
    """TIME.13: a verdict without a value counts as none, whichever store it is kept in."""
    trail = story(8).trail
    with trail.writing() as appender:
        verdict = json.dumps(
            {"verdicts": [{"verifier": f"{axis}/1", "value": ""} for axis in ("quotation", "outcome")]}
        )
        appender.add(EntryKind.JUDGED, {f"verdict/{PORT}": verdict.encode()}, refs=[PORT])
    trail.seal()
    data = bundle(trail)
    port = believed(parsed(data), PORT)
    assert (port["derivation"], port["outcome"]) == ("inferred", "none")
    assert checked(trail, data).flaw is None
    assert STRANGER.check(data.splitlines(keepends=True), b"")


def test_of_a_newer_format_nothing_is_disclosed() -> None:
    """TRAIL.9: an entry that changes no belief needs no part."""
    entry = Entry("a" * 32, "memory", 3, 1, 1, EntryKind.ASSERTED, "a" * 32, "", (), (("text", ""), ("valid", "")))
    assert set(needed(entry, {3})) == {"text", "valid"}
    assert needed(entry, {4}) == ["valid"]
    assert needed(entry._replace(v=2), {3}) == needed(entry._replace(kind="dreamt"), {3}) == []


def test_what_an_entry_says_it_erased() -> None:
    """TRAIL.9: only parts of entries that it refers to and that came before it; anything misshapen erases nothing."""
    entry = Entry("a" * 32, "memory", 9, 1, 1, EntryKind.ERASED, "a" * 32, "", (2, 3, 4, 9), (("places", ""),))
    places = {"parts": {"2": ["text", 5], "3": ["text"], "5": ["text"], "9": ["text"], "4": "text"}, "events": {}}
    assert erased_parts(entry, {"places": json.dumps(places).encode()}) == {(3, "text")}
    assert erased_parts(entry._replace(kind="dreamt"), {"places": json.dumps(places).encode()}) == set()
    for damaged in (b"", b"[]", b'{"parts":[]}', b"[" * 9000, b"{}"):
        assert erased_parts(entry, {"places": damaged}) == set()
    assert erased_parts(entry, {}) == set()
