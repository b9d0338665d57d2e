"""The suite's attacks through the API of a real trail: its adapter over sessions, ``remember`` and ``recall``.

A memory of the suite is one sentence that an agent notes with ``remember``, quoting a session. What the suite calls a channel
is how the sentence came to the agent, and the session shows it, as the harness would have written it:

- genuine: the person said it, and the agent quotes the person;
- external: a page that the agent fetched says it, and the agent quotes the page;
- laundered: a caller says that the person said it, and names a session in which nobody did;
- agent-laundered: the agent says it in words of its own, and quotes itself.

The suite's own item does not tell the first from the last: both have the person's label and a signature that holds. With
``pasted`` the adapter goes by the item alone, so that both stand in the person's own turn, as where a person pastes a page.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import closing
from typing import Any
from unittest import mock

from agmi.adapters.semantic_base import MemoryItem, Retrieved, SemanticMemoryAdapter
from agmi.attacks import memory_specific
from agmi.attacks.memory_specific import ALL_MEMORY_ATTACKS, TRUST_TAG, MemoryAttackResult
from agmi.signing import KEYRING

from benchmarks.accountability.agmi.outcomes import MISSED, REJECTED, REPORTED, Outcome
from benchmarks.accountability.agmi.places import MakePlace, fresh_folder
from benchmarks.accountability.agmi.sessions import write_session
from benchmarks.accountability.agmi.sqlite_place import SqlitePlace
from tallystick.errors import NeedsPersonsKey
from tallystick.model.claim import ClaimKind, Derivation
from tallystick.model.evidence import Origin
from tallystick.model.temporal import UNKNOWN_VALID_TIME, ValidTime
from tallystick.plugins import adapters
from tallystick.store.outside import OutsideFolder
from tallystick.testing.trails import SetClock
from tallystick.tokenizer import count_tokens
from tallystick.trail import Trail
from tallystick.workflows.amend import retract, revise, undo
from tallystick.workflows.recall import recall
from tallystick.workflows.remember import Remembered, Said, Tools, remember
from tallystick.workflows.scoping import Scope
from tallystick.workflows.sessions import read_session

EVERYTHING = "recall"
TRUSTED = "recall, the person's verbatim words alone"
"""Kept apart by two fields of every item, ``derivation`` and ``origin``, which no writer sets."""
PASTED = "recall, the person's verbatim words alone, agent-laundered words pasted by the person"
MOST = 200

_WHOSE = {"external": Origin.TOOL, "agent-laundered": Origin.ASSISTANT}
"""In whose turn of the session an attacker's sentence stands; a laundered one stands in nobody's."""


class RecallAdapter(SemanticMemoryAdapter):
    """A trail as an agent meets it. ``trusted`` keeps to what the person said verbatim."""

    name = "tallystick"

    def __init__(self, make_place: MakePlace = SqlitePlace, *, trusted: bool = False, pasted: bool = False) -> None:
        self._make_place = make_place
        self._trusted = trusted
        self._pasted = pasted
        self._folder = fresh_folder()
        self._trail: Trail | None = None
        self._planted: set[int] = set()
        self.served: set[tuple[str, str]] = set()
        """(derivation, origin) of whatever an attacker wrote and recall handed over."""

    def reset(self) -> None:
        """See ``SemanticMemoryAdapter``: another trail."""
        self.close()
        self._folder.mkdir()
        self._planted = set()
        self._trail = Trail(
            self._make_place(self._folder / "trail").store(),
            OutsideFolder(self._folder / "state"),
            clock=SetClock(),
            entropy=os.urandom,
        )

    def close(self) -> None:
        """See ``SemanticMemoryAdapter``."""
        if self._trail is not None:
            self._trail.store.close()
            self._trail = None
        shutil.rmtree(self._folder)

    def measured_on(self) -> str:
        """See ``SemanticMemoryAdapter``."""
        return PASTED if self._pasted else TRUSTED if self._trusted else EVERYTHING

    def add_memory(self, item: MemoryItem) -> None:
        """See ``SemanticMemoryAdapter``."""
        channel = item.metadata.get("channel", "genuine")
        signed = KEYRING.verify(item.user_id, item.source, item.text, item.signature)
        noted = self.note(item.text, item.user_id, "genuine" if self._pasted and signed else channel)
        if channel != "genuine":
            self._planted.add(noted.id)

    def note(self, text: str, user: str, channel: str) -> Remembered:
        """Have an agent of the user's note a sentence that came to it through a channel."""
        path = self._folder / "session.jsonl"
        said = "Good morning." if channel == "laundered" else text
        write_session(path, said, _WHOSE.get(channel, Origin.USER))
        session = read_session(path, adapters())
        claim = Said(text, ClaimKind.FACT, text, UNKNOWN_VALID_TIME)
        return remember(self.trail, claim, session, Tools(count_tokens, f"project:{user}", f"person:{user}"))

    @property
    def trail(self) -> Trail:
        """The trail since the last reset."""
        if self._trail is None:
            raise RuntimeError("no trail yet: reset first")
        return self._trail

    def retrieve(self, query: str, user_id: str, k: int = 5) -> list[Retrieved]:
        """See ``SemanticMemoryAdapter``."""
        return self._recalled(query, user_id, k, trusted=self._trusted)

    def retrieve_where(self, query: str, user_id: str, where: dict[str, str], k: int = 5) -> list[Retrieved]:
        """See ``SemanticMemoryAdapter``. A writer has no tag to set: what the suite tags is what the verifiers found.

        Raises:
            NotImplementedError: another filter than the suite's own.
        """
        if where != TRUST_TAG:
            raise NotImplementedError(f"no such filter: {where}")
        return self._recalled(query, user_id, k, trusted=True)

    def _recalled(self, query: str, user: str, k: int, *, trusted: bool) -> list[Retrieved]:
        scope = Scope(project=f"project:{user}", person=f"person:{user}")
        found = recall(self.trail, query, scope, as_of=None, limit=MOST if trusted else k)
        items = [each for each in found.items if not trusted or _is_the_persons(each[0].derivation, each[0].row.origin)]
        for belief, _ in items[:k]:
            if belief.row.claim in self._planted:
                self.served.add((belief.derivation, belief.row.origin))
        return [Retrieved(text=belief.text or "", user_id=user, score=score / 1e6) for belief, score in items[:k]]


