"""Negation and its scope (CHECK.6), and the modal words that change what is claimed (QUOTE.7)."""

from __future__ import annotations

from tallystick.language.words import clause_words, word_texts, words

_NEGATIONS = {
    "not": "not",
    "n't": "not",
    "never": "never",
    "no": "no",
    "without": "without",
    "none": "none",
    "nothing": "nothing",
    "nobody": "nobody",
    "nowhere": "nowhere",
    "neither": "neither",
    "nor": "nor",
    "pas": "pas",
    "jamais": "jamais",
    "aucun": "aucun",
    "aucune": "aucun",
    "rien": "rien",
    "sans": "sans",
    "ni": "ni",
}
_MODALS = {
    "must": "must",
    "should": "should",
    "may": "may",
    "might": "might",
    "will": "will",
    "'ll": "will",
    "shall": "shall",
    "can": "can",
    "could": "could",
    "would": "would",
    "ought": "ought",
    "doit": "doit",
    "doivent": "doit",
    "dois": "doit",
    "devrait": "devrait",
    "devraient": "devrait",
    "peut": "peut",
    "peuvent": "peut",
    "pourrait": "pourrait",
    "pourraient": "pourrait",
    "faut": "faut",
}
_OBLIGING = frozenset(("need", "needs", "has", "have", "had"))
_BREAKS = frozenset((",", ";", ":", ".", "!", "?", "—", "–", "-", "(", ")", "…"))
_CONJUNCTIONS = frozenset(
    "but because although though which who so then while whereas since if unless when until however mais car parce "
    "donc qui lorsque quand si puis".split()
)
_JOINS = frozenset(("and", "or", "et", "ou"))
_SUBJECTS = frozenset(
    "i we you he she it they there this that the a an je tu il elle on nous vous ils elles le la les".split()
)
_AFTER_EMPTY = frozenset(("only", "just", "merely", "simply", "solely", "necessarily", "seulement", "uniquement"))
_EMPTY_NO = frozenset(("problem", "problems", "worries", "doubt", "wonder", "matter", "idea"))
_PREPOSITIONS = frozenset("with of for in on at from by to through under during via avec de pour dans à par".split())
_IMPLICIT = frozenset(("failed", "fails", "fail", "failing", "unable", "refused", "refuses", "declined", "yet"))
"""With ``to`` after them, these deny the verb: "failed to push"."""


def _is_negation(texts: list[str], i: int) -> bool:
    """Whether the word at ``i`` negates: not the interjection in "No, the port is 5433", not "not only", not "whether or not"."""
    word = texts[i]
    if word not in _NEGATIONS:
        return False
    after = texts[i + 1] if i + 1 < len(texts) else ""
    before = texts[i - 1] if i else ""
    if word in ("no", "pas") and (after in (",", "!", ".", "", ";", "—") and before in ("", ",", ".", "!", ":", "—")):
        return False
    if word == "no":
        return after not in _EMPTY_NO
    if word in ("not", "n't", "pas"):
        return after not in _AFTER_EMPTY and not (before == "or" and "whether" in texts[max(0, i - 12) : i])
    if word == "nothing":
        return after != "but"
    return not (word in ("nor", "ni") and "neither" in texts[max(0, i - 12) : i])


def negations(text: str) -> tuple[str, ...]:
    """The negating words of ``text`` in order, lower-cased and expanded (``don't`` → ``not``, ``never``, ``no``,
    ``without``, ``n't``)."""
    texts = word_texts(text)
    if _NEGATIONS.keys().isdisjoint(texts):
        return ()
    return tuple(_NEGATIONS[word] for i, word in enumerate(texts) if word in _NEGATIONS and _is_negation(texts, i))


