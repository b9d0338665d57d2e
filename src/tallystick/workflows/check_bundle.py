"""Checks a bundle offline: the beliefs it claims are exactly the fold of the leaves under its signed root, or what is wrong.

Nothing is held but the fold and the words of the claims in it; leaves are read one by one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from tallystick.beliefs import effects
from tallystick.errors import CanonicalError, ProofError, UsageError
from tallystick.log.canonical import is_digest, part_digest
from tallystick.log.checkpoint import Checkpoint, parse
from tallystick.log.merkle import Frontier, leaf_hash
from tallystick.model.entry import Entry, LogName
from tallystick.store.memory import MemoryLog
from tallystick.store.outside import origin
from tallystick.trail.walking import read_entry
from tallystick.workflows.bundle import BUNDLE, OPENING, Header, erased_parts, erasing, item, line, needed, unb64
from tallystick.workflows.note_key import Key, KeyFor, held_to

LONGEST_LINE = 64 * 2**20
"""Bytes; more than any leaf with its parts or any belief that a writer of ours makes."""


class Flaw(NamedTuple):
    """What is wrong with a bundle."""

    line: int
    """From 1."""
    seq: int
    """The leaf or claim that it is about; -1 where it is about none."""
    what: str


class Checked(NamedTuple):
    """What a bundle proves, or the first thing that is wrong with it."""

    flaw: Flaw | None
    checkpoint: Checkpoint | None = None
    """What was signed; None where it could not be read."""
    key: Key | None = None
    believed: int = 0
    """Claims in the answer."""
    holders: tuple[tuple[str, str], ...] | None = None
    """(id, name) of those who were asked for; the name is empty where the bundle does not tell it. None is everyone."""
    valid_at: int | None = None


class _Flawed(Exception):
    def __init__(self, line: int, seq: int, what: str) -> None:
        super().__init__(what)
        self.flaw = Flaw(line, seq, what)


class _Lines:
    """The lines of a bundle, read once, each held to be in its one form."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.n = 0
        """Number of the line that was read last."""

    def next(self) -> dict[str, Any]:
        """The next line's object; an empty one at the end."""
        self.n += 1
        data = self._stream.readline(LONGEST_LINE + 1)
        if not data:
            return {}
        if len(data) > LONGEST_LINE:
            raise self.flaw(f"a line of more than {LONGEST_LINE} bytes")
        try:
            value = json.loads(data)
            whole = isinstance(value, dict) and value and line(value) == data
        except (ValueError, RecursionError, UnicodeError):
            raise self.flaw("not a line of JSON: cut or damaged") from None
        if not whole:
            raise self.flaw("not in the form that a bundle's lines have: something in it was changed or added")
        return dict(value)

    def flaw(self, what: str, seq: int = -1) -> _Flawed:
        """What is wrong with the line that was read last."""
        return _Flawed(self.n, seq, what)


def check_bundle(stream: BinaryIO, key_for: KeyFor) -> Checked:
    """Read a bundle and recompute what it claims; ``key_for`` gives the key that its notes are to be signed with.

    Raises:
        UsageError: it is not a bundle, or of another version, or there is no key to check it with.
    """
    lines = _Lines(stream)
    checkpoint = key = None
    try:
        header = _header(lines)
        checkpoint, key = _signed(lines, header.checkpoint, header, key_for)
        later = checkpoint if header.later is None else _signed(lines, header.later, header, key_for)[0]
        if later.origin != checkpoint.origin:
            raise lines.flaw(f"a later checkpoint of another log: {later.origin}")
        if later.size < checkpoint.size or (header.later is not None and later.size == checkpoint.size):
            raise lines.flaw(f"a later checkpoint of {later.size} leaves, which is not later than {checkpoint.size}")
        fold = _Fold(lines, checkpoint, later)
        said = fold.leaves()
        count = fold.answer(said, header)
    except _Flawed as error:
        return Checked(error.flaw, checkpoint, key)
    return Checked(None, checkpoint, key, count, fold.names(header.holders), header.valid_at)


