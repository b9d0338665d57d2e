"""Reads a sentence as words: Markdown folded away, contractions opened, code and identifiers kept whole as nouns.

The work is done once per distinct blank-separated chunk and remembered, so a long text costs little more than splitting it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

CODE = "`code`"
"""Stands for an inline code span of one or more words in ``clause_words``: a noun whose content is not read."""
QUOTE = '"quote"'
"""Stands for a passage inside double quotation marks in ``clause_words``."""
MAX_CHARACTERS = 1000
"""Only this much of a sentence is read for its grammar: longer ones are data, and their first clause decides."""


class Word(NamedTuple):
    """One word or punctuation mark and the range of characters it stands in."""

    text: str
    """Lower case, curly apostrophes straight; contractions opened (``don't`` → ``do``, ``n't``)."""
    start: int
    end: int


_CHUNK = re.compile(r"\S+")
_LEAD = "\"'“”‘’«»„([{*_~`¿¡<>"
_TRAIL = "\"'“”‘’«»)]}*_~`.,;:!?…<>"
_MARKS = frozenset('.,;:!?…()"`')
_FOLD = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "«": '"', "»": '"', "„": '"', "‑": "-", "‐": "-"}
)
_PLAIN = re.compile(r"[^\W\d_]+")
_NEGATIVE = {
    "won't": ("will", "n't"),
    "wont": ("will", "n't"),
    "can't": ("can", "n't"),
    "cant": ("can", "n't"),
    "cannot": ("can", "not"),
    "shan't": ("shall", "n't"),
    "ain't": ("is", "n't"),
    "dont": ("do", "n't"),
    "doesnt": ("does", "n't"),
    "didnt": ("did", "n't"),
    "isnt": ("is", "n't"),
    "wasnt": ("was", "n't"),
    "havent": ("have", "n't"),
    "hasnt": ("has", "n't"),
    "couldnt": ("could", "n't"),
    "shouldnt": ("should", "n't"),
    "wouldnt": ("would", "n't"),
    "arent": ("are", "n't"),
    "werent": ("were", "n't"),
    "gonna": ("going", "to"),
    "wanna": ("want", "to"),
    "lets": ("let", "'s"),
}
_ENCLITICS = ("'ll", "'re", "'ve", "'s", "'d", "'m")
_ELIDED = ("qu'", "jusqu'", "lorsqu'", "puisqu'", "l'", "d'", "n'", "j'", "c'", "s'", "m'", "t'")
_LINK_TARGET = re.compile(r"\]\([^()\s]*\)?")


def _core(text: str) -> tuple[tuple[str, int, int], ...]:
    """The words of a chunk without its outer punctuation, with offsets into it."""
    low = text.lower().translate(_FOLD)
    whole = len(text)
    if len(low) != whole:  # a letter whose lower case is longer, such as "İ"
        low = text
    if low in _NEGATIVE:
        first, second = _NEGATIVE[low]
        cut = min(len(first), whole - 1)
        return ((first, 0, cut), (second, cut, whole))
    if low.endswith("n't") and whole > 3:
        return ((low[:-3], 0, whole - 3), ("n't", whole - 3, whole))
    if "'" in low:
        for tail in _ENCLITICS:
            if low.endswith(tail) and whole > len(tail):
                return ((low[: -len(tail)], 0, whole - len(tail)), (tail, whole - len(tail), whole))
        for head in _ELIDED:
            if low.startswith(head) and whole > len(head):
                return (
                    (head, 0, len(head)),
                    *((w, a + len(head), b + len(head)) for w, a, b in _core(text[len(head) :])),
                )
    return ((low, 0, whole),)


def _marks(text: str, offset: int) -> list[tuple[str, int, int]]:
    return [(mark, offset + i, offset + i + 1) for i, mark in enumerate(text.translate(_FOLD)) if mark in _MARKS]


def _read_chunk(chunk: str) -> tuple[tuple[str, int, int], ...]:
    if chunk.isalpha():
        return _core(chunk)
    body = chunk.lstrip(_LEAD)
    lead = len(chunk) - len(body)
    core = body.rstrip(_TRAIL)
    trail = lead + len(core)
    found = _marks(chunk[:lead], 0) if lead else []
    if "](" in core:
        core = _LINK_TARGET.sub("", core).rstrip("])") or core
    if core:
        parts = _inner(core) if _INSIDE.search(core) else _core(core)
        found.extend([(w, a + lead, b + lead) for w, a, b in parts] if lead else parts)
    if trail < len(chunk):
        found.extend(_marks(chunk[trail:], trail))
    return tuple(found)


_INSIDE = re.compile(r"[—–→*~`\"'’“”]")
"""Only with one of these can there be emphasis, quotation or a dash inside."""
_INNER = re.compile(r"[—–→]|[^—–→]+")


def _inner(core: str) -> list[tuple[str, int, int]]:
    """A dash or arrow without blanks around it is punctuation; emphasis inside a word goes."""
    found: list[tuple[str, int, int]] = []
    for piece in _INNER.finditer(core):
        text, offset = piece[0], piece.start()
        if text in "—–→":
            found.append(("—", offset, offset + 1))
            continue
        left = text.lstrip("*~`\"'")
        offset += len(text) - len(left)
        text = left.rstrip("*~`\"',.;:!?")
        if text:
            found.extend((w, a + offset, b + offset) for w, a, b in _core(text))
            rest = left[len(text) :]
            found.extend(_marks(rest, offset + len(text)))
    return found


@lru_cache(maxsize=1 << 16)
def _cached(chunk: str) -> tuple[tuple[str, int, int], ...]:
    return _read_chunk(chunk)


@lru_cache(maxsize=1 << 16)
def _cached_texts(chunk: str) -> tuple[str, ...]:
    return tuple(part[0] for part in _read_chunk(chunk))


def words(text: str) -> list[Word]:
    """Every word and punctuation mark of ``text`` with its place; code and quoted passages are read like the rest."""
    found: list[Word] = []
    for chunk in _CHUNK.finditer(text):
        start = chunk.start()
        parts = _cached(chunk[0]) if len(chunk[0]) <= 64 else _read_chunk(chunk[0])
        found.extend([Word(word, a + start, b + start) for word, a, b in parts])
    return found


def word_texts(text: str) -> list[str]:
    """The ``text`` of each of ``words(text)``, faster."""
    found: list[str] = []
    for chunk in text.split():
        found += _cached_texts(chunk) if len(chunk) <= 64 else [part[0] for part in _read_chunk(chunk)]
    return found


_HIDES = frozenset('`"(')


def clause_words(sentence: str) -> list[str]:
    """The words of a sentence for its grammar: code spans, quoted passages and parentheses that close are one noun each,
    or nothing in the case of parentheses. At most the first ``MAX_CHARACTERS`` are read."""
    texts = word_texts(sentence[:MAX_CHARACTERS])
    if _HIDES.isdisjoint(texts):
        return texts
    closing = _closing(texts)
    out: list[str] = []
    i = 0
    while i < len(texts):
        word = texts[i]
        if word in _HIDES:
            end = closing.get(i)
            if end is not None:
                if word != "(":
                    out.append(CODE if word == "`" else QUOTE)
                i = end + 1
                continue
        elif word != ")":
            out.append(word)
        i += 1
    return out


def _closing(texts: list[str]) -> dict[int, int]:
    """Where each back-tick, quotation mark and parenthesis that closes does so; what never closes is absent."""
    closing: dict[int, int] = {}
    brackets: list[int] = []
    opened: dict[str, int] = {}
    for i, word in enumerate(texts):
        if word == "(":
            brackets.append(i)
        elif word == ")":
            if brackets:
                closing[brackets.pop()] = i
        elif word in _HIDES:
            if word in opened:
                closing[opened.pop(word)] = i
            else:
                opened[word] = i
    return closing


_FRENCH = frozenset(
    "le la les un une des du de et est sont était été être ai as ont avons avez a à au aux je tu il elle on nous vous "
    "ils elles ne pas plus que qui quoi ce cet cette ces ça mon ma mes ton ta tes son sa ses notre votre leur leurs "
    "dans sur pour par avec sans mais ou où donc si oui fait faire dois doit peut veux voici voilà très bien tous "
    "toutes tout l' d' n' j' c' s' m' t' qu' terminé terminée enregistrée corrigé ajouté vais va".split()
)
_ENGLISH = frozenset(
    "the a an of and to is are was were be been has have had i you we they it this that these those not no for with in "
    "on at by from as but or if so do does did will would should can could may might must all there here what which "
    "who when my your our their its n't 's 'll 've 're 'm".split()
)
_OTHER = frozenset(
    "der die das und nicht ist sind wurde wird ein eine einen mit für auf von zu dem den ich wir sie es kein keine "
    "auch wenn el los las que está están para con una por como pero más fue ser muy también não uma são os com mais "
    "foi você isso mas ele ela ao che non è sono il gli di per della nel anche stato het een niet van zijn wordt voor "
    "maar ook dat deze jest nie się na że".split()
)
_OTHER_ONLY = _OTHER - _ENGLISH - _FRENCH


def language(texts: list[str]) -> str:
    """``en``, ``fr``, or the empty string where the words are plainly of neither; fragments without function words are
    ``en``, the language of code."""
    distinct = set(texts)
    english = len(_ENGLISH & distinct)
    french = len(_FRENCH & distinct)
    if english >= 2 and english > 2 * french:
        return "en"
    foreign = [word for word in distinct if word > "\u0370" and word[0].isalpha()]
    if foreign and len(foreign) * 2 > sum(1 for word in distinct if word[0].isalpha()):
        return ""
    other = len(_OTHER_ONLY & distinct)
    if other >= 2 and other > english and other > french:
        return ""
    return "fr" if french > english else "en"
