"""Who may import whom: the contracts hold, they are the rows that ARCHITECTURE.md shows, and they notice what breaks them."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src" / "tallystick"
IMPURE = {"apsw", "os", "pathlib", "random", "socket", "sqlite3", "subprocess", "time", "urllib"}
SHARED = {
    "store": {"epochs", "folding", "outside", "packing", "presence", "protocol", "statements", "words"},
    "transcripts": {"protocol", "sources", "lines", "documents", "salvage", "texts", "view"},
    "extractors": {"protocol"},
}
"""Modules of an effects row that every implementation in it may import."""


def contracts() -> dict[str, dict[str, Any]]:
    """The contracts of pyproject.toml by id."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return {each["id"]: each for each in project["tool"]["importlinter"]["contracts"]}


def rows() -> list[list[str]]:
    """The rows of the layers contract, highest first."""
    return [re.split(r" [|:] ", row) for row in contracts()["layers"]["layers"]]


def imports(path: Path) -> set[str]:
    """Dotted names of what a module imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update({node.module, *(f"{node.module}.{alias.name}" for alias in node.names)})
    return found


def lint(project: Path) -> subprocess.CompletedProcess[str]:
    """The import linter over a copy of the project, by its configuration."""
    program = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    code = f"import sys; sys.path.insert(0, {str(project / 'src')!r}); {program}"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The sources and the contracts, to be broken."""
    shutil.copytree(SRC, tmp_path / "src/tallystick", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_page_shows_the_rows_of_the_contract() -> None:
    """ARCHITECTURE.md shows the rows that the linter enforces, in order."""
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    block = page.partition("## Layers")[2].partition("```\n")[2].partition("```")[0]
    assert block.split("\n")[:-1] == contracts()["layers"]["layers"]


def test_every_module_stands_in_a_row() -> None:
    """A module of the package stands in exactly one row, and every row has its modules."""
    named = sorted(name for row in rows() for name in row)
    there = sorted(
        path.stem
        for path in SRC.iterdir()
        if path.stem != "__init__" and (path.suffix == ".py" or (path / "__init__.py").exists())
    )
    assert named == there
    assert contracts()["layers"]["exhaustive"] is True


def test_pure_rows_are_redaction_and_everything_below() -> None:
    """Clock, disk, sockets and chance are kept out of the whole of the pure rows, not of a list that fell behind."""
    order = rows()
    first = next(place for place, row in enumerate(order) if "redaction" in row)
    pure = {f"tallystick.{name}" for row in order[first:] for name in row}
    assert set(contracts()["pure"]["source_modules"]) == pure
    assert set(contracts()["pure"]["forbidden_modules"]) == IMPURE


@pytest.mark.parametrize("row", sorted(SHARED))
def test_implementations_know_the_protocol_and_not_each_other(row: str) -> None:
    """A module of one implementation imports only its own (``codex_events`` is codex's) and what the row shares."""
    folder = SRC / row
    stems = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()} - {
        "__init__",
        "__pycache__",
    }
    families = sorted(stem for stem in stems - SHARED[row] if not any(stem.startswith(f"{s}_") for s in stems))
    assert stems >= SHARED[row]
    assert families
    for path in folder.rglob("*.py"):
        own = path.relative_to(folder).parts[0].removesuffix(".py")
        for name in imports(path):
            place = name.split(".")
            if place[:2] != ["tallystick", row] or len(place) < 3 or own == "__init__":
                continue
            other = place[2]
            if own in SHARED[row]:
                assert other in SHARED[row], f"{path.name}: shared, and imports {name}"
            else:
                family = next(each for each in families if own == each or own.startswith(f"{each}_"))
                mine = other == family or other.startswith(f"{family}_")
                assert mine or other in SHARED[row], f"{path.name} imports {name}"


def test_the_readers_contract_names_every_reader() -> None:
    """A new transcript reader is added to the contract that keeps readers apart."""
    from tallystick.plugins import adapters

    modules = {type(adapter).__module__ for adapter in adapters()}
    assert set(contracts()["readers"]["modules"]) == modules


def test_implementations_are_named_in_plugins_alone() -> None:
    """Workflows and the command see protocols; which implementation stands behind one is said in ``plugins``."""
    named = {"tallystick.store.postgres", "tallystick.store.sqlite", "tallystick.extractors.rules"} | set(
        contracts()["readers"]["modules"]
    )
    above = [*(SRC / "workflows").rglob("*.py"), *(SRC / "cli").rglob("*.py"), *(SRC / "trail").rglob("*.py")]
    found = [f"{path.relative_to(SRC)}: {name}" for path in above for name in imports(path) & named]
    assert found == []


def test_modules_are_short_and_open_with_a_sentence() -> None:
    """No module has more than 500 lines, and each says first what it is for."""
    for path in SRC.rglob("*.py"):
        text = path.read_text("utf-8")
        assert len(text.splitlines()) <= 500, path.name
        assert ast.get_docstring(ast.parse(text)), path.name


def test_nothing_is_called_by_a_name_that_says_nothing() -> None:
    """A module called utils, helpers, common, misc, base or manager belongs somewhere that was not found yet."""
    nothing = re.compile(r"(?:^|_)(?:utils?|helpers?|common|misc|base|managers?)(?:_|$)")
    assert [path.name for path in SRC.rglob("*.py") if nothing.search(path.stem)] == []


def test_the_contracts_hold() -> None:
    """The import linter finds nothing."""
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout
    assert " 0 broken" in done.stdout


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("language/sentences.py", "import tallystick.trail"),
        ("log/merkle.py", "import socket"),
        ("verifiers/folding.py", "import time"),
        ("store/memory.py", "import tallystick.store.sqlite"),
        ("transcripts/codex_events.py", "import tallystick.transcripts.gemini_cli"),
        ("utils.py", '"""Things."""'),
    ],
)
def test_the_contracts_notice(copy: Path, module: str, line: str) -> None:
    """An import from a row above, an impure one, one of a sibling's, and a module without a row each break the build."""
    path = copy / "src/tallystick" / module
    old = path.read_text("utf-8") if path.exists() else ""
    path.write_text(f"{old}\n{line}\n", "utf-8")
    assert lint(copy).returncode == 1
