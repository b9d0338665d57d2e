"""Says what a claim's text adds to its quote, or leaves out of it, however perfect the quote (QUOTE.7).

A true quote can stand under a sentence that says something else. Each number, path, identifier, negation and modal of
the claim must be in the quote; a negation that governs the quote must be in the claim; and a claim that is its quote
with a word exchanged is another claim.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from tallystick.language.anchors import Anchor, AnchorKind, anchors
from tallystick.language.polarity import modals, negations
from tallystick.verifiers.boundaries import cuts_word
from tallystick.verifiers.folding import fold

LONGEST_CLAIM = 20_000
"""Characters; a longer text is no claim, and departs."""

_NEGATION = re.compile(
    r"\b(?:cannot|not|never|no|nothing|nobody|none|neither|nor|without|[a-z]{2,8}n['’]t|dont|cant|wont|"
    r"unable to|fail(?:s|ed)? to|refus(?:es?|ed) to|avoid|refrain from|instead of|rather than|"
    r"ne|n['’](?=\w)|pas|jamais|sans|aucune?|rien|nicht|keine?[nmrs]?|niemals)\b",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W_]+")
_NEGATING = frozenset((
    "cannot", "not", "never", "no", "nothing", "nobody", "none", "neither", "nor", "without", "t", "dont", "cant", "wont",
    "unable", "fail", "fails", "failed", "refuse", "refuses", "refused", "avoid", "refrain", "instead", "rather", "ne",
    "n", "pas", "jamais", "sans", "aucun", "aucune", "rien", "nicht", "kein", "keine", "keinen", "keinem", "keiner",
    "keines", "niemals",
))  # fmt: skip
"""A word of each negation above (``t`` of "don't"): without one there is none, and most texts have none."""
_WEAK = frozenset(("no", "without", "none", "neither", "nor", "aucun", "aucune", "sans", "avoid"))
"""Negations of the noun that follows: they reach over a few words and no conjunction."""
_EMPTY_AFTER = re.compile(
    r" (?:only|just|merely|simply|forget|hesitate|fail|worry|wait|mention|matter|problem|doubt|wonder|worries)\b",
    re.IGNORECASE,
)
_EMPTY_BEFORE = re.compile(r"\b(?:or|why|if) $", re.IGNORECASE)
_CLAUSE_END = re.compile(
    r"[.!?;:](?=\s)|[,;()\[\]|{}\"“”→]|\s[-–—]+\s|—|"
    r"\b(?:but|however|because|since|so|although|though|while|when|whereas|until|unless|if|then|after|before|once|"
    r"which|who|where|as|mais|parce|quand|donc|sondern|aber)\b",
    re.IGNORECASE,
)
_COORDINATED = re.compile(r"\b(?:and|or|et|ou|und|oder)\b", re.IGNORECASE)
_ASIDE = re.compile(
    r"(?<=\w), (?:under|in|for|at|by|on|with|of|ever|even|please|really|as|to|from|until|unless|despite|absolutely)\b"
    r"[^,.;:!?]{0,60},\s?$",
    re.IGNORECASE,
)
_NEW_LINE = re.compile(r"\n[ \t]*+(?:\n|[-*+>#|]|\d{1,9}\.)")
_OPENERS = frozenset('([{,;:.!?-–—|/"')
"""A quote that begins with one of these begins a clause of its own."""
_DRESSING = " \t\n*_`~"
_ENDS_A_CLAUSE = frozenset(("", *'.!?;:([{}<>|="“'))
_FARTHEST = 8
_FARTHEST_WEAK = 3
_CONTEXT = 160

_SPELLED = {
    "two": Fraction(2), "three": Fraction(3), "four": Fraction(4), "five": Fraction(5), "six": Fraction(6),
    "seven": Fraction(7), "eight": Fraction(8), "nine": Fraction(9), "ten": Fraction(10), "eleven": Fraction(11),
    "twelve": Fraction(12),
}  # fmt: skip
_NUMBER = re.compile(r"([$€£¥]?)([+\-−]?)(\d[\d,_]{0,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?)\s?(.*)", re.DOTALL)
_UNITS = {
    "s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "ms": "ms", "millisecond": "ms",
    "milliseconds": "ms", "min": "min", "mins": "min", "minute": "min", "minutes": "min", "h": "h", "hr": "h",
    "hrs": "h", "hour": "h", "hours": "h", "d": "d", "day": "d", "days": "d", "percent": "%", "%": "%",
}  # fmt: skip
_WORD = re.compile(r"[\w'’]+(?:[-./][\w'’]+)*")
_EXCHANGED = 2
_STEM = 3
_FRAME = frozenset((
    "decided", "decide", "decision", "chose", "chosen", "choose", "agreed", "agree", "wants", "want", "wanted", "asked",
    "asks", "prefers", "prefer", "preferred", "said", "says", "user", "person", "assistant", "team", "project", "rule",
    "there", "here", "which", "who", "will", "should", "must", "may", "can", "would", "could", "might", "shall", "us",
))  # fmt: skip
"""Words that only say who said it, or that it was decided; they add nothing to what was said."""
_LITTLE = frozenset((
    "a", "an", "the", "this", "that", "these", "those", "it", "its", "is", "are", "was", "were", "be", "been", "being",
    "has", "have", "had", "do", "does", "did", "i", "we", "you", "he", "she", "they", "our", "my", "your", "their", "to",
    "of", "in", "on", "at", "for", "with", "by", "from", "as", "and", "or", "so", "now", "then", "also", "just", "very",
))  # fmt: skip


class Quantity(NamedTuple):
    """A number by value."""

    value: Fraction
    unit: str
    """One spelling per unit (``s``, ``%``), lower case where it is not known; empty without one."""


def departure(claim_text: str, quote: str, context_before: str = "") -> str | None:
    """What departs, such as ``number '300'`` or ``negation 'not'``; None when the claim says no more than its quote.

    ``context_before`` is the source's text right before the quote; a negation in it that governs the quote belongs to
    what was said.
    """
    if len(claim_text) > LONGEST_CLAIM:
        return f"a claim of more than {LONGEST_CLAIM:,} characters"
    claim, said = fold(claim_text).text, fold(quote, quote=True).text
    governing = governing_negation(context_before, said) if context_before else None
    return (
        _negation_departs(claim, said, governing)
        or _modal_departs(claim, said)
        or _anchor_departs(claim_text, claim, said, quote)
        or _word_departs(claim, said)
        or _word_unsaid(claim, said)
    )


def governing_negation(before: str, quote: str = "") -> str | None:
    """The negation in ``before`` that governs the words right after it, as written; None without one.

    ``before`` is source text, line breaks and all. Only its last clause is read: from the last full stop, comma,
    bracket or conjunction on, an aside between commas left out.
    """
    recent = before[-_CONTEXT:]
    if recent.rstrip(_DRESSING)[-1:] in _ENDS_A_CLAUSE:
        return None
    if quote[:1] in _OPENERS or _NEGATING.isdisjoint(_LETTERS.findall(recent.lower())):
        return None
    if _NEGATION.search(recent) is None:
        return None
    clause = _last_clause(recent, quote)
    governing = None
    for found in _NEGATION.finditer(clause):
        rest = clause[found.end() :]
        if _EMPTY_AFTER.match(rest) or _EMPTY_BEFORE.search(clause[: found.start()]):
            continue
        weak = found[0].lower() in _WEAK
        words = rest.split()
        if len(words) > (_FARTHEST_WEAK if weak else _FARTHEST) or (weak and _COORDINATED.search(rest)):
            continue
        if not words and quote[:5].lower().startswith(("only ", "just ")):
            continue
        governing = found[0]
    return governing


def _last_clause(before: str, quote: str) -> str:
    for line in list(_NEW_LINE.finditer(before))[-1:]:
        before = before[line.end() :]
    above, line_break, rest = before.rpartition("\n")
    if line_break and not rest.strip() and quote[:1].isupper():
        return ""
    text = " ".join((above + " " + rest).replace("*", "").replace("`", "").replace("~~", "").split()) + " "
    aside = _ASIDE.search(text)
    if aside:
        text = text[: aside.start()] + " "
    last = 0
    for end in _CLAUSE_END.finditer(text):
        last = end.end()
    return text[last:]


def _negation_departs(claim: str, said: str, governing: str | None) -> str | None:
    ours = Counter(negations(claim))
    at = said.casefold().find(claim.casefold().rstrip(" .!"))
    if at >= 0 and claim and governing is None:
        # The claim is a stretch of its quote: what the rest of the quote denies is not the claim's concern.
        inside = governing_negation(said[:at], claim)
        return f"negation '{inside}'" if inside else None
    theirs = Counter(negations(said))
    if governing is not None:
        theirs.update(negations(governing) or (governing.lower(),))
    for word in ours:
        if ours[word] > theirs[word]:
            return f"negation '{word}'"
    for word in theirs:
        if theirs[word] > ours[word]:
            return f"negation '{word}' of the quote"
    return None


def _modal_departs(claim: str, said: str) -> str | None:
    theirs = frozenset(modals(said))
    return next((f"modal '{word}'" for word in modals(claim) if word not in theirs), None)


def _anchor_departs(claim_text: str, claim: str, said: str, quote: str) -> str | None:
    ours = anchors(claim_text)
    spelled = [word for word in _WORD.findall(claim.lower()) if word in _SPELLED]
    if not ours and not spelled:
        return None
    theirs = [anchor.value for anchor in chain(anchors(quote), anchors(said) if said != quote else ())]
    values = {value.removesuffix("()") for value in theirs}
    units: dict[Fraction, set[str]] = defaultdict(set)
    for quantity in chain.from_iterable(map(_quantities, theirs)):
        units[quantity.value].add(quantity.unit)
    for word in _WORD.findall(said.lower()):
        if word in _SPELLED:
            units[_SPELLED[word]].add("")
    for anchor in ours:
        if anchor.kind in (AnchorKind.NUMBER, AnchorKind.PORT) and _quantities(anchor.value):
            if not _number_said(anchor, units):
                return f"{anchor.kind} '{anchor.value}'"
        elif anchor.value.removesuffix("()") not in values and not _stands(anchor.value, said):
            return f"{_NAMES.get(anchor.kind, 'identifier')} '{anchor.value}'"
    return next((f"number '{word}'" for word in spelled if _SPELLED[word] not in units), None)


_NAMES: dict[AnchorKind, str] = {
    kind: kind.value for kind in AnchorKind if kind not in (AnchorKind.SYMBOL, AnchorKind.ENV)
}


def _number_said(anchor: Anchor, said: Mapping[Fraction, set[str]]) -> bool:
    """Whether the quote has each number of the anchor, by value; a unit the claim names must be the quote's."""
    return all(
        ours.value in said and (not ours.unit or ours.unit in said[ours.value]) for ours in _quantities(anchor.value)
    )


