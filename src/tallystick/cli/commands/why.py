"""``tally why``: provenance."""

from __future__ import annotations

from typing import Any

import click

from tallystick.briefing import shown
from tallystick.cli.asked import Asked, claim_id
from tallystick.cli.options import shared
from tallystick.cli.tombstones import tombstone_document, tombstone_line
from tallystick.trail.instants import iso, periods
from tallystick.workflows.why import ChainLine, Provenance, why

NEWEST = 8
"""Answers of each kind that the human view names."""


@click.command("why", help="Show a claim's evidence, read again and checked, its history, and which answers used it.")
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
            "valid": periods(belief.version.valid) if belief else None,
            "stated": found.stated._asdict(),
            **{
                name: value
                for name, value in found.facts.items()
                if name in ("kind", "origin", "subject", "attribute", "value", "by")
            },
            **({} if found.text is not None else {"erased": tombstone_document(found.erased)}),
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
                **({"erased": True} if line.erased else {}),
            }
            for line in found.evidence
        ],
        "history": [
            {"seq": line.seq, "at": iso(line.at), "kind": line.kind, "what": line.what} for line in found.history
        ],
        "chain": [
            {
                "id": f"c{line.claim}",
                "held": line.held,
                "followed_by": [f"c{claim}" for claim in line.followed_by],
                "forked": line.forked,
            }
            for line in found.chain
        ],
        "answers": [{"id": line.id, "kind": line.kind, "at": iso(line.at)} for line in found.answers],
    }


def _shown(found: Provenance) -> str:
    belief = found.belief
    standing = f"{belief.derivation}, {belief.outcome}" if belief else "not held"
    lines = [
        f"c{found.claim} {found.facts.get('kind', '')} ({standing}, as of {found.point.seq})",
        f"  {tombstone_line(found.erased) if found.text is None else shown(found.text)}",
    ]
    if belief and belief.reason:
        lines.append(f"  because: {belief.reason}")
    lines.append("evidence:")
    for line in found.evidence:
        place = f"s{line.session} {line.event} bytes {line.start}–{line.end}"
        if line.erased:
            lines.append(f"  {line.role}: {place}, erased")
            continue
        checked = "bytes as committed" if line.digest_ok else "BYTES CHANGED"
        lines.append(f"  {line.role}: {place}, {line.origin}, {iso(line.at) or 'no time'}, {checked}")
        lines.append(f"    {shown(line.text)[:240]}")
        if line.source:
            lines.append(f"    {line.source}:{line.line} ({line.source_state})")
    lines.append("history:")
    lines += [f"  {line.seq} {iso(line.at)} {line.kind} {shown(line.what)}".rstrip() for line in found.history]
    if len(found.chain) > 1:
        lines.append("revisions: " + ", ".join(map(_member, found.chain)))
    lines += [
        f"CONFLICT: c{line.claim} was revised by {', '.join(f'c{claim}' for claim in line.followed_by)}"
        for line in found.chain
        if line.forked
    ]
    for kind in dict.fromkeys(line.kind for line in found.answers):
        ids = [line.id for line in found.answers if line.kind == kind]
        earlier = f" and {len(ids) - NEWEST} before" if len(ids) > NEWEST else ""
        lines.append(f"{kind}: {', '.join(ids[-NEWEST:])}{earlier}")
    return "\n".join(lines)


def _member(line: ChainLine) -> str:
    followed = f" → {', '.join(f'c{claim}' for claim in line.followed_by)}" if line.followed_by else ""
    return f"c{line.claim}{' (held)' if line.held else ''}{followed}"
