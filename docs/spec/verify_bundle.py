"""Checks a tallystick bundle, offline and without tallystick: ``python verify_bundle.py BUNDLE [KEY]``.

KEY: the trail's public key as ``tally checkpoint --key`` prints it, or in hex; without it the bundle's own is used, and printed.
Exit codes: 0 it holds, 1 it does not, 2 cannot be read, 3 no ``cryptography`` here. Written from trail.md; needs Python 3.11.
"""

import base64
import json
import re
import sys
from contextlib import suppress
from hashlib import sha256
from typing import Any

FIRST, LAST, WHOLE = -(2**53 - 1), 2**53 - 1, range(-(2**53 - 1), 2**53)
Valid = list[list[int]]
UNSAID, VERDICT = {"derivation": "inferred", "outcome": "none"}, ("verifier", "value", "reason")
EVERY_ANSWER, NOTHING_MORE, DEEPEST, LONGEST_NUMBER = -1, b"", 128, 256
KINDS = "asserted revised observed reconfirmed retracted judged undone erased".split()
TEXT, N, ID, HASH = r'"[^"\\]*+(?:\\.[^"\\]*+)*+', "[0-9]++", '"[0-9a-f]{32}"', '"[0-9a-f]{64}"'
NAME, LIST, WORD = '"[a-z][a-z_]*+(/[0-9]++)?"', rf'(null|\[(,?{TEXT}")*+\])', "[^\0-\x20]+"
TOKENS = re.compile(rf'{TEXT}"?|[\[\]{{}}]|{N}'.encode(), re.DOTALL)  # ``++`` gives nothing back, so the cost is linear
HEADER = rf'{{"asked":{{"holders":{LIST},"kinds":{LIST},"valid_at":(null|-?{N})}},"bundle":"tallystick-bundle/1",'
HEADER += rf'"checkpoint":{TEXT}","key":{HASH}(,"later":{TEXT}")?}}\n'
NOTE = rf"(tallystick/([0-9a-f]{{32}})/memory\n(0|[1-9][0-9]*)\n({WORD})\n)\n((?:\n|— {WORD} {WORD}(?:\n|\Z))*)"
ENTRY = rf'{{"actor":{ID},"at":-?{N},"clock":-?{N},("holder":{ID},)?"kind":{NAME},"log":"memory","parts":{{(,?{NAME}:{HASH})*+}},'
ENTRY += rf'"refs":\[(,?{N})*+\],"seq":{N},"trail":{ID},"v":[1-9][0-9]*+(,"xrefs":{{(,?{NAME}:\[(,?{N})++\])++}})?}}'


class Wrong(Exception):
    """Why the bundle does not hold."""


def require(holds: object, otherwise: str) -> None:
    """Go on only if something holds."""
    if not holds:
        raise Wrong(otherwise)


def one_form(value: object) -> bytes:
    """The one form of a line, without its line feed; also that of an entry, which has only ASCII and whole numbers."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def decoded(text: str) -> bytes:
    """Bytes from padded base64 in its one form."""
    data = base64.b64decode(text, validate=True)
    require(base64.b64encode(data).decode() == text, "base64 with bits to spare")
    return data


def signed(note: str, key: bytes) -> tuple[str, int, bytes]:
    """(trail, size, root) that a signed note of a memory log states, once its signature holds."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    stated: Any = re.fullmatch(NOTE, note)
    require(stated, f"no checkpoint of a memory log: {note[:80]!r}")
    text, trail, size, root, signatures = stated.groups()
    key_id = sha256(f"tallystick/{trail}\n\x01".encode() + key).digest()[:4]
    stamps = [(name, decoded(stamp)) for name, stamp in re.findall(rf"— ({WORD}) ({WORD})", signatures)]
    mine = [stamp[4:] for name, stamp in stamps if (name, stamp[:4]) == (f"tallystick/{trail}", key_id)]
    require(mine and all(len(stamp) > 4 for _, stamp in stamps), "not signed with the key: of another trail, or forged")
    with suppress(InvalidSignature):
        Ed25519PublicKey.from_public_bytes(key).verify(mine[0], text.encode())
        return trail, int(size), decoded(root)
    raise Wrong("the signature of the checkpoint does not hold")


def between(valid: Valid, low: int, high: int) -> Valid:
    """What of ``valid`` lies in ``[low, high)``."""
    return [[max(start, low), min(end, high)] for start, end in valid if max(start, low) < min(end, high)]


