"""The composition root: the only place that names implementations and puts them together."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.config import Places, entropy, person_name, project_of
from tallystick.store.outside import OutsideFolder
from tallystick.store.sqlite import SqliteStore
from tallystick.trail.appending import Trail

if TYPE_CHECKING:
    from tallystick.transcripts.protocol import Adapter
    from tallystick.workflows.demo import Stage
    from tallystick.workflows.ingest import Tools


def clock() -> int:
    """Microseconds UTC; ``$TALLY_CLOCK`` (a number of microseconds) stands in for it in tests and demonstrations."""
    fixed = os.environ.get("TALLY_CLOCK")
    return int(fixed) if fixed else time.time_ns() // 1000


def open_trail(where: Places, actor: str = "tally") -> Trail:
    """The trail in a folder. Nothing is made before the first write."""
    return Trail(SqliteStore(where.trail), OutsideFolder(where.state), clock=clock, entropy=entropy, actor=actor)


def adapters() -> tuple[Adapter, ...]:
    """Every transcript adapter, in the order in which they are asked whether a file is theirs."""
    from tallystick.transcripts.claude_code import CLAUDE_CODE
    from tallystick.transcripts.codex import CODEX
    from tallystick.transcripts.gemini_cli import GEMINI_CLI
    from tallystick.transcripts.mini_swe_agent import MINI_SWE_AGENT

    return CLAUDE_CODE, CODEX, GEMINI_CLI, MINI_SWE_AGENT


def ingest_tools(
    environ: Mapping[str, str],
    *,
    harness: str | None = None,
    since: int | None = None,
    thorough: bool = False,
    redact_emails: bool = False,
    progress: Callable[[str, int], None] = lambda _name, _bytes: None,
) -> Tools:
    """What an ingest works with; ``harness`` narrows to one adapter by name."""
    from tallystick.extractors.rules import RulesExtractor
    from tallystick.tokenizer import count_tokens
    from tallystick.workflows.ingest import Tools

    return Tools(
        adapters=[each for each in adapters() if harness in (None, each.name)],
        extractor=RulesExtractor,
        count_tokens=count_tokens,
        person=person_name(environ),
        project_of=project_of,
        since=since,
        thorough=thorough,
        redact_emails=redact_emails,
        progress=progress,
    )


def demo_stage(environ: Mapping[str, str]) -> Stage:
    """What ``tally demo`` plays on."""
    from tallystick.workflows.demo import Stage, bundled

    package = Path(__file__).parent
    return Stage(bundled(package), ingest_tools(environ), lambda trail, state: open_trail(Places(trail, state)))


def home() -> Path:
    """The user's home folder."""
    return Path.home()
