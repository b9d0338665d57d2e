"""Checks a tallystick bundle, offline and without tallystick: ``python verify_bundle.py BUNDLE [KEY]``.

KEY is the trail's public key as ``tally checkpoint --key`` prints it, or its 64 hex digits; without it the key in the bundle
is used, and its id printed to be compared. Exit codes: 0 the bundle holds, 1 it does not, 2 it cannot be read, 3 there is
no Ed25519 here. Written from trail.md beside this file; needs Python 3.11 and the package ``cryptography``.
"""

import base64
import json
import sys
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

FORMAT = "tallystick-bundle/1"
FIRST, LAST = -(2**53 - 1), 2**53 - 1
Valid = list[list[int]]
NO_VERDICT = {"derivation": "inferred", "outcome": "none"}
VERDICT = ("verifier", "value", "reason")
HEADER = {"asked", "bundle", "checkpoint", "key", "later"}
EVERY_ANSWER, NOTHING_MORE = -1, b""
KINDS = "asserted revised observed reconfirmed retracted judged undone erased".split()


class Wrong(Exception):
    """Why the bundle does not hold."""


def one_form(value: object) -> bytes:
    """The one form of a line, without its line feed; also that of an entry, which has only ASCII and whole numbers."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def decoded(text: str) -> bytes:
    """Bytes from padded base64 in its one form."""
    data = base64.b64decode(text, validate=True)
    if base64.b64encode(data).decode() != text:
        raise Wrong("base64 with bits to spare")
    return data


def signed(note: str, key: bytes) -> tuple[str, int, bytes]:
    """(trail, size, root) that a signed note of a memory log states, once its signature holds."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    text, _, signatures = note.partition("\n\n")
    origin, size, root = text.split("\n")
    trail = origin.removeprefix("tallystick/").removesuffix("/memory")
    if origin != f"tallystick/{trail}/memory" or size != str(int(size)) or any(c < " " for c in note if c != "\n"):
        raise Wrong(f"no checkpoint of a memory log: {origin!r}")
    key_id = sha256(f"tallystick/{trail}\n\x01".encode() + key).digest()[:4]
    for line in signatures.split("\n"):
        name, _, stamp = line.removeprefix("— ").partition(" ")
        if name == f"tallystick/{trail}" and decoded(stamp)[:4] == key_id:
            try:
                Ed25519PublicKey.from_public_bytes(key).verify(decoded(stamp)[4:], f"{text}\n".encode())
            except InvalidSignature:
                raise Wrong("the signature of the checkpoint does not hold") from None
            return trail, int(size), decoded(root)
    raise Wrong("the checkpoint is not signed with the key: it is of another trail, or somebody else made it")


def root_of(leaves: list[bytes]) -> bytes:
    """RFC 6962, section 2.1, from leaf hashes."""
    if len(leaves) < 2:
        return leaves[0] if leaves else sha256(b"").digest()
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return sha256(b"\x01" + root_of(leaves[:split]) + root_of(leaves[split:])).digest()


def between(valid: Valid, low: int, high: int) -> Valid:
    """What of ``valid`` lies in ``[low, high)``."""
    return [[max(start, low), min(end, high)] for start, end in valid if max(start, low) < min(end, high)]


def json_object(body: bytes | None) -> dict[str, Any]:
    """The object in a part's body; an empty one where it is missing or something else."""
    try:
        value = json.loads(body or b"")
    except (ValueError, RecursionError):
        return {}
    return value if type(value) is dict else {}


def are(kind: type, values: list[Any]) -> bool:
    """Whether each is text that UTF-8 can hold, or a whole number that an entry can hold."""
    if kind is int:
        return all(type(each) is int and FIRST <= each <= LAST for each in values)
    return all(type(each) is str and each.encode("utf-8", "replace").decode() == each for each in values)


