"""Every measure of speed and memory, as a table and as a dated result beside this file.

python -m benchmarks.speed [--shared FOLDER] [--only NAME …] [--big] [--no-save]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.speed import appending, big_session, briefing, ingest, quotes, writers
from benchmarks.speed.running import ROOT, Figure, Measure, machine
from tallystick.errors import TallyError

RESULTS = Path(__file__).with_name("results")


def measures(shared: Path, *, big: bool) -> dict[str, Callable[[Path], Measure]]:
    """Every measure by name, in the order of the table; each is handed a scratch folder of its own."""
    found: dict[str, Callable[[Path], Measure]] = {
        "appending": appending.run,
        "writers": writers.run,
        "commands": briefing.commands,
        "briefing": briefing.in_process,
    }
    if (shared / "data" / "transcripts").is_dir():
        found["ingest"] = lambda scratch: ingest.run(shared, scratch)
        found["quotes"] = lambda _: quoted(shared)
    if big:
        found["big"] = big_session.run
    return found


def quoted(shared: Path) -> Measure:
    """The figures of ``benchmarks.speed.quotes``, in the form of the table."""
    said = quotes.run(shared)
    figures = []
    for name in ("session file", "text"):
        each = said[name]
        note = f"{each['times the floor']} × bytes.find"
        figures.append(Figure(f"{each['quotes']} quotes, {name}", each["seconds"], "s", note=note))
    return Measure("quotes", "1,000 quotes against 5.75 MB; medians of 5 (benchmarks/speed/quotes.py)", tuple(figures))


def shown(measured: Iterable[Measure]) -> str:
    """The table, in Markdown."""
    lines = ["| measure | figure | goal | met |", "| --- | ---: | ---: | --- |"]
    for measure in measured:
        lines.append(f"| **{measure.name}**: {measure.how} | | | |")
        lines += [_row(figure) for figure in measure.figures]
    return "\n".join(lines)


def _row(figure: Figure) -> str:
    goal = "" if figure.goal is None else f"{'≥' if figure.at_least else '≤'} {_number(figure.goal)} {figure.unit}"
    met = {None: "", True: "yes", False: "**no**"}[figure.met]
    note = f" ({figure.note})" if figure.note else ""
    return f"| {figure.name}{note} | {_number(figure.value)} {figure.unit} | {goal} | {met} |"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def saved(measured: Iterable[Measure], command: str, began: datetime) -> Path:
    """Write the result of the day as JSON and as Markdown, over what was measured of it before; returns the latter's path."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{began.date().isoformat()}.json"
    document: dict[str, Any] = json.loads(path.read_bytes()) if path.exists() else {"date": path.stem, "measures": {}}
    document["machine"] = machine()
    for measure in measured:
        figures = [{**figure._asdict(), "met": figure.met} for figure in measure.figures]
        document["measures"][measure.name] = {
            "command": command,
            "at": began.strftime("%H:%M UTC"),
            "load": document["machine"]["load"],
            "how": measure.how,
            "figures": figures,
        }
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")
    path.with_suffix(".md").write_text(_page(document), "utf-8")
    return path.with_suffix(".md")


def _page(document: dict[str, Any]) -> str:
    facts = "\n".join(f"- {name}: {value}" for name, value in document["machine"].items() if name != "load")
    commands = "\n".join(
        f"- {name}: `{each['command']}` at {each['at']}, load {each['load']}"
        for name, each in document["measures"].items()
    )
    table = shown(
        Measure(
            name,
            each["how"],
            tuple(Figure(**{key: figure[key] for key in Figure._fields}) for figure in each["figures"]),
        )
        for name, each in document["measures"].items()
    )
    return f"""# Speed and memory, {document["date"]}

{facts}

CPU is user + system time. The load is that of the machine just after each measure; where it is above the number of
cores, wall time says more about the other work than about ours.

{commands}

{table}
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="folder with the shared data")
    parser.add_argument("--only", action="append", metavar="NAME", help="one measure; may be given again")
    parser.add_argument("--big", action="store_true", help="also one session of 2 GB (about ten minutes)")
    parser.add_argument("--no-save", action="store_true", help="print the table and write no result")
    asked = parser.parse_args()
    began = datetime.now(UTC)
    known = measures(asked.shared.resolve(), big=asked.big)
    wanted = asked.only or list(known)
    if unknown := set(wanted) - set(known):
        parser.error(f"no measure {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    options = "".join(f" --only {name}" for name in asked.only or ()) + (" --big" if asked.big else "")
    failed = 0
    for name in wanted:
        print(f"{name} …", file=sys.stderr)
        try:
            with tempfile.TemporaryDirectory(prefix="tally-speed-") as scratch:
                measured = known[name](Path(scratch))
        except (RuntimeError, TallyError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed += 1
            continue
        print(shown([measured]), flush=True)
        if not asked.no_save:
            saved([measured], f"python -m benchmarks.speed{options}", began)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
