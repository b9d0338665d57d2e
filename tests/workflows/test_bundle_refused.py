"""The product and the stand-alone verifier refuse the same: any entry, header and note, signed or not, canonical or nearly so."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import example, given
from hypothesis import strategies as st

from tallystick.errors import CanonicalError, UsageError
from tallystick.log.canonical import check_entry, entry_bytes, entry_from_bytes
from tallystick.log.checkpoint import Checkpoint, signed
from tallystick.log.merkle import Frontier, leaf_hash
from tallystick.model.entry import LogName
from tallystick.store.outside import key_name, origin
from tallystick.testing import strategies
from tallystick.trail import Trail
from tallystick.trail.walking import read_entry
from tests.bundles import Lines, bundle, checked, joined, leaf, parsed, stand_alone, story
from tests.make_vectors import FOLDER

STORY = story()
GOOD = bundle(STORY.trail)
STRANGER = stand_alone()
ODD: st.SearchStrategy[object] = st.one_of(
    st.sampled_from(
        [True, False, None, 1.0, 1.5, "", "x", "é", "\ud800", "\x7f", '"', -1, 0, 1, 2, 2**53, -(2**53), [], {}]
    ),
    st.lists(st.sampled_from([True, 0, 1, 1.0, -1, "x", "0" * 64, [], None]), max_size=3),
    st.dictionaries(
        st.sampled_from(["text", "Text", "text/1", "access", "é"]),
        st.sampled_from(["0" * 64, "0", 1, [], [0], [-1], None]),
    ),
    st.sampled_from([127, 128, 129]).map(lambda deep: json.loads("[" * deep + "]" * deep)),
)
FIELDS = "actor at clock holder kind log parts refs seq trail v xrefs word".split()
WRITERS: list[Callable[[Any], str]] = [
    lambda said: json.dumps(said, sort_keys=True, separators=(",", ":")),
    lambda said: json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False),
    lambda said: json.dumps(said, sort_keys=True),
    lambda said: json.dumps(said, separators=(",", ":")),
]


@st.composite
def nearly_entries(draw: st.DrawFn) -> bytes:
    """The bytes of an entry of the memory log, with a few fields that are left out, added or something else."""
    said = json.loads(entry_bytes(draw(strategies.entries())._replace(log="memory")))
    for name in draw(st.lists(st.sampled_from(FIELDS), max_size=2)):
        said[name] = draw(ODD)
    for name in draw(st.lists(st.sampled_from(FIELDS), max_size=1)):
        said.pop(name, None)
    write: Callable[[Any], str] = draw(st.sampled_from([*WRITERS[:1] * 5, *WRITERS]))
    return write(said).encode("utf-8", "surrogatepass")


def _takes(read: Callable[[], object]) -> bool:
    try:
        read()
    except (CanonicalError, STRANGER.Wrong, UnicodeError, AttributeError, LookupError, TypeError, ValueError):
        return False
    return True


def _by_each(canon: bytes) -> dict[str, bool]:
    """Which of three readers takes the bytes for an entry of the memory log."""
    try:
        said = json.loads(canon)
        n, trail = said["seq"], said["trail"]
        is_of_memory = said["log"] == LogName.MEMORY
    except (ValueError, LookupError, TypeError):
        n, trail, is_of_memory = 0, "", True
    text = canon.decode("utf-8", "replace")
    return {
        "product, slowly": is_of_memory and _takes(lambda: entry_from_bytes(canon)),
        "product, fast": is_of_memory and _takes(lambda: check_entry(read_entry(canon))),
        "stranger": _takes(lambda: STRANGER.entry_in(n, trail, text, leaf_hash(canon).hex(), {})),
    }


@given(nearly_entries())
def test_what_is_an_entry(canon: bytes) -> None:
    """TRAIL.2, 9: three readers agree on which bytes are an entry, whatever its fields hold, of this format or a newer one."""
    assert len(set(_by_each(canon).values())) == 1, _by_each(canon)


@pytest.mark.parametrize("row", json.loads((FOLDER / "refused.json").read_bytes()), ids=lambda row: row["why"])
def test_what_is_no_entry(row: dict[str, str]) -> None:
    """TRAIL.2: what the vectors say is refused, each reader refuses."""
    assert set(_by_each(row["entry"].encode()).values()) == {False}


def test_what_a_newer_format_may_have() -> None:
    """TRAIL.9: other fields, as long as they are canonical; each reader takes them."""
    plain = json.loads(leaf(parsed(GOOD), STORY.again)["leaf"])
    for more in ({}, {"word": "x"}, {"word": [{"a": [-1, True, None]}]}, {"word": json.loads("[" * 127 + "]" * 127)}):
        assert set(_by_each(WRITERS[0](plain | {"v": 2} | more).encode()).values()) == {True}
        assert set(_by_each(WRITERS[0](plain | more).encode()).values()) == {not more}
        assert set(_by_each(WRITERS[0](plain | {"v": 2, "holder": ""} | more).encode()).values()) == {False}


STRANGERS = story(3).trail
"""Who does not know the key of ``STORY``."""


def _verdicts(data: bytes, trail: Trail = STORY.trail) -> tuple[bool, bool]:
    """Whether the product takes a bundle, and whether a stranger does."""
    try:
        product = checked(trail, data).flaw is None
    except UsageError:
        product = False
    return product, _takes(lambda: STRANGER.check(data.splitlines(keepends=True), b""))


_asked = st.sampled_from(
    ["factrule", "", 5, True, [], ["fact"], ["fact", 1], [None], ["\ud800"], {}, {"fact": 1}, None]
)


_other: st.SearchStrategy[object] = st.sampled_from([None, "", 5, [], GOOD[:50].decode()])


@given(
    st.dictionaries(st.sampled_from(["holders", "kinds", "valid_at", "more"]), _asked, max_size=2),
    st.dictionaries(st.sampled_from(["bundle", "key", "later", "more"]), _other, max_size=1),
    st.booleans(),
)
def test_headers(asked: dict[str, object], more: dict[str, object], bare: bool) -> None:
    """SEC.2, TRAIL.8: whatever a header asks, or holds beside it, is taken or refused by both."""
    lines = parsed(GOOD)
    lines[0]["asked"].update(asked)
    lines[0].update(more)
    if bare:  # The answer to what matches nothing.
        lines = [*(line for line in lines if "believed" not in line and "end" not in line), _end(lines, 0)]
    assert len(set(_verdicts(joined(lines)))) == 1


def test_a_header_of_texts_for_lists() -> None:
    """TRAIL.8: kinds and holders in one text are refused, though each of them stands in it."""
    for name in ("kinds", "holders"):
        lines = parsed(GOOD)
        said = {line["believed"][name[:-1]] for line in lines if "believed" in line}
        lines[0]["asked"][name] = "".join(sorted(said))
        assert _verdicts(joined(lines)) == (False, False)


def _end(lines: Lines, believed: int) -> dict[str, Any]:
    return {"end": lines[-1]["end"] | {"believed": believed}}


NOTE = parsed(GOOD)[0]["checkpoint"]
OF_OURS = NOTE.split("\n")[-2]
_LINES = st.sampled_from(["", OF_OURS, OF_OURS[2:], "-" + OF_OURS[1:], f"{OF_OURS} ", OF_OURS.replace("A", "B")])
_LINES |= st.sampled_from(
    ["— other AAAAAAA=", "— other AAAA", "— other AAAAAAB=", "—  AAAAAAA=", "— other", "— o\xa0r AAAAAAA="]
)
_LINES |= st.sampled_from(["— other AAAAAAA= more", "— é AAAAAAA=", "— other é", "— other \ud800", "\x0b"])


@given(st.lists(_LINES, max_size=4), st.sampled_from(["\n", ""]), st.sampled_from(["\n\n", "\n", "\n\n\n"]))
@example(["— other é", OF_OURS], "\n", "\n\n")
@example([OF_OURS], "", "\n\n")
def test_notes(below: list[str], last: str, between: str) -> None:
    """TRAIL.8: whatever stands below a checkpoint, both take it or both refuse it; a line that is no signature is refused."""
    lines = parsed(GOOD)
    lines[0]["checkpoint"] = NOTE.partition("\n\n")[0] + between + "\n".join(below) + last
    assert len(set(_verdicts(joined(lines)))) == 1


def test_a_signature_without_its_mark() -> None:
    """TRAIL.8: each of these was taken by the stand-alone verifier once."""
    for line in (OF_OURS[2:], f"{OF_OURS}\n— other AAAA", f"{OF_OURS}\nAAAAAAA="):
        lines = parsed(GOOD)
        lines[0]["checkpoint"] = NOTE.replace(OF_OURS, line)
        assert _verdicts(joined(lines)) == (False, False)


KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


def _note(trail: str, leaves: list[bytes]) -> str:
    """A checkpoint that another key has signed."""
    frontier = Frontier()
    frontier.extend(leaves)
    stated = Checkpoint(origin(trail, LogName.MEMORY), frontier.size, frontier.root())
    return signed(stated, key_name(trail), KEY.public_key().public_bytes_raw(), KEY.sign).decode()


def test_a_later_note_is_later_and_of_the_same_log() -> None:
    """TRAIL.8: a later note of as many leaves, of fewer, or under another trail's name is refused, though it is signed."""
    lines = [line for line in parsed(GOOD) if "believed" not in line]
    leaves = [leaf_hash(each["leaf"].encode()) for each in lines if "leaf" in each]
    mine, other, nothing_yet = STORY.trail.id, "ab" * 16, 2
    taken = {}
    for name, first, size in (
        (mine, nothing_yet, len(leaves)), (other, nothing_yet, len(leaves)), (mine, 2, 2), (mine, 3, 2),
    ):  # fmt: skip
        notes = {"checkpoint": _note(mine, leaves[:first]), "later": _note(name, leaves[:size])}
        header = lines[0] | notes | {"key": KEY.public_key().public_bytes_raw().hex()}
        end = {"end": {"believed": 0, "leaves": size}}
        taken[name, first, size] = _verdicts(joined([header, *lines[1 : 1 + size], end]), STRANGERS)
    assert list(taken.values()) == [(True, True), (False, False), (False, False), (False, False)]


