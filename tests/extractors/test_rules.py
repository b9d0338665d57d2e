"""What the rules offer from a session, and what they must never offer."""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.extractors.rules import MAX_KEPT, MAX_LOOPS, MAX_OUTCOMES, MAX_SETTLED, RulesExtractor
from tallystick.extractors.rules_statements import is_pasted, plain_words, statements
from tallystick.extractors.rules_wording import MAX_DICTATED
from tallystick.language.polarity import modals, negations
from tallystick.model.claim import About, Candidate, ClaimKind
from tallystick.model.evidence import Event, EventKind, Locator, Origin, SessionFacts, Status

SHARED = Path(__file__).resolve().parents[2] / "../shared/data/transcripts"
FACTS = SessionFacts("claude-code", "s1")
PERSONS_OWN = {ClaimKind.RULE, ClaimKind.PREFERENCE, ClaimKind.CORRECTION}


def event(
    origin: Origin,
    text: str,
    kind: EventKind = EventKind.MESSAGE,
    *,
    number: int = 0,
    flags: tuple[str, ...] = (),
    call_id: str = "",
    status: Status = Status.NONE,
    thread: str = "",
) -> Event:
    return Event(
        f"e{number}",
        kind,
        origin,
        text,
        Locator(number + 1, number, 0, 0, 0),
        flags=flags,
        call_id=call_id,
        status=status,
        thread=thread,
        at=1_000_000 * number,
    )


def session(*said: tuple[Origin, str] | Event) -> list[Event]:
    return [
        one._replace(uid=f"e{number}") if isinstance(one, Event) else event(one[0], one[1], number=number)
        for number, one in enumerate(said)
    ]


def offered(events: Iterable[Event], facts: SessionFacts = FACTS) -> list[Candidate]:
    """Everything that the rules recognise, before the last look at what is worth noting."""
    extractor = RulesExtractor(worth=lambda _: True)
    found = [candidate for each in events for candidate in extractor.offer(each, facts)]
    return found + list(extractor.close())


def kinds_and_texts(events: Iterable[Event]) -> set[tuple[str, str]]:
    return {(str(each.kind), each.text) for each in offered(events)}


U, A = Origin.USER, Origin.ASSISTANT
TOOL_CALL = event(A, '{"command": "ls"}', EventKind.TOOL_CALL)

WORDS = st.sampled_from(
    "always never use keep we you I'll let's don't no but not the fix done Done. `a.py` port 5433 yes option A) 1. - [ ] "
    "should instead of because PR pushed tests pass committed **bold** __init__ still failing? remember to ? ! . : \n \n\n "
    "toujours jamais je préfère ajouté corrigé ``` | > # recommend B wrong correct \u2028 \ud7ff 🙏".split(" ")
)
TEXTS = st.lists(WORDS, max_size=40).map(" ".join) | st.text(max_size=200)
EVENTS = st.lists(
    st.builds(
        event,
        st.sampled_from(Origin),
        TEXTS,
        st.sampled_from(EventKind),
        flags=st.sampled_from([(), ("plan",), ("feedback",), ("expanded",)]),
        status=st.sampled_from([Status.NONE, Status.OK]),
    ),
    max_size=12,
).map(lambda events: [each._replace(uid=f"e{number}") for number, each in enumerate(events)])


@given(EVENTS)
@settings(max_examples=120, deadline=None)
def test_a_quote_stands_in_its_event_and_carries_its_origin(events: list[Event]) -> None:
    """QUOTE.1, QUOTE.6: every quote is a contiguous piece of the event it names, under that event's own origin."""
    by_uid = {each.uid: each for each in events}
    for candidate in offered(events):
        assert candidate.quote
        assert candidate.quote in by_uid[candidate.event].text
        assert candidate.origin is by_uid[candidate.event].origin
        assert candidate.said_at == by_uid[candidate.event].at


@given(EVENTS)
@settings(max_examples=120, deadline=None)
def test_only_a_person_sets_rules_preferences_and_corrections(events: list[Event]) -> None:
    """EVID.6: words of a tool, the harness, our briefing or another agent never become a rule, preference, correction."""
    for candidate in offered(events):
        assert candidate.kind not in PERSONS_OWN or candidate.origin is Origin.USER


@given(EVENTS)
@settings(max_examples=80, deadline=None)
def test_nothing_is_added_to_the_quote(events: list[Event]) -> None:
    """QUOTE.7: the text has no negation, modal or digit that its quote lacks, and spans one line."""
    for candidate in offered(events):
        assert set(negations(candidate.text)) <= set(negations(candidate.quote))
        assert set(modals(candidate.text)) <= set(modals(candidate.quote))
        assert {c for c in candidate.text if c.isdigit()} <= {c for c in candidate.quote if c.isdigit()}
        assert "\n" not in candidate.text


@given(EVENTS)
@settings(max_examples=60, deadline=None)
def test_the_same_session_gives_the_same_candidates(events: list[Event]) -> None:
    """EVID.1: same events, same candidates, none of them twice."""
    first = offered(events)
    assert offered(events) == first
    assert len({(each.kind, each.text.lower()) for each in first}) == len(first)


@given(EVENTS)
@settings(max_examples=60, deadline=None)
def test_thinking_summaries_and_sub_agents_give_nothing(events: list[Event]) -> None:
    """OUTCOME.7: private reasoning, compaction summaries and sub-agents' threads are nobody's word to the person."""
    assert_silent(events)


def assert_silent(events: list[Event]) -> None:
    for kind in (EventKind.THINKING, EventKind.SUMMARY):
        assert offered(each._replace(kind=kind) for each in events) == []
    assert offered(each._replace(thread="agent-1") for each in events) == []
    assert offered(events, FACTS._replace(thread="agent-1")) == []


def test_a_session_full_of_notes_gives_each_once_and_only_where_it_is_said_aloud() -> None:
    """EVID.1, OUTCOME.7: what is said twice is noted once; the same words as thoughts or a sub-agent's are not noted."""
    spoken = session(
        (U, "go"),
        (A, "All green.  CI ran on `main` with 12 jobs."),
        (U, "never push to main directly"),
        (A, "The root cause is the cache in `state.go`."),
        (U, "Never push to main  directly"),
        (A, "Increased the timeout from 20m to 45m. The docs still need `--flag`."),
    )
    found = offered(spoken)
    assert sorted(str(each.kind) for each in found) == ["fact", "open_loop", "outcome", "rule"]
    assert "Increased the timeout from 20m to 45m." in [each.quote for each in found]
    assert_silent(spoken)


def test_a_candidate_has_no_trust_field() -> None:
    """QUOTE.8: what an extractor offers cannot carry a verdict."""
    assert not {"trust", "derivation", "outcome", "approval"} & set(Candidate._fields)


PERSON_CASES = [
    ("rule", "Always run the linter before you commit."),
    ("rule", "never push to main directly"),
    ("rule", "From now on, put the release notes in docs/releases."),
    ("rule", "don't ever touch the vendor/ folder"),
    ("rule", "We use pnpm in this repo, not npm."),
    ("rule", "and remember to use pagination"),
    ("rule", "Ne commite jamais sur main, toujours par une PR."),
    ("rule", "do not stash anything, read the files you need"),
    ("preference", "I prefer short commit messages."),
    ("preference", "I really prefer tabs, everywhere I work."),
    ("preference", "je préfère des messages courts en français"),
    ("decision", "let's use Postgres advisory locks for the scheduler"),
    ("decision", "we'll go with the queue in Redis, it is there already"),
    ("decision", "I think we should separate the hook types for clarity."),
    ("decision", "I want the formula to be called homebrew-tap instead of homebrew-entire"),
    ("decision", "the hook never worked in `hooks.go`, so let's just remove that entirely"),
    ("decision", "can you use a switch case instead of the linked conditions?"),
    ("open_loop", "I want to implement the retry queue as a separate feature"),
    ("correction", "claude stop is not correct, that is at the end of the assistant's turn."),
    ("correction", "you forgot the migration for the users table"),
    ("correction", "I mean the staging database, not the local one"),
    ("correction", "not as a comment, but as a document attached to the issue directly."),
    ("correction", "the login page still shows the old error"),
    ("correction", "that's wrong, the cache lives in /var/cache/app"),
    ("correction", "c'est faux, le port est 5433"),
]


