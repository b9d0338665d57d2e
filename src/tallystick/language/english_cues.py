"""The English words that give their clause its mood: modals, hedges, verbs of seeming, wanting, asking and reporting."""

from __future__ import annotations

from tallystick.language import english_words as en
from tallystick.language.moods import Mood
from tallystick.language.words import CODE, QUOTE

CUES = (
    en.MODALS_OF_WILL
    | en.MODALS_OF_HEDGE
    | en.HEDGE_ADVERBS
    | en.HEDGE_VERBS
    | en.SEEMING
    | en.SUGGESTING
    | en.READINESS
    | en.POSSIBILITY
    | en.CONATIVE
    | en.ASKING
    | en.SAYING
    | frozenset(
        (
            "'d",
            "must",
            "need",
            "needs",
            "has",
            "have",
            "can",
            "cannot",
            "sure",
            "certain",
            "clear",
            "whether",
            "let",
            "to",
        )
    )
)
"""Only at these words need ``cue_at`` be asked."""


def is_past(word: str) -> bool:
    """Whether a word has the form of a verb in the past."""
    return (
        word in en.PAST_AUXILIARIES
        or word in en.IRREGULAR_PAST
        or (word.endswith("ed") and len(word) > 3 and word not in en.NOT_PAST)
    )


def cue_at(texts: list[str], i: int) -> Mood | None:
    """The mood that the word at ``i`` gives to its clause, or None."""
    word = texts[i]
    after = texts[i + 1] if i + 1 < len(texts) else ""
    before = texts[i - 1] if i else ""
    relative = i > 1 and before in ("that", "which", "who")
    if word in en.MODALS_OF_WILL:
        return None if relative else Mood.PLAN
    if word in en.MODALS_OF_HEDGE:
        return None if relative or after[:1].isdigit() else _hedging_modal(word, after)
    if word == "'d":
        return (
            Mood.PLAN
            if after in ("like", "love", "want", "prefer")
            else (Mood.HYPOTHETICAL if before in en.PRONOUNS and not is_past(after) else None)
        )
    if word == "must" or (word in ("need", "needs", "has", "have") and after == "to"):
        return _obligation(word, before, after)
    if word in en.HEDGE_ADVERBS and word != "likely":
        return Mood.HYPOTHETICAL
    if word == "can" and not relative and (after == "be" or (before in ("we", "i", "you") and after not in _PERCEIVED)):
        return Mood.HYPOTHETICAL
    return _lexical_cue(texts, i)


_PERCEIVED = frozenset(("see", "confirm", "reproduce", "verify", "tell", "n't", "not", "now"))
"""After "I can": what is told by saying so, where "I can add it" offers."""


def _hedging_modal(word: str, after: str) -> Mood:
    """ "couldn't reproduce" denies what was tried; "shouldn't" and "might not" stay hedged."""
    return Mood.NEGATED_ASSERTION if word == "could" and after in ("n't", "not") else Mood.HYPOTHETICAL


def _obligation(word: str, before: str, after: str) -> Mood | None:
    if word == "must":
        return Mood.HYPOTHETICAL if after in ("have", "be") and before not in en.SPEAKER else Mood.INSTRUCTION
    return Mood.PLAN if before in en.SPEAKER or before in ("also", "still", "now", "will") else Mood.INSTRUCTION


