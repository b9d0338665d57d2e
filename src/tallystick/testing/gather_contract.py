"""What an adapter must hold to whose sessions are gathered from a place, as a test class to inherit (EVID.1-4, 9, 12).

::

    class TestMyHarnessPlaces(GatherContract):
        adapter = MY_HARNESS

        def place(self, folder): ...       # write a small place of the harness, two sessions or more; give a file of it
        def grown(self, file): ...         # add a message to one of its sessions

What one session's document is read as is for ``ReaderContract`` to ask.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from tallystick.errors import TallyError
from tallystick.transcripts.protocol import FileState, Gatherer, RawRecord
from tallystick.transcripts.sources import adapter_for
from tallystick.transcripts.view import DiskView


class GatherContract(ABC):
    """Inherit, set ``adapter``, and say how a place is made and how it grows."""

    adapter: Gatherer

    @abstractmethod
    def place(self, folder: Path) -> Path:
        """Write a place of the harness below ``folder``, which is empty, and give one file of it that is recognised."""

    @abstractmethod
    def grown(self, file: Path) -> None:
        """Add something to exactly one session of the place, as the harness would."""

    def members(self, file: Path) -> dict[str, tuple[FileState, bytes]]:
        """Name → (state, document) of the sessions, in order."""
        with DiskView() as view:
            found = list(self.adapter.gather(view, self.adapter.anchor(file.as_posix())))
            assert len({each.name for each in found}) == len(found)
            return {each.name: (each.state, each.load()) for each in found}

    def _error(self, file: Path) -> str:
        """What is said of a place that cannot be read; the file's own name where it can."""
        try:
            self.members(file)
        except TallyError as error:
            return str(error)
        return str(file)

    def test_recognised_and_gathered(self, tmp_path: Path) -> None:
        """EVID.12: a file of it is recognised, its anchor is a path around it, and its sessions have events and one id each."""
        file = self.place(tmp_path)
        assert adapter_for(file, [self.adapter]) is self.adapter
        anchor = Path(self.adapter.anchor(file.as_posix()))
        assert anchor in (file, *file.parents)
        assert Path(self.adapter.anchor(anchor.as_posix() if anchor == file else file.as_posix())) == anchor
        ids = []
        for name, (_, data) in self.members(file).items():
            reader = self.adapter.reader(name)
            assert list(reader.read([RawRecord(1, 0, data)])), name
            ids.append((reader.facts.native_id, reader.facts.thread))
            assert reader.facts.harness == self.adapter.name
            assert reader.facts.native_id, name
        assert ids
        assert len(set(ids)) == len(ids)

    def test_gathered_twice_it_is_the_same(self, tmp_path: Path) -> None:
        """EVID.1: the same place, the same sessions in the same order with the same bytes."""
        file = self.place(tmp_path)
        first, second = self.members(file), self.members(file)
        assert list(first) == list(second)
        assert first == second

    def test_what_grew_has_another_state(self, tmp_path: Path) -> None:
        """EVID.4: a session whose document changed has another state, and its document begins with no other events."""
        file = self.place(tmp_path)
        before = self.members(file)
        self.grown(file)
        after = self.members(file)
        changed = [name for name in after if after[name] != before.get(name)]
        assert len(changed) == 1, changed
        for name in changed:
            assert name not in before or after[name][0] != before[name][0]

    def test_a_damaged_place_is_a_clear_error(self, tmp_path: Path) -> None:
        """EVID.2: whatever a file is cut to, gathering ends, with sessions or with an error of ours that names it."""
        file = self.place(tmp_path)
        data = file.read_bytes()
        for size in sorted({0, 1, 16, 100, len(data) // 3, len(data) // 2, len(data) - 1}):
            file.write_bytes(data[:size])
            for beside in file.parent.glob(f"{file.name}-*"):
                beside.unlink()
            assert str(tmp_path) in self._error(file), size
