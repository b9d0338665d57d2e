"""An outcome claim needs a witness: failure cases 12-24 and their kin (OUTCOME.1-7)."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from benchmarks.quality import outcomes
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.language.modality import Mood
from tallystick.model.claim import Outcome
from tallystick.model.evidence import Event, EventKind, Locator, Origin, Status
from tallystick.verifiers.commands import CommandKind
from tallystick.verifiers.outcome import OutcomeVerdict, outcome_claims, verify_outcome
from tallystick.verifiers.signals import Signals, signal_of

SHARED = Path(__file__).resolve().parents[2] / "../shared"
NOWHERE = Locator(1, 0, 0, 0, 0)
W, U, C = Outcome.WITNESSED, Outcome.UNWITNESSED, Outcome.CONTRADICTED
STALE, NONE, SILENT = Outcome.STALE_WITNESS, Outcome.NONE, Outcome.NO_SIGNALS


class Told:
    """A session told one event a line; ``at`` marks where the words under test are said."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.said_at: int | None = None

    def _add(self, kind: EventKind, origin: Origin, text: str, **more: Any) -> Told:
        uid = f"e{len(self.events)}"
        self.events.append(Event(uid, kind, origin, text, NOWHERE, **more))
        return self

    def ran(self, command: str, output: str = "", code: int = 0, **more: Any) -> Told:
        status = Status.FAILED if code else Status.OK
        more = {"status": status, "exit_code": code or None, **more}
        return self._add(EventKind.TOOL_RESULT, Origin.TOOL, output, tool="Bash", command=command, **more)

    def edited(self, path: str, status: Status = Status.OK) -> Told:
        return self._add(EventKind.TOOL_RESULT, Origin.TOOL, "updated", tool="Edit", paths=(path,), status=status)

    def wrote(self, path: str, status: Status = Status.OK) -> Told:
        return self._add(EventKind.TOOL_RESULT, Origin.TOOL, "created", tool="Write", paths=(path,), status=status)

    def tool(self, name: str, output: str, **more: Any) -> Told:
        more = {"status": Status.OK, **more}
        return self._add(EventKind.TOOL_RESULT, more.pop("origin", Origin.TOOL), output, tool=name, **more)

    def user(self, text: str) -> Told:
        return self._add(EventKind.MESSAGE, Origin.USER, text)

    def assistant(self, text: str) -> Told:
        return self._add(EventKind.MESSAGE, Origin.ASSISTANT, text)

    def at(self) -> Told:
        self.said_at = len(self.events)
        return self.assistant("…")

    def hears(self, text: str, **more: Any) -> OutcomeVerdict:
        signals = Signals()
        for position, event in enumerate(self.events):
            signal = signal_of(event, position)
            if signal is not None:
                signals.add(signal)
            signals.add_message(event, position)
        return verify_outcome(text, signals, position=self.said_at, **more)


def told() -> Told:
    return Told()


FAILED_RUN = "=== 2 failed, 3 passed in 0.1s ==="
PASSED_RUN = "=== 5 passed in 0.1s ==="


# Case 12: what a test run says, and what is no test run


@pytest.mark.parametrize(
    "words", ["All tests pass", "All tests passed.", "The tests are green.", "Tests pass now", "All 5 tests pass"]
)
def test_failed_run_contradicts(words: str) -> None:
    """OUTCOME.3 (case 12): "All tests pass" over a failed run is contradicted, with the run as its witness."""
    verdict = told().ran("pytest -q", FAILED_RUN, 1).hears(words)
    assert verdict.outcome is C
    assert verdict.witness[0].command == "pytest -q"
    assert verdict.witness[0].status == "failed"


@pytest.mark.parametrize(
    "words", ["All tests pass", "All tests passed.", "The tests are green.", "Tests pass now", "All 5 tests pass"]
)
def test_passed_run_witnesses(words: str) -> None:
    """OUTCOME.1: the same words after a run that passed are witnessed by it."""
    verdict = told().ran("pytest -q", PASSED_RUN).hears(words)
    assert verdict.outcome is W
    assert verdict.witness[0].event == "e0"
    assert not verdict.witness[0].weak


@pytest.mark.parametrize(
    "command",
    [
        "ls tests",
        "go build ./...",
        "grep -rn pytest .",
        "cat test.log",
        "git log --oneline",
        "pip install pytest",
        "git status",
    ],
)
def test_other_commands_do_not_witness_tests(command: str) -> None:
    """OUTCOME.3 (case 12): over an ``ls``, a build, a search or a log, "all tests pass" is unwitnessed."""
    assert told().ran(command, "5 passed, all good").hears("All tests pass").outcome is U


