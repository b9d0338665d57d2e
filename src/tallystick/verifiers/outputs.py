"""What the output of a command says about how it went: counts of tests, commits made, refs pushed, files in a diff.

Every reader here is linear. A long output is read at its head and tail, and around each word of failure or success in
its middle, so that a failure printed in the middle of a test run is not missed (OUTCOME.3, OUTCOME.4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

HEAD_CHARS = 6_000
TAIL_CHARS = 14_000
_AROUND = 160
_MAX_HITS = 60
_TELLING = (
    "FAIL",
    "failed",
    "failing",
    "failures",
    "not ok",
    " passed",
    "passing",
    "test result:",
    "--- PASS",
    "ERROR ",
)


def window(text: str, whole: bool) -> str:
    """The part of an output that is read: head and tail, and when ``whole`` also what stands around telling words."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    parts = [text[:HEAD_CHARS], "\n"]
    if whole:
        parts.extend(_around_telling(text[HEAD_CHARS:-TAIL_CHARS]))
    parts.extend(("\n", text[-TAIL_CHARS:]))
    return "".join(parts)


def head_and_tail(text: str, size: int) -> str:
    """``text``, or its first and last ``size / 2`` characters."""
    return text if len(text) <= size else text[: size // 2] + "\n" + text[-size // 2 :]


_ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")


def _around_telling(middle: str) -> Iterator[str]:
    """Lines of ``middle`` around its telling words, in order of the words; a bounded number."""
    for word in _TELLING:
        at = 0
        for _ in range(_MAX_HITS):
            found = middle.find(word, at)
            if found < 0:
                break
            start = max(middle.rfind("\n", max(0, found - _AROUND), found) + 1, at)
            stop = middle.find("\n", found, found + _AROUND)
            stop = min(len(middle), found + _AROUND) if stop < 0 else stop
            yield middle[start:stop] + "\n"
            at = stop


class TestCounts(NamedTuple):
    """What a test runner printed; ``-1`` where it printed no number."""

    passed: int = -1
    failed: int = -1
    cached: bool = False
    """Every package that has tests came from the cache."""
    empty: bool = False
    """It ran no test at all: nothing collected, no tests to run."""
    passed_names: str = ""
    """Names of passed tests, one a line, as many as fit in ``NAMES_CHARS``."""
    failed_names: str = ""
    said_passed: bool = False
    said_failed: bool = False
    passes: tuple[int, ...] = ()
    """Each number of passed tests that is printed, the first of them."""
    packages: bool = False
    """``passed`` counts packages, since no number of tests is printed."""


TestCounts.__test__ = False  # type: ignore[attr-defined]

NAMES_CHARS = 1_500
_COUNTED = re.compile(
    r"(?<![\w.])(\d{1,7}) (?:tests? |specs? |examples?, )?"
    r"(passed|passing|failed|failing|failures?|pass\b|fail\b|errors? in \d)"
)
_LABELLED = re.compile(r"\b(passed|failed|failures|pass|fail)\s?[:=]?[ \t]{1,8}(\d{1,7})\b(?!\s?%)", re.IGNORECASE)
_LABELLED_TIGHT = re.compile(r"\b(passed|failed|failures|errors)[=:](\d{1,7})\b", re.IGNORECASE)
_MAVEN = re.compile(r"Tests run: (\d{1,7}), Failures: (\d{1,7}), Errors: (\d{1,7})")
_EXAMPLES = re.compile(
    r"\b(\d{1,7}) (?:examples?|specs?|tests?|runs?), (?:\d{1,7} assertions?, )?(\d{1,7}) failures?\b"
)
_OUT_OF = re.compile(r"\bRan (\d{1,7}) tests? in\b|\bOK \((\d{1,7}) tests?\b|\bTests: (\d{1,7}), Assertions:")
_GO_PACKAGE = re.compile(r"(?:\[\S{1,40}\] )?(ok|FAIL)[ \t]+(\S{1,200})[ \t]*(.{0,80})$")
_GO_TEST = re.compile(r"--- (PASS|FAIL): (\S{1,120})")
_RUST = re.compile(r"test (\S{1,120}) \.\.\. (ok|FAILED)")
_UNIT = re.compile(r"(test\w{0,100}) \([\w.]{1,150}\)(?: .{0,200})? \.\.\. (ok|FAIL|ERROR)")
_PYTEST = re.compile(r"([\w./-]{1,120}::\S{1,120}) (PASSED|FAILED|ERROR)")
_PYTEST_SUMMARY = re.compile(r"(FAILED|ERROR|PASSED) ([\w./-]{1,120}::\S{1,120})")
_MARKED = re.compile(r"[ \t]{0,12}([✓✔√✕✗✘×]) (.{1,100})")
_MARKS = frozenset("✓✔√✕✗✘×")
_GOOD = frozenset(("ok", "PASS", "PASSED", "✓", "✔", "√"))
_EMPTY = ("no tests to run", "collected 0 items", "no tests ran", "No tests found", "Ran 0 tests", "no test files",
          "0 passing", "No tests were", "running 0 tests", "0 tests executed", "No test files found")  # fmt: skip
_SUMMARY_MARKS = (
    "kipped",
    "eselected",
    "gnored",
    "ending",
    "odo",
    "ass",
    "ail",
    "AIL",
    "Ran ",
    "OK",
    "SUCCESS",
    "rror",
    "PASS",
)
_FAIL_WORDS = ("FAILED", "ERROR task failed", "npm ERR!", "❌", "✗", "✘", "Traceback (most recent call last)", "\nFAIL",
               "\nE   ", "\npanic: ", "\nerror: ", "\nerror[", "tests failed", "test failed", "Test failed")  # fmt: skip
_PASS_WORDS = ("all tests passed", "all tests pass", "tests passed", "test passed", "all checks passed",
               "all specs passed", "build successful", "test result: ok")  # fmt: skip


def test_counts(text: str) -> TestCounts:
    """What ``text`` says of a test run; suites add up, so "failed: 0" and then "failed: 3" has failed (case 19)."""
    names: tuple[list[str], list[str]] = ([], [])
    packages: list[tuple[str, str]] = []
    summary: list[str] = []
    outer = 0
    said_passed = False
    for line in text.split("\n"):
        named = _named_test(line)
        if named is not None:
            names[0 if named[0] else 1].append(named[1])
            outer += named[0] and not line.startswith((" ", "\t"))
        elif line.startswith(("ok", "FAIL", "[")) and (package := _GO_PACKAGE.match(line)):
            packages.append((package[1], package[3]))
        elif any(mark in line for mark in _SUMMARY_MARKS):
            summary.append(line[:400])
            said_passed = said_passed or line.strip() in ("PASS", "OK")
    told = "\n".join(summary[-400:])
    passed, failed, passes = _sums(told)
    ran = [rest for verdict, rest in packages if verdict == "ok" and "[no test" not in rest]
    failed_packages = sum(1 for verdict, _ in packages if verdict == "FAIL")
    by_package = passed < 0 and not names[0] and bool(ran)
    if passed < 0 and (names[0] or ran):
        passed = len(names[0]) or len(ran)
    if failed < 0 and (names[1] or packages):
        failed = len(names[1]) or failed_packages
    failed = max(failed, 1) if names[1] or failed_packages else failed
    lowered = told.lower()
    return TestCounts(
        passed,
        failed,
        bool(ran) and all("(cached)" in rest for rest in ran),
        (
            passed <= 0
            and failed <= 0
            and not ran
            and (any(word in text for word in _EMPTY) or _only_skips(told, passed))
        )
        or (by_package and "--- SKIP: " in text),
        _joined(names[0]),
        _joined(names[1]),
        said_passed or bool(ran) or any(word in lowered for word in _PASS_WORDS),
        text.startswith(("FAIL", "panic: ", "error: ")) or any(word in text for word in _FAIL_WORDS),
        (*passes, outer) if outer else passes,
        by_package,
    )


test_counts.__test__ = False  # type: ignore[attr-defined]


def _named_test(line: str) -> tuple[bool, str] | None:
    """Whether the test that ``line`` names passed, and its name; None for other lines."""
    found = None
    if "--- " in line:
        found = _GO_TEST.match(line.lstrip(" "))
        return (found[1] == "PASS", found[2]) if found else None
    if "::" in line:
        summed = _PYTEST_SUMMARY.match(line)
        if summed:
            return summed[1] == "PASSED", summed[2]
        found = _PYTEST.match(line)
    if found is None and " ... " in line:
        found = _RUST.match(line) or _UNIT.match(line)
    if found:
        return found[2] in _GOOD, found[1]
    if line.lstrip(" \t")[:1] in _MARKS and (marked := _MARKED.match(line)):
        return marked[1] in _GOOD, marked[2].strip()
    return None


_SKIPPED = re.compile(r"(?<![\w.])[1-9]\d{0,6} (?:tests? |examples? )?"
                      r"(?:skipped|deselected|ignored|pending|todo|disabled|xfailed)\b"
                      r"|\b(?:skipped|pending|ignored|disabled)\s?[:=]?[ \t]{0,8}[1-9]\d{0,6}\b", re.IGNORECASE)  # fmt: skip


def _only_skips(summary: str, passed: int) -> bool:
    """Whether a summary counts tests that were left out, and none that was run; or says that none passed."""
    return passed == 0 or _SKIPPED.search(summary) is not None


_LEFT_OUT = re.compile(r"\b[Ss]kipped[:=] ?(\d{1,7})|(?<![\w.])(\d{1,7}) pending\b")
_SUITES = ("Test Suites:", " Test Files ", "Test Files ")


def _sums(text: str) -> tuple[int, int, tuple[int, ...]]:
    """Passed and failed tests added up over every summary in ``text``, -1 where none is printed; and each number of
    passed tests."""
    if "Tests" in text:
        text = "\n".join(line for line in text.split("\n") if not line.startswith(_SUITES))
    passes: list[int] = []
    passed = failed = -1
    maven = _MAVEN.findall(text) if "Tests run" in text else []
    for total, failures, errors in maven:
        bad = int(failures) + int(errors)
        passed, failed = max(passed, 0) + int(total) - bad, max(failed, 0) + bad
    pairs = [(word, number) for number, word in _COUNTED.findall(text)]
    if not maven:
        pairs += _LABELLED.findall(text) + _LABELLED_TIGHT.findall(text)
    for word, number in pairs:
        if word.lower().startswith("pass"):
            passed = max(passed, 0) + int(number)
            passes.append(int(number))
        else:
            failed = max(failed, 0) + int(number)
    if passed < 0:
        for total, bad in _EXAMPLES.findall(text):
            passed = max(passed, 0) + int(total) - int(bad)
    if passed < 0:
        for counts in _OUT_OF.findall(text):
            passed = max(passed, 0) + int("".join(counts))
    if passed > 0 and not passes and ("kipped" in text or " pending" in text):
        passed = max(0, passed - sum(int(a or b) for a, b in _LEFT_OUT.findall(text)))
    return passed, failed, tuple(dict.fromkeys(passes))[:_MAX_HITS]


def _joined(names: list[str]) -> str:
    seen = dict.fromkeys(names)
    kept: list[str] = []
    size = 0
    for name in seen:
        size += len(name) + 1
        if size > NAMES_CHARS:
            break
        kept.append(name)
    return "\n".join(kept)


class GitFacts(NamedTuple):
    """What git, or a code host's command line, printed."""

    made: tuple[str, ...] = ()
    """Hashes of commits that ``git commit`` reports as made."""
    shown: tuple[str, ...] = ()
    """Hashes of commits on display (``git show``, ``git log``)."""
    pushed: tuple[str, ...] = ()
    """Refs that the remote took (or that were already there)."""
    words: frozenset[str] = frozenset()
    """``rejected`` ``conflict`` ``nothing`` ``up_to_date`` ``rebased`` ``merged`` ``clean_tree`` ``fatal``"""
    pulls: tuple[str, ...] = ()
    """Numbers of pull requests whose address or merge is printed."""


_MADE = re.compile(r"^\[(?!\s)[^\]\n]{1,120}? ([0-9a-f]{7,40})\] ", re.MULTILINE)
_SHOWN = re.compile(r"^commit ([0-9a-f]{7,40})\b|^([0-9a-f]{7,12}) \S", re.MULTILINE)
_PUSHED = re.compile(r"^ ?[ +*=-] {1,4}(?:[0-9a-f]{5,40}\.\.\.?[0-9a-f]{5,40}|\[new (?:branch|tag)\]|\[deleted\]|\[up to date\])"
                     r" {1,60}(?:(\S{1,120}) {1,60}-> {1,4})?(\S{1,120})", re.MULTILINE)  # fmt: skip
_PULL = re.compile(r"/(?:pull|merge_requests)/(\d{1,7})\b|[Mm]erged pull request \S{0,60}#(\d{1,7})")
_GIT_WORDS: tuple[tuple[str, str], ...] = (
    ("[rejected]", "rejected"), ("[remote rejected]", "rejected"), ("failed to push", "rejected"),
    ("CONFLICT (", "conflict"), ("Automatic merge failed", "conflict"), ("could not apply", "conflict"),
    ("Resolve all conflicts", "conflict"), ("error: Your local changes", "conflict"),
    ("cannot rebase", "conflict"), ("nothing to commit", "nothing"), ("no changes added to commit", "nothing"),
    ("nothing added to commit", "nothing"), ("Everything up-to-date", "up_to_date"),
    ("is up to date.", "up_to_date"), ("Already up to date", "up_to_date"), ("Successfully rebased", "rebased"),
    ("Merge made by", "merged"), ("Fast-forward", "merged"), ("Merged pull request", "merged"),
    ("Squashed and merged", "merged"), ('"state":"MERGED"', "merged"), ("working tree clean", "clean_tree"),
    ("fatal: ", "fatal"), ("GraphQL:", "fatal"), ("pull request create failed", "fatal"),
)  # fmt: skip


def git_facts(text: str) -> GitFacts:
    """What ``text`` says of commits, refs and pull requests."""
    words = frozenset(word for literal, word in _GIT_WORDS if literal in text)
    shown = tuple(dict.fromkeys(a or b for a, b in _SHOWN.findall(text[:HEAD_CHARS])))[:40]
    return GitFacts(
        tuple(_MADE.findall(text))[:10],
        shown,
        tuple(b for _, b in _PUSHED.findall(text))[:10],
        words,
        tuple(dict.fromkeys(a or b for a, b in _PULL.findall(text[:HEAD_CHARS])))[:10],
    )


_CLEAN = ("0 issues", "no issues found", "All checks passed", "0 errors", "no offenses", "0 problems", "0 warnings",
          "Success: no issues", "Finished `", "Finished dev", "BUILD SUCCESSFUL", "Build succeeded", "No lint",
          "compiled successfully", "Compiled successfully", "built in ", "0 vulnerabilities")  # fmt: skip
_SUSPECT = ("issue", "problem", "rror", "FAIL", "ERR!", "offense", "violation", "could not compile", "failed",
            "undefined reference")  # fmt: skip
_UNCLEAN = re.compile(
    r"(?<![\w.])[1-9]\d{0,6} (?:issues?|problems?|errors?|offenses?|violations)\b|ERROR task failed|\berror TS\d"
    r"|\berror\[E\d|: error:|\bBUILD FAILED\b|\bfatal error\b|\bnpm ERR!|[Cc]ompilation failed|^error: "
    r"|\bcould not compile\b|^FAIL\b|\bSyntaxError\b|undefined reference|^[\w./-]{1,150}:\d{1,6}:\d{1,5}: "
)


def cleanliness(text: str) -> int:
    """``+1`` when a linter, type checker or build says it is clean, ``-1`` when it lists faults, ``0`` when neither."""
    if any(word in text for word in _SUSPECT):
        for line in text.split("\n"):
            if any(word in line for word in _SUSPECT) and _UNCLEAN.search(line[:500]):
                return -1
    return int(any(word in text for word in _CLEAN))


_DIFF_PATH = re.compile(r"^(?:diff --git a/\S{1,200} b/|\+\+\+ b/)(\S{1,200})$|^ (\S{1,200}) {1,80}\| {1,12}(?:\d|Bin)"
                        r"|^(?:[MADRCU?! ]{2}|[MADRC]\t) ?(\S{1,200})$|^([\w.@+-]{1,80}(?:/[\w.@+-]{1,80}){1,12}\.\w{1,8})$"
                        r"|^[ \t]{1,8}(?:modified|new file|deleted): {1,12}(\S{1,200})$", re.MULTILINE)  # fmt: skip
_ERROR_PATH = re.compile(r"(?<![\w./-])((?:[\w.@+-]{1,60}/){1,12}[\w.@+-]{1,80}\.\w{1,8}):\d{1,6}")


def listed_paths(text: str) -> tuple[str, ...]:
    """Files that a diff, a status or a list of names shows, in order, without repeats."""
    return tuple(dict.fromkeys(next(filter(None, groups)) for groups in _DIFF_PATH.findall(text)))[:80]


def error_paths(text: str) -> tuple[str, ...]:
    """Files named with a line number (``a/b.go:12:3``), in order, without repeats."""
    return tuple(dict.fromkeys(_ERROR_PATH.findall(text)))[:40]


_ADDED = re.compile(r"^\+(?!\+\+)[^\n]{1,160}", re.MULTILINE)


def added_lines(text: str) -> str:
    """The lines a diff adds, cut at 1,500 characters."""
    return "\n".join(_ADDED.findall(text)[:60])[:1_500]


_ERROR_LINE = re.compile(r"(?:[\w.]{1,80}\.)?[A-Z]\w{0,60}(?:Error|Exception|Interrupt|Exit|Warning|NotFound)\b(?::|$)")
_EXIT_LINE = re.compile(r"(?:exit(?: ?code| status)?|return ?code|rc|status)[ :=]{1,3}-?[1-9]\d{0,4}$", re.IGNORECASE)


def bad_end(text: str) -> str:
    """``traceback`` when ``text`` ends with the error line of one, ``exit`` when by saying an exit code that is not 0, and
    that may be of a failure on purpose; else empty."""
    last = text[-2_000:].rstrip().rsplit("\n", 1)[-1].strip()
    if _EXIT_LINE.fullmatch(last):
        return "exit"
    return "traceback" if "Traceback (most recent call last)" in text and _ERROR_LINE.match(last) else ""


_NUMBER = re.compile(r"\d[\d,.]{0,15}")
_LABEL = re.compile(r"([A-Za-z][\w-]{0,30})[ \t]{0,3}[:=][ \t]{0,12}$")
_NOUN = re.compile(r" ([A-Za-z][\w-]{1,30})")
MAX_FIGURES = 24


def figures(text: str) -> str:
    """Numbers printed with a name (``packs: 2``, ``3 files``), one a line as ``name=number``; at most ``MAX_FIGURES``."""
    found: list[str] = []
    for number in _NUMBER.finditer(text, 0, 2_000):
        start, end = number.span()
        label = _LABEL.search(text[max(0, start - 44) : start])
        named = label or (_NOUN.match(text, end) if text[start - 1 : start] in ("", " ", "\n", "\t") else None)
        if named:
            found.append(f"{named[1].lower()}={number.group().rstrip('.,')}")
            if len(found) == MAX_FIGURES:
                break
    return "\n".join(found)