def _header(lines: _Lines) -> Header:
    value = lines.next()
    if "bundle" not in value:
        raise UsageError(f"not a bundle: expected a first line such as `tally replay --prove` writes, of {BUNDLE}")
    if value["bundle"] != BUNDLE:
        raise UsageError(f"a bundle of format {str(value['bundle'])[:40]!r}; this version reads {BUNDLE}")
    asked = value.get("asked")
    if (
        value.keys() - {"later"} != {"asked", "bundle", "checkpoint", "key"}
        or not isinstance(asked, dict)
        or asked.keys() != {"holders", "kinds", "valid_at"}
        or not all(type(value[name]) is str for name in value.keys() - {"asked"})
        or not _are_words(asked["holders"])
        or not _are_words(asked["kinds"])
        or type(asked["valid_at"]) not in (int, type(None))
    ):
        raise lines.flaw("the header does not say checkpoint, key, and what was asked, or says more")
    whose, kinds = (None if each is None else tuple(each) for each in (asked["holders"], asked["kinds"]))
    return Header(value["checkpoint"], whose, kinds, asked["valid_at"], value["key"], value.get("later"))


def _are_words(value: object) -> bool:
    return value is None or (isinstance(value, list) and all(type(each) is str for each in value))


def _signed(lines: _Lines, note: str, header: Header, key_for: KeyFor) -> tuple[Checkpoint, Key]:
    """A note that holds under the trail's key, whose own word in the header counts where there is no other."""
    try:
        parsed = parse(note.encode("utf-8", "replace"))
        carried = bytes.fromhex(header.key)
        if carried.hex() != header.key or len(carried) != 32:
            raise ProofError("its key is not 64 hex digits")
        key = key_for(parsed.checkpoint.origin, carried)
        held_to(parsed, key)
    except ValueError as error:
        raise lines.flaw(str(error)) from None
    if parsed.checkpoint.origin != origin(key.trail, LogName.MEMORY):
        raise lines.flaw(f"a checkpoint of {parsed.checkpoint.origin}: only the memory log holds beliefs")
    return parsed.checkpoint, key


