"""Answers, what they cite, and what becomes of that, over both stores (ACCESS.1–3)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import MachineError, UndoRefused, UnknownId, UsageError
from tallystick.log.canonical import entry_from_bytes
from tallystick.model.entry import EntryKind, LogName
from tallystick.model.temporal import DAY, Interval, ValidTime
from tallystick.store.memory import MemoryStore
from tallystick.store.protocol import Selection, Store
from tallystick.store.sqlite import SqliteStore
from tallystick.testing.store_contract import said
from tallystick.testing.trails import SetClock, trail_over
from tallystick.trail import Trail
from tallystick.trail.verifying import verify_log
from tallystick.workflows.amend import Amended, merge, retract, revise, undo
from tallystick.workflows.answers import Answer, answers
from tallystick.workflows.brief import Briefed, make_briefing
from tallystick.workflows.cite import MOST_BYTES, Cited, cite
from tallystick.workflows.contexts import ERASED, NOT_KEPT, contexts
from tallystick.workflows.corrections import affected_answers, mark_corrected
from tallystick.workflows.occurrences import Needles
from tallystick.workflows.recall import Recalled, recall
from tallystick.workflows.scoping import Scope
from tallystick.workflows.surfaced import Surfaced

EVERYONE = Scope(("*",))
SECOND = 1_000_000


@pytest.fixture(params=[MemoryStore, SqliteStore])
def trail(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Trail]:
    """A trail over each store, its clock set by hand."""
    store: Store = MemoryStore() if request.param is MemoryStore else SqliteStore(tmp_path / "trail")
    yield trail_over(store, clock=SetClock())
    store.close()


def believe(trail: Trail, *texts: str) -> list[int]:
    """Claims of one holder."""
    with trail.writing() as appender:
        return [said(appender, text) for text in texts]


def ask(trail: Trail, query: str, as_of: str | None = None) -> Recalled:
    """A recall that is shown in words of its own."""
    return recall(
        trail, query, EVERYONE, as_of=as_of, render=lambda found: f"r{found.recall}: {[c for c, _ in shown(found)]}\n"
    )


def shown(found: Recalled) -> list[tuple[int, str | None]]:
    return [(belief.row.claim, belief.text) for belief, _ in found.items]


def correct(trail: Trail, claim: int, text: str = "it is otherwise", *, change: bool = False) -> Amended:
    return revise(trail, claim, text, "so", change=change, valid=ValidTime(), count_tokens=len)


def told(trail: Trail, **asked: object) -> tuple[Answer, ...]:
    return answers(trail, EVERYONE, **{"as_of": None, **asked}).items  # type: ignore[arg-type]


def kinds(trail: Trail) -> list[str]:
    """Of the access log, the actor's own introduction aside."""
    with trail.reading(LogName.ACCESS) as rows:
        return [entry_from_bytes(row.canon).kind for row in rows.entries(1)]


def corrected(trail: Trail) -> list[tuple[tuple[int, ...], tuple[int, ...], bytes]]:
    """(answers, claims, by) of every ``corrected`` entry."""
    with trail.reading(LogName.ACCESS) as rows:
        entries = [entry_from_bytes(row.canon) for row in rows.entries()]
        return [
            (each.refs, dict(each.xrefs)["memory"], rows.parts(each.seq)[0].body)
            for each in entries
            if each.kind == EntryKind.CORRECTED
        ]


def test_case_30_a_correction_reaches_the_answers_that_cited_it(trail: Trail) -> None:
    """ACCESS.2, bitemporal case 30: answer a1 cited A, A is corrected to B: a1 shows it, and the affected answers list a1."""
    first, other = believe(trail, "the port is 5432", "the port is taken")
    ask(trail, "port")
    answer = cite(trail, "It is 5432.", [first], []).answer
    unaffected = cite(trail, "It is taken.", [other], []).answer
    done = correct(trail, first, "the port is 5433")
    assert done.affected == affected_answers(trail, first) == (answer,)
    (found,) = told(trail, cited=first)
    assert (found.seq, found.claims, found.text) == (answer, (first,), "It is 5432.")
    assert [tuple(each) for each in found.corrected] == [(first, done.seq, "correction", done.id, "so")]
    assert [each.seq for each in told(trail, affected=True)] == [answer]
    assert [each.seq for each in told(trail)] == [answer, unaffected]
    assert corrected(trail) == [((answer,), (first,), b'{"kind": "correction", "seq": %d}' % done.seq)]
    assert verify_log(trail, LogName.ACCESS).sound