@pytest.mark.parametrize(
    ("claim", "witness", "other"),
    [
        ("Lint is clean.", "ruff check .", "pytest"),
        ("The build succeeds.", "go build ./...", "golangci-lint run"),
        ("It compiles cleanly.", "cargo build", "cargo fmt"),
        ("Type checking passes.", "mypy src", "ruff check ."),
        ("Committed.", "git commit -m x", "git add -A"),
        ("Pushed.", "git push", "git commit -m x"),
        ("Merged.", "gh pr merge 3", "git push"),
        ("Deployed to staging.", "kubectl apply -f staging.yaml", "kubectl get pods"),
        ("Published v1.2.", "npm publish", "npm run build"),
        ("Migrated the database.", "alembic upgrade head", "alembic --help"),
        ("Installed the dependencies.", "npm ci", "npm ls"),
        ("Rebased onto main.", "git rebase main", "git log main"),
        ("Created the pull request.", "gh pr create --fill", "gh pr view"),
    ],
)
def test_each_kind_needs_its_own_kind(claim: str, witness: str, other: str) -> None:
    """OUTCOME.1: a claim is witnessed by the same kind of command that went well, by no other, and refuted by its failure."""
    assert told().ran(witness).hears(claim).outcome is W
    assert told().ran(other).hears(claim).outcome is U
    assert told().ran(witness, "error", 1).hears(claim).outcome is C


# Case 13, 14: scope


def test_scope_is_what_was_run() -> None:
    """OUTCOME.4 (case 13): "Both tests pass" after ``cd pkg && go test ./a ./b`` is witnessed."""
    verdict = told().ran("cd pkg && go test ./a ./b", "ok  \tx/a\t0.1s\nok  \tx/b\t0.2s").hears("Both tests pass")
    assert verdict.outcome is W


NAMED_RUN = "\n".join(
    [
        *(f"--- PASS: TestCheckAndNotify_{i} (0.00s)" for i in range(7)),
        "--- FAIL: TestUpdateCommand (0.00s)",
        "FAIL",
        "FAIL\tx\t0.6s",
    ]
)


def test_named_tests_are_looked_up_by_name() -> None:
    """OUTCOME.1 (case 14, pitfall 42): scope decides, not the exit code: seven listed as passing are, one that failed is not."""
    session = told().ran("go test ./v -v", NAMED_RUN, 1)
    assert session.hears("All 7 new `CheckAndNotify` tests pass.").outcome is W
    assert session.hears("The `TestUpdateCommand` test passes.").outcome is C
    assert session.hears("All tests pass.").outcome is C


def test_run_of_another_scope_is_no_witness() -> None:
    """OUTCOME.1: tests of one package say nothing of another's."""
    session = told().ran("go test ./pkg/a", "ok  \tx/pkg/a\t0.1s")
    assert session.hears("The `./pkg/b` tests pass.").outcome is U
    assert session.hears("The `./pkg/a` tests pass.").outcome is W


def test_narrow_rerun_does_not_cover_a_wide_failure() -> None:
    """OUTCOME.1: after the whole suite failed, one test run again alone does not witness "all tests pass"."""
    session = told().ran("pytest", FAILED_RUN, 1).ran("pytest tests/a.py", PASSED_RUN)
    assert session.hears("All tests pass").outcome is U


# Case 15: another command's later failure


def test_later_failure_of_another_command() -> None:
    """OUTCOME.1 (case 15, pitfall 44): "Lint passes locally" stays witnessed when ``lint:full`` fails two records later."""
    session = told().ran("npm run lint", "0 problems").at().ran("ls").ran("npm run lint:full", "9 problems", 1)
    assert session.hears("Lint passes locally").outcome is W


def test_words_before_any_run_refuted_by_the_next() -> None:
    """OUTCOME.3: said before anything was run, and the run that follows at once fails."""
    assert told().ran("ls").at().ran("pytest", FAILED_RUN, 1).hears("All tests pass").outcome is C
    assert told().ran("ls").at().edited("a.py").ran("pytest", FAILED_RUN, 1).hears("All tests pass").outcome is U


def test_later_results_are_no_witnesses() -> None:
    """OUTCOME.1: a run after the words does not witness them."""
    assert told().ran("ls").at().ran("pytest", PASSED_RUN).hears("All tests pass").outcome is U


# Case 16: the last attempt counts


def test_last_push_counts() -> None:
    """OUTCOME.1 (case 16): a rejected push, then one that went: witnessed by the last."""
    rejected = " ! [rejected]  main -> main (non-fast-forward)\nerror: failed to push some refs"
    pushed = "To host:x.git\n   abc1234..def5678  main -> main"
    session = told().ran("git push", rejected, 1).ran("git push --force-with-lease", pushed)
    verdict = session.hears("Pushed.")
    assert verdict.outcome is W
    assert verdict.witness[0].event == "e1"
    assert told().ran("git push", pushed).ran("git push", rejected, 1).hears("Pushed.").outcome is C


