"""``diff``, ``join``, ``register`` and what else asks about two axes of time, as a program calls them (TIME.1-13)."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tallystick.cli.app import tally as command_line
from tests.cli.surface import Tally
from tests.sessions import CLOCK

NOW = int(CLOCK)
HOUR = 3_600_000_000
BERLIN = "Europe/Berlin"


def one_state(tally: Tally) -> int:
    """Register that a host has one state at a time; the entry's seq."""
    return int(tally.json("register", "*", "state", "--because", "a host is in one state")["seq"])


def state(tally: Tally, value: str, *arguments: object) -> str:
    """Remember the state of a host."""
    return tally.remember(f"mini is {value}", "--about", "mini", "state", value, *arguments)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("diff", "after FROM, up to and including TO"),
        ("join", "parts them again"),
        ("register", "one value at a time"),
        ("revise", "says it right"),
        ("remember", "SUBJECT ATTRIBUTE VALUE"),
        ("replay", "--strict"),
        ("recall", "--verbatim-only"),
        ("replay", "$TALLY_ZONE"),
    ],
)
def test_help(command: str, says: str) -> None:
    """cli.md: each command says what it does."""
    shown = CliRunner().invoke(command_line, [command, "--help"], terminal_width=200).output
    assert says in " ".join(shown.split())


def test_register(tally: Tally) -> None:
    """TIME.5-7: a registered attribute has one value at a time; what differed already is named and left; undone, it ends."""
    up, down = state(tally, "up"), state(tally, "down")
    done = tally.json("register", "mini", "state", "--because", "a host is in one state")
    assert done == {
        "seq": done["seq"],
        "subject": "mini",
        "attribute": "state",
        "ended": None,
        "conflicts": [[up, down]],
    }
    assert {up, down} <= {item["id"] for item in tally.believed()}
    tally.clock(NOW + HOUR)
    gone = tally.json("remember", "mini is gone", "--about", "mini", "state", "gone")
    assert gone["closes"] == [up, down]
    assert tally.texts("--holder", "*", "--valid-at", "2026-04-01T01:00:00Z") == ["mini is gone"]
    assert tally.texts("--holder", "*", "--valid-at", "2026-04-01T00:59:59Z") == ["mini is up", "mini is down"]
    undone = tally.json("undo", done["seq"], "--because", "two disks")
    assert (undone["id"], undone["closes"]) == (None, [])
    (item,) = tally.json("register")["items"]
    assert item == {"seq": done["seq"], "subject": "mini", "attribute": "state", "ended": undone["seq"]}
    assert tally.json("remember", "mini is new", "--about", "mini", "state", "new")["closes"] == []
    assert tally.sound()


def test_register_for_a_reader(tally: Tally) -> None:
    """cli.md: the human view names what is registered, what ended, and what differs."""
    assert tally("register").out == "nothing is registered\n"
    up, down = state(tally, "up"), state(tally, "down")
    lines = tally("register", "*", "state", "--because", "r").out.splitlines()
    assert "state of any subject has one value at a time" in lines[0]
    assert f"held already and different: {up}, {down}" in lines[1]
    seq = tally.json("register")["items"][0]["seq"]
    assert "has ended already" not in tally("undo", seq, "--because", "r").out
    assert "has ended already" in tally("undo", seq, "--because", "r").out
    assert f"{seq}: state of any subject has one value at a time, ended at {seq + 1}\n" == tally("register").out


def test_what_was_registered_at_a_point(tally: Tally) -> None:
    """TIME.3, 4: the list is of a point, which it names: what was registered later is not in it, what ended later stands."""
    tally.remember("zero")
    before = tally.json("verify")["size"] - 1
    made = tally.json("register", "*", "state", "--because", "r")["seq"]
    ended = tally.json("undo", made, "--because", "r")["seq"]
    item = {"seq": made, "subject": "*", "attribute": "state", "ended": None}
    for as_of, items in ((before, []), (made, [item]), (ended, [{**item, "ended": ended}])):
        listed = tally.json("register", "--as-of", as_of)
        assert listed == {"seq": as_of, "at": "2026-04-01T00:00:00Z", "items": items}
    assert tally.json("register") == listed
    assert tally("register", "--as-of", before).out == f"nothing is registered as of {before}\n"
    assert "ended" not in tally("register", "--as-of", made).out
    assert "the listing alone" in tally.refused("register", "a", "b", "--because", "r", "--as-of", before)
    assert f"the newest is {ended}" in tally.refused("register", "--as-of", ended + 1)


