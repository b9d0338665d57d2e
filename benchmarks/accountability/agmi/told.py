"""A result as tables: for the terminal, and for the README, which a test holds to the committed result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks.accountability.agmi.asking import EVERYTHING, TRUSTED
from benchmarks.accountability.agmi.outcomes import MISSED, REJECTED, REPORTED

_WORST = (REJECTED, REPORTED, MISSED)
_BY = {
    "rows, guards standing": "rows, the engine's guards standing",
    "rows, guards off": "rows, guards off and put back",
    "all recomputed": "everything recomputed",
}
"""How an edit was made → the head of its column."""
_READ = {EVERYTHING: "all that `recall` hands over", TRUSTED: "of that, the person's ✓ verbatim words"}


def lines(result: Mapping[str, Any]) -> list[str]:
    """Every outcome on a line: what it came to, the attack, how it was done, and what was said of it."""
    found = []
    for title, outcomes in sections(result):
        found += ["", title]
        found += [f"  {each['outcome']:<9} {each['attack']:<36} {each['by']}: {each['said']}" for each in outcomes]
    return found


def sections(result: Mapping[str, Any]) -> Iterable[tuple[str, list[dict[str, str]]]]:
    """(title, outcomes) of each part of a result."""
    for store, outcomes in result["at rest"].items():
        yield f"At rest, {store}", outcomes
    for store, outcomes in result["beyond the suite"].items():
        yield f"Beyond the suite's edits, {store}", outcomes
    yield "The same with nothing kept outside, for comparison", result["nothing kept outside"]
    yield "The suite's naive chain, for comparison", result["naive chain"]
    yield "Through the API", result["api"]
    yield "The same where a person pasted what the agent laundered, for comparison", result["pasted by the person"]


def tables(result: Mapping[str, Any], store: str = "SQLite") -> str:
    """Three tables in Markdown: the suite's edits at rest of one store, what is beyond them, and the attacks through the API."""
    at_rest, chain, api = result["at rest"][store], result["naive chain"], result["api"]
    rows = [["edit at rest", *_BY.values(), "the suite's naive chain"], ["---"] * (len(_BY) + 2)]
    for edit in dict.fromkeys(_edit(each["attack"]) for each in at_rest):
        cells = [_cell(each for each in at_rest if each["by"] == by and _edit(each["attack"]) == edit) for by in _BY]
        rows.append([edit, *cells, _cell(each for each in chain if each["attack"] == edit)])
    asked = [["through the API", *_READ.values()], ["---"] * (len(_READ) + 1)]
    for attack in dict.fromkeys(each["attack"] for each in api if each["by"] in _READ):
        cells = [_cell(each for each in api if each["by"] == by and each["attack"] == attack) for by in _READ]
        asked.append([attack.replace("_", " "), *cells])
    more = [["beyond the suite, at rest", "done with", "outcome"], ["---"] * 3]
    more += [[each["attack"], each["by"], _cell([each])] for each in result["beyond the suite"][store]]
    return "\n".join(map(_markdown, (rows, more, asked)))


def _edit(attack: str) -> str:
    """The suite's name of an edit, whatever it was tried on."""
    return attack.partition(":")[0]


def _cell(outcomes: Iterable[Mapping[str, str]]) -> str:
    """The worst of several outcomes, a miss in bold; a dash where there is none."""
    found = [each["outcome"] for each in outcomes]
    if not found:
        return "–"
    worst = max(found, key=_WORST.index)
    return f"**{worst}**" if worst == MISSED else worst


def _markdown(rows: Iterable[list[str]]) -> str:
    return "".join(f"|{'|'.join(row)}|\n" if "---" in row else f"| {' | '.join(row)} |\n" for row in rows)