def test_commit_after_the_push_is_not_pushed() -> None:
    """OUTCOME.1: a push older than the last commit does not witness "pushed"."""
    session = told().ran("git push", " * [new branch]  x -> x").ran("git commit -m y", "[x abc1234] y")
    assert session.hears("Pushed.").outcome is U


def test_retried_test_run_counts() -> None:
    """OUTCOME.1 (case 16, pitfall 44): of two runs of the same tests the last decides, both ways."""
    assert (
        told().ran("pytest", FAILED_RUN, 1).edited("a.py").ran("pytest", PASSED_RUN).hears("All tests pass").outcome
        is W
    )
    assert (
        told().ran("pytest", PASSED_RUN).edited("a.py").ran("pytest", FAILED_RUN, 1).hears("All tests pass").outcome
        is C
    )


def test_conflict_concluded_by_a_commit_is_merged() -> None:
    """OUTCOME.1: a merge that stopped at a conflict and was concluded by a commit took place."""
    conflict = "CONFLICT (content): Merge conflict in a\nAutomatic merge failed"
    assert told().ran("git merge main", conflict, 1).hears("Merged main.").outcome is C
    session = told().ran("git merge main", conflict, 1).ran("git add -A && git commit --no-edit", "[x abc1234] wip")
    assert session.hears("Merged main.").outcome is W


@pytest.mark.parametrize("code", [124, 137])
def test_run_that_was_stopped_refutes_nothing(code: int) -> None:
    """OUTCOME.3: a test run that a timeout or a kill ended has neither passed nor failed."""
    assert told().ran("timeout 60 pytest", "collecting", code).hears("All tests pass").outcome is U


# Case 17: reports


@pytest.mark.parametrize("words", ["All green", "All tests pass, lint is clean", "Created `docs/a.md`.", "Done."])
def test_reports_do_not_witness(words: str) -> None:
    """OUTCOME.7 (case 17, pitfall 47): what only another agent's report says is unwitnessed, and said to be reported."""
    session = (
        told().user("go").tool("Task", "I created docs/a.md. All tests pass, lint is clean.", origin=Origin.DELEGATED)
    )
    verdict = session.hears(words)
    assert verdict.outcome is U
    assert "reported" in verdict.reason


def test_summary_and_todo_do_not_witness() -> None:
    """OUTCOME.7, pitfalls 29, 47: a plan ticked off, a compaction summary and a commit message are reports."""
    session = told().tool("TodoWrite", "All tests pass: completed").tool("update_plan", "Plan updated").ran("ls")
    session._add(EventKind.SUMMARY, Origin.HARNESS, "All tests pass (pytest: 5 passed)")
    session.ran('git commit -m "all tests pass"', "[main abc1234] all tests pass")
    assert session.hears("All tests pass").outcome is U


# Case 18: negative results


def test_search_that_found_nothing_witnesses_absence() -> None:
    """OUTCOME.1 (case 18): "All conflict markers are resolved" is witnessed by the search that found none."""
    assert told().tool("Grep", "No matches found").hears("All conflict markers are resolved.").outcome is W
    assert told().ran("grep -rn '<<<<<<<' .", "", 1).hears("All conflicts are resolved.").outcome is W
    assert (
        told().ran("grep -rn '<<<<<<<' .", "a.py:3:<<<<<<< HEAD").hears("All conflict markers are resolved.").outcome
        is U
    )
    assert told().ran("ls").hears("Merge conflicts resolved.").outcome is U


# Case 19: pipes


def test_pipe_that_prints_a_failure_has_failed() -> None:
    """OUTCOME.4 (case 19, pitfall 40): ``pytest -v | tail`` that exits 0 and prints "1 failed, 1 passed" has failed."""
    assert told().ran("pytest -v | tail", "=== 1 failed, 1 passed in 0.1s ===").hears("All tests pass").outcome is C
    assert told().ran("pytest -v | tail", "=== 2 passed in 0.1s ===").hears("All tests pass").outcome is W


def test_pipe_without_a_summary_is_weak() -> None:
    """OUTCOME.1 (case 23, pitfall 40): a pipe hides the status; without a summary the witness is weak, and named as such."""
    verdict = told().ran("make test | head -3", "compiling").hears("All tests pass")
    assert verdict.outcome is U
    assert "weak" in verdict.reason
    assert verdict.witness[0].weak


# Case 20: what is no outcome claim


