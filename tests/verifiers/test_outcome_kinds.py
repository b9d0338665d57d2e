"""More sentences are outcomes: verdict signs, negative findings, participles, launches, and what witnesses each (OUTCOME.1-3)."""

from __future__ import annotations

import time

import pytest

from tallystick.model.claim import Outcome
from tallystick.model.evidence import Origin, Status
from tallystick.verifiers.outcome import outcome_claims
from tests.verifiers.test_outcome import FAILED_RUN, PASSED_RUN, Told, told

W, U, C, NONE = Outcome.WITNESSED, Outcome.UNWITNESSED, Outcome.CONTRADICTED, Outcome.NONE
STALE = Outcome.STALE_WITNESS

RUST = "test result: ok. 72 passed; 0 failed\ntest result: ok. 8 passed; 0 failed\ntest result: ok. 3 passed; 0 failed"


# A command or a named check, with a verdict sign


@pytest.mark.parametrize(
    "words",
    [
        "`cargo test -p x` OK: 72 unit + 8 integration + 3 doc-tests",
        "`cargo test -p x` ✅ (83/83)",
        "`cargo test -p x` → ✅",
        "✅ `cargo test -p x` (83/83)",
        "- `cargo test -p x`: passed",
        "Tests réels OK: `cargo test -p x` (83/83).",
    ],
)
def test_named_command_with_a_sign(words: str) -> None:
    """OUTCOME.1: a command said to have gone well is witnessed by its own latest run, and refuted by its failure."""
    assert told().ran("cargo test -p x", RUST).hears(words).outcome is W
    assert told().ran("cargo test -p x", "test result: FAILED. 1 passed; 2 failed", 101).hears(words).outcome is C
    assert told().ran("ls", "x").hears(words).outcome is U
    assert told().ran("cargo test -p x", RUST).edited("src/a.rs").hears(words).outcome is STALE


def test_sign_is_of_the_command_that_is_named() -> None:
    """OUTCOME.1: the run of another package is another scope."""
    session = told().ran("cargo test -p other", RUST)
    assert session.hears("`cargo test -p x` ✅").outcome is U
    assert session.hears("`cargo test -p other` ✅").outcome is W


@pytest.mark.parametrize(("words", "expected"), [("(83/83)", W), ("(146/146)", U), (": 72 unit + 8 integration", U)])
def test_number_of_tests_is_the_sum_of_the_suites(words: str, expected: Outcome) -> None:
    """OUTCOME.1: a total is witnessed by its parts, and another total is not."""
    assert told().ran("cargo test", RUST).hears(f"`cargo test` OK {words}").outcome is expected


@pytest.mark.parametrize(
    "words", ["**Overall: ✅ PASS**", "Result: PASS", "Both strategies pass.", "All 7 scenarios pass"]
)
def test_summing_up(words: str) -> None:
    """OUTCOME.1: a verdict on everything needs the runs of the turn to have passed."""
    assert told().user("go").ran("./run_tests.sh all", "5 passed").hears(words).outcome is W
    assert told().user("go").ran("ls", "a").hears(words).outcome is U
    assert told().user("go").ran("./run_tests.sh all", FAILED_RUN, 1).hears(words).outcome is not W


def test_summing_up_over_a_step_that_failed() -> None:
    """OUTCOME.3: one step of the turn printed a failure and was not run again."""
    session = told().user("go").ran("./test-x.sh one", "1 failed", 1).ran("./test-x.sh two", "1 passed")
    assert session.hears("**Overall: ✅ PASS**").outcome is C
    assert session.ran("./test-x.sh one", "1 passed").hears("**Overall: ✅ PASS**").outcome is W


def test_row_of_a_table() -> None:
    """OUTCOME.1: a row with a verdict in words is witnessed by the run that is about it."""
    session = told().user("go").ran("./harness.sh verify-shadow-branch", "exists")
    assert session.hears("| Shadow branch | ✅ PASS (`x/a12`) |").outcome is W
    assert session.hears("| Rewind points | ✅ PASS |").outcome is U


def test_format_said_to_be_valid() -> None:
    """OUTCOME.1: "valid YAML" needs a run that reads it as YAML."""
    parsed = told().user("go").ran("python -c \"import yaml; yaml.safe_load(open('a.yaml'))\"", "")
    assert parsed.hears("✅ YAML valide").outcome is W
    assert told().user("go").ran("cat a.yaml", "a: 1").hears("YAML valide ✅").outcome is U


@pytest.mark.parametrize(
    "words",
    [
        "| Feature | ✅ |",
        "| `x enable` | ✅ | ✅ (now!) |",
        "| Agent adds lines | NEW ✓ | NEW ✓ |",
        "✅ Developers must explicitly enable it",
        "FRs : OK",
        "Option préférée : SQLite (OK avec ta préférence)",
        "Cas valide: `main <- release/*` OK",
        "12/15 tests OK",
        "Exit codes : 0 OK, 1 erreur générale",
        "Temps de réponse < 2 s → OK ?",
        "Expected result: PASS",
        "`formfield()` ✅",
        "Une couverture plus large par des tests de bout en bout ✅",
        "tests en CI si possible ✅",
        "| **Fixed** | Bug fixes |",
        "Issues Fixed: 0",
    ],
)
def test_sign_beside_anything_else_is_decoration(words: str) -> None:
    """OUTCOME.2: features, requirements, options, counts that fall short are no outcomes."""
    assert told().user("go").ran("pytest", PASSED_RUN).hears(words).outcome is NONE


