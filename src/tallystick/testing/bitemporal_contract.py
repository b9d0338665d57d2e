"""What any store must answer about the past, as a test class to inherit: 35 cases of time and evidence (TIME.1-13).

::

    class TestMyStore(BitemporalContract):
        def make(self, folder): return MyStore(folder)
        def tamper(self, store, seq): ...        # change an entry of the memory log, past every guard

Each case drives the workflows, says what must come out, and then has everything that was appended told again to the oracle
(``pure_fold``, by way of ``retold``), which must believe the same at every point. The numbers are those of docs/spec/cases.md.
"""

from __future__ import annotations

import pytest

from tallystick.errors import MachineError, UsageError
from tallystick.language.polarity import denies
from tallystick.model.claim import About, ClaimKind, Derivation
from tallystick.model.entry import EntryKind, LogName
from tallystick.model.temporal import UNKNOWN_VALID_TIME
from tallystick.testing import pure_fold
from tallystick.testing.retold import as_held, steps_of
from tallystick.testing.time_contract import TimeContract
from tallystick.testing.told import (
    EVERYONE,
    OTHER,
    PROJECT,
    Deaf,
    between,
    corrected,
    day,
    derivation_at,
    entry_at,
    held,
    later,
    newest,
    session_of,
    tell,
    told,
)
from tallystick.testing.trails import RepeatingEntropy
from tallystick.trail import Trail
from tallystick.trail.verifying import verify_log
from tallystick.workflows.amend import retract, undo
from tallystick.workflows.answers import answers
from tallystick.workflows.archiving import SessionArchive
from tallystick.workflows.attributes import register
from tallystick.workflows.cite import cite
from tallystick.workflows.corrections import affected_answers
from tallystick.workflows.forget import Selector, forget
from tallystick.workflows.identities import join
from tallystick.workflows.recall import recall
from tallystick.workflows.remember import Said
from tallystick.workflows.replay import Asking, replay
from tallystick.workflows.scoping import Scope
from tallystick.workflows.why import why