@pytest.mark.parametrize(
    "words",
    [
        "PR #12 was not merged",
        "The PR will be merged.",
        "I'm checking whether the deploy succeeded.",
        "Once tests pass we deploy.",
        "All tests should pass now.",
        "The tests might pass.",
        "The bug is probably fixed.",
        "I think the tests pass.",
        "Let me verify that all tests pass.",
        "I'll push once it is committed.",
        "Did the tests pass?",
        "Ready to commit?",
        "The PR is ready to merge.",
        "Make sure the tests pass.",
        "If the build succeeds, the package is published.",
        "Next, run the tests until they are green.",
        "It was presumably deleted after the migration.",
        "We need to get this merged.",
        "The agent says all tests pass.",
        "According to CI, the tests passed.",
        "The field names will be consistent once #175 merges.",
        "Run `pytest` and `git push`.",
        "The function returns the created object.",
        "This adds a file when the session is created.",
        "The session has no branch yet, so the content detection check runs.",
        "Split the file into two parts.",
        "Set up the environment first.",
        "> All tests pass",
        "J'ajouterai le fichier demain.",
        "Les tests devraient passer.",
        "Je vais pousser la branche.",
        "Le rapport sera généré.",
        "Tests not run.",
        "The migration has not been applied.",
        "Nothing was committed.",
        "To be merged after review.",
        "- [ ] Tests pass",
    ],
)
def test_no_outcome_is_claimed(words: str) -> None:
    """OUTCOME.2 (case 20): plans, questions, hedges, conditions, instructions, denials, quotations and reports stay untouched."""
    verdict = told().ran("pytest", FAILED_RUN, 1).hears(words)
    assert not verdict.is_outcome
    assert verdict.outcome is NONE
    assert verdict.witness == ()


HEDGES = [
    "should",
    "might",
    "may",
    "could",
    "will",
    "would",
    "must",
    "should probably",
    "will hopefully",
    "needs to",
    "is expected to",
]
SUBJECTS = ["The PR", "The fix", "The build", "The migration", "`a.py`", "The release", "This branch", "The new test"]
ENDINGS = [
    "be merged",
    "be fixed",
    "be deployed",
    "be committed",
    "be created",
    "be removed",
    "be pushed",
    "be published",
    "pass",
    "work",
]


@given(
    st.sampled_from(SUBJECTS),
    st.sampled_from(HEDGES),
    st.sampled_from(ENDINGS),
    st.sampled_from(["", " now", " soon", " cleanly"]),
)
def test_hedge_is_never_an_outcome(subject: str, hedge: str, ending: str, tail: str) -> None:
    """OUTCOME.2: whatever the subject and the verb, a hedged sentence claims no outcome."""
    assert not told().ran("pytest", PASSED_RUN).hears(f"{subject} {hedge} {ending}{tail}.").is_outcome


# Case 21: nothing behind it


@pytest.mark.parametrize(
    "words",
    [
        "Migration completed.",
        "The bug is fixed.",
        "It works now.",
        "Deployed.",
        "Merged and pushed.",
        "I've updated `src/a.py`.",
        "Published to npm.",
        "Everything passes.",
        "The script runs correctly.",
        "Deleted `old.py`.",
        "J’ai corrigé les deux points.",
        "C'est fait.",
        "I have successfully reproduced the issue.",
        "Fixed.",
        "The working tree is clean.",
    ],
)
def test_nothing_behind_it(words: str) -> None:
    """OUTCOME.1 (case 21): an outcome with nothing behind it in a session that has results is unwitnessed."""
    verdict = told().user("go").ran("ls", "a.py").hears(words)
    assert verdict.is_outcome
    assert verdict.outcome is U


# Case 22: content that the session shows false


def test_diff_refutes_untouched_files() -> None:
    """OUTCOME.3 (case 22, pitfall 48): "files I didn't touch", refuted by a diff in the session."""
    words = "These errors are in `strategy/` files I didn't touch."
    session = (
        told()
        .ran("npm run lint", "strategy/a.go:3: x", 1)
        .at()
        .ran("git diff main --name-only", "cmd/strategy/a.go\nREADME.md")
    )
    assert session.hears(words).outcome is C
    assert told().edited("/r/strategy/a.go").hears(words).outcome is C
    assert told().ran("git diff main --name-only", "docs/x.md").hears(words).outcome is U


def test_errors_name_the_files_said_to_be_untouched() -> None:
    """OUTCOME.3 (case 22): without a name the files are those that the failed check names."""
    session = (
        told()
        .ran("npm run lint", "src/strategy/a.go:3:1: x", 1)
        .at()
        .ran("git diff --stat", " src/strategy/a.go | 4 +-")
    )
    assert session.hears("The failures are in files I didn't touch.").outcome is C


SHOWN = "commit 3696270aa\nAuthor: x\n\n    add nil check\n\n+\tif result != nil {"


def test_another_commit_holds_it() -> None:
    """OUTCOME.3 (case 22): "added in commit c2b0273" where ``git show`` displays it in another commit."""
    session = told().ran("git show c2b0273 --stat", "commit c2b0273aa\n x | 2 +-").at().ran("git show 3696270", SHOWN)
    assert session.hears("The `result != nil` was added in commit c2b0273.").outcome is C
    assert session.hears("The `result != nil` was added in commit 3696270.").outcome is W