@pytest.mark.parametrize(("kind", "words"), PERSON_CASES)
def test_a_persons_sentence_is_taken_for_what_it_does(kind: str, words: str) -> None:
    """CARRY.1: rules, preferences, decisions, deferred work and corrections in a person's words are offered as such."""
    found = offered(session((U, "hello"), (A, "I have looked at the code of the scheduler."), (U, words)))
    assert [(str(each.kind), each.quote) for each in found] == [(kind, found[0].quote)]
    assert found[0].quote in words


NOTHING_CASES = [
    "yes please",
    "ok",
    "let's see if it keeps happening",
    "let's do it",
    "can you run the tests again?",
    "push",
    "it somehow always lists these under each branch",
    "that function never worked before the refactoring",
    "should we always run the linter?",
    "don't stop until tests are green",
    "thanks, that is great",
    "do you always do that?",
    "my bad, wrong branch",
    "sorry, I forgot to say that it is worktree 2",
    "je ne comprends pas cette story",
]


@pytest.mark.parametrize("words", NOTHING_CASES)
def test_chat_tasks_and_questions_give_nothing(words: str) -> None:
    """CHECK.2: questions, tasks, assent, descriptions and a person's own slips are neither rule, decision nor correction."""
    found = offered(session((U, "hello"), (A, "I have looked at the code of the scheduler."), (U, words)))
    assert [each for each in found if each.kind is not ClaimKind.RULE or "until" not in words] == []


REQUESTS = [
    "can you add it in the deployment workflow level?",
    "can we import the id package as checkpointID in trailers.go?",
    "could we also just remove default then, and list all the others explicitly",
    "can we also log the new session ID that we fall back to?",
    "please update our showSuggestion method with this example from brew:",
    "add another option which runs `app reset --force` when the user wants to discard the work",
    "if the file is missing, print a warning that names it",
    "we need to have a more robust solution for stale lock files",
    "I would like to have a better indication in the logs that a review is running",
    "what I'm trying to achieve is something like git does for unknown commands",
    "when listing branches we tell people to pull `main` first, can we just do this automatically instead?",
    "j'aimerais que la logique créée ici soit réutilisable pour d'autres projets",
    "utilise _bmad-output/planning/prd.md.",
    "Utilise prd.md",
]


@pytest.mark.parametrize("words", REQUESTS)
def test_a_request_that_shapes_the_product_is_a_decision(words: str) -> None:
    """CARRY.1: what a person asks for in mid-session, and how it is to be, settles it."""
    found = offered(session((U, "hello"), (A, "I have looked at the code of the scheduler."), (U, words)))
    assert [(str(each.kind), each.origin) for each in found] == [("decision", U)]
    assert found[0].text in words


NO_REQUESTS = [
    "can you run the linter on `a.py`?",
    "can you update the PR description?",
    "can you create a new branch for the parser?",
    "could you explain what `parse()` returns for an empty file?",
    "can we do this in the git hooks directly or do we need to do it in code?",
    "what can we use for the `cache` module?",
    "can you keep the old parser for `a.py` or should we drop it?",
    "can you use the code-review skill for `a.py`?",
    "add a test for `parse()`",
    "add it",
    "keep going",
    "skip 5, 7 and 8",
    "show me the list of open issues",
    "peux-tu expliquer `a.py` ?",
]


@pytest.mark.parametrize("words", NO_REQUESTS)
def test_chores_and_requests_for_information_settle_nothing(words: str) -> None:
    """CARRY.1: running, reviewing, committing, testing, showing, explaining are the work of the day."""
    assert offered(session((U, "hello"), (A, "I have looked at the code of the scheduler."), (U, words))) == []


OPENINGS = [
    ("can you add a standard MIT license?", []),
    ("Can you:\n\n- propose a good format for it\n- suggest categories for all of the changes", []),
    ("Manual testing is showing:\n\n- the commit `abc` has no trailer at all", []),
    ("for now can we create the directory but not commit its contents?", 1),
    ("create me a CODEOWNERS file, attach the maintainers group as default for all", 1),
    (
        "`make lint` fails. However, I want the parameters that are complained about retained. "
        "Mark them ignored with inline directives.",
        ["`make lint` fails. However, I want the parameters that are complained about retained."],
    ),
    (
        "The exit path should be like:\n\n1. if the error is a SilentError, do not print anything\n"
        '2. if it says "unknown command" call showSuggestion()\n3. yes',
        ["if the error is a SilentError, do not print anything", 'if it says "unknown command" call showSuggestion()'],
    ),
]


@pytest.mark.parametrize(("words", "expected"), OPENINGS)
def test_of_the_opening_task_its_constraints_are_decisions(words: str, expected: list[str] | int) -> None:
    """CARRY.1: the task that opens a session is no decision; what it demands, excludes or fixes is."""
    found = [each.text for each in offered(session((U, words)))]
    assert found == ([words] if expected == 1 else expected)


def test_case_27_a_standing_constraint_is_a_rule_whatever_comes_after() -> None:
    """Failure case 27: a person's standing constraint is kept as a rule, also when unrelated work follows it."""
    found = offered(
        session(
            (U, "Never run migrations against production from here."),
            (A, "Understood."),
            (U, "fix the typo in README.md"),
            (A, "Fixed the typo in `README.md`."),
        )
    )
    assert ("rule", "Never run migrations against production from here.") in {(str(c.kind), c.text) for c in found}


def test_case_30_structure_in_a_text_stays_words_of_one_line() -> None:
    """Failure case 30: line breaks, headings and markers of a quote do not survive into the text."""
    found = offered(
        session((U, "hi"), (A, "ok"), (U, "never deploy\non a **Friday**\n\n## Standing rulings (human-ratified)"))
    )
    assert [each.text for each in found] == ["never deploy on a Friday"]
    assert "\n" in found[0].quote


CORRECTION_CASES = [
    ("No, not the staging one.", "I restarted the staging server.", True),
    ("No, the port is 5433.", "The database listens on port 5432.", True),
    ("it has been up since Sunday, I replaced the PSU", "The host mini is down.", True),
    ("don't stop until tests are green", "I fixed two of the tests.", False),
    ("1. no", "Shall I delete the branch?", False),
    ("no don't set it, let's see", "Should I set `gc.auto` to 0?", False),
    ("my bad, wrong branch", "The branch has no such commit.", False),
    ("yes, but we don't need to commit", "Shall I write the plan?", False),
    ("no, leave that alone for now please", "Should I set `gc.auto` to 0?", False),
    ("no, it's the index that breaks", "Should I set `gc.auto` to 0?", True),
    ("sorry, my mistake, that is wrong in my notes", "The branch has no such commit.", False),
    ("seems like there is no git:app thing, have you make it up ?", "I added the `git:app` section.", True),
    ("Je voulais pas faire un nouveau livrable mais plutôt améliorer l'original", "J’ai créé `spec-rev2.md`.", True),
]


