"""Collect the effects of each command of a shell script. Pure.

Scripts within scripts are followed ten levels deep. Wrappers such as `sudo` and `xargs` are listed
in `adoption/script_effects/launchers.py`. Words that are evaluated once more (arithmetic, `${…}`)
are found in `adoption/script_effects/shell_variables.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from pulsus.adoption.script_effects import launchers, read_programs, shell_variables
from pulsus.adoption.script_effects.shell_effects import ScriptFacts, Where
from pulsus.adoption.script_effects.shell_tree import read_commands
from pulsus.adoption.script_effects.shell_values import (
    BRACES,
    HOLE,
    ScriptRedirect,
    ScriptWord,
    SimpleCommand,
    UnfollowedText,
    option_index,
    with_variables,
)  # fmt: skip

_NOWHERE = re.compile(r"/dev/(?:null|stderr|stdout|tty|fd/[12])\Z")
_MAX_DEPTH = 10
_SYSTEM = re.compile(r"/(?:usr/(?:local/)?)?s?bin/[^/]+\Z")


def collect_facts(script: str, shell: str) -> ScriptFacts:
    """Return the effects of a script for that shell."""
    found = ScriptFacts(shell)
    _Walk(found).text(script, 1)
    return found


def add_script(text: str, line: int, found: ScriptFacts) -> None:
    """Add the effects of a text that a shell runs."""
    _Walk(found).text(text, line)


def add_command(simple: SimpleCommand, found: ScriptFacts) -> None:
    """Add the effects of a command that a program starts."""
    _Walk(found).started(simple)


class _Walk:
    def __init__(self, found: ScriptFacts) -> None:
        self._found = found
        self._functions: frozenset[str] = frozenset()
        self._depth = 0

    def text(self, script: str, line: int) -> None:
        """Add the commands of a script, or of a text that a command runs as one."""
        self._depth += 1
        try:
            if self._depth > _MAX_DEPTH:
                raise UnfollowedText(line, "scripts within scripts")
            simple, functions = read_commands(script, line)
        except UnfollowedText as failure:
            self._add_doubt(failure.line, f"its text cannot be followed here ({failure})")
            simple, functions = [], frozenset()
        self._functions |= functions
        for each in simple:
            self._add_simple(each)
        self._depth -= 1

    def started(self, simple: SimpleCommand) -> None:
        """Add a command that a program starts."""
        self._add_call(simple, simple.words, by_shell=False)

    def _add_simple(self, simple: SimpleCommand) -> None:
        for name, value in simple.assigned:
            self._add_variable(simple.line, name, value.shape)
            if shell_variables.is_run_later(value):
                self._add_doubt(simple.line, f"{value.raw} is text that may be run later")
        for redirect in simple.redirects:
            self._add_redirect(simple.line, redirect)
        if simple.words:
            self._add_call(simple, simple.words)

    def _add_variable(self, line: int, name: str, shape: str) -> None:
        if launchers.changes_programs(name, shape):
            self._add_doubt(line, f"it sets {name}, so other programs start")

    def _add_redirect(self, line: int, redirect: ScriptRedirect) -> None:
        target = redirect.target
        if target is None or redirect.op == "<<<":
            return
        shape = target.shape
        if shape.startswith(("/dev/tcp/", "/dev/udp/")):
            self._add_change(line, f"it talks to {target.raw}")
            self._add_host(line, shape.split("/")[3], target)
        elif redirect.op in (">&", "<&") and (re.fullmatch(r"\d*-?", shape) or shape == HOLE):
            return
        elif redirect.op not in ("<", "<&"):
            self._add_written_file(line, target)

    def _add_written_file(self, line: int, target: ScriptWord) -> None:
        text = target.text
        if _NOWHERE.match(text or ""):
            return
        self._add_change(line, f"it writes to {target.raw}")
        if text is None or target.splits or re.search(r"[*?\[{,\s]", text):
            self._add_doubt(
                line, f"the file that {target.raw} is only shows when it is written to", "paths"
            )
        elif text:
            self._found.paths.add(text)

    def _add_host(self, line: int, shape: str, word: ScriptWord) -> None:
        if HOLE in shape or not shape:
            self._add_doubt(line, f"the host in {word.raw} only shows when it runs", "hosts")
        else:
            self._found.hosts.add(shape)

    def _add_call(
        self, simple: SimpleCommand, words: Sequence[ScriptWord], *, by_shell: bool = True
    ) -> None:
        """Add one command. A program (`by_shell` is False) knows no functions and builtins."""
        name, rest, line = words[0].text, words[1:], words[0].line
        if not name or re.search(r"[*?{]", name):
            self._add_doubt(
                line, f"what {words[0].raw or 'an empty word'} starts only shows when it runs"
            )
            return
        base = name.rpartition("/")[2] if _SYSTEM.match(name) else name
        if by_shell and name in self._functions:
            for word in filter(shell_variables.is_run_later, rest):
                self._add_doubt(line, f"{word.raw} is text that may be run later")
            return
        if base in _SPECIAL:
            _SPECIAL[base](self, simple, words)
        elif by_shell and name in launchers.BUILTINS:
            self._add_builtin(line, name, rest)
        else:
            if base not in launchers.OWN:
                self._add_program(line, name)
            self._add_started(simple, base, rest)

    def _add_builtin(self, line: int, name: str, rest: Sequence[ScriptWord]) -> None:
        """Add a builtin: the variables that it sets, and the words that it evaluates."""
        for word in rest:
            variable, sign, value = word.shape.partition("=")
            if sign:
                self._add_variable(line, variable.removesuffix("+"), value)
        for word in shell_variables.variable_words(name, rest):
            if name not in (*shell_variables.TESTS, "unset", "export") and "=" not in word.raw:
                self._add_variable(line, word.shape, f"{HOLE}.")
        for word in rest if name == BRACES else ():
            if assignment := shell_variables.assignment_in_braces(word):
                self._add_variable(line, *assignment)
        if name == "unset" and any(w.shape in self._functions for w in rest):
            self._add_doubt(line, "a function is taken back: its name means a program then")
        for word, why in shell_variables.find_doubts(name, rest):
            self._add_doubt(word.line, why)

    def _add_started(self, simple: SimpleCommand, base: str, rest: Sequence[ScriptWord]) -> None:
        line = simple.line
        if base in launchers.WRAPPERS:
            self._add_wrapped(simple, base, rest)
        elif base in launchers.SHELLS:
            self._add_shell(simple, rest)
        elif read_programs.is_read(base, rest):
            return
        elif launchers.INTERPRETERS.fullmatch(base):
            self._add_doubt(line, f"{base} runs code of its own")
        elif launchers.OTHERS.fullmatch(base):
            self._add_doubt(line, f"{base} runs commands elsewhere or later")
        else:
            self._add_change(line, f"{base} may change something")
            if not read_programs.is_followed(base, rest):
                self._add_doubt(line, f"what {base}'s own script writes or starts is not followed")

    def _add_program(self, line: int, name: str) -> None:
        if re.search(r"[,\s\"'{}:]", name):
            self._add_doubt(line, f"the program {name!r} has a name that cannot be declared")
        else:
            self._found.commands.add(name)

    def _add_wrapped(self, simple: SimpleCommand, base: str, rest: Sequence[ScriptWord]) -> None:
        """Add the command in the words of `sudo`, `env`, `timeout`, `xargs` and others."""
        if base in launchers.RAISES:
            self._add_change(simple.line, f"{base} may change something")
        if base == "command" and rest and rest[0].shape in ("-v", "-V"):
            return
        words, doubt = launchers.split_wrapper(base, rest)
        if doubt:
            self._add_doubt(simple.line, doubt)
        if words and base == "xargs":
            words.append(ScriptWord(simple.line, HOLE, "its input", splits=True))
        if words:
            self._add_call(simple, words, by_shell=base == "builtin")

    def _add_shell(self, simple: SimpleCommand, rest: Sequence[ScriptWord]) -> None:
        line = simple.line
        options = [w for w in rest if w.shape.startswith("-") and not w.shape.startswith("--")]
        if any(word.shape.endswith("c") for word in options):
            self._add_script_words(line, rest[option_index(rest, "c") + 1 :][:1], "a shell")
        elif any(not w.shape.startswith("-") and w.shape != "-" for w in rest):
            self._add_doubt(line, "a shell runs another file")
        elif simple.here is not None:
            self.text(with_variables(simple.here), line + 1)
            if HOLE in simple.here:
                self._add_doubt(line, "what a shell is given only shows when it runs")
        else:
            self._add_doubt(line, "what a shell is given only shows when it runs")

    def _add_script_words(self, line: int, words: Sequence[ScriptWord], what: str) -> None:
        """Add the commands in words that are run as a script, and a doubt about unknown words."""
        if not words or any(w.splits or w.text is None for w in words):
            self._add_doubt(line, f"the words that {what} takes only show when it runs")
        if words:
            self.text(with_variables(" ".join(w.shape for w in words)), words[0].line)

    def eval(self, simple: SimpleCommand, words: Sequence[ScriptWord]) -> None:
        """Add the words of `eval`, which are a script."""
        if words[1:]:
            self._add_script_words(simple.line, words[1:], "eval")

    def source(self, simple: SimpleCommand, words: Sequence[ScriptWord]) -> None:
        """Add a doubt: `.` and `source` run the commands of another file."""
        self._add_doubt(
            simple.line, f"what {words[1].raw if words[1:] else 'a file'} holds is run too"
        )

    def trap(self, simple: SimpleCommand, words: Sequence[ScriptWord]) -> None:
        """Add the first word of `trap`, which is a script for later."""
        rest = [w for w in words[1:] if w.shape not in ("--", "-p", "-l")]
        if any(w.splits for w in rest):
            self._add_doubt(simple.line, "what trap is given only shows when it runs")
        if len(rest) > 1 and rest[0].shape not in ("", "-"):
            self._add_script_words(simple.line, rest[:1], "trap")

    def alias(self, simple: SimpleCommand, words: Sequence[ScriptWord]) -> None:
        """Add the texts of `alias NAME=TEXT`, which are scripts."""
        for word in words[1:]:
            name, sign, text = word.shape.partition("=")
            if sign:
                self.text(with_variables(text), word.line)
            if sign or HOLE in name:
                self._add_doubt(word.line, f"{word.raw} makes another command of a name")

    def called_back(self, simple: SimpleCommand, words: Sequence[ScriptWord]) -> None:
        """Add `mapfile`, `bind` or `complete`: some of their options run or load something."""
        self._add_builtin(simple.line, words[0].shape, words[1:])
        if any(re.match(r"-[A-Za-z]*[CFfx]", w.shape) for w in words[1:]):
            self._add_doubt(simple.line, f"{words[0].shape} runs or loads something")

    def find(self, simple: SimpleCommand, words: Sequence[ScriptWord]) -> None:
        """Add the programs that `find` starts, and the files that it deletes or writes."""
        line, rest = words[0].line, list(words[1:])
        self._add_program(line, words[0].shape)
        shapes = [w.shape for w in rest]
        for number, shape in enumerate(shapes):
            if shape in ("-exec", "-execdir", "-ok", "-okdir"):
                ends = [n for n in range(number, len(rest)) if shapes[n] in (";", "+")]
                self._add_exec_program(simple, rest[number + 1 : min(ends, default=len(rest))])
            elif shape == "-delete":
                self._add_change(line, "find deletes")
            elif shape.startswith(("-fprint", "-fls")):
                for target in rest[number + 1 : number + 2]:
                    self._add_written_file(line, target)
        first = next((n for n, s in enumerate(shapes) if s.startswith(("-", "(", "!"))), len(rest))
        if any(w.splits and (n > first or w.quoted or "$*" in w.raw) for n, w in enumerate(rest)):
            self._add_doubt(line, "what find's words start or delete only shows when it runs")

    def tee(self, simple: SimpleCommand, words: Sequence[ScriptWord]) -> None:
        """Add the files of `tee`: every word is one."""
        self._add_program(words[0].line, words[0].shape)
        for word in words[1:]:
            if not word.shape.startswith("-"):
                self._add_written_file(word.line, word)

    def dd(self, simple: SimpleCommand, words: Sequence[ScriptWord]) -> None:
        """Add the file that `dd of=` writes."""
        self._add_program(words[0].line, words[0].shape)
        for word in words[1:]:
            if word.shape.startswith("of=") or word.splits:
                rest = ScriptWord(word.line, word.shape[3:], word.raw, word.splits, word.quoted)
                self._add_written_file(word.line, rest)

    def _add_exec_program(self, simple: SimpleCommand, words: Sequence[ScriptWord]) -> None:
        """Add a program that find starts. `{}` stands for one file."""
        if words:
            shown = [
                ScriptWord(w.line, w.shape.replace("{}", HOLE), w.raw, w.splits) for w in words[1:]
            ]
            self._add_call(simple, [words[0], *shown], by_shell=False)

    def _add_doubt(self, line: int, what: str, where: Where = "all") -> None:
        self._found.doubts.add((line, what, where))

    def _add_change(self, line: int, what: str) -> None:
        self._found.changes.add((line, what))


_Special = Callable[[_Walk, SimpleCommand, Sequence[ScriptWord]], None]
_SPECIAL: Mapping[str, _Special] = {
    "eval": _Walk.eval,
    "source": _Walk.source,
    ".": _Walk.source,
    "trap": _Walk.trap,
    "alias": _Walk.alias,
    "find": _Walk.find,
    "tee": _Walk.tee,
    "dd": _Walk.dd,
    **dict.fromkeys(("mapfile", "readarray", "bind", "complete"), _Walk.called_back),
}
