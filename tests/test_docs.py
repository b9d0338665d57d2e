"""The documents say what is there: rules have tests, links lead somewhere, help and reference are the commands' own."""

from __future__ import annotations

import ast
import importlib.util
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

from tallystick import __version__
from tallystick.cli.app import tally
from tallystick.model.claim import ClaimKind, Derivation, Outcome
from tallystick.model.evidence import Origin

ROOT = Path(__file__).resolve().parents[1]
SPEC = ROOT / "docs" / "spec"
GROUPS = "TRAIL TIME EVID QUOTE OUTCOME CARRY BRIEF CHECK GATE ACCESS SEARCH ERASE HOOK SEC".split()

_RULE = re.compile(r"^- \*\*([A-Z]+)\.(\d+)\*\* \S", re.MULTILINE)
_NUMBER = r"\d+(?:\s*[-–]\s*\d+)?"
_CITED = re.compile(rf"\b({'|'.join(GROUPS)})\.({_NUMBER}(?:(?:, | and ){_NUMBER}(?=[:,.;)\]]|\s+and\b|\s*$))*)")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_PATH = re.compile(r"`((?:src|docs|tests|benchmarks|corpora|vectors)/[^`]*|[\w.]+\.(?:md|toml|py))`")

DEMO_CLOCK = 1_796_000_000_000_000
"""Microseconds UTC, in November 2026."""

Rule = tuple[str, int]


def cited(text: str) -> set[Rule]:
    """The rules that a text names: ``QUOTE.3``, ``TRAIL.7, 8``, ``QUOTE.1-3, 5`` and ``EVID.2 and 3``.

    A number after a comma belongs to the citation only where the citation or the sentence goes on after it, so that
    "TRAIL.6, 40 writers" names one rule.
    """
    found: set[Rule] = set()
    for group, numbers in _CITED.findall(text):
        for piece in re.findall(_NUMBER, numbers):
            first, *rest = (int(each) for each in re.findall(r"\d+", piece))
            found.update((group, number) for number in range(first, (rest[0] if rest else first) + 1))
    return found


def rules_of_the_spec() -> set[Rule]:
    """Every rule that a page of the spec states."""
    pages = [path.read_text("utf-8") for path in sorted(SPEC.glob("*.md"))]
    return {(group, int(number)) for page in pages for group, number in _RULE.findall(page)}


def docstrings_of_tests() -> Iterator[tuple[str, str]]:
    """(where, docstring) of every test and invariant, those of the shipped contracts that tests inherit included."""
    for path in [*(ROOT / "tests").rglob("*.py"), *(ROOT / "src/tallystick/testing").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and is_test(node) and (said := ast.get_docstring(node)):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", said


def is_test(function: ast.FunctionDef) -> bool:
    """A test by its name, or an invariant of a state machine."""
    decorators = (each.func for each in function.decorator_list if isinstance(each, ast.Call))
    return function.name.startswith("test") or any(
        isinstance(each, ast.Name) and each.id == "invariant" for each in decorators
    )


def shown(rules: Iterable[Rule]) -> str:
    """Rules in order, for a message."""
    return ", ".join(f"{group}.{number}" for group, number in sorted(rules))


def documents() -> list[Path]:
    """Every page of the project."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "changes").glob("*.md")])


def reference() -> ModuleType:
    """The program that writes docs/reference/cli.md."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs/reference/generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("QUOTE.3: stitched", "QUOTE.3"),
        ("TRAIL.7, 8: verify", "TRAIL.7, TRAIL.8"),
        ("QUOTE.1-3, 5: folding", "QUOTE.1, QUOTE.2, QUOTE.3, QUOTE.5"),
        ("TIME.1–4: as of", "TIME.1, TIME.2, TIME.3, TIME.4"),
        ("EVID.2 and 3: torn", "EVID.2, EVID.3"),
        ("EVID.1, 6, 7 and 8: all", "EVID.1, EVID.6, EVID.7, EVID.8"),
        ("EVID.6, QUOTE.6: briefing", "EVID.6, QUOTE.6"),
        ("CARRY.4, 6, TIME.8, 12, 13.", "CARRY.4, CARRY.6, TIME.8, TIME.12, TIME.13"),
        ("TRAIL.6, 40 writers with 25 appends", "TRAIL.6"),
        ("EVID.10 holds for 3, 4 and 5 MB", "EVID.10"),
        ("TRAIL.3, 12-byte roots are refused", "TRAIL.3"),
        ("see README.1 and TRAIL.x", ""),
    ],
)
def test_citations_are_read(text: str, expected: str) -> None:
    """The reader of citations takes ranges and lists apart and no number of the sentence along."""
    assert shown(cited(text)) == shown(cited_plainly(expected))