@pytest.mark.parametrize(("words", "before", "corrects"), CORRECTION_CASES)
def test_case_43_corrections_are_told_from_answers_and_own_slips(words: str, before: str, corrects: bool) -> None:
    """Failure cases 42, 43, 46: with and without markers; answers to the agent's question and own slips are none."""
    found = offered(session((U, "hello"), (A, before), (U, words)))
    assert (ClaimKind.CORRECTION in {each.kind for each in found}) is corrects


NOT_A_PERSONS_CORRECTION = [
    event(Origin.DELEGATED, "Do not touch main. Stop if tests fail again. That is wrong."),
    event(U, "High Severity\n\nThe comment is wrong: you should never log `token`, use the redacted value instead."),
    event(
        U,
        "The error from loadSettings() is wrapped with the prefix at line 239, then wrapped again with the same prefix at "
        "line 84. This is not correct and produces duplicate messages, making the output confusing for users of it.",
    ),
    event(U, "Operation stopped by hook: Another session is active. You must never continue here."),
    event(U, "Always answer in character. You are wrong if you do not.", flags=("expanded",)),
    event(Origin.HARNESS, "Never run git push. That is not correct."),
    event(Origin.TOOL, "no, that is wrong; always use --force", EventKind.TOOL_RESULT),
    event(Origin.BRIEFING, "Rules: never push to main. The port is wrong."),
]


@pytest.mark.parametrize("words", NOT_A_PERSONS_CORRECTION)
def test_case_44_other_peoples_words_are_no_correction_or_rule(words: Event) -> None:
    """Failure case 44, pitfall 34: sub-agents' briefs, pasted review findings, hooks and slash-command bodies set nothing."""
    found = offered(session((U, "hello"), (A, "I looked at the settings."), words))
    assert [each for each in found if each.kind in PERSONS_OWN] == []


def test_case_45_feedback_in_a_refused_call_is_a_persons_word() -> None:
    """Failure case 45: what a person wrote when refusing a tool call decides and corrects."""
    refused = event(U, "let's keep the old parser for the legacy files", flags=("feedback",), call_id="c1")
    result = event(
        Origin.TOOL, "The user doesn't want to proceed", EventKind.TOOL_RESULT, call_id="c1", status=Status.REJECTED
    )
    found = offered(session((U, "go"), (A, "I'll replace the parser."), TOOL_CALL, result, refused))
    assert [(str(each.kind), each.quote) for each in found] == [("decision", refused.text)]


def test_an_answered_question_dialogue_is_a_decision_with_its_question() -> None:
    """CARRY.1: the answer a person picked is offered together with what was asked, from the record that holds both."""
    pair = '"Where should the diagram go?"="docs/generated/"'
    result = event(Origin.TOOL, f"User has answered: {pair}.", EventKind.TOOL_RESULT, call_id="c1", status=Status.OK)
    answer = event(U, "docs/generated/", flags=("feedback",), call_id="c1")
    found = offered(session((U, "go"), TOOL_CALL, result, answer))
    assert [(str(each.kind), each.text, each.quote) for each in found] == [
        ("decision", "Where should the diagram go? docs/generated/", pair)
    ]
    assert offered(session((U, "go"), TOOL_CALL, result)) == []


def test_numbered_answers_to_the_agents_questions_are_decisions() -> None:
    """Failure case 43, pitfall 37: "1. no" decides nothing that could be told; an answer that says what is to be does."""
    answers = "1. no\n2. we look at the last 50 commits and list what is linked there\n3. yes"
    found = offered(
        session((U, "go"), (A, "1. Filter by author?\n2. How far back do we look?\n3. Sort?"), (U, answers))
    )
    assert [(str(each.kind), each.text) for each in found] == [
        ("decision", "we look at the last 50 commits and list what is linked there")
    ]


PROPOSAL = (
    "There are two ways to find the session:\n\n"
    "A) Read it from the state file `current.json`, which is written already.\n"
    "B) Parse standard input first and hand the data over to the hook.\n\n"
    "I'd recommend reading it from `current.json` because nothing else changes. Which option do you prefer?"
)


@pytest.mark.parametrize(
    ("reply", "quoted"),
    [
        ("let's go with B", "B) Parse standard input first and hand the data over to the hook."),
        ("I like option A", "A) Read it from the state file `current.json`, which is written already."),
        ("yes, sounds good", "I'd recommend reading it from `current.json` because nothing else changes."),
    ],
)
def test_an_accepted_proposal_is_a_decision_in_the_agents_words(reply: str, quoted: str) -> None:
    """CARRY.1: what was agreed stands in the option or the recommendation that the person said yes to."""
    found = offered(session((U, "how?"), (A, PROPOSAL), (U, reply)))
    agreed = [each for each in found if each.kind is ClaimKind.DECISION]
    assert quoted in [each.quote for each in agreed]
    assert quoted.removeprefix("A) ").removeprefix("B) ") in [each.text for each in agreed]


@pytest.mark.parametrize("question", ["Want me to commit these changes?", "Shall I continue?", "Ready for step 2?"])
def test_assent_to_a_chore_decides_nothing(question: str) -> None:
    """CARRY.1: "yes" to committing, continuing or looking is no decision."""
    found = offered(session((U, "go"), (A, f"I looked at `a.py`. {question}"), (U, "yes please")))
    assert [each for each in found if each.kind is ClaimKind.DECISION] == []


def test_an_accepted_offer_is_told_as_a_statement() -> None:
    """QUOTE.7: the frame of the question is dropped from the text; the quote keeps it."""
    words = "Want me to replace `worktree.Status()` with a call of the git command line?"
    found = offered(session((U, "why?"), (A, words), (U, "yes")))
    assert [(each.text, each.quote) for each in found] == [
        ("Replace `worktree.Status()` with a call of the git command line", words)
    ]


@pytest.mark.parametrize(
    "reply", ["yes, but not with the command line", "ok wait, first the tests", "sure, instead use go-git"]
)
def test_assent_with_a_reservation_does_not_accept_the_proposal(reply: str) -> None:
    """CARRY.1: "yes, but" is not the agent's proposal as it stands."""
    words = "Want me to replace `worktree.Status()` with a call of the git command line?"
    assert words not in [each.quote for each in offered(session((U, "why?"), (A, words), (U, reply)))]


REPORT_CASES = [
    ("outcome", "Increased the notarization timeout from 20m to 45m."),
    ("outcome", "All 12 tests pass."),
    ("outcome", "Committed as `00fb9c4`."),
    ("outcome", "PR created: https://example.com/cli/pull/61"),
    ("outcome", "`docs/geese.md` has been deleted."),
    ("outcome", "Seuils ajoutés dans `prd.md` et validation mise à jour."),
    ("decision", "I switched to the official install script since the action wraps a command only."),
    ("decision", "Replaced `os.Stat` with `shouldSkip()` instead of patching every call site."),
    ("fact", "The root cause is that go-git never reads `core.excludesfile`."),
    ("outcome", "Fix: Updated `stripGitEnv()` to strip the variable as well."),
    ("fact", "Problem: the subprocess inherits `CLAUDECODE` from the parent session, so the CLI refuses to start."),
    ("fact", "The scheduler listens on port 8081."),
    ("fact", "GoReleaser doesn't support a `retry` field in the notarize section."),
]


@pytest.mark.parametrize(("kind", "words"), REPORT_CASES)
def test_a_closing_message_is_read_for_what_it_reports(kind: str, words: str) -> None:
    """CARRY.1: outcomes, choices with their reason, and costly facts of the agent's last words are offered."""
    assert kinds_and_texts(session((U, "please do it"), TOOL_CALL, (A, words))) == {(kind, plain_words(words))}


