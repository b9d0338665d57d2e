"""CHECK.2, OUTCOME.2: the mood of a sentence, by its main clause; failure cases 20, 38, 39, 43 and 46."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.language.modality import Mood, hedges, mood, understood
from tallystick.language.sentences import sentences

SHARED = Path(__file__).resolve().parents[2] / "../shared/data"
ASSERTING = (Mood.ASSERTION, Mood.NEGATED_ASSERTION)

SAID = {
    Mood.ASSERTION: """
        All tests pass.
        Pushed.
        Tests pass, but the linter complains
        The host is unreachable.
        it has been up since Sunday, I replaced the PSU
        No, the port is 5433
        Build succeeded.
        Lint is clean.
        Fix verified.
        Merge commit abc1234 is pushed
        **Done!** All 12 tests pass
        When I ran the tests, they passed
        Once the tests passed, I pushed.
        Fixed the test that would fail
        All tests pass and lint is clean
        Adding the lock fixes the race
        Looking at the log, the deploy succeeded
        J’ai corrigé les deux points dans l’UX spec originale.
        Story 6.3 enregistrée dans `/x/y.md`.
        The `&& result != nil` was added in commit c2b0273.
        While our syntax fix was successful
        Now I've successfully reproduced the issue.
        Clean. 0 loose objects, 2 packs (down from 29), no prune-packable garbage.
        Rebased 3 commits onto the updated parent and pushed.
        Created the branch and opened PR #12.
        I've pushed the fix to origin.
        The migration completed without errors.
        Deploy done.
        Deployed to staging; smoke tests are green.
        The build now succeeds.
        All 42 tests passed in 3.2 s.
        Verified that the hook fires.
        Works now.
        It works now.
        Committed as `abc1234`.
        PR merged.
        Merged #175 into main.
        Both test suites are passing.
        Lint and tests pass.
        Formatting and linting pass.
        Everything compiles and all the tests pass.
        I updated the README and removed the stale section.
        Successfully installed `foo`.
        Release 2.1.0 is published.
        The bug is fixed.
        I was able to reproduce the failure.
        Checked the logs: the request timed out.
        Updated the plan to use a switch statement.
        Test results: 12 passed, 0 failed
        ✅ All tests pass
        Done — all tests pass.
        Done! The server is running on port 3000.
        The `foo` function returns nil.
        The default timeout is 30 s.
        Redis can handle 10k connections.
        You're right, the port is 5433.
        Great, that fixed it.
        Since the tests pass, the fix is correct.
        After the rebase, all tests pass.
        Once merged, CI went green.
        I ran the linter twice and it found nothing new in `x`.
        Only one test fails.
        2 tests failed.
        The tests fail.
        Commit `abc1234` has been pushed to `main`.
        Push succeeded.
        Fix applied and verified.
        Note that the hook runs twice.
        I'm sure the fix is in.
        Now everything is committed.
        So the fix is in.
        The sessions are tied to commits, not branches.
        It ran only once.
        Reverted the commit.
        I just checked the docs.
        gemini is `SessionEnd` as well, I just checked the docs.
        The remaining tests are to be fixed.
        Les tests passent.
        La branche est poussée.
        J'ai corrigé le bug et poussé la branche.
        PRD terminé et poli. ✅
        Tous les tests sont verts.
    """,
    Mood.NEGATED_ASSERTION: """
        the PR was **not** merged
        PR #12 was not merged
        No tests failed.
        Nothing was pushed.
        I haven't pushed yet
        Les tests ne passent pas
        The tests don't pass.
        I couldn't reproduce the failure.
        We haven't deployed anything yet.
        The PR hasn't been merged.
        The deploy did **not** succeed.
        The service is no longer running.
        claude stop is not correct, that is at the end of the assistant's turn.
        No test was run.
        Not yet pushed.
        None of the tests were run.
        The migration failed to complete.
        it doesn't mean the stop hook caused it
        La branche n'a pas été poussée.
        Je n'ai rien poussé.
    """,
    Mood.CONDITIONAL: """
        once tests pass we deploy
        If the host is unreachable, stop.
        The badge shows 'asleep' when the host is unreachable
        When the build finishes, we deploy
        Si tu valides, je crée la version interactive
        fail if any unrecognised keys are present.
        I'll push once CI is green.
        If CI passes, the PR is merged automatically.
        The hook runs only if the file exists.
        Unless the lock is held, the write succeeds.
        As soon as it is merged, we can deploy.
        When the tests pass, merge it.
        Provided the tests pass, it ships.
        It fails when the path has spaces.
        Assuming the tests pass, we're done.
        Only if the build is green do we ship.
        In case the push was rejected, rebase.
        Si les tests passent, on déploie.
        Une fois les tests verts, je pousse.
    """,
    Mood.QUESTION: """
        whether the deploy succeeded
        Ready to commit?
        Is the host up?
        I checked if the deploy succeeded
        could this be related
        Tu veux que je suggère les réponses ?
        Did the tests pass?
        Pushed?
        is it merged
        have you pushed the branch
        Should I merge it?
        Why is the deploy failing
        I wonder if the tests pass.
        Do you know if the deploy succeeded
        All good?
        Les tests passent-ils ?
        As-tu poussé la branche ?
        est-ce que le déploiement a réussi
    """,
    Mood.PLAN: """
        The PR will be merged
        Now let's verify that the file has been fixed correctly:
        Let me check…
        Now fix the `StepCount` comment:
        I'm going to push.
        Next, run the migration
        Running the tests now
        We need to push first
        Je vais corriger les deux points
        On passe à la Story 7.2
        Then I'll deploy.
        We're going to merge this tomorrow.
        The branch will be deleted after merging.
        Next step: merge the PR.
        TODO: deploy
        I need to rebase first.
        I still need to push.
        I'd like to merge this today.
        Going to run the tests.
        Let me verify that all tests pass.
        Time to commit.
        I want to make sure the tests pass.
        Changes to be committed:
        The PR has yet to be merged.
        It is about to be deployed.
        Now commit and push.
        Deploying to staging now...
        Je vais pousser la branche.
        Je pousserai la branche demain.
        On va déployer.
    """,
    Mood.INSTRUCTION: """
        Tell me when it's deployed.
        Make sure tests pass
        Check uptime on mini first
        make sure the host is up
        don't stop until tests are green
        Please run the tests
        Tests must pass before merging
        Dis-moi ce qui manque
        Run the tests and push.
        Ensure all tests pass before merging.
        You need to push first.
        Do not merge until tests pass.
        Never force-push to main.
        Always run the linter.
        Please verify the build is green.
        Commit the changes
        push, then check the bugbot comments
        verify that everything is merged
        add a test that checks we are sending the full command
        Use Postgres advisory locks for the scheduler
        Do **not** use Postgres advisory locks for the scheduler
        check whether the staged files are important first
        Let me know whether the deploy succeeded.
        Lance les tests.
        Il faut relancer les tests.
        Vérifiez que les tests passent.
    """,
    Mood.HYPOTHETICAL: """
        it should now be 42
        The branch was presumably deleted after migration
        The PR is ready to merge
        sessions should now only appear under branches where
        I think it works
        It looks like the deploy succeeded.
        That should fix it
        The deploy is expected to succeed
        Les tests devraient passer maintenant
        I'm not sure whether it was merged.
        The tests should pass now.
        This might have fixed it.
        Probably fixed.
        It's probably deployed already.
        I believe the fix is deployed.
        The fix seems to work.
        Looks like all tests pass.
        Everything appears to be merged.
        The deploy is likely done.
        It may have been merged.
        Hopefully that fixes it.
        We could merge it now.
        The tests would have passed.
        The tests are expected to pass.
        I assume it was pushed.
        Ready to deploy.
        The branch is ready for review.
        Expected: all tests pass
        Tests passed, I think.
        The PR can be merged.
        It must have been deleted.
        All tests should be passing.
        I don't think the tests pass.
        As far as I can tell, the tests pass.
        It is possible that the deploy succeeded.
        In theory it is fixed.
        GC should have consolidated those 29 packs and pruned the orphaned loose objects.
        Les tests devraient passer.
        C'est probablement corrigé.
        La PR est prête à être fusionnée.
        Je pense que c'est corrigé.
        Der Test ist nicht bestanden und die CI wurde rot.
        Los tests no pasan para el build.
        テストは全部通りました。
    """,
    Mood.QUOTED: """
        > quoted line
        "All tests pass."
        "The tests pass."
        “All green.”
        « Tout est vert. »
        > All tests pass.
    """,
    Mood.REPORTED: """
        the sub-agent says all green
        CI reports that all jobs succeeded
        According to the agent, the fix is in
        Le sous-agent dit que tout est vert
        CI reports all green.
        The reviewer said the tests pass.
        The agent claims that everything is deployed.
        According to CI, all tests pass.
        The sub-agent reported success.
        You said the tests pass.
        Per the sub-agent, lint is clean.
        The summary says it was merged.
        He told me it was deployed.
        The agent reports: all tests pass
        It is said to be fixed.
        Selon l'agent, tout est vert.
    """,
}
EXAMPLES = [(said, line.strip()) for said, lines in SAID.items() for line in lines.strip().split("\n")]


@pytest.mark.parametrize(("said", "sentence"), EXAMPLES, ids=[sentence[:40] for _, sentence in EXAMPLES])
def test_the_mood_of_a_sentence(said: Mood, sentence: str) -> None:
    """CHECK.2, OUTCOME.2: plans, questions, hedges, conditionals, orders, negations, quotations and reports are told apart."""
    assert mood(sentence) is said


UNQUOTED = [(said, sentence) for said, sentence in EXAMPLES if said is not Mood.QUOTED]
PLAIN = [s for said, s in EXAMPLES if said in ASSERTING and s.endswith(".") and s.isascii() and "," not in s]


@pytest.mark.parametrize(("said", "sentence"), UNQUOTED, ids=[sentence[:40] for _, sentence in UNQUOTED])
def test_markdown_never_hides_the_words(said: Mood, sentence: str) -> None:
    """CHECK.2: emphasis, a list marker, a check mark, surrounding blanks and curly apostrophes change no mood."""
    plain = sentence.strip("*✅ ").replace("**", "")
    emphasised = " ".join(f"**{word}**" if word.isalpha() else word for word in plain.split(" "))
    for form in (
        f"**{plain}**",
        f"*{plain}*",
        f"  {sentence}\n",
        sentence.replace("'", "’"),
        f"✅ {plain}",
        emphasised,
    ):
        assert mood(form) is said, form


@pytest.mark.parametrize("sentence", PLAIN)
def test_a_clause_that_follows_changes_nothing(sentence: str) -> None:
    """CHECK.2: the first main clause decides; what another clause or a parenthesis adds does not unsay it."""
    expected = mood(sentence)
    for more in (", but the deploy will need approval.", "; next I might rebase.", " (it should stay that way)."):
        assert mood(sentence[:-1] + more) is expected, more


@pytest.mark.parametrize(
    "sentence", ["Tests pass.", "The PR was merged.", "The branch is not merged.", "Nothing was pushed."]
)
@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ("> {}", Mood.QUOTED),
        ('"{}"', Mood.QUOTED),
        ("“{}”", Mood.QUOTED),
        ("**“{}”**", Mood.QUOTED),
        ("- [ ] {}", Mood.PLAN),
        ("If {}", Mood.CONDITIONAL),
        ("Perhaps {}", Mood.HYPOTHETICAL),
        ("I think {}", Mood.HYPOTHETICAL),
        ("The agent says {}", Mood.REPORTED),
        ("According to CI, {}", Mood.REPORTED),
        ("Make sure {}", Mood.INSTRUCTION),
        ("Let me check that {}", Mood.PLAN),
        ("I'll see to it that {}", Mood.PLAN),
        ("Is it true that {}", Mood.QUESTION),
        ("Can you confirm: {}", Mood.QUESTION),
    ],
)
def test_a_frame_takes_the_assertion_away(frame: str, said: Mood, sentence: str) -> None:
    """OUTCOME.2: whatever is said inside quotation marks, an order, a plan, a condition, a hedge or a report is not asserted."""
    inner = sentence if frame[-1] != "}" or frame[0] in ">-" else sentence[:1].lower() + sentence[1:]
    assert mood(frame.format(inner)) in (said, *((Mood.CONDITIONAL,) if said is Mood.INSTRUCTION else ()))


@pytest.mark.parametrize(
    "sentence",
    [
        "Der Test ist nicht bestanden und die CI wurde rot.",
        "Los tests no pasan para el build.",
        "テストは全部通りました。",
        "Все тесты прошли.",
    ],
)
def test_another_language_is_not_guessed(sentence: str) -> None:
    """CHECK.2, failure case 46: what is not understood is said to be not understood and asserts nothing."""
    assert not understood(sentence)
    assert mood(sentence) not in ASSERTING


@pytest.mark.parametrize(
    "sentence", ["Pushed.", "Tests OK", "`npm run lint`: 0 errors", "Les tests passent.", "42", "✅", ""]
)
def test_fragments_and_french_are_understood(sentence: str) -> None:
    """CHECK.2: words of code alone are no foreign language, and French is read."""
    assert understood(sentence)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("It should presumably work.", ("should", "presumably")),
        ("I think it might be ready to merge.", ("i think", "might", "ready to")),
        ("It seems fine and looks like a fix.", ("seems", "looks")),
        ("In May 5 tests ran.", ()),
        ("All tests pass.", ()),
        ("Les tests devraient peut-être passer.", ("devraient", "peut-être")),
    ],
)
def test_hedges_are_named_in_order(sentence: str, expected: tuple[str, ...]) -> None:
    """OUTCOME.2: the words that weaken a sentence, in order."""
    assert hedges(sentence) == expected


@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.is_dir(), reason="shared data is absent")
def test_the_development_labels_hold() -> None:
    """CHECK.2, OUTCOME.2: labelled claims and assertions of the development set assert; its hedges and conditionals do not."""
    gold = SHARED / "gold.jsonl"
    rows = [json.loads(line) for line in gold.read_text(encoding="utf-8").splitlines() if line.strip()]
    wrong = [
        row["text"]
        for row in rows
        if row["kind"] in ("claim", "assertion", "hedge", "conditional")
        and (mood(row["text"]) in ASSERTING) != (row["kind"] in ("claim", "assertion"))
    ]
    assert wrong == []


WORDS = st.sampled_from(
    'if when once should will the tests pass not no never I think let me make sure is ? . , : ; — > " ` ( ) ** says '
    "that to be ready whether "
    "si je vais ne pas devrait 's n't don't [x] - 42 src/a.py été 通 \ud800".split(" ")
)


@settings(max_examples=400, deadline=None)
@given(st.lists(WORDS, max_size=24).map(" ".join) | st.text(max_size=60))
def test_any_text_has_a_mood(text: str) -> None:
    """CHECK.2: whatever is written, one mood is given, always the same one, and blanks around it change nothing."""
    said = mood(text)
    assert isinstance(said, Mood)
    assert mood(f" {text}\n") is said
    assert isinstance(hedges(text), tuple)


@pytest.mark.parametrize("piece", ["if ", "(", "`", "a", "once upon ", "A=b=c ", ", and ", "—"])
def test_no_sentence_is_slow(piece: str) -> None:
    """EVID.10: a megabyte in one sentence is read in a moment, whatever it repeats."""
    text = piece * (1_000_000 // len(piece))
    begin = time.process_time()
    mood(text)
    hedges(text)
    assert time.process_time() - begin < 10


@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.is_dir(), reason="shared data is absent")
def test_real_sessions_are_read_at_speed() -> None:
    """EVID.10: sentences and moods of what assistants wrote in real sessions, a megabyte a second at least."""
    texts: list[str] = []
    for path in sorted((SHARED / "transcripts/claude-code").rglob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            if '"type":"text"' in line:
                try:
                    content = json.loads(line)["message"]["content"]
                except (ValueError, KeyError, TypeError):
                    continue
                texts += [block["text"] for block in content if isinstance(block, dict) and block.get("type") == "text"]
    size = sum(map(len, texts))
    begin = time.process_time()
    moods = [mood(sentence.text) for text in texts for sentence in sentences(text) if sentence.block != "code"]
    assert size > 100_000
    assert len(set(moods)) == len(Mood)
    assert time.process_time() - begin < max(1.0, size / 500_000)