def test_every_step_is_an_entry_of_its_own(trail: Trail) -> None:
    """ACCESS.1, 2: retrieved, surfaced, cited, ignored and corrected are each written by what causes them."""
    first, second = believe(trail, "the port is 5432", "the port is taken")
    asked = ask(trail, "port")
    assert kinds(trail) == ["recalled", "surfaced"]
    done = cite(trail, None, [second], [asked.recall])
    assert (done.claims, done.ignored, done.shown) == ((second,), (first,), (asked.recall,))
    assert kinds(trail)[2:] == ["cited", "ignored"]
    with trail.reading(LogName.ACCESS) as rows:
        found = [entry_from_bytes(row.canon) for row in rows.entries(asked.recall)]
        assert [dict(each.xrefs).get("memory") for each in found] == [
            None,
            tuple(c for c, _ in shown(asked)),
            (second,),
            (first,),
        ]
        assert [each.refs for each in found] == [(), (asked.recall,), (asked.recall + 1,), (done.answer,)]
        assert [touch.kind for touch in rows.touches(first)] == ["surfaced", "ignored"]
    retract(trail, first, "nobody said so")
    assert kinds(trail)[4:] == []
    retract(trail, second, "nobody said so")
    assert kinds(trail)[4:] == ["corrected"]


HOW = {
    "correction": lambda trail, claim: correct(trail, claim),
    "change": lambda trail, claim: correct(trail, claim, change=True),
    "retracted": lambda trail, claim: retract(trail, claim, "so"),
    "undone": lambda trail, claim: undo(trail, claim, "so"),
}


@pytest.mark.parametrize("kind", HOW)
def test_every_way_to_stop_holding_a_claim_counts(trail: Trail, kind: str) -> None:
    """ACCESS.2: corrected, changed, retracted or undone: each is told with its kind and reason, and is marked at once."""
    (claim,) = believe(trail, "the port is 5432")
    ask(trail, "port")
    answer = cite(trail, None, [claim], []).answer
    done = HOW[kind](trail, claim)
    ((each,),) = (found.corrected for found in told(trail))
    assert (each.claim, each.seq, each.kind, each.because) == (claim, done.seq, kind, "so")
    assert each.by == (done.id if kind in ("correction", "change") else -1)
    assert done.affected == (answer,)
    assert len(corrected(trail)) == 1


def test_a_merge_names_the_claim_that_stands(trail: Trail) -> None:
    """ACCESS.2: a claim that was corrected into another one is told with that one; who cited that one is not affected."""
    wrong, right = believe(trail, "the port is 5432", "the port is 5433")
    ask(trail, "port")
    first, second = (cite(trail, None, [claim], []).answer for claim in (wrong, right))
    done = merge(trail, wrong, right, "read it")
    assert done.affected == (first,)
    assert [each.by for found in told(trail) for each in found.corrected] == [right]
    assert affected_answers(trail, right) == ()
    assert second not in {found.seq for found in told(trail, affected=True)}


def test_what_is_taken_back_affects_nobody(trail: Trail) -> None:
    """ACCESS.2, TIME.9: a correction that was undone is told no more; the entry that marked it stays, as every entry does."""
    (claim,) = believe(trail, "the port is 5432")
    ask(trail, "port")
    answer = cite(trail, None, [claim], []).answer
    done = correct(trail, claim)
    back = undo(trail, done.seq, "it was right")
    assert (back.affected, affected_answers(trail, claim)) == ((), ())
    assert told(trail, affected=True) == ()
    assert len(corrected(trail)) == 1
    again = undo(trail, back.seq, "it was wrong after all")
    ((each,),) = (found.corrected for found in told(trail))
    assert (each.seq, each.kind, again.affected) == (again.seq, "undone", (answer,))