def json_object(body: bytes | None, number: Any = None) -> dict[str, Any]:
    """The object in JSON that every decoder reads alike; an empty one where it is missing or something else."""
    depth, data = 0, body or b""
    for token in TOKENS.findall(data):
        depth += (token in b"[{") - (token in b"]}")
        if depth > DEEPEST or (len(token) > LONGEST_NUMBER and token[:1] != b'"'):
            return {}
    with suppress(ValueError):
        value = json.loads(data.decode(), parse_constant=int, parse_int=number, parse_float=number)
        return value if type(value) is dict else {}
    return {}


def are(kind: type, values: list[Any]) -> bool:
    """Whether each is text that UTF-8 can hold, or a whole number that an entry can hold."""
    fits: Any = WHOLE.__contains__ if kind is int else lambda text: text.encode("utf-8", "replace").decode() == text
    return all(type(each) is kind and fits(each) for each in values)


def valid_in(body: bytes | None) -> Valid:
    """The valid time that a part states, in as few intervals as will do; all of time where it states none."""
    stated = json_object(body).get("intervals")
    pairs = stated if type(stated) is list and all(type(pair) is list and len(pair) == 2 for pair in stated) else []
    bounds = [bound for pair in pairs for bound in pair]
    is_valid = are(int, bounds) and bounds == sorted(bounds) and all(start < end for start, end in pairs)
    edges = sorted({*bounds[::2]} ^ {*bounds[1::2]}) if is_valid else []  # but for those where two intervals touch
    return [list(pair) for pair in zip(edges[::2], edges[1::2], strict=True)] or [[FIRST, LAST]]


class Fold:
    """What is believed after the entries so far, and which of their parts the bundle lacks."""

    def __init__(self, size: int) -> None:
        self.size, self.gone = size, set[tuple[int, str]]()  # of entries after ``size`` it counts only what they erased
        self.claims: dict[int, dict[str, Any]] = {}
        self.held: dict[int, tuple[int, Valid]] = {}  # claim → the entry since which it is held so, and its valid time
        self.changed: dict[int, dict[int, Valid]] = {}  # entry → claims it opened or closed → valid time that it closed
        self.verdicts: dict[tuple[int, str], list[tuple[int, str]]] = {}  # (claim, axis) → (entry, value), newest last
        self.missing: dict[int, list[tuple[int, str]]] = {}  # claim → (entry, name) of parts that it needs

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
        self.part(entry, "valid")
        if "into" in entry["parts"]:
            if len(entry["refs"]) == len({*entry["refs"]}) == 2 and entry["refs"][1] in self.held:
                self.hold(seq, entry["refs"][0], [])
        elif entry["refs"]:
            before = {old: self.held[old][1] for old in entry["refs"] if old in self.held}
            self.asserted(seq, entry)
            new = self.held[seq][1]
            if "change" in entry["parts"]:
                new = (new[0][0] == FIRST and between(new, entry["at"], LAST)) or new
                since = entry["at"] if new[0][0] == FIRST else new[0][0]
                later = [was[0][0] for was in before.values() if since < was[0][0]]
                self.hold(seq, seq, between(new, FIRST, min(later, default=LAST)))
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
        for claim, before in self.changed.get(undone, {}).items():
            self.hold(seq, claim, before)
        for claim, axis in ((claim, axis) for claim in judged for axis in UNSAID):
            given = self.verdicts.get((claim, axis), [])
            if given and given[-1][0] == undone:
                given.append(next((each for each in reversed(given) if each[0] != undone), (-1, UNSAID[axis])))

    def erased(self, seq: int, entry: dict[str, Any]) -> None:
        """Parts of entries are gone, and a claim without its text is held no more."""
        listed: Any = json_object(self.part(entry, "places")).get("parts")
        for other in entry["refs"] if type(listed) is dict else ():
            if type(names := listed.get(str(other))) is list and are(str, names):
                self.gone |= {(other, name) for name in names}
                if "text" in names and seq < self.size:
                    self.hold(seq, other, [])

    def believed(self, holders: Any, kinds: Any, valid_at: int | None) -> list[dict[str, Any]]:
        """The claims of the holders asked for, as the bundle is to claim them, in order."""
        found, needed = [], [EVERY_ANSWER]
        for claim, (since, valid) in sorted(self.held.items()):
            said, covered = self.claims[claim], valid_at is None or between(valid, valid_at, valid_at + 1)
            if covered and (holders is None or said["holder"] in holders):
                needed.append(claim)
                newest = {axis: self.verdicts.get((claim, axis), [(-1, "")])[-1][1] for axis in UNSAID}
                trust = {axis: value or UNSAID[axis] for axis, value in newest.items()}
                if kinds is None or said["kind"] in kinds:
                    found.append(said | trust | {"since": since, "valid": valid})
        for seq, name in (part for claim in needed for part in self.missing.get(claim, ()) if part not in self.gone):
            raise Wrong(f"leaf {seq}: part {name!r} is missing, and nothing says that it was erased")
        return found