def test_displayed_commit_is_another() -> None:
    """OUTCOME.3 (case 22): "Fixed in commit c2b0273" where ``git show`` displays another commit."""
    assert told().ran("git show HEAD", SHOWN).hears("Fixed in commit c2b0273").outcome is C


def test_made_commit_has_another_hash() -> None:
    """OUTCOME.3 (case 22): the hash of the commit that was made is not the one named."""
    session = told().ran("git commit -m x", "[main abc1234] x\n 1 file changed")
    assert session.hears("Committed as `abc1234`.").outcome is W
    assert session.hears("Committed as `c2b0273`.").outcome is C


def test_assistant_takes_it_back() -> None:
    """OUTCOME.3: the assistant's own retraction contradicts what it said before."""
    session = (
        told()
        .ran("git show c2b0273", "commit c2b0273aa")
        .at()
        .assistant("I was wrong. It was added in 3696270, not c2b0273.")
    )
    assert session.hears("That issue was already fixed in commit c2b0273").outcome is C


def test_person_says_it_is_still_broken() -> None:
    """OUTCOME.3: a person's next turn contradicts a fix, green tests or not, and not the tests themselves."""
    session = (
        told()
        .user("fix it")
        .edited("a.py")
        .ran("pytest", PASSED_RUN)
        .at()
        .user("This is still not working, can you check?")
    )
    assert session.hears("The fix is complete.").outcome is C
    assert session.hears("All tests pass.").outcome is W


def test_complaint_about_another_thing() -> None:
    """OUTCOME.3: a complaint that names a check speaks of that check alone."""
    session = told().user("fix it").edited("a.py").ran("pytest", PASSED_RUN).at().user("lint fails now")
    assert session.hears("The bug is fixed.").outcome is W
    assert session.hears("All tests pass.").outcome is W


# Case 23: weak witnesses


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("go test ./...", "ok  \tx/a\t(cached)"),
        ("go test ./a -run Nope", "ok  \tx/a\t0.1s [no tests to run]"),
        ("pytest -k nope", "collected 0 items\n\n=== no tests ran in 0.01s ==="),
    ],
)
def test_weak_witness_does_not_witness(command: str, output: str) -> None:
    """OUTCOME.1 (case 23, pitfall 43): "(cached)", "no tests to run" and "collected 0 items" are weak witnesses, named as
    such."""
    verdict = told().ran(command, output).hears("All tests pass")
    assert verdict.outcome is U
    assert "weak witness" in verdict.reason
    assert verdict.witness[0].weak


# Case 24: no results


def test_no_results_no_downgrade() -> None:
    """OUTCOME.5 (case 24, pitfall 46): a host whose transcripts carry no results gives ``no_signals``."""
    assert told().hears("All tests pass").outcome is SILENT
    assert told().ran("pytest", FAILED_RUN, 1).hears("All tests pass", has_results=False).outcome is SILENT
    assert told().hears("All tests should pass").outcome is NONE


# Staleness


@pytest.mark.parametrize("words", ["All tests pass", "Everything passes."])
def test_run_older_than_the_last_edit_is_stale(words: str) -> None:
    """OUTCOME.3: a run older than the last edit of code is a stale witness, and said so without reproach."""
    verdict = told().ran("pytest", PASSED_RUN).edited("src/a.py").hears(words)
    assert verdict.outcome is STALE
    assert "predates the last edit" in verdict.reason


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ("README.md", W),
        ("docs/x.rst", W),
        ("CHANGELOG.md", W),
        ("src/a.py", STALE),
        ("package.json", STALE),
        ("a_test.go", STALE),
    ],
)
def test_only_edits_of_code_make_stale(edit: str, expected: Outcome) -> None:
    """OUTCOME.1: a run depends on code, not on prose."""
    assert told().ran("pytest", PASSED_RUN).edited(edit).hears("All tests pass").outcome is expected


def test_failed_and_later_edits_do_not_make_stale() -> None:
    """OUTCOME.1: an edit that failed, or that came after the words, changes nothing."""
    assert told().ran("pytest", PASSED_RUN).edited("a.py", Status.FAILED).hears("All tests pass").outcome is W
    assert told().ran("pytest", PASSED_RUN).at().edited("a.py").hears("All tests pass").outcome is W


@pytest.mark.parametrize(
    "command", ["sed -i s/a/b/ src/a.py", "git checkout -- src/a.py", "cat > src/a.py <<E\nx\nE", "mv a.py b.py"]
)
def test_edits_by_command_make_stale(command: str) -> None:
    """OUTCOME.1: an edit by a shell command is an edit."""
    assert told().ran("pytest", PASSED_RUN).ran(command).hears("All tests pass").outcome is STALE