def valid_in(body: bytes | None) -> Valid:
    """The valid time that a part states, in as few intervals as will do; all of time where it states none."""
    stated = json_object(body).get("intervals")
    pairs = stated if type(stated) is list and all(type(pair) is list and len(pair) == 2 for pair in stated) else []
    bounds = [bound for pair in pairs for bound in pair]
    if not (are(int, bounds) and bounds == sorted(bounds) and all(start < end for start, end in pairs)):
        return [[FIRST, LAST]]
    touching = {end for end, start in zip(bounds[1::2], bounds[2::2], strict=False) if end == start}
    edges = [bound for bound in bounds if bound not in touching]
    return [list(pair) for pair in zip(edges[::2], edges[1::2], strict=True)] or [[FIRST, LAST]]


class Fold:
    """What is believed after the entries so far, and which of their parts the bundle lacks."""

    def __init__(self, size: int) -> None:
        self.size, self.parts = size, dict[str, bytes]()  # of entries after ``size`` it counts only what they erased
        self.claims: dict[int, dict[str, Any]] = {}
        self.held: dict[int, tuple[int, Valid]] = {}  # claim → the entry since which it is held so, and its valid time
        self.changed: dict[int, dict[int, Valid]] = {}  # entry → claims it opened or closed → valid time that it closed
        self.verdicts: dict[tuple[int, str], list[tuple[int, str]]] = {}  # (claim, axis) → (entry, value), newest last
        self.missing: dict[int, list[tuple[int, str]]] = {}  # claim → (entry, name) of parts that it needs
        self.gone: set[tuple[int, str]] = set()

    def add(self, entry: dict[str, Any], parts: dict[str, bytes]) -> None:
        """Fold one entry; ``parts`` are those that the bundle has. A newer kind or format changes no belief."""
        if entry["kind"] in KINDS and entry["v"] == 1 and (entry["seq"] < self.size or entry["kind"] == "erased"):
            self.parts = parts
            getattr(self, entry["kind"])(entry["seq"], entry)

    def part(self, entry: dict[str, Any], name: str, claim: int = EVERY_ANSWER) -> bytes | None:
        """A part's body; noted as missing where the entry names it and the bundle lacks it."""
        if name in entry["parts"] and name not in self.parts:
            self.missing.setdefault(claim, []).append((entry["seq"], name))
        return self.parts.get(name)

    def hold(self, seq: int, claim: int, valid: Valid) -> None:
        """End the version of a claim that is held, if one is, and begin another, if it is valid at any time."""
        before = self.held.pop(claim, (seq, []))[1]
        if before or valid:
            self.changed.setdefault(seq, {}).setdefault(claim, before)
        if valid:
            self.held[claim] = seq, valid

    def asserted(self, seq: int, entry: dict[str, Any]) -> None:
        """A claim is opened, here or by a revision."""
        said = json_object(self.part(entry, "facets", seq))
        words = [said.get(name, "") for name in ("kind", "origin", "subject", "attribute", "value")]
        numbers = [said.get("said_at", -1), said.get("session", -1), said.get("tokens", 0)]
        kind, origin, said_at = (*words[:2], numbers[0]) if are(str, words) and are(int, numbers) else ("", "", -1)
        body, older = self.part(entry, "text", seq), self.claims.get((entry["refs"] or [seq])[0], {})
        text = None if body is None else body.decode("utf-8", "replace")
        about = {"claim": seq, "holder": entry.get("holder", ""), "kind": kind, "origin": origin, "text": text}
        self.claims[seq] = about | {"said_at": max(said_at, -1), "lineage": older.get("lineage", seq)}
        self.hold(seq, seq, valid_in(self.part(entry, "valid")))

    def revised(self, seq: int, entry: dict[str, Any]) -> None:
        """Old claims give way to a new one, or, with ``into``, one to another that is held."""
        if "into" in entry["parts"]:
            old, into = entry["refs"] if len(entry["refs"]) == 2 else (seq, seq)
            if old != into and into in self.held:
                self.hold(seq, old, [])
        elif entry["refs"]:
            before = {old: self.held[old][1] for old in entry["refs"] if old in self.held}
            self.asserted(seq, entry)
            new = self.held[seq][1]
            if "change" in entry["parts"]:
                since = entry["at"] if new[0][0] == FIRST else new[0][0]
                later = [was[0][0] for was in before.values() if since < was[0][0]]
                self.hold(seq, seq, between(between(new, since, LAST) or new, FIRST, min(later, default=LAST)))
                left = {old: was if since < was[0][0] else between(was, FIRST, since) for old, was in before.items()}
            else:
                gaps = list(zip([FIRST, *(end for _, end in new)], [*(start for start, _ in new), LAST], strict=True))
                left = {old: [kept for gap in gaps for kept in between(was, *gap)] for old, was in before.items()}
            for old in [old for old in left if left[old] != before[old]]:
                self.hold(seq, old, left[old])

    def said_again(self, seq: int, entry: dict[str, Any]) -> None:
        """An entry is about a claim; when that was said last is the latest time given. Retracted, it is held no more."""
        for claim in entry["refs"][:1]:
            said_at = json_object(self.part(entry, "facets", claim)).get("said_at", -1)
            if claim in self.claims and are(int, [said_at]):
                self.claims[claim]["said_at"] = max(said_at, self.claims[claim]["said_at"])
            if entry["kind"] == "retracted":
                self.hold(seq, claim, [])

    observed = reconfirmed = retracted = said_again

    def judged(self, seq: int, entry: dict[str, Any]) -> None:
        """Verifiers speak."""
        for claim in entry["refs"]:
            said = json_object(self.part(entry, f"verdict/{claim}", claim)).get("verdicts")
            for each in said if type(said) is list else []:
                words: Any = [each.get(name, "") for name in VERDICT] if type(each) is dict else [0]
                if are(str, words):
                    axis = "outcome" if words[0].startswith("outcome/") else "derivation"
                    self.verdicts.setdefault((claim, axis), []).append((seq, words[1]))

    def undone(self, seq: int, entry: dict[str, Any]) -> None:
        """What an entry opened is closed, what it closed is opened again, and the verdicts before it stand again."""
        undone, *judged = entry["refs"] or [seq]
        for claim, before in self.changed.get(undone, {}).items() if undone < seq else ():
            self.hold(seq, claim, before)
        for claim, axis in ((claim, axis) for claim in judged for axis in NO_VERDICT):
            given = self.verdicts.get((claim, axis), [])
            if given and given[-1][0] == undone:
                given.append(next((each for each in reversed(given) if each[0] != undone), (-1, NO_VERDICT[axis])))

    def erased(self, seq: int, entry: dict[str, Any]) -> None:
        """Parts of entries are gone, and a claim without its text is held no more."""
        listed = json_object(self.part(entry, "places")).get("parts")
        for other in [other for other in entry["refs"] if other < seq]:
            names = listed.get(str(other)) if type(listed) is dict else ()
            self.gone |= {(other, name) for name in names} if type(names) is list and are(str, names) else set()
            if (other, "text") in self.gone and seq < self.size:
                self.hold(seq, other, [])

    def believed(self, holders: Any, kinds: Any, valid_at: int | None) -> list[dict[str, Any]]:
        """The claims of the holders asked for, as the bundle is to claim them, in order."""
        found, needed = [], [EVERY_ANSWER]
        for claim, (since, valid) in sorted(self.held.items()):
            said, covered = self.claims[claim], valid_at is None or between(valid, valid_at, valid_at + 1)
            if covered and (holders is None or said["holder"] in holders):
                needed.append(claim)
                newest = {axis: self.verdicts.get((claim, axis), [(-1, "")])[-1][1] for axis in NO_VERDICT}
                trust = {axis: value or NO_VERDICT[axis] for axis, value in newest.items()}
                if kinds is None or said["kind"] in kinds:
                    found.append(said | trust | {"since": since, "valid": valid})
        for seq, name in (part for claim in needed for part in self.missing.get(claim, ()) if part not in self.gone):
            raise Wrong(f"leaf {seq}: part {name!r} is missing, and nothing says that it was erased")
        return found


