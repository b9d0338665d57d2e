"""The group of commands as click has it, each loaded only when it is called."""

from __future__ import annotations

import importlib
import sys
from typing import NoReturn

import click

from tallystick import __version__
from tallystick.cli.declared import Command
from tallystick.cli.options import clicked
from tallystick.cli.saying import say
from tallystick.cli.starting import failed, interrupted

COMMANDS = {
    "ingest": "Read transcripts, certify what they say, and append it.",
    "brief": "Print the briefing for the next session.",
    "recall": "Search what is believed; the question is logged.",
    "search": "Search everything that was said, shown and printed by tools.",
    "sessions": "List sessions.",
    "show": "Show what the events of a session say.",
    "embed": "Give claims vectors, to be found by meaning too.",
    "cite": "Keep which claims an answer used.",
    "answers": "List answers, and what became of what they cited.",
    "context": "Print the exact bytes that an answer was given.",
    "remember": "Keep one claim, verified like any other.",
    "quote": "Check whether a quote stands in a session.",
    "outcome": "Check whether an outcome has a witness in a session.",
    "why": "Show where a claim comes from, its evidence read again.",
    "replay": "List what was believed at a point.",
    "diff": "What happened between two points.",
    "revise": "Replace a claim: a correction, or a change in the world.",
    "retract": "Stop holding a claim.",
    "undo": "Take back one entry's effect.",
    "register": "Say that an attribute has one value at a time.",
    "join": "Say that two holders are one.",
    "forget": "Erase from every place, with a report.",
    "verify": "Recompute the whole trail from bytes.",
    "checkpoint": "Print the signed checkpoint of a log.",
    "prove": "Write a proof that a claim's entry stands in the log.",
    "verify-bundle": "Check a proof or a proved replay offline.",
    "export": "Write a trail as JSON lines.",
    "import": "Read an exported trail, byte for byte.",
    "doctor": "Is everything found, reachable, sound, current?",
    "demo": "The whole thing on the bundled sample sessions.",
}


class LazyGroup(click.Group):
    """Imports a command's module when the command is called; listing them imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of a day's work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, loaded now."""
        if cmd_name not in COMMANDS:
            return None
        stem = "import_" if cmd_name == "import" else cmd_name.replace("-", "_")
        module = importlib.import_module(f"tallystick.cli.commands.{stem}")
        command: click.Command | Command = module.command
        return clicked(command) if isinstance(command, Command) else command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Names and one-line helps from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the commands that are near to a wrong one."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "; `tally --help` lists them"
            raise click.UsageError(f"no command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="tally %(version)s")
def tally() -> None:
    """Agent memory you can audit.

    Reads the sessions that coding agents leave on disk, keeps what they decided, found and did as claims whose trust is
    set by a deterministic check, and opens the next session with a briefing that says which lines are quotes and which
    are guesses.

    Exit codes: 0 done, 1 the answer is bad news, 2 wrong usage or bad input, 3 cannot tell.
    """


def run_clicked(arguments: list[str]) -> int:
    """Run the command line by way of click and return its exit code; what is not click's own error is the caller's to report."""
    try:
        code = tally.main(arguments, prog_name="tally", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        say(error.ctx.get_help() if error.ctx else "")
        return 2
    except click.ClickException as error:
        return failed(error.format_message(), 2)
    except click.Abort:
        return interrupted()


def stop(code: int) -> NoReturn:
    """Leave with a code that is not an error of usage: bad news, or cannot tell."""
    sys.stdout.flush()
    raise click.exceptions.Exit(code)