def cited_plainly(text: str) -> set[Rule]:
    """Rules written out one by one."""
    pairs = (each.split(".") for each in text.split(", ") if each)
    return {(group, int(number)) for group, number in pairs}


def test_every_rule_has_a_test() -> None:
    """What the spec says is implemented is named by a test that would fail without it."""
    named = set().union(*(cited(said) for _, said in docstrings_of_tests()))
    missing = rules_of_the_spec() - named
    assert not missing, f"rules of docs/spec that no test names: {shown(missing)}"


def test_every_named_rule_is_in_the_spec() -> None:
    """A test names only rules that the spec has."""
    known = rules_of_the_spec()
    strangers = [
        f"{where} {shown(cited(said) - known)}" for where, said in docstrings_of_tests() if cited(said) - known
    ]
    assert not strangers, "tests that name rules which docs/spec does not have:\n" + "\n".join(strangers)


def test_rules_are_stated_once() -> None:
    """A rule stands on one page."""
    stated = [f"{g}.{n}" for path in SPEC.glob("*.md") for g, n in _RULE.findall(path.read_text("utf-8"))]
    assert sorted(stated) == sorted(set(stated))
    assert len(stated) > 50


def test_links_lead_somewhere() -> None:
    """Every relative link of every page leads to a file or folder that is there."""
    links = [(path, link) for path in documents() for link in _LINK.findall(path.read_text("utf-8"))]
    broken = [
        f"{path.relative_to(ROOT)} → {link}"
        for path, link in links
        if "://" not in link and not (path.parent / link.partition("#")[0]).exists()
    ]
    assert len(links) > 40
    assert not broken, "\n".join(broken)


def test_the_table_of_changes_names_what_is_there() -> None:
    """ARCHITECTURE.md, "to change X, open Y": every Y exists, and the page stays short."""
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    table = page.partition("## To change X, open Y")[2].partition("\n## ")[0]
    paths = [path for line in table.splitlines() if line.startswith("|") for path in _PATH.findall(line)]
    assert len(paths) > 30
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert len(page.splitlines()) <= 150


def test_the_readme_shows_the_help() -> None:
    """The block of commands in README.md is what ``tally --help`` prints at 80 columns."""
    page = (ROOT / "README.md").read_text("utf-8")
    block = page.partition("## Commands\n\n```\n")[2].partition("```")[0]
    assert block == reference().help_of(tally, "tally", 80)