@lru_cache(maxsize=4096)
def _quantities(written: str) -> tuple[Quantity, ...]:
    found = _NUMBER.fullmatch(written.strip().lstrip("#:v"))
    if found is None:
        return ()
    currency, sign, digits, unit = found.groups()
    try:
        value = Fraction(digits.replace(",", "").replace("_", ""))
    except ValueError:
        return ()
    unit = (currency + unit).strip()
    return (Quantity(-value if sign in ("-", "−") else value, _UNITS.get(unit.lower(), unit.lower())),)


def _stands(value: str, said: str) -> bool:
    """Whether an identifier or path stands in the quote on its own: not as part of a longer one."""
    at = said.find(value)
    while at >= 0:
        end = at + len(value)
        before, after = said[at - 1 : at], said[end : end + 1]
        glued = before in tuple("/.-@_") or (
            after in tuple("/-@_") or (after == "." and said[end + 1 : end + 2].isalnum())
        )
        if not glued and not cuts_word(said, at) and not cuts_word(said, end):
            return True
        at = said.find(value, at + 1)
    return False


def _word_departs(claim: str, said: str) -> str | None:
    """A word that the claim has in place of the quote's, where the two are otherwise word for word the same."""
    ours, theirs = _content_words(claim), _content_words(said)
    if not ours or not theirs or len(ours) > 400 or len(theirs) > 400:
        return None
    changes = Levenshtein.editops(theirs, ours)
    exchanged = [(theirs[c.src_pos], ours[c.dest_pos]) for c in changes if c.tag == "replace"]
    if len(changes) > _EXCHANGED or len(changes) * 2 > len(ours):
        return None
    for there, here in exchanged:
        if not _same_stem(there, here) and not _is_quantity(there, here):
            return f"word '{here}' where the quote has '{there}'"
    return None


def _word_unsaid(claim: str, said: str) -> str | None:
    """A telling word of the claim that its quote does not say in any form: the claim is a reading of it, not its words."""
    theirs = [word.strip("'").lower() for word in _WORD.findall(said)]
    spoken = {word[:_STEM] for word in theirs}
    for word in _content_words(claim):
        known = word in theirs or word in _FRAME or _is_quantity(word)
        if not known and (word[:_STEM] not in spoken or not any(_same_stem(word, there) for there in theirs)):
            return f"word '{word}'"
    return None


def _content_words(text: str) -> list[str]:
    """The words of ``text`` that say something, negations apart: those are counted elsewhere."""
    words = (word.strip("'").lower() for word in _WORD.findall(text))
    return [word for word in words if word and word not in _LITTLE and _NEGATION.fullmatch(word) is None]


def _is_quantity(*words: str) -> bool:
    """Whether all are numbers or units, which are compared by value elsewhere."""
    return all(word in _SPELLED or word in _UNITS or word[0].isdigit() for word in words)


def _same_stem(one: str, other: str) -> bool:
    shortest = min(len(one), len(other))
    shared = next((n for n in range(shortest) if one[n] != other[n]), shortest)
    return shared >= 3 and max(len(one), len(other)) - shared <= 3
