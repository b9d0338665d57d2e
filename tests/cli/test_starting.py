"""How a command starts: what is read without click is read as click reads it, and what a session waits for loads little."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.cli.commands.brief import command as brief
from tallystick.cli.declared import HOLDER, JSON, TRAIL, Option, values
from tallystick.cli.options import clicked
from tallystick.cli.saying import say
from tests.cli.surface import Tally

HEAVY = "asyncio click cryptography inspect mcp msgspec numpy orjson platform pydantic rich uuid zstandard".split()
NOT_NEEDED = "base64 datetime getpass pathlib platformdirs tallystick.transcripts tallystick.verifiers".split()
LOADED = """
import atexit, json, sys
from tallystick.cli import main
atexit.register(lambda: sys.stderr.write(json.dumps(sorted(sys.modules))))
main()
"""
OPTIONS = (*brief.options, Option("--most", "most", "A number without a default.", "N", least=0))


def child(tally: Tally, program: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run a program that calls ``main`` on the trail, as a process of its own."""
    environ = os.environ | {"TALLY_TRAIL": str(tally.trail), "TALLY_STATE": str(tally.state)} | variables
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], env=environ, cwd=tally.project, capture_output=True, check=True
    )


def by_click(arguments: list[str]) -> dict[str, Any]:
    """What click makes of the arguments of a command with ``OPTIONS``."""
    context = clicked(brief._replace(options=OPTIONS)).make_context("brief", list(arguments))
    return dict(context.params)


@pytest.mark.parametrize("arguments", [["brief"], ["brief", "--json", "--budget=900", "--holder", "*"]])
def test_a_briefing_loads_little(tally: Tally, arguments: list[str]) -> None:
    """CARRY.1: a session that waits for its briefing does not wait for click, or for anything else that is slow to load."""
    tally.remember("Always run the linter.", "--kind", "rule")
    done = child(tally, LOADED, *arguments)
    assert "Always run the linter." in done.stdout.decode()
    assert sorted({*HEAVY, *NOT_NEEDED} & set(json.loads(done.stderr))) == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems ask platformdirs")
def test_a_briefing_finds_its_folders_without_loading_more(tally: Tally) -> None:
    """CARRY.1: nor does it wait for what finds the user's folders, where nothing says where the trail is."""
    home = str(tally.folder / "home")
    done = child(tally, LOADED, "brief", TALLY_TRAIL="", TALLY_STATE="", HOME=home, XDG_DATA_HOME="", XDG_STATE_HOME="")
    assert "0 left out" in done.stdout.decode()
    assert "platformdirs" not in json.loads(done.stderr)


TYPED = """
--budget --budget=7 --budget=0 --bud 9 007 +3 1_0 x --json --json=1 --spot-check --holder --holder=* --holder= * -h --help
--as-of --as-of=3 --trail /a=b --trail=/a=b --project --most --most=0 --nope -- - -x -1 brief é ٣
"""
WORDS = st.sampled_from([*TYPED.split(), "", " ", "\udcff", "--project=a b"])


@given(st.lists(WORDS, max_size=6))
def test_what_is_read_is_what_click_reads(arguments: list[str]) -> None:
    """CARRY.1: arguments that are read without click mean what they mean to click; whatever click refuses is left to it."""
    read = values(OPTIONS, arguments)
    if read is not None:
        assert read == by_click(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "--json",
        "--budget 300 --spot-check",
        "--budget=300 --as-of 2026-01-01T00:00:00Z --trail /a=b --project=x",
        "--holder a --holder=b --json --json",
        "--as-of 1 --as-of 2",
    ],
)
def test_plain_arguments_are_read(arguments: str) -> None:
    """CARRY.1: the forms that people and harnesses use are read without click."""
    read = values(OPTIONS, arguments.split())
    assert read is not None
    assert read == by_click(arguments.split())


def test_the_last_of_a_kind_counts_and_many_are_kept() -> None:
    """CARRY.1: an option that is given again replaces what was said before, unless many are asked for."""
    read = values((HOLDER, TRAIL, JSON), "--trail a --holder x --trail=b --holder y".split())
    assert read == {"holder": ("x", "y"), "trail": "b", "as_json": False}


def test_a_mistake_is_found_before_anything_is_done(tally: Tally) -> None:
    """CARRY.1: arguments that click refuses leave no trace, and the message is click's."""
    tally.remember("Always run the linter.", "--kind", "rule")
    before = tally.json("verify")
    assert tally.refused("brief", "--json", "--bud", "9") == "tally: No such option '--bud'. Did you mean '--budget'?\n"
    assert "is not in the range x>=1" in tally.refused("brief", "--budget", "0")
    assert "--budget TOKENS" in tally("brief", "--json", "--help").out
    assert tally.json("verify") == before


@pytest.mark.parametrize("text", ["plain", "✓ é", "\x1b[31mred\x1b[0m ✓", ""])
def test_said_as_click_says_it(capfd: pytest.CaptureFixture[str], text: str) -> None:
    """CARRY.3: a line is written as click writes it: with its letters, and without a terminal's escapes where there is none."""
    click.echo(text)
    click.echo(text, err=True)
    expected = capfd.readouterr()
    say(text)
    say(text, err=True)
    assert capfd.readouterr() == expected


def test_a_locale_that_was_never_set_loses_no_letters(tally: Tally) -> None:
    """CARRY.1: where the locale says ASCII, a briefing is written as UTF-8, as everything that click writes is."""
    tally.remember("Immer „Prüfen“ sagen.", "--kind", "rule")
    program = "from tallystick.cli import main; main()"
    done = child(tally, program, "brief", LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert "„Prüfen“" not in done.stdout.decode("ascii", "ignore")
    assert "Prüfen" in done.stdout.decode("utf-8")


def test_an_interrupted_briefing_says_so(tally: Tally) -> None:
    """cli.md: an interrupt is one line and code 130, on a line of its own beneath what the terminal shows of it."""
    program = (
        "import os, signal, sys, time, tallystick.workflows.brief as made\n"
        "from tallystick.cli import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # Ignored in what a shell starts in the background.
        f"made.brief = lambda *a, **k: (os.kill(os.getpid(), {int(signal.SIGINT)}), time.sleep(60))\n"
        "main()\n"
    )
    with pytest.raises(subprocess.CalledProcessError) as caught:
        child(tally, program, "brief")
    assert caught.value.returncode == 130
    assert caught.value.stderr.startswith(b"\ntally: interrupted;")