def test_register_refuses(tally: Tally) -> None:
    """cli.md: what is registered already, or has no name or reason, is refused in one line."""
    seq = one_state(tally)
    assert f"registered already, at {seq}" in tally.refused("register", "*", "state", "--because", "r")
    assert "a subject and an attribute" in tally.refused("register", "mini", "--because", "r")
    for wrong in (["mini", "state"], ["mini", " ", "--because", "r"], ["mini", "state", "--because", " "]):
        assert "needs a name and --because" in tally.refused("register", *wrong)
    assert tally.json("register", "mini", "state", "--because", "r")["subject"] == "mini"


def test_a_person_is_not_overruled(tally: Tally) -> None:
    """ERASE.4: a person's own words give way to nobody else's; both stand, and the conflict is flagged."""
    from tests.sessions import ClaudeCode

    path = ClaudeCode("own", cwd=str(tally.project)).says("mini is up").write(tally.folder / "own.jsonl")
    one_state(tally)
    mine = state(tally, "up", "--quote", "mini is up", "--session", path)
    assert tally.json("why", mine)["claim"]["origin"] == "user"
    before = tally.json("verify")["size"] - 1
    tally.clock(NOW + HOUR)
    done = tally.json("remember", "mini is down", "--about", "mini", "state", "down")
    assert done["closes"] == []
    assert tally.texts("--holder", "*") == ["mini is up", "mini is down"]
    (flagged,) = tally.json("diff", before)["contradicted"]
    assert (flagged["id"], flagged["others"]) == (done["id"], [mine])


def test_a_registered_value_is_revised(tally: Tally) -> None:
    """TIME.5, 7: a correction of a registered value takes its time and no more; a change takes the place of what holds now."""
    one_state(tally)
    first = state(tally, "up", "--valid-from", "2026-01-01")
    second = state(tally, "down", "--valid-from", "2026-02-01")
    done = tally.json("revise", first, "mini is lost", "--value", "lost", "--because", "r")
    assert done["closes"] == [first]
    held = {item["text"]: item["valid"] for item in tally.believed()}
    assert held["mini is lost"] == [{"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"}]
    assert held["mini is down"] == [{"from": "2026-02-01T00:00:00Z", "to": None}]
    changed = tally.json("revise", done["id"], "mini is gone", "--value", "gone", "--because", "r", "--kind", "change")
    assert second in changed["closes"]
    assert tally.texts("--holder", "*", "--valid-at", "2026-04-01T00:00:00Z") == ["mini is gone"]


def test_diff(tally: Tally) -> None:
    """TIME.5: everything that happened between two points is listed by kind, with its reason and who did it; the rest counted."""
    one = tally.remember("the port is 5432")
    start = tally.json("verify")["size"] - 1
    two = tally.remember("the host is mini")
    three = tally.json("revise", one, "the port is 5433", "--because", "a slip")
    four = tally.json("revise", two, "the host is maxi", "--because", "moved", "--kind", "change")
    five = tally.json("retract", four["id"], "--because", "gone")
    six = tally.json("undo", five["seq"], "--because", "not gone")
    tally.remember("the host is maxi")
    found = tally.json("diff", start)
    assert (found["from"]["seq"], found["to"]["seq"]) == (start, tally.json("verify")["size"] - 1)
    assert found["counts"] == {
        "learned": 1, "corrected": 1, "changed": 1, "reconfirmed": 1, "judged": found["counts"]["judged"],
        "retracted": 1, "undone": 1,
    }  # fmt: skip
    assert found["corrected"] == [
        {"seq": three["seq"], "at": "2026-04-01T00:00:00Z", "id": three["id"], "text": "the port is 5433",
         "others": [one], "because": "a slip", "actor": "tally"}
    ]  # fmt: skip
    assert [(item["id"], item["because"]) for item in found["changed"]] == [(four["id"], "moved")]
    assert [(item["id"], item["because"]) for item in found["retracted"]] == [(four["id"], "gone")]
    assert [(item["seq"], item["id"]) for item in found["undone"]] == [(six["seq"], four["id"])]
    assert (found["reconfirmed"], found["judged"], found["next"]) == ([], [], None)
    assert len(tally.json("diff", start, "--all")["reconfirmed"]) == 1
    assert tally.json("diff", start, start)["counts"] == {}
    human = tally("diff", start).out
    assert f"~ {three['seq']} corrected {three['id']} ({one}): the port is 5433 because a slip" in human
    assert "1 learned, 1 corrected, 1 changed, 1 reconfirmed" in human


