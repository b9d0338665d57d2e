"""EVID.9: no field of an event and no fact about a session keeps a secret, and reading them costs little more than the text."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.evidence import Event, EventKind, Locator, Origin
from tallystick.redaction import redact, redact_event, redact_strings

TOKEN = "ghp_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA1b"
CUT = "[redacted:github-token]"
FIELDS = ("uid", "text", "thread", "tool", "call_id", "command", "paths")


def _event(kind: EventKind = EventKind.TOOL_CALL, **fields: Any) -> Event:
    plain = Event("u1:0", kind, Origin.ASSISTANT, "ls", Locator(3, 2, 1, 400, 90), tool="Bash", call_id="toolu_01")
    return plain._replace(**fields)


@pytest.mark.parametrize("field", FIELDS)
def test_no_field_of_an_event_keeps_a_secret(field: str) -> None:
    """EVID.9, pitfall 56: whichever field a secret stands in, it is gone from the whole event, counted once, and the rest
    is as it was."""
    value: Any = ("a.py", f"/tmp/{TOKEN}/b") if field == "paths" else f"x {TOKEN} y"
    clean, counts = redact_event(_event(**{field: value}))
    assert TOKEN not in repr(clean)
    assert CUT in repr(getattr(clean, field))
    assert counts == {"github-token": 1}
    assert clean._replace(**{field: value}) == _event(**{field: value})
    assert redact_event(clean) == (clean, {})


def test_two_records_named_by_a_secret_stay_two() -> None:
    """EVID.9, EVID.1: ids that differed only in the secret are told apart by their place, so neither event is lost."""
    one, _ = redact_event(_event(uid=TOKEN))
    two, _ = redact_event(_event(uid=TOKEN[:-1] + "z", locator=Locator(4, 3, 1, 490, 90)))
    assert one.uid != two.uid


def test_a_secret_that_fields_repeat_is_counted_once() -> None:
    """EVID.9: a call whose command is its text, or is quoted in it, counts each secret once; its result adds nothing."""
    command = f"curl -H 'X: {TOKEN}' https://h"
    for text in (command, f"run: {command}"):
        clean, counts = redact_event(_event(text=text, command=command))
        assert counts == {"github-token": 1}
        assert TOKEN not in clean.text + clean.command
    result, counts = redact_event(_event(EventKind.TOOL_RESULT, text="ok", command=command))
    assert counts == {}
    assert result.command == command.replace(TOKEN, CUT)


def test_an_event_without_secrets_comes_back_itself() -> None:
    """EVID.9: nothing is copied where nothing is taken out, also when a field names secrets (`tokens.py`)."""
    event = _event(paths=("src/tokens.py", "secret_keys.md"), command="cat src/tokens.py")
    clean, counts = redact_event(event)
    assert clean is event
    assert counts == {}


def test_addresses_in_any_field_go_when_asked() -> None:
    """EVID.9: e-mail addresses are taken out of every field when asked and of none otherwise."""
    event = _event(text="to a@b.org", command="mail a@b.org", paths=("/home/a@b.org/x",))
    assert redact_event(event) == (event, {})
    clean, counts = redact_event(event, emails=True)
    assert "a@b.org" not in repr(clean)
    assert counts == {"email": 1}


@given(st.dictionaries(st.text(max_size=8), st.sampled_from(["main", TOKEN, f"a {TOKEN}", "DB_PASSWORD=hunter2", ""])))
def test_facts_are_redacted_value_by_value(values: dict[str, str]) -> None:
    """EVID.9: names and order are kept, each value is what `redact` makes of it, counts add up."""
    clean, counts = redact_strings(values)
    assert list(clean.items()) == [(name, redact(value).text) for name, value in values.items()]
    assert sum(counts.values()) == sum(value not in ("main", "") for value in values.values())


def test_a_result_does_not_pay_for_its_calls_command_again() -> None:
    """EVID.10: one command of a megabyte on a call and its hundred results is read once."""
    assert any(_costs_little(f"echo word{n} " * 100_000) for n in range(3))  # The machine is shared.


def _costs_little(command: str) -> bool:
    begin = time.process_time()
    redact(command)
    once = time.process_time() - begin
    begin = time.process_time()
    for n in range(100):
        redact_event(_event(EventKind.TOOL_RESULT, text=f"line {n}", command=command))
    return time.process_time() - begin < 20 * once + 0.1