def test_an_answer_after_the_correction_is_not_affected(trail: Trail) -> None:
    """ACCESS.2: only what happened since the claim was shown counts; what happened between showing and answering does."""
    (claim,) = believe(trail, "the port is 5432")
    early = ask(trail, "port")
    new = correct(trail, claim, "the port is 5433").id
    late = ask(trail, "port")
    assert [each for each, _ in shown(late)] == [new]
    assert cite(trail, None, [new], []).corrected == ()
    meanwhile = cite(trail, None, [claim], [early.recall])
    assert [(each.claim, each.by) for each in meanwhile.corrected] == [(claim, new)]
    assert [answers for answers, _, _ in corrected(trail)] == [(meanwhile.answer,)]
    assert mark_corrected(trail) == []
    assert [found.seq for found in told(trail, affected=True)] == [meanwhile.answer]


def test_a_process_that_stops_between_the_logs(trail: Trail) -> None:
    """ACCESS.2: what a stopped process corrected and did not mark is told all the same, and marked once by who looks next."""
    claims = believe(trail, "the port is 5432", "the port is taken", "the port is open")
    ask(trail, "port")
    cited = [cite(trail, None, [claim], []).answer for claim in claims]
    with trail.writing() as appender:  # All that such a process has committed.
        first = appender.add(EntryKind.RETRACTED, {"because": b"so"}, refs=[claims[0]])
        second = appender.add(EntryKind.RETRACTED, {"because": b"so"}, refs=[claims[1]])
    assert corrected(trail) == []
    assert affected_answers(trail, claims[0]) == (cited[0],)
    found = told(trail)
    assert [[each.seq for each in answer.corrected] for answer in found] == [[first], [second], []]
    marked = [((cited[0],), (claims[0],)), ((cited[1],), (claims[1],))]
    assert [each[:2] for each in corrected(trail)] == marked
    assert told(trail) == found
    assert retract(trail, claims[0], "so").closes == ()
    assert [each[:2] for each in corrected(trail)] == marked
    with trail.writing() as appender:
        appender.add(EntryKind.RETRACTED, refs=[claims[2]])
    assert retract(trail, claims[2], "so").affected == (cited[2],)
    assert [each[0] for each in corrected(trail)] == [(each,) for each in cited]


@pytest.mark.parametrize("noted", ["", "3", "-3", "²", "9" * 15, "9" * 5000, "soon"])
def test_how_far_one_looked_is_no_evidence(trail: Trail, noted: str) -> None:
    """ACCESS.2: without the note of how far the memory log was looked through, or with one that cannot be, nothing is marked
    twice, and what is new is marked."""
    first, second = believe(trail, "the port is 5432", "the port is taken")
    ask(trail, "port")
    cited = [cite(trail, None, [claim], []).answer for claim in (first, second)]
    correct(trail, first)
    told_head = partial(trail.outside.write_head, trail.id, LogName.ACCESS)
    with trail.store.writing(LogName.ACCESS, told_head) as rows:
        rows.set_meta("corrected_to", noted)
    assert mark_corrected(trail) == []
    with trail.writing() as appender:
        appender.add("dreamt")
        appender.add(EntryKind.RETRACTED, refs=[second])
    assert [found.seq for found in told(trail, affected=True)] == cited
    assert [answers for answers, _, _ in corrected(trail)] == [(each,) for each in cited]


def test_what_was_so_when_it_was_shown(trail: Trail) -> None:
    """ACCESS.2, TIME.7: of a claim that was narrowed, shown, and then retracted, the answer is told of the retraction alone; of
    two showings the later counts."""
    (claim,) = believe(trail, "the port is 5432")
    early = ask(trail, "port")
    narrow = ValidTime((Interval(0, DAY),))
    revise(trail, claim, "it was 5433 on that day", "so", change=False, valid=narrow, count_tokens=len)
    late = ask(trail, "port", str(claim + 1))
    one = cite(trail, None, [claim], [late.recall])
    both = cite(trail, None, [claim], [early.recall, late.recall])
    assert (one.corrected, both.corrected, mark_corrected(trail), affected_answers(trail, claim)) == ((), (), [], ())
    gone = retract(trail, claim, "so").seq
    assert [[each.seq for each in found.corrected] for found in told(trail)] == [[gone], [gone]]
    assert [answers for answers, _, _ in corrected(trail)] == [(one.answer, both.answer)]