def test_diff_of_holders_and_registrations(tally: Tally) -> None:
    """TIME.5, 9: what changes whose memory is asked, or what gives way, is listed: of these holders, of an attribute for all."""
    mine = f"project:{tally.project}"
    tally.remember("mine")
    tally.remember("theirs", "--holder", "laptop")
    tally.remember("others", "--holder", "desk")
    start = tally.json("verify")["size"] - 1
    joined = tally.json("join", "laptop", mine, "--because", "one machine")["seq"]
    made = tally.json("register", "*", "state", "--because", "a host is in one")["seq"]
    ended = tally.json("undo", made, "--because", "two disks")["seq"]
    parted = tally.json("undo", joined, "--because", "two machines")["seq"]
    one = tally.json("register", "mini", "port", "--because", "one")["seq"]
    rest = {"at": "2026-04-01T00:00:00Z", "actor": "tally"}
    holders = {"holders": ["project:laptop", mine], **rest}
    attribute = {"subject": "*", "attribute": "state", **rest}
    for scope in (("--holder", "*"), ("--holder", "laptop"), ()):
        found = tally.json("diff", start, *scope)
        assert found["counts"] == {"joined": 1, "parted": 1, "registered": 2, "unregistered": 1}
        assert found["joined"] == [{"seq": joined, "because": "one machine", **holders}]
        assert found["parted"] == [{"seq": parted, "because": "two machines", **holders}]
        assert found["registered"][0] == {"seq": made, "because": "a host is in one", **attribute}
        assert found["registered"][1]["subject"] == "mini"
        assert found["unregistered"] == [{"seq": ended, "because": "two disks", **attribute}]
    assert tally.json("diff", start, "--holder", "desk")["counts"] == {"registered": 2, "unregistered": 1}
    assert tally("diff", start).out.splitlines() == [
        f"after {start}, up to {one}: 1 joined, 1 parted, 2 registered, 1 unregistered",
        f"  ~ {joined} joined project:laptop, {mine} because one machine",
        f"  ~ {made} registered state of any subject because a host is in one",
        f"  ↶ {ended} unregistered state of any subject because two disks",
        f"  ↶ {parted} parted project:laptop, {mine} because two machines",
        f"  ~ {one} registered port of mini because one",
    ]


def test_diff_by_pages(tally: Tally) -> None:
    """TIME.3: pages follow each other without a gap or a repetition, and ``--count`` lists nothing."""
    tally.remember("zero")
    start = tally.json("verify")["size"] - 1
    for n in range(5):
        tally.remember(f"claim {n}")
    whole = tally.json("diff", start)["learned"]
    first = tally.json("diff", start, "--limit", 2)
    paged, following = first["learned"], first["next"]
    while following is not None:
        page = tally.json("diff", start, "--limit", 2, "--after", following)
        paged, following = paged + page["learned"], page["next"]
    assert paged == whole
    assert len(whole) == 5
    counted = tally.json("diff", start, "--count")
    assert (counted["counts"]["learned"], counted["learned"]) == (5, [])
    assert "more with --after" in tally("diff", start, "--limit", 2).out


def test_diff_refuses(tally: Tally) -> None:
    """TIME.2, 10: points that are none, or the wrong way round, are refused by name."""
    tally.remember("one")
    size = tally.json("verify")["size"]
    assert "the first must be the earlier one" in tally.refused("diff", size - 1, 0)
    assert "no zone" in tally.refused("diff", "2026-04-01T00:00:00")
    assert "later than now" in tally.refused("diff", 0, "2999-01-01T00:00:00Z")
    assert f"the newest is {size - 1}" in tally.refused("diff", size)
    assert "--after x" in tally.refused("diff", 0, "--after", "x")
    assert "no such holder" in tally.refused("diff", 0, "--holder", "nobody")


