"""The disk fails at every single write in turn, or the process ends there, and the trail is none the worse (TRAIL.5)."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tallystick.errors import MachineError, TrailUnwritable
from tallystick.model.entry import Head, LogName
from tallystick.store.protocol import Selection
from tallystick.testing.faulty_disk import FAULTS, FaultyDisk
from tallystick.testing.store_contract import said
from tallystick.trail import Trail
from tallystick.workflows.amend import retract
from tallystick.workflows.cite import cite
from tallystick.workflows.corrections import affected_answers, mark_corrected
from tallystick.workflows.recall import recall
from tallystick.workflows.scoping import Scope
from tests.store.places import believed, on_disk, reports, take_in, write_session

# The engine goes on after some of the faults, such as one in a checkpoint; the driver reports those to nobody in particular.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def _append(trail: Trail, folder: Path) -> None:
    with trail.writing() as appender:
        for n in range(30):
            said(appender, f"claim {n} of the batch")


def _create(trail: Trail, folder: Path) -> None:
    with trail.writing() as appender:
        said(appender, "the first")


def _ask(trail: Trail, folder: Path) -> None:
    recall(trail, "the first", Scope(("*",)), as_of=None, limit=5)


def _first(trail: Trail) -> int:
    with trail.reading() as rows:
        return rows.names("actor")[0].seq + 1


def _cite(trail: Trail, folder: Path) -> None:
    cite(trail, "It is the first.", [_first(trail)], [])


def _correct(trail: Trail, folder: Path) -> None:
    retract(trail, _first(trail), "it was not")


def _ingest(trail: Trail, folder: Path) -> None:
    take_in(trail, folder / "session.jsonl")


class Doing(NamedTuple):
    """Something that writes to a trail, on top of what was there before."""

    name: str
    before: tuple[Callable[[Trail, Path], None], ...]
    run: Callable[[Trail, Path], None]
    stride: int = 1
    """Of the moments, every how-many-th is tried in a test run."""


DOINGS = (
    Doing("creation", (), _create, 4),
    Doing("append", (_create,), _append, 2),
    Doing("recall", (_create,), _ask, 3),
    Doing("cite", (_create, _ask), _cite, 3),
    Doing("correct", (_create, _ask, _cite), _correct, 4),
    Doing("ingest", (_create,), _ingest, 5),
)


@pytest.fixture(params=DOINGS, ids=lambda doing: doing.name)
def doing(request: pytest.FixtureRequest) -> Doing:
    found = request.param
    assert isinstance(found, Doing)
    return found


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """In memory where there is a file system for it: hundreds of trails are made, and syncing is not what is tested."""
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def disk() -> Iterator[FaultyDisk]:
    made = FaultyDisk()
    yield made
    made.unregister()


def _prepared(tmp_path: Path, doing: Doing) -> Path:
    folder = tmp_path / "prepared"
    folder.mkdir()
    write_session(folder / "session.jsonl")
    trail = on_disk(folder, seed=1)
    for step in doing.before:
        step(trail, folder)
    trail.store.close()
    return folder


def _copied(prepared: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(prepared, copy)
    return copy


def _sizes(folder: Path) -> dict[LogName, int]:
    found = reports(folder)
    assert [report.bad for report in found.values()] == [(), (), ()]
    return {log: report.size for log, report in found.items()}


def _once_undisturbed(
    prepared: Path, tmp_path: Path, doing: Doing
) -> tuple[int, dict[LogName, int], list[tuple[str, str, str, str]]]:
    """(operations that change the disk, sizes after, what is believed after) when nothing fails."""
    folder = _copied(prepared, tmp_path)
    disk = FaultyDisk()
    trail = on_disk(folder, vfs=disk.name)
    doing.run(trail, folder)
    steps = disk.seen
    trail.store.close()
    disk.unregister()
    return steps, _sizes(folder), believed(folder)


def test_every_write_fails_once(tmp_path: Path, doing: Doing, disk: FaultyDisk) -> None:
    """TRAIL.5: a full, read-only or failing disk at any write gives one line naming the file; the trail stands at a valid
    size, and the same again completes, in the same process and in a new one."""
    prepared = _prepared(tmp_path, doing)
    before = _sizes(prepared)
    steps, after, beliefs = _once_undisturbed(prepared, tmp_path, doing)
    assert steps > 3
    failures = 0
    for at in range(1, steps + 1, doing.stride):
        fault, stays = FAULTS[at % len(FAULTS)], at % 2 == 0
        folder = _copied(prepared, tmp_path)
        trail = on_disk(folder, vfs=disk.name, seed=at)
        disk.fail(at, fault, stays=stays)
        message = _refusal(doing, trail, folder)
        if message:
            failures += 1
            assert str(folder) in message
            assert ".db" in message
            assert "\n" not in message
        disk.mend()
        _holds_and_completes(folder, doing, before, after, beliefs, f"{fault} at {at} of {steps}")
        doing.run(trail, folder)
        trail.store.close()
        assert [report.bad for report in reports(folder).values()] == [(), (), ()]
    assert failures > steps // doing.stride // 2


def _refusal(doing: Doing, trail: Trail, folder: Path) -> str:
    """The message of the error, if there was one, or the note that the second log could not be written after the first."""
    try:
        doing.run(trail, folder)
    except MachineError as error:
        return str(error)
    return next((notice for notice in trail.notices if "not marked yet" in notice), "")


def test_the_process_ends_at_every_write(tmp_path: Path, doing: Doing) -> None:
    """TRAIL.5: a process that ends in the middle of any write leaves a trail that opens, is sound, and goes on."""
    prepared = _prepared(tmp_path, doing)
    before = _sizes(prepared)
    steps, after, beliefs = _once_undisturbed(prepared, tmp_path, doing)
    stopped = 0
    for at in range(1, steps + 1, doing.stride * 2):
        folder = _copied(prepared, tmp_path)
        stopped += _stops(folder, doing, at)
        _holds_and_completes(folder, doing, before, after, beliefs, f"stopped at {at} of {steps}")
    assert stopped > steps // (doing.stride * 2) // 2


def _stops(folder: Path, doing: Doing, at: int) -> bool:
    child = os.fork()
    if child == 0:
        try:
            disk = FaultyDisk()
            trail = on_disk(folder, vfs=disk.name, seed=at)
            disk.fail(at, "stop")
            doing.run(trail, folder)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def test_what_was_acknowledged_survives_a_power_cut(tmp_path: Path) -> None:
    """TRAIL.5: the power goes at any write and every write that was not synced is lost; each acknowledged append is there."""
    prepared = _prepared(tmp_path, DOINGS[1])
    before = _sizes(prepared)[LogName.MEMORY]
    cut = 0
    for at in range(1, 60, 2):
        folder = _copied(prepared, tmp_path)
        child = os.fork()
        if child == 0:
            _append_until_the_power_goes(folder, at)
        _, status = os.waitpid(child, 0)
        cut += os.WIFSIGNALED(status)
        acknowledged = (folder / "acknowledged").stat().st_size
        size = _sizes(folder)[LogName.MEMORY]
        assert before + acknowledged <= size <= before + acknowledged + 1, at
    assert cut > 20


def _append_until_the_power_goes(folder: Path, at: int) -> None:
    """Never returns. One byte is written for each append that was acknowledged."""
    try:
        disk = FaultyDisk()
        trail = on_disk(folder, vfs=disk.name, seed=at)
        disk.fail(at, "power")
        with (folder / "acknowledged").open("wb", buffering=0) as told:
            for n in range(4):
                with trail.writing() as appender:
                    said(appender, f"claim {n}")
                told.write(b".")
    finally:
        os._exit(0)


def _holds_and_completes(
    folder: Path,
    doing: Doing,
    before: dict[LogName, int],
    after: dict[LogName, int],
    beliefs: list[tuple[str, str, str, str]],
    when: str,
) -> None:
    sizes = _sizes(folder)
    for log, size in sizes.items():
        assert before[log] <= size <= after[log], when
        # One transaction each but for ingest and recall, which write the trail's own first entries before.
        # What is corrected is marked in a second one, of the other log.
        assert doing.run in (_ingest, _ask) or size in (before[log], after[log]), when
    again = on_disk(folder, seed=99)
    doing.run(again, folder)
    again.store.close()
    assert {log: size >= after[log] for log, size in _sizes(folder).items()} == dict.fromkeys(LogName, True), when
    now = believed(folder)
    assert sorted(set(now)) == sorted(set(beliefs)), when
    assert doing.run is _append or now == beliefs or doing.run is _create, when


def test_a_recall_that_cannot_be_logged_gives_no_answer(tmp_path: Path, disk: FaultyDisk) -> None:
    """ACCESS.1: where the access log cannot be written the recall fails, and the memory log is read without harm."""
    folder = _prepared(tmp_path, DOINGS[2])
    trail = on_disk(folder, vfs=disk.name)
    with trail.reading() as rows:
        size = rows.head().size
    disk.fail(1, "full", stays=True)
    with pytest.raises(MachineError, match=r"access\.db: the disk is full"):
        _ask(trail, folder)
    with trail.reading() as rows:
        assert len(rows.believed(Selection(size))) == 1
    disk.mend()
    trail.store.close()
    assert _sizes(folder)[LogName.ACCESS] == 0


def test_an_answer_that_cannot_be_logged_is_bound_to_nothing(tmp_path: Path, disk: FaultyDisk) -> None:
    """ACCESS.1, 2: where the access log cannot be written, neither the answer nor what it ignored is half kept."""
    folder = _prepared(tmp_path, DOINGS[3])
    before = _sizes(folder)
    trail = on_disk(folder, vfs=disk.name)
    claim = _first(trail)
    disk.fail(1, "full", stays=True)
    with pytest.raises(MachineError, match=r"access\.db: the disk is full"):
        cite(trail, "It is the first.", [claim], [])
    disk.mend()
    assert _sizes(folder) == before
    _cite(trail, folder)
    trail.store.close()
    assert _sizes(folder) == {**before, LogName.ACCESS: before[LogName.ACCESS] + 1}


def test_the_marks_of_a_correction_come_later_where_the_disk_is_full(tmp_path: Path, disk: FaultyDisk) -> None:
    """ACCESS.2: what was corrected stays corrected, the answers are told at once, and marked as soon as that can be written."""
    folder = _prepared(tmp_path, DOINGS[4])
    steps, whole, _ = _once_undisturbed(folder, tmp_path, DOINGS[4])
    waiting = 0
    for at in range(1, steps + 1, 2):
        copy = _copied(folder, tmp_path)
        trail = on_disk(copy, vfs=disk.name)
        disk.fail(at, "full", stays=True)
        message = _refusal(DOINGS[4], trail, copy)
        disk.mend()
        told = affected_answers(trail, _first(trail))
        assert bool(told) == (believed(copy) == []), (at, message)
        if "not marked yet" in message:
            waiting += 1
            mark_corrected(trail)
            assert _sizes(copy) == whole
        trail.store.close()
    assert waiting


def test_a_head_that_cannot_be_written_down_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TRAIL.5, 8: where the place outside fails after a commit, what was committed stays and the next command goes on."""
    folder = _prepared(tmp_path, DOINGS[1])
    before = _sizes(folder)[LogName.MEMORY]
    trail = on_disk(folder, seed=5)

    class Full(type(trail.outside)):  # type: ignore[misc]
        def write_head(self, trail: str, log: LogName, head: Head) -> None:
            raise MachineError(f"{self.location}: No space left on device")

    trail.outside = Full(folder / "state")
    with pytest.raises(MachineError, match="No space left"):
        _append(trail, folder)
    trail.store.close()
    assert _sizes(folder)[LogName.MEMORY] == before + 30
    again = on_disk(folder, seed=6)
    _append(again, folder)
    again.store.close()
    assert _sizes(folder)[LogName.MEMORY] == before + 60