def _signed_again(lines: Lines) -> Lines:
    """Leaf hashes and checkpoint made anew, by another key: nothing but what stands in the leaves is wrong."""
    leaves = [each for each in lines if "leaf" in each]
    for each in leaves:
        each["hash"] = leaf_hash(each["leaf"].encode()).hex()
    note = _note(STORY.trail.id, [bytes.fromhex(each["hash"]) for each in leaves])
    return [lines[0] | {"checkpoint": note, "key": KEY.public_key().public_bytes_raw().hex()}, *lines[1:]]


FORGED: dict[str, Callable[[dict[str, Any]], object]] = {
    "nothing": lambda said: None,
    "a newer format": lambda said: said.update(v=2),
    "no format": lambda said: said.update(v=0),
    "true for a format": lambda said: said.update(v=True),
    "true for a seq": lambda said: said.update(seq=True),
    "a fraction of a clock": lambda said: said.update(clock=1.5),
    "odd references": lambda said: said.update(refs=[-1, "x"]),
    "a reference to itself": lambda said: said.update(refs=[said["seq"]]),
    "a digest that is none": lambda said: said["parts"].update(text="zz"),
    "an empty holder": lambda said: said.update(v=2, holder=""),
    "no references into other logs": lambda said: said.update(v=2, xrefs={}),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_is_signed_all_the_same(name: str) -> None:
    """TRAIL.2, 8: a signature over a log with an entry that is none makes no bundle of it, for either verifier."""
    lines = parsed(GOOD)
    entry = json.loads(
        leaf(lines, STORY.oslo + 1)["leaf"]
    )  # Of a kind that nobody knows, so that it changes no answer.
    FORGED[name](entry)
    leaf(lines, STORY.oslo + 1)["leaf"] = WRITERS[0](entry)
    is_good = name in ("nothing", "a newer format")
    assert _verdicts(joined(_signed_again(lines)), STRANGERS) == (is_good, is_good)
    assert _verdicts(joined(lines), STRANGERS) == (name == "nothing", name == "nothing")


def test_valid_time_of_every_revision_is_there() -> None:
    """TRAIL.8: a ``valid`` that an entry names has to be there, also where one claim gives way to another and it says nothing."""
    trail = story(4).trail
    with trail.writing() as appender:
        made = appender.add("revised", {"into": b"{}", "valid": b"{}"}, refs=[STORY.cache, STORY.port])
    trail.seal()
    lines = parsed(bundle(trail))
    assert _verdicts(joined(lines), trail) == (True, True)
    del leaf(lines, made)["parts"]["valid"]
    assert _verdicts(joined(lines), trail) == (False, False)
