"""Splits a shell command line into its simple commands, in one pass that no input can make quadratic (OUTCOME.4).

It knows quotes, escapes, comments, substitutions, redirections, here-documents and the operators between commands.
It expands nothing and runs nothing: words come out as written, without their quotes.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_COMMAND_CHARS = 300_000
"""A longer command is read up to here."""
MAX_SIMPLE_COMMANDS = 300
"""Later commands of one line are not told apart."""
MAX_WORDS = 1_000
"""Words kept of one simple command; later ones are read over."""
MAX_BODY_CHARS = 100_000
_MAX_DEPTH = 10

_PLAIN = re.compile(r"[^\s'\"\\;&|()<>`$]+")
_BLANK = re.compile(r"[ \t\r]+")
_IN_DOUBLE = re.compile(r"[^\"\\$`]+")
_IN_SUBSTITUTION = re.compile(r"[^'\"\\()<`\n]+")
_HERE = re.compile(r"\d?<<(-?)[ \t]{0,8}(?:'([^'\n]{1,80})'|\"([^\"\n]{1,80})\"|\\?([\w.!@%+-]{1,80}))")
_REDIRECT = re.compile(r"(?:\d{0,2}|&)(>>|>\||>&|<&|<>|<<<|>|<)")
_OPERATOR = re.compile(r"&&|\|\||\|&|;;|[;|&\n()]")


class SimpleCommand(NamedTuple):
    """One simple command as written: its words, and what stands around it."""

    words: tuple[str, ...]
    before: str
    """Operator in front: ``""`` for the first, else ``&&``, ``||``, ``;``, ``|`` or ``&``."""
    after: str
    """Operator behind; ``|`` hides the exit status, ``||`` catches it, ``;`` and ``&`` leave it to what follows."""
    writes: tuple[str, ...] = ()
    """Files that ``>`` or ``>|`` creates."""
    appends: tuple[str, ...] = ()
    """Files that ``>>`` adds to."""
    body: str = ""
    """The here-document fed to it, cut."""


def simple_commands(line: str) -> tuple[SimpleCommand, ...]:
    """The simple commands of ``line`` in order. Unbalanced quotes and brackets end with the text; nothing is raised."""
    return _Parser(line).commands()


class _Parser:
    """One pass: every method moves ``at`` forward and looks at each character a bounded number of times."""

    def __init__(self, text: str) -> None:
        self.text = text[:MAX_COMMAND_CHARS]
        self.end = len(self.text)
        self.at = 0
        self.pending: list[tuple[str, bool]] = []
        self.done: list[SimpleCommand] = []
        self.owner = 0
        self.start("")

    def start(self, before: str) -> None:
        self.words: list[str] = []
        self.writes: list[str] = []
        self.appends: list[str] = []
        self.before = before

    def finish(self, operator: str) -> None:
        """Close the command read so far, with the operator that ends it."""
        if self.words or self.writes or self.appends:
            command = SimpleCommand(tuple(self.words), self.before, operator, tuple(self.writes), tuple(self.appends))
            self.done.append(command)
            self.start(operator)
        elif self.before in ("", ";"):
            self.before = operator

    def commands(self) -> tuple[SimpleCommand, ...]:
        while self.at < self.end and len(self.done) < MAX_SIMPLE_COMMANDS:
            self.step()
        self.finish("")
        return tuple(self.done)

    def step(self) -> None:
        """Take in one blank run, operator, redirection, comment or word."""
        text = self.text
        char = text[self.at]
        if char in " \t\r":
            blank = _BLANK.match(text, self.at)
            self.at = blank.end() if blank else self.at + 1
        elif char in "<>&0123456789" and (here := _HERE.match(text, self.at)):
            self.announce(here)
        elif char in "<>&0123456789" and (redirect := _REDIRECT.match(text, self.at)):
            self.redirect(redirect)
        elif char in ";|&\n()" and (operator := _OPERATOR.match(text, self.at)):
            self.at = operator.end()
            self.operator(operator.group())
        elif char == "#":
            line_end = text.find("\n", self.at)
            self.at = self.end if line_end < 0 else line_end
        else:
            word = self.word()
            if len(self.words) < MAX_WORDS:
                self.words.append(word)

    def announce(self, here: re.Match[str]) -> None:
        self.at = here.end()
        self.pending.append((here.group(2) or here.group(3) or here.group(4), bool(here.group(1))))
        self.owner = len(self.done)

    def redirect(self, redirect: re.Match[str]) -> None:
        self.at = redirect.end()
        blank = _BLANK.match(self.text, self.at)
        if blank:
            self.at = blank.end()
        target = self.word()
        if not target or target.isdigit() or target.startswith(("/dev/", "&", "-")):
            return
        if redirect.group(1) in (">", ">|"):
            self.writes.append(target)
        elif redirect.group(1) == ">>":
            self.appends.append(target)

    def operator(self, operator: str) -> None:
        if operator == "\n" and self.pending:
            self.finish(";")
            body = self.bodies()
            if self.owner < len(self.done):
                self.done[self.owner] = self.done[self.owner]._replace(body=body)
            return
        self.finish({"|&": "|", ";;": ";", "\n": ";", "(": ";", ")": ";"}.get(operator, operator))

    def bodies(self) -> str:
        """Move over the here-documents announced so far, which begin at ``at``; the text of the last, cut."""
        body = ""
        for mark, tabs in self.pending:
            start = self.at
            stop, self.at = _body_end(self.text, start, mark, tabs)
            body = self.text[start : min(stop, start + MAX_BODY_CHARS)]
        self.pending.clear()
        return body

    def word(self) -> str:
        """The next word, joined over its quoted parts; ``at`` always moves."""
        parts: list[str] = []
        text, first = self.text, self.at
        while self.at < self.end:
            plain = _PLAIN.match(text, self.at)
            if plain:
                parts.append(plain.group())
                self.at = plain.end()
                continue
            char = text[self.at]
            if char == "'":
                parts.append(self.single(1))
            elif char == '"':
                parts.append(self.double(0))
            elif char == "\\":
                following = text[self.at + 1 : self.at + 2]
                parts.append("" if following == "\n" else following)
                self.at += 2
            elif char in "$`":
                parts.append(self.substitution(0))
            else:
                break
        if self.at == first:
            self.at += 1
        return "".join(parts)

    def single(self, opening: int) -> str:
        """A single-quoted part whose opening mark is ``opening`` characters long."""
        start = self.at + opening
        close = self.text.find("'", start)
        close = self.end if close < 0 else close
        self.at = close + 1
        return self.text[start:close]

    def double(self, depth: int) -> str:
        """A double-quoted part; ``at`` is on its opening quote."""
        parts: list[str] = []
        text = self.text
        self.at += 1
        while self.at < self.end:
            run = _IN_DOUBLE.match(text, self.at)
            if run:
                parts.append(run.group())
                self.at = run.end()
                continue
            char = text[self.at]
            if char == '"':
                self.at += 1
                break
            if char == "\\":
                following = text[self.at + 1 : self.at + 2]
                parts.append(following if following in ('"', "\\", "$", "`") else "\\" + following)
                self.at += 2
            else:
                parts.append(self.substitution(depth + 1))
        return "".join(parts)

    def substitution(self, depth: int) -> str:
        """``$(…)``, back-ticks or a lone ``$`` as written; what stands inside is moved over, not read."""
        text, start = self.text, self.at
        if text[start] == "`":
            close = text.find("`", start + 1)
            self.at = self.end if close < 0 else close + 1
        elif text.startswith("$'", start) and depth == 0:
            return self.single(2)
        elif text.startswith("$(", start):
            self.at += 2
            self.close_parenthesis(depth)
        else:
            self.at += 1
        return text[start : self.at]

    def close_parenthesis(self, depth: int) -> None:
        """Move behind the ``)`` that closes what was opened just before ``at``."""
        text = self.text
        opened = 1
        outer, self.pending = self.pending, []
        while self.at < self.end and opened:
            run = _IN_SUBSTITUTION.match(text, self.at)
            if run:
                self.at = run.end()
                continue
            char = text[self.at]
            if char == "'":
                self.single(1)
            elif char == '"' and depth < _MAX_DEPTH:
                self.double(depth + 1)
            elif char == "\\":
                self.at += 2
            elif char == "<" and (here := _HERE.match(text, self.at)):
                self.at = here.end()
                self.pending.append((here.group(2) or here.group(3) or here.group(4), bool(here.group(1))))
            else:
                self.at += 1
                opened += (char == "(") - (char == ")")
                if char == "\n" and self.pending:
                    self.bodies()
        self.pending = outer


def _body_end(text: str, start: int, mark: str, tabs: bool) -> tuple[int, int]:
    """Where the here-document that begins at ``start`` ends, and where reading goes on behind its mark."""
    at = start
    while (found := text.find(mark, at)) >= 0:
        lead = found
        while tabs and lead > at and text[lead - 1] == "\t":
            lead -= 1
        at = found + len(mark)
        if (lead == start or text[lead - 1] == "\n") and text[at : at + 1] in ("", "\n", "\r", ")"):
            return lead, at
    return len(text), len(text)