class _Fold:
    """The beliefs, made from the leaves as they come."""

    def __init__(self, lines: _Lines, checkpoint: Checkpoint, later: Checkpoint) -> None:
        self._lines = lines
        self._under = checkpoint
        self._later = later
        self._trail = checkpoint.origin.split("/")[1]
        self._log = MemoryLog()
        """Views alone."""
        self._texts: dict[int, str] = {}
        self._frontier = Frontier()
        self._erased: set[tuple[int, str]] = set()
        self._missing: dict[int, list[tuple[int, int, str]]] = {}
        """Claim, or -1 for what no answer can do without → (line, seq, name) of parts that are not in the bundle."""

    def leaves(self) -> dict[str, Any]:
        """Read all leaves, and give the line after them."""
        while "leaf" in (said := self._lines.next()):
            if self._frontier.size == self._later.size:
                raise self._flaw(f"one leaf more than the {self._later.size} of the checkpoint", self._frontier.size)
            self._leaf(said)
            self._held_to(self._under)
        if self._frontier.size < self._later.size:
            raise self._flaw(
                f"leaf {self._frontier.size} is missing: the checkpoint is of {self._later.size} leaves",
                self._frontier.size,
            )
        self._held_to(self._later)
        return said

    def _held_to(self, stated: Checkpoint) -> None:
        """Hold the leaves so far against a checkpoint, if they are as many as it was signed over."""
        if self._frontier.size == stated.size and self._frontier.root() != stated.root:
            raise self._flaw(f"the {stated.size} leaves do not have the root that was signed: one is not the log's own")

    def _leaf(self, said: dict[str, Any]) -> None:
        seq = self._frontier.size
        if said.keys() != {"hash", "leaf", "parts"} or not isinstance(said["parts"], dict):
            raise self._flaw("a leaf has its bytes, their hash and parts, and nothing else", seq)
        canon = str(said["leaf"]).encode("utf-8", "replace")
        if leaf_hash(canon).hex() != said["hash"]:
            raise self._flaw(f"leaf {seq} was altered: its hash is another", seq)
        try:
            entry = read_entry(canon)
        except CanonicalError as error:
            raise self._flaw(f"leaf {seq}: {error}", seq) from None
        if entry.seq != seq:
            raise self._flaw(f"leaf {seq} is missing or out of place: the one here is leaf {entry.seq}", seq)
        if (entry.trail, entry.log) != (self._trail, LogName.MEMORY):
            raise self._flaw(f"leaf {seq} is of the {entry.log} log of trail {entry.trail}", seq)
        if not all(is_digest(digest) for _, digest in entry.parts):
            raise self._flaw(f"leaf {seq}: the digest of a part is not 64 hex digits", seq)
        bodies = {name: self._part(entry, name, pair) for name, pair in said["parts"].items()}
        self._frontier.append(leaf_hash(canon))
        self._erased |= erased_parts(entry, bodies)
        self._note_missing(entry, bodies)
        if seq < self._under.size:
            if "text" in bodies:
                self._texts[seq] = bodies["text"].decode("utf-8", "replace")
            self._log.apply(effects(entry, bodies, self._log), ())

    def _part(self, entry: Entry, name: str, pair: object) -> bytes:
        """The body of a part that is disclosed."""
        seq = entry.seq
        committed = dict(entry.parts).get(name)
        if committed is None:
            raise self._flaw(f"leaf {seq} commits to no part {name!r}", seq)
        try:
            salt, body = map(unb64, pair if isinstance(pair, list) and len(pair) == 2 else ())
            if part_digest(salt, body) == committed:
                return body
        except ValueError:
            pass
        raise self._flaw(f"part {name!r} of leaf {seq} is not what the leaf commits to", seq)

    def _note_missing(self, entry: Entry, bodies: dict[str, bytes]) -> None:
        """Every part is noted that could be needed; which claims are shown is known at the end."""
        about = {entry.seq, *entry.refs} if entry.seq < self._under.size else set()
        wanted = needed(entry, about) if about else erasing(entry)
        for name in wanted:
            if name not in bodies:
                for claim in _claims_in_need(entry, name):
                    self._missing.setdefault(claim, []).append((self._lines.n, entry.seq, name))

    def answer(self, said: dict[str, Any], header: Header) -> int:
        """Hold the claimed beliefs against the folded ones, from the line ``said`` on; returns how many there are."""
        selection = header.selection(self._under.size)
        shown = self._log.believed(selection._replace(kinds=None))
        for claim in (-1, *(belief.row.claim for belief in shown)):
            for n, seq, name in self._missing.get(claim, ()):
                if (seq, name) not in self._erased:
                    raise _Flawed(
                        n, seq, f"part {name!r} of leaf {seq} is missing, and nothing says that it was erased"
                    )
        believed = self._log.believed(selection)
        for belief in believed:
            folded = item(belief._replace(text=self._texts.get(belief.row.claim)))
            self._compare(said.get("believed"), folded)
            said = self._lines.next()
        if "believed" in said:
            raise self._flaw(f"{_named(said['believed'])} is here, and the fold does not believe it")
        if line(said) != line({"end": {"believed": len(believed), "leaves": self._later.size}}):
            raise self._flaw(
                f"expected the end, with {len(believed)} beliefs and {self._later.size} leaves; it was cut or changed"
            )
        if self._lines.next():
            raise self._flaw("something after the end")
        return len(believed)

    def _compare(self, claimed: object, folded: dict[str, Any]) -> None:
        claim = folded["claim"]
        if not isinstance(claimed, dict) or claimed.get("claim") != claim:
            is_extra = isinstance(claimed, dict) and type(claimed.get("claim")) is int and claimed["claim"] < claim
            if is_extra:
                raise self._flaw(f"{_named(claimed)} is here, and the fold does not believe it")
            raise self._flaw(f"c{claim} is missing here, and the fold believes it", claim)
        for name in sorted(claimed.keys() | folded.keys()):
            said, is_so = (json.dumps(each[name]) if name in each else "missing" for each in (claimed, folded))
            if said != is_so:  # As text: in Python true is 1, and 1.0 too.
                raise self._flaw(f"{name!r} of c{claim} is {_short(said)} here, and {_short(is_so)} by the fold", claim)

    def names(self, whose: tuple[str, ...] | None) -> tuple[tuple[str, str], ...] | None:
        """(id, name) of holders, as far as the leaves tell them."""
        known = {row.id: row.name for row in self._log.names("holder")}
        return None if whose is None else tuple((each, known.get(each, "")) for each in whose)

    def _flaw(self, what: str, seq: int = -1) -> _Flawed:
        return self._lines.flaw(what, seq)


def _claims_in_need(entry: Entry, name: str) -> Iterator[int]:
    """The claims that cannot be told without a part of an entry; -1 where no answer can."""
    if name in ("valid", "places"):
        yield -1
    elif name.startswith("verdict/"):
        yield int(name.partition("/")[2])
    else:
        yield from (entry.seq,) if entry.kind in OPENING else entry.refs[:1]


def _named(claimed: object) -> str:
    return f"c{claimed['claim']}" if isinstance(claimed, dict) and "claim" in claimed else "a claim"


def _short(said: str) -> str:
    return said if len(said) <= 60 else f"{said[:60]}…"
