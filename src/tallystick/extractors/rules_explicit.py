"""What a speaker says outright: "we decided …", "do not use …", "remember: …", "the port is …". Plain words need no context.

These forms hold wherever they stand, in the message that opens a session too: whoever says them means them to be kept.
"""

from __future__ import annotations

import re

from tallystick.extractors.rules_statements import Statement
from tallystick.language.anchors import AnchorKind, anchors
from tallystick.model.claim import ClaimKind


def _rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_DECIDED = _rx(
    r"(?:decision|décision)\s*[:—–-]\s*\S|"
    r"(?:we|i)(?:['’]ve| have)? (?:just |already |now |finally )?(?:decided|agreed|settled|opted|chose|"
    r"resolved)\b(?! (?:already\b|"
    r"yet\b|if\b|whether\b)) ?\S|"
    r"(?:we|i)(?:['’](?:re|ll|m)| are| will| am)? (?:going with|go with|sticking with|stick with|"
    r"switching to|standardi[sz]ing on)"
    r" \S|"
    r"(?:nous avons|on a|j['’]ai) (?:décidé|choisi|retenu)\b \S"
)
_FORBIDS = _rx(
    r"(?:please )?(?:do not|don['’]t|let['’]s not|stop) (?:ever )?(?:us(?:e|ing)|add(?:ing)?|introduc(?:e|"
    r"ing)|rely(?:ing)? on|"
    r"depend(?:ing)? on|switch(?:ing)? to|deploy(?:ing)? to|stor(?:e|ing)|creat(?:e|ing)|remov(?:e|ing)|"
    r"renam(?:e|ing)|chang(?:e|"
    r"ing)) (?!it\b|this\b|that\b|anything\b)\S+ \S|(?:n['’]utilise[sz]? pas|ne pas utiliser) \S+ \S"
)
_USES = _rx(
    r"(?:please |let['’]s |just )*(?:use|keep|prefer|choose|pick|adopt|stick with|go with|utilise[rz]?|garde[rz]?) "
    r"(?!it\b|this\b|that\b|them\b|the (?:tool|command|agent|skill)\b)\S+ .{0,120}\b(?:for|instead of|"
    r"rather than|over|as|because|"
    r"until|pour|au lieu de)\b \S"
)
_REMEMBER = _rx(
    r"(?:please )?(?:remember|note|keep in mind|for the record|fyi|retiens|à noter)\b(?: that|"
    r" que)?\s*[:,—–-]?\s*(?!to\b|me\b|how\b)"
    r"\S+ \S+ \S"
)
_STATES = _rx(
    r"(?:the|our|its|le|la|notre) [\w./`'’-]+(?: [\w./`'’-]+){0,5} (?:is|are|lives?|runs?|listens?|stays?|"
    r"points?|defaults?|est|sont|"
    r"tourne|écoute)\b(?! (?:there|not|no|still|now|just|very|really|too|so|a bit)\b)"
)
_LATER = _rx(r"(?:todo|to do|follow[- ]?up|later|for later|next time|à faire)\b[^:]{0,40}:\s*\S+ \S")
_VALUES = frozenset(
    (AnchorKind.NUMBER, AnchorKind.PORT, AnchorKind.HOST, AnchorKind.VERSION, AnchorKind.URL, AnchorKind.PATH)
)
_SHORT_OPENING_WORDS = 30


def said_outright(statement: Statement, *, opening: bool, message_words: int) -> ClaimKind | None:
    """The kind of what a person says outright; None where it takes more than the sentence to know."""
    if statement.is_question:
        return None
    core = statement.core
    if _LATER.match(core):
        return ClaimKind.OPEN_LOOP
    if _DECIDED.match(core) or _FORBIDS.match(core):
        return ClaimKind.DECISION
    if _USES.match(core) and (not opening or message_words <= _SHORT_OPENING_WORDS):
        return ClaimKind.DECISION
    if _REMEMBER.match(core):
        return ClaimKind.FACT
    stated = _STATES.match(core)
    if stated and any(anchor.kind in _VALUES and anchor.start >= stated.end() for anchor in anchors(core)):
        return ClaimKind.FACT
    return None


def chosen_outright(statement: Statement) -> bool:
    """Whether the assistant says that it decided: a choice, whatever work went with it."""
    return bool(_DECIDED.match(statement.core)) and not statement.is_question