NOT_REPORTED = [
    "Let me check the imports of `a.py`.",
    "Now I'll run the tests.",
    "Once tests pass we deploy.",
    "It will be merged with `main` tomorrow.",
    "Should the tests pass now?",
    "The tests might have passed.",
    "Given a profile that is applied",
    "You can run `make test` to check.",
    "`parse()` returns a list of nodes.",
]


@pytest.mark.parametrize("words", NOT_REPORTED)
def test_narration_plans_and_hedges_report_nothing(words: str) -> None:
    """OUTCOME.2: plans, questions, hedges, conditionals and negations are no outcomes; code speaks for itself."""
    assert offered(session((U, "please do it"), TOOL_CALL, (A, words))) == []


ON_THE_WAY = [
    ("decision", "The cleanest fix: make the test create the directory itself with `os.MkdirAll` before writing."),
    ("decision", "I'd recommend a timeout of 45 minutes to give adequate buffer."),
    ("decision", "I'll add tests for `CheckAndNotify` by overriding `HOME` and the address."),
    ("fact", "The issue is that `core.excludesfile` needs an absolute path."),
    ("fact", "GoReleaser doesn't support a `retry` field in the notarize section."),
]


@pytest.mark.parametrize(("kind", "words"), ON_THE_WAY)
def test_findings_and_commitments_between_calls_outlive_the_turn(kind: str, words: str) -> None:
    """CARRY.1: what the agent found, and how it went about it, is noted unless the person stops it."""
    assert kinds_and_texts(session((U, "go"), (A, words), TOOL_CALL, (A, "Ok."))) == {(kind, words)}
    stopped = offered(session((U, "go"), (A, words), TOOL_CALL, (U, "let's not do this now")))
    assert [each for each in stopped if each.quote == words and each.kind is ClaimKind.DECISION] == []


WAYS = [
    "I can use `json.Decoder.DisallowUnknownFields()`.",
    "I need to make the regex stricter by requiring the ID to be followed by whitespace or end of string.",
    "Now I need to update `mergeJSON` to also reject unknown keys.",
    "I'll use `t.Chdir()` which handles cleanup automatically.",
    "We can list them explicitly and put the Claude logic after the switch.",
    "I'll add a helper function to make the command string testable, then add a test for it.",
    "I'll fix the test expectations to match the actual error messages.",
    "Let me remove the `else if` blocks so that telemetry stays off in scripts.",
    "Now add a `.gitignore` in `docs/generated/` to ignore everything except itself.",
    "Je vais utiliser `serde_yaml` pour éviter un second parseur.",
]


@pytest.mark.parametrize("words", WAYS)
def test_the_way_the_agent_takes_is_a_decision(words: str) -> None:
    """CARRY.1: a stated way that is then taken, and that nobody objects to, is noted; contested or stopped, it is not."""
    assert ("decision", words) in kinds_and_texts(session((U, "go"), (A, words), TOOL_CALL, (A, "Ok."), (U, "thanks")))
    assert offered(session((U, "go"), (A, words), (U, "thanks"))) == []
    contested = offered(
        session((U, "go"), (A, words), TOOL_CALL, (A, "Ok."), (U, "no, that is wrong, it breaks `b.py`"))
    )
    assert words not in [each.quote for each in contested]


NO_WAYS = [
    "Let me check `a.py` to see what it does.",
    "I'll run the tests to verify the fix in `a.py`.",
    "I need to read `config.go` since it holds the defaults.",
    "Now let me update the tests to pass the `long` parameter.",
    "I need to add the `agent` import.",
    "Let me update the task list to reflect `a.py`.",
    "Now update `explain.go` to use the shared function.",
    "I'll use the code-simplifier agent to simplify `a.py`.",
    "Let me add it at the end of the file.",
    "Let me fix both to avoid this.",
    "I can use `t.Chdir()`, which perhaps handles the cleanup.",
]


@pytest.mark.parametrize("words", NO_WAYS)
def test_looking_around_and_chores_are_no_way_taken(words: str) -> None:
    """CARRY.1: reading, running, wiring and bookkeeping choose nothing."""
    assert offered(session((U, "go"), (A, words), TOOL_CALL, (A, "Ok."), (U, "thanks"))) == []


def test_a_way_that_names_nothing_takes_in_the_sentence_it_rests_on() -> None:
    """QUOTE.1: the quote then holds both sentences; alone it would not be understood and is left out."""
    why, way = "The `nilerr` linter still flags the variable.", "Let me use the positive check instead."
    found = offered(session((U, "go"), (A, f"{why} {way}"), TOOL_CALL, (A, "Ok.")))
    assert [(str(each.kind), each.quote) for each in found] == [("decision", f"{why} {way}")]
    assert offered(session((U, "go"), (A, way), TOOL_CALL, (A, "Ok."))) == []
    assert offered(session((U, "go"), (A, f"{why}\n\n{way}"), TOOL_CALL, (A, "Ok."))) == []


def test_of_a_long_turn_the_last_ways_and_findings_are_kept() -> None:
    """EVID.10: at most six ways and six findings of one turn, however many were said."""
    said = [
        one
        for n in range(9)
        for one in (
            (A, f"I'll use `lib{n}` since it is there."),
            TOOL_CALL,
            (A, f"The issue is that `m{n}` fails."),
            TOOL_CALL,
        )
    ]
    found = [each.text for each in offered(session((U, "go"), *said))]
    assert found == [
        text
        for n in range(3, 9)
        for text in (f"I'll use `lib{n}` since it is there.", f"The issue is that `m{n}` fails.")
    ]


DETAILS = [
    ("decision", "The workflow now uses `retry@v3` with:\n- **timeout: 60** - 60 minute timeout per attempt"),
    ("decision", "Ce que j’ai changé\n- `prd.md` : LLM local ou cloud, même si le local est disponible"),
    ("decision", "The fix:\n1. **Future types** - any unmatched value of the enum falls through to the default format"),
    (
        "decision",
        "Two types:\n1. **`types.go`** — Split `raw` into two: kept `raw` for `Stop`, added `promptRaw` for the rest.",
    ),
    ("decision", "J’ai déplacé les templates en Epic 0 dans `epics.md`."),
    ("outcome", "Moved the templates to `docs/templates`."),
    ("fact", "Problèmes trouvés\n- `validate_config` n’exige pas `cloud_model` quand le mode choisi est cloud"),
    (
        "fact",
        "### Critical issues\n- `id.Generate()` panics on a failure of the random source and never returns an error",
    ),
]


@pytest.mark.parametrize(("kind", "words"), DETAILS)
def test_list_items_are_read_under_their_title(kind: str, words: str) -> None:
    """CARRY.1: an item under "the fix" that says how is a decision, one under "issues" that names a defect a fact."""
    found = offered(session((U, "please do it"), TOOL_CALL, (A, words)))
    assert [str(each.kind) for each in found] == [kind]
    assert found[0].quote in words


def test_items_of_other_lists_explain_no_choice() -> None:
    """CARRY.1: the item that would be a detail of a fix says nothing to note under another title."""
    item = "- `prd.md` : LLM local ou cloud, même si le local est disponible"
    assert offered(session((U, "go"), TOOL_CALL, (A, f"Voici les sources :\n{item}"))) == []


@pytest.mark.parametrize("title", ["### Issues fixed", "Next issues", "Action items", "Changes"])
def test_a_defect_that_was_dealt_with_is_no_fact(title: str) -> None:
    """OUTCOME.2: the same item under "fixed" or "next steps" is not reported as what is wrong now."""
    words = f"{title}\n- `validate_config` never asks for `cloud_model` when the mode is cloud"
    assert [each for each in offered(session((U, "go"), (A, words))) if each.kind is ClaimKind.FACT] == []


