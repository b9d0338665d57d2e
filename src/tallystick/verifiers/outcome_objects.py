"""What a claim says that it is about: the whole suite or so many tests, a package, a branch, an environment (OUTCOME.1).

"All tests pass" speaks of the whole suite, "All 7 new tests pass" of seven; "Pushed to main" names a branch, "Pushed to the
remote" none. What is named here has to show in the run (``outcome_scope``); a claim that names nothing names no object.
"""

from __future__ import annotations

import re

from tallystick.verifiers.programs import CommandKind

_K = CommandKind
_TESTS = (
    r"(?:(?:unit|integration|e2e|end-to-end|smoke|regression|unitaires?)\s+)?"
    r"(?:tests?|specs?|checks?|test cases|scenarios|scénarios)"
)
_FILLER = (
    r"(?:(?:of|the|our|your|these|existing|previous|automated|project|project's|repo|repository|de|les|nos|des)\s+)"
)
_WHOLE = re.compile(
    rf"\b(?:all|every|each|100\s?%|tous|toutes)\s+{_FILLER}{{0,4}}(?:\d{{1,6}}\s+)?{_TESTS}(?![\w-])"
    r"|\b(?:full|entire|whole|complete)\s+(?:[\w-]+\s+){0,2}(?:suites?|tests?|specs?)\b"
    r"|\b(?:the|our|la|notre)\s+(?:tests?\s+|pytest\s+|jest\s+|project\s+)?suite\b"
    rf"|\b{_TESTS}\s+(?:(?:are|now|is|sont)\s+){{0,2}}(?:all|tous|toutes)\b"
    r"|\btoute la suite\b|\bl'ensemble des tests\b|\bla totalité des tests\b"
)
_PART = re.compile(
    rf"\b{_TESTS}\s+(?:in|for|of|from|under|inside|covering|related|about|that|which|dans|de|du|des|pour|sur)\s+"
    r"(?!(?:the\s+|this\s+|our\s+)?(?:whole\s+|entire\s+|full\s+)?(?:repo|repository|project|codebase|workspace|suite)\b)"
    r"|\bsuite (?:for|of|in|from)\s+(?!the (?:repo|project|whole|entire))"
)


def whole_suite(subject: str) -> bool:
    """Whether a subject, lower-cased, speaks of every test there is, with no word that narrows it."""
    return _WHOLE.search(subject) is not None and _PART.search(subject) is None


_OUTRIGHT = re.compile(
    r"\b(?:full|entire|whole|complete)\s+(?:[\w-]+\s+){0,2}(?:suites?|tests?|specs?)\b|\bsuite\b|\bl'ensemble\b|\btotalité\b"
)


def says_whole(subject: str) -> bool:
    """Whether a subject names the suite as one thing, so that nothing but the whole of it can be meant."""
    return whole_suite(subject) and _OUTRIGHT.search(subject) is not None


_COUNTED = re.compile(
    r"(?<![\w.#/-])(\d{1,6})(?:\s?/\s?\d{1,6})?\s+((?:[a-z`¤][\w'`¤-]*\s+){0,3}?)(?:tests?|specs?|test cases|examples|scenarios)"
    r"(?!\s+(?:files?|suites?|packages?|modules?|class(?:es)?|runs?)\b)(?![\w-])"
)
_BEHIND = re.compile(
    r"[^\w.;]{0,4}[(:—–-]\s*(?:all\s+)?(\d{1,6})(?:\s?/\s?\d{1,6}(?=\s*[),.]|\s+(?:tests?|passed|passing)|\s*$)"
    r"|\s+(?:tests?|passed|passing|specs?)\b)"
)
_WORDED = re.compile(
    r"\b(both|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|les deux|trois|quatre|cinq)\s+(?:[a-z][\w-]*\s+){0,2}?"
    r"(?:tests?|specs?|test cases)(?!\s+(?:files?|suites?|packages?|modules?|runs?)\b)(?![\w-])"
)
_WORDS = {"both": 2, "les deux": 2, "trois": 3, "quatre": 4, "cinq": 5} | {
    word: n for n, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)
}


def claimed_count(subject: str, behind: str) -> tuple[int, bool]:
    """How many tests are said to pass, -1 where no number is, and whether that is said to be all of them."""
    counted = _COUNTED.search(subject)
    if counted:
        return int(counted[1]), not counted[2].strip() and whole_suite(subject)
    after = _BEHIND.match(behind)
    if after:
        return int(after[1]), whole_suite(subject)
    worded = _WORDED.search(subject)
    return (_WORDS[worded[1]], False) if worded else (-1, False)


_KNOWN_BRANCHES = frozenset("main master develop dev staging production prod release trunk gh-pages next".split())
_NAME = r"`?([\w@.][\w./@+-]{0,80})`?"
_TO = re.compile(
    rf"\b(?:to|on|onto|into|sur|vers|dans|upon)\s+(?:(?:the|la|le|our|remote|upstream|a|new)\s+){{0,3}}(branch\s+|branche\s+)?{_NAME}"
    r"(\s+branch\b|\s+branche\b)?"
)
_DIRECT = re.compile(
    rf"\s+(?:(?:the|la|le|our)\s+)?(branch\s+|branche\s+)?{_NAME}(\s+branch\b|\s+branche\b)?(?=\s*(?:$|[.,;!(]|to\b|into\b|onto\b|and\b))"
)


