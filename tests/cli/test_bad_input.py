"""What the world can do to a command: every failure is one line that names the thing, and nothing is lost or half-written."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from tallystick.cli.app import COMMANDS
from tallystick.store.sqlite.store import SCHEMA_VERSION
from tests.cli.surface import Tally
from tests.sessions import ClaudeCode

NEEDED = {"recall": ["x"], "remember": ["x"], "quote": ["x", "--session", "s"], "outcome": ["x", "--session", "s"]}
NEEDED |= {"why": ["c1"], "revise": ["c1", "x", "--because", "r"], "retract": ["c1", "--because", "r"]}
NEEDED |= {"diff": ["0"], "join": ["a", "b", "--because", "r"]}
NEEDED |= {"undo": ["1", "--because", "r"], "import": ["/dev/null"], "ingest": ["/dev/null"]}
NEEDED |= {"forget": ["c1", "--because", "r"]}
NEEDED |= {"context": ["a1"], "cite": ["--recall", "r1"]}
NEEDED |= {"show": ["s1"]}
NEEDED |= {"prove": ["c1"], "verify-bundle": ["/dev/null"]}


def a_session(tally: Tally, name: str = "one") -> Path:
    session = ClaudeCode(name, cwd=str(tally.project)).says("Always run the linter before committing.")
    return session.write(tally.folder / "sessions" / f"{name}.jsonl")


CAPABILITY_VERSION_3 = 0x20080522
BYPASSES = 1 << 1 | 1 << 2
"""``CAP_DAC_OVERRIDE`` and ``CAP_DAC_READ_SEARCH``: what makes permissions mean nothing to root (capabilities(7))."""


@contextmanager
def as_anyone() -> Iterator[None]:
    """Let permissions count for this thread, also when it is root's: it gives up the right to pass them by, for a while."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    kept = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice, for 64 capabilities
    assert libc.capget(header, kept) == 0, os.strerror(ctypes.get_errno())
    fewer = (ctypes.c_uint32 * 6)(*kept)
    fewer[0] &= ~BYPASSES
    assert libc.capset(header, fewer) == 0, os.strerror(ctypes.get_errno())
    try:
        yield
    finally:
        assert libc.capset(header, kept) == 0, os.strerror(ctypes.get_errno())


needs_permissions = pytest.mark.skipif(
    os.geteuid() == 0 and sys.platform != "linux", reason="only Linux lets root give up its rights for a while"
)

# --- arguments and environment


@pytest.mark.parametrize("command", COMMANDS)
def test_wrong_options(tally: Tally, command: str) -> None:
    """cli.md: an option that is none is wrong usage on every command: one line, exit 2."""
    assert "--nonsense" in tally.refused(command, "--nonsense")


@pytest.mark.parametrize("command", [name for name in NEEDED if name not in ("cite", "forget", "ingest")])
def test_missing_arguments(tally: Tally, command: str) -> None:
    """cli.md: a missing argument is wrong usage: one line, exit 2."""
    assert "Missing" in tally.refused(command)