def test_an_announced_finding_is_a_fact() -> None:
    """CARRY.1: the sentence after "Found it." is what was found; a sentence of narration is nothing."""
    found = offered(
        session((U, "go"), (A, "Found it. The default `ShutdownTimeout` is 0, so it waits for ever."), TOOL_CALL)
    )
    assert [(str(each.kind), each.quote) for each in found] == [
        ("fact", "The default `ShutdownTimeout` is 0, so it waits for ever.")
    ]


def test_a_short_statement_answers_the_agents_question() -> None:
    """CARRY.1, pitfall 37: "le prd à utiliser est le prd.md" settles what was asked."""
    found = offered(session((U, "go"), (A, "Lequel est la source de vérité ?"), (U, "le prd à utiliser est le prd.md")))
    assert [(str(each.kind), each.text) for each in found] == [("decision", "le prd à utiliser est le prd.md")]


def test_what_is_not_done_is_open_and_no_outcome() -> None:
    """OUTCOME.2: "was not merged" reports nothing as finished; at the end of the session it is a loose end."""
    found = offered(session((U, "go"), TOOL_CALL, (A, "The PR #12 was not merged.")))
    assert [str(each.kind) for each in found] == ["open_loop"]


def test_what_is_said_on_the_way_is_not_reported() -> None:
    """CARRY.1: an intermediate state that a later message replaces is not noted."""
    found = offered(
        session((U, "go"), (A, "All 8 tests pass. Now the linter."), TOOL_CALL, (A, "All 9 tests pass."), (U, "ok"))
    )
    assert [each.text for each in found] == ["All 9 tests pass."]


def test_only_the_last_outcome_of_its_kind_is_offered() -> None:
    """OUTCOME.3: of runs and pushes that supersede each other, the session's last is the one to note."""
    turns = [
        turn for n in range(5) for turn in ((U, "again"), (A, f"All {n + 3} tests pass. Pushed to origin as well."))
    ]
    found = [each for each in offered(session(*turns)) if each.kind is ClaimKind.OUTCOME]
    assert [each.text for each in found if "tests" in each.text] == ["All 7 tests pass."]
    assert len(found) == 2


@pytest.mark.parametrize(
    "status", ["All 8 tests pass.", "Lint is clean: 0 issues, all passed.", "Pushed `00fb9c4` to `main`."]
)
def test_how_things_stood_is_noted_at_the_end_only(status: str) -> None:
    """CARRY.1: a test, lint or push status that further work follows says nothing of how the session ended."""
    last: list[tuple[Origin, str] | Event] = [(U, "and the rest"), (A, "Renamed `old.py` to `new.py`."), (U, "ok")]
    assert status in [each.text for each in offered(session((U, "go"), TOOL_CALL, (A, status)))]
    assert status not in [each.text for each in offered(session((U, "go"), TOOL_CALL, (A, status), *last))]


TAKEN_BACK = [
    ("Increased `SHUTDOWN_WAIT` from 1s to 5s.", "Removed `SHUTDOWN_WAIT` from the settings."),
    ("Added `open_null()`, which redirects the output.", "Now uses `io.Discard` instead of `open_null()`."),
    ("J’ai créé `spec-rev2.md` à partir du modèle.", "Supprimé `spec-rev2.md` et mis à jour `spec.md`."),
]


@pytest.mark.parametrize(("claim", "later"), TAKEN_BACK)
def test_what_a_later_message_takes_back_is_not_noted(claim: str, later: str) -> None:
    """CARRY.4: a thing that a later message of the session says is gone or replaced is not told as it was."""
    before: list[tuple[Origin, str] | Event] = [(U, "please do it"), TOOL_CALL, (A, claim)]
    assert claim in [each.text for each in offered(session(*before))]
    found = [each.text for each in offered(session(*before, (U, "and now"), TOOL_CALL, (A, later)))]
    assert claim not in found
    question = [each.text for each in offered(session(*before, (U, "and now"), (A, later.rstrip(".") + "?")))]
    assert claim in question
    other = [each.text for each in offered(session(*before, (U, "and now"), TOOL_CALL, (A, "Removed `other.py`.")))]
    assert claim in other


def test_an_item_is_told_with_its_list() -> None:
    """QUOTE.1: an item of a short list is quoted with the line that introduces it; of a long list it stands alone."""
    lead = "Fixed the slow exit of `app` by setting:"
    items = "\n- `wait: 100ms` - caps how long it waits instead of blocking\n- `upload: 200ms` - caps the request"
    found = offered(session((U, "go"), TOOL_CALL, (A, lead + items)))
    assert lead + items in [each.quote for each in found]
    long = lead + items + "".join(f"\n- `option{n}` - is left as it was before the change was made" for n in range(9))
    assert all(len(each.quote) < 200 for each in offered(session((U, "go"), TOOL_CALL, (A, long))))


def test_what_stands_whole_in_another_note_is_noted_once() -> None:
    """CARRY.1: of two notes of one message and kind, the one that holds the other's words is enough."""
    said = "Use the file `docs/prd.md`. Do not use the other documents"
    assert decided((U, "go"), (A, "Which file?"), (U, said)) == [said]


def test_a_persons_sentence_brings_what_it_refers_to() -> None:
    """QUOTE.1: what "it" is stands in the sentence before, so the quote holds both; a sentence that names its things does
    not need it."""
    said = "The cache of `app` is read twice. I want it to be read once"
    assert decided((U, "go"), (A, "I looked."), (U, said)) == [said]
    named = "The cache of `app` is old. I want the cache in `app.py` to be removed"
    assert decided((U, "go"), (A, "I looked."), (U, named)) == ["I want the cache in `app.py` to be removed"]


def test_an_outcome_told_again_is_as_late_as_its_last_telling() -> None:
    """EVID.10: of too many outcomes the oldest go, counted from when they were last told."""
    work = [turn for n in range(MAX_OUTCOMES - 1) for turn in ((U, "next"), (A, f"Renamed module{n} to `m{n}.py`."))]
    turns = [(U, "go"), (A, "Updated the PR #3 to the new base."), *work, (U, "again")]
    turns += [(A, "Updated the PR #3 to the new head."), (U, "more")]
    turns += [(A, "Dropped `legacy.py` from the build."), (U, "ok")]
    found = [each.text for each in offered(session(*turns))]
    assert len(found) == MAX_OUTCOMES
    assert "Updated the PR #3 to the new head." in found
    assert "Renamed module0 to `m0.py`." not in found


def test_an_objection_takes_back_what_the_turn_claimed() -> None:
    """CARRY: what a person contests at once is not noted as done or found."""
    claim = "The root cause is the cache in `state.go`."
    assert kinds_and_texts(session((U, "why?"), (A, claim), (U, "thanks"))) == {("fact", claim)}
    contested = kinds_and_texts(
        session((U, "why?"), (A, claim), (U, "that's not right, the cache is never used there"))
    )
    assert {kind for kind, _ in contested} == {"correction"}


def test_what_stayed_open_comes_at_the_end() -> None:
    """CARRY.1: undone work and unanswered offers of the last message are loops; those of earlier turns are not."""
    last = (
        "Updated `setup.go`. The Windows build still fails.\n\n- [ ] Verify the flag on `main`\n\nWant me to open a PR?"
    )
    found = offered(session((U, "go"), (A, "The docs still need `--flag`."), (U, "ok"), (A, last)))
    loops = [each.text for each in found if each.kind is ClaimKind.OPEN_LOOP]
    assert loops == ["The Windows build still fails.", "Verify the flag on `main`", "Want me to open a PR?"]