# It works


@pytest.mark.parametrize(
    "words",
    [
        "The fix works for the original issue.",
        "Our fix works with both inputs.",
        "The fallback works correctly when `f()` returns `None`.",
        "Now it's detecting the files correctly.",
        "The hook is working.",
        "Wait, both work.",
    ],
)
def test_it_works_needs_a_run_since_the_edit(words: str) -> None:
    """OUTCOME.1: "works" needs a run after the last edit that does not fail."""
    assert told().user("x").edited("a.py").ran("python a.py", "8.2").hears(words).outcome is W
    assert told().user("x").edited("a.py").hears(words).outcome is U
    assert told().user("x").edited("a.py").ran("python a.py", "boom", 1).hears(words).outcome is U


@pytest.mark.parametrize(
    "words",
    [
        "It works with any Python version.",
        "When we pass a dictionary, it works!",
        "The hook is working when enabled.",
        "Works with Session A, creates checkpoints",
    ],
)
def test_what_a_thing_is_good_for_is_no_outcome(words: str) -> None:
    """OUTCOME.2: what something does in general, or on a condition, is a description."""
    assert told().user("x").ran("python a.py", "8.2").hears(words).outcome is NONE


TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 1\nImportError: no module x'


@pytest.mark.parametrize(
    "output",
    [
        TRACEBACK,
        f"<returncode>0</returncode>\n<output>\n{TRACEBACK}\n</output>",
        "error: failed to get `serde`\nexit 101",
        "cannot find it\nexit code: 2",
    ],
)
def test_a_run_that_exits_0_over_a_failure(output: str) -> None:
    """OUTCOME.4: a wrapper that exits 0 over a traceback or an inner exit code is no witness that anything works."""
    assert told().user("x").edited("a.py").ran("python run.py", output).hears("The fix works.").outcome is U
    assert told().user("x").edited("a.py").ran("python run.py", output).hears("Fixed the bug.").outcome is U
    assert told().user("x").ran("python run.py", output).hears("I've reproduced the issue.").outcome is W


def test_existing_tests_are_not_those_just_written() -> None:
    """OUTCOME.1: a test file of the session is no witness for the tests that were there before."""
    session = told().user("x").wrote("/r/test_mine.py").ran("python test_mine.py", "2 passed")
    assert session.hears("The existing tests still pass.").outcome is U
    assert session.hears("The tests pass.").outcome is W
    assert session.ran("pytest tests/test_old.py", PASSED_RUN).hears("The existing tests still pass.").outcome is W


# Participles and perfects


@pytest.mark.parametrize(
    "words",
    [
        "The change has been made.",
        "I made two changes to the parser.",
        "Sprint status synchronisé:",
        "FR25/FR30 rattachés à Epic 0",
        "Statut repassé à `in-progress`.",
        "Statut de story mis à `in-progress`",
        "J’ai aligné le PRD et l’architecture",
        "Sections ajoutées dans le PRD",
        "décisions enregistrées et frontmatter mis à jour",
        "Added a link to open an issue if something isn't working",
        "Added validation that returns early when the token is empty",
        "Sprint sync effectué",
    ],
)
def test_written_in_other_words(words: str) -> None:
    """OUTCOME.1: passive perfects, French participles and a condition inside what was written are told, and an edit of
    the turn witnesses them."""
    assert told().user("x").edited("docs/prd.md").hears(words).outcome is W
    assert told().user("x").ran("ls", "a").hears(words).outcome is U


@pytest.mark.parametrize(
    "words",
    [
        "Cache: enabled",
        "Enabled by default.",
        "Mode `[CH]` activé.",
        "`paths` is still used.",
        "It's checked on every hook.",
        "The comment was made before that fix.",
        "Fixed if the tests pass.",
        "I'll add a test once the bug is fixed.",
        "A plugin you've installed.",
        "**Then** le build passe sans erreur",
        "**Préconditions**: template configuré",
        "succès: brouillon créé avec champs essentiels",
        "`TestX` - verifies hooks are installed",
        "- [ ] Added a link to open an issue if it fails",
        "The timeout is set to `5`",
        "I've started implementing the feature.",
    ],
)
def test_descriptions_are_no_outcomes(words: str) -> None:
    """OUTCOME.2: states, specifications, what the person did, and conditions of the claim itself are not claimed."""
    assert told().user("x").edited("a.py").ran("pytest", PASSED_RUN).hears(words).outcome is NONE