@pytest.mark.parametrize("command", COMMANDS)
def test_help(tally: Tally, command: str) -> None:
    """cli.md: every command has a help that names its options, and takes --json and --trail."""
    done = tally(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert "--json" in done.out
    assert "--trail" in done.out


def test_wrong_command(tally: Tally) -> None:
    """cli.md: a command that is none is wrong usage; one that is near is offered."""
    assert "'brief'" in tally.refused("breif")
    assert "--help" in tally.refused("zzzzzz")


def test_no_command_shows_the_help(tally: Tally) -> None:
    """cli.md: nothing asked is wrong usage, answered with the list of commands."""
    done = tally()
    assert done.code == 2
    assert all(name in done.out for name in COMMANDS)


@pytest.mark.parametrize("command", [command for command in COMMANDS if command not in ("demo", "verify-bundle")])
def test_a_database_that_cannot_be_reached(tally: Tally, command: str) -> None:
    """cli.md: a database's address is never taken for a folder, from the option or from the environment."""
    needed, url = NEEDED.get(command, []), "postgresql://ada:s3cret@127.0.0.1:1/db"
    if command == "doctor":
        done = tally(command, "--trail", url)
        assert "cannot be reached" in done.out
        assert "s3cret" not in done.out + done.err
        return
    message = tally.refused(command, *needed, "--trail", url, code=3)
    assert "postgresql://ada@127.0.0.1:1/db" in message
    assert "s3cret" not in message
    tally.setenv({"TALLY_TRAIL": url})
    assert "cannot be reached" in tally.refused(command, *needed, code=3)


@pytest.mark.parametrize("clock", ["noon", "1.5", "9" * 30, "-" + "9" * 17, "²"])
def test_a_clock_that_is_none(tally: Tally, clock: str) -> None:
    """TIME.2: a clock that cannot be read is refused by name, wherever it is asked."""
    tally.setenv({"TALLY_CLOCK": clock})
    assert "TALLY_CLOCK" in tally.refused("remember", "x")
    assert "TALLY_CLOCK" in tally.refused("doctor")
    assert not list(tally.trail.glob("*.db")) or tally("verify").code == 3


@pytest.mark.parametrize("instant", [0, 1, -1, 86_400_000_000, 1_000_000_000_000_000])
def test_a_clock_that_was_never_set(tally: Tally, instant: int) -> None:
    """TIME.2: a clock in 1970 appends nothing and says what it reads; reading goes on, and doctor names it."""
    claim = tally.remember("the port is 5432")
    size = tally.json("verify")["size"]
    tally.clock(instant)
    for command in (["remember", "x"], ["retract", claim, "--because", "r"], ["recall", "port"], ["brief"]):
        assert "clock" in tally.refused(*command, code=3)
    assert "clock" in tally.refused("ingest", a_session(tally), code=3)
    assert tally.texts() == ["the port is 5432"]
    assert (tally.json("verify")["size"], tally.sound()) == (size, True)
    checks = {check["name"]: check["state"] for check in tally.json("doctor", code=1)["checks"]}
    assert checks["clock"] == "bad"


def test_a_clock_far_ahead_and_back(tally: Tally) -> None:
    """TIME.2: a reading of 2039 is repaired by a new epoch when the clock is right again; nothing is lost."""
    tally.remember("one")
    tally.clock(2_190_000_000_000_000)
    tally.remember("two")
    tally.clock(1_775_001_600_000_000)
    tally.remember("three")
    assert tally.texts() == ["one", "two", "three"]
    assert tally.sound()
    assert tally.json("replay", "--holder", "*", "--as-of", "2026-04-01T00:00:00Z")["count"] == 3


def test_the_folder_one_stands_in_is_gone(tally: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    """cli.md: a removed working folder is named in one line, and no matter where the holder is given."""
    claim = tally.remember("one")
    gone = tally.folder / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert "folder" in tally.refused("brief")
    assert tally("why", claim, "--holder", "*").code == 0


@pytest.mark.parametrize(
    "option", [["--holder", "nobody"], ["--as-of", "99"], ["--as-of", "yesterday"], ["--as-of", "x" * 5000]]
)
@pytest.mark.parametrize("command", [["brief"], ["recall", "x"], ["replay"]])
def test_wrong_scope_and_point(tally: Tally, command: list[str], option: list[str]) -> None:
    """cli.md, TIME.2, 4: a holder or a point that is not there is refused by every command that reads, and logs nothing."""
    tally.remember("one")
    assert option[1][:20] in tally.refused(*command, *option)
    assert "access" not in tally.json("verify")["logs"]


# --- paths that hold no transcript


def test_paths_that_are_no_transcripts(tally: Tally) -> None:
    """cli.md, EVID.2: text, noise, nothing, another JSON, a database, a missing file: each is named with what was expected."""
    folder = tally.folder
    (folder / "text").write_text("Dear diary\n")
    (folder / "noise").write_bytes(os.urandom(5000))
    (folder / "nothing.jsonl").write_bytes(b"")
    (folder / "other.json").write_text('{"a": 1}')
    (folder / "zeros.jsonl").write_bytes(bytes(100_000))
    (folder / "deep.jsonl").write_text("[" * 200_000)
    apsw.Connection(str(folder / "base.db")).execute("CREATE TABLE a (b)")
    for name in ("text", "noise", "nothing.jsonl", "other.json", "zeros.jsonl", "deep.jsonl", "base.db", "missing"):
        for command in (["ingest", folder / name], ["quote", "x", "--session", folder / name]):
            done = tally(*command)
            assert (done.code, done.err.count("\n")) == (2, 1)
            assert name in done.err
    assert tally("verify").code == 3


def test_one_bad_path_among_good_ones(tally: Tally) -> None:
    """EVID.2: what can be read is read; the rest is named, on stderr and in the document; exit 2."""
    good = a_session(tally)
    done = tally("ingest", good, tally.folder / "missing", tally.folder / "gone", "--json")
    assert (done.code, done.err.count("\n")) == (2, 2)
    assert done.json["sessions"] == 1
    assert {problem["file"] for problem in done.json["problems"]} == {
        str(tally.folder / "missing"),
        str(tally.folder / "gone"),
    }
    assert tally.sound()


def test_credentials_are_never_read(tally: Tally) -> None:
    """EVID.9: a credential or configuration file is refused, however it is named to us."""
    for name in (".credentials.json", "auth.json", "settings.json"):
        path = tally.folder / name
        path.write_bytes(a_session(tally).read_bytes())
        assert "never read" in tally("ingest", path).err
    assert tally("verify").code == 3


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file that exists and cannot be read")
def test_a_file_that_cannot_be_read(tally: Tally) -> None:
    """EVID.2: an input error of the disk is one line that names the file."""
    for command in (["ingest", "/proc/self/mem"], ["quote", "x", "--session", "/proc/self/mem"]):
        assert "/proc/self/mem" in tally(*command).err
        assert tally(*command).code == 2


@needs_permissions
def test_no_permission(tally: Tally) -> None:
    """EVID.2: a file and a folder that one may not read are named; what can be read beside them is read."""
    good = a_session(tally)
    secret = a_session(tally, "secret")
    secret.chmod(0)
    closed = tally.folder / "sessions" / "closed"
    closed.mkdir(mode=0)
    with as_anyone():
        done = tally("ingest", good.parent, "--json")
        named = tally("ingest", secret)
        inside = tally("ingest", closed / "a.jsonl")
        asked = tally("quote", "x", "--session", closed / "a.jsonl")
    assert done.json["sessions"] == 1
    assert {problem["file"] for problem in done.json["problems"]} == {str(secret), str(closed)}
    assert done.code == 2
    assert (named.code, inside.code, asked.code) == (2, 2, 2)
    assert "ermission" in named.err
    assert "ermission" in inside.err
    assert "ermission" in asked.err
    assert tally.sound()


# --- trails that cannot be written or read


@needs_permissions
def test_a_trail_without_permission(tally: Tally) -> None:
    """TRAIL.5: no right to write, or to read, is one line with what to do, exit 3; nothing changes."""
    claim = tally.remember("one")
    closed = (tally.trail, tally.state, tally.folder)
    for path in closed:
        path.chmod(0o500)
    with as_anyone():
        refusals = [
            tally.refused(*command, code=3)
            for command in (["remember", "two"], ["why", claim], ["verify"], ["brief"], ["recall", "one"])
        ]
        fresh = tally.refused("remember", "two", "--trail", tally.folder / "new" / "trail", code=3)
    for path in closed:
        path.chmod(0o700)
    assert all(str(tally.folder) in line for line in refusals)
    assert "--trail" in fresh
    assert (tally.texts(), tally.sound()) == (["one"], True)


READING = [["brief"], ["replay"], ["recall", "one"], ["verify"], ["doctor"], ["export"], ["why", "c1"]]
READING += [["answers"], ["context", "r1"], ["cite", "--recall", "r1"]]


@needs_permissions
@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_a_trail_that_may_not_be_looked_at(tally: Tally, command: list[str]) -> None:
    """TRAIL.5, 7: a folder that hides its files is not an empty trail: one line that names it, exit 3."""
    tally.remember("one")
    tally.trail.chmod(0)
    with as_anyone():
        done = tally(*command)
    tally.trail.chmod(0o700)
    assert (done.code, done.err.count("\n"), done.out) == (3, 1, "")
    assert str(tally.trail) in done.err


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_a_trail_whose_name_no_disk_takes(tally: Tally, command: list[str]) -> None:
    """TRAIL.5: a name that is too long, and the home of nobody, are one line that names them."""
    for folder, code in (("x" * 300, 3), ("~nobody-at-all/trail", 2)):
        assert folder[:20] in tally.refused(*command, "--trail", folder, code=code)


def test_a_trail_that_is_a_file(tally: Tally) -> None:
    """TRAIL.5: a file where the trail's folder should be is named, and kept as it is."""
    tally.trail.write_text("mine")
    assert str(tally.trail) in tally.refused("remember", "x", code=3)
    assert str(tally.trail) in tally.refused("ingest", a_session(tally), code=3)
    assert tally.trail.read_text() == "mine"


@pytest.mark.parametrize("data", [b"garbage" * 1000, b"SQLite format 3\x00" + bytes(4000)])
def test_a_trail_that_is_none(tally: Tally, data: bytes) -> None:
    """TRAIL.5, 7: files that are no trail are told apart from an empty one, by every command, and left as they are."""
    tally.trail.mkdir()
    (tally.trail / "memory.db").write_bytes(data)
    for command in (["remember", "x"], ["replay"], ["brief"], ["verify"], ["recall", "x"], ["export"]):
        assert "memory.db" in tally.refused(*command, code=3)
    assert tally("doctor").code == 1
    assert (tally.trail / "memory.db").read_bytes() == data


def test_a_trail_of_a_newer_version(tally: Tally) -> None:
    """TRAIL.9: a newer format is refused with what to do, by every command, and nothing is written."""
    claim = tally.remember("one")
    base = apsw.Connection(str(tally.trail / "memory.db"))
    base.execute("PRAGMA user_version = 99")
    base.close()
    for command in (
        ["remember", "x"],
        ["why", claim],
        ["brief"],
        ["verify"],
        ["ingest", a_session(tally)],
        ["checkpoint"],
    ):
        assert "upgrade" in tally.refused(*command, code=3)
    base = apsw.Connection(str(tally.trail / "memory.db"))
    base.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    base.close()
    assert (tally.texts(), tally.sound()) == (["one"], True)


@contextmanager
def writing_elsewhere(lock: Path) -> Iterator[None]:
    """Another process holds the log's lock."""
    code = "import fcntl,sys,time; f=open(sys.argv[1],'w'); fcntl.flock(f,fcntl.LOCK_EX); print(1,flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code, str(lock)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        try:
            yield
        finally:
            other.kill()


def test_a_locked_trail(tally: Tally) -> None:
    """TRAIL.6: a writer that waits too long says who is in the way, exit 3, and changed nothing; reading never waits."""
    claim = tally.remember("one")
    tally.setenv({"TALLY_LOCK_TIMEOUT": "0.05"})
    began = time.monotonic()
    with writing_elsewhere(tally.trail / "memory.lock"):
        assert "another process" in tally.refused("remember", "two", code=3)
        assert "another process" in tally.refused("ingest", a_session(tally), code=3)
        assert tally.texts() == ["one"]
        assert tally.json("recall", "one")["items"][0]["id"] == claim
        assert tally.sound()
    assert time.monotonic() - began < 10
    tally.remember("two")
    assert tally.texts() == ["one", "two"]


def test_a_lock_timeout_that_is_none(tally: Tally) -> None:
    """cli.md: a setting that cannot be read is wrong usage that names it."""
    for wrong in ("soon", "-1", "nan", "inf"):
        tally.setenv({"TALLY_LOCK_TIMEOUT": wrong})
        assert "TALLY_LOCK_TIMEOUT" in tally.refused("remember", "x")


def test_a_locked_access_log(tally: Tally) -> None:
    """ACCESS.1: a recall or briefing that cannot be logged is not shown."""
    tally.remember("one")
    tally.json("recall", "one")
    tally.setenv({"TALLY_LOCK_TIMEOUT": "0.05"})
    with writing_elsewhere(tally.trail / "access.lock"):
        tally.refused("recall", "one", code=3)
        tally.refused("brief", code=3)
    assert len(tally.json("why", tally.remember("one"))["answers"]) == 1


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of its own; skipped where mounting is not allowed."""
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def fill(ballast: Path) -> None:
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as stream:
        while stream.write(bytes(4096)):
            pass


def test_a_full_disk(tally: Tally) -> None:
    """TRAIL.5: a full disk is one line with what to do, exit 3; what was kept before is whole, and space makes it go on."""
    with small_disk(tally.folder / "disk", "1m") as disk:
        tally.setenv({"TALLY_TRAIL": str(disk / "trail")})
        tally.remember("one")
        ballast = disk / "ballast"
        size = tally.json("verify")["size"]
        fill(ballast)
        big = ClaudeCode("big").says("Always run the linter. " * 40_000).write(tally.folder / "big.jsonl")
        for command in (["ingest", big], ["remember", "y" * 200_000], ["recall", "one"], ["brief"]):
            assert str(disk) in tally.refused(*command, code=3)
        for command in (["replay"], ["verify"]):
            assert tally(*command).code in (0, 3)
        ballast.unlink()
        assert (tally.json("verify")["size"], tally.sound()) == (size, True)
        tally.remember("two")
        assert (tally.texts(), tally.sound()) == (["one", "two"], True)


def test_a_read_only_disk(tally: Tally) -> None:
    """TRAIL.5: a read-only disk refuses what writes, in one line, exit 3; what reads goes on or says so, and nothing is lost."""
    with small_disk(tally.folder / "disk", "4m") as disk:
        tally.setenv({"TALLY_TRAIL": str(disk / "trail")})
        claim = tally.remember("one")
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        for command in (["remember", "two"], ["retract", claim, "--because", "r"], ["recall", "one"], ["brief"]):
            assert str(disk) in tally.refused(*command, code=3)
        for command in (["replay"], ["why", claim], ["verify"]):
            done = tally(*command)
            assert done.code in (0, 3)
            assert done.code == 0 or str(disk) in done.err
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
        assert (tally.texts(), tally.sound()) == (["one"], True)


def test_a_state_folder_that_cannot_be_written(tally: Tally) -> None:
    """TRAIL.8: where keys and heads cannot be kept, nothing is appended, and TALLY_STATE is named."""
    tally.state.write_text("a file")
    assert "TALLY_STATE" in tally.refused("remember", "x", code=3)
    assert tally("replay").code == 0
    assert tally.texts() == []


def test_a_lost_key(tally: Tally) -> None:
    """TRAIL.8: without its key a trail is still read and verified, and not written; the line says what to restore."""
    claim = tally.remember("one")
    for key in tally.state.glob("*/*.key"):
        key.unlink()
    assert ".key" in tally.refused("remember", "two", code=3)
    assert tally.json("why", claim)["claim"]["text"] == "one"
    assert tally.json("verify")["size"] > 0


# --- where the answer goes


def tally_in_a_process(
    tally: Tally, *arguments: str, stdout: int | None = subprocess.PIPE, **environ: str
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "tallystick", *arguments]
    return subprocess.run(
        command, stdout=stdout, stderr=subprocess.PIPE, env=os.environ | environ, cwd=tally.project, check=False
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that takes nothing")
@pytest.mark.parametrize("command", [["replay"], ["replay", "--json"], ["export"], ["--help"], ["--version"]])
def test_stdout_that_takes_nothing(tally: Tally, command: list[str]) -> None:
    """cli.md: an answer that cannot be written is one line on stderr and exit 3, never a traceback."""
    tally.remember("one")
    full = os.open("/dev/full", os.O_WRONLY)
    done = tally_in_a_process(tally, *command, stdout=full)
    os.close(full)
    assert (done.returncode, done.stderr.count(b"\n")) == (3, 1)
    assert done.stderr.startswith(b"tally: ")


@pytest.mark.parametrize("command", ["brief", "brief --json", "replay", "--version", "remember two"])
def test_streams_that_are_closed(tally: Tally, command: str) -> None:
    """cli.md: a command whose output nobody takes is done all the same, and never ends in a traceback."""
    tally.remember("one")
    run = ["sh", "-c", f"exec {sys.executable} -m tallystick {command} >&- 2>{tally.folder}/said"]
    done = subprocess.run(run, env=os.environ | {}, cwd=tally.project, check=False)
    assert (done.returncode, (tally.folder / "said").read_text()) == (0, "")
    run[-1] = f"exec {sys.executable} -m tallystick {command} >&- 2>&-"
    assert subprocess.run(run, env=os.environ | {}, cwd=tally.project, check=False).returncode == 0
    assert tally.sound()


def test_a_reader_that_leaves(tally: Tally) -> None:
    """cli.md: a pipe whose reader has gone is no error."""
    tally.remember("one " * 40_000)
    reading, writing = os.pipe()
    os.close(reading)
    done = tally_in_a_process(tally, "export", stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_encoding_of_the_terminal(tally: Tally, encoding: str) -> None:
    """cli.md: words in any script are answered whatever the terminal can show; JSON stays JSON and loses nothing."""
    tally.remember("naïve 日本 😀 ✓")
    shown = tally_in_a_process(tally, "replay", PYTHONIOENCODING=encoding)
    assert (shown.returncode, shown.stderr) == (0, b"")
    document = tally_in_a_process(tally, "replay", "--json", PYTHONIOENCODING=encoding)
    assert (document.returncode, document.stderr) == (0, b"")
    assert json.loads(document.stdout.decode(encoding))["items"][0]["text"] == "naïve 日本 😀 ✓"


def test_arguments_that_are_no_text(tally: Tally) -> None:
    """cli.md: bytes that are no UTF-8 in an argument break nothing, in what is asked, kept, and said of it."""
    odd = "caf\udce9"
    claim = tally.remember(odd)
    tally.json("recall", odd)
    tally.json("retract", claim, "--because", odd)
    assert tally.sound()
    for command in (["brief", "--holder", odd], ["quote", odd, "--session", odd], ["ingest", odd]):
        done = tally_in_a_process(tally, *command)
        assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)


def test_names_that_would_speak_to_the_terminal(tally: Tally) -> None:
    """cli.md, EVID.12: a file's name breaks no line of what is said of it, and moves no cursor."""
    for odd in ("two\nlines", "\x1b[2Jgone", "right\u202eleft", "a\u2028b"):
        (tally.folder / odd).write_text("Dear diary\n")
        done = tally("ingest", tally.folder / odd)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert done.err[:-1].isprintable()
        assert odd.split()[-1][-4:] in done.err
