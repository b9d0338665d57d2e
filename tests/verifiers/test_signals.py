"""A tool result becomes a signal (OUTCOME.1, 3, 4, 7; EVID.7, 10)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from benchmarks.quality.outcomes import events_of
from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.evidence import Event, EventKind, Locator, Origin, Status
from tallystick.verifiers.commands import CommandKind
from tallystick.verifiers.outputs import test_counts as counts
from tallystick.verifiers.outputs import window
from tallystick.verifiers.signals import MAX_SIGNALS, Result, Signal, Signals, edits_of, result_of, signal_of
from tallystick.verifiers.speech import SpeechKind

SHARED = Path(__file__).resolve().parents[2] / "../shared/data"
NOWHERE = Locator(1, 0, 0, 0, 0)


def ran(
    command: str, output: str = "", *, status: Status = Status.OK, code: int | None = None, tool: str = "Bash"
) -> Event:
    return Event(
        "e1",
        EventKind.TOOL_RESULT,
        Origin.TOOL,
        output,
        NOWHERE,
        tool=tool,
        status=status,
        exit_code=code,
        command=command,
    )


def read(event: Event) -> Signal:
    signal = signal_of(event, 7)
    assert signal is not None
    return signal


def how(
    kind: CommandKind, command: str, output: str = "", *, status: Status = Status.OK, code: int | None = None
) -> Result:
    signal = read(ran(command, output, status=status, code=code))
    return next(result_of(signal, action) for action in signal.actions if action.kind is kind)


TEST = CommandKind.TEST

PASSING = {
    "pytest": "collected 2 items\n\na.py ..   [100%]\n\n===== 2 passed in 0.10s =====",
    "pytest -v": "a.py::test_a PASSED [ 50%]\na.py::test_b PASSED [100%]\n==== 2 passed, 1 warning in 0.1s ====",
    "python -m unittest": "..\n-----\nRan 2 tests in 0.001s\n\nOK",
    "go test ./...": "ok  \tx/a\t0.2s\n?   \tx/b\t[no test files]\nok  \tx/c\t(cached)",
    "go test -v ./a": "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tx/a\t0.2s",
    "cargo test": "running 1 test\ntest a::b ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored",
    "npx jest": "PASS src/a.test.js\n  ✓ adds (2 ms)\n\nTests:       1 passed, 1 total",
    "npx vitest run": " ✓ a.test.ts (2)\n Test Files  1 passed (1)\n      Tests  2 passed (2)",
    "npx mocha": "  5 passing (12ms)",
    "bundle exec rspec": "Finished in 0.1 seconds\n5 examples, 0 failures",
    "vendor/bin/phpunit": "OK (5 tests, 9 assertions)",
    "mvn test": "Tests run: 5, Failures: 0, Errors: 0, Skipped: 0\nBUILD SUCCESS",
    "dotnet test": "Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5",
    "node --test": "ℹ tests 3\nℹ pass 3\nℹ fail 0",
    "ctest": "100% tests passed, 0 tests failed out of 5",
    "./gradlew test": "BUILD SUCCESSFUL in 3s",
}
FAILING = {
    "pytest": "a.py .F\n=== FAILURES ===\nE   assert 1 == 2\n==== 1 failed, 1 passed in 0.1s ====",
    "pytest -v": "a.py::test_a PASSED\na.py::test_b FAILED\n==== 1 failed, 1 passed in 0.1s ====",
    "pytest -q": "ERROR a.py\n1 error in 0.05s",
    "python -m unittest": "Ran 3 tests in 0.001s\n\nFAILED (failures=1, errors=1)",
    "go test ./...": "--- FAIL: TestB (0.00s)\nFAIL\nFAIL\tx/a\t0.2s\nok  \tx/c\t0.1s\nFAIL",
    "go test ./b": "# x/b\nb.go:3:2: undefined: y\nFAIL\tx/b [build failed]\nFAIL",
    "cargo test": "test a::b ... FAILED\n\ntest result: FAILED. 3 passed; 1 failed; 0 ignored",
    "npx jest": "FAIL src/a.test.js\n  ✕ adds (2 ms)\nTests:       1 failed, 4 passed, 5 total",
    "npx mocha": "  4 passing (12ms)\n  1 failing",
    "bundle exec rspec": "5 examples, 2 failures",
    "mvn test": "Tests run: 5, Failures: 1, Errors: 0, Skipped: 0\nBUILD FAILURE",
    "dotnet test": "Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5",
    "node --test": "# pass 2\n# fail 1",
    "./run_suites.sh && npm test": "suite a\nfailed: 0\nsuite b\nfailed: 3",
}


@pytest.mark.parametrize("hide", ["{}", "{} | tail -20", "{}; echo done", "cd x && {} 2>&1 | cat"])
@pytest.mark.parametrize("command", sorted(PASSING))
def test_passing_runs(command: str, hide: str) -> None:
    """OUTCOME.4: a run whose summary says that it passed has passed, hidden status or not."""
    assert how(TEST, hide.format(command), PASSING[command]) is Result.OK


@pytest.mark.parametrize("hide", ["{} | tail -20", "{}; echo done", "cd x && {} 2>&1 | cat", "{} || true"])
@pytest.mark.parametrize("command", sorted(FAILING))
def test_failing_runs_whose_status_is_hidden(command: str, hide: str) -> None:
    """OUTCOME.4 (case 19): exit 0 of a pipe is not read over a summary that says it failed; suites add up."""
    assert how(TEST, hide.format(command), FAILING[command]) is Result.FAILED


@pytest.mark.parametrize("command", sorted(FAILING))
def test_failing_runs(command: str) -> None:
    """OUTCOME.3: a run that exits with a failure has failed."""
    assert how(TEST, command, FAILING[command], status=Status.FAILED, code=1) is Result.FAILED


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("go test ./...", "ok  \tx/a\t(cached)\nok  \tx/b\t(cached)"),
        ("go test ./a -run X", "ok  \tx/a\t0.1s [no tests to run]"),
        ("go test ./a", "?   \tx/a\t[no test files]"),
        ("pytest -k nothing", "collected 0 items\n\n==== no tests ran in 0.01s ===="),
        ("python -m unittest", "Ran 0 tests in 0.000s\n\nOK"),
        ("npx mocha", "  0 passing (1ms)"),
        ("cargo test", "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored"),
        ("pytest -q | tail -1", ""),
        ("make test | grep -v warning", "compiling a.c"),
    ],
)
def test_weak_results(command: str, output: str) -> None:
    """OUTCOME.1 (case 23): what ran nothing, came from a cache, or hides its status without a summary shows little."""
    assert how(TEST, command, output) is Result.WEAK


def test_one_package_that_was_run_is_no_cache() -> None:
    """OUTCOME.1 (case 23): only a run all of which is cached is weak."""
    assert how(TEST, "go test ./...", "ok  \tx/a\t(cached)\nok  \tx/b\t0.3s") is Result.OK


def test_runner_that_is_not_there_has_not_failed() -> None:
    """OUTCOME.3: a runner that could not start says nothing of the tests."""
    result = how(TEST, "python -m pytest", "/usr/bin/python: No module named pytest", status=Status.FAILED, code=1)
    assert result is Result.UNKNOWN


def test_failure_in_the_middle_of_a_long_run() -> None:
    """OUTCOME.3: a failure printed in the middle of a megabyte is not missed."""
    noise = "2026-01-01 info nothing to see\n" * 20_000
    text = f"{noise}--- FAIL: TestDeep (0.00s)\n{noise}PASS\nok  \tx/b\t0.3s\n"
    signal = read(ran("go test -v ./... | cat", text))
    assert result_of(signal, signal.actions[0]) is Result.FAILED
    assert "TestDeep" in signal.tests.failed_names


def test_names_of_tests_are_kept() -> None:
    """OUTCOME.1 (case 14): the tests that passed and failed are known by name."""
    found = counts("--- PASS: TestA (0s)\n    --- PASS: TestA/x (0s)\n--- FAIL: TestB (0s)\nFAIL")
    assert "TestA" in found.passed_names.split("\n")
    assert found.failed_names == "TestB"


def test_script_that_prints_a_summary_is_a_test_run() -> None:
    """OUTCOME.4: what prints "Ran 4 tests … OK" tested, whatever it is called."""
    signal = read(ran('python -c "run()"', "....\nRan 4 tests in 0.031s\n\nOK\n\nAll tests passed!"))
    assert signal.actions[0].kind is TEST
    assert result_of(signal, signal.actions[0]) is Result.OK


@pytest.mark.parametrize(
    ("kind", "command", "output", "expected"),
    [
        (CommandKind.COMMIT, "git commit -m x | tail", "[main abc1234] x\n 1 file changed", Result.OK),
        (CommandKind.COMMIT, "git commit -m x", "On branch main\nnothing to commit, working tree clean", Result.FAILED),
        (CommandKind.PUSH, "git push 2>&1 | tail -3", "To host:x.git\n   abc1234..def5678  main -> main", Result.OK),
        (CommandKind.PUSH, "git push | cat", " ! [rejected]  main -> main (fetch first)", Result.FAILED),
        (CommandKind.PUSH, "git push", "Everything up-to-date", Result.OK),
        (CommandKind.PUSH, "git push -u origin x", "To host:x\n * [new branch]      x -> x", Result.OK),
        (CommandKind.REBASE, "git rebase main | cat", "Successfully rebased and updated refs/heads/x.", Result.OK),
        (CommandKind.REBASE, "git rebase main | cat", "CONFLICT (content): Merge conflict in a", Result.FAILED),
        (CommandKind.MERGE, "git merge x", "Merge made by the 'ort' strategy.", Result.OK),
        (CommandKind.MERGE, "gh pr merge 12 | cat", "✓ Merged pull request o/r#12 (x)", Result.OK),
        (CommandKind.LINT, "ruff check . | tail", "Found 3 errors.", Result.FAILED),
        (CommandKind.LINT, "golangci-lint run | head", "0 issues.", Result.OK),
        (CommandKind.BUILD, "go build ./... 2>&1 | head", "", Result.OK),
        (CommandKind.BUILD, "npm run build | tail", "src/a.ts(3,1): error TS2304: x", Result.FAILED),
        (CommandKind.CREATE, "mkdir a; ls", "", Result.OK),
        (CommandKind.CREATE, "cp a b; ls", "cp: a: No such file or directory", Result.WEAK),
    ],
)
def test_what_is_printed_decides(kind: CommandKind, command: str, output: str, expected: Result) -> None:
    """OUTCOME.4: where the status is hidden, what was printed is read."""
    assert how(kind, command, output) is expected


def test_git_log_is_no_commit() -> None:
    """OUTCOME.4: ``git log`` printing "commit abc" is no commit."""
    signal = read(ran("git log -1", "commit abc1234def\nAuthor: x\n\n    [main abc1234] x"))
    assert [a.kind for a in signal.actions] == [CommandKind.HISTORY]
    assert signal.git.made == ()
    assert signal.git.shown == ("abc1234def",)


def test_failure_of_a_chain_is_not_blamed_on_each() -> None:
    """OUTCOME.1: of ``lint && test`` that failed, the test that printed its success has passed."""
    signal = read(ran("npm run lint && npm test", "Tests: 3 passed, 3 total", status=Status.FAILED, code=1))
    lint, test = signal.actions
    assert result_of(signal, lint) is Result.UNKNOWN
    assert result_of(signal, test) is Result.OK


@pytest.mark.parametrize("flag", ["background", "interrupted"])
@pytest.mark.parametrize("command", ["kubectl apply -f x", "rm a.py", "git push"])
def test_background_and_interrupted_runs_say_nothing(flag: str, command: str) -> None:
    """EVID.7, pitfall 26: what was put in the background or interrupted is unknown."""
    signal = read(ran(command, "", status=Status.UNKNOWN)._replace(flags=(flag,)))
    assert result_of(signal, signal.actions[0]) is Result.UNKNOWN


def test_harness_that_states_no_status() -> None:
    """EVID.7: where no status is stated, what was printed is read, and a bare run is weak."""
    unknown = Status.UNKNOWN
    assert how(TEST, "pytest", "=== 2 passed in 0.1s ===", status=unknown) is Result.OK
    assert how(TEST, "pytest", "=== 1 failed in 0.1s ===", status=unknown) is Result.FAILED
    assert how(CommandKind.DEPLOY, "kubectl apply -f x", "configured", status=unknown) is Result.WEAK
    assert how(CommandKind.DELETE, "rm a.py", "", status=unknown) is Result.OK
    assert (
        how(CommandKind.DELETE, "rm a.py", "rm: cannot remove 'a.py': No such file", status=unknown) is Result.UNKNOWN
    )
    edit = ran("", "File updated.", status=unknown, tool="edit")._replace(paths=("a.py",))
    assert edits_of(read(edit)) == ("a.py",)
    assert edits_of(read(edit._replace(text="Your edit was not applied: Error: bad indent"))) == ()


def test_rejected_calls_leave_no_signal() -> None:
    """EVID.7: a call that a person refused did not run."""
    assert signal_of(ran("git push", "The user doesn't want to proceed", status=Status.REJECTED), 1) is None


def test_other_events_leave_no_signal() -> None:
    """OUTCOME.1: only tool results are signals; words, thoughts, summaries and plans are none."""
    for kind in EventKind:
        if kind is not EventKind.TOOL_RESULT:
            assert signal_of(ran("pytest", "2 passed")._replace(kind=kind), 1) is None
    plan = ran("", "Plan updated", tool="update_plan")
    todo = ran("", "Todos have been modified successfully", tool="TodoWrite")
    assert signal_of(plan, 1) is None
    assert signal_of(todo, 1) is None


def test_own_tools_leave_no_signal() -> None:
    """OUTCOME.1: our own tool's output is no witness."""
    assert signal_of(ran("tally outcome x", "All tests pass")._replace(flags=("own_tool",)), 1) is None


