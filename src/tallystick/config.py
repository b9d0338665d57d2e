"""Where things are: the trail, what is kept outside it, the harnesses' folders, and whose memory is asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from tallystick.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from tallystick.model.evidence import SessionFacts

PERSON_VARIABLE = "TALLY_PERSON"
_NAME = "tallystick"
_BELOW_LOCAL = {"data": "share", "state": "state"}


class Places(NamedTuple):
    """The folders of one installation."""

    trail: str | os.PathLike[str]
    """A folder, or the URL of a database (``is_database``)."""
    state: str | os.PathLike[str]
    """Keys, heads and checkpoints; outside the trail on purpose."""


def places(trail: str | None, environ: Mapping[str, str]) -> Places:
    """``--trail``, else ``$TALLY_TRAIL``, else the user's data folder; ``$TALLY_STATE``, else the user's state folder.

    Raises:
        UsageError: a folder is in the home of nobody.
    """
    chosen = trail or environ.get("TALLY_TRAIL")
    state = environ.get("TALLY_STATE")
    where = chosen if chosen and is_database(chosen) else _folder(chosen) if chosen else None
    return Places(
        where or os.path.join(user_folder("data", environ), "trail"),
        _folder(state) if state else user_folder("state", environ),
    )


def is_database(trail: str | os.PathLike[str]) -> bool:
    """Whether a trail is given by the URL of a database, and not by a folder."""
    return isinstance(trail, str) and trail.startswith(("postgresql://", "postgres://"))


def user_folder(kind: str, environ: Mapping[str, str]) -> str:
    """The user's folder for our ``data`` or our ``state``, as platformdirs has it for this machine and environment."""
    home, said = environ.get("HOME", ""), environ.get(f"XDG_{kind.upper()}_HOME", "")
    is_plain = home.startswith("/") and (not said or said.startswith("/")) and "ANDROID_ROOT" not in environ
    if sys.platform == "linux" and is_plain:
        # Said here again for where most briefings are made: platformdirs takes an eighth of a briefing's time to load.
        below = said or f"{home.rstrip('/')}/.local/{_BELOW_LOCAL[kind]}"
        return _folder(os.path.join(below, _NAME))
    from pathlib import Path

    import platformdirs

    return str(Path(platformdirs.user_data_dir(_NAME) if kind == "data" else platformdirs.user_state_dir(_NAME)))


def _folder(said: str) -> str:
    """A folder as pathlib writes it, ``~`` taken for the home folder.

    Raises:
        UsageError: ``~name`` where there is no such user.
    """
    if said.startswith("/") and said == os.path.normpath(said):
        return said  # Nothing to do; pathlib takes a twentieth of a briefing's time to load.
    from pathlib import Path

    try:
        return str(Path(said).expanduser())
    except RuntimeError:
        raise UsageError(f"{said}: nobody's home folder; write the folder out") from None


def session_folders(environ: Mapping[str, str], home: Path) -> list[Path]:
    """Where the known harnesses keep their sessions on this machine; only folders that are there."""
    from pathlib import Path

    claude = environ.get("CLAUDE_CONFIG_DIR")
    codex = environ.get("CODEX_HOME")
    candidates = [
        *([Path(claude) / "projects"] if claude else [home / ".claude/projects", home / ".config/claude/projects"]),
        Path(codex) / "sessions" if codex else home / ".codex/sessions",
        Path(codex) / "archived_sessions" if codex else home / ".codex/archived_sessions",
        home / ".gemini/tmp",
    ]
    return [path for path in candidates if path.is_dir()]


def person_name(environ: Mapping[str, str]) -> str:
    """Name of the person's holder: ``$TALLY_PERSON``, else the login name."""
    if said := environ.get(PERSON_VARIABLE):
        return f"person:{said}"
    import getpass

    try:
        return f"person:{getpass.getuser()}"
    except (OSError, KeyError):
        return "person:unknown"


def project_of(facts: SessionFacts) -> str:
    """Name of a session's project: the folder it ran in, as the record says it (docs/decisions/0004)."""
    return f"project:{facts.cwd or facts.repository or 'unknown'}"


def project_here(folder: str) -> str:
    """Name of the project one stands in: the top of its git work tree, else the folder itself.

    Looked for by its ``.git``, which a linked work tree has as a file: asking git itself would cost a process.
    """
    top = folder
    while not os.path.exists(os.path.join(top, ".git")):
        above = os.path.dirname(top)
        if above == top:
            return f"project:{folder}"
        top = above
    return f"project:{top}"


def entropy(size: int) -> bytes:
    """Random bytes of the operating system."""
    return os.urandom(size)