def entry_in(n: int, trail: str, leaf: str, hash: str, parts: dict[str, list[str]]) -> tuple[Any, dict[str, bytes]]:  # noqa: A002
    """The entry in leaf ``n`` of a trail, and the bodies of its parts that are disclosed."""
    data = leaf.encode("ascii")
    entry = json.loads(data)
    if sha256(b"\x00" + data).hexdigest() != hash or one_form(entry) != data:
        raise Wrong(f"leaf {n} was altered")
    if (entry["seq"], entry["trail"], entry["log"]) != (n, trail, "memory"):
        raise Wrong(f"leaf {n} is missing or out of place: here is leaf {entry['seq']!r} of trail {entry['trail']!r}")
    bodies = {}
    for name, pair in parts.items():
        salt, bodies[name] = map(decoded, pair)
        if len(salt) != 32 or entry["parts"].get(name) != sha256(salt + bodies[name]).hexdigest():
            raise Wrong(f"leaf {n}: part {name!r} is not what the leaf commits to")
    return entry, bodies


def answer(fold: Fold, asked: dict[str, Any], leaves: list[bytes], *stated: tuple[str, int, bytes]) -> list[bytes]:
    """The lines that have to follow the leaves, the last one first."""
    if len(leaves) != stated[-1][1]:
        raise Wrong(f"leaf {len(leaves)} is missing, or one is extra: the checkpoint is of {stated[-1][1]} leaves")
    for _, size, root in stated:
        if root_of(leaves[:size]) != root:
            raise Wrong(f"the {size} leaves do not have the root that was signed: one of them was altered")
    believed = fold.believed(**asked)
    end = {"end": {"believed": len(believed), "leaves": len(leaves)}}
    return [NOTHING_MORE, one_form(end), *(one_form({"believed": each}) for each in reversed(believed))]