def test_join(tally: Tally) -> None:
    """SEC.3: what is asked of either of two holders is asked of both until they are parted; no claim is written anew."""
    mine = tally.remember("mine")
    theirs = tally.remember("theirs", "--holder", "project:laptop")
    done = tally.json("join", "laptop", f"project:{tally.project}", "--because", "the same repository")
    assert done == {"seq": done["seq"], "holders": [f"project:{tally.project}", "project:laptop"], "conflicts": []}
    assert [item["id"] for item in tally.json("replay")["items"]] == [mine, theirs]
    assert [item["id"] for item in tally.json("recall", "mine", "--holder", "laptop")["items"]] == [mine]
    assert [item["id"] for item in tally.json("replay", "--as-of", done["seq"] - 1)["items"]] == [mine]
    assert "one holder already" in tally.refused("join", "laptop", str(tally.project), "--because", "r")
    parted = tally("undo", done["seq"], "--because", "two after all").out
    assert parted.startswith("undone at ")
    assert [item["id"] for item in tally.json("replay")["items"]] == [mine]
    assert "changed nothing that is believed" in tally.refused("undo", done["seq"] + 1, "--because", "r")
    again = tally("join", "laptop", str(tally.project), "--because", "one again").out
    assert again.startswith("one since ")
    assert tally.sound()


def test_join_names_what_differs(tally: Tally) -> None:
    """TIME.5: what two holders hold apart of an attribute that has one value at a time is named as they are joined."""
    one_state(tally)
    up = state(tally, "up", "--holder", "laptop")
    down = state(tally, "down", "--holder", "desktop")
    shown = tally("join", "laptop", "desktop", "--because", "one machine").out.splitlines()
    assert shown[1:] == [f"  held and different: {up}, {down}; revise or retract what is wrong"]
    tally.clock(NOW + HOUR)
    gone = tally.json("remember", "mini is gone", "--about", "mini", "state", "gone", "--holder", "laptop")
    assert gone["closes"] == [up, down]
    assert tally.sound()


def test_join_refuses(tally: Tally) -> None:
    """cli.md: a holder that nobody knows is named, with those that there are; a reason is needed."""
    assert "there are none yet" in tally.refused("join", "a", "b", "--because", "r")
    tally.remember("mine")
    error = tally.refused("join", str(tally.project), "nobody", "--because", "r")
    assert "nobody: no such holder" in error
    assert f"project:{tally.project}" in error
    assert "needs --because" in tally.refused("join", "ada", str(tally.project), "--because", " ")
    assert "one holder already" in tally.refused("join", "ada", "ada", "--because", "r")


def test_merge(tally: Tally) -> None:
    """TIME.5, bitemporal case 16: a claim is corrected into one that is held; what cannot be is refused with the reason."""
    rome, paris = tally.remember("the city is Rome"), tally.remember("the city is Paris")
    theirs = tally.remember("the city is Rome", "--holder", "laptop")
    assert "cannot be revised into itself" in tally.refused("revise", rome, "--into", rome, "--because", "r")
    assert "stand in two memories" in tally.refused("revise", paris, "--into", theirs, "--because", "r")
    assert "c999" in tally.refused("revise", paris, "--into", "c999", "--because", "r")
    for wrong in (["a text", "--into", rome], []):
        assert "--into" in tally.refused("revise", paris, *wrong, "--because", "r")
    for wrong in (["--kind", "change"], ["--value", "v"], ["--valid-from", "2026"]):
        assert "nothing new is said" in tally.refused("revise", paris, "--into", rome, *wrong, "--because", "r")
    done = tally.json("revise", paris, "--into", rome, "--because", "a slip")
    assert (done["id"], done["closes"], done["note"]) == (rome, [paris], None)
    (merged,) = tally.json("diff", done["seq"] - 1)["merged"]
    assert (merged["id"], merged["others"], merged["because"]) == (rome, [paris], "a slip")
    error = tally.refused("revise", rome, "--into", paris, "--because", "back")
    assert f"{paris} is not held any more (revised at {done['seq']}: a slip)" in error


