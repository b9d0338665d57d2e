"""Files that were compressed, and what a folder gives (EVID.2, 4; pitfall 8)."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard

from tallystick.transcripts.lines import LineSource
from tallystick.transcripts.sources import found_files, opened, path_of, source_of

LINES = b"".join(b'{"n":%d}\n' % n for n in range(40_000))


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """Lines in two frames, as a harness that appends to a compressed file writes them."""
    path = tmp_path / "rollout.jsonl.zst"
    half = LINES.index(b"\n", len(LINES) // 2) + 1
    path.write_bytes(b"".join(zstandard.compress(each) for each in (LINES[:half], LINES[half:])))
    return path


def test_compressed_lines_are_read(packed: Path) -> None:
    """Pitfall 8: all of them, from any line on, as if they were not compressed."""
    with opened(packed) as stream:
        records = list(LineSource(stream))
    assert b"\n".join(record.data for record in records) + b"\n" == LINES
    with opened(packed) as stream:
        rest = list(LineSource(stream, offset=records[30_000].offset, line=30_001))
    assert rest == records[30_000:]


def test_a_torn_or_damaged_compressed_file(packed: Path) -> None:
    """Torn, what is there is read; damaged, the error names what it is."""
    data = packed.read_bytes()
    packed.write_bytes(data[: len(data) // 2])
    with opened(packed) as stream:
        whole = [record.data for record in LineSource(stream)]
    assert LINES.startswith(b"\n".join(whole))
    packed.write_bytes(b"no frame")
    with opened(packed) as stream, pytest.raises(OSError, match="damaged zstd data"):
        stream.read(10)


def test_the_plain_file_wins(packed: Path, tmp_path: Path) -> None:
    """Pitfall 8: of a file that is there both ways, the one that is not compressed is read."""
    assert found_files([tmp_path]) == ([packed], [])
    plain = tmp_path / "rollout.jsonl"
    plain.write_bytes(LINES)
    assert found_files([tmp_path]) == ([plain], [])


def test_the_digest_is_of_what_was_compressed(packed: Path, tmp_path: Path) -> None:
    """A file that is compressed later is still known to hold what was read of it."""
    plain = tmp_path / "rollout.jsonl"
    plain.write_bytes(LINES)
    digests = [source_of(path).digest(200_000, lambda data: data[-16:]) for path in (plain, packed)]
    assert digests[0] == digests[1]


def test_a_path_with_a_hash_sign(tmp_path: Path) -> None:
    """What stands behind ``#`` is a session's name, unless there is such a file."""
    there = tmp_path / "c#.jsonl"
    assert path_of(f"{there}#ses_1") == str(there)
    assert path_of(str(there)) == str(tmp_path / "c")
    there.write_bytes(b"")
    assert path_of(str(there)) == str(there)
    assert path_of("/plain.jsonl") == "/plain.jsonl"