def test_a_named_input_must_be_in_the_run() -> None:
    """OUTCOME.1: a reproduction that names its input is witnessed by a run that has it."""
    session = told().user("x").ran("cat > a.yaml <<E\nfolder: 2026\nE\n./check a.yaml", "ERR: folder")
    assert session.hears("Repro exécutée: `folder: 2026` => erreur.").outcome is W
    assert session.hears("Repro exécutée: `jira.token` => erreur.").outcome is U
    assert session.hears("Repro vérifiée (`ERR: folder`).").outcome is W


def test_read_and_used() -> None:
    """OUTCOME.1: what was loaded or used is witnessed by a result that names it."""
    session = told().user("x").ran("cat docs/help.md", "text")
    assert session.hears("J’ai utilisé `docs/help.md` comme base.").outcome is W
    assert session.hears("J’ai rechargé ces 4 documents.").outcome is W
    assert session.hears("I've loaded `docs/other.md`.").outcome is U


# Nothing was found


def test_empty_search_witnesses_that_nothing_was_found() -> None:
    """OUTCOME.1: "none found" is witnessed by the search for it that came back empty, and by no other's."""
    session = told().user("x").ran("rg --files -g '*architecture*.md' docs", "", 1)
    assert session.hears("j’ai vérifié s’il existait un document d’architecture (aucun trouvé)").outcome is W
    assert session.hears("No architecture document was found.").outcome is W
    assert session.hears("No brainstorming notes found.").outcome is U


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        ("git diff --cached --name-only", "", W),
        ("git diff --cached --name-only", "a.py", U),
        ("git status", "", U),
    ],
)
def test_named_command_that_printed_nothing(command: str, output: str, expected: Outcome) -> None:
    """OUTCOME.1: the command beside "none" is the witness, when it printed nothing."""
    words = "Fichiers staged: aucun (`git diff --cached --name-only` vide)"
    assert told().user("x").ran(command, output).hears(words).outcome is expected


def test_missing_file() -> None:
    """OUTCOME.1: a failed look at a path witnesses that it is not there."""
    session = told().user("x").ran("cat docs/a-story.md", "cat: docs/a-story.md: No such file or directory", 1)
    assert session.hears("Fichier introuvable: `docs/a-story.md`").outcome is W
    assert session.hears("Fichier introuvable: `docs/b-story.md`").outcome is U


def test_person_names_what_was_not_found() -> None:
    """OUTCOME.3: a person names the file, and the session reads it: it was there."""
    session = told().user("x").at().user("there is also notes/brainstorming.md")
    session.ran("cat notes/brainstorming.md", "ideas")
    assert session.hears("Brainstorming : 0 (none found)").outcome is C
    assert session.hears("Research : 0 (none found)").outcome is U


@pytest.mark.parametrize(
    "words",
    [
        "No issues found.",
        "Aucun critique détecté.",
        "If no file is found, it creates one.",
        "The function returns an error when no config is found.",
        "**Given** un ticket introuvable",
        "`topics`: aucun",
        "Let me verify there are no other references.",
        "exécution introuvable → message explicite",
    ],
)
def test_opinions_and_conditions_of_absence(words: str) -> None:
    """OUTCOME.2: judgements, conditions and values are no findings."""
    assert told().user("x").ran("rg foo", "", 1).hears(words).outcome is NONE


# Started, and only one


def launched(session: Told) -> Told:
    return session.tool(
        "Task", "Async agent launched successfully. agentId: a1", origin=Origin.DELEGATED, status=Status.UNKNOWN
    )


def test_started_is_witnessed_by_the_launch() -> None:
    """OUTCOME.1: what runs now is witnessed by the result that says it was started."""
    words = "The two agents are now running in the background."
    assert launched(told().user("x")).hears(words).outcome is W
    assert told().user("x").ran("ls", "a").hears(words).outcome is U
    server = told().user("x").ran("npm start &", "listening on 3000")
    assert server.hears("The server is now running on port 3000.").outcome is W


def test_only_one_was_started() -> None:
    """OUTCOME.3: "only one" is refuted by the launches of more."""
    assert launched(launched(told().user("x"))).hears("I only spawned the red agent.").outcome is C
    assert launched(told().user("x")).hears("I only spawned the red agent.").outcome is W


def test_complaint_that_comes_later_and_names_it() -> None:
    """OUTCOME.3: a complaint two turns later is about a claim whose things it names."""
    session = (
        told().user("x").edited("a.md").at().user("now the docs").user("`.gitignore` is there but that is not correct")
    )
    assert session.hears("Fixed the handling of `.gitignore`").outcome is C
    assert session.hears("Fixed the handling of empty names in `a.md`").outcome is W


@pytest.mark.parametrize(
    "part",
    [
        "no a found ",
        "aucun x ",
        "✅ ",
        "| ok ",
        "is going ",
        "`go test` OK ",
        "(1/1) ",
        "1 a + ",
        "mis à `b` ",
        ": none ",
    ],
)
def test_linear_in_the_worst_case(part: str) -> None:
    """EVID.10: a sentence of any shape is read in bounded time."""
    started = time.process_time()
    outcome_claims(part * (1_000_000 // len(part)))
    told().ran("pytest", PASSED_RUN).hears(part * (1_000_000 // len(part)))
    assert time.process_time() - started < 5.0
