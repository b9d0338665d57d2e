"""The command ``tally``: parses, calls one workflow, prints. No SQL and no rules are here."""

from __future__ import annotations

import os
import sys

from tallystick import __version__


def main() -> None:
    """Entry point of the console script; exits with the contract's codes (docs/reference/cli.md)."""
    if sys.argv[1:] == ["--version"]:
        # Answered before click is loaded: scripts ask this often.
        sys.stdout.write(f"tally {__version__}\n")
        return
    from tallystick.cli.app import run

    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read us has had enough; leave nothing for the interpreter to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
