"""Documents of messages: where each message stands, found in linear time whatever the messages are."""

from __future__ import annotations

import msgspec

from tallystick.transcripts.documents import placed
from tallystick.transcripts.protocol import RawRecord

MESSAGES = [msgspec.Raw(b'{"n":%d}' % number) for number in range(1000)]


class Searched(bytes):
    """Bytes that count how often something was looked for in them."""

    times = 0

    def find(self, *arguments: object) -> int:
        Searched.times += 1
        return -1  # None of them stands in it.


def test_messages_stand_where_they_stand() -> None:
    """EVID.1: equal messages have places of their own, in the order of the document."""
    twice = [*MESSAGES[:3], *MESSAGES[:3]]
    data = b"[" + b", ".join(bytes(each) for each in twice) + b"]"
    found = list(placed(twice, RawRecord(1, 0, data)))
    assert [data[each.offset : each.offset + each.length] for each in found] == [each.data for each in found]
    assert len({each.offset for each in found}) == 6


def test_what_stands_nowhere_is_not_looked_for_again_and_again() -> None:
    """EVID.10: messages that were mended, or stand in another order, do not each cost a search of the whole document."""
    for exact, most in ((False, 0), (True, 20)):
        Searched.times = 0
        found = list(placed(MESSAGES, RawRecord(1, 7, Searched(b"x" * 50)), exact=exact))
        assert {(each.offset, each.length) for each in found} == {(7, 50)}
        assert Searched.times <= most
