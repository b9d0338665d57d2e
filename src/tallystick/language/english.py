"""The moods of English: the main clause decides, by the place and class of its words (CHECK.2, OUTCOME.2).

Openers ("Now", "Great —", "**Fix 1**:") and leading adjuncts are stepped over; a conditional conjunction, an inverted
question, an imperative or a first-person plan is told by its place; otherwise the leftmost modal, hedge or reporting verb
before the clause ends gives the mood, and a clause without one asserts.
"""

from __future__ import annotations

from tallystick.language import english_words as en
from tallystick.language.english_cues import CUES, cue_at, is_past
from tallystick.language.moods import Mood
from tallystick.language.polarity import denials
from tallystick.language.words import CODE, QUOTE


def mood(texts: list[str]) -> Mood:
    """The mood of an English clause; ``texts`` as ``clause_words`` gives them."""
    texts, sequenced = _without_openers(texts)
    if not texts:
        return Mood.ASSERTION
    if label := _label(texts):
        if label in _PLANNED_LABELS:
            return Mood.PLAN
        if label in _SUPPOSED_LABELS:
            return Mood.HYPOTHETICAL
        texts, again = _without_openers(texts[texts.index(":") + 1 :])
        sequenced = sequenced or again
    if tuple(texts[:2]) in _NOTING or texts[:4] == ["keep", "in", "mind", "that"]:
        texts = texts[texts.index("that") + 1 :] or texts
    opener = _opening(texts, sequenced)
    if opener is not None:
        return opener
    main = _main_clause(texts)
    if main is not texts:
        texts, again = _without_openers(main)
        opener = _opening(texts, sequenced or again)
        if opener is not None:
            return opener
    return _by_leftmost_cue(texts)


_NOTING = (("note", "that"), ("remember", "that"), ("notice", "that"))
_PLANNED_LABELS = frozenset(
    ("todo", "plan", "next step", "next steps", "goal", "wip", "fixme", "task", "next", "remaining")
)
_SUPPOSED_LABELS = frozenset(
    ("expected", "expectation", "hypothesis", "theory", "guess", "assumption", "expected result", "expected output")
)


def _without_openers(texts: list[str]) -> tuple[list[str], bool]:
    """The words after interjections and their punctuation, and whether one of them was a sequencer ("Now", "Next")."""
    i, sequenced = 0, False
    while i < len(texts) - 1:
        word = texts[i]
        if word in _STRAY or (word in en.INTERJECTIONS and _is_opener(texts, i)):
            sequenced = sequenced or word in en.SEQUENCERS
            i += 1
        else:
            break
    return (texts[i:] if i else texts), sequenced


_STRAY = frozenset(
    (
        ",",
        ".",
        "-",
        "—",
        "–",
        "!",
        ":",
        ";",
        "•",
        "|",
        "->",
        "→",
        "✓",
        "✅",
        "✔",
        "❌",
        "⚠️",
        "⚠",
        "*",
        "=",
        "…",
        "...",
        "[x]",
        "x]",
    )
)
_AMBIGUOUS_OPENERS = {
    "no": (",", ".", "!", "—", "-"),
    "fine": (",", ".", "!", "—", "-"),
    "right": (",", ".", "!", "—", "-"),
    "correct": (",", ".", "!", "—", "-"),
}


def _is_opener(texts: list[str], i: int) -> bool:
    after = texts[i + 1]
    if texts[i] in _AMBIGUOUS_OPENERS:
        return after in _AMBIGUOUS_OPENERS[texts[i]]
    if texts[i] in ("now", "so") and after == "that":
        return False
    return not (texts[i] == "overall" or after in ("is", "are", "was", "were")) or after in en.CLAUSE_STARTERS


def _label(texts: list[str]) -> str:
    """The words of a label such as "Fix 1:" or "Root cause:", where more follows and they hold no verb."""
    head = texts[:6]
    if ":" not in head or (texts[-1] == ":" and texts.index(":") == len(texts) - 1):
        return ""
    words_before = head[: head.index(":")]
    if not words_before or any(
        word in en.FINITE or word in en.AUXILIARIES or word in en.SAYING for word in words_before
    ):
        return ""
    return " ".join(words_before)