def _lexical_cue(texts: list[str], i: int) -> Mood | None:
    word = texts[i]
    after = texts[i + 1] if i + 1 < len(texts) else ""
    before = texts[i - 1] if i else ""
    if word in en.HEDGE_VERBS and (before in en.SPEAKER or (before in _BETWEEN and texts[i - 2] in _WITH_SPEAKER)):
        return Mood.HYPOTHETICAL
    if seems(texts, i) or (word in en.SUGGESTING and after == "that"):
        return Mood.HYPOTHETICAL
    if word in en.POSSIBILITY and after == "that":
        return Mood.HYPOTHETICAL
    if word in ("sure", "certain", "clear") and before in en.NOT:
        return Mood.HYPOTHETICAL
    if word in en.READINESS:
        return _readiness(texts, i)
    if word in en.CONATIVE and after == "to":
        return Mood.PLAN if before in en.SPEAKER or before in ("'m", "'re", "are", "am") else Mood.HYPOTHETICAL
    if (
        word in ("wonder", "wondering")
        or (word in en.ASKING and after in ("if", "whether"))
        or (word == "whether" and before in en.ASKING)
    ):
        return Mood.QUESTION
    if word == "let" and after in ("me", "'s", "us") and i == 0:
        return Mood.PLAN
    if (
        word == "to"
        and after == "be"
        and before not in _FOUND
        and not any(w in en.FINITE or is_past(w) for w in texts[:i])
    ):
        return Mood.PLAN
    return _report(texts, i) if word in en.SAYING and i else None


_BETWEEN = frozenset(("'d", "'m", "am", "still", "n't", "not", "also", "really", "do", "would", "just", "now"))
_WITH_SPEAKER = en.SPEAKER | _BETWEEN
_FOUND = frozenset(
    "found seems appears appear seem proved known considered proven shown turned turns out used has have had need "
    "needs allowed".split()
)


def seems(texts: list[str], i: int) -> bool:
    """Whether the word at ``i`` is a verb of seeming ("seems", "looks like", "appears to")."""
    if texts[i] not in en.SEEMING:
        return False
    after = texts[i + 1] if i + 1 < len(texts) else ""
    before = texts[i - 1] if i else ""
    if texts[i].startswith(("seem", "sound")):
        return True
    if texts[i].startswith("feel"):
        return after == "like"
    if texts[i].startswith("appear"):
        return after in ("to", "that", "as") or before == "it"
    return after in ("like", "as", "to") or (
        before in en.PRONOUNS | {"code", "it"}
        and after in ("good", "correct", "right", "fine", "ok", "fixed", "reasonable")
    )


def _readiness(texts: list[str], i: int) -> Mood | None:
    """ "is ready to merge", "is expected to pass", "is about to be deployed", "has yet to run": not so yet."""
    word = texts[i]
    after = texts[i + 1] if i + 1 < len(texts) else ""
    lead = texts[max(0, i - 3) : i]
    linked = any(w in en.BE or w in ("it", "and", "now", "have", "has") for w in lead)
    if word == "ready" and (after in ("to", "for", "") or not after[:1].isalnum()) and linked:
        return Mood.HYPOTHETICAL
    if word == "likely" and (linked or after == "to"):
        return Mood.HYPOTHETICAL
    if word == "going" and after == "to":
        return Mood.PLAN
    if after == "to" and linked:
        return Mood.PLAN if word in ("about", "yet", "due", "scheduled", "planned") else Mood.HYPOTHETICAL
    return None


_WEAK_SAYING = frozenset(
    "explain explains explained note notes noted mention mentioned mentions replied answered responded complained "
    "concluded concludes announced announces writes wrote quoted thinks believes".split()
)
"""These report only with what was said after them: "the comment explains the intent" describes the comment."""


def _report(texts: list[str], i: int) -> Mood | None:
    """A verb of saying with a subject that can speak, or with what was said after it."""
    subject = texts[max(0, i - 3) : i]
    after = texts[i + 1] if i + 1 < len(texts) else ""
    if any(word in en.SPEAKER for word in subject):
        return None
    if after in ("that", QUOTE, ":"):
        return Mood.REPORTED
    if texts[i - 1] in en.BE:
        return Mood.REPORTED if after == "to" else None
    if texts[i] in _WEAK_SAYING or not any(word in en.SPEAKERS_OF_REPORTS for word in subject):
        return None
    return Mood.REPORTED if after[:1].isalnum() or after in (CODE, ",", "—") else None