def test_a_log_that_cannot_be_written_is_noted(trail: Trail) -> None:
    """ACCESS.2: a correction is not taken back because it could not be marked; that is said, and made up for later."""
    (claim,) = believe(trail, "the port is 5432")
    ask(trail, "port")
    answer = cite(trail, None, [claim], []).answer

    class Refusing:
        """The store, but that its access log cannot be written."""

        def __getattr__(self, name: str) -> object:
            return getattr(store, name)

        @contextmanager
        def writing(self, log: LogName, committed: object) -> Iterator[object]:
            if log is LogName.ACCESS:
                raise MachineError("access.db: the disk is full")
            with store.writing(log, committed) as rows:  # type: ignore[arg-type]
                yield rows

    store, trail.store = trail.store, Refusing()  # type: ignore[assignment]
    done = correct(trail, claim)
    assert (done.affected, corrected(trail)) == ((answer,), [])
    assert [found.seq for found in told(trail, affected=True)] == [answer]
    assert all("the disk is full" in notice for notice in trail.notices)
    assert len(trail.notices) == 2
    with pytest.raises(MachineError, match="the disk is full"):
        cite(trail, None, [claim], [])
    trail.store = store
    assert [found.seq for found in told(trail, affected=True)] == [answer]
    assert len(corrected(trail)) == 1


