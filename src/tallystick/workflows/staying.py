"""Staying: what other logs say of what goes, and where its words stand all the same, so that each place is named (ERASE.1).

Words that are long enough to tell go from answers wherever they stand. Shorter ones, such as "yes", are others' words as well:
they go from what showed the claim and from the question that it was shown for, and elsewhere they are named and stay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from tallystick.briefing import shown
from tallystick.errors import TrailUnreadable
from tallystick.log.canonical import entry_from_bytes
from tallystick.model.entry import Entry, EntryKind
from tallystick.store.protocol import Reading
from tallystick.trail.archive import ArchiveReader, is_erased, unpacked
from tallystick.workflows.occurrences import WITHOUT_WORDS, Needles
from tallystick.workflows.selecting import Kept, Selected, all_parts

TELLING = 16
"""Characters from which words are looked for byte for byte; shorter ones stand everywhere, and count as whole words alone."""
_NEVER = "the reason of an earlier erasure is never erased"
_SAME_WORDS = "the words of a claim that goes stand here too; forget it by its id, or the words with `--text`"
_NAME = "the name of the holder that goes stands here too; `--text` erases it"


class Wording:
    """The words and names of what goes, to be looked for wherever else they stand."""

    def __init__(self, selected: Selected, asked: Needles) -> None:
        """``asked`` is the text that is forgotten as such, if one is: then it alone is looked for in what would stay."""
        names = [name.partition(":")[2] or name for name in selected.names]
        own = _shown_forms(selected.words)
        telling = [form for form in own if len(form) >= TELLING]
        self.own = Needles([*own, *names])
        """What a question goes for that a claim which goes was shown for."""
        self.telling = Needles([*asked.texts, *(f for f in _shown_forms(asked.texts) if len(f) >= TELLING), *telling])
        """What goes from answers wherever it stands."""
        words = Needles(telling, words=(form for form in own if len(form) < TELLING))
        self.named = [] if asked else [(words, _SAME_WORDS), (Needles((), words=names), _NAME)]
        """What stays and is named, with the reason."""


def same_words(to: Selected, wording: Wording) -> list[Kept]:
    """What of the memory log stays and has the words or the name of what goes in it."""
    found: list[Kept] = []
    for needles, why in wording.named:
        if needles:
            found += [Kept("parts", where, why) for where in _parts(to, needles)]
            found += _events(to, needles, why)
            found += [Kept("source notes", path, why) for path in _sources(to, needles)]
    return list(dict.fromkeys(found))


def _parts(to: Selected, needles: Needles) -> Iterator[str]:
    for part in all_parts(to.rows):
        if part.name not in to.parts.get(part.seq, ()) and needles.stand_in_part(part.name, part.body):
            yield f"c{part.seq}" if to.rows.claim_row(part.seq) is not None else f"entry {part.seq}"


def _events(to: Selected, needles: Needles, why: str) -> Iterator[Kept]:
    """Archived events, those apart that are named as evidence; a block that cannot be read cannot be told."""
    blocks: set[int] = set()
    for block in to.rows.blocks():
        try:
            blocks |= {block.block} if needles.may_stand_in(unpacked(block.block, block.data)) else set()
        except TrailUnreadable as error:
            yield Kept("archive", f"block {block.block}", str(error), unread=True)
    reader = ArchiveReader(to.rows)
    for row in to.rows.events() if blocks else ():
        goes = row.n in to.events.get(row.session, ()) or row.event in to.evidence
        if row.block in blocks and not goes and needles.stand_in_record(reader.record(row)):
            yield Kept("archive", f"s{row.session} {row.event}", why)


def _sources(to: Selected, needles: Needles) -> Iterator[str]:
    for name in to.rows.names("session"):
        for source in to.rows.sources(name.seq) if name.seq not in to.sources else ():
            if needles.stand_in(source.path) or needles.stand_in(source.calls.decode("utf-8", "replace")):
                yield source.path


def evidence_that_stays(to: Selected) -> list[Kept]:
    """The archived events that claims which go were found in or rest on, and that do not go with them."""
    why = "words that a claim rests on; `--session` or `--text` erases them"
    found = []
    for event in to.evidence:
        row = to.rows.event(event)
        if row is not None and not is_erased(row) and row.n not in to.events.get(row.session, ()):
            found.append(Kept("archive", f"s{row.session} {event}", why))
    return found


def parts_in_answers(
    rows: Reading, claims: Collection[int], wording: Wording
) -> tuple[dict[int, set[str]], list[Kept]]:
    """Parts of the access log or the ledger that go, and what stays and has the words in it.

    What goes: what showed one of the claims, the question that it was shown for where that has words of them, and
    everything in which words stand that are long enough to tell.
    """
    place = f"{rows.meta('log')} log"
    found: defaultdict[int, set[str]] = defaultdict(set)
    stays: list[Kept] = []
    showed = {touch.seq for claim in claims for touch in rows.touches(claim) if touch.kind != EntryKind.ERASED}
    asked: set[int] = set(showed)
    for seq in showed:
        found[seq] |= {part.name for part in rows.parts(seq)} - WITHOUT_WORDS - {"query"}
        entry = _entry(rows, seq)
        asked |= set(entry.refs) if entry.kind == EntryKind.SURFACED else set()
    for seq in asked:
        for part in rows.parts(seq):
            if part.name == "query" and wording.own.stand_in_part(part.name, part.body):
                found[seq].add(part.name)
    for part in all_parts(rows):
        stand = part.name, part.body
        if wording.telling.stand_in_part(*stand):
            if _entry(rows, part.seq).kind == EntryKind.ERASED:
                stays.append(Kept(place, f"entry {part.seq}", _NEVER, failed=True))
            else:
                found[part.seq].add(part.name)
        elif part.name not in found.get(part.seq, ()):
            named = (why for needles, why in wording.named if needles.stand_in_part(*stand))
            stays += [Kept(place, f"entry {part.seq}", why) for why in named]
    return {seq: names for seq, names in found.items() if names}, list(dict.fromkeys(stays))


def _shown_forms(texts: Iterable[str]) -> list[str]:
    """Texts as they are kept, and as a briefing shows them, as far as that goes before it is cut."""
    forms = (form.strip() for text in texts for form in (text, shown(text).removesuffix("…")))
    return [form for form in dict.fromkeys(forms) if form]


def _entry(rows: Reading, seq: int) -> Entry:
    return next(entry_from_bytes(row.canon) for row in rows.entries(seq, seq + 1))
