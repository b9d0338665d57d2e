"""Where things are: the trail, what is kept outside it, the harnesses' folders, and whose memory is asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from tallystick.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from tallystick.model.evidence import SessionFacts
    from tallystick.transcripts.discovery import Found

PERSON_VARIABLE = "TALLY_PERSON"
_NAME = "tallystick"
_GIT = ".git"
_MOST_OF_GIT_FILE = 4096
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


def found_places(environ: Mapping[str, str], home: Path, harnesses: Collection[str] | None = None) -> list[Found]:
    """Where the known harnesses keep sessions on this machine, for this person and in the project one stands in.

    Only what is there; ``harnesses`` narrows to those of these names.
    """
    from tallystick.transcripts.discovery import Machine, discovered, session_places
    from tallystick.transcripts.view import DiskView

    try:
        project = work_tree(os.getcwd())
    except OSError:
        project = ""
    with DiskView() as view:
        return discovered(session_places(Machine(_system(), environ, str(home), project)), view, harnesses)


def _system() -> str:
    return {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")


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
    """Name of a session's project: the folder it ran in, as the record says it (docs/decisions/0004).

    Of a linked work tree that is on this machine it is the same folder in the repository's main checkout.
    """
    return f"project:{(facts.cwd and in_main_checkout(facts.cwd)) or facts.repository or 'unknown'}"


def project_here(folder: str) -> str:
    """Name of the project one stands in: the main checkout of its git work tree, else the folder itself."""
    return f"project:{in_main_checkout(work_tree(folder) or folder)}"


def work_tree(folder: str) -> str:
    """Top of the git work tree that holds a folder; empty where none does, or where that is no whole path here.

    Looked for by its ``.git``, which a linked work tree has as a file: asking git itself would cost a process.
    """
    top = folder
    while os.path.isabs(top):
        if os.path.exists(os.path.join(top, _GIT)):
            return top
        above = os.path.dirname(top)
        if above == top:
            break
        top = above
    return ""


def in_main_checkout(folder: str) -> str:
    """A folder of a linked work tree as it is called in the main checkout; any other as it is.

    The letter of a Windows drive is written large: one machine's records have it both ways.
    """
    if folder[1:2] == ":" and folder[0].isascii():
        folder = folder[0].upper() + folder[1:]
    top = work_tree(folder)
    main = main_checkout(top) if top else top
    return folder if main == top else main + folder[len(top) :]


def main_checkout(top: str) -> str:
    """The main work tree of the repository that ``top`` is a linked work tree of; ``top`` where it is none.

    The repository must say so too: a folder that merely points at another's repository stays a project of its own. A
    repository without a main work tree is called by its own folder.
    """
    linked = _pointed(os.path.join(top, _GIT), "gitdir:")
    common = _pointed(os.path.join(linked, "commondir")) if linked else ""
    back = _pointed(os.path.join(linked, "gitdir")) if common else ""
    real = os.path.realpath
    if not back or real(back) != real(os.path.join(top, _GIT)) or real(os.path.join(linked, "../..")) != real(common):
        return top
    above, name = os.path.split(common)
    if name == _GIT or _pointed(os.path.join(above, _GIT), "gitdir:") == common:
        return above
    return _pointed(os.path.join(common, "config"), "worktree =") or common


def _pointed(file: str, mark: str = "") -> str:
    """The path that stands in one of git's small files, behind ``mark`` where it has one; empty where none does."""
    try:
        if not os.path.isfile(file):
            return ""
        with open(file, "rb") as stream:
            lines = os.fsdecode(stream.read(_MOST_OF_GIT_FILE)).split("\n")
    except OSError:
        return ""
    said = (line.strip() for line in lines)
    found = next((line[len(mark) :].strip() for line in said if line.startswith(mark)), "")
    if not found or "\0" in found:
        return ""
    return os.path.normpath(os.path.join(os.path.dirname(file), found))


def entropy(size: int) -> bytes:
    """Random bytes of the operating system."""
    return os.urandom(size)