def test_as_of(trail: Trail) -> None:
    """TIME.1, 3, 4: as of a point, the answers given before it and what had become of their claims by it, whatever came since."""
    clock = trail.clock
    assert isinstance(clock, SetClock)
    (claim,) = believe(trail, "the port is 5432")
    ask(trail, "port")
    clock.now += SECOND
    answer = cite(trail, None, [claim], []).answer
    clock.now += SECOND
    (later,) = believe(trail, "the sky is blue")
    clock.now += SECOND
    done = correct(trail, claim)
    start = clock.now - 3 * SECOND

    def at(point: int | str) -> list[tuple[int, list[int]]]:
        return [(each.seq, [one.seq for one in each.corrected]) for each in told(trail, as_of=str(point))]

    def every() -> list[list[tuple[int, list[int]]]]:
        return [at(seq) for seq in (claim, later, done.seq)] + [at(instant(start + n * SECOND // 2)) for n in range(7)]

    before: list[tuple[int, list[int]]] = []
    between, since = [(answer, list[int]())], [(answer, [done.seq])]
    expected = [before, between, since, *[before] * 3, *[between] * 3, since]
    assert every() == expected
    # Still at the instant of the last entry: that comes after every one of those points.
    ask(trail, "sky")
    cite(trail, None, [later], [])
    clock.now += SECOND
    undo(trail, done.seq, "no")
    cite(trail, None, [later], [])
    assert every() == expected
    assert len(told(trail)) == 3


def instant(at: int) -> str:
    from tallystick.trail.instants import iso

    return iso(at)


def test_contexts_are_given_back_byte_for_byte(trail: Trail) -> None:
    """ACCESS.3: the context of an answer is what its recalls and briefings showed, each as it was, in the order of time."""
    first, second = believe(trail, "the port is 5432", "the sky is blue")
    one = ask(trail, "port")
    made = make_briefing(trail, EVERYONE, as_of=None, budget=500)
    two = recall(trail, "sky", EVERYONE, as_of=None, render=lambda found: f"r{found.recall} \ud800é\n\r\x00")
    assert made.shown == made.briefing.text
    assert two.shown == f"r{two.recall} ?é\n\r\x00"
    done = cite(trail, "Words.", [first, second], [two.recall, made.number, one.recall, two.recall])
    found = contexts(trail, f"a{done.answer}", None)
    assert found.text == "Words."
    assert [each.number for each in found.contexts] == [one.recall, made.number, two.recall]
    assert [each.body for each in found.contexts] == [each.shown.encode() for each in (one, made, two)]
    for each in (one.recall, made.number, two.recall):
        (own,) = contexts(trail, f"r{each}", None).contexts
        assert own in found.contexts
    for wrong in (f"a{one.recall}", f"r{done.answer}", f"r{one.recall + 1}", "a999", "r0"):
        with pytest.raises(UnknownId, match=wrong):
            contexts(trail, wrong, None)
    before = str(first)
    for name in (f"a{done.answer}", f"r{two.recall}"):
        with pytest.raises(UnknownId, match=name):
            contexts(trail, name, before)


def test_a_recall_that_found_nothing_has_its_context(trail: Trail) -> None:
    """ACCESS.1, 3: that nothing was found is shown, and kept, like everything that is shown; an answer may rest on it."""
    believe(trail, "the port is 5432")
    asked = ask(trail, "zebra")
    assert contexts(trail, f"r{asked.recall}", None).contexts[0].body == asked.shown.encode() == b"r1: []\n"
    done = cite(trail, "There are none.", [], [asked.recall])
    assert (done.claims, done.ignored) == ((), ())
    assert contexts(trail, f"a{done.answer}", None).contexts[0].body == b"r1: []\n"


def test_an_erased_context_says_so(trail: Trail) -> None:
    """ACCESS.3: of a context that was erased no byte is given, and it is told apart from one that was never kept."""
    (claim,) = believe(trail, "the port is 5432")
    asked = ask(trail, "port")
    done = cite(trail, "It is 5432.", [claim], [])
    with trail.writing(LogName.ACCESS) as appender:
        appender.rows.erase({asked.recall + 1: ["context"], done.answer: ["answer"]}, [])
    found = contexts(trail, f"a{done.answer}", None)
    assert (found.text, [(each.body, each.gone) for each in found.contexts]) == (None, [(None, ERASED)])
    assert told(trail)[0].text is None
    with trail.writing(LogName.ACCESS) as appender:  # As the first version wrote it.
        old = appender.add(EntryKind.RECALLED, {"query": b"q", "pool": b'{"as_of": %d}' % claim})
        appender.add(EntryKind.SURFACED, refs=[old], xrefs=[(LogName.MEMORY, (claim,))])
        empty = appender.add(EntryKind.RECALLED, {"query": b"q", "pool": b"{}"})
    make_briefing(trail, EVERYONE, as_of=None, budget=500)
    assert [each.gone for each in contexts(trail, f"r{old}", None).contexts] == [NOT_KEPT]
    assert [each.gone for each in contexts(trail, f"r{empty}", None).contexts] == [NOT_KEPT]
    cited = cite(trail, None, [claim], [old]).answer
    retract(trail, claim, "so")
    assert affected_answers(trail, claim) == (done.answer, cited)


def test_an_erased_claim_affects_who_cited_it(trail: Trail) -> None:
    """ACCESS.2: a claim whose words were erased is told as that, held until then or not."""
    claims = believe(trail, "the port is 5432", "the port is taken")
    ask(trail, "port")
    for claim in claims:
        cite(trail, None, [claim], [])
    retract(trail, claims[0], "so")
    with trail.writing() as appender:
        places = ",".join(f'"{claim}":["text"]' for claim in claims)
        seq = appender.add(EntryKind.ERASED, {"places": f'{{"parts":{{{places}}}}}'.encode()}, refs=claims)
    assert [[each.kind for each in found.corrected] for found in told(trail)] == [["retracted", "erased"], ["erased"]]
    assert corrected(trail)[-1][1:] == (tuple(claims), b'{"kind": "erased", "seq": %d}' % seq)


def test_refusals(trail: Trail) -> None:
    """ACCESS.2: what was never shown cannot be cited; each refusal names the thing, and nothing is written for it."""
    with pytest.raises(UsageError, match="c3 was never shown"):
        cite(trail, None, [3], [])
    assert trail.id == ""
    shown_one, hidden = believe(trail, "the port is 5432", "the sky is blue")
    asked = ask(trail, "port")
    other = ask(trail, "sky")
    (unseen,) = believe(trail, "grass is green")
    size = len(kinds(trail))
    for claims, numbers, named in (
        ([], [], "--claims"),
        ([hidden], [asked.recall], f"c{hidden} was not shown by r{asked.recall}"),
        ([999], [asked.recall], "c999"),
        ([unseen], [], f"c{unseen} was never shown"),
        ([shown_one, hidden], [], f"nothing showed c{shown_one} and c{hidden} together"),
        ([shown_one], [999], "r999"),
        ([shown_one], [asked.recall + 1], f"r{asked.recall + 1}"),
        ([shown_one], [0], "r0"),
    ):
        with pytest.raises(UsageError, match=named):
            cite(trail, "x", claims, numbers)
    for text, named in ((" \n", "empty"), ("x" * (MOST_BYTES + 1), "1,000,000 bytes")):
        with pytest.raises(UsageError, match=named):
            cite(trail, text, [shown_one], [])
    assert len(kinds(trail)) == size
    both = cite(trail, "x" * MOST_BYTES, [shown_one, hidden], [asked.recall, other.recall])
    assert both.ignored == ()


def test_what_was_said_in_a_briefing(trail: Trail) -> None:
    """QUOTE.6, ACCESS.3: a briefing's words are known again in whatever form it was shown; what a recall showed is not taken
    for a briefing."""
    believe(trail, 'the "port" of mini\\x is 5432')
    text = make_briefing(trail, EVERYONE, as_of=None, budget=500).shown
    ask(trail, "port")

    def as_json(made: Briefed) -> str:
        return json.dumps({"seq": 1, "lines": [{"text": line.text, "age": None} for line in made.briefing.lines]})

    make_briefing(trail, EVERYONE, as_of=None, budget=500, render=as_json)
    make_briefing(trail, EVERYONE, as_of=None, budget=500, render=lambda made: "{" + made.briefing.text)
    assert Surfaced(trail).before(None) == [text, "the ”port” of mini\\x is 5432", "{" + text]
    assert Surfaced(trail).before(0) == []


def test_words_are_found_in_a_context_of_either_form() -> None:
    """ERASE.1: a text is found in a context whether it was printed as it is or as JSON writes it."""
    words = 'the "port"\u2028of mini\\x'
    for context in (
        f"~ c3 fact: {words}\n",
        json.dumps({"items": [{"text": words}]}),
        json.dumps([words], ensure_ascii=False),
    ):
        assert Needles([words]).stand_in_part("context", context.encode())
        assert not Needles(["lines of another"]).stand_in_part("context", context.encode())


def test_secrets_in_an_answer_are_redacted(trail: Trail) -> None:
    """EVID.9: what is kept of an answer has no secret in it."""
    (claim,) = believe(trail, "the port is 5432")
    ask(trail, "port")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    done = cite(trail, f"The token is {secret}.", [claim], [])
    text = contexts(trail, f"a{done.answer}", None).text
    assert text is not None
    assert secret not in text
    assert text.startswith("The token is ")


def test_pages_of_answers(trail: Trail) -> None:
    """ACCESS.2: pages put together are the whole, whatever they are narrowed to."""
    claims = believe(trail, *(f"port {n} is taken" for n in range(5)))
    ask(trail, "port")
    for claim in claims:
        cite(trail, None, [claim], [])
        cite(trail, None, [claims[0]], [])
    for claim in claims[1:4]:
        retract(trail, claim, "so")
    for narrowed in ({}, {"cited": claims[0]}, {"affected": True}, {"cited": claims[2], "affected": True}):
        whole = told(trail, **narrowed)
        pages: list[Answer] = []
        more = True
        while more:
            after = pages[-1].seq if pages else -1
            page = answers(trail, EVERYONE, **{"as_of": None, "after": after, "limit": 2, **narrowed})  # type: ignore[arg-type]
            pages += page.items
            more = page.more
        assert tuple(pages) == whole
        assert whole
    with pytest.raises(UnknownId, match="c999"):
        told(trail, cited=999)


def test_whose_answers(trail: Trail) -> None:
    """SEC.3: an answer is listed for those in whose memory all stands that it cites, or else all that it was shown."""
    with trail.writing() as appender:
        holders = [appender.holder(name, "project") for name in ("project:a", "project:b")]
        mine, theirs = (said(appender, f"port of {each}", each) for each in holders)
    ask(trail, "port")
    first, second, both = (cite(trail, None, claims, []).answer for claims in ([mine], [theirs], [mine, theirs]))
    none = cite(trail, None, [], [1]).answer
    by_scope = {
        name: [each.seq for each in answers(trail, scope, as_of=None).items]
        for name, scope in {
            "a": Scope(project="project:a"),
            "b": Scope(("project:b",)),
            "both": Scope(("project:a", "b")),
            "all": EVERYONE,
            "nobody": Scope(project="project:c"),
        }.items()
    }
    every = [first, second, both, none]
    assert by_scope == {"a": [first], "b": [second], "both": every, "all": every, "nobody": []}
    asked = answers(trail, Scope(project="project:c"), as_of=None, cited=mine).items
    assert [each.seq for each in asked] == [first, both]
    assert answers(trail, Scope(("project:b",)), as_of=None, cited=mine).items == ()


def test_a_long_log_is_looked_through_once(trail: Trail) -> None:
    """ACCESS.2: how far one came is written down, so that what was looked through is not looked through again."""
    (claim,) = believe(trail, "the port is 5432")
    ask(trail, "port")
    with trail.writing() as appender:
        for _ in range(5001):
            appender.add("dreamt")
    assert mark_corrected(trail) == []
    with trail.reading(LogName.ACCESS) as rows:
        assert rows.meta("corrected_to") == "5002"
    cite(trail, None, [claim], [])
    correct(trail, claim)
    assert len(corrected(trail)) == 1


steps = st.lists(
    st.tuples(
        st.sampled_from(["believe", "ask", "cite", "correct", "narrow", "change", "retract", "undo", "stop", "look"]),
        st.integers(0, 30),
    ),
    min_size=4,
    max_size=25,
)


@settings(max_examples=max(40, settings().max_examples // 2))
@given(steps)
def test_any_history(history: list[tuple[str, int]]) -> None:
    """ACCESS.2: an answer is affected exactly when a claim that it cites is held otherwise than as it was shown; it is marked
    for everything that it is affected by, for nothing twice, and for nothing from before it was shown."""
    trail = trail_over(MemoryStore())
    claims = believe(trail, "the port is 5432", "the port is taken")
    asked = [ask(trail, "port")]
    given_: list[tuple[Cited, Recalled]] = []
    for does, n in history:
        claim = claims[n % len(claims)]
        try:
            _step(trail, does, n, claim, claims, asked, given_)
        except (UsageError, UndoRefused):
            continue
    mark_corrected(trail)
    marks = [(answer, by) for refs, _, by in corrected(trail) for answer in refs]
    assert len(marks) == len(set(marks))
    assert mark_corrected(trail) == []
    found = {each.seq: each for each in told(trail)}
    for done, showing in given_:
        changed = [each for each in done.claims if _held(trail, each, showing.point.seq) != _held(trail, each, None)]
        answer = found[done.answer]
        assert sorted({each.claim for each in answer.corrected}) == changed
        assert all(each.seq > showing.point.seq for each in answer.corrected)
        for each in answer.corrected:
            assert (done.answer, b'{"kind": "%s", "seq": %d}' % (each.kind.encode(), each.seq)) in marks
    assert verify_log(trail, LogName.ACCESS).sound


def _step(
    trail: Trail,
    does: str,
    n: int,
    claim: int,
    claims: list[int],
    asked: list[Recalled],
    given_: list[tuple[Cited, Recalled]],
) -> None:
    if does == "believe":
        claims += believe(trail, f"the port {n} is taken")
    elif does == "ask":
        asked.append(ask(trail, "port"))
    elif does == "cite":
        showing = asked[n % len(asked)]
        wanted = [each for each, _ in shown(showing)][: n % 3 + 1]
        given_.append((cite(trail, None, wanted, [showing.recall]), showing))
    elif does == "retract":
        retract(trail, claim, "so")
    elif does == "undo":
        undo(trail, claims[-1] + n % 5, "so")
    elif does == "stop":
        with trail.writing() as appender:
            if appender.rows.open_version(claim):
                appender.add(EntryKind.RETRACTED, refs=[claim])
    elif does == "look":
        told(trail)
    else:
        valid = ValidTime((Interval(n * DAY, (n + 9) * DAY),)) if does == "narrow" else ValidTime()
        done = revise(trail, claim, f"the port is {n}", "so", change=does == "change", valid=valid, count_tokens=len)
        claims.append(done.id)


def _held(trail: Trail, claim: int, as_of: int | None) -> tuple[Interval, ...]:
    with trail.reading() as rows:
        found = rows.believed(Selection(rows.head().size if as_of is None else as_of, claims=(claim,)))
    return found[0].version.valid if found else ()