def check(lines: Iterable[bytes], key: bytes) -> str:
    """What the bundle shows. Raises ``Wrong`` where it does not hold; the message names the line."""
    leaves, expected, n = list[bytes](), list[bytes](), 0
    try:
        for n, raw in enumerate(lines, 1):
            said = json.loads(raw)
            if one_form(said) + b"\n" != raw:
                raise Wrong("not in the one form that a line has")
            if n == 1:
                key = key or bytes.fromhex(said["key"])
                if said.keys() | {"later"} != HEADER or said["bundle"] != FORMAT or said["key"] != key.hex():
                    raise Wrong(f"not the header of a {FORMAT}, or it carries another key than the one given")
                first, last = (signed(said.get(name, said["checkpoint"]), key) for name in ("checkpoint", "later"))
                asked, fold = said["asked"], Fold(first[1])
            elif not expected and "leaf" in said:
                entry, parts = entry_in(n - 2, first[0], **said)
                leaves.append(sha256(b"\x00" + one_form(entry)).digest())
                fold.add(entry, parts)
            else:
                expected = expected or answer(fold, asked, leaves, first, last)
                due, here = expected.pop(), one_form(said)
                if due != here:
                    raise Wrong(f"the leaves say {due.decode()[:300]}, and here is {here.decode()[:300]}")
        if expected != [NOTHING_MORE]:
            raise Wrong("the bundle was cut: more is expected after this line")
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, Wrong) as error:
        raise Wrong(f"line {n}: {error}") from None
    signer = base64.b64encode(b"\x01" + key).decode()
    what = f"holds: the {n - 2 - len(leaves)} claims in it are exactly what the first {first[1]} entries say"
    return f"{what}, asked {asked}\ntrail {first[0]}, root {first[2].hex()}, signed with the key …+{signer}"


def main(path: str = "", given: str = "") -> int:
    """Prints what was found; returns the exit code."""
    try:
        key = decoded(given.split("+", 2)[2])[1:] if "+" in given else bytes.fromhex(given)
        with open(path, "rb") as stream:
            print(check(stream, key))
    except (ImportError, LookupError, OSError, ValueError, Wrong) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 1 if type(error) is Wrong else 3 if isinstance(error, ImportError) else 2
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
