"""How a shell command is read through its wrapping (OUTCOME.4)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.verifiers.commands import Action, CommandKind, actions
from tallystick.verifiers.shell import simple_commands

K = CommandKind


def kinds(command: str) -> list[CommandKind]:
    return [action.kind for action in actions(command)]


def the(command: str, kind: CommandKind) -> Action:
    found = [action for action in actions(command) if action.kind is kind]
    assert len(found) == 1, (command, actions(command))
    return found[0]


WRAPPINGS = [
    "{}",
    "cd pkg && {}",
    "(cd pkg; {})",
    "FOO=1 BAR='a b' {}",
    "sudo -u deploy {}",
    "timeout 30 {}",
    "timeout -s KILL 30s {}",
    "time nice -n 10 {}",
    "env A=b {}",
    "export A=1\n{}",
    'bash -lc "{}"',
    "sh -c '{}'",
    "set -e; {}",
    "if true; then {}; fi",
    "for i in 1 2; do {}; done",
    "docker compose exec -T web {}",
    "docker exec -it box {}",
    "nohup {} &",
    "echo start && {} 2>&1 | tail -20",
    "true || {}",
    "{} > out.txt 2>&1",
    "{} # and then some",
    "powershell.exe -NoProfile -Command {}",
]


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("pytest -q tests/a.py", K.TEST),
        ("go test ./a ./b", K.TEST),
        ("npm run test:ci", K.TEST),
        ("make -C sub check", K.TEST),
        ("python -m pytest", K.TEST),
        ("git -C y -c a=b commit -m x", K.COMMIT),
        ("git push origin main", K.PUSH),
        ("cargo clippy --all", K.LINT),
        ("gh pr merge 12", K.MERGE),
        ("rm -rf build", K.DELETE),
    ],
)
def test_wrapping_is_seen_through(wrapping: str, command: str, kind: CommandKind) -> None:
    """OUTCOME.4: whatever a command is wrapped in, what it does is read."""
    assert kind in kinds(wrapping.format(command))


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("uv run pytest a b", K.TEST),
        ("uv run --with x pytest", K.TEST),
        ("poetry run python -m pytest", K.TEST),
        ("bundle exec rspec spec/a_spec.rb", K.TEST),
        ("npx -y jest", K.TEST),
        ("pnpm --filter web exec vitest run", K.TEST),
        ("python -m coverage run -m pytest", K.TEST),
        ("python manage.py test app", K.TEST),
        ("./tests/runtests.py admin", K.TEST),
        ("./gradlew clean test", K.TEST),
        ("mise run lint:fix", K.LINT),
        ("npm run typecheck", K.TYPECHECK),
        ("ruff check .", K.LINT),
        ("ruff format .", K.FORMAT),
        ("tsc --noEmit", K.TYPECHECK),
        ("go build ./...", K.BUILD),
        ("cmake --build out", K.BUILD),
        ("gh pr create --title x", K.PULL_REQUEST),
        ("gh release create v1", K.PUBLISH),
        ("twine upload dist/*", K.PUBLISH),
        ("kubectl apply -f x.yaml", K.DEPLOY),
        ("terraform apply", K.DEPLOY),
        ("alembic upgrade head", K.MIGRATE),
        ("python manage.py migrate", K.MIGRATE),
        ("pip3 install x", K.INSTALL),
        ("apt-get install -y x", K.INSTALL),
        ("sed -i 's/a/b/' src/x.py", K.EDIT),
        ("echo x >> notes.md", K.EDIT),
        ("cat > a.py <<'E'\nx\nE", K.CREATE),
        ("git checkout -- a.go", K.UNDO),
        ("git rebase origin/main", K.REBASE),
        ("git rebase --abort", K.UNDO),
        ("git merge --continue", K.MERGE),
        ("git rm old.py", K.DELETE),
        ("find . -name x | xargs rm -f", K.DELETE),
    ],
)
def test_kind_of(command: str, kind: CommandKind) -> None:
    """OUTCOME.4: programs, task runners and subcommands say what a command does."""
    assert kind in kinds(command)


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn pytest .",
        "rg 'go test' docs",
        "cat pytest.ini",
        "ls tests",
        "git log --grep=test",
        "echo pytest",
        "echo 'npm test && git push'",
        "which jest",
        "git show HEAD",
        "git diff -- tests/test_a.py",
        "sed -n 1,20p test_a.py",
        "head -5 build.log",
        "printf '%s' \"$(cat tests.txt)\"",
        "# pytest",
        "git commit -m 'run pytest and git push' --dry-run | cat",
    ],
)
def test_mention_is_no_run(command: str) -> None:
    """OUTCOME.4: naming a test runner or a push is not running it."""
    found = [a for a in actions(command) if a.kind in (K.TEST, K.PUSH, K.BUILD) and not a.vacuous]
    assert found == []


def test_message_with_quotes_and_here_document_is_no_command() -> None:
    """OUTCOME.4: what stands in a commit message stays in it."""
    message = "$(cat <<'EOF'\nfix: don't \"push\" && rm -rf /\n\npytest)\nEOF\n)"
    command = f'git add -A && git commit -m "{message}" && git push | tail'
    assert kinds(command) == [K.STAGE, K.COMMIT, K.PUSH, K.READ]


def test_here_document_bodies_are_read_past() -> None:
    """OUTCOME.4: a here-document is input, and the rest of its line and the lines after it are commands."""
    assert kinds("cat > a.sh <<EOF && git add a.sh\ngit push\nEOF\nmake test") == [K.READ, K.CREATE, K.STAGE, K.TEST]


def test_patch_names_its_files() -> None:
    """OUTCOME.1: a patch fed to a shell edits the files it names."""
    command = "apply_patch <<'P'\n*** Begin Patch\n*** Update File: a/b.md\n@@\n*** Add File: c.md\n*** End Patch\nP"
    assert the(command, K.EDIT).targets == ("a/b.md", "c.md")


def test_script_that_writes_edits() -> None:
    """OUTCOME.1: a script in a here-document that writes a file edits it."""
    command = "python3 - <<'PY'\nfrom pathlib import Path\nPath('docs/x.md').write_text('a')\nPY"
    assert the(command, K.EDIT).targets == ("docs/x.md",)


def test_hidden_status() -> None:
    """OUTCOME.4, pitfall 40: a pipe, ``||`` and a following command hide an exit status; ``&&`` does not."""
    assert the("pytest | tail", K.TEST).hidden
    assert the("pytest || true", K.TEST).hidden
    assert the("pytest; echo done", K.TEST).hidden
    assert the("bash -c 'pytest' | cat", K.TEST).hidden
    assert not the("pytest && echo done", K.TEST).hidden
    assert not the("cd x; pytest", K.TEST).hidden


def test_targets_and_selection() -> None:
    """OUTCOME.1: the scope of a run is what it names and what narrows it."""
    run = the("cd pkg && go test ./a ./b -run TestX -v", K.TEST)
    assert run.targets == ("./a", "./b")
    assert run.selection == "TestX"
    assert run.tree == "pkg"
    assert the("git -C y commit -m 'a message'", K.COMMIT).targets == ()
    assert the("gh pr merge 12 --squash", K.MERGE).targets == ("12",)


def test_pretending_is_vacuous() -> None:
    """OUTCOME.3: a dry run, a help text or a collection shows nothing."""
    assert the("git push --dry-run", K.PUSH).vacuous
    assert the("pytest --collect-only", K.TEST).vacuous
    assert the("npm publish --help", K.PUBLISH).vacuous
    assert not the("pytest -q", K.TEST).vacuous


def test_same_run_has_same_identity() -> None:
    """OUTCOME.1: pipes and folders do not make another run of it, targets do."""
    assert the("cd x && pytest a | tail", K.TEST).identity == the("pytest a", K.TEST).identity
    assert the("pytest a", K.TEST).identity != the("pytest b", K.TEST).identity


@given(st.text(max_size=400))
def test_any_text_is_read(command: str) -> None:
    """OUTCOME.4: no command raises, and every action has a program and bounded targets."""
    for action in actions(command):
        assert action.program
        assert len(action.targets) <= 16
        assert all(len(target) <= 160 for target in action.targets)


@given(
    st.lists(st.sampled_from(["pytest", "&&", "|", ";", "'", '"', "$(", ")", "<<A", "\n", "A", "\\", "`", "#", ">"]))
)
def test_any_jumble_of_shell_is_read(parts: list[str]) -> None:
    """EVID.10: unbalanced quotes, brackets and here-documents end with the text."""
    simple = simple_commands(" ".join(parts))
    assert sum(len(command.words) for command in simple) <= len(parts) + 2


@pytest.mark.parametrize(
    "text",
    [
        "'" * 1_000_001,
        '"$(' * 330_000,
        "$(" * 500_000,
        "(" * 1_000_000,
        "<<A " * 250_000,
        "cat <<A\n" * 120_000,
        "cat <<AB\n" + "AB" * 500_000,
        "cat <<-A\n" + "\tA" * 500_000,
        "A=b=c " * 160_000,
        "sudo -u x " * 100_000,
        "bash -c " * 120_000,
        "\\" * 1_000_000,
        "`" * 999_999,
        "x;" * 500_000,
        "> " * 500_000,
        "1" * 1_000_000,
        "git -C " * 140_000,
        "sed -i " + "/" * 1_000_000,
        "python -m " * 100_000,
    ],
    ids=lambda text: repr(text[:10]),
)
def test_linear_in_the_worst_case(text: str) -> None:
    """EVID.10: a megabyte of hostile shell is read in about the time of plain words."""
    started = time.process_time()
    actions(text)
    assert time.process_time() - started < 4.0
