"""``tally why``: provenance."""

from __future__ import annotations

from typing import Any

import click

from tallystick.briefing import shown
from tallystick.cli.asked import Asked, claim_id
from tallystick.cli.options import shared
from tallystick.trail.instants import iso
from tallystick.workflows.why import Provenance, why


@click.command("why", help="Show a claim's evidence, read again and checked, its history, and which answers showed it.")
@click.argument("id")
@shared()
def command(asked: Asked, id: str) -> None:  # noqa: A002  # the contract's name of the argument
    """Show provenance."""
    found = why(asked.trail, claim_id(id), asked.as_of)
    asked.show(_document(found), lambda: _shown(found))


def _document(found: Provenance) -> dict[str, Any]:
    belief = found.belief
    return {
        "seq": found.point.seq,
        "claim": {
            "id": f"c{found.claim}",
            "text": found.text,
            "quote": found.quote or None,
            "held": belief is not None,
            "derivation": belief.derivation if belief else None,
            "outcome": belief.outcome if belief else None,
            "reason": belief.reason if belief else None,
            **{
                name: value
                for name, value in found.facts.items()
                if name in ("kind", "origin", "subject", "attribute", "value", "by")
            },
        },
        "evidence": [
            {
                "span": {"session": f"s{line.session}", "event": line.event, "start": line.start, "end": line.end},
                "text": line.text,
                "digest_ok": line.digest_ok,
                "source_state": line.source_state,
                "source": line.source,
                "line": line.line,
                "role": line.role,
                "origin": line.origin,
                "at": iso(line.at) or None,
            }
            for line in found.evidence
        ],
        "history": [
            {"seq": line.seq, "at": iso(line.at), "kind": line.kind, "what": line.what} for line in found.history
        ],
        "answers": [f"r{seq}" for seq in found.answers],
    }


def _shown(found: Provenance) -> str:
    belief = found.belief
    standing = f"{belief.derivation}, {belief.outcome}" if belief else "not held"
    lines = [
        f"c{found.claim} {found.facts.get('kind', '')} ({standing}, as of {found.point.seq})",
        f"  {shown(found.text or '[erased]')}",
    ]
    if belief and belief.reason:
        lines.append(f"  because: {belief.reason}")
    lines.append("evidence:")
    for line in found.evidence:
        checked = "bytes as committed" if line.digest_ok else "BYTES CHANGED"
        place = f"s{line.session} {line.event} bytes {line.start}–{line.end}"
        lines.append(f"  {line.role}: {place}, {line.origin}, {iso(line.at) or 'no time'}, {checked}")
        lines.append(f"    {shown(line.text)[:240]}")
        if line.source:
            lines.append(f"    {line.source}:{line.line} ({line.source_state})")
    lines.append("history:")
    lines += [f"  {line.seq} {iso(line.at)} {line.kind} {shown(line.what)}".rstrip() for line in found.history]
    if found.answers:
        lines.append(f"shown in {len(found.answers)} answers: {', '.join(f'r{seq}' for seq in found.answers[-8:])}")
    return "\n".join(lines)