def modals(text: str) -> tuple[str, ...]:
    """The modal words of ``text`` in order, lower-cased (``must``, ``should``, ``may``, ``might``, ``will``, ``can`` …);
    ``have to`` and ``need to`` are given as ``must``."""
    texts = word_texts(text)
    found: list[str] = []
    for i, word in enumerate(texts):
        if word in _MODALS:
            if word != "may" or not texts[i + 1 : i + 2] or not texts[i + 1][0].isdigit():
                found.append(_MODALS[word])
        elif word in _OBLIGING and texts[i + 1 : i + 2] == ["to"]:
            found.append("must")
    return tuple(found)


def polarity(sentence: str) -> int:
    """``+1`` or ``-1``: whether the main predicate is affirmed or denied; "no longer asleep" and "isn't unreachable" are
    negations of a negative word and so ``+1`` of being up is not concluded here, only the count of negations in scope."""
    return -1 if denials(clause_words(sentence)) % 2 else 1


_DENYING = _NEGATIONS.keys() | _IMPLICIT


def denials(texts: list[str]) -> int:
    """How many negations deny the predicate of the clause that ``texts`` begins with, "failed to …" counted as one.

    Reading stops where that clause ends: at a conjunction, a relative pronoun, or punctuation after a verb.
    """
    if _DENYING.isdisjoint(texts):
        return 0
    count = 0
    for i, word in enumerate(texts):
        if i and _ends_clause(texts, i):
            break
        if word in _NEGATIONS:
            count += _is_negation(texts, i) and not _is_adjunct(texts, i)
        elif word in _IMPLICIT and texts[i + 1 : i + 2] == ["to"]:
            count += 1
    return count


def _is_adjunct(texts: list[str], i: int) -> bool:
    """Whether the negation at ``i`` denies only what follows it: "without X", "with no X", "tied to commits, not branches"."""
    word, before = texts[i], texts[i - 1] if i else ""
    if word in ("without", "sans"):
        return True
    if word in ("no", "aucun", "aucune"):
        return before in _PREPOSITIONS
    after = texts[i + 1] if i + 1 < len(texts) else ""
    return word == "not" and before == "," and i > 2 and not after.endswith("ed")


def _ends_clause(texts: list[str], i: int) -> bool:
    word = texts[i]
    if word in _CONJUNCTIONS:
        return True
    after = texts[i + 1] if i + 1 < len(texts) else ""
    if word == "that":
        return after not in (".", ",", "")
    if word in _JOINS:
        return after in _SUBJECTS
    return word in (";", ":", "—", "-", "–", ".", "!", "?") and i > 1


def negation_scope(sentence: str) -> list[tuple[int, int]]:
    """Character ranges that stand under a negation: from after the negating word to the end of its clause, in order."""
    found = words(sentence)
    texts = [word.text for word in found]
    ranges: list[tuple[int, int]] = []
    covered = 0
    for i, word in enumerate(texts):
        if i < covered or word not in _NEGATIONS or not _is_negation(texts, i):
            continue
        last = _scope_end(texts, i + 1)
        particle = _particle(texts, i) if texts[i] in _FRENCH_SECOND else None
        first = i + 1 if particle is None else particle + 1  # "ne passent pas": the verb stands between the two
        if last > first:
            ranges.append((found[first].start, found[last - 1].end))
        covered = last
    return ranges


_FRENCH_SECOND = frozenset(("pas", "jamais", "rien", "aucun", "aucune"))


def _particle(texts: list[str], i: int) -> int | None:
    """Where the ``ne`` stands that the negation at ``i`` completes."""
    for at in range(i - 1, max(-1, i - 5), -1):
        if texts[at] in ("ne", "n'"):
            return at
    return None


def _scope_end(texts: list[str], i: int) -> int:
    """Index after the last word of the clause that goes on at ``i``."""
    for at in range(i, len(texts)):
        word = texts[at]
        if word in _BREAKS or word in _CONJUNCTIONS:
            return at
        if word in _JOINS and at + 1 < len(texts) and texts[at + 1] in _SUBJECTS:
            return at
    return len(texts)


def denies(text: str) -> bool:
    """Whether a text says no: an odd number of its words turn what it says round."""
    return len(negations(text)) % 2 == 1
