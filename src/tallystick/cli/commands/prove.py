"""``tally prove``: an inclusion proof of the entry that opened a claim."""

from __future__ import annotations

import base64
from pathlib import Path

import click

from tallystick.cli.asked import Asked, claim_id
from tallystick.cli.options import shared
from tallystick.log.proof import proof_bytes
from tallystick.workflows.prove import prove
from tallystick.workflows.whole import written_whole


@click.command(
    "prove",
    help="Write a C2SP tlog-proof that the entry which opened a claim stands in the log, under the newest signed checkpoint"
    " or the one of --as-of. It holds no content; `tally verify-bundle` checks it.",
)
@click.argument("id")
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path), help="Write it there instead of to stdout.")
@shared()
def command(asked: Asked, id: str, out: Path | None) -> None:  # noqa: A002  # the contract's name of the argument
    """Prove."""
    proof, stated = prove(asked.trail, claim_id(id), asked.as_of)
    text = proof_bytes(proof)
    if out is not None:
        written_whole(out, [text])
    document = {
        "index": proof.leaf_index,
        "size": stated.size,
        "root": stated.root.hex(),
        "hashes": [base64.b64encode(each).decode() for each in proof.hashes],
        "checkpoint": proof.checkpoint.decode(),
        "file": None if out is None else str(out),
    }
    asked.show(
        document,
        lambda: text.decode() if out is None else f"entry {proof.leaf_index} of {stated.size}, proved in {out}",
    )
