"""Writes the reference of the command line from the commands themselves: ``python docs/reference/generate.py``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tallystick.cli.app import COMMANDS, tally

PAGE = Path(__file__).with_name("cli.md")
WIDTH = 100
HEAD = """\
# The command line

Made by `docs/reference/generate.py` from the commands' own help; a test compares the two.

Every command takes `--json` (one JSON document on stdout and nothing else there), `--trail FOLDER|URL` and `--holder H`;
those that read take `--as-of POINT`. Ids are `c1234` (claim, the seq that opened it), `s12` (session, the seq that
introduced it), `e` and 16 hex digits (event), `r5` (recall or briefing) and `a12` (answer), both seqs of the access log. Times
are ISO 8601 UTC with `Z`.

| exit code | says |
|---|---|
| 0 | done |
| 1 | the answer is bad news: a broken trail, a verdict named by `--fail-on` |
| 2 | wrong usage or bad input; one line on stderr names the thing and what was expected |
| 3 | cannot tell: the machine or the store failed, and nothing was half-written; or what was asked for was erased |
| 130 | interrupted; what was committed stays |

| variable | says |
|---|---|
| `TALLY_TRAIL` | the trail's folder, or its `postgresql://` URL; default: `trail` in the user's data folder for tallystick |
| `TALLY_STATE` | the folder of keys, heads and checkpoints; default: the user's state folder for tallystick |
| `TALLY_PERSON` | the person's name; default: the login name |
| `TALLY_EMBEDDER` | by what `recall` searches by meaning too: `minilm`, or the URL of an endpoint; default: `off` |
| `TALLY_EMBEDDER_MODEL` | the endpoint's model |
| `TALLY_EMBEDDER_KEY` | the endpoint's key |
| `TALLY_ZONE` | where bare dates begin and end, such as `Europe/Berlin`; default: UTC |
| `TALLY_CLOCK` | microseconds UTC that stand in for the clock, for tests and demonstrations |
| `CLAUDE_CONFIG_DIR`, `CODEX_HOME` | where those harnesses keep their sessions, if not in the usual place |
"""


def help_of(command: click.Command, name: str, width: int = WIDTH) -> str:
    """What ``--help`` prints at ``width`` columns, its last line ended."""
    context = click.Context(command, info_name=name, terminal_width=width, help_option_names=["-h", "--help"])
    return command.get_help(context).rstrip() + "\n"


def page() -> str:
    """The whole page."""
    sections = [HEAD, f"## tally\n\n```\n{help_of(tally, 'tally')}```\n"]
    context = click.Context(tally)
    for name in COMMANDS:
        command = tally.get_command(context, name)
        if command is None:
            raise LookupError(f"{name} is listed and has no module")
        sections.append(f"## tally {name}\n\n```\n{help_of(command, f'tally {name}')}```\n")
    return "\n".join(sections)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    sys.stdout.write(f"{PAGE.name}: {len(COMMANDS)} commands\n")