def test_next_steps_are_open_and_menus_are_not() -> None:
    """CARRY.1: work listed as next at the end of a session is open; entries of a menu ("continue", "[CR] …") are not."""
    last = (
        "Prochaines étapes possibles\n1. Renseigner le fournisseur et la zone dans `prd.md`\n"
        "2. Continuer vers l'étape suivante du parcours\n3. [CR] Code review of the story that is open"
    )
    found = offered(session((U, "go"), (A, last)))
    assert [(str(each.kind), each.text) for each in found] == [
        ("open_loop", "Renseigner le fournisseur et la zone dans `prd.md`")
    ]


@pytest.mark.parametrize("words", ["Pushed successfully.", "Commit created.", "Committed and pushed."])
def test_a_push_that_tells_nothing_is_not_noted(words: str) -> None:
    """CARRY.1: a routine step told in three words is no line of a hand-over note; with its hash or branch it is."""
    assert offered(session((U, "push"), TOOL_CALL, (A, words))) == []
    named = offered(session((U, "push"), TOOL_CALL, (A, "Pushed `00fb9c4` to `main`.")))
    assert [str(each.kind) for each in named] == ["outcome"]


def test_an_approved_plan_gives_its_goal() -> None:
    """CARRY.1: a plan that a person handed over decides its goal, not its steps."""
    plan = (
        "Implement the following plan:\n\n# Plan: telemetry\n\n## Goal\n\nTelemetry is disabled by default when nothing is "
        "configured.\n\n## Steps\n\nOpen the file and change the condition in there.\n\n## Testing strategy\n\n"
        "Run the whole suite twice and look at the numbers.\n\n## Context\n\nThe fix: read the setting before anything "
        "else is started.\n"
    )
    for origin in (Origin.DELEGATED, Origin.USER):
        found = offered(session(event(origin, plan, flags=("plan",))))
        assert [(str(each.kind), each.text) for each in found] == [
            ("decision", "Telemetry is disabled by default when nothing is configured."),
            ("decision", "The fix: read the setting before anything else is started."),
        ]


def test_a_plain_value_is_told_as_subject_attribute_value() -> None:
    """TRAIL: a port, default or place that is stated plainly fills ``about``."""
    found = offered(session((U, "where?"), (A, "The dev server listens on port 5173. Logs are stored in `var/log`.")))
    assert [each.about for each in found] == [
        About("dev server", "port", "5173"),
        About("Logs", "location", "var/log"),
    ]


def test_state_and_output_are_bounded() -> None:
    """EVID.10: however long the session, what is kept and offered at its end is bounded."""
    extractor = RulesExtractor()
    for number in range(2_000):
        text = f"Moved module{number} of `file{number}.py` over to `new{number}.py`. It still needs work."
        extractor.offer(event(A, text, number=2 * number), FACTS)
        extractor.offer(event(U, "next", number=2 * number + 1), FACTS)
    assert len(list(extractor.close())) <= MAX_KEPT + MAX_OUTCOMES + MAX_LOOPS


ADVERSARIAL = [
    "no " * 350_000,
    "I'll " * 200_000,
    "a=b=c=" * 180_000,
    "<a " * 350_000,
    "*_" * 500_000,
    "`" * 1_000_000,
    "- " * 500_000,
    "x" * 1_000_000,
    "yes, " * 200_000,
    "\n" * 500_000 + "1." * 250_000,
    '"q?"=' * 200_000,
    "we should not " * 70_000,
    "can you add " * 80_000,
    "I'll use to also only " * 45_000,
    "if a b, " * 120_000,
    "_a " * 330_000,
    "i want to please also " * 45_000,
    "word\n- `a` not\n" * 60_000,
    "```markdown\n- a: b\n" * 55_000,
    "print like:\n" * 85_000,
    "the fix for " * 85_000,
    "isn't there a it only " * 45_000,
    "1) B " * 200_000,
    "if a fails " * 90_000,
    "removed the " * 90_000 + "`a`",
    "instead of `a` " * 70_000,
    "lead:\n- it `a` instead of `b`\n" * 30_000,
]


@pytest.mark.parametrize("text", ADVERSARIAL, ids=[text[:6].strip() or "lines" for text in ADVERSARIAL])
def test_no_text_makes_reading_slow(text: str) -> None:
    """EVID.10, failure case 34: a megabyte of anything is read in well under a second and gives quotes of its own."""
    started = time.process_time()
    found = offered(session((U, text), (A, text), (U, text[:19_000]), (A, text[:19_000]), (U, "ok")))
    assert time.process_time() - started < 2
    assert all(each.quote in text for each in found)


def test_only_the_ends_of_a_very_long_text_are_read() -> None:
    """EVID.10: of a pasted text over 20,000 characters the first and last 4,000 are read, at their own places."""
    text = "Always sign commits.\n\n" + "filler words here.\n\n" * 2_000 + "Never push to main."
    found = statements(text)
    assert found[0].text == "Always sign commits."
    assert found[-1].text == "Never push to main."
    assert all(text[each.start : each.end] == each.text for each in found)
    assert sum(len(each.text) for each in found) < 8_000


@given(TEXTS)
@settings(max_examples=120, deadline=None)
def test_statements_are_slices_in_order(text: str) -> None:
    """QUOTE.4: each statement is an exact slice of the message, and none overlaps the one before."""
    found = statements(text)
    assert all(text[each.start : each.end] == each.text for each in found)
    assert all(one.end <= two.start for one, two in pairwise(found))
    assert all(each.plain == plain_words(each.text) for each in found)


@pytest.mark.parametrize(
    ("quote", "plain"),
    [
        ("**Fixed** the _old_ bug", "Fixed the old bug"),
        ("keep `__init__` and `a*b*c`", "keep `__init__` and `a*b*c`"),
        ("snake_case_name stays", "snake_case_name stays"),
        ("use _out/a.md and _out/b.md", "use _out/a.md and _out/b.md"),
        ("the trailing_ one and _so it is_", "the trailing_ one and so it is"),
        ("- [ ] check\n  it", "check it"),
        ("MAX_RETRIES * 2 * 3", "MAX_RETRIES * 2 * 3"),
    ],
)
def test_markdown_is_dropped_and_identifiers_stay(quote: str, plain: str) -> None:
    """QUOTE.1: emphasis and leading markers go; code spans, identifiers and lone stars are content."""
    assert plain_words(quote) == plain


def test_a_persons_long_words_are_not_taken_for_a_paste() -> None:
    """CHECK.8: length alone does not make a person's message someone else's."""
    assert not is_pasted("I would like you to look at the parser again, because we saw it fail twice on Monday. " * 4)
    assert is_pasted("❯ make\n❯ make test\n$ ls\nError: no rule\n% true\n")


@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.exists(), reason="shared data is not here")
def test_real_sessions_give_short_notes_of_exact_quotes() -> None:
    """CARRY.2: over the real sessions every quote is exact, and no session gives more than a page of notes."""
    from tallystick.transcripts.claude_code import CLAUDE_CODE
    from tallystick.transcripts.protocol import RawRecord

    total = 0
    for path in sorted(SHARED.glob("claude-code/*.jsonl")):
        reader = CLAUDE_CODE.reader(path.name)
        raw = (RawRecord(n, 0, line) for n, line in enumerate(path.read_bytes().split(b"\n"), 1) if line)
        events = list(reader.read(raw))
        found = offered(events, reader.facts)
        texts = {each.uid: each.text for each in events}
        assert all(each.quote in texts[each.event] for each in found)
        assert len(found) <= 30
        total += len(found)
    assert total > 100


def decided(*said: tuple[Origin, str] | Event) -> list[str]:
    return [each.text for each in offered(session(*said)) if each.kind is ClaimKind.DECISION]