def test_a_place_that_cannot_be_noted_fails_no_write(tmp_path: Path) -> None:
    """TRAIL.5, 8: where a trail lies is noted after the commit; where that fails the write stands, and the next one notes it."""
    trail = on_disk(tmp_path)

    class Full(type(trail.outside)):  # type: ignore[misc]
        def note_at(self, location: str, trail: str) -> None:
            raise TrailUnwritable(f"{self.location}: No space left on device")

    noting = trail.outside
    trail.outside = Full(tmp_path / "state")
    with trail.writing() as appender:
        said(appender, "kept")
    assert trail.id
    assert noting.known_at(trail.store.location) == ""
    trail.outside = noting
    with trail.writing() as appender:
        said(appender, "and noted")
    assert noting.known_at(trail.store.location) == trail.id
    trail.store.close()
    assert reports(tmp_path)[LogName.MEMORY].bad == ()


def test_a_log_that_was_only_begun_reads_as_empty(tmp_path: Path) -> None:
    """TRAIL.5: a process that ended between making the file and its tables left nothing; anyone else's tables are refused."""
    import apsw

    for begun in ("", "PRAGMA journal_mode = WAL"):
        folder = tmp_path / str(len(begun))
        (folder / "trail").mkdir(parents=True)
        database = apsw.Connection(str(folder / "trail" / "memory.db"))
        database.execute(begun)
        assert _sizes(folder)[LogName.MEMORY] == 0
        database.close()
        trail = on_disk(folder)
        _create(trail, folder)
        trail.store.close()
        assert _sizes(folder)[LogName.MEMORY] == 2
    foreign = tmp_path / "foreign" / "trail"
    foreign.mkdir(parents=True)
    database = apsw.Connection(str(foreign / "memory.db"))
    database.execute("CREATE TABLE notes (text)")
    database.close()
    trail = on_disk(foreign.parent)
    with pytest.raises(MachineError, match="foreign database"):
        _create(trail, foreign.parent)
    with pytest.raises(MachineError, match="foreign database"), trail.reading():
        pass
    trail.store.close()