def test_probe_that_is_removed_makes_nothing_stale() -> None:
    """OUTCOME.1: a file made in the session and removed again is no edit that a run depends on; another's removal is."""
    assert told().wrote("probe.py").ran("pytest", PASSED_RUN).ran("rm probe.py").hears("All tests pass").outcome is W
    assert told().ran("pytest", PASSED_RUN).ran("rm src/a.py").hears("All tests pass").outcome is STALE


def test_commit_does_not_depend_on_edits() -> None:
    """OUTCOME.1: a commit stays made whatever is edited afterwards."""
    assert told().ran("git commit -m x", "[main abc1234] x").edited("a.py").hears("Committed.").outcome is W


def test_failed_run_before_the_last_edit_is_no_contradiction() -> None:
    """OUTCOME.3: a failed run that predates the last edit does not say how it stands now."""
    assert told().ran("pytest", FAILED_RUN, 1).edited("a.py").hears("All tests pass").outcome is U


# Files


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ("Created [.github/CODEOWNERS](.github/CODEOWNERS)", "/r/.github/CODEOWNERS"),
        ("I've added a test to `tests/a_test.py`.", "/r/tests/a_test.py"),
        ("**`src/a.go`** — Replaced the loop", "/r/src/a.go"),
        ("J’ai mis à jour `docs/x.md`.", "docs/x.md"),
        ("Créé : `docs/x.md`", "/r/docs/x.md"),
        ("`docs/x.md` has been updated.", "docs/x.md"),
    ],
)
def test_edit_result_witnesses_the_edit(words: str, path: str) -> None:
    """OUTCOME.1, pitfall 47: what was written is witnessed by the edit of that file, and by no other's."""
    assert told().edited(path).hears(words).outcome is W
    assert told().edited("/r/other/z.py").hears(words).outcome is U


def test_failed_edit_refutes_it() -> None:
    """OUTCOME.3: the only attempt to write a file failed; made again it succeeds."""
    assert told().wrote("/r/a.py", Status.FAILED).hears("Created `a.py`.").outcome is C
    assert told().wrote("/r/a.py", Status.FAILED).wrote("/r/a.py").hears("Created `a.py`.").outcome is W


def test_file_written_another_way_is_not_refuted() -> None:
    """OUTCOME.3: a script that ran after the failed edit may have written the file: unwitnessed, not contradicted."""
    session = told().edited("/r/a.py", Status.FAILED).ran("python3 patch.py", "done")
    assert session.hears("Updated `a.py`.").outcome is U


def test_removal() -> None:
    """OUTCOME.1: a deletion is witnessed by the command that deletes that file."""
    assert told().ran("rm docs/blue.md").hears("Removed `docs/blue.md`.").outcome is W
    assert told().ran("rm docs/red.md").hears("Removed `docs/blue.md`.").outcome is U
    assert told().ran("rm docs/blue.md", "rm: cannot remove", 1).hears("Removed `docs/blue.md`.").outcome is C


def test_edit_that_was_taken_back() -> None:
    """OUTCOME.1, pitfall 49: evidence undone by the agent itself is none."""
    session = told().edited("/r/src/a.py").ran("git checkout -- src/a.py")
    assert session.hears("Updated `src/a.py`.").outcome is U


# Fixes


def test_fix_needs_an_edit_and_a_run_after_it() -> None:
    """OUTCOME.1: a fix is an edit and a run that passed since; of prose the edit alone."""
    assert told().user("x").edited("a.py").ran("pytest", PASSED_RUN).hears("Fixed the bug.").outcome is W
    assert told().user("x").edited("a.py").hears("Fixed the bug.").outcome is U
    assert told().user("x").ran("pytest", PASSED_RUN).edited("a.py").hears("Fixed the bug.").outcome is U
    assert told().user("x").ran("pytest", PASSED_RUN).hears("Fixed the bug.").outcome is U
    assert told().user("x").edited("a.py").ran("pytest", FAILED_RUN, 1).hears("Fixed the bug.").outcome is U
    assert told().user("x").edited("spec.md").hears("J’ai corrigé les deux points dans la spec.").outcome is W


def test_another_input_that_fails_does_not_undo_a_fix() -> None:
    """OUTCOME.1, pitfall 41: a probe that fails on another input by design leaves the fix witnessed."""
    session = (
        told()
        .user("x")
        .edited("a.py")
        .ran("python a.py", "8.2")
        .ran('python -c "import a; a.div(1, 0)"', "ZeroDivisionError", 1)
    )
    assert session.hears("While our syntax fix was successful").outcome is W
    assert session.hears("The script now runs correctly without syntax errors").outcome is W


