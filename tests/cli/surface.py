"""The command line as a program calls it: arguments in; exit code, stdout and stderr out, in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tallystick.cli.starting import run
from tests.sessions import CLOCK


class Done(NamedTuple):
    """What one call came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on stdout; fails where there is anything else."""
        assert self.out.endswith("\n")
        assert self.out.count("\n") == 1
        return json.loads(self.out)


class Tally:
    """One trail in a folder of its own, the project's folder that one stands in, and a fixed clock."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.trail = folder / "trail"
        self.state = folder / "state"
        self.project = folder / "shop"
        self.project.mkdir()
        self._patch = patch
        self._capture = capture
        for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "TALLY_LOCK_TIMEOUT"):
            patch.delenv(name, raising=False)
        self.setenv({"HOME": str(folder / "home"), "TALLY_TRAIL": str(self.trail), "TALLY_STATE": str(self.state)})
        self.setenv({"TALLY_CLOCK": CLOCK, "TALLY_PERSON": "ada", "NO_COLOR": "1"})
        patch.chdir(self.project)

    def setenv(self, values: Mapping[str, str]) -> None:
        """Set variables of the environment."""
        for name, value in values.items():
            self._patch.setenv(name, value)

    def stand(self, folder: Path) -> None:
        """Go to a folder."""
        self._patch.chdir(folder)

    def clock(self, instant: int) -> None:
        """Set what the clock reads, microseconds UTC."""
        self.setenv({"TALLY_CLOCK": str(instant)})

    def __call__(self, *arguments: object) -> Done:
        """Call it as a person does."""
        self._capture.readouterr()
        code = run([str(each) for each in arguments])
        out, err = self._capture.readouterr()
        assert "Traceback" not in err
        return Done(code, out, err)

    def json(self, *arguments: object, code: int = 0) -> Any:
        """Call it with ``--json`` and give the document; it must end with ``code`` and, where that is 0, silently."""
        done = self(arguments[0], "--json", *arguments[1:])
        assert done.code == code, (arguments, done.err)
        if code == 0:
            assert done.err == ""
        return done.json

    def refused(self, *arguments: object, code: int = 2) -> str:
        """Call it in vain: nothing on stdout, and one line on stderr, which is given back."""
        done = self(*arguments)
        assert (done.code, done.out) == (code, ""), (arguments, done)
        assert done.err.startswith("tally: ")
        assert done.err.count("\n") == 1
        return done.err

    def sound(self) -> bool:
        """Whether the trail is, by its own account."""
        return bool(self.json("verify")["sound"])

    def remember(self, text: str, *arguments: object) -> str:
        """Keep a claim and give its id."""
        return str(self.json("remember", text, *arguments)["id"])

    def believed(self, *arguments: object) -> list[dict[str, Any]]:
        """The believed set of everyone, or as asked."""
        items = self.json("replay", "--limit", "10000", *(arguments or ("--holder", "*")))["items"]
        assert isinstance(items, list)
        return items

    def texts(self, *arguments: object) -> list[str]:
        """The words of what is believed."""
        return [item["text"] for item in self.believed(*arguments)]