def test_delegated_report_is_kept_apart() -> None:
    """OUTCOME.7: a report of another agent is no result."""
    signal = read(ran("", "All tests pass, lint is clean", tool="Task")._replace(origin=Origin.DELEGATED))
    assert signal.delegated
    assert signal.actions == ()


def test_edit_tools() -> None:
    """OUTCOME.1: an edit tool's result changes the files its call names; a failed one changes none."""
    edit = ran("", "The file /r/a.go has been updated", tool="Edit")._replace(paths=("/r/a.go",))
    assert edits_of(read(edit)) == ("/r/a.go",)
    assert edits_of(read(edit._replace(status=Status.FAILED))) == ()
    assert read(ran("", "{}", tool="mcp__tracker__update_issue")).actions[0].kind is CommandKind.EDIT


def test_negative_search() -> None:
    """OUTCOME.1 (case 18, pitfall 41): a search that found nothing says so, by tool or by command."""
    assert read(ran("", "No matches found", tool="Grep")).negative
    assert read(ran("grep -rn '<<<<<<<' .", "", status=Status.FAILED, code=1)).negative
    assert read(ran("rg '<<<<<<<'", "")).negative
    assert not read(ran("rg '<<<<<<<'", "a.py:1:<<<<<<< HEAD")).negative


