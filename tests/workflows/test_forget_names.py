"""Forgetting a session or a holder leaves nothing that confirms a guess of its name (ERASE.2, 3, TRAIL.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tallystick.plugins import ingest_tools
from tallystick.testing.trails import SetClock, trail_over
from tallystick.trail.archive import event_id, version_id
from tallystick.workflows.ingest import IngestReport, ingest
from tests.searching import everything
from tests.sessions import ClaudeCode
from tests.transcripts.test_mini_swe_agent import answers, calls, document, user
from tests.workflows.test_forget import MAKES, Here, place

HARNESS, NAME = "mini-swe-agent", "acme-secret-merger"
WORD = "Osprey-4410"
"""A word of the session that has the name."""


class MiniSweAgent(NamedTuple):
    """A session whose harness gives no UUIDs: it goes by the name of its file, and its records by their place."""

    name: str = NAME
    messages: tuple[dict[str, object], ...] = (
        user(f"Fix the build of {WORD}."),
        calls("make test", "k1"),
        answers("5 passed", "k1"),
        {"role": "assistant", "content": "All 5 tests pass."},
        user("Never deploy on a Friday."),
    )

    def write(self, folder: Path) -> Path:
        """As its harness does, in a folder of its own."""
        path = folder / self.name / f"{self.name}.traj.json"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(document(*self.messages))
        return path


@pytest.fixture(params=sorted(MAKES))
def here(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Here]:
    """A trail over each store."""
    trail = trail_over(MAKES[request.param](tmp_path / "trail"), clock=SetClock())
    (tmp_path / "sessions").mkdir()
    yield Here(trail, tmp_path / "sessions")
    trail.store.close()


def read(here: Here, *sessions: MiniSweAgent) -> IngestReport:
    return ingest(
        here.trail, [each.write(here.folder) for each in sessions], ingest_tools({"TALLY_PERSON": "ada"}, thorough=True)
    )


def session_of(here: Here, name: str = NAME) -> int:
    with here.trail.reading() as rows:
        return next(each.seq for each in rows.names("session") if each.name == name)


def guesses(name: str = NAME) -> set[str]:
    """Every event id that a guess of a session's name gives."""
    uids = [f"M{n}{rest}" for n in range(8) for rest in ("", ":text", ":thought", ":0", ":0:0")]
    uids += [f"{kind}{call}" for call in ("k1", "M1:0", "M2:0") for kind in ("", "out:", "call:")]
    ids = {event_id(HARNESS, name, "", uid) for uid in uids}
    return ids | {version_id(each, 2) for each in ids}


def confirmed(here: Here, name: str = NAME) -> set[str]:
    """Those of them that stand in anything that the trail holds, in its rows or in its files."""
    wanted = guesses(name)
    kept = here.words()
    with here.trail.reading() as rows:
        found = wanted & {row.event for row in rows.events()}
    found |= wanted & set(re.findall("e[0-9a-f]{16}", kept))
    here.trail.store.close()
    for path in (here.folder.parent / "trail").rglob("*"):
        data = [each for _, each in everything(path)] if path.is_file() else []
        found |= {each for each in wanted if any(bytes.fromhex(each[1:]) in piece for piece in data)}
        found |= {each for each in wanted if any(each.encode() in piece for piece in data)}
    return found


def test_no_guess_of_a_sessions_name_is_confirmed(here: Here) -> None:
    """ERASE.2, TRAIL.4: ids of events are made of the session's name; when it is forgotten no guess of the name finds one."""
    read(here, MiniSweAgent(), MiniSweAgent("other", MiniSweAgent().messages[:2]))
    assert len(confirmed(here)) >= 3
    others = confirmed(here, "other")
    session = session_of(here)
    assert here.forget(session=session).exit_code == 0
    assert confirmed(here) == set()
    assert confirmed(here, "other") == others
    assert here.sound()
    read(here, MiniSweAgent())
    assert confirmed(here) == set()


@pytest.mark.parametrize("first", [WORD, "make test", "5 passed"])
def test_what_went_before_the_name_keeps_no_id_of_it(here: Here, first: str) -> None:
    """ERASE.2: an event that was forgotten for its words loses the id that was made of the name when the name goes."""
    read(here, MiniSweAgent())
    session = session_of(here)
    here.forget(text=first)
    assert confirmed(here)
    assert here.forget(session=session).exit_code == 0
    assert confirmed(here) == set()
    size = here.size()
    assert here.forget(session=session).exit_code == 0
    assert here.size() == size
    assert here.sound()


def test_events_without_their_ids_are_known_again(here: Here) -> None:
    """ERASE.3, EVID.4: the file read again, grown, rewritten or moved, brings nothing back of what was forgotten."""
    session = MiniSweAgent()
    read(here, session)
    number = session_of(here)
    here.forget(session=number)
    with here.trail.reading() as rows:
        kept = [row.event for row in rows.session_events(number)]
    assert len(set(kept)) == len(kept)
    for grown in (session, session._replace(messages=(*session.messages, user("Always run the linter.")))):
        report = read(here, grown)
        assert report.counts["events_forgotten"] == len(kept)
        assert report.counts["events_archived"] == len(grown.messages) - len(session.messages)
    with here.trail.reading() as rows:
        assert [row.event for row in rows.session_events(number)][: len(kept)] == kept
        assert len(rows.names("session")) == 1
    assert WORD not in here.words()
    assert "Friday" not in here.words()
    assert here.sound()
    changed = (user("Something else altogether."), *session.messages[1:])
    report = read(here, session._replace(messages=changed))
    assert report.counts["events_archived"] == 0
    assert "altogether" not in here.words()


def test_a_claim_that_stays_and_names_such_an_event_is_named(here: Here) -> None:
    """ERASE.1, 2: where another session bears a claim out it stays, and confirms the name: found, exit 1, and what helps."""
    read(here, MiniSweAgent())
    read(here, MiniSweAgent("other", (user("Hello."), *MiniSweAgent().messages[1:])))
    claim = here.claim("All 5")
    done = here.forget(session=session_of(here))
    found = place(done, "parts", "found")
    assert done.exit_code == 1
    assert found is not None
    assert found.where == (f"c{claim}",)
    assert len(confirmed(here)) == 1
    here.forget(claim=claim)
    assert confirmed(here) == set()
    assert here.sound()


def test_a_name_that_goes_by_its_text_is_said_to_be_confirmed(here: Here) -> None:
    """ERASE.1, 2: ids of events that stay are made of the name: found, exit 1, and forgetting the session helps."""
    read(here, MiniSweAgent())
    session = session_of(here)
    done = here.forget(text=NAME)
    found = place(done, "archive", "found")
    assert NAME not in here.words()
    assert done.exit_code == 1
    assert found is not None
    assert found.where == (f"s{session}",)
    assert confirmed(here)
    assert here.forget(session=session).exit_code == 0
    assert confirmed(here) == set()
    assert here.sound()


def test_an_id_made_of_a_uuid_is_kept(here: Here) -> None:
    """ERASE.3: nobody guesses a UUID, and an import knows such an event by its id."""
    here.ingest(ClaudeCode("one").says(f"Never call it {WORD}."))
    with here.trail.reading() as rows:
        (name,) = rows.names("session")
        before = [row.event for row in rows.session_events(name.seq)]
    here.forget(session=name.seq)
    with here.trail.reading() as rows:
        assert [row.event for row in rows.session_events(name.seq)] == before
