"""Verdict signs and findings of nothing: "`cargo test` ✅ (12/12)", "Overall: PASS", "no config found" (OUTCOME.1-2).

A sign asserts an outcome only beside a command, a named check, or a word that sums up; beside anything else (a feature in
a table, a requirement, an option) it is decoration.
"""

from __future__ import annotations

import re

from tallystick.verifiers.commands import actions
from tallystick.verifiers.outcome_objects import whole_suite
from tallystick.verifiers.outcome_sentence import OutcomeClaim, Text, is_command, targets_of, words_of
from tallystick.verifiers.outcome_words import BLOCKING, CHECK_NOUNS, FINITE, Achievement
from tallystick.verifiers.programs import CHECKS, LOOKING, CommandKind

_K = CommandKind
_MAX_SUBJECT = 160
_SIGN = re.compile(
    r"(?P<mark>[✅✓✔☑])️?|(?<![\w/-])(?P<word>ok|pass|passed|passing|success|succès|vert|green)(?![\w/-])(?=\s*(?:$|[:.,;!()¤|✅✓✔—–]))"
)
_VERDICT = re.compile(r"[\s✅✓✔️]*(?:pass|passed|ok|success|succès)\b", re.IGNORECASE)
_SUM_UP = re.compile(
    r"[^\w`]*(?:overall|result|results|status|verdict|total|all checks|all steps|final result|résultats?|bilan|global|"
    r"résultat global|statut global|overall result|overall status|test results?)[^\w`]*"
)
_FORMAT_VALID = re.compile(
    r"[^\w`]*(?:(yaml|json|toml|xml|syntax|syntaxe|schema|schéma)\s+(?:is\s+|est\s+)?(?:valide?|ok|correcte?))[^\w`]*"
)
_LABEL_END = re.compile(r"[\s:=>→*—–-]+$")
_SEGMENT = re.compile(r"[,;|]|\.\s|\s(?:and|et)\s")
_FRACTION = re.compile(r"(?<![\d/.])(\d{1,6})\s?/\s?(\d{1,6})(?![\d/])")
_SUMMED = re.compile(r"(?<![\d.])(\d{1,6}) [a-z-]{2,20}(?=\s?\+)|(?<=\+ )(\d{1,6}) [a-z-]{2,20}")


def signed(text: Text) -> list[OutcomeClaim]:
    """Claims made by a verdict sign beside a command, a named check or a summing-up word."""
    if text.shown.lstrip().startswith("|"):
        return _row(text)
    found: list[OutcomeClaim] = []
    for sign in list(_SIGN.finditer(text.masked))[:12]:
        claim = _behind_sign(text, sign) if not text.masked[: sign.start()].strip(" -*•>#") else _at_sign(text, sign)
        if claim is not None:
            found.append(claim)
    return found


def _row(text: Text) -> list[OutcomeClaim]:
    """A row of a table: a subject, then a verdict in words ("| Rewind | ✅ PASS |")."""
    cells = [cell.strip() for cell in text.shown.strip().strip("|").split("|")]
    if not 2 <= len(cells) <= 3 or not _VERDICT.match(cells[1]) or len(cells[0]) > 80:
        return []
    at = text.shown.find(cells[1])
    words = words_of(cells[0].lower()) or tuple(re.findall(r"\w{2,30}", cells[0].lower()))
    return [_claim(text, cells[0].lower(), at, words)] if words else []


def _claim(text: Text, subject: str, at: int, words: tuple[str, ...]) -> OutcomeClaim:
    """The claim of a label that names a check, or else one that the turn's runs have to show."""
    kinds = tuple(kind for pattern, kind in CHECK_NOUNS if pattern.search(subject))
    achievement = Achievement.PASSED if kinds else Achievement.SIGNED
    total = _total(text, at)
    return OutcomeClaim(
        achievement,
        kinds,
        scope=words,
        phrase=subject.strip()[:60],
        at=at,
        numbers=total,
        own=None,
        whole=whole_suite(subject),
        tests=int(total[0]) if total and _K.TEST in kinds else -1,
    )


def _at_sign(text: Text, sign: re.Match[str]) -> OutcomeClaim | None:
    """The claim of a sign that stands behind its subject."""
    parts = _FRACTION.findall(text.shown[max(0, sign.start() - 40) : sign.end() + 40])
    if any(done != whole for done, whole in parts):
        return None
    floor = max(0, sign.start() - _MAX_SUBJECT)
    start = floor
    for boundary in _SEGMENT.finditer(text.masked, floor, sign.start()):
        start = boundary.end()
    subject = _LABEL_END.sub("", text.masked[start : sign.start()])
    code = _last_code(text, subject, start)
    if code:
        return _of_command(text, code, sign.start())
    if sign["mark"] is None and text.masked[sign.start() : sign.start() + 1].isspace():
        return None
    if _SUM_UP.fullmatch(subject):
        return OutcomeClaim(Achievement.SIGNED, CHECKS, phrase=subject.strip(), any_kind=True, at=sign.start())
    valid = _FORMAT_VALID.fullmatch(subject) or _FORMAT_VALID.fullmatch(text.masked[start : sign.end()])
    if valid:
        return OutcomeClaim(Achievement.SIGNED, (), scope=(valid[1],), phrase=valid[0].strip(), at=sign.start())
    words = subject.split()
    if not words or len(words) > 5 or BLOCKING.search(subject) or FINITE.search(subject):
        return None
    named = [kind for pattern, kind in CHECK_NOUNS if pattern.search(subject)]
    if not named or (sign["word"] and "`" in subject):
        return None
    return _claim(text, subject, sign.start(), ())


