"""``tally verify-bundle``: what ``tally replay --prove`` or ``tally prove`` wrote, checked without the trail."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import click

from tallystick.briefing import shown
from tallystick.cli.app import stop
from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.cli.public_key import key_said
from tallystick.errors import ProofError, UsageError
from tallystick.log.proof import FIRST_LINE
from tallystick.trail.instants import iso
from tallystick.workflows.bundle import BUNDLE
from tallystick.workflows.check_bundle import Checked, check_bundle
from tallystick.workflows.note_key import Key, KeyFor, keys
from tallystick.workflows.prove import LONGEST_PROOF, check_proof

_KNOWN = {
    "given": "the key given",
    "state": "this machine's own key of the trail",
    "bundle": "a key known from the bundle alone: compare it with what `tally checkpoint --key` prints where the trail is",
}


@click.command(
    "verify-bundle",
    help="Check offline what `tally replay --prove` or `tally prove` wrote; exit 0 it holds, 1 it does not.",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--key", metavar="KEY", help="The trail's public key, or a file with it, as `tally checkpoint --key` prints it."
)
@shared(reads=False)
def command(asked: Asked, file: Path, key: str | None) -> None:
    """Verify."""
    key_for = keys(asked.trail.outside, key_said(key))
    try:
        with file.open("rb") as stream:
            is_proof = stream.readline(len(FIRST_LINE) + 1).rstrip(b"\n") == FIRST_LINE.encode()
            stream.seek(0)
            document, said = (_of_proof if is_proof else _of_bundle)(stream, key_for)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from None
    asked.show(document, lambda: f"{file}: {said}")
    if not document["holds"]:
        stop(1)


def _of_bundle(stream: BinaryIO, key_for: KeyFor) -> tuple[dict[str, Any], str]:
    found = check_bundle(stream, key_for)
    stated, flaw = found.checkpoint, found.flaw
    document = {
        "format": BUNDLE,
        "holds": flaw is None,
        "checkpoint": None
        if stated is None
        else {"origin": stated.origin, "size": stated.size, "root": stated.root.hex()},
        "seq": None if stated is None else stated.size - 1,
        "count": found.believed if flaw is None else None,
        "holders": None if found.holders is None else [{"id": each, "name": name} for each, name in found.holders],
        "valid_at": None if found.valid_at is None else iso(found.valid_at),
        "key": _key_shown(found.key),
        "first_bad": None if flaw is None else flaw._asdict(),
    }
    return document, _bundle_shown(found)


def _bundle_shown(found: Checked) -> str:
    if found.flaw is not None:
        return f"DOES NOT HOLD: line {found.flaw.line}: {shown(found.flaw.what)}"
    if found.checkpoint is None or found.key is None:
        raise LookupError("a bundle that holds was signed")
    stated = found.checkpoint
    whose = (
        "everyone"
        if found.holders is None
        else ", ".join(shown(name or each) for each, name in found.holders) or "nobody"
    )
    when = "" if found.valid_at is None else f", of what held at {iso(found.valid_at)}"
    return (
        f"holds: {found.believed} claims are exactly what the {stated.size} leaves say that {whose} believed{when}\n"
        f"  {stated.origin}, root {stated.root.hex()}\n  signed by {found.key.id}: {_KNOWN[found.key.known_from]}"
    )


def _of_proof(stream: BinaryIO, key_for: KeyFor) -> tuple[dict[str, Any], str]:
    document: dict[str, Any] = {"format": FIRST_LINE}
    try:
        found = check_proof(stream.read(LONGEST_PROOF + 1), key_for)
    except ProofError as error:
        return document | {"holds": False, "first_bad": {"what": str(error)}}, f"DOES NOT HOLD: {shown(str(error))}"
    entry, stated = found.entry, found.checkpoint
    document |= {
        "holds": True,
        "index": found.proof.leaf_index,
        "checkpoint": {"origin": stated.origin, "size": stated.size, "root": stated.root.hex()},
        "entry": {"kind": entry.kind, "at": iso(entry.at), "holder": entry.holder or None, "parts": dict(entry.parts)},
        "key": _key_shown(found.key),
        "first_bad": None,
    }
    said = (
        f"holds: entry {found.proof.leaf_index}, {entry.kind} {iso(entry.at)}, stands in the {stated.size} entries of\n"
        f"  {stated.origin}, root {stated.root.hex()}\n  signed by {found.key.id}: {_KNOWN[found.key.known_from]}"
    )
    return document, said


def _key_shown(key: Key | None) -> dict[str, str] | None:
    return None if key is None else {"id": key.id, "public_key": key.public_key.hex(), "known_from": key.known_from}