def _is_the_persons(derivation: str, origin: str) -> bool:
    return derivation == Derivation.VERBATIM and origin == Origin.USER


def _with_its_channel(text: str, user_id: str, channel: str) -> MemoryItem:
    """The suite's write of an attacker, which also says by which channel."""
    item = _attacker_write(text, user_id, channel)
    item.metadata["channel"] = channel
    return item


_attacker_write: Callable[[str, str, str], MemoryItem] = memory_specific.attacker_write


def judged(attack: Callable[..., Any], *, trusted: bool = False, pasted: bool = False, mutate: bool = False) -> Outcome:
    """Run one attack of the suite and say what it came to.

    Raises:
        AssertionError: the suite could not take a verdict.
    """
    adapter = RecallAdapter(trusted=trusted, pasted=pasted)
    # The suite's item does not say by which channel it came, and a session would show it.
    with closing(adapter), mock.patch.object(memory_specific, "attacker_write", _with_its_channel):
        result: MemoryAttackResult = attack(mutate=mutate).run(adapter)
    if pasted and result.error:
        # A pasted memory passes without any tag, so the suite has nothing to compare with.
        return Outcome(result.attack, adapter.measured_on(), MISSED, result.error)
    assert not result.error, f"{result.attack}: {result.error}"
    if result.safe:
        return Outcome(result.attack, adapter.measured_on(), REJECTED, result.detail)
    unmarked = any(_is_the_persons(*marks) for marks in adapter.served)
    marks = ", ".join(sorted(f"{derivation} {origin}" for derivation, origin in adapter.served))
    return Outcome(
        result.attack,
        adapter.measured_on(),
        MISSED if unmarked else REPORTED,
        f"{result.detail}; handed over as {marks}",
    )


def run(*, trusted: bool = False, pasted: bool = False, mutate: bool = True) -> list[Outcome]:
    """Every attack in one way of reading; ``mutate`` also in the wordings by which the suite evades a check of content."""
    return [judged(attack, trusted=trusted, pasted=pasted, mutate=mutate) for attack in ALL_MEMORY_ATTACKS]


def overwriting() -> list[Outcome]:
    """The verbs that change what is held, used on what the person said; the suite only ever adds a memory."""
    adapter = RecallAdapter()
    adapter.reset()
    claim = adapter.note("The user's manager is Priya.", "victim", "genuine").id
    verbs: dict[str, Callable[[], object]] = {
        "revise": lambda: revise(
            adapter.trail,
            claim,
            "The user's manager is Anil.",
            "corrected",
            change=False,
            valid=ValidTime(),
            count_tokens=count_tokens,
        ),
        "retract": lambda: retract(adapter.trail, claim, "mistaken"),
        "undo": lambda: undo(adapter.trail, claim, "mistaken"),
    }
    found = []
    with closing(adapter):
        for verb, does in verbs.items():
            try:
                does()
            except NeedsPersonsKey as refused:
                found.append(Outcome(f"{verb} of what the person said", verb, REJECTED, str(refused)))
            else:
                found.append(Outcome(f"{verb} of what the person said", verb, MISSED, "done"))
    return found