def _opening(texts: list[str], sequenced: bool) -> Mood | None:
    """The mood that the first words settle, or None where the clause must be read on."""
    first = texts[0] if texts else ""
    second = texts[1] if len(texts) > 1 else ""
    if first == "let":
        return Mood.INSTRUCTION if texts[1:3] == ["me", "know"] else Mood.PLAN
    if first in en.CONDITIONAL_OPENERS or texts[:2] in (
        ["in", "case"],
        ["as", "soon"],
        ["as", "long"],
        ["only", "if"],
        ["even", "if"],
    ):
        return _conditional_opening(texts)
    if first == "whether":
        return Mood.QUESTION
    if (
        first in _WH
        and second in en.AUXILIARIES
        and (first != "what" or second not in ("is", "was", "'s") or len(texts) < 4)
    ):
        return Mood.QUESTION
    if first in en.AUXILIARIES and second in en.CLAUSE_STARTERS:
        return Mood.QUESTION
    if first in ("how", "what", "why") and second in ("about", "if", "to", "not"):
        return Mood.QUESTION if second != "to" else Mood.INSTRUCTION
    if first in en.HEDGE_ADVERBS or _opens_with(texts, en.HEDGED_OPENERS):
        return Mood.HYPOTHETICAL
    if _opens_with(texts, en.REPORT_OPENERS):
        return Mood.REPORTED
    if first in ("todo", "wip", "fixme") or (
        first in ("time", "about", "going", "need", "want", "planning", "trying", "yet") and second == "to"
    ):
        return Mood.PLAN
    if (first == "ready" and second in ("to", "for")) or (
        first in ("expected", "supposed", "likely") and second == "to"
    ):
        return Mood.HYPOTHETICAL
    if _is_imperative(texts):
        if _condition(texts, 1, len(texts)):
            return (
                Mood.CONDITIONAL
                if texts[0] in ("fail", "return", "exit", "stop", "skip", "error", "panic", "throw")
                else Mood.INSTRUCTION
            )
        return Mood.PLAN if sequenced and texts[0] not in ("please", "make", "do", "don't") else Mood.INSTRUCTION
    return _gerund(texts)


_OPENERS = frozenset(opener[0] for opener in (*en.HEDGED_OPENERS, *en.REPORT_OPENERS))


def _opens_with(texts: list[str], openers: tuple[tuple[str, ...], ...]) -> bool:
    first = texts[0] if texts else ""
    if first not in _OPENERS:
        return False
    return any(first == opener[0] and tuple(texts[: len(opener)]) == opener for opener in openers)


_WH = frozenset(("why", "how", "what", "where", "who", "which", "whose"))


def _conditional_opening(texts: list[str]) -> Mood | None:
    """ "If …" opens a conditional; "When I ran it, it failed" and "Once pushed, CI went green" tell what happened."""
    comma = texts.index(",") if "," in texts else len(texts)
    if texts[0] in ("until", "till"):
        return None
    if texts[0] in ("when", "once", "whenever", "as", "wherever") and comma < len(texts):
        inside = texts[1:comma]
        after = texts[comma + 1 : comma + 8]
        told = any(is_past(word) for word in after) and not any(word in _UNREAL for word in after)
        if told and not any(word in en.BE or word in ("has", "have") for word in inside if not is_past(word)):
            return None
    return Mood.CONDITIONAL


_UNREAL = en.MODALS_OF_WILL | en.MODALS_OF_HEDGE | frozenset(("can", "must", "is", "are", "has", "have"))


def _is_imperative(texts: list[str]) -> bool:
    """Begins with a base form that no finite verb follows: "Check uptime", "Don't stop", "Always use"; not "Build passed"."""
    first = texts[0] if texts else ""
    rest = texts[1:]
    if first == "do" and rest[:1] and rest[0] in ("n't", "not"):
        return True
    if first in ("please", "always", "never", "just", "simply", "also", "either"):
        return bool(rest) and (_is_base(rest[0]) or first == "please") and not is_past(rest[0])
    if first not in en.BASE_VERBS or first in ("always", "never"):
        return False
    if not rest:
        return first in ("continue", "proceed", "stop", "retry", "wait", "commit", "push")
    second = rest[0]
    if second in en.NOUN_COMPLETIONS or (first in _STATES and not second[0].isalnum() and second not in (CODE, QUOTE)):
        return False
    if first not in en.NOUN_VERBS:
        return True
    if second in ("and", "or", "/", "&", "+", ","):
        return not any(word in en.NOUN_COMPLETIONS for word in rest[2:4])
    if second in en.DETERMINERS or second in en.PRONOUNS:
        return True
    return not _noun_phrase_then_verb(rest)


