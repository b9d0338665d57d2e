"""Framing of growing files: what is a line, what is torn, where the next read goes on."""

from __future__ import annotations

import time
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.transcripts.lines import LineSource, complete, objects, records
from tallystick.transcripts.protocol import RawRecord

LINES = st.lists(st.binary(max_size=12).map(lambda data: b'{"a":"' + data.hex().encode() + b'"}'), max_size=8)


def lines_of(data: bytes, **options: int) -> tuple[list[RawRecord], LineSource]:
    source = LineSource(BytesIO(data), **options)  # type: ignore[arg-type]
    return list(source), source


@given(LINES, st.sampled_from([b"\n", b"\r\n"]), st.booleans())
def test_lines_come_back_with_their_places(lines: list[bytes], end: bytes, last_ended: bool) -> None:
    """EVID.1: each record is the bytes at its offset, numbered by its physical line, whatever ends the lines."""
    data = end.join(lines) + (end if last_ended else b"")
    found, source = lines_of(data)
    assert [record.data for record in found] == lines
    assert all(data[r.offset : r.offset + len(r.data)] == r.data for r in found)
    assert [r.line for r in found] == list(range(1, len(lines) + 1))
    assert source.position.offset == len(data)
    assert not source.problems


@given(LINES, st.data())
def test_a_grown_file_is_read_from_where_it_ended(lines: list[bytes], draw: st.DataObject) -> None:
    """EVID.4: cut at any byte and read on from ``position``, the records are those of one reading."""
    data = b"\n".join(lines)
    cut = draw.draw(st.integers(0, len(data)))
    first, source = lines_of(data[:cut])
    rest, _ = lines_of(data, offset=source.position.offset, line=source.position.line)
    assert first + rest == lines_of(data)[0]


def test_a_torn_last_line_is_left_unread() -> None:
    """EVID.2, pitfall 2: a torn last line stays unread, and ``position`` is its first byte."""
    found, source = lines_of(b'{"a":1}\n{"b":"tor')
    assert [record.data for record in found] == [b'{"a":1}']
    assert source.position == (8, 2)
    assert not source.problems


@pytest.mark.parametrize("tail", [b'{"b":"}', b'{"b":[1,2]', b'{"a":1}{"b"', b'"text"', b"12", b"//", b'{"b":"\\"}'])
def test_only_a_whole_object_is_complete(tail: bytes) -> None:
    """EVID.2: without its line end a line is read only when its last bracket closes it."""
    assert not complete(tail)
    assert lines_of(tail)[0] == []
    assert [record.data for record in lines_of(tail, final=True)[0]] == [tail]


@pytest.mark.parametrize("tail", [b'{"b":"x"}', b'{"b":"\\\\"} ', b'{"a":{"c":"]"}}{"b":2}', b"[1,[2]]", b'{"b":1}\r'])
def test_a_whole_last_line_without_its_end_is_read(tail: bytes) -> None:
    """EVID.2: a last line that is complete JSON is read though no line end has been written."""
    found, source = lines_of(b"{}\n" + tail)
    assert [record.data for record in found] == [b"{}", tail.strip()]
    assert source.position == (3 + len(tail), 2)


def test_reading_on_after_a_line_whose_end_came_later() -> None:
    """EVID.4: the late line end of a line that was read makes no second record, and lines stay numbered right."""
    first, source = lines_of(b'{"a":1}')
    rest, _ = lines_of(b'{"a":1}\n{"b":2}\n', offset=source.position.offset, line=source.position.line)
    assert [(r.line, r.offset, r.data) for r in first + rest] == [(1, 0, b'{"a":1}'), (2, 8, b'{"b":2}')]


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\r"])
def test_lines_end_at_newline_only(odd: str) -> None:
    """EVID.2 (failure case 37, pitfall 7): no other separator ends a line."""
    line = f'{{"a":"x{odd}y"}}'.encode()
    assert [record.data for record in lines_of(line + b"\n" + line + b"\n")[0]] == [line, line]


