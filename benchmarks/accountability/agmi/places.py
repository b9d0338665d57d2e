"""Where a trail is kept, as someone sees it who has the store itself at hand: rows, guards and copies, and no keys.

A store that is to be attacked has one class that implements ``Place``. What stands outside the trail (keys, heads,
checkpoints) is no part of a place: these attackers do not have it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

from tallystick.store.protocol import Store


class Row(NamedTuple):
    """An entry as it lies in the memory log's tables, with its parts."""

    seq: int
    """The place it lies at; ``canon`` may say another."""
    at: int
    canon: bytes
    leaf: bytes
    parts: tuple[tuple[str, bytes, bytes], ...]
    """(name, salt, body), in order of name."""


class Refused(Exception):
    """The engine itself refused an edit. The message is the engine's."""


class Place(Protocol):
    """One trail in one store, opened behind the back of tallystick. Nothing of tallystick has it open meanwhile.

    ``guards`` says whether what guards entries and parts in the engine stays while the edit is made; where it does not, it
    is put back afterwards word for word.
    """

    name: str
    """What the store is called in results."""

    def store(self) -> Store:
        """The store as tallystick opens it."""
        ...

    def rows(self) -> list[Row]:
        """The memory log as it lies there, in order of seq."""
        ...

    def put(self, row: Row, *, guards: bool) -> None:
        """Write an entry and its parts, in the place of what lies at its seq or as a new row; nothing else is touched.

        Raises:
            Refused: a guard stood in the way; nothing was changed.
        """
        ...

    def drop(self, seq: int, *, guards: bool) -> None:
        """Delete an entry and its parts. Raises ``Refused`` as ``put`` does."""
        ...

    def label(self, claim: int) -> str:
        """The origin of a claim, as the view says it."""
        ...

    def relabel(self, claim: int, origin: str, *, guards: bool) -> None:
        """Write the origin of a claim into the view, and nowhere else. Raises ``Refused`` as ``put`` does."""
        ...

    def copy(self, folder: Path) -> None:
        """A complete copy of everything that the store keeps of the trail, in a folder that is not there yet."""
        ...

    def put_back(self, folder: Path) -> None:
        """Replace everything that the store keeps of the trail by such a copy."""
        ...

    def clear(self) -> None:
        """Remove everything that the store keeps of the trail."""
        ...


MakePlace = Callable[[Path], Place]
"""A place over a folder that is not there yet."""


def fresh_folder() -> Path:
    """An empty folder for one run, in memory where the machine has such a place; whoever asked removes it."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="agmi-", dir=memory))