_STATES = frozenset(("clean", "clear", "complete", "correct", "open", "separate", "confirm", "approve"))


def _is_base(word: str) -> bool:
    """Whether a word is the base form of a verb: "run", "be", "force-push", "re-run"."""
    return word in en.BASE_VERBS or ("-" in word and not en.BASE_VERBS.isdisjoint(word.split("-")))


def _noun_phrase_then_verb(rest: list[str]) -> bool:
    """ "(Test) suite passed", "(Merge) commit abc1234 is pushed": the base form was the first noun of a subject."""
    for word in rest[:4]:
        if word in en.DETERMINERS or word in en.PRONOUNS or word in _PREPOSITIONS or word in (",", ":", "."):
            return False
        if word in en.NOUN_COMPLETIONS:
            return True
    return False


_PREPOSITIONS = frozenset(
    "to for in on at with from by of into onto as if whether how what why when where all each any".split()
)


def _gerund(texts: list[str]) -> Mood | None:
    """ "Running the tests now" tells what the speaker is about; "Adding X fixes Y" and "Looking at it, Y is wrong" assert."""
    first = texts[0] if texts else ""
    if not first.endswith("ing") or len(first) < 5 or first in en.GERUND_NOUNS or "-" in first:
        return None
    for word in texts[1:]:
        if word in en.COMPLEMENT_STARTERS and word != "and":
            break
        if word == "," or word in en.BE or word in en.AUXILIARIES or word in _GERUND_VERBS:
            return None
    return Mood.PLAN


_GERUND_VERBS = frozenset(
    "fixes fixed makes made causes caused work works worked takes took means meant requires required breaks broke "
    "solves solved resolves resolved produces returns gives helps adds pass passes passed fail fails failed shows "
    "showed leads led succeeds succeeded completes completed complete finished done ok clean green 's —".split()
)


def _main_clause(texts: list[str]) -> list[str]:
    """``texts`` from after the comma of a leading adjunct ("While …,", "After the rebase,", "Looking at it,")."""
    first = texts[0] if texts else ""
    opens = first in en.SUBORDINATORS or first in en.CONDITIONAL_OPENERS or first == "to"
    opens = opens or (first.endswith("ing") and first not in en.GERUND_NOUNS) or texts[:2] == ["now", "that"]
    if not opens or "," not in texts:
        return texts
    after = texts.index(",") + 1
    if first.endswith("ing") and any(word in _GERUND_VERBS or word in en.BE for word in texts[1 : after - 1]):
        return texts  # "Formatting and linting pass, but …": the gerund was the subject
    return texts[after:] if len(texts) - after >= 2 else texts


_CONDITIONS = frozenset(("if", "unless", "once", "when", "whenever", "until", "assuming", "provided", "providing"))


def _by_leftmost_cue(texts: list[str]) -> Mood:
    end = _clause_end(texts)
    if _condition(texts, 1, end):
        return Mood.CONDITIONAL
    told = _tells_of_an_object(texts)
    for i in range(end):
        if texts[i] in CUES and (not told or texts[i] in en.HEDGE_ADVERBS):
            cue = cue_at(texts, i)
            if cue is not None:
                return cue
    if _hedged_afterwards(texts[end : end + 3]):
        return Mood.HYPOTHETICAL
    return Mood.NEGATED_ASSERTION if denials(texts[:end]) % 2 else Mood.ASSERTION


def _hedged_afterwards(tail: list[str]) -> bool:
    """ "Tests passed, I think", "It is fixed, probably"."""
    if len(tail) < 2 or tail[0] != ",":
        return False
    return tail[1] in en.HEDGE_ADVERBS or (tail[1] in en.SPEAKER and len(tail) == 3 and tail[2] in en.HEDGE_VERBS)


def _tells_of_an_object(texts: list[str]) -> bool:
    """ "Updated the plan to …", "Fixed `x` that …": a past verb without its subject; what follows belongs to its object."""
    return len(texts) > 1 and is_past(texts[0]) and (texts[1] in en.DETERMINERS or texts[1] == CODE)