def entry_in(n: int, trail: str, leaf: str, hash: str, parts: dict[str, list[str]]) -> tuple[Any, dict[str, bytes]]:  # noqa: A002
    """The entry in leaf ``n`` of a trail, and the bodies of its parts that are disclosed."""
    data = leaf.encode("ascii")
    require("\\" not in leaf and sha256(b"\x00" + data).hexdigest() == hash, f"leaf {n} was altered")
    entry = json_object(data, lambda digits: WHOLE[WHOLE.index(int(digits))])
    known = {name: value for name, value in entry.items() if f'"{name}":' in ENTRY}
    is_entry = re.fullmatch(ENTRY, one_form(known).decode()) and (known == entry or entry["v"] > 1)
    require(is_entry and one_form(entry) == data and max([-1, *entry["refs"]]) < entry["seq"], f"leaf {n} is no entry")
    what = f"leaf {n} is missing or out of place: here is leaf {entry['seq']!r} of trail {entry['trail']!r}"
    require((entry["seq"], entry["trail"]) == (n, trail), what)
    bodies = {}
    for name, pair in parts.items():
        salt, bodies[name] = map(decoded, pair)
        fits = len(salt) == 32 and entry["parts"].get(name) == sha256(salt + bodies[name]).hexdigest()
        require(fits, f"leaf {n}: part {name!r} is not what the leaf commits to")
    return entry, bodies


def answer(fold: Fold, asked: dict[str, Any], leaves: list[bytes], *stated: tuple[str, int, bytes]) -> list[bytes]:
    """The lines that have to follow the leaves, the last one first."""
    require(len(leaves) == stated[-1][1], f"leaf {len(leaves)} is missing, or one is extra")
    for _, size, root in stated:
        level = leaves[:size] or [sha256(b"").digest()]
        while len(level) > 1:  # RFC 6962, section 2.1: a node without a neighbour stands in the next level as it is
            pairs, over = zip(level[::2], level[1::2], strict=False), level[len(level) & ~1 :]
            level = [sha256(b"\x01" + left + right).digest() for left, right in pairs] + over
        require(level == [root], f"the {size} leaves do not have the root that was signed")
    claims = [{"believed": each} for each in fold.believed(**asked)]
    return [
        NOTHING_MORE,
        *map(one_form, [{"end": {"believed": len(claims), "leaves": len(leaves)}}, *reversed(claims)]),
    ]


def check(lines: Any, key: bytes) -> str:
    """What the bundle shows. Raises ``Wrong`` where it does not hold; the message names the line."""
    leaves, expected, n = list[bytes](), list[bytes](), 0
    try:
        for n, raw in enumerate(lines, 1):
            said = json.loads(raw)
            require(one_form(said) + b"\n" == raw, "not in the one form that a line has")
            if n == 1:
                key = key or bytes.fromhex(said["key"])
                require(re.fullmatch(HEADER, raw.decode()) and said["key"] == key.hex(), "no header, or of another key")
                first, last = (signed(said.get(name, said["checkpoint"]), key) for name in ("checkpoint", "later"))
                require("later" not in said or (first[0] == last[0] and first[1] < last[1]), "the later note is none")
                asked, fold = said["asked"], Fold(first[1])
            elif not expected and "leaf" in said:
                fold.add(*entry_in(n - 2, first[0], **said))
                leaves.append(bytes.fromhex(said["hash"]))
            else:
                expected = expected or answer(fold, asked, leaves, first, last)
                due, here = expected.pop(), one_form(said)
                require(due == here, f"the leaves say {due.decode()[:300]}, and here is {here.decode()[:300]}")
        require(expected == [NOTHING_MORE], "the bundle was cut: more is expected after this line")
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
