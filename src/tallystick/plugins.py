"""The composition root: the only place that names implementations and puts them together."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tallystick.config import Places, entropy, is_database, person_name, project_of
from tallystick.errors import UsageError
from tallystick.model.temporal import END_OF_TIME, START_OF_TIME
from tallystick.store.outside import OutsideFolder
from tallystick.store.sqlite import SqliteStore
from tallystick.store.sqlite.connection import LOCK_TIMEOUT_SECONDS
from tallystick.trail.appending import Trail

if TYPE_CHECKING:
    from pathlib import Path

    from tallystick.embedders.protocol import Embedder
    from tallystick.store.protocol import Store
    from tallystick.transcripts.protocol import Adapter
    from tallystick.workflows.demo import Stage
    from tallystick.workflows.ingest import Tools

MOST_LOCK_SECONDS = 86_400


def clock() -> int:
    """Microseconds UTC; ``$TALLY_CLOCK`` (a number of microseconds) stands in for it in tests and demonstrations."""
    fixed = os.environ.get("TALLY_CLOCK")
    if not fixed:
        return time.time_ns() // 1000
    try:
        instant = int(fixed)
    except ValueError:
        instant = END_OF_TIME
    if not START_OF_TIME < instant < END_OF_TIME:
        raise UsageError(f"TALLY_CLOCK={fixed[:40]}: expected whole microseconds since 1970-01-01T00:00:00Z")
    return instant


def lock_timeout(environ: Mapping[str, str]) -> float:
    """Seconds that a writer waits for another one: ``$TALLY_LOCK_TIMEOUT``, else half a minute.

    Raises:
        UsageError: it is set to something else than a number of seconds.
    """
    wanted = environ.get("TALLY_LOCK_TIMEOUT")
    if not wanted:
        return LOCK_TIMEOUT_SECONDS
    try:
        seconds = float(wanted)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MOST_LOCK_SECONDS:
        raise UsageError(f"TALLY_LOCK_TIMEOUT={wanted[:40]}: expected seconds, from 0 to {MOST_LOCK_SECONDS}")
    return seconds


def open_trail(where: Places, actor: str = "tally") -> Trail:
    """The trail in a folder or a database. Nothing is made before the first write."""
    store = _store(where.trail, lock_timeout(os.environ))
    return Trail(store, OutsideFolder(where.state), clock=clock, entropy=entropy, actor=actor)


def _store(trail: str | os.PathLike[str], timeout_seconds: float) -> Store:
    if is_database(trail):
        from tallystick.store.postgres import PostgresStore  # A driver and 60 ms that a folder does without.

        return PostgresStore(os.fspath(trail), lock_timeout_seconds=timeout_seconds)
    return SqliteStore(trail, lock_timeout_seconds=timeout_seconds)


def adapters() -> tuple[Adapter, ...]:
    """Every transcript adapter, in the order in which they are asked whether a file is theirs."""
    from tallystick.transcripts.aider import AIDER
    from tallystick.transcripts.amp import AMP
    from tallystick.transcripts.atif import ATIF
    from tallystick.transcripts.chatgpt import CHATGPT
    from tallystick.transcripts.claude_ai import CLAUDE_AI
    from tallystick.transcripts.claude_code import CLAUDE_CODE
    from tallystick.transcripts.cline import CLINE, ROO_CODE
    from tallystick.transcripts.codex import CODEX
    from tallystick.transcripts.copilot_cli import COPILOT_CLI
    from tallystick.transcripts.cursor import CURSOR
    from tallystick.transcripts.gemini_cli import GEMINI_CLI
    from tallystick.transcripts.goose import GOOSE
    from tallystick.transcripts.hermes import HERMES
    from tallystick.transcripts.mini_swe_agent import MINI_SWE_AGENT
    from tallystick.transcripts.opencode import OPENCODE
    from tallystick.transcripts.openhands import OPENHANDS
    from tallystick.transcripts.otel_genai import OTEL_GENAI
    from tallystick.transcripts.specstory import SPECSTORY
    from tallystick.transcripts.swe_agent import SWE_AGENT
    from tallystick.transcripts.vscode_chat import VSCODE_CHAT

    return (
        CLAUDE_CODE,
        CODEX,
        GEMINI_CLI,
        MINI_SWE_AGENT,
        AIDER,
        AMP,
        ATIF,
        CHATGPT,
        CLAUDE_AI,
        CLINE,
        COPILOT_CLI,
        CURSOR,
        GOOSE,
        HERMES,
        OPENCODE,
        OPENHANDS,
        OTEL_GENAI,
        ROO_CODE,
        SPECSTORY,
        SWE_AGENT,
        VSCODE_CHAT,
    )


def mapped_adapter(mapping: Path) -> Adapter:
    """The adapter that a mapping file describes.

    Raises:
        UsageError: the file cannot be read, or is no mapping.
    """
    from tallystick.transcripts.generic_jsonl import adapter_by, mapping_of

    try:
        data = mapping.read_bytes()
    except OSError as error:
        raise UsageError(f"--mapping {mapping}: {error.strerror}") from None
    return adapter_by(mapping_of(data, str(mapping), [each.name for each in adapters()]))


def ingest_tools(
    environ: Mapping[str, str],
    *,
    harness: str | None = None,
    since: int | None = None,
    thorough: bool = False,
    redact_emails: bool = False,
    shown_before: Callable[[int | None], Sequence[str]] = lambda _at: (),
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
        shown_before=shown_before,
        since=since,
        thorough=thorough,
        redact_emails=redact_emails,
        progress=progress,
    )


def embedder(environ: Mapping[str, str]) -> Embedder | None:
    """What gives texts their vectors: ``$TALLY_EMBEDDER``, which is ``off`` (or empty), ``minilm``, or the URL of an endpoint
    that speaks OpenAI's protocol, with ``$TALLY_EMBEDDER_MODEL`` and ``$TALLY_EMBEDDER_KEY``. None where it is off.

    Raises:
        UsageError: it is set to something else, or the endpoint's model is not named.
    """
    wanted = environ.get("TALLY_EMBEDDER", "")
    if wanted in ("", "off"):
        return None
    if wanted == "minilm":
        from tallystick.embedders.minilm import MiniLm

        return MiniLm()
    if not wanted.startswith(("http://", "https://")):
        raise UsageError(f"TALLY_EMBEDDER={wanted[:40]}: expected off, minilm, or the URL of an endpoint")
    model = environ.get("TALLY_EMBEDDER_MODEL", "")
    if not model:
        raise UsageError("TALLY_EMBEDDER is the URL of an endpoint; name its model in TALLY_EMBEDDER_MODEL")
    from tallystick.embedders.endpoint import Endpoint

    return Endpoint(wanted, model, environ.get("TALLY_EMBEDDER_KEY", ""))


def demo_stage(environ: Mapping[str, str]) -> Stage:
    """What ``tally demo`` plays on."""
    from pathlib import Path

    from tallystick.workflows.demo import Stage, bundled

    package = Path(__file__).parent
    return Stage(bundled(package), ingest_tools(environ), lambda trail, state: open_trail(Places(trail, state)))


def home() -> Path:
    """The user's home folder."""
    from pathlib import Path

    return Path.home()