def test_valid_at(tally: Tally) -> None:
    """TIME.1, 11: what held at an instant of the world, and with ``--strict`` only where it is known since when."""
    tally.remember("nobody says since when")
    tally.remember("since May", "--valid-from", "2025-05")
    assert tally.texts("--holder", "*", "--valid-at", "2025-06-01") == ["nobody says since when", "since May"]
    assert tally.texts("--holder", "*", "--valid-at", "2025-06-01", "--strict") == ["since May"]
    assert tally.texts("--holder", "*", "--valid-at", "1500", "--strict") == []
    assert tally.texts("--holder", "*", "--valid-at", "1500") == ["nobody says since when"]
    for read in (["replay"], ["recall", "since"]):
        assert "--strict goes with --valid-at" in tally.refused(*read, "--strict")
        assert "no zone" in tally.refused(*read, "--valid-at", "2025-06-01T00:00:00")
        assert "no such time zone" in tally.refused(*read, "--valid-at", "2025-06-01", "--zone", "Mars/Base")
    assert "too far off" in tally.refused("remember", "x", "--valid-from", "1500")
    assert "too far off" in tally.refused("remember", "x", "--valid-from", "2026", "--valid-to", "9999")
    assert "must come before" in tally.refused("remember", "x", "--valid-from", "2026-02", "--valid-to", "2026-02")


def test_days_of_a_zone(tally: Tally) -> None:
    """TIME.10: bare dates are days where the holder is, and keep how exact they were; ``$TALLY_ZONE`` says it once for all."""
    claim = tally.remember("on call", "--valid-from", "2026-03-29", "--valid-to", "2026-03-30", "--zone", BERLIN)
    (item,) = tally.believed()
    assert item["valid"] == [{"from": "2026-03-28T23:00:00Z", "to": "2026-03-29T22:00:00Z"}]
    assert item["precision"] == "day"
    assert tally.json("recall", "call")["items"][0]["precision"] == "day"
    said = tally.json("why", claim)["claim"]
    assert said["stated"] == {
        "precision": "day", "zone": BERLIN, "words": "2026-03-29 … 2026-03-30", "flags": [],
    }  # fmt: skip
    assert tally.texts("--holder", "*", "--valid-at", "2026-03-30") == []
    tally.setenv({"TALLY_ZONE": BERLIN})
    assert tally.texts("--holder", "*", "--valid-at", "2026-03-29") == ["on call"]
    assert tally.texts("--holder", "*", "--valid-at", "2026-03-30", "--zone", "America/New_York") == []
    tally.json("revise", claim, "off duty", "--because", "r", "--valid-from", "2026-03-29", "--valid-to", "2026-03-30")
    assert tally.texts("--holder", "*") == ["off duty"]
    exact = tally.remember("an instant", "--valid-from", "2026-03-29T00:00:00Z")
    assert tally.json("why", exact)["claim"]["stated"]["zone"] is None


@pytest.mark.parametrize(
    ("option", "time", "flag", "says"),
    [
        ("--valid-from", "2026-03-29 02:30", "nonexistent_local_time", "never was"),
        ("--valid-to", "2026-03-29 02:30", "nonexistent_local_time", "never was"),
        ("--valid-from", "2026-10-25 02:30", "ambiguous_local_time", "was twice"),
        ("--valid-to", "2026-10-25 02:30", "ambiguous_local_time", "was twice"),
    ],
)
def test_a_local_time_that_is_none_or_two_is_told(tally: Tally, option: str, time: str, flag: str, says: str) -> None:
    """TIME.10: whoever states such a time is told so at once, by every command that takes one, as a reader and as a program."""
    when = option, f"{time} {BERLIN}"
    claim = tally.remember("on call")
    for number, command in enumerate(
        (("remember", "off"), ("revise", claim, "on", "--because", "r", "--kind", "change"))
    ):
        human = tally(*command, *when)
        assert (human.code, human.err) == (0, "")
        assert f"note: {time} {BERLIN}: a local time that {says}" in human.out
        claim = tally.remember(f"again {number}")
        given = ("remember", "other") if command[0] == "remember" else ("revise", claim, *command[2:])
        told = tally.json(*given, *when)
        assert told["flags"] == [flag]
        assert tally.json("why", told["id"])["claim"]["stated"]["flags"] == [flag]
    assert tally.json("remember", "plain", "--valid-from", "2026-03-29")["flags"] == []
    assert "note:" not in tally("remember", "plainer", option, "2026-03-29T02:30:00Z").out