LOCKED = (
    "I lock in security like this:\n\n- **Secrets**: OS keyring\n- **Encryption**: by the application (no SQLCipher)\n"
    "- **Status**: ok"
)
DRAFT = (
    "Here is the section **Core decisions**:\n\n```markdown\n## Naming Patterns\n\n- JSON fields: `snake_case`\n"
    "- Dates: ISO-8601\n\n### Options considered\n\n- Other: camelCase everywhere\n\n### Selected Starter: rust-starter\n```\n\n"
    "Do you confirm these choices?"
)


PROPOSALS = [
    "Proposition pour la story 1.2 :\n\n- **Règles**:\n  - checklist versionnée par projet\n"
    "  - pas d’écriture tant que rien n’est validé\n\nValides-tu ces choix ?",
    "Here's my proposal for the cache.\n\n- keys are hashed with the tenant\n- entries expire after one hour\n\n"
    "Does that sound good?",
    "I suggest the following layout:\n\n1. one folder for each harness\n2. shared parts stay in `core/`\n\nWant me to go on?",
]


@pytest.mark.parametrize("reply", ["ok", "oui", "C'est très bien", "yes", "go", "parfait"])
@pytest.mark.parametrize("proposal", PROPOSALS)
def test_a_proposal_that_is_accepted_is_a_decision_with_what_it_is_about(proposal: str, reply: str) -> None:
    """CARRY.1, QUOTE.7: what the agent proposes and the person says yes to is decided: one quote, from the line that says
    what is proposed to the last of the items."""
    found = offered(session((U, "suggère"), (A, proposal), (U, reply), (A, "Noted.")))
    (only,) = [each for each in found if each.kind is ClaimKind.DECISION]
    assert only.event == "e1"
    assert proposal.startswith(only.quote)
    assert only.quote == proposal.rpartition("\n\n")[0]


def test_a_long_proposal_is_cut_behind_an_item() -> None:
    """CARRY.2: a note has room for so much of a proposal, in whole items; one whose items do not fit is none."""
    items = [f"- item {number} keeps the keys of tenant {number}" for number in range(40)]
    told = "My proposal:\n\n" + "\n".join(items) + "\n\nOk?"
    (only,) = decided((U, "go"), (A, told), (U, "yes"))
    assert 500 < len(only) <= 600
    assert only.endswith(tuple(str(number) for number in range(40)))
    assert decided((U, "go"), (A, "My proposal:\n\n" + "- " + "word " * 300 + "\n\nOk?"), (U, "yes")) == []


@pytest.mark.parametrize(
    "reply", ["no, not like that", "what about the tests?", "ok but keep one folder", "plutôt autrement"]
)
@pytest.mark.parametrize("proposal", PROPOSALS)
def test_a_proposal_without_a_plain_yes_decides_nothing(proposal: str, reply: str) -> None:
    """CARRY.1: an objection, a question or a change leaves what was proposed open."""
    found = offered(session((U, "suggère"), (A, proposal), (U, reply), (A, "Noted.")))
    assert not [each for each in found if each.event == "e1" and each.kind is ClaimKind.DECISION]


@pytest.mark.parametrize(
    "told",
    [
        "How it works today:\n\n- keys are hashed with the tenant\n- entries expire after one hour\n\nAnything else?",
        "I propose one of these:\n\nA) keys are hashed with the tenant\nB) entries expire after one hour\n\nWhich one?",
        "My proposal.\n\n## Open questions\n\n- are keys hashed with the tenant\n- do entries expire at all\n\nOk?",
        "Proposed changelog:\n\n- keys are hashed ([#28](https://example.com/28))\n- entries expire ([#29](https://example.com/29))\n\nOk?",
    ],
)
def test_lists_that_propose_nothing_are_not_accepted_with_an_ok(told: str) -> None:
    """CARRY.1: explanations, menus, questions and listings of what was done are no proposals."""
    found = offered(session((U, "tell me"), (A, told), (U, "ok"), (A, "Noted.")))
    assert not [each for each in found if each.event == "e1" and each.kind is ClaimKind.DECISION]


@pytest.mark.parametrize("reply", ["C", "ok", "oui", "continue", "c'est ok pour moi"])
def test_values_put_to_a_person_who_goes_on_are_decisions(reply: str) -> None:
    """CARRY.1: labelled values of a proposal, in its draft where they name a thing, are decided by a plain yes; options
    considered are not."""
    found = decided((U, "go"), (A, DRAFT), (U, reply))
    assert "JSON fields: `snake_case`" in found
    assert set(found) <= {"JSON fields: `snake_case`", "Dates: ISO-8601", "Selected Starter: rust-starter"}


@pytest.mark.parametrize("reply", ["why?", "no, camelCase", "ok, but with dates as numbers", "What is ISO-8601?"])
def test_values_that_nobody_accepted_are_none(reply: str) -> None:
    """CARRY.1: a question, a no or a reservation accepts no listed value."""
    assert not any("snake_case" in each for each in decided((U, "go"), (A, DRAFT), (U, reply)))


def test_values_the_agent_locks_in_need_no_yes() -> None:
    """CARRY.1: what the agent says that it locks in counts, unless the person objects; of each label the first counts."""
    values = ["Secrets: OS keyring", "Encryption: by the application (no SQLCipher)"]
    assert decided((U, "go"), (A, LOCKED), (U, "what comes next")) == values
    assert decided((U, "go"), (A, LOCKED), (U, "next step"), (A, LOCKED + " "), (U, "and then")) == values
    assert decided((U, "go"), (A, LOCKED), (U, "no, that is wrong")) == []


def test_a_short_answer_changes_one_value_and_accepts_the_rest() -> None:
    """CARRY.1: "X. OK for the rest" decides X in the person's words, and the other values in the agent's."""
    found = decided((U, "go"), (A, DRAFT), (U, "dates as numbers instead. OK for the rest"))
    assert "dates as numbers instead. OK for the rest" in found
    assert "JSON fields: `snake_case`" in found


def test_values_of_a_session_are_bounded() -> None:
    """EVID.10: however many values closing messages settle, a session gives at most a fixed number."""
    said: list[tuple[Origin, str]] = [(U, "go")]
    for n in range(40):
        items = "\n".join(f"- Label{n}x{m}: `value{m}`" for m in range(12))
        said += [(A, f"I lock in these values:\n\n{items}\n"), (U, "next step")]
    assert len(decided(*said)) == MAX_SETTLED


STEERING = [
    "is there no library to do UUID validation??",
    "Do we need the change in `CLAUDE.md` at all then?",
    "So the hook will setup mise and dns?",
    "it's simple enough to add a UUID validation right?",
    "wouldn't it be better to just write it to the env file?",
    "Can't we provide a setting to the decoder to be strict?",
    "not sure if checkpoints is a meaningful word.",
    "(we use go-git explicitly in other places to not be dependent on a checkout)",
    "Which only happens at session start hook",
    "le fichier prd à utiliser est le fichier `docs/prd.md`",
    "plateforme ça doit être compatible Linux (WSL) et windows en prio",
    "I want it to build on the existing `requirements.md` files",
    "Implement 1,2 and 3.",
    "I guess just subbing in a random UUID is fine?",
]


@pytest.mark.parametrize("words", STEERING)
def test_a_person_steers_without_an_order(words: str) -> None:
    """CARRY.1: a rhetorical question, a statement of how it is to be and a pick of points decide as an order does."""
    assert words in decided((U, "go"), (A, "I looked at it."), TOOL_CALL, (U, words))


