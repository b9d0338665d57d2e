"""``tally ingest``: transcripts in, with an account of every record."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from tallystick.cli.app import stop
from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.cli.saying import complain
from tallystick.config import found_places
from tallystick.errors import UsageError
from tallystick.plugins import adapters, home, ingest_tools, mapped_adapter
from tallystick.trail.instants import parse_instant
from tallystick.workflows.ingest import IngestReport, ingest
from tallystick.workflows.surfaced import Surfaced

SHOWN_PROBLEMS = 20


@click.command(
    "ingest", help="Read transcripts (default: all that are found on this machine), certify what they say, append it."
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--harness", metavar="NAME", help="Only transcripts of this harness.")
@click.option(
    "--mapping",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Read the paths as JSON lines, by a TOML file that says where in a line things stand (docs/formats/generic-jsonl.md).",
)
@click.option("--since", metavar="T", help="Only files changed since this instant.")
@click.option("--thorough", is_flag=True, help="Compare the whole of files that look unchanged.")
@click.option("--redact-emails", is_flag=True, help="Take out e-mail addresses as well as secrets.")
@shared(reads=False)
def command(
    asked: Asked,
    paths: tuple[Path, ...],
    harness: str | None,
    mapping: Path | None,
    since: str | None,
    thorough: bool,
    redact_emails: bool,
) -> None:
    """Ingest and report."""
    if mapping and harness:
        raise UsageError("--mapping and --harness: one of them; a mapping is a harness of its own")
    if mapping and not paths:
        raise UsageError("--mapping: name the files or folders that it is for")
    names = [adapter.name for adapter in adapters()]
    if harness is not None and harness not in names:
        raise UsageError(f"--harness {harness}: no such harness; there are {', '.join(names)}")
    narrowed = names if harness is None else [harness]
    wanted = list(paths) or [Path(each.path) for each in found_places(os.environ, home(), narrowed)]
    if not wanted:
        whose = f"of {harness} " if harness else ""
        raise UsageError(f"no sessions {whose}were found on this machine; name a transcript or a folder of them")
    with _progress(wanted) as progress:
        tools = ingest_tools(
            os.environ,
            harness=harness,
            since=parse_instant(since)[0] if since else None,
            thorough=thorough,
            redact_emails=redact_emails,
            shown_before=Surfaced(asked.trail).before,
            progress=progress,
        )
        if mapping:
            tools = tools._replace(adapters=[mapped_adapter(mapping)])
        report = ingest(asked.trail, wanted, tools, discovered=not paths)
    asked.show(_document(report), lambda: _shown(report))
    if report.refused:
        for refused in report.refused:
            complain(f"{refused.path}: {refused.reason}")
        stop(2)


def _document(report: IngestReport) -> dict[str, Any]:
    return {
        "files": report.files,
        "sessions": len(report.sessions),
        "events": report.events,
        "claims": report.claims,
        "skipped_unchanged": report.skipped_unchanged,
        "problems": [problem._asdict() for problem in report.problems],
        "counts": dict(sorted(report.counts.items())),
        "seconds": round(report.seconds, 3),
        "bytes": report.bytes,
        "size": report.size,
    }


def _shown(report: IngestReport) -> str:
    lines = [
        f"{report.files} files read ({report.bytes / 1e6:.1f} MB), {report.skipped_unchanged} unchanged, "
        f"{len(report.sessions)} sessions, {report.events} events",
        f"{report.claims} claims, {report.counts['claims:reconfirmed']} said again, "
        f"{report.counts['claims:contradictions']} contradictions flagged; the trail has {report.size} entries",
    ]
    without = sum(n for kind, n in report.counts.items() if kind.startswith("record:"))
    lines.append(
        f"{report.counts['records']} records: {report.counts['records_with_events']} with events, "
        f"{without} that carry nothing to remember, {report.counts['records_unreadable']} unreadable"
    )
    redacted = sum(n for kind, n in report.counts.items() if kind.startswith("redacted:"))
    if redacted:
        lines.append(f"{redacted} secrets redacted before anything was stored")
    forgotten, claims = report.counts["events_forgotten"], report.counts["claims:tombstoned"]
    if forgotten or claims:
        lines.append(f"{forgotten} events and {claims} claims passed over: they were forgotten")
    unknown = {kind: n for kind, n in report.counts.items() if kind.startswith("record:unknown")}
    if unknown:
        lines.append(
            f"records of kinds this version does not know: {', '.join(f'{k[15:]} ×{n}' for k, n in unknown.items())}"
        )
    lines += [_problem(problem.file, problem.line, problem.reason) for problem in report.problems[:SHOWN_PROBLEMS]]
    if len(report.problems) > SHOWN_PROBLEMS:
        lines.append(f"  and {len(report.problems) - SHOWN_PROBLEMS} more problems; --json lists them all")
    lines.append(f"{report.seconds:.1f} s")
    return "\n".join(lines)


def _problem(file: str, line: int, reason: str) -> str:
    return f"  {file}:{line}: {reason}" if line else f"  {file}: {reason}"


@contextmanager
def _progress(paths: list[Path]) -> Iterator[Callable[[str, int], None]]:
    """A bar on a terminal, nothing when piped."""
    if not sys.stderr.isatty():
        yield lambda _name, _size: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from tallystick.transcripts.sources import found_files

    total = sum(path.stat().st_size for path in found_files(paths)[0])
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=total)
        yield lambda name, size: bar.update(task, advance=size, description=name[:40])
