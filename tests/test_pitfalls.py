"""The 57 pitfalls of reading transcripts: each has a test that names its number, and docs/formats/pitfalls.md says which."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/formats/pitfalls.md"
ALL = frozenset(range(1, 58))
_NAMED = re.compile(r"[Pp]itfalls? (\d+(?:(?:, | and |[-–])\d+)*)")
_ROW = re.compile(r"^\| (\d+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
_TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")


def numbers(docstring: str) -> set[int]:
    """The pitfalls that a docstring names, ranges taken apart."""
    found: set[int] = set()
    for listed in _NAMED.findall(docstring):
        for part in re.split(r", | and ", listed):
            first, *last = (int(number) for number in re.split("[-–]", part))
            found.update(range(first, (last or [first])[0] + 1))
    return found


def holders() -> dict[int, set[tuple[str, str]]]:
    """For each pitfall the (file, test) whose docstring names it; tests of the shipped contracts too."""
    found: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for folder in (ROOT / "tests", ROOT / "src/tallystick/testing"):
        for path in folder.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                    for number in numbers(ast.get_docstring(node) or ""):
                        found[number].add((path.relative_to(ROOT).as_posix(), node.name))
    return found


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("EVID.2 (pitfall 10): a field", {10}),
        ("EVID.5 (pitfalls 31, 32): queued", {31, 32}),
        ("Pitfall 9: what a harness", {9}),
        ("pitfalls 38-40 and 42: endings", {38, 39, 40, 42}),
        ("QUOTE.3; failure case 6, pitfall 54: the end", {54}),
        ("EVID.2, pitfall 5: 12 megabytes", {5}),
        ("failure case 6: no pitfall", set()),
    ],
)
def test_numbers_are_read(said: str, expected: set[int]) -> None:
    """Lists and ranges are taken apart, and no other number of the sentence is taken along."""
    assert numbers(said) == expected


def test_every_pitfall_is_named_by_a_test() -> None:
    """Each has a test that names it."""
    named = holders()
    assert set(named) <= ALL
    assert sorted(ALL - named.keys()) == [], "no test names these"


def test_the_page_leads_to_tests_that_hold_what_it_says() -> None:
    """Every pitfall has one row; the tests in it exist and name it."""
    rows = [(int(number), cell) for number, _, cell in _ROW.findall(PAGE.read_text("utf-8"))]
    assert [number for number, _ in rows] == sorted(ALL)
    named = holders()
    for number, cell in rows:
        listed = set(_TEST.findall(cell))
        assert listed, f"pitfall {number} has no test in its row"
        assert listed <= named[number], (
            f"pitfall {number}: {sorted(listed - named[number])} does not name it or is not there"
        )
