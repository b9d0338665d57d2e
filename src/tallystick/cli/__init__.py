"""The command ``tally``: parses, calls one workflow, prints. No SQL and no rules are here."""

from __future__ import annotations

import gc
import io
import os
import sys

from tallystick import __version__

CANNOT_TELL = 3
COLLECTED_EACH = 50_000
"""Objects between two rounds of the garbage collector: more than a command makes that somebody waits for.

At Python's own 700 a briefing of 10,000 claims has sixty rounds, 8 % of its CPU, and what they look through is rows, which
have no cycles. Not off, since an ingest may run for hours.
"""


def main() -> None:
    """Entry point of the console script; exits with the contract's codes (docs/reference/cli.md)."""
    gc.set_threshold(COLLECTED_EACH)
    # A stream that the caller has closed takes everything and keeps nothing.
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that lacks a character shows another in its place; JSON is escaped before it comes to that.
        sys.stdout.reconfigure(errors="replace")
    code = _called(sys.argv[1:])
    # What is left goes with the process. Else Python's last round looks through all of it, a tenth of a briefing's CPU.
    gc.freeze()
    sys.exit(code)


def _nowhere() -> io.TextIOWrapper:
    return open(os.devnull, "w", encoding="utf-8")


def _called(arguments: list[str]) -> int:
    code = 0
    try:
        if arguments == ["--version"]:
            # Answered before click is loaded: scripts ask this often.
            sys.stdout.write(f"tally {__version__}\n")
        else:
            from tallystick.cli.starting import run

            code = run(arguments)
        sys.stdout.flush()
    except OSError as error:
        # Leave nothing for the interpreter to flush: it would fail again, with a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError) and code != CANNOT_TELL:
            sys.stderr.write(f"tally: stdout: {error.strerror}\n")
            return CANNOT_TELL
    return code