def test_signals_are_bounded() -> None:
    """EVID.10: memory of a session stays bounded, and what was let go is counted."""
    signals = Signals()
    signal = read(ran("pytest", "1 passed"))
    for position in range(MAX_SIGNALS + 5):
        signals.add(signal._replace(position=position))
    assert signals.dropped == 5
    assert signals.readable == MAX_SIGNALS + 5
    assert len(signals.before(None)) == MAX_SIGNALS


def test_one_signal_is_small() -> None:
    """EVID.10: a signal of a megabyte of output is a few kilobytes."""
    lines = "".join(f"--- PASS: TestNumber{i} (0.00s)\n" for i in range(40_000))
    signal = read(ran("go test -v ./... " + "x" * 5_000, lines))
    assert len(repr(signal)) < 8_000
    assert len(signal.excerpt) <= 200
    assert len(signal.command) <= 200


@pytest.mark.parametrize(
    ("text", "complains"),
    [
        ("This is still not working perfectly", True),
        ("it doesn't work", True),
        ("nope, same error", True),
        ("lint fail", True),
        ("ça ne marche toujours pas", True),
        ("push, then check the comments", False),
        ("can you add a test?", False),
        ("great, commit it", False),
    ],
)
def test_complaints(text: str, complains: bool) -> None:
    """OUTCOME.3: a person's words that the thing still fails are told from other words."""
    signals = Signals()
    signals.add_message(Event("u", EventKind.MESSAGE, Origin.USER, text, NOWHERE), 4)
    assert [s.kind for s in signals.speeches_after(3)] == ([SpeechKind.COMPLAINT] if complains else [])


