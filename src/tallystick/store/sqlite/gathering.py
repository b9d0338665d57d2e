"""Rows of views that are written in runs, and the questions of the fold that they answer before they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tallystick.beliefs import ClaimRow, Closing, Ending, Epoch, Row, Version


class Gathered:
    """Rows that wait to be written together, and what they say of the claims they are about."""

    def __init__(self) -> None:
        self.claims: dict[int, ClaimRow] = {}
        self.opened: dict[int, Version] = {}
        """Claim → its first version."""
        self.later: list[Version] = []
        self.closed: dict[int, int] = {}
        """Claim → the entry that closes the version of it that is open in the tables."""
        self.changes: list[tuple[int, int, int]] = []
        """(seq, claim, 1 or -1): what is held more or less, first versions aside."""
        self.others: dict[type, list[Any]] = {}
        self.endings: list[Ending] = []
        self.epochs: list[Epoch] = []
        self.texts: list[tuple[int, str]] = []
        self.size = 0
        """Rows and texts taken."""
        self._open: dict[int, tuple[Version, int] | None] = {}
        """Claim → its version that is open and the place of that in ``later``, -1 for a first one; those that were touched."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return not self.size

    def take(self, rows: Sequence[Row], texts: Sequence[tuple[int, str]]) -> None:
        """Gather rows, in order, and ``(claim, text)`` for the search index."""
        self.size += len(rows) + len(texts)
        self.texts.extend(texts)
        claims, opened, others = self.claims, self.opened, self.others
        row: Any
        for row in rows:
            kind = type(row)
            if kind is ClaimRow:
                claims[row[0]] = row
            elif kind is Version:
                if row[0] == row[1]:
                    opened[row[0]] = row
                else:
                    self._reopen(row)
            elif kind is Closing:
                self._close(*row)
            elif kind is Ending:
                self.endings.append(row)
            elif kind is Epoch:
                self.epochs.append(row)
            elif kind in others:
                others[kind].append(row)
            else:
                others[kind] = [row]

    def _reopen(self, row: Version) -> None:
        self._open[row.claim] = (row, len(self.later))
        self.later.append(row)
        self.changes.append((row.tx_from, row.claim, 1))

    def _close(self, claim: int, seq: int) -> None:
        row, place = self._opening(claim)
        if row is None:
            self.closed[claim] = seq
        elif place < 0:
            self.opened[claim] = row._replace(tx_to=seq)
        else:
            self.later[place] = row._replace(tx_to=seq)
        self._open[claim] = None
        self.changes.append((seq, claim, -1))

    def _opening(self, claim: int) -> tuple[Version | None, int]:
        if claim in self._open:
            return self._open[claim] or (None, -1)
        return self.opened.get(claim), -1

    def knows(self, claim: int) -> bool:
        """Whether the version that is open is among what waits, or none is."""
        return claim in self._open or claim in self.opened

    def open_version(self, claim: int) -> Version | None:
        """The version of a claim that is open, of one that is known."""
        return self._opening(claim)[0]