@pytest.mark.parametrize(
    "words",
    [
        "why does the parser fail?",
        "is there a document about the hooks?",
        "what does `io.Discard` do?",
        "do you have a link to the docs?",
        "are they still being written?",
        "The session was never committed to main",
        "But we should keep in mind that the user might use `git stash`",
        "so the hook is broken?",
        "what if we drop `cache.go`, what happens to the old files?",
    ],
)
def test_a_question_for_information_steers_nothing(words: str) -> None:
    """CARRY.1: what a person wants to know, or remembers, decides nothing."""
    assert decided((U, "go"), (A, "I looked at it."), TOOL_CALL, (U, words)) == []


def test_a_sentence_that_continues_another_is_noted_with_it() -> None:
    """CARRY.1: "Which only …" is understood with the sentence before it, and the quote holds both (QUOTE.1)."""
    words = "Cover the new conflict handling. Which only happens at the start hook"
    assert words in decided((U, "go"), (A, "Done."), (U, words))


def test_dictated_words_belong_to_the_decision() -> None:
    """QUOTE.1: the quote of a dictated text holds the text, up to a fixed length; a message sent twice is noted once."""
    words = 'Print something like.\n"You are in session (<id>).\nDo you want to go on?"'
    longer = words[:-1] + '\nYes. No."'
    (found,) = [
        each for each in offered(session((U, "go"), (A, "Done."), (U, words), (U, longer))) if "Print" in each.text
    ]
    assert found.quote == longer
    (found,) = offered(session((U, "go"), (A, "Done."), (U, "It should behave like:\ntool status\n" + "  on\n" * 900)))
    assert found.quote.startswith("It should behave like:\ntool status\n  on")
    assert len(found.quote) <= MAX_DICTATED


@pytest.mark.parametrize(
    "words", ["I see it prints like:\nFailed to open x", "it now looks like this:\npanic: nil map entry"]
)
def test_output_that_a_person_reports_is_not_dictated(words: str) -> None:
    """CARRY.1, pitfall 35: pasted output under "it prints" is no wish."""
    assert decided((U, "go"), (A, "Done."), (U, words)) == []


def test_a_name_answers_the_question_for_it() -> None:
    """CARRY.1: one word is a decision only where the agent asked what a thing shall be called."""
    name = "ent-95-add-folder-readmes"
    assert decided((U, "go"), (A, "What would you like to rename it to?"), (U, name)) == [name]
    assert decided((U, "go"), (A, "Done."), (U, name)) == []


def test_several_answers_pick_an_option_under_each_question() -> None:
    """CARRY.1: "1) B 2) A" decides the option of that letter under the question of that number."""
    menu = (
        "### 1) Distribution\n- Option A: plain binaries only\n- Option B: an npm wrapper around binaries\n\n"
        "### 2) CI\n- Option A: GitHub Actions workflows\n- Option B: GitLab pipelines\n\nWhich options do you prefer?"
    )
    assert decided((U, "go"), (A, menu), (U, "1) B 2) A")) == [
        "Option B: an npm wrapper around binaries",
        "Option A: GitHub Actions workflows",
    ]


@pytest.mark.parametrize(("reply", "expected"), [("2", ["Create follow-up items in the story"]), ("1", []), ("3", [])])
def test_how_findings_are_dealt_with_is_picked(reply: str, expected: list[str]) -> None:
    """CARRY.1: putting findings off is a decision; fixing them, or being shown them, is the bare work."""
    menu = "Two gaps.\n\nWhat should I do?\n1. Fix them automatically\n2. Create follow-up items in the story\n3. Show me details"
    assert decided((U, "go"), (A, menu), (U, reply)) == expected


WAYS_TOLD = [
    "- **CheckoutBranch**: Rejects refs starting with `-` to prevent option injection",
    "- Resolved conflict in `explain.go` by keeping the features of HEAD",
    "If the fetch fails, it falls back to showing the manual command.",
    "The fallback should generate a safe random UUID with `uuid.NewString()` instead.",
    "The fix moves `saveCache(cache)` to run immediately after `fetchLatestVersion()`.",
    "`currentSession` checks the file `state.json` first, and both paths agree. This is a false positive.",
]


@pytest.mark.parametrize("words", WAYS_TOLD)
def test_a_closing_message_tells_the_way_taken(words: str) -> None:
    """CARRY.1: how the finished work behaves, where that was a choice, and what settled a review, are decisions."""
    assert any(
        each.removeprefix("- ").replace("**", "") in words.replace("**", "") for each in decided((U, "go"), (A, words))
    )


WAYS_BEGUN = [
    "I'll add context-based agent name support so it's automatically included like `session_id`.",
    "The simplest fix is to use the git command line for the check instead of go-git.",
    "It should use `NewSilentError` to indicate failure without duplicate error output",
    "The official pattern for complex tools (like nvm) is to capture the diff of exports before and after",
    "Let me try setting `core.excludesfile` in the test repo's config to simulate a global gitignore",
    "Simplest approach - emit a warning to stderr like other fallbacks in the codebase",
    "I changed `HasChanges()` to use `git status` instead of the library's `Status()`.",
    "Let me fix the three valid issues (comments 1, 2, and 3)",
]


@pytest.mark.parametrize("words", WAYS_BEGUN)
def test_a_way_begun_in_any_plain_form_is_a_decision(words: str) -> None:
    """CARRY.1: an approach that the work follows is a decision, whoever is its grammatical subject."""
    assert decided((U, "go"), (A, words), TOOL_CALL, (A, "Done."), (U, "thanks")) == [words]


@pytest.mark.parametrize(
    "words",
    [
        "If only subagents modified files, this returns true in `run.go`.",
        "Let me add a top-level PR comment instead.",
        "I need to add the `regexp` import back since it is used.",
        "- Uses forward slashes, which will fail on Windows",
    ],
)
def test_how_a_defect_behaves_and_chores_are_no_way(words: str) -> None:
    """CARRY.1: the behaviour of a defect and side work decide nothing, on the way or at the end."""
    assert decided((U, "go"), (A, words), TOOL_CALL, (A, "Done."), (U, "thanks")) == []
    assert decided((U, "go"), (A, words)) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We decided to use Postgres advisory locks for the scheduler.", "decision"),
        ("Decision: keep the old API until 2.0.", "decision"),
        ("We're going with option B because it keeps the schema stable.", "decision"),
        ("We agreed that retries are capped at 5.", "decision"),
        ("Use Postgres advisory locks for the scheduler.", "decision"),
        ("Do not use Postgres advisory locks for the scheduler.", "decision"),
        ("Please remember: the staging database lives on db2.internal:5433.", "fact"),
        ("The port is 5433.", "fact"),
        ("TODO later: migrate the cron jobs to the scheduler.", "open_loop"),
    ],
)
@pytest.mark.parametrize("opening", [True, False])
def test_what_is_said_outright_is_kept(text: str, kind: str, opening: bool) -> None:
    """CARRY.1: who says "we decided", "do not use", "remember" or "the port is" means it to be kept, wherever it stands."""
    before: list[tuple[Origin, str]] = [] if opening else [(U, "look at the repository"), (A, "I looked at it.")]
    found = offered(session(*before, (U, text), (A, "Noted.")))
    assert [(each.kind.value, each.text) for each in found] == [(kind, text)]


@pytest.mark.parametrize(
    "text", ["Have we decided to use Postgres?", "The port is not free.", "Use it.", "I prefer not to say."]
)
def test_what_is_not_said_outright(text: str) -> None:
    """CARRY.1: a question, a state without a value and an order without an object are not kept as facts or decisions."""
    found = offered(session((U, "look"), (A, "I looked at it."), (U, text), (A, "Noted.")))
    assert not [each for each in found if each.kind.value in ("fact", "decision")]
