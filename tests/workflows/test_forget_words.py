"""The words of what was forgotten, short or long, go with it or are named where they stay (ERASE.1, 3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import UsageError
from tallystick.model.claim import About, ClaimKind
from tallystick.model.entry import EntryKind, LogName
from tallystick.model.temporal import UNKNOWN_VALID_TIME
from tallystick.testing.trails import SetClock, trail_over
from tallystick.workflows.amend import retract, revise, undo
from tallystick.workflows.brief import make_briefing
from tallystick.workflows.cite import cite
from tallystick.workflows.forget import Forgotten
from tallystick.workflows.identities import join
from tallystick.workflows.occurrences import Needles, words_of_part
from tallystick.workflows.recall import recall
from tallystick.workflows.remember import Said, Tools, remember
from tallystick.workflows.scoping import Scope
from tallystick.workflows.selecting import all_parts
from tests.sessions import ClaudeCode
from tests.workflows.test_forget import ALL, MAKES, Here, pieces, place

SHORT = ["pw is hunter2", "ok", "x", "東京", "naïve", 'say "no"', "a\tb", "pw is\nhunter2"]
LONG = "the password of it all is hunter2, said the last of them"


@pytest.fixture(params=sorted(MAKES))
def here(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Here]:
    """A trail over each store."""
    trail = trail_over(MAKES[request.param](tmp_path / "trail"), clock=SetClock())
    (tmp_path / "sessions").mkdir()
    yield Here(trail, tmp_path / "sessions")
    trail.store.close()


def said_by(here: Here, holder: str, text: str, about: About | None = None) -> int:
    """Keep a claim by hand in the memory of a holder."""
    said = Said(text, ClaimKind.FACT, "", UNKNOWN_VALID_TIME, about or About())
    return remember(here.trail, said, None, Tools(len, holder, "person:ada")).id


def places_with(here: Here, text: str) -> set[tuple[str, str]]:
    """(log, ``c7`` or ``entry 40``) of every part in whose words a text still stands, as a word of its own."""
    alone = re.compile(rf"(?<![0-9A-Za-z_]){re.escape(text)}(?![0-9A-Za-z_])")
    found = set()
    for log in LogName:
        with here.trail.reading(log) as rows:
            for part in all_parts(rows):
                if any(alone.search(words) for words in words_of_part(part.name, part.body)):
                    is_claim = log is LogName.MEMORY and rows.claim_row(part.seq) is not None
                    found.add((str(log), f"{'c' if is_claim else 'entry '}{part.seq}"))
    return found


def named(done: Forgotten) -> set[tuple[str, str]]:
    """(log, where) of everything that a report names as staying."""
    logs = {"parts": "memory", "access log": "access", "ledger log": "ledger"}
    return {
        (logs[each.place], where)
        for each in done.places
        if each.place in logs and each.state in ("kept", "found")
        for where in each.where
    }


# Of a claim


@pytest.mark.parametrize("text", [*SHORT, LONG])
def test_the_question_that_a_claim_was_shown_for_goes(here: Here, text: str) -> None:
    """ERASE.1: however short its words are, a question that has them goes with the claim that it was shown for."""
    claim = here.remember(text)
    recall(here.trail, f"is it so that {text}?", ALL, as_of=None)
    shown = recall(here.trail, text, ALL, as_of=None)
    assert claim in {belief.row.claim for belief, _ in shown.items}
    answer = cite(here.trail, f"Yes: {text}", [claim], [shown.recall])
    make_briefing(here.trail, ALL, as_of=None, budget=2000)
    done = here.forget(claim=claim)
    assert done.exit_code == 0
    assert answer.answer >= 0
    assert places_with(here, text) == set()
    assert here.sound()


def test_a_question_without_its_words_stays(here: Here) -> None:
    """ERASE.1: what was asked in other words stays, and nothing is said of it."""
    claim = here.remember("pw is hunter2")
    recall(here.trail, "what is the pw", ALL, as_of=None)
    done = here.forget(claim=claim)
    assert "what is the pw" in here.words()
    assert place(done, "access log", "kept") is None


@pytest.mark.parametrize("text", SHORT)
def test_where_short_words_stay_is_named(here: Here, text: str) -> None:
    """ERASE.1: other claims, reasons, questions and answers that have them, archived events too: kept, each by name."""
    here.ingest(ClaudeCode("one").says(f"Never forget: {text} is all."))
    claim = here.remember(text)
    twin = said_by(here, "project:/other", text)
    other = here.remember("the colour is blue")
    recall(here.trail, f"nothing like {text} at all", Scope(("person:ada",)), as_of=None)
    shown = recall(here.trail, "colour", ALL, as_of=None)
    cite(here.trail, f"It is blue, not {text} .", [other], [shown.recall])
    retract(here.trail, other, f"it was {text} .")
    dry = here.forget(claim=claim, dry_run=True)
    done = here.forget(claim=claim)
    left = places_with(here, text)
    assert ("memory", f"c{twin}") in left
    assert {log for log, _ in left} == {"memory", "access"}
    assert left <= named(done) == named(dry)
    assert pieces(done, "archive", "kept") >= 1
    assert done.exit_code == 0


def test_words_inside_other_words_are_no_place(here: Here) -> None:
    """ERASE.1: a claim that says "ok" does not stand in every "token"."""
    claim = here.remember("ok")
    here.remember("the token is old, and so is the book")
    here.remember("ok_then")
    assert named(here.forget(claim=claim)) == set()


def test_a_block_that_cannot_be_read_cannot_be_told(here: Here) -> None:
    """ERASE.1: where the archive is damaged the claim goes all the same, and whether its words stand there cannot be told."""
    here.ingest(ClaudeCode("one").says("Never deploy on a Friday."))
    claim = here.remember("pw is hunter2")
    with here.trail.writing() as appender:
        appender.rows.repack(0, b"damaged", [(0, 0)])
    done = here.forget(claim=claim)
    assert (done.exit_code, pieces(done, "archive", "cannot tell")) == (3, 1)
    assert places_with(here, "pw is hunter2") == set()


@settings(deadline=None)
@given(
    words=st.lists(st.text("ab_ é東.", min_size=1, max_size=4), min_size=1, max_size=5),
    data=st.text("ab_ é東.", max_size=30),
)
def test_words_that_stand_alone(words: list[str], data: str) -> None:
    """ERASE.1: a word counts where no letter, digit or underscore of ASCII goes on at either end, whatever it overlaps."""

    def alone(word: str) -> bool:
        before = "(?<![0-9A-Za-z_])" if re.match("[0-9A-Za-z_]", word) else ""
        after = "(?![0-9A-Za-z_])" if re.search(r"[0-9A-Za-z_]\Z", word) else ""
        return re.search(f"{before}{re.escape(word)}{after}", data) is not None

    assert Needles((), words=words).stand_in(data) == any(map(alone, words))


# Of a text


@pytest.mark.parametrize("where", ["nowhere", "in a question", "in a claim"])
def test_a_forgotten_text_is_known_wherever_it_stood(here: Here, where: str) -> None:
    """ERASE.3: a text that stood only in the access log, or nowhere at all, is refused from then on as one that was erased is."""
    here.remember("the colour is blue")
    if where == "in a question":
        recall(here.trail, "Zephyrine", ALL, as_of=None)
    elif where == "in a claim":
        here.remember("Zephyrine")
    done = here.forget(text="Zephyrine")
    assert pieces(done, "keyed digests", "kept") == 1 + 2 * (where == "in a claim")
    size = here.size()
    with pytest.raises(UsageError, match="forgotten"):
        here.remember("Zephyrine")
    assert here.size() == size
    assert here.forget(text="Zephyrine").exit_code == 0
    assert here.sound()


def test_a_dry_run_or_a_proposal_files_nothing(here: Here) -> None:
    """ERASE.1, 4: what is only looked at, or proposed, is accepted as before."""
    here.ingest(ClaudeCode("one").says("Never call it Zephyrine."))
    here.forget(text="Zephyrine", dry_run=True)
    assert here.forget(text="Zephyrine", key=False).exit_code == 1
    assert here.remember("Zephyrine") >= 0


# Of a holder


@pytest.mark.parametrize("again", ["project:zorgon", "person:zorgon"])
def test_what_a_forgotten_holder_held_is_known_by_its_name(here: Here, again: str) -> None:
    """ERASE.3: the same claim in the name of the same holder is refused, said or as a correction; other claims are not."""
    about = About("shop", "port", "5432")
    said_by(here, "project:zorgon", "one")
    said_by(here, "project:zorgon", "the port is 5432", about)
    for n in range(2):
        done = here.forget(holder="zorgon")
        assert done.exit_code == 0
        assert "zorgon" not in here.words()
        for text, what in (("one", About()), ("the shop listens on 5432", about)):
            size = here.size()
            with pytest.raises(UsageError, match="forgotten"):
                said_by(here, again, text, what)
            assert here.size() == size
        two = said_by(here, again, f"two of {n}")
        with pytest.raises(UsageError, match="forgotten"):
            revise(here.trail, two, "one", "so", change=False, valid=UNKNOWN_VALID_TIME, count_tokens=len)
        retract(here.trail, two, "over")
        assert said_by(here, "project:other", "one") >= 0
        here.forget(claim=two)
        said_by(here, again, f"three of {n}")
    assert here.sound()


def test_where_a_holders_name_stands_it_goes_or_is_named(here: Here) -> None:
    """ERASE.1: reasons for joining it, proposals about it and questions for its claims go; wherever else it stands is named."""
    said_by(here, "project:zorgon", "the sky of them is green")
    other = said_by(here, "project:blorb", "the moon is round")
    joined = join(here.trail, "zorgon", "blorb", "zorgon was renamed")
    undo(here.trail, joined.seq, "not zorgon after all")
    with here.trail.writing() as appender:
        seq = next(name.seq for name in appender.rows.names("holder") if name.name == "project:zorgon")
        appender.add(EntryKind.PROPOSED, {"proposal": b'{"selector": "--holder zorgon"}'}, refs=[seq])
    recall(here.trail, "zorgon sky", Scope(("zorgon",)), as_of=None)
    recall(here.trail, "what of zorgon?", Scope(("blorb",)), as_of=None)
    here.ingest(ClaudeCode("one").says("Never call zorgon."))
    retract(here.trail, other, "zorgon said otherwise")
    done = here.forget(holder="zorgon")
    left = places_with(here, "zorgon")
    assert {log for log, _ in left} == {"memory", "access"}
    assert left <= named(done)
    assert pieces(done, "archive", "kept") == 1
    assert "renamed" not in here.words()
    assert "after all" not in here.words()
    assert "--holder zorgon" not in here.words()
    assert "zorgon sky" not in here.words()
    assert done.exit_code == 0
    here.forget(text="zorgon")
    assert "zorgon" not in here.words()
    assert here.sound()
