"""Hypothesis strategies for what a trail is given: texts, holders, valid times, verdicts, entries, and hostile parts."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from tallystick.model.claim import ClaimKind, Derivation, Outcome
from tallystick.model.entry import Entry, EntryKind
from tallystick.model.temporal import DAY, END_OF_TIME, START_OF_TIME, Interval, ValidTime

HOLDERS = ("project:one", "project:two", "person:ada")

words = st.sampled_from("the deploy port is 5432 never tests пройдены déjà-vu NO_CACHE 東京 a.b/c-d O'Neil".split())

texts = st.one_of(
    st.lists(words, min_size=1, max_size=5).map(" ".join),
    st.text(st.characters(max_codepoint=0x24F), min_size=1, max_size=40).filter(lambda text: bool(text.strip())),
)
"""Texts of claims: mostly words that recur, sometimes any Latin letters, signs and control characters."""

holders = st.sampled_from(HOLDERS)
claim_kinds = st.sampled_from([kind.value for kind in ClaimKind])

moments = st.integers(0, 40).map(lambda days: days * DAY)
"""Few instants, so that periods touch and overlap often."""


@st.composite
def periods(draw: st.DrawFn) -> tuple[Interval, ...]:
    """One to three disjoint half-open periods in order, unbounded now and then."""
    cuts = sorted(draw(st.sets(moments, min_size=2, max_size=6)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    first, last = pairs[0], pairs[-1]
    if draw(st.booleans()):
        pairs[0] = (START_OF_TIME, first[1])
    if draw(st.booleans()):
        pairs[-1] = (pairs[-1][0] if len(pairs) == 1 else last[0], END_OF_TIME)
    return tuple(Interval(*pair) for pair in pairs)


def valid_times() -> st.SearchStrategy[ValidTime]:
    """Nothing said, or periods."""
    stated = periods().map(lambda given: ValidTime(given, start_known=True, end_known=True, precision="day"))
    return st.one_of(st.just(ValidTime()), stated)


verdicts = st.one_of(
    st.tuples(st.just("quotation/1"), st.sampled_from([each.value for each in Derivation]), st.text(max_size=12)),
    st.tuples(st.just("outcome/1"), st.sampled_from([each.value for each in Outcome]), st.text(max_size=12)),
)
"""(verifier, value, reason)."""

ids = st.binary(min_size=16, max_size=16).map(bytes.hex)
digests = st.binary(min_size=32, max_size=32).map(bytes.hex)
seqs = st.integers(0, 2**53 - 1)
instants = st.integers(START_OF_TIME, END_OF_TIME)
part_names = st.sampled_from("because facets manifest pool query quote session text valid verdict/7 verdict/70".split())


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    """Any entry that ``check_entry`` lets pass."""
    parts = draw(st.dictionaries(part_names, digests, max_size=4))
    xrefs = draw(st.dictionaries(st.sampled_from(["access", "ledger"]), st.lists(seqs, min_size=1, max_size=3)))
    seq = draw(seqs)
    return Entry(
        draw(ids),
        draw(st.sampled_from(["memory", "access", "ledger"])),
        seq,
        draw(instants),
        draw(instants),
        draw(st.sampled_from([*(kind.value for kind in EntryKind), "dreamt"])),
        draw(ids),
        draw(st.one_of(st.just(""), ids)),
        tuple(draw(st.lists(st.integers(0, seq - 1), max_size=4))) if seq else (),
        tuple(sorted(parts.items())),
        tuple((log, tuple(given)) for log, given in sorted(xrefs.items())),
        draw(st.integers(1, 3)),
    )


_anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=6)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=6,
)
_known_names = st.sampled_from(
    "kind origin session said_at tokens intervals verdicts verifier value reason name start_known".split()
)
_misshapen = st.dictionaries(_known_names, st.one_of(_anything, st.lists(st.dictionaries(_known_names, _anything))))

odd_json = st.one_of(
    st.one_of(st.integers(120, 135), st.integers(400, 1100)).map(lambda deep: b"[" * deep + b"]" * deep),
    st.integers(120, 135).map(lambda deep: b'{"a":' * deep + b"0" + b"}" * deep),
    st.one_of(st.integers(250, 260), st.just(5000)).map(lambda digits: b"1" * digits),
    st.one_of(st.integers(250, 260), st.just(5000)).map(lambda digits: b"0." + b"1" * digits + b"e-7"),
    st.sampled_from(
        [
            b"NaN",
            b"-Infinity",
            b'"\\ud800"',
            b'"\xed\xa0\x80"',
            b'"\xc3\xa9"',
            b"1e999",
            b"-0",
            b"01",
            b'"' + b"[9" * 600 + b'"',
        ]
    ),
)
"""Values whose JSON is read, or refused, by one decoder and not by another, and some that only look so."""


@st.composite
def with_odd_members(draw: st.DrawFn, values: dict[str, object]) -> bytes:
    """A JSON object with the given members, and some that nobody knows and that are odd; now and then in another encoding."""
    known = json.dumps(values).encode()[1:-1]
    odd = [
        b'"%s":%s' % (draw(st.sampled_from([b"x", b"\xc3\xa9", b"z"])), each)
        for each in draw(st.lists(odd_json, max_size=2))
    ]
    body = b"{" + b",".join(draw(st.permutations([*filter(None, [known]), *odd]))) + b"}"
    encoding = draw(st.sampled_from(["utf-8"] * 7 + ["utf-8-sig", "utf-16", "utf-32-le"]))
    return body if encoding == "utf-8" else body.decode("utf-8", "replace").encode(encoding)


hostile_bodies = st.one_of(
    st.binary(max_size=30),
    odd_json,
    with_odd_members({"kind": "fact", "name": "n", "said_at": 5, "intervals": [[3, 9]]}),
    st.sampled_from([b"[" * 9_000, b'{"a":' * 9_000, b'{"kind":"\\ud800"}', b'{"name":"\\udfff"}', b"1" * 5000, b"{}"]),
    _anything.map(lambda value: json.dumps(value).encode()),
    _misshapen.map(lambda value: json.dumps(value).encode()),
)
"""Bodies of parts that no writer of ours would write, near to those that it does."""