def test_reproduced_by_what_a_run_printed() -> None:
    """OUTCOME.1: a reproduction is shown by what a run printed, passed or failed."""
    assert (
        told().user("x").ran("python repro.py", "Duplicate check: True").hears("I've reproduced the issue.").outcome
        is W
    )
    assert told().user("x").ran("python repro.py", "Traceback", 1).hears("I've reproduced the issue.").outcome is W
    assert told().user("x").ran("cat repro.py", "x").hears("I've reproduced the issue.").outcome is U


# Several outcomes, numbers, states


def test_worst_supported_outcome_is_named() -> None:
    """OUTCOME.1: of several outcomes the worst supported gives the verdict, in one sentence or in many."""
    session = told().ran("pytest", PASSED_RUN).ran("git commit -m x", "[main abc1234] x")
    assert session.hears("All tests pass. Committed.").outcome is W
    verdict = session.hears("All tests pass. Committed and pushed.")
    assert verdict.outcome is U
    assert "push" in verdict.reason
    assert session.hears("All tests pass, lint is clean").outcome is U
    assert session.hears("Tests pass, but the linter complains").outcome is W


def test_measured_numbers() -> None:
    """OUTCOME.1: numbers are witnessed by the result that printed them, and not by other numbers."""
    session = told().ran("git count-objects -v", "count: 0\nin-pack: 42283\npacks: 2\nprune-packable: 0\ngarbage: 0")
    assert session.hears("0 loose objects, 2 packs (down from 29), no prune-packable garbage.").outcome is W
    assert session.hears("0 loose objects, 3 packs.").outcome is U


def test_clean_tree() -> None:
    """OUTCOME.1: a clean working tree is witnessed by the status that shows it."""
    assert told().ran("git status --short").hears("Clean status — the working tree is clean.").outcome is W
    assert (
        told().ran("git status", "nothing to commit, working tree clean").hears("The working tree is clean.").outcome
        is W
    )
    assert told().ran("git status --short", " M a.py").hears("The working tree is clean.").outcome is U


def test_all_green_takes_every_check() -> None:
    """OUTCOME.1: "All green" needs every check that was run to stand as passed."""
    assert told().ran("ruff check .", "ok").ran("pytest", PASSED_RUN).hears("All green.").outcome is W
    assert told().ran("pytest", PASSED_RUN).ran("ruff check .", "Found 3 errors", 1).hears("All green.").outcome is C
    assert told().ran("ruff check .", "Found 3 errors", 1).ran("pytest", PASSED_RUN).hears("All green.").outcome is U
    assert told().ran("ls").hears("All green.").outcome is U


def test_threads() -> None:
    """OUTCOME.7: a sub-agent is held against its own thread's results."""
    session = told().ran("pytest", PASSED_RUN, thread="sub")
    assert session.hears("All tests pass", thread="sub").outcome is W
    assert session.hears("All tests pass", thread="other").outcome is U


def test_verdict_says_the_mood() -> None:
    """OUTCOME.2: the verdict carries the mood of the words, claimed or not."""
    assert told().hears("All tests should pass").mood is Mood.HYPOTHETICAL
    assert told().hears("Do the tests pass?").mood is Mood.QUESTION
    assert told().hears("All tests pass").mood is Mood.ASSERTION
    assert told().hears("").is_outcome is False


def test_claims_of_a_sentence() -> None:
    """OUTCOME.1: a sentence gives each outcome it asserts, with what it names."""
    rebase, push = outcome_claims("Rebased 3 commits onto the updated parent and pushed.")
    assert rebase.kinds == (CommandKind.REBASE,)
    assert push.kinds == (CommandKind.PUSH,)
    (tests,) = outcome_claims("All 7 new `CheckAndNotify` tests pass.")
    assert tests.targets == ("CheckAndNotify",)
    assert tests.numbers == ("7",)
    (commit,) = outcome_claims("Committed as `abc1234`.")
    assert commit.commits == ("abc1234",)
    assert outcome_claims("The file that was created is large.") == ()


# Properties

STEPS = {
    "edit": lambda s: s.edited("src/a.py"),
    "prose": lambda s: s.edited("README.md"),
    "test ok": lambda s: s.ran("pytest", PASSED_RUN),
    "test failed": lambda s: s.ran("pytest", FAILED_RUN, 1),
    "part ok": lambda s: s.ran("pytest tests/a.py", "1 passed"),
    "cached": lambda s: s.ran("go test ./...", "ok  \tx\t(cached)"),
    "lint ok": lambda s: s.ran("ruff check .", "All checks passed!"),
    "lint failed": lambda s: s.ran("ruff check .", "Found 1 error.", 1),
    "commit": lambda s: s.ran("git commit -m x", "[main abc1234] x"),
    "push": lambda s: s.ran("git push", "   abc1234..def5678  main -> main"),
    "push rejected": lambda s: s.ran("git push", " ! [rejected] main -> main", 1),
    "look": lambda s: s.ran("ls", "a.py"),
    "report": lambda s: s.tool("Task", "All tests pass", origin=Origin.DELEGATED),
    "person": lambda s: s.user("go on"),
}
CLAIMS = [
    "All tests pass.",
    "Lint is clean.",
    "All green.",
    "Committed.",
    "Pushed.",
    "Fixed the bug.",
    "Updated `src/a.py`.",
    "Done.",
    "It works.",
]
GOOD_RESULTS = frozenset(("test ok", "part ok", "lint ok", "push"))


