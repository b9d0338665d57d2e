"""What a later message of the session takes back: the things it says were removed, put back or replaced by others."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence

from tallystick.extractors.rules_statements import Statement

MAX_MESSAGES = 4_096
"""Messages whose order in the session is remembered, the last."""
MAX_NAMES = 512
"""Names that are remembered as taken back, the last."""

_TAKES_BACK = re.compile(
    r"\b(?:instead of|rather than|in place of|replac(?:ed|es)|remov(?:ed|es)|delet(?:ed|es)|revert(?:ed|s)|dropped|undid|"
    r"no longer (?:uses?|needs?|calls?|writes?)|au lieu de|plutôt que|supprim(?:é|ée|és|ées)|retir(?:é|ée|és|ées)|"
    r"remplac(?:é|ée|és|ées))[ :]+(?:(?!`)[\w'’-]+ ){0,2}`(?P<name>[^`\n]{3,120})`",
    re.IGNORECASE,
)
_TAKING_BACK = frozenset(
    "instead rather place replaced replaces removed removes deleted deletes reverted reverts dropped undid longer lieu plutôt "
    "supprimé supprimée supprimés supprimées retiré retirée retirés retirées remplacé remplacée remplacés remplacées".split()
)
_NAME = re.compile(r"`([^`\n]{3,120})`")


class Withdrawn:
    """What the messages of a session take back, and since when; bounded whatever the session's length."""

    def __init__(self) -> None:
        self._messages = 0
        self._places: OrderedDict[str, int] = OrderedDict()
        self._names: OrderedDict[str, int] = OrderedDict()

    def arrives(self, uid: str) -> None:
        """Take the next message of the session."""
        self._messages += 1
        self._places[uid] = self._messages
        if len(self._places) > MAX_MESSAGES:
            self._places.popitem(last=False)

    def add(self, spoken: Sequence[Statement], uid: str) -> None:
        """Remember what the message ``uid``, given as its statements, takes back."""
        for name in sorted(taken_back(spoken)):
            self._names.pop(name, None)
            self._names[name] = self._places.get(uid, 0)
            if len(self._names) > MAX_NAMES:
                self._names.popitem(last=False)

    def covers(self, sentence: str, uid: str) -> bool:
        """Whether a message after ``uid`` takes back a thing that ``sentence`` names."""
        place = self._places.get(uid)
        return place is not None and any(self._names.get(_bare(name), 0) > place for name in _NAME.findall(sentence))


def taken_back(spoken: Sequence[Statement]) -> set[str]:
    """The code names that a message says are gone or replaced."""
    found: set[str] = set()
    for statement in spoken:
        if _TAKING_BACK.isdisjoint(statement.words) or "`" not in statement.plain or statement.is_question:
            continue
        found.update(_bare(each.group("name")) for each in _TAKES_BACK.finditer(statement.plain))
    return found


def _bare(name: str) -> str:
    """``run(ctx)`` as ``run``, a path without the marks around it."""
    return name.split("(")[0].strip(" /*")