def _behind_sign(text: Text, sign: re.Match[str]) -> OutcomeClaim | None:
    """The claim of a sign in front of its subject: a command and no more, or a format said to be valid."""
    if sign["mark"] is None:
        return None
    rest = text.masked[sign.end() :].lstrip("️ ")
    at = len(text.masked) - len(rest)
    valid = _FORMAT_VALID.fullmatch(rest.rstrip("¤ ."))
    if valid:
        return OutcomeClaim(Achievement.SIGNED, (), scope=(valid[1],), phrase=rest[:60].strip(), at=at)
    if _COMMAND_ALONE.fullmatch(rest):
        code = next((code for start, code in text.ticked if start >= at), "")
        return _of_command(text, code, at) if code else None
    return None


_COMMAND_ALONE = re.compile(r"`¤+`[\s:—–-]*(?:¤*|ok|pass(?:ed|es)?|passe)[\s.]*(?:¤*)")
_ENDS_IN_CODE = re.compile(r"`¤+`(?:\s*¤+)?\s*$")


def _last_code(text: Text, subject: str, start: int) -> str:
    """The code that a subject ends with, and consists of but for a word or two; empty when there is none."""
    found = _ENDS_IN_CODE.search(subject)
    if found is None or len(subject[: found.start()].split()) > 3:
        return ""
    return next((code for at, code in text.ticked if at == start + found.start()), "")


def _of_command(text: Text, code: str, at: int) -> OutcomeClaim | None:
    """The claim that a named command went well."""
    if not is_command(code):
        return None
    kinds = tuple(dict.fromkeys(a.kind for a in actions(code) if a.kind not in LOOKING))
    return OutcomeClaim(Achievement.PASSED, kinds, phrase=code[:60], at=at, commands=(code,), numbers=_total(text, at))


def _total(text: Text, at: int) -> tuple[str, ...]:
    """How many tests are said to have passed, behind ``at``: "(146/146)", "72 unit + 8 integration"."""
    tail = text.shown[at : at + 160].lower()
    fraction = _FRACTION.search(tail)
    if fraction:
        return (fraction[1],) if fraction[1] == fraction[2] else ()
    parts = [a or b for a, b in _SUMMED.findall(tail)]
    return (str(sum(map(int, parts))),) if len(parts) > 1 else ()


_NOTHING = re.compile(
    r"\b(?:aucune?)\b(?P<fr>[^.;!?\n]{0,80}?)\b(?:trouvée?s?|détectée?s?|existante?s?)\b"
    r"|\brien (?:n'a été )?trouvé\b|(?:\bfichiers?|\bdossiers?|`)\s+(?:est |sont )?introuvables?\b"
    r"|\b(?:dossier|fichier|répertoire)s?\s+(?:`¤{1,200}`\s+)?absente?s?\b"
    r"|:\s*(?:aucune?|none|rien)(?=\s*(?:$|[.,;(]))"
    r"|\bno\b(?P<en>[^.;!?\n]{1,80}?)\b(?:found|detected)\b"
    r"|\bnone (?:were |was )?found\b|\bnothing (?:was )?found\b"
    r"|\b(?:there (?:are|is) |has |have )?no (?:more|remaining|other|further) "
    r"(?:references?|usages?|uses|matches|occurrences|callers?|mentions?)\b"
)
_JUDGED = re.compile(
    r"\b(?:issues?|problems?|bugs?|errors?|concerns?|vulnerabilit\w+|conflicts?|regressions?|blockers?|missing|"
    r"problèmes?|erreurs?|risques?|écarts?|conflits?|doublons?|critiques?|bloquante?s?|manquante?s?)\b"
)
"""What is found by thinking it over: that there is none is an opinion."""
_UNSURE = re.compile(
    r"\b(?:if|when|returns?|should|would|will|may|might|raises?d?|prints?|error|warning|message|because|whether|"
    r"si|quand|affiche|retourne|erreur|doit|must|case|cas|handles?|why|option|expected|attendu|given|verify|check|"
    r"ensure|make sure|vérifier)\b|→|=>"
)
_LABELLED = re.compile(r"^:|détecté|existant")
"""Nothing, of what is not said: a value ("topics: none") unless a command is named beside it."""
_FINDING_WORDS = frozenset("aucun aucune trouvé trouvée trouvés trouvées found none nothing dossier fichier fichiers "
                           "files existant absent introuvable there remaining other more".split())  # fmt: skip


def not_found(text: Text) -> list[OutcomeClaim]:
    """Claims that a search, a list or a diff came back empty."""
    found = _NOTHING.search(text.spoken)
    if found is None or _UNSURE.search(text.spoken[max(0, found.start() - 120) : found.start()]):
        return []
    what = (found["fr"] or found["en"] or "").strip()
    codes = [code for _, code in text.ticked]
    commands = tuple(code for code in codes if " " in code and actions(code))
    if _JUDGED.search(what) or text.spoken[found.end() : found.end() + 3].lstrip()[:1] in ("→", "="):
        return []
    if not what and not commands and _LABELLED.search(found.group()):
        return []
    return [
        OutcomeClaim(
            Achievement.NOT_FOUND,
            (_K.SEARCH, _K.LIST, _K.DIFF, _K.STATUS),
            tuple(dict.fromkeys((*targets_of(text, 0, len(text.shown)), *codes))),
            scope=tuple(w for w in words_of(text.spoken) if w not in _FINDING_WORDS),
            phrase=" ".join(found.group().strip(": ").split())[:60],
            at=found.start(),
            commands=commands,
            own=(found.start(), len(text.shown)) if text.shown[found.start() - 1 : found.start()] == "(" else None,
        )
    ]
