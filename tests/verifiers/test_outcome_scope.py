"""A run of another scope than the claim's is no witness, and never refutes it (OUTCOME.1, OUTCOME.3)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.model.claim import Outcome
from tallystick.verifiers.commands import CommandKind, actions
from tallystick.verifiers.narrowing import says_it_pretends
from tallystick.verifiers.outcome import verify_outcome
from tallystick.verifiers.outcome_objects import claimed_count, named_objects, whole_suite
from tallystick.verifiers.outputs import test_counts as counts_of
from tallystick.verifiers.signals import Signals
from tests.verifiers.test_outcome import Told, told

W, U, STALE = Outcome.WITNESSED, Outcome.UNWITNESSED, Outcome.STALE_WITNESS
PASSED = "=== 5 passed in 0.1s ==="
SERIOUS = (Outcome.CONTRADICTED, STALE, U, W)


def assert_other_scope(session: Told, words: str) -> None:
    verdict = session.hears(words)
    assert verdict.outcome is U, (verdict, [e.command for e in session.events])
    assert "scope" in verdict.reason, verdict


# Narrowed runs of tests


NARROW_RUNS = [
    "pytest tests/test_a.py::test_one",
    "pytest -k one",
    "pytest -m slow",
    "pytest tests/test_a.py",
    "pytest tests/unit",
    "pytest --lf",
    "pytest --deselect tests/test_a.py::test_one",
    "pytest --ignore=tests/slow",
    "python -m pytest -x tests/test_a.py",
    "uv run pytest -q -k 'one or two'",
    "cd /p && pytest -n 4 -p no:cacheprovider tests/test_a.py",
    "PYTEST_ADDOPTS='-k one' pytest",
    "go test ./pkg/a",
    "go test ./... -run TestOne",
    "go test -short ./...",
    "cargo test --lib",
    "cargo test parse_",
    "cargo test -- parse_",
    "cargo test --test integration",
    "npm test -- src/a.test.ts",
    "npm test -- -t one",
    "npm test -w web",
    "npm run test:unit",
    "pnpm --filter web test",
    "pnpm --filter web exec vitest run",
    "npx jest --testPathPattern=auth",
    "npx jest --onlyChanged",
    "npx vitest run src/a.test.ts",
    "make test-unit",
    "make test TESTS=tests/test_a.py",
    "TESTS=tests/test_a.py make test",
    "mise run test:e2e",
    "./gradlew test --tests A",
    "mvn test -Dtest=A",
    "dotnet test --filter A",
    "ctest -R one",
    "bundle exec rspec spec/a_spec.rb",
    "python manage.py test app",
    "python -m unittest tests.test_a",
    "tox -- -k one",
]


@pytest.mark.parametrize(
    "words",
    [
        "All tests pass",
        "The full test suite passes",
        "Every test passes.",
        "Tests all pass",
        "The entire suite is green.",
        "The test suite passes",
        "Everything passes.",
        "All existing tests pass.",
    ],
)
@pytest.mark.parametrize("command", NARROW_RUNS)
def test_narrow_run_is_no_witness_of_the_whole_suite(command: str, words: str) -> None:
    """OUTCOME.1: a run of some tests does not entail that all pass; the reason names the scope."""
    assert_other_scope(told().ran(command, PASSED), words)


@pytest.mark.parametrize("command", NARROW_RUNS)
def test_without_an_object_the_latest_run_decides(command: str) -> None:
    """OUTCOME.1: "Tests pass." names no suite, and is witnessed by the latest run."""
    assert told().ran(command, PASSED).hears("Tests pass.").outcome is W


WIDE_RUNS = [
    "pytest",
    "pytest -q -x --tb short -n auto -p no:cacheprovider",
    "pytest tests/",
    "pytest tests src",
    "pytest 'tests/*.py'",
    "python -m pytest -W error",
    "uv run pytest --cov pkg",
    "go test ./...",
    "go test -race -count 1 -timeout 60s ./...",
    "go test -v ./...",
    "cargo test",
    "cargo test --workspace -- --nocapture --test-threads 1",
    "cargo test --features x -j 4",
    "npm test",
    "npm run test:ci",
    "npx jest --maxWorkers 2",
    "npx vitest run",
    "make test",
    "make -j 4 lint test V=1",
    "mise run test",
    "tox -e py311",
    "./gradlew clean test",
    "python manage.py test --parallel 4",
    "python -m unittest discover",
    "./run_tests.sh",
]


@pytest.mark.parametrize("words", ["All tests pass", "The full test suite passes", "Every test passes.", "All green."])
@pytest.mark.parametrize("command", [c for c in WIDE_RUNS if "unittest" not in c])
def test_whole_run_witnesses_the_whole_suite(command: str, words: str) -> None:
    """OUTCOME.1: options that leave no test out leave the run whole."""
    assert told().ran(command, PASSED).hears(words).outcome is W


@pytest.mark.parametrize(
    "words",
    [
        "All 5 tests pass",
        "5 tests pass",
        "All new tests pass",
        "All tests in `tests/test_a.py` pass",
        "All tests in test_a pass",
        "Both tests pass",
        "The auth suite passes",
    ],
)
def test_claim_no_wider_than_the_run(words: str) -> None:
    """OUTCOME.1: a claim that is itself of a part, or of so many tests, is witnessed by a run of that part."""
    assert told().ran("pytest tests/test_a.py", PASSED).hears(words).outcome is W


def test_whole_run_before_a_narrow_one_is_still_a_witness() -> None:
    """OUTCOME.1: the whole suite passed, nothing was edited, and a part was run again."""
    session = told().ran("pytest", PASSED).ran("pytest -k one", "1 passed")
    verdict = session.hears("All tests pass")
    assert verdict.outcome is W
    assert verdict.witness[0].command == "pytest"
    assert_other_scope(told().ran("pytest", PASSED).edited("a.py").ran("pytest -k one", "1 passed"), "All tests pass")


def test_remark_between_two_steps_is_of_the_run_it_follows() -> None:
    """OUTCOME.1: "All tests pass." said while working on is of the run just made; the suite named outright, and one test,
    are not, and neither is a closing message."""

    def working(command: str, output: str) -> Told:
        return told().ran(command, output).at().ran("ruff check .", "All checks passed!")

    assert working("go test ./a -run X", "ok  \tx/a\t0.1s").hears("All tests pass.").outcome is W
    assert_other_scope(working("pytest tests/test_a.py", PASSED), "The full test suite passes.")
    assert_other_scope(working("pytest tests/test_a.py::test_one", "1 passed"), "All tests pass.")
    assert_other_scope(working("pytest -k one", "1 passed"), "All tests pass.")
    assert_other_scope(told().ran("pytest tests/test_a.py", PASSED).at().user("go on").ran("ls"), "All tests pass.")


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/w/crates/x/src/a.rs", W), ("crates/x/src/a.rs", W), ("/w/crates/y/src/a.rs", U), ("/w/build.rs", U), ("", U)],
)
def test_package_is_the_suite_where_all_work_is_in_it(path: str, expected: Outcome) -> None:
    """OUTCOME.1: ``cargo test -p x`` covers a session that edits x alone, and no other."""
    session = told().edited(path) if path else told()
    session.ran("cargo test -p x", "test result: ok. 5 passed; 0 failed")
    assert session.hears("All tests pass").outcome is expected


# Counts


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("All 50 tests pass", U),
        ("50 tests pass", U),
        ("All tests pass (50/50)", U),
        ("All tests pass: 50 passed", U),
        ("All 50 unit tests pass", U),
        ("Tests: ✅ 50/50", U),
        ("All 5 tests pass", W),
        ("All tests pass (5/5)", W),
        ("5/5 tests pass", W),
        ("3 new tests pass", W),
        ("All 12 existing tests pass", U),
        ("All eleven tests pass", U),
        ("All five tests pass", W),
        ("Tests pass on Python 3", W),
    ],
)
def test_number_of_tests_has_to_show(words: str, expected: Outcome) -> None:
    """OUTCOME.1: five passed tests are not fifty."""
    verdict = told().ran("pytest", PASSED).hears(words)
    assert verdict.outcome is expected
    assert expected is W or "scope" in verdict.reason


def test_numbers_of_several_runs_add_up() -> None:
    """OUTCOME.1: two runs of 20 and 30 tests show fifty."""
    session = told().ran("pytest a", "20 passed").ran("pytest b", "30 passed")
    assert session.hears("All 50 tests pass").outcome is W
    assert session.hears("All 60 tests pass").outcome is U
    named = (
        "--- PASS: TestA (0.00s)\n"
        + "\n".join(f"    --- PASS: TestA/{i} (0.00s)" for i in range(8))
        + "\nok  \tx/a\t0.1s"
    )
    assert told().ran("go test -v ./a", named).hears("All 8 test cases pass").outcome is W
    assert told().ran("go test -v ./a", named).hears("All 10 test cases pass").outcome is U
    jest = "Test Suites: 2 passed, 2 total\nTests:       5 passed, 5 total"
    assert told().ran("npx jest", jest).hears("All 5 tests pass").outcome is W
    assert told().ran("npx jest", jest).hears("All 7 tests pass").outcome is U


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("pytest", "===== 5 skipped in 0.01s ====="),
        ("pytest", "===== 5 deselected in 0.01s ====="),
        ("pytest", "===== 3 skipped, 2 xfailed in 0.01s ====="),
        ("cargo test", "test result: ok. 0 passed; 0 failed; 5 ignored; 0 measured"),
        ("npx jest", "Test Suites: 1 skipped, 0 of 1 total\nTests:       5 skipped, 5 total"),
        ("npx mocha", "  0 passing (2ms)\n  5 pending"),
        ("python -m unittest", "Ran 5 tests in 0.000s\n\nOK (skipped=5)"),
        ("go test -v ./...", "--- SKIP: TestA (0.00s)\nPASS\nok  \tx/a\t0.1s"),
        ("mvn test", "Tests run: 5, Failures: 0, Errors: 0, Skipped: 5"),
        ("bundle exec rspec", "5 examples, 0 failures, 5 pending"),
        ("vendor/bin/phpunit", "OK, but incomplete!\nTests: 5, Assertions: 0, Skipped: 5."),
        ("node --test", "# tests 5\n# pass 0\n# fail 0\n# skipped 5"),
    ],
)
def test_skipped_tests_show_nothing(command: str, output: str) -> None:
    """OUTCOME.1: a run that skipped every test has passed none."""
    assert_other_scope(told().ran(command, output), "All tests pass")


@pytest.mark.parametrize(
    "output", ["4 passed, 1 skipped", "Ran 5 tests in 0.1s\n\nOK (skipped=1)", "5 examples, 0 failures, 1 pending"]
)
def test_some_skipped_tests_leave_a_run_passed(output: str) -> None:
    """OUTCOME.1: a run that skipped a few has passed, as runners say."""
    assert told().ran("pytest", output).hears("All tests pass").outcome is W
    assert counts_of(output).passed == 4


@pytest.mark.parametrize(
    "command",
    [
        "./run_pytest_maybe.sh",
        "bash scripts/check.sh",
        "./ci.sh",
        "./run_tests.sh",
        "sh verify.sh",
        "python maybe_pytest.py",
    ],
)
def test_name_of_a_script_shows_no_test(command: str) -> None:
    """OUTCOME.1: what is named as a test run and prints no summary of one shows none."""
    assert_other_scope(told().ran(command, "ok"), "All tests pass")
    assert told().ran(command, PASSED).hears("Tests pass.").outcome is W


# Place and time


@pytest.mark.parametrize(
    "command",
    [
        "cd /other && pytest",
        "make -C /other test",
        "npm --prefix /other test",
        "pytest /other/tests",
        "uv --directory /other run pytest",
        "cargo test --manifest-path /other/Cargo.toml",
        "cd /work && cd /other && pytest",
    ],
)
def test_run_in_another_project_is_no_witness(command: str) -> None:
    """OUTCOME.1: a run in a folder that the edits of the session do not lie in shows nothing of them."""
    assert_other_scope(told().edited("/proj/src/a.py").ran(command, PASSED), "All tests pass")
    assert_other_scope(told().ran("cd /proj && sed -i s/a/b/ src/a.py").ran(command, PASSED), "All tests pass")
    assert told().edited("/other/src/a.py").ran(command, PASSED).hears("All tests pass").outcome is W
    assert told().ran(command, PASSED).hears("All tests pass").outcome is W


def test_two_halves_make_a_whole() -> None:
    """OUTCOME.1: with edits in two folders both have to be tested."""
    session = told().edited("/p/web/a.ts").edited("/p/api/b.py").ran("cd /p/web && npm test", PASSED)
    assert_other_scope(session, "All tests pass")
    assert session.ran("cd /p/api && pytest", PASSED).hears("All tests pass").outcome is W


MOVES = [
    "git checkout other",
    "git switch other",
    "git switch -",
    "git checkout -b new origin/main",
    "git pull",
    "git -C /p pull --rebase",
    "git reset --hard HEAD~1",
    "git reset --hard",
    "git merge feature",
    "git rebase main",
    "git cherry-pick abc1234",
    "git revert HEAD",
    "git stash pop",
    "git stash",
    "gh pr checkout 12",
    "git checkout other 2>&1 | tail -1",
]


@pytest.mark.parametrize("words", ["All tests pass", "Tests pass.", "All green."])
@pytest.mark.parametrize("command", MOVES)
def test_run_before_a_move_of_the_tree_is_stale(command: str, words: str) -> None:
    """OUTCOME.3: other commits in the working tree make an earlier run stale, as an edit does."""
    output = (
        "[main abc1234] x" if "pick" in command or "revert" in command else "Fast-forward" if "pull" in command else ""
    )
    session = told().ran("pytest", PASSED).ran(command, output)
    verdict = session.hears(words)
    assert verdict.outcome is STALE
    assert "predates" in verdict.reason
    assert session.ran("pytest", PASSED).hears(words).outcome is W
    assert told().ran(f"pytest && {command}", f"{PASSED}\n{output}").hears(words).outcome is STALE
    assert told().ran(f"{command} && pytest", f"{output}\n{PASSED}").hears(words).outcome is W


@pytest.mark.parametrize(
    ("command", "output", "code"),
    [
        ("git checkout -b new", "Switched to a new branch 'new'", 0),
        ("git switch main", "Already on 'main'", 0),
        ("git pull", "Already up to date.", 0),
        ("git checkout other", "error: pathspec 'other' did not match any file(s)", 1),
        ("git reset", "", 0),
        ("git stash list", "", 0),
        ("git stash drop", "", 0),
        ("git branch new", "", 0),
        ("git fetch", "", 0),
        ("git commit -m x", "[main abc1234] x", 0),
    ],
)
def test_what_moves_no_tree_makes_nothing_stale(command: str, output: str, code: int) -> None:
    """OUTCOME.3: a new branch, a pull that brought nothing, a failed checkout leave the tree as it was tested."""
    assert told().ran("pytest", PASSED).ran(command, output, code).hears("All tests pass").outcome is W


# Dry runs


@pytest.mark.parametrize(
    ("command", "words"),
    [
        *((f"alembic upgrade head {o}", "Migration completed") for o in ("--sql", "--plan", "--check", "--dry-run")),
        ("alembic history", "Migration completed"),
        ("alembic current", "Migrated the database."),
        ("alembic downgrade -1", "Migration completed"),
        ("python manage.py migrate --plan", "Migration completed"),
        ("python manage.py migrate --fake", "Migration completed"),
        ("npx prisma migrate status", "Migration completed"),
        ("npm run migrate:status", "Migration completed"),
        ("./deploy.sh --dry-run", "Deployed to production"),
        ("./deploy.sh --dry-run", "Deployed."),
        ("DRY_RUN=1 ./deploy.sh", "Deployed."),
        ("make deploy DRY_RUN=true", "Deployed."),
        ("make -n deploy", "Deployed."),
        ("kubectl apply --dry-run=client -f x.yaml", "Deployed."),
        ("helm upgrade x ./chart --dry-run", "Deployed."),
        ("ansible-playbook site.yml --check", "Deployed."),
        ("cdk diff", "Deployed."),
        ("npm publish --dry-run", "Published."),
        ("twine check dist/*", "Published."),
        ("goreleaser release --snapshot", "Released."),
        ("gh release create v1 --draft", "Released."),
        ("cargo publish --dry-run", "Published."),
        ("pip install --dry-run numpy", "Installed numpy"),
        ("apt-get -s install jq", "Installed jq"),
        ("git push --dry-run", "Pushed."),
        ("git push -n", "Pushed."),
        ("pytest --collect-only", "All tests pass"),
        ("pytest --setup-plan", "All tests pass"),
        ("make -n test", "All tests pass"),
        ("ctest -N", "All tests pass"),
        ("mvn test -DskipTests", "All tests pass"),
        ("go test -c ./a", "Tests pass."),
    ],
)
def test_dry_run_is_no_witness(command: str, words: str) -> None:
    """OUTCOME.1: a dry run, a plan, a check or a list of something does not entail that it was done."""
    verdict = told().ran(command, "ok").hears(words)
    assert verdict.outcome is U
    assert told().ran(command, "error", 1).hears(words).outcome is U


@pytest.mark.parametrize(
    ("command", "words"),
    [("./deploy.sh", "Deployed."), ("npm publish", "Published."), ("alembic upgrade head", "Migration completed")],
)
@pytest.mark.parametrize("output", ["[DRY RUN] nothing was changed", "(dry-run) would go", "This is a dry run."])
def test_output_that_says_so_is_a_dry_run(command: str, words: str, output: str) -> None:
    """OUTCOME.4: what is printed counts before the exit status."""
    assert_other_scope(told().ran(command, output), words)
    assert told().ran(command, "done\nUse --dry-run to preview. dry-run: false").hears(words).outcome is W


@pytest.mark.parametrize(
    "command",
    [
        "kubectl apply --dry-run=none -f x.yaml",
        "DRY_RUN=0 ./deploy.sh",
        "kubectl -n web apply -f x.yaml",
        "make -C ops deploy",
        "fly deploy",
    ],
)
def test_real_run_is_no_dry_run(command: str) -> None:
    """OUTCOME.1: a dry run that is switched off is a run."""
    assert told().ran(command, "ok").hears("Deployed.").outcome is W


# Objects


OTHER_OBJECTS = [
    ("fly deploy --app staging", "", "Deployed to production"),
    ("fly deploy --app staging", "", "Production deploy is done."),
    ("./deploy.sh", "ok", "Deployed to production"),
    ("kubectl -n staging apply -f x.yaml", "", "Deployed to prod."),
    ("vercel deploy", "Preview: https://x", "Deployed to production."),
    ("NODE_ENV=staging npx knex migrate:latest", "ok", "Migrated the production database."),
    ("pip install pandas", "Successfully installed pandas-2.0", "Installed numpy"),
    ("pip install pandas", "", "I've installed `numpy`."),
    ("pip install pandas", "", "numpy is installed."),
    ("pip install pandas", "", "Installed pandas and numpy."),
    ("pip install pandas-stubs", "", "Installed pandas"),
    ("npm i react", "", "Installed vue."),
    ("npm install", "added 3 packages", "Installed lodash."),
    ("pip install numpy==1.26", "", "Upgraded numpy to 2.0"),
    ("git push origin feature", "To x\n * [new branch]      feature -> feature", "Pushed to main"),
    ("git push origin feature", "", "Pushed to main"),
    ("git push", "   abc1234..def5678  feature -> feature", "Pushed to `main`."),
    ("git push origin HEAD:feature", "", "Pushed to main"),
    ("git push origin feature", "", "Pushed main to origin."),
    ("git push origin main", "", "Pushed to the feature/x branch."),
    ("git merge feature", "Fast-forward", "Merged main."),
    ("git rebase develop", "Successfully rebased and updated", "Rebased onto main."),
    ("git commit -m x", "[feature abc1234] x", "Committed to main."),
    ("twine upload dist/*", "", "Published to npm."),
    ("twine upload --repository testpypi dist/*", "", "Published to PyPI."),
    ("cargo publish", "", "Published to PyPI"),
    ("gh release create v1.0", "", "Released v2.0"),
]


@pytest.mark.parametrize(("command", "output", "words"), OTHER_OBJECTS)
def test_act_on_another_object_is_no_witness(command: str, output: str, words: str) -> None:
    """OUTCOME.1: what was done to another package, branch, environment or registry does not entail the claim."""
    assert_other_scope(told().ran(command, output), words)


@pytest.mark.parametrize(
    ("command", "output", "words"),
    [
        ("fly deploy --app prod", "", "Deployed to production"),
        ("vercel deploy --prod", "", "Deployed to production."),
        ("./deploy.sh production", "", "Deployed to prod."),
        ("./deploy.sh", "ok: production is live", "Deployed to production"),
        ("./deploy.sh", "", "Deployed."),
        ("pip install numpy", "", "Installed numpy"),
        ("pip install 'numpy>=2' pandas", "", "Installed numpy and pandas."),
        ("pip install numpy==2.0.1", "", "Upgraded numpy from 1.26 to 2.0"),
        ("pip install -r requirements.txt", "Successfully installed numpy-2.0", "Installed numpy."),
        ("npm i react-router-dom", "", "Installed React Router."),
        ("npm i -D @types/node", "", "Installed `@types/node`."),
        ("go get github.com/stretchr/testify", "", "Installed testify."),
        ("npm ci", "", "Installed the dependencies."),
        ("npm install", "", "The dependencies are installed."),
        ("npm install", "", "Dependencies installed successfully."),
        ("npx playwright install", "", "Installed Playwright browsers."),
        ("git push origin main", "   abc1234..def5678  main -> main", "Pushed to main"),
        ("git push origin HEAD:main", "", "Pushed to main"),
        ("git push", "   abc1234..def5678  main -> main", "Pushed to origin/main."),
        ("git push -u origin feature", "", "Pushed to the remote."),
        ("git push origin feature", "", "Pushed the branch to GitHub."),
        ("git push origin feature", "", "Pushed the branch and opened the issue."),
        ("git merge origin/main", "Fast-forward", "Merged main."),
        ("git rebase origin/main", "Successfully rebased and updated", "Rebased onto main."),
        ("git commit -m x", "[main abc1234] x", "Committed to main."),
        ("twine upload dist/*", "", "Published to PyPI."),
        ("gh release create v2.0.1", "", "Released v2.0.1"),
    ],
)
def test_act_on_the_object_is_a_witness(command: str, output: str, words: str) -> None:
    """OUTCOME.1: what was done to the named thing, or to what the claim leaves unnamed, is a witness."""
    verdict = told().ran(command, output).hears(words)
    assert verdict.outcome is W, verdict


def test_act_on_the_object_is_found_among_others() -> None:
    """OUTCOME.1: of two pushes the one of the named branch decides."""
    session = told().ran("git push origin main", "").ran("git push origin v1", "")
    assert session.hears("Pushed to main.").outcome is W
    session = told().ran("git push origin main", "").ran("git push origin other", " ! [rejected]", 1)
    assert session.hears("Pushed to main.").outcome is W


@pytest.mark.parametrize(("command", "output", "words"), OTHER_OBJECTS)
def test_failed_act_on_another_object_refutes_nothing(command: str, output: str, words: str) -> None:
    """OUTCOME.3: only a failure of the same scope contradicts."""
    del output
    if command not in ("./deploy.sh", "npm install", "git push", "vercel deploy", "git commit -m x"):
        assert told().ran(command, "error", 1).hears(words).outcome is U


# Properties

PROGRAMS = {
    "pytest": ["-k one", "-m slow", "tests/test_a.py", "tests/test_a.py::test_one", "--lf", "tests/unit"],
    "go test ./...": ["-run TestOne", "-short", "-skip TestTwo"],
    "cargo test": ["-p x", "--lib", "one", "--test one", "-- one"],
    "npm test": ["-- -t one", "-- src/a.test.ts", "-w web"],
    "make test": ["TESTS=tests/a.py"],
}
OUTPUTS = [PASSED, "1 passed", "", "2 failed, 3 passed", "5 skipped", "ok", "collected 0 items"]
CLAIMS = [
    "All tests pass",
    "Tests pass.",
    "All 5 tests pass",
    "The full suite passes",
    "All green.",
    "Everything passes.",
    "It works.",
    "All unit tests pass",
    "Fixed the bug.",
    "All 50 tests pass",
]


@settings(max_examples=200)
@given(
    st.sampled_from(sorted(PROGRAMS)),
    st.data(),
    st.sampled_from(OUTPUTS),
    st.sampled_from([0, 1]),
    st.sampled_from(CLAIMS),
    st.lists(st.sampled_from(["edit", "checkout", "lint", "person", "narrow"]), max_size=3),
    st.lists(st.sampled_from(["edit", "checkout", "lint", "at"]), max_size=2),
)
def test_narrowing_a_run_never_raises_the_verdict(
    program: str, data: st.DataObject, output: str, code: int, words: str, before: list[str], behind: list[str]
) -> None:
    """OUTCOME.1: the same output of fewer tests is never more trusted."""
    option = data.draw(st.sampled_from(PROGRAMS[program]))
    steps = {
        "edit": lambda s: s.edited("/p/src/a.py"),
        "checkout": lambda s: s.ran("git checkout x", ""),
        "lint": lambda s: s.ran("ruff check .", "All checks passed!"),
        "person": lambda s: s.user("go on"),
        "narrow": lambda s: s.ran("pytest -k two", "1 passed"),
        "at": lambda s: s.at() if s.said_at is None else s,
    }

    def verdict(command: str) -> Outcome:
        session = told()
        for step in before:
            steps[step](session)
        session.ran(command, output, code)
        for step in behind:
            steps[step](session)
        return session.hears(words).outcome

    assert SERIOUS.index(verdict(f"{program} {option}")) <= SERIOUS.index(verdict(program))


@given(st.text(max_size=300), st.text(max_size=300), st.sampled_from(list(CommandKind)))
def test_any_clause_is_read(left: str, right: str, kind: CommandKind) -> None:
    """EVID.10: no clause raises, and what is named is part of it or the one name of an environment."""
    names = named_objects(kind, left.lower(), right.lower())
    assert all(isinstance(name, str) and name for name in names)
    assert len(names) <= 8


PARTS = [
    "all tests ",
    "all the of the ",
    "5 new ",
    "installed a, ",
    "to the branch ",
    "`",
    "tests in ",
    "a.",
    "prod ",
    "both new ",
    "full x ",
    "dry run ",
    "-k ",
    "skipped ",
    "5 skipped ",
    "1.1.",
    "a/",
    "--dry-run=",
    "T=",
    "passed: 1 ",
    "Tests: 1 ",
]


@pytest.mark.parametrize("part", PARTS, ids=repr)
def test_linear_in_the_worst_case(part: str) -> None:
    """EVID.10: a long command, output or clause of any shape is read in bounded time."""
    text = part * (1_000_000 // len(part))
    started = time.process_time()
    whole_suite(text[:1_200])
    claimed_count(text[:1_200], text[:60])
    says_it_pretends(text)
    for kind in CommandKind:
        named_objects(kind, text[:1_200], text)
    assert isinstance(actions(f"pytest {text}"), tuple)
    assert isinstance(actions(f"./deploy.sh {text}"), tuple)
    session = told().ran("pytest", text).ran(f"git push {text}", text).ran("./deploy.sh", text)
    session.hears(f"All tests pass. Pushed to main. {text}")
    assert time.process_time() - started < 5.0


def test_no_signals_is_no_scope() -> None:
    """OUTCOME.5: a session without results downgrades nothing, whatever the claim names."""
    assert verify_outcome("Pushed to main", Signals()).outcome is Outcome.NO_SIGNALS