def test_byte_order_mark_and_nul_bytes_are_not_content() -> None:
    """EVID.2, pitfall 7: a BOM at the start of the file and NUL bytes of a crash are left out; the offsets stay true."""
    data = b'\xef\xbb\xbf{"a":1}\r\n\0\0\0{"b":2}\0\n\0\0\n\n  \n{"c":3}\n'
    found, source = lines_of(data)
    assert [(r.line, r.data) for r in found] == [(1, b'{"a":1}'), (2, b'{"b":2}'), (6, b'{"c":3}')]
    assert all(data[r.offset : r.offset + len(r.data)] == r.data for r in found)
    assert [(p.line, p.reason) for p in source.problems] == [(3, "only NUL bytes")]
    assert lines_of(b'{}\n\xef\xbb\xbf{"a":1}\n')[0][1].data == b'\xef\xbb\xbf{"a":1}'


@pytest.mark.parametrize("length", [11, 12, 13, 23, 24, 25, 500])
def test_a_line_over_the_limit_is_skipped_and_said(length: int) -> None:
    """EVID.10: no more than the limit is held; the rest of the file is read, and the line is reported by number."""
    long = b'{"a":"' + b"x" * length + b'"}'
    data = b"{}\n" + long + b'\n{"b":2}\n'
    found, source = lines_of(data, max_bytes=12)
    assert [(r.line, r.offset, r.data) for r in found] == [(1, 0, b"{}"), (3, len(long) + 4, b'{"b":2}')]
    assert [(p.line, p.reason) for p in source.problems] == [(2, "line longer than 12 bytes")]
    assert source.position == (len(data), 4)


def test_a_line_of_exactly_the_limit_with_its_end_is_read() -> None:
    """EVID.10: the limit counts the bytes that are read at once, the line end included."""
    assert [record.data for record in lines_of(b'{"a":"bcd"}\n', max_bytes=12)[0]] == [b'{"a":"bcd"}']


def test_records_adds_skipped_lines_to_the_callers_list() -> None:
    """EVID.3: the plain function reports what it skips too."""
    problems: list[object] = []
    assert [record.line for record in records(BytesIO(b"{}\n\0\n{}\n"), problems=problems)] == [1, 3]  # type: ignore[arg-type]
    assert len(problems) == 1


@given(
    st.lists(st.sampled_from([b'{"a":1}', b'{"b":{"c":"}{"}}', b"[]", b'{"d":"\\"{"}']), max_size=6),
    st.binary(max_size=3),
)
def test_glued_objects_are_found_one_by_one(parts: list[bytes], between: bytes) -> None:
    """EVID.2 (failure case 37, pitfall 1): objects side by side on a line are all found, whatever their strings hold."""
    between = bytes(byte for byte in between if byte not in b'{}[]"')
    data = between.join(parts)
    assert [data[start:end] for start, end in objects(data)] == parts


@pytest.mark.parametrize(
    "hostile",
    [b"{" * 1_000_000, b'"' * 1_000_001, b'\\"' * 500_000, b'{"' * 500_000, b"{}" * 500_000, b'"\\' * 500_000],
)
def test_finding_objects_is_linear(hostile: bytes) -> None:
    """EVID.10: a megabyte of brackets, quotes or escapes takes no longer than a megabyte of anything."""
    began = time.process_time()
    assert sum(end - start for start, end in objects(hostile)) <= len(hostile)
    complete(hostile + b"}")
    assert time.process_time() - began < 15


def test_a_line_of_200_megabytes_passes_in_bounded_memory() -> None:
    """EVID.10 (failure case 34, pitfalls 5, 6): a huge line is walked through in pieces."""

    class Endless(BytesIO):
        left = 200 * 1024 * 1024
        most = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            assert size is not None
            assert size > 0
            self.most = max(self.most, size)
            take = min(size, self.left)
            self.left -= take
            return b"x" * take

    stream = Endless()
    source = LineSource(stream, max_bytes=1 << 20)
    assert list(source) == []
    assert stream.most <= 1 << 20
    assert source.position.offset == 200 * 1024 * 1024
    assert [problem.line for problem in source.problems] == [1]