def _branch(found: re.Match[str] | None) -> str:
    """The branch that a phrase names for certain: it is called one, stands in ticks, has a slash, or is a usual name."""
    if found is None:
        return ""
    name = found[2].rstrip(".")
    ticked = "`" in found.group() and "." not in name
    called = bool(found[1] or found[3])
    certain = called or ticked or name in _KNOWN_BRANCHES or ("/" in name and "." not in name)
    return name if certain and name not in _NO_NAMES and not _HASH.fullmatch(name) else ""


_NO_NAMES = frozenset(
    "and or to with on for is was has are from in by so but which as now after et avec pour the a new that this remote "
    "same current feature-branch it its my our your github gitlab".split()
)
_HASH = re.compile(r"[0-9a-f]{7,40}")
_ENVIRONMENTS = {
    "production": "production", "prod": "production", "staging": "staging", "stage": "staging", "dev": "development",
    "development": "development", "preview": "preview", "qa": "qa", "uat": "uat", "canary": "canary", "sandbox": "sandbox",
    "preprod": "preprod", "testnet": "testnet", "mainnet": "mainnet", "testpypi": "testpypi",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]{2,30}")


def environments(text: str) -> tuple[str, ...]:
    """Environments that a text names, by one name each, in order."""
    lowered = text.lower().replace("pre-prod", "preprod")
    return tuple(dict.fromkeys(_ENVIRONMENTS[w] for w in _WORD.findall(lowered) if w in _ENVIRONMENTS))


_REGISTRIES = re.compile(r"\b(?:to|on|sur|at)\s+(?:the\s+)?(npm|testpypi|pypi|crates\.io|rubygems|docker ?hub|ghcr)\b")
_VERSION = re.compile(r"(?<![\w.])v?(\d{1,4}\.\d{1,4}(?:\.\d{1,5})?)(?![\w.]*\d)")


def versions(text: str) -> tuple[str, ...]:
    """Version numbers that a text names, without their ``v``."""
    return tuple(dict.fromkeys(_VERSION.findall(text)))[:8]


_STOPS = re.compile(
    r"\s(?:via|with|using|from|in|into|on|onto|for|to|as|because|so|by|globally|locally|successfully|correctly|now|again|"
    r"avec|dans|sur|pour|depuis|through|without|inside|where|which|that|before|after)\b|[(;:!?—–|]|\.(?:\s|$)|✓|✅"
)
_GENERIC = frozenset(
    "dependencies dependency deps packages requirements modules tools tooling it them everything all missing project app "
    "application plugins plugin hooks hook extension extensions libraries both this that these they version versions latest "
    "dépendances paquets paquet outils successfully node_modules environment env virtualenv venv software binary cli "
    "system build dev-dependencies and package things updates is are was were skill skills service".split()
)
_ARTICLES = frozenset("the a an new required latest also python npm pip library module le la les un une package packages "
                      "dependency cleanly i we've i've we have has had been and then now just successfully".split())  # fmt: skip
_JOINS = re.compile(r"\s*(?:,|\s(?:and|et)\s|&|\s\+\s)\s*")
_PACKAGE = re.compile(r"@?[a-z][\w@/.+-]{0,80}(?:\[[\w,]{0,60}\])?")


_LINKING = re.compile(r"(?:\b(?:is|are|was|were|has been|have been|est|sont|now|already|successfully)\s{1,3}){1,3}$")


def packages(right: str, left: str) -> tuple[str, ...]:
    """Packages that stand as the object behind a verb of installing, or as its subject in front."""
    stop = _STOPS.search(right, 1)
    named = _packages_in(right[: stop.start()] if stop else right)
    return named or (
        _packages_in(_LINKING.sub("", left[-80:])) if not right.strip(" .!✓✅").split(" ")[0].isalpha() or stop else ()
    )


def _packages_in(phrase: str) -> tuple[str, ...]:
    found: list[str] = []
    for at, part in enumerate(_JOINS.split(phrase.strip(" .!,"))[:12]):
        ticked = re.findall(r"`([^`\s]{1,80})`", part)
        words = [word for word in part.replace("`", " ").split() if word not in _ARTICLES]
        if ticked:
            found.extend(ticked)
            continue
        if len(words) > 1 and words[-1][:1].lstrip("v").isdigit():
            words = words[:-1]
        if _GENERIC.intersection(words) or not words or len(words) > (3 if at == 0 else 1):
            break
        if all(_PACKAGE.fullmatch(word) for word in words):
            found.append(" ".join(words))
    return tuple(dict.fromkeys(found))[:8]


def named_objects(kind: CommandKind, left: str, right: str) -> tuple[str, ...]:
    """What a claim of an act names, by its clause in front of and behind the verb, lower-cased with its ticks: branches
    for a push, merge, rebase or commit, packages for an installation, environments for a deployment or migration,
    registries for a publication."""
    right = right[:200]
    if kind in (_K.PUSH, _K.REBASE, _K.COMMIT):
        names = (_branch(_TO.search(right)), _branch(_DIRECT.match(right)) if kind is _K.PUSH else "")
        return tuple(dict.fromkeys(name for name in names if name))
    if kind is _K.MERGE:
        name = _branch(_DIRECT.match(right))
        return (name,) if name else ()
    if kind is _K.INSTALL:
        return packages(right, left)
    if kind in (_K.DEPLOY, _K.MIGRATE):
        behind = environments(right)
        return behind[:1] or environments(left[-80:])[:1]
    if kind is _K.PUBLISH:
        registry = _REGISTRIES.search(right)
        return (registry[1].replace(" ", ""),) if registry else ()
    return ()
