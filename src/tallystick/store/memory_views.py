"""The views of the reference store, and the questions of the fold over them, as plain dictionaries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from tallystick.beliefs import ClaimRow, Closing, Effects, Ending, Epoch, Link, Name, Touch, VerdictRow, Version
from tallystick.model.temporal import END_OF_TIME


class Views:
    """The rows that ``beliefs.effects`` made, and the questions of ``beliefs.Held`` over them."""

    def __init__(self) -> None:
        self.claims: dict[int, ClaimRow] = {}
        self.versions_of: dict[int, list[Version]] = defaultdict(list)
        self.changed: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.verdicts_of: dict[int, dict[tuple[str, int], VerdictRow]] = defaultdict(dict)
        self.touches_of: dict[int, list[Touch]] = defaultdict(list)
        self.link_rows: list[Link] = []
        self.name_rows: list[Name] = []
        self.epochs: list[Epoch] = []

    def add(self, effects: Effects) -> None:
        """Keep the rows of one batch, in order."""
        for row in effects:
            if type(row) is VerdictRow:
                self.verdicts_of[row.claim][row.axis, row.seq] = row
            elif type(row) is Version:
                self._open(row)
            elif type(row) is ClaimRow:
                self.claims[row.claim] = row
            elif type(row) is Closing:
                self._close(row)
            elif type(row) is Touch:
                self.touches_of[row.claim].append(row)
            elif type(row) is Link:
                self.link_rows.append(row)
            elif type(row) is Ending:
                self._end(row)
            elif type(row) is Name:
                self.name_rows.append(row)
            elif type(row) is Epoch:
                self.epochs.append(row._replace(epoch=len(self.epochs) + 1))

    def _open(self, row: Version) -> None:
        self.versions_of[row.claim].append(row)
        if row.tx_from != row.claim:
            self.changed[row.tx_from].append((row.claim, len(self.versions_of[row.claim]) - 1))

    def _close(self, row: Closing) -> None:
        rows = self.versions_of[row.claim]
        rows[-1] = rows[-1]._replace(tx_to=row.seq)
        self.changed[row.seq].append((row.claim, len(rows) - 1))

    def _end(self, row: Ending) -> None:
        self.link_rows = [
            link._replace(tx_to=row.tx_to) if link.seq == row.seq and link.tx_to == END_OF_TIME else link
            for link in self.link_rows
        ]
        self.name_rows = [
            name._replace(tx_to=row.tx_to) if name.seq == row.seq and _can_end(name) else name
            for name in self.name_rows
        ]

    def made(self, seq: int) -> list[Link | Name]:
        """See ``beliefs.Held``."""
        links = [link for link in self.link_rows if link.seq == seq]
        return [*links, *(name for name in self.name_rows if name.seq == seq and name.what == "attribute")]

    def verdicts(self, claim: int) -> list[VerdictRow]:
        """See ``beliefs.Held``."""
        by_key = self.verdicts_of.get(claim, {})
        return [by_key[key] for key in sorted(by_key)]

    def refold(self, claims: Collection[int], effects: Effects) -> None:
        """See ``protocol.Writing``."""
        for claim in claims:
            self.verdicts_of.pop(claim, None)
        for row in effects:
            if isinstance(row, ClaimRow):
                self.claims[row.claim] = row
            elif isinstance(row, VerdictRow):
                self.verdicts_of[row.claim][row.axis, row.seq] = row
            elif isinstance(row, Version):
                mine = self.versions_of[row.claim]
                mine[:] = [one._replace(valid=row.valid) if one.tx_from == row.tx_from else one for one in mine]
            elif isinstance(row, Name):
                rows = self.name_rows
                rows[:] = [
                    row._replace(tx_to=name.tx_to) if (name.seq, name.what) == (row.seq, row.what) else name
                    for name in rows
                ]
            elif isinstance(row, Touch):
                touches = self.touches_of[row.claim]
                touches[:] = [row if touch.seq == row.seq else touch for touch in touches]

    def open_version(self, claim: int) -> Version | None:
        """See ``beliefs.Held``."""
        rows = self.versions_of.get(claim)
        return rows[-1] if rows and rows[-1].tx_to == END_OF_TIME else None

    def claim_row(self, claim: int) -> ClaimRow | None:
        """See ``beliefs.Held``."""
        return self.claims.get(claim)

    def versions_changed(self, seq: int) -> list[Version]:
        """See ``beliefs.Held``."""
        places = set(self.changed.get(seq, ()))
        if seq in self.claims:
            places.add((seq, 0))
        return [self.versions_of[claim][place] for claim, place in sorted(places)]

    def rows(self, view: str) -> Iterator[tuple[object, ...]]:
        """Every row of a view in order of its key."""
        if view == "claim":
            yield from (self.claims[claim] for claim in sorted(self.claims))
        elif view == "version":
            for claim in sorted(self.versions_of):
                yield from self.versions_of[claim]
        elif view == "verdict":
            for claim in sorted(self.verdicts_of):
                by_key = self.verdicts_of[claim]
                yield from (by_key[key] for key in sorted(by_key))
        elif view == "touch":
            for claim in sorted(self.touches_of):
                yield from sorted(self.touches_of[claim])
        else:
            kept: dict[str, Sequence[tuple[Any, ...]]]
            kept = {"link": self.link_rows, "name": self.name_rows, "epoch": self.epochs}
            yield from sorted(kept[view])


def _can_end(name: Name) -> bool:
    return name.what == "attribute" and name.tx_to == END_OF_TIME