def _clause_end(texts: list[str]) -> int:
    """Where the first clause that has its verb ends: at punctuation or a conjunction after the verb."""
    finite = is_past(texts[0]) if texts else False
    for i, word in enumerate(texts):
        if i == 0:
            finite = finite or word in en.FINITE
            continue
        if word in (";", "?", ".", "!", "…") or (word in _ALWAYS_NEW_CLAUSE and i > 1):
            return i
        if finite:
            after = texts[i + 1] if i + 1 < len(texts) else ""
            if word in ("—", "–", "-", ":", "->", "→"):
                return i
            if word == "," and (after in en.COORDINATORS or after in en.CLAUSE_STARTERS or after == "let"):
                return i
            if word in en.COMPLEMENT_STARTERS and _opens_clause(texts, i):
                return i
        elif word in en.FINITE or (is_past(word) and texts[i - 1] not in en.DETERMINERS):
            finite = True
    return len(texts)


_ALWAYS_NEW_CLAUSE = frozenset(("because", "but", "although", "whereas"))


def _opens_clause(texts: list[str], i: int) -> bool:
    """Whether the conjunction at ``i`` opens another clause, rather than joining two nouns or standing after a hedge."""
    word, before = texts[i], texts[i - 1]
    if word in ("and", "or", "but", "as"):
        after = texts[i + 1] if i + 1 < len(texts) else ""
        return word == "but" or after in en.CLAUSE_STARTERS or after in en.AUXILIARIES or after in en.MODALS_OF_WILL
    if word == "that":
        return before not in _HEDGING_HEADS
    return True


_HEDGING_HEADS = (
    en.HEDGE_VERBS
    | en.SEEMING
    | en.SAYING
    | en.SUGGESTING
    | en.HEDGE_ADVERBS
    | frozenset(("likely", "possible", "probable", "unlikely", "plausible"))
)


def _condition(texts: list[str], start: int, end: int) -> bool:
    """Whether the clause is said on a condition: ``if``, ``unless``, ``once``, ``until``, or ``when`` in the present."""
    if _CONDITIONS.isdisjoint(texts):
        return False
    for i in range(start, end):
        word = texts[i]
        if word in ("if", "unless") and _is_condition(texts, i):
            return True
        if word == "once" and _is_conjunction_once(texts, i):
            return not _tells_past(texts, i)
        if word in ("when", "whenever", "until") and i + 1 < len(texts) and not _tells_past(texts, i):
            return texts[i - 1] not in ("of", "is", "about", "on", "for", "since")
        if (
            word in ("assuming", "provided", "providing")
            and texts[i + 1 : i + 2]
            and texts[i + 1] in en.CLAUSE_STARTERS
        ):
            return True
    return False


def _is_condition(texts: list[str], i: int) -> bool:
    before = texts[i - 1] if i else ""
    if texts[i] == "unless":
        return True
    after = texts[i + 1] if i + 1 < len(texts) else ""
    return before not in en.ASKING and before not in ("even", "as", "the", "an") and after not in ("", ",", ".", "so")


def _is_conjunction_once(texts: list[str], i: int) -> bool:
    after = texts[i + 1] if i + 1 < len(texts) else ""
    before = texts[i - 1] if i else ""
    if before in ("at", "only", "just", "than", "was", "were", "is", "are") or not after or not after[0].isalnum():
        return after in en.PRONOUNS and before not in ("at", "than")
    return after not in _ADVERBIAL_ONCE


_ADVERBIAL_ONCE = frozenset(
    "more again per every a an in for and or before after with on at by from to then but".split()
)


def _tells_past(texts: list[str], i: int) -> bool:
    """Whether the clause around the conjunction at ``i`` is a story: a past verb on its left, none but past on its right."""
    left = texts[max(0, i - 12) : i]
    right = texts[i + 1 : i + 8]
    real = any(word in en.PAST_AUXILIARIES or word in en.IRREGULAR_PAST for word in left) or (
        bool(left) and _told(left)
    )
    present = any(
        word in ("is", "are", "'s", "'re", "has", "have", "will", "'ll", "can", "should", "would")
        for word in (*left, *right)
    )
    return real and not present


def _told(left: list[str]) -> bool:
    return any(is_past(word) and (i == 0 or left[i - 1] not in en.BE) for i, word in enumerate(left))
