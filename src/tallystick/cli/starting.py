"""From arguments to an exit code: declared commands start at once, all others by way of click; errors become codes here."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.cli.saying import complain, say
from tallystick.errors import MachineError, TallyError


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code; every failure is one line on stderr."""
    try:
        if _answered_at_once(arguments):
            return 0
        from tallystick.cli.app import run_clicked

        return run_clicked(list(arguments))
    except KeyboardInterrupt:
        say("", err=True)  # Ends the line in which the terminal shows ^C.
        return interrupted()
    except TallyError as error:
        return failed(str(error), error.exit_code)
    except (BrokenPipeError, SystemExit):
        # Click turns a pipe whose reader has gone into an exit; nobody is left to be told.
        return 0
    except OSError as error:
        return failed(f"{error.filename or 'stdin or stdout'}: {error.strerror}", MachineError.exit_code)


def _answered_at_once(arguments: Sequence[str]) -> bool:
    """Whether the arguments are a declared command's, plainly said; then it has been carried out, else nothing has been done."""
    if arguments[:1] != ["brief"]:
        return False
    from tallystick.cli.commands.brief import command
    from tallystick.cli.declared import values

    said = values(command.options, arguments[1:])
    if said is None:
        return False
    command.answer(**said)
    return True


def failed(message: str, code: int) -> int:
    """Say on one line of stderr what failed, and give the code back."""
    complain(message)
    return code


def interrupted() -> int:
    """Say that the command was stopped by the keyboard; gives the code for it."""
    return failed("interrupted; what was committed stays, and running again completes", 130)
