"""What others may rely on: names, commands and exit codes, and that the wheel holds all that they need."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import tallystick
from tallystick import errors
from tallystick.cli.app import COMMANDS, tally
from tallystick.model.entry import EntryKind, LogName
from tallystick.model.evidence import Origin
from tallystick.plugins import adapters
from tests.sessions import CLOCK, ClaudeCode

ROOT = Path(__file__).resolve().parents[1]

NAMES = {
    "tallystick": "__version__",
    "tallystick.trail": "Appender Trail",
    "tallystick.errors": (
        "BadTime CanonicalError ConcurrentAppend MachineError NeedsPersonsKey NewerFormat NotATranscript ProofError"
        " TallyError TrailLocked TrailUnreadable TrailUnwritable UndoRefused UnknownId UsageError"
    ),
    "tallystick.model.claim": "About Approval Candidate ClaimKind Derivation Outcome Verdict",
    "tallystick.model.entry": "Entry EntryKind Head LogName Part",
    "tallystick.model.evidence": "Event EventKind Locator Origin Problem SessionFacts Span Status",
    "tallystick.model.temporal": "Instant Interval ValidTime",
    "tallystick.store.protocol": "Reading Selection Store Writing",
    "tallystick.store.sqlite": "SqliteStore",
    "tallystick.transcripts.protocol": "Adapter Reader",
    "tallystick.extractors.protocol": "Extractor",
    "tallystick.testing.bitemporal_contract": "BitemporalContract",
    "tallystick.testing.reader_contract": "ReaderContract",
    "tallystick.testing.store_contract": "StoreContract",
}
COMMANDS_TODAY = (
    "ingest brief recall search sessions show embed cite answers context remember quote outcome why replay diff revise retract"
    " undo register join forget verify checkpoint prove verify-bundle export import doctor demo"
)
TAKES_AS_OF = {
    "answers",
    "brief",
    "context",
    "outcome",
    "prove",
    "quote",
    "recall",
    "register",
    "replay",
    "search",
    "sessions",
    "show",
    "why",
}


@pytest.mark.parametrize("module", sorted(NAMES))
def test_public_names(module: str) -> None:
    """A name that others import stays where it is."""
    found = importlib.import_module(module)
    assert [name for name in NAMES[module].split() if not hasattr(found, name)] == []


def test_the_version_is_one() -> None:
    """The version stands in one place and has three numbers."""
    assert re.fullmatch(r"\d+\.\d+\.\d+", tallystick.__version__)
    asked = subprocess.run(
        [sys.executable, "-m", "tallystick", "--version"], capture_output=True, text=True, check=True
    )
    assert asked.stdout == f"tally {tallystick.__version__}\n"


def test_the_commands() -> None:
    """The commands are these; one that is taken away or renamed breaks programs that call it."""
    assert list(COMMANDS) == COMMANDS_TODAY.split()


@pytest.mark.parametrize("name", COMMANDS_TODAY.split())
def test_the_options_every_command_takes(name: str) -> None:
    """TIME.4: every command takes ``--json``, ``--trail`` and ``--holder``, and what reads the past takes ``--as-of``."""
    command = tally.get_command(click.Context(tally), name)
    assert command is not None
    assert command.name == name
    options = {option for parameter in command.params for option in parameter.opts}
    assert {"--json", "--trail", "--holder"} <= options
    assert ("--as-of" in options) == (name in TAKES_AS_OF)


def test_exit_codes_of_errors() -> None:
    """The caller's mistakes exit with 2, the machine's failures with 3; every class says what to do in its docstring."""
    classes = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.TallyError)]
    assert len(classes) == len(NAMES["tallystick.errors"].split())
    for each in classes:
        assert each.exit_code == (3 if issubclass(each, errors.MachineError) else 2), each.__name__
        assert each.__doc__


ADAPTERS = """
aider amp atif chatgpt claude-ai claude-code cline codex copilot-cli cursor gemini-cli goose hermes mini-swe-agent opencode
openhands otel-genai roo-code specstory swe-agent vscode-chat
""".split()


def test_the_adapters() -> None:
    """Adapters are known by these names, which stand in every trail that they have fed."""
    assert sorted(adapter.name for adapter in adapters()) == sorted(ADAPTERS)
    assert sorted(adapter.name for adapter in adapters()) == sorted(ADAPTERS)


@pytest.mark.parametrize(
    ("runs", "outcome"),
    [
        ([("pytest -q", "12 passed in 0.4s", 0)], "witnessed"),
        ([("pytest -q", "1 failed, 11 passed in 0.4s", 1)], "contradicted"),
        ([("pytest -q", "12 passed in 0.4s", 0), None], "stale_witness"),
        ([("make build", "done", 0)], "unwitnessed"),
    ],
)
def test_the_two_axes_are_answered_apart(
    runs: list[tuple[str, str, int] | None], outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OUTCOME.6: whatever became of the outcome, the words were said and keep their mark; JSON says both, apart."""
    session = ClaudeCode().says("Run the tests, please.")
    for run in runs:
        if run is None:
            session.edits("/work/shop/src/cart.py", "a = 1", "a = 2")
        else:
            session.runs(run[0], run[1], exit_code=run[2])
    path = session.answers("All tests pass.").write(tmp_path)
    monkeypatch.setenv("TALLY_TRAIL", str(tmp_path / "trail"))
    monkeypatch.setenv("TALLY_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("TALLY_CLOCK", CLOCK)
    quoted = ["--quote", "All tests pass.", "--session", str(path), "--kind", "outcome"]
    kept = answered("remember", "All tests pass.", *quoted)
    assert (kept["derivation"], kept["outcome"]) == ("verbatim", outcome)
    (line,) = answered("brief", "--holder", "*")["lines"]
    assert (line["mark"], line["quote"]) == ("✓ verbatim", "All tests pass.")


def answered(*arguments: str) -> dict[str, Any]:
    """The one JSON document that a command prints."""
    done = CliRunner().invoke(tally, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_words_that_stand_in_trails() -> None:
    """TRAIL.9: kinds, logs and origins are written into trails for good; none is renamed or taken away."""
    kinds = (
        "introduced observed asserted reconfirmed judged revised retracted undone linked proposed approved rejected lapsed"
        " erased key_rotated clock_repaired recalled surfaced cited ignored corrected"
    )
    assert set(kinds.split()) <= {kind.value for kind in EntryKind}
    assert [log.value for log in LogName] == ["memory", "access", "ledger"]
    assert [each.value for each in Origin] == ["user", "assistant", "tool", "delegated", "harness", "briefing"]


def test_the_wheel_holds_what_is_needed(tmp_path: Path) -> None:
    """The wheel has the SQL, the marker of types, and every sample session with the licence it stands under."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    sessions = {path for path in (ROOT / "corpora").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    packed = {f"tallystick/{path.relative_to(ROOT)}" for path in sessions if path.suffix != ".py"}
    assert len(packed) > 30
    assert packed <= names
    assert {"tallystick/store/sqlite/schema.sql", "tallystick/store/sqlite/queries.sql", "tallystick/py.typed"} <= names
    assert [name for name in names if name.startswith(("tests/", "benchmarks/")) or "__pycache__" in name] == []