def test_the_readme_shows_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The excerpt in README.md is output of ``tally demo``: its frame line by line, its claims by their form."""
    page = (ROOT / "README.md").read_text("utf-8")
    shown_lines = page.partition("`tally demo` in excerpts:\n\n```\n")[2].partition("```\n")[0].splitlines()
    monkeypatch.setenv("TALLY_CLOCK", str(DEMO_CLOCK))
    done = CliRunner().invoke(tally, ["demo"])
    assert done.exit_code == 0, done.output
    printed = {re.sub(r"\d+", "N", line) for line in done.output.splitlines()}
    frame = [line for line in shown_lines if not line.startswith("- ")]
    assert len(frame) > 12
    assert [line for line in frame if re.sub(r"\d+", "N", line) not in printed] == []
    claims = [line for line in shown_lines if line.startswith("- ")]
    assert claims
    form = re.compile(
        r'- (?:✓ verbatim ".+"|~ inferred .+) \(.+, (?:\d+ (?:d|h|min|s) ago|no date), c\d+\)(?: → `.+`)?'
    )
    assert [line for line in claims if not form.fullmatch(line)] == []


def test_the_reference_is_the_commands_help() -> None:
    """docs/reference/cli.md is what docs/reference/generate.py writes."""
    module = reference()
    assert module.PAGE.read_text("utf-8") == module.page(), "run python docs/reference/generate.py"


def test_the_gate_runs_what_the_readme_names() -> None:
    """``.ci/run`` calls the README's test command, and the Makefile has every target that CONTRIBUTING.md lists."""
    readme = (ROOT / "README.md").read_text("utf-8")
    assert readme.partition("## Try it\n\n```\n")[2].partition("```")[0] == "make demo\nmake test\n"
    gate = (ROOT / ".ci/run").read_text("utf-8").splitlines()
    assert gate[0].startswith("#!")
    assert "bash" in gate[0]
    assert "set -euo pipefail" in gate
    assert gate[-1] == "make test"
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z]+)`", (ROOT / "CONTRIBUTING.md").read_text("utf-8")))
    assert {"demo", "test", "check", "bench", "fuzz", "pins"} <= named <= targets


def test_the_glossary_has_the_words_of_trust() -> None:
    """Every value of a trust axis, and every kind of claim, is explained in the glossary or in ARCHITECTURE.md's table."""
    pages = "\n".join((ROOT / name).read_text("utf-8") for name in ("docs/glossary.md", "ARCHITECTURE.md")).lower()
    words = [each.value for enum in (Derivation, Outcome, Origin, ClaimKind) for each in enum]
    assert [word for word in words if word not in pages and word.replace("_", " ") not in pages] == []


def test_glossary_terms_stand_once_and_in_tables() -> None:
    """A word is explained in one place."""
    rows = re.findall(r"^\| ([^|]+) \|", (ROOT / "docs/glossary.md").read_text("utf-8"), re.MULTILINE)
    terms = [row.strip("` ") for row in rows if row != "word"]
    assert len(terms) > 100
    assert sorted(terms) == sorted(set(terms))


def test_the_changelog_has_this_version() -> None:
    """The version of the package has its section, and what waits for the next is named by its sort."""
    assert f"\n## {__version__}\n" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    names = [path.name for path in (ROOT / "changes").iterdir() if path.name != "README.md"]
    assert [n for n in names if not re.fullmatch(r"[\w-]+\.(added|changed|fixed|removed|security)\.md", n)] == []


def test_decisions_are_listed_and_whole() -> None:
    """Every ADR is in the list, and says context, options, choice, what we lose and when to look again on one page."""
    folder = ROOT / "docs/decisions"
    listed = (folder / "README.md").read_text("utf-8")
    pages = sorted(folder.glob("[0-9]*.md"))
    assert [path.name[:4] for path in pages] == [f"{n:04}" for n in range(1, len(pages) + 1)]
    for path in pages:
        page = path.read_text("utf-8")
        assert path.name in listed
        assert re.findall(r"^## (.+)$", page, re.MULTILINE) == [
            "Context", "Options", "Choice", "What we lose", "Look again",
        ], path.name  # fmt: skip
        assert len(page.splitlines()) <= 66, f"{path.name} is longer than a page"


def test_every_harness_has_its_page() -> None:
    """A reader's format is written down in docs/formats under the harness's name."""
    from tallystick.plugins import adapters

    pages = {path.stem for path in (ROOT / "docs/formats").glob("*.md")}
    assert {adapter.name for adapter in adapters()} <= pages


def test_the_demo_travels_with_the_package() -> None:
    """The wheel takes along every folder of sample sessions, each with the licence of its sources."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    forced = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    harnesses = sorted(path.name for path in (ROOT / "corpora").iterdir() if (path / "SOURCES.json").is_file())
    assert forced == {f"corpora/{name}": f"tallystick/corpora/{name}" for name in harnesses}
    assert [name for name in harnesses if not list((ROOT / "corpora" / name).glob("*LICENSE*"))] == []