class BitemporalContract(TimeContract):
    """Inherit, and say how a store is made: all 35 cases, those of evidence, audit and erasure among them."""

    def test_case_26_spans_are_honest(self, trail: Trail) -> None:
        """QUOTE.4, EVID.11, case 26: a quote that is not there certifies nothing, and a source that changes moves no span."""
        session = session_of("We use port 5432 here.")
        claim = tell(trail, "We use port 5432", quote="We use port 5432", session=session)
        wrong = told(
            trail, Said("We use port 5433", ClaimKind.FACT, "We use port 5433", UNKNOWN_VALID_TIME), PROJECT, session
        )
        assert wrong.derivation == Derivation.INFERRED
        assert [line.role for line in why(trail, wrong.id, None).evidence if line.role == "quote"] == []
        (first,) = why(trail, claim, None).evidence
        assert (first.text, first.start, first.end, first.digest_ok) == ("We use port 5432", 0, 16, True)
        with trail.writing() as appender:
            later = session.events[0]._replace(text="Actually, we use port 9999 here.")
            assert SessionArchive("test", "", lambda data: trail.outside.digest(trail.id, data)).keep(
                appender, first.session, [(later.uid, later)]
            )
        assert why(trail, claim, None).evidence == (first,)

    def test_case_27_evidence_as_of(self, trail: Trail) -> None:
        """TIME.4, 13, case 27: evidence is that of the point: what was taken back since bears the claim only before."""
        session = session_of("The port is 5432.")
        claim = tell(trail, "The port is 5432")
        tell(trail, "The port is 5432", quote="The port is 5432", session=session)
        judged = newest(trail)
        assert entry_at(trail, judged).kind == EntryKind.JUDGED
        gone = undo(trail, judged, "another port was meant").seq

        def quoted(seq: int | None) -> list[str]:
            found = why(trail, claim, None if seq is None else str(seq))
            return [line.text for line in found.evidence if line.role == "quote"]

        assert [quoted(gone - 1), quoted(gone), quoted(None)] == [["The port is 5432"], [], []]
        assert derivation_at(trail, claim, gone - 1) == "verbatim"
        assert derivation_at(trail, claim, gone) == "inferred"

    def test_case_28_search_as_of(self, trail: Trail) -> None:
        """TIME.4, case 28: a search of the past finds what was held then and says at which point."""
        old = tell(trail, "the port is 5432")
        then = newest(trail)
        new = corrected(trail, old, "the port is 5433").id
        for as_of, seq, claim in ((str(then), then, old), (None, newest(trail), new)):
            found = recall(trail, "port", EVERYONE, as_of=as_of)
            assert ([belief.row.claim for belief, _ in found.items], found.point.seq) == ([claim], seq)

    def test_case_29_erased_and_retracted(self, trail: Trail) -> None:
        """ERASE.2, case 29: what was erased is a tombstone at every point; what was retracted is still there before it was."""
        a = tell(trail, "my number is 555-1234")
        corrected(trail, a, "I have no number")
        kept = tell(trail, "my street is long")
        retract(trail, kept, "r")
        last = tell(trail, "call 555-9876")
        before = newest(trail)
        first, seq = (forget(trail, Selector(claim=each), "asked to", persons_key=True).seq for each in (a, last))
        for point in (a, before, seq):
            assert "555" not in str(held(trail, point))
            assert a not in {
                belief.row.claim for belief, _ in recall(trail, "number", EVERYONE, as_of=str(point)).items
            }
        assert held(trail, a) == [None]
        assert held(trail, before) == ["I have no number", None]
        assert held(trail, seq) == ["I have no number"]
        assert held(trail, kept) == ["I have no number", "my street is long"]
        gone = why(trail, a, str(a))
        assert (gone.text, gone.belief is not None, [line.kind for line in gone.history]) == (None, True, ["asserted"])
        assert [(line.seq, line.kind) for line in why(trail, a, None).history][-1] == (first, "erased")
        assert gone.erased is not None
        assert verify_log(trail, LogName.MEMORY).sound

    def test_case_30_answers_that_a_correction_reaches(self, trail: Trail) -> None:
        """ACCESS.2, case 30: a claim leads to the answers that used it, and an answer's claim to what it was corrected to."""
        claim = tell(trail, "the port is 5432")
        asked = recall(trail, "port", EVERYONE, as_of=None)
        answer = cite(trail, "It is 5432.", [claim], [asked.recall]).answer
        later(trail)
        tell(trail, "something else")
        before = newest(trail)
        done = corrected(trail, claim, "the port is 5433")
        assert affected_answers(trail, claim) == (answer,)
        (now,) = answers(trail, EVERYONE, as_of=None).items
        (how,) = now.corrected
        assert (now.seq, now.claims, how.claim, how.seq, how.kind) == (answer, (claim,), claim, done.seq, "correction")
        (then,) = answers(trail, EVERYONE, as_of=str(before)).items
        assert (then.seq, then.corrected) == (answer, ())
        found = why(trail, claim, None)
        assert (f"a{answer}", "cited") in {(line.id, line.kind) for line in found.answers}
        assert {line.claim: line.followed_by for line in found.chain}[claim] == (done.id,)

    def test_case_31_a_negation_is_found_as_one(self, trail: Trail) -> None:
        """CHECK.6, case 31: "no longer" is an answer to a question about it, and is told as a denial."""
        tell(trail, "Ada is no longer vegetarian")
        ((belief, _),) = recall(trail, "vegetarian", EVERYONE, as_of=None).items
        assert belief.text == "Ada is no longer vegetarian"
        assert denies(belief.text)

    def test_case_32_guesses_are_kept_apart(self, trail: Trail) -> None:
        """QUOTE.5, case 32: what is inferred stands in no answer that asks for quoted words only; each says which it is."""
        session = session_of("The port is 5432.")
        quoted = tell(trail, "The port is 5432", quote="The port is 5432", session=session)
        guess = tell(trail, "so the port of the replica is 5432 too")
        every = recall(trail, "port", EVERYONE, as_of=None).items
        assert {belief.row.claim: belief.derivation for belief, _ in every} == {quoted: "verbatim", guess: "inferred"}
        asking = Asking(derivations=(Derivation.VERBATIM,))
        assert [each.row.claim for each, _ in recall(trail, "port", EVERYONE, as_of=None, asking=asking).items] == [
            quoted
        ]
        assert [each.row.claim for each in replay(trail, EVERYONE, as_of=None, asking=asking).items] == [quoted]

    def test_case_33_tampering(self, trail: Trail) -> None:
        """TRAIL.1, 7, case 33: the engine refuses to change an entry; what was changed past it, ``verify`` names."""
        claims = [tell(trail, f"claim {n}") for n in range(3)]
        if self.refusal is not None:
            with pytest.raises(self.refusal):
                self.edit(trail.store, claims[1])
        assert verify_log(trail, LogName.MEMORY).sound
        self.tamper(trail.store, claims[1])
        report = verify_log(trail, LogName.MEMORY)
        assert not report.sound
        assert report.bad[0].seq == claims[1]

    def test_case_34_an_answer_that_cannot_be_logged(self, trail: Trail) -> None:
        """ACCESS.1, case 34: where the question cannot be written down there is no answer."""
        tell(trail, "the port is 5432")
        deaf = Trail(Deaf(trail.store), trail.outside, clock=trail.clock, entropy=RepeatingEntropy(3), actor="tester")
        with pytest.raises(MachineError, match="no room"):
            recall(deaf, "port", EVERYONE, as_of=None)
        with trail.reading(LogName.ACCESS) as rows:
            assert rows.head().size == 0

    def test_case_35_an_identity_and_back(self, trail: Trail) -> None:
        """SEC.3, case 35: two holders that are one see the union, before and after they do not; no claim is written anew."""
        mine, theirs = tell(trail, "mine"), tell(trail, "theirs", holder=OTHER)
        before = newest(trail)
        joined = join(trail, PROJECT, OTHER, "one and the same").seq
        with pytest.raises(UsageError, match="one holder already"):
            join(trail, OTHER, PROJECT, "again")
        parted = undo(trail, joined, "two after all").seq
        for name, own in ((PROJECT, "mine"), (OTHER, "theirs")):
            scope = Scope(asked=(name,))
            assert held(trail, before, scope=scope) == [own]
            assert held(trail, joined, scope=scope) == held(trail, parted - 1, scope=scope) == ["mine", "theirs"]
            assert held(trail, parted, scope=scope) == [own]
            for seq in (before, joined, parted):
                self._assert_holders_as_the_fold_says(trail, seq, name)
        with trail.reading() as rows:
            assert [len(rows.versions(claim)) for claim in (mine, theirs)] == [1, 1]

    def test_case_35_one_value_at_a_time_over_an_identity(self, trail: Trail) -> None:
        """SEC.3, TIME.5, case 35: of a registered attribute, what two holders who are one hold apart is linked until they are
        parted, and what either says while they are one takes the place of what the other held."""
        register(trail, "*", "port", "one at a time")
        one = tell(trail, "the port is 1", about=About("db", "port", "1"))
        two = tell(trail, "the port is 2", holder=OTHER, about=About("db", "port", "2"))
        assert held(trail) == ["the port is 1", "the port is 2"]
        joined = join(trail, PROJECT, OTHER, "one and the same")
        assert joined.conflicts == ((one, two),)
        parted = undo(trail, joined.seq, "two after all").seq
        with trail.reading() as rows:
            linked = [(link.newer, link.older) for link in rows.links(joined.seq + 1, "contradicts")]
            assert (linked, rows.links(parted + 1, "contradicts")) == ([(two, one)], [])
        join(trail, PROJECT, OTHER, "one, really")
        later(trail)
        before = newest(trail)
        three = tell(trail, "the port is 3", holder=OTHER, about=About("db", "port", "3"))
        for name in (PROJECT, OTHER):
            scope = Scope(asked=(name,))
            assert held(trail, valid_at=trail.clock(), scope=scope) == ["the port is 3"]
            assert held(trail, before, scope=scope) == ["the port is 1", "the port is 2"]
            self._assert_holders_as_the_fold_says(trail, newest(trail), name)
        undo(trail, three, "a slip")
        assert held(trail) == ["the port is 1", "the port is 2"]

    @staticmethod
    def _assert_holders_as_the_fold_says(trail: Trail, seq: int, name: str) -> None:
        found = replay(trail, Scope(asked=(name,)), as_of=str(seq)).items
        with trail.reading() as rows:
            names = {each.id: each.name for each in rows.names("holder")}
            assert [as_held(each, names) for each in found] == pure_fold.believed(steps_of(rows), seq, {name})

    def test_a_search_goes_as_deep_as_it_must(self, trail: Trail, monkeypatch: pytest.MonkeyPatch) -> None:
        """ACCESS.1, TIME.4: newer claims that are not asked for hide no older one, what was not looked at is said so."""
        for name, few in (("EACH", 2), ("DEEPEST", 2 * 8), ("DEEPER", 2), ("POOL", 3), ("LOOKED_UP", 2)):
            monkeypatch.setattr(f"tallystick.workflows.recall.{name}", few)
        for holder in (PROJECT, OTHER):
            tell(trail, "the port is old", holder=holder, valid=between(0))
        others = [tell(trail, f"port number {n}", valid=between(10)) for n in range(12)]
        mine = Scope(asked=(PROJECT,))
        found = recall(trail, "port", mine, as_of=None)
        assert (len(found.items), found.whole, found.left) == (4, False, "at least 0 more")
        past = recall(trail, "port", mine, as_of=None, asking=Asking(valid_at=day(5)))
        assert ([belief.text for belief, _ in past.items], past.whole) == (["the port is old"], True)
        before = newest(trail)
        for claim in others:
            retract(trail, claim, "r")
        for scope, count in ((mine, 1), (EVERYONE, 2)):
            assert [belief.text for belief, _ in recall(trail, "port", scope, as_of=None).items] == [
                "the port is old"
            ] * count
        again = recall(trail, "port", mine, as_of=str(before))
        assert [each.row.claim for each, _ in again.items] == [each.row.claim for each, _ in found.items]
