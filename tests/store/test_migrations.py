"""Trails that earlier releases wrote open, say what they said, and have the shape of a new one afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import apsw
import pytest

from tallystick.errors import TrailUnreadable, TrailUnwritable
from tallystick.model.entry import LogName
from tallystick.store.protocol import Selection
from tallystick.store.sqlite import SqliteStore
from tallystick.store.sqlite.statements import schema
from tallystick.store.sqlite.store import SCHEMA_VERSION, _schema_of
from tallystick.testing.faulty_disk import FaultyDisk
from tallystick.testing.store_contract import said
from tallystick.trail.verifying import verify_log
from tests.store.places import on_disk

WRITTEN = Path(__file__).parent / "written"
FORMATS = sorted(path.stem for path in WRITTEN.glob("format-*.zip"))


@pytest.fixture(params=FORMATS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A trail of an earlier release, with what was outside it."""
    with zipfile.ZipFile(WRITTEN / f"{request.param}.zip") as archive:
        archive.extractall(tmp_path)
    return tmp_path


def _answers(folder: Path) -> dict[str, Any]:
    answers: dict[str, Any] = json.loads((folder / "answers.json").read_text())
    return answers


def _version(folder: Path, log: str = "memory") -> int:
    database = apsw.Connection(str(folder / "trail" / f"{log}.db"))
    found = int(database.execute("PRAGMA user_version").get)
    database.close()
    return found


def test_every_earlier_format_is_kept() -> None:
    """Each format before this one has a trail here."""
    assert [f"format-{n}" for n in range(1, SCHEMA_VERSION)] == FORMATS


def test_it_says_what_it_said(folder: Path) -> None:
    """TIME.3: size, root, and every belief at every point are those that the release that wrote it gave."""
    trail = on_disk(folder)
    expected = _answers(folder)
    with trail.reading() as rows:
        assert (rows.head().size, rows.head().root.hex()) == (expected.pop("size"), expected.pop("root"))
        for seq, beliefs in expected.items():
            seen = [
                [each.row.claim, each.row.kind, each.text, each.derivation, each.outcome, each.reason, each.said_at,
                 [list(interval) for interval in each.version.valid]]
                for each in rows.believed(Selection(int(seq)))
            ]  # fmt: skip
            assert seen == beliefs, seq
            assert rows.count(Selection(int(seq))) == len(beliefs)
    for log in LogName:
        report = verify_log(trail, log)
        assert report.bad == ()
        assert report.checkpoint == ("none" if log is LogName.LEDGER else "matches")
    with trail.reading(LogName.ACCESS) as rows:
        assert any(rows.touches(claim) for claim in range(rows.head().size + 300))
    with trail.writing() as appender:
        said(appender, "and on it goes")
    trail.seal()
    assert verify_log(trail, LogName.MEMORY).bad == ()
    trail.store.close()


def test_it_has_the_shape_of_a_new_one(folder: Path) -> None:
    """All migrations together come to the schema that a new trail is made with."""
    store = SqliteStore(folder / "trail")
    with store.reading(LogName.MEMORY) as rows:
        assert rows.head().size
    store.close()
    fresh = apsw.Connection(":memory:")
    fresh.execute(schema())
    migrated = apsw.Connection(str(folder / "trail" / "memory.db"))
    assert _schema_of(migrated) == _schema_of(fresh)
    assert _version(folder) == SCHEMA_VERSION
    migrated.close()


def test_two_at_once(folder: Path) -> None:
    """Two processes that open it at once: one brings it up to date, the other waits, and both read it."""
    code = (
        "import sys; from pathlib import Path; from tests.store.places import on_disk\n"
        "trail = on_disk(Path(sys.argv[1]))\n"
        "with trail.reading() as rows: print(rows.head().size)"
    )
    root = Path(__file__).parents[2]
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, cwd=root) for _ in range(3)
    ]
    told = [process.communicate(timeout=60)[0] for process in started]
    assert told == [b"%d\n" % _answers(folder)["size"]] * 3


def test_a_disk_that_is_full_leaves_it_as_it_was(folder: Path) -> None:
    """TRAIL.5: what stops a migration halfway leaves the earlier format whole, and the next opening does it."""
    before = _version(folder)
    disk = FaultyDisk()
    disk.fail(20, "full", stays=True)
    store = SqliteStore(folder / "trail", vfs=disk.name)
    with pytest.raises(TrailUnwritable, match="full"), store.reading(LogName.MEMORY):
        pass
    assert disk.failed
    store.close()
    disk.mend()
    assert _version(folder) == before
    trail = on_disk(folder)
    assert verify_log(trail, LogName.MEMORY).bad == ()
    trail.store.close()


def test_one_that_is_damaged_is_refused(folder: Path) -> None:
    """TRAIL.7: an entry that cannot be read stops a migration; the message names the file, and nothing is changed."""
    database = apsw.Connection(str(folder / "trail" / "memory.db"))
    database.execute("DROP TRIGGER entry_keeps; UPDATE entry SET canon = x'00' WHERE seq > 0")
    database.close()
    store = SqliteStore(folder / "trail")
    with pytest.raises(TrailUnreadable, match=r"memory\.db: cannot be brought"), store.reading(LogName.MEMORY):
        pass
    store.close()
    assert _version(folder) < SCHEMA_VERSION
