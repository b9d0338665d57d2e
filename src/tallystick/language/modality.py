"""In what mood a sentence is said: only assertions assert (CHECK.2, OUTCOME.2).

What can be told without grammar (a quoted line, a question mark, an open checkbox, an unknown language) is told here; the
main clause is read by the grammar of its language, ``english`` or ``french``.
"""

from __future__ import annotations

from tallystick.language import english, french
from tallystick.language import english_words as en
from tallystick.language.english_cues import seems
from tallystick.language.moods import Mood
from tallystick.language.words import MAX_CHARACTERS, clause_words, language, word_texts

__all__ = ["Mood", "hedges", "mood", "understood"]


def mood(sentence: str) -> Mood:
    """The mood of one sentence, by its main clause. What is in a language that is not read here, see ``understood``, is
    ``hypothetical``: it asserts nothing that could be relied on."""
    bare = sentence.strip()
    if _is_quoted(bare):
        return Mood.QUOTED
    texts = clause_words(bare)
    if not texts:
        return Mood.ASSERTION
    if bare.lstrip("-*+ ").startswith("[ ]"):
        return Mood.PLAN
    if _asks(bare, texts):
        return Mood.QUESTION
    spoken = language(texts)
    if not spoken:
        return Mood.HYPOTHETICAL
    if spoken == "fr":
        return french.mood(texts)
    return english.mood(texts)


def understood(sentence: str) -> bool:
    """Whether the sentence is in a language whose grammar is read here (English, French) or is words of code alone."""
    texts = clause_words(sentence)
    return not texts or language(texts) != ""


def hedges(sentence: str) -> tuple[str, ...]:
    """The words that weaken ``sentence``, in order, lower-cased: modals of possibility, adverbs, seeming, opinion, readiness
    (``should``, ``presumably``, ``seems``, ``i think``, ``ready to``, ``peut-être`` …)."""
    texts = word_texts(sentence)
    if language(texts) == "fr":
        return french.hedges(texts)
    found: list[str] = []
    for i, word in enumerate(texts):
        after = texts[i + 1] if i + 1 < len(texts) else ""
        if word in en.HEDGE_ADVERBS or (word in en.MODALS_OF_HEDGE and not after[:1].isdigit()):
            found.append(word)
        elif word in en.HEDGE_VERBS and i and texts[i - 1] in en.SPEAKER:
            found.append(f"{texts[i - 1]} {word}")
        elif seems(texts, i):
            found.append(word)
        elif word in en.READINESS and after == "to" and word not in ("going", "about", "yet"):
            found.append(f"{word} to")
    return tuple(found)


_CLOSERS = {'"': '"', "“": "”", "«": "»", "'": "'", "‘": "’", "„": "”"}


def _is_quoted(bare: str) -> bool:
    """A quoted line, or wholly inside one pair of quotation marks (a full stop outside them allowed)."""
    if bare.startswith(">"):
        return True
    body = bare.lstrip("*_ ").rstrip("*_ .,;:")
    if len(body) < 3 or body[0] not in _CLOSERS:
        return False
    closer = _CLOSERS[body[0]]
    inside = body[1:-1]
    return body[-1] == closer and closer not in inside and (body[0] not in "'‘" or " " in inside)


def _asks(bare: str, texts: list[str]) -> bool:
    tail = bare[-24:].rstrip("\"'”’»)]*_`~ ")
    return tail.endswith(("?", "?!")) or (texts[-1] == "?" and len(bare) <= MAX_CHARACTERS)