@given(
    st.text(max_size=600),
    st.sampled_from(["pytest", "git push", "go test ./... | tail", "git show", "ls", "npm run lint"]),
)
def test_any_output_is_read(text: str, command: str) -> None:
    """EVID.10: no output raises."""
    signal = read(ran(command, text))
    assert all(result_of(signal, action) in Result for action in signal.actions)


HOSTILE = ["1 ", "FAIL ", "a/", "--- PASS: ", "[a ", " ", "\n", "passed ", "test ", "1", "a::", "+++", "\n+", "\n ", "\x1b[",
           "a:1", "commit ", "0 passed, ", "✓ ", "ok \t", "(x) ... ", "| 1\n "]  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE, ids=repr)
@pytest.mark.parametrize("command", ["pytest | tail", "git show x && git status", "npm run lint; ls"])
def test_linear_in_the_worst_case(part: str, command: str) -> None:
    """EVID.10: a megabyte of hostile output is read in bounded time."""
    event = ran(command, part * (1_000_000 // len(part)), status=Status.FAILED, code=1)
    started = time.process_time()
    read(event)
    assert time.process_time() - started < 3.0


def test_window_of_a_long_output_is_bounded() -> None:
    """EVID.10: however long an output is, a bounded part of it is read."""
    assert len(window("FAIL failed passed ERROR x\n" * 400_000, whole=True)) < 150_000


@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not here")
def test_real_results_are_read_in_time() -> None:
    """EVID.10: the results of all shared sessions of two harnesses are read in well under two seconds."""
    paths = [
        *(SHARED / "transcripts/claude-code").glob("*.jsonl"),
        *(SHARED / "transcripts/codex").rglob("rollout-*.jsonl"),
    ]
    events = [event for path in sorted(paths) for event in events_of(path)]
    results = [event for event in events if event.kind is EventKind.TOOL_RESULT]
    assert len(results) > 3_000
    started = time.process_time()
    found = [signal_of(event, 0) for event in results]
    assert time.process_time() - started < 2.0
    assert sum(signal is not None for signal in found) > 2_500
