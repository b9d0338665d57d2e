"""The head kept outside: written in place, read whole or not at all (TRAIL.8)."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.entry import Head, LogName
from tallystick.store.outside import KnownHead, OutsideFolder

TRAIL = "0" * 32
heads = st.builds(Head, st.integers(0, 2**53 - 1), st.binary(min_size=32, max_size=32), st.just(0), st.just(0))


@contextmanager
def _new_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        yield Path(folder)


def _file(folder: Path) -> Path:
    return folder / TRAIL / "memory.head"


@given(st.lists(heads, min_size=1, max_size=5))
def test_trail_8_the_head_written_last_is_the_one_that_is_read(written: list[Head]) -> None:
    with _new_folder() as folder:
        outside = OutsideFolder(folder)
        for head in written:
            outside.write_head(TRAIL, LogName.MEMORY, head)
            assert outside.read_head(TRAIL, LogName.MEMORY) == KnownHead(head.size, head.root)
        assert outside.read_head(TRAIL, LogName.ACCESS) is None


@given(old=heads, new=heads, cut=st.integers(1, 98))
def test_trail_8_a_head_half_written_is_never_taken_for_one(old: Head, new: Head, cut: int) -> None:
    with _new_folder() as folder:
        outside = OutsideFolder(folder)
        outside.write_head(TRAIL, LogName.MEMORY, old)
        before = _file(folder).read_bytes()
        outside.write_head(TRAIL, LogName.MEMORY, new)
        after = _file(folder).read_bytes()
        assert len(before) == len(after)
        half = after[:cut] + before[cut:]
        _file(folder).write_bytes(half)
        whole = {before: old, after: new}.get(half)
        assert outside.read_head(TRAIL, LogName.MEMORY) == (whole and KnownHead(whole.size, whole.root))


def test_trail_8_a_reader_sees_one_head_or_another_while_they_are_written(tmp_path: Path) -> None:
    outside = OutsideFolder(tmp_path)
    every = [Head(10**n, bytes([n]) * 32, 0, 0) for n in range(16)]
    outside.write_head(TRAIL, LogName.MEMORY, every[0])

    def write() -> None:
        for head in every * 100:
            outside.write_head(TRAIL, LogName.MEMORY, head)

    writer = Thread(target=write)
    writer.start()
    seen = {outside.read_head(TRAIL, LogName.MEMORY) for _ in range(500)}
    writer.join()
    assert seen <= {KnownHead(head.size, head.root) for head in every}