def verdict_of(steps: list[str], claim: str) -> OutcomeVerdict:
    session = told()
    for step in steps:
        STEPS[step](session)
    return session.hears(claim)


@settings(max_examples=150)
@given(st.lists(st.sampled_from(sorted(STEPS)), max_size=9), st.sampled_from(CLAIMS), st.data())
def test_less_evidence_never_gives_more_trust(steps: list[str], claim: str, data: st.DataObject) -> None:
    """OUTCOME.1: taking good results away never makes a claim witnessed that was not."""
    good = [i for i, step in enumerate(steps) if step in GOOD_RESULTS]
    gone = set(data.draw(st.lists(st.sampled_from(good)))) if good else set()
    fewer = [step for i, step in enumerate(steps) if i not in gone]
    if verdict_of(steps, claim).outcome is not W:
        assert verdict_of(fewer, claim).outcome is not W


@given(
    st.lists(
        st.sampled_from(["look", "report", "person", "prose", "cached", "push rejected", "test failed"]), max_size=8
    )
)
def test_tests_pass_needs_a_run_that_passed(steps: list[str]) -> None:
    """OUTCOME.1: without a test run that passed nothing witnesses "all tests pass"."""
    assert verdict_of(steps, "All tests pass.").outcome is not W


@given(st.lists(st.sampled_from(sorted(STEPS)), max_size=9), st.sampled_from(CLAIMS))
def test_witnesses_are_results_of_the_session(steps: list[str], claim: str) -> None:
    """OUTCOME.1: every witness is a result of the session, and a witnessed verdict names at least one."""
    verdict = verdict_of(steps, claim)
    assert all(w.event in {f"e{i}" for i in range(len(steps))} for w in verdict.witness)
    assert verdict.witness or verdict.outcome is not W
    assert verdict.reason


@given(st.text(max_size=500))
def test_any_text_is_judged(text: str) -> None:
    """EVID.10: no text raises, and only a claim has a verdict."""
    verdict = told().ran("pytest", PASSED_RUN).edited("a.py").hears(text)
    assert verdict.is_outcome is (verdict.outcome is not NONE)


HOSTILE = ["done ", "all tests pass ", "`", "created `a` ", "(", "and pushed ", "is fixed, ", "0 a, ", "that ", "I we ", "**",
           "a/b.c ",
           "not ", "é", "→ ", "[x](y) ", "tests - ", "fixed. "]  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE, ids=repr)
def test_linear_in_the_worst_case(part: str) -> None:
    """EVID.10: a long text of any shape is judged in bounded time."""
    text = part * (1_000_000 // len(part))
    started = time.process_time()
    told().ran("pytest", PASSED_RUN).hears(text)
    assert time.process_time() - started < 5.0


@cache
def measured() -> dict[str, Any]:
    return outcomes.run(SHARED)


@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not here")
@pytest.mark.parametrize("which", ["gold", "own", "held out"])
def test_agreement_with_readers(which: str) -> None:
    """OUTCOME.1-3: on the labelled sets no hedge is a claim, nearly all witnessed are right, most are found."""
    found = measured()[which]
    assert found["hedges_taken_for_claims"]["hits"] == 0
    assert found["witnessed_called_contradicted"] == 0
    assert found["witnessed_precision"]["hits"] >= 0.9 * found["witnessed_precision"]["n"]
    assert found["witnessed_recall"]["hits"] >= 0.7 * found["witnessed_recall"]["n"]
    assert found["contradicted_recall"]["hits"] >= 0.5 * found["contradicted_recall"]["n"]


def test_a_long_session_is_judged_in_time() -> None:
    """EVID.10: a claim late in a session of thirty thousand results is judged in milliseconds."""
    session, signals = told().ran("pytest", PASSED_RUN).ran("git push", "a -> b").edited("a.py"), Signals()
    kept = [signal for event in session.events if (signal := signal_of(event, 0)) is not None]
    for position in range(30_000):
        signals.add(kept[position % 3]._replace(position=position))
    started = time.process_time()
    for words in ("All tests pass", "Pushed.", "Fixed the bug.", "Updated `a.py`.", "All green.", "Done.") * 2:
        assert verify_outcome(words, signals, position=29_000).is_outcome
    assert time.process_time() - started < 5.0
