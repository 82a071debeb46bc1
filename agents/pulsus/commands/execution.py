"""How an allowed command is to be run, so that nothing around it changes what was judged.

A verdict is about words. What a shell, an environment, a terminal or another program of the same
name would make of them is taken away here: argv without a shell where there is one program, its
path from trusted folders, nothing of the caller's environment but language, zone and home, nothing
to read from, no terminal, a limit on time and on output. Pure: whoever runs it starts the process.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from pulsus.commands.script import Script, read
from pulsus.commands.verdict import CommandVerdict
from pulsus.errors import CommandRefused
from pulsus.record import dataclass

PATH: Final = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""Where programs are looked for, in order: judge.TRUSTED, as a login of root has it."""

SHELL: Final = ("/bin/bash", "--noprofile", "--norc", "-c")

SECONDS: Final = 30.0
"""As long as a dry run may take (`sandbox.max_seconds`); a follow ends by its own timeout."""

MOST_BYTES: Final = 1 << 20
"""Of output and of errors each: some 250,000 tokens, more than any model reads."""

_KEPT: Final = re.compile(r"HOME|LANG|LANGUAGE|TZ|LC_[A-Z]+")
_FIXED: Final[Mapping[str, str]] = {
    "PATH": ":".join(PATH),
    "TERM": "dumb",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "",
    "LESSSECURE": "1",
    "PSQLRC": "/dev/null",
    "WGETRC": "/dev/null",
    "GIT_PAGER": "cat",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "core.pager",
    "GIT_CONFIG_VALUE_1": "cat",
    "GIT_CONFIG_KEY_2": "core.hooksPath",
    "GIT_CONFIG_VALUE_2": "/dev/null",
}
"""What a repository or a home folder sets may name programs; this comes after, and wins."""

_COMPARES: Final = {"diff", "log", "show"}
_PLAIN_DIFF: Final = ("--no-ext-diff", "--no-textconv")
"""What keeps git from running the programs that a repository's attributes and settings name."""

_GIT_VALUES: Final = {"-C", "--git-dir", "--work-tree", "--namespace", "--attr-source"}
"""git's own options, before the subcommand, whose value is the next word."""

_TILDE: Final = re.compile(r"(^|[=:])~")

Lookup = Callable[[str], str | None]
"""A program's name → its path in one of `PATH`, or None."""


@dataclass(frozen=True, slots=True)
class Execution:
    """One process: `argv[0]` is an absolute path. Standard input is /dev/null, and there is no
    terminal: it is the first of a session of its own (setsid), which is ended with it.

    `env` is the whole environment. After `seconds` the session is killed. `most_bytes` are kept of
    its output, as many of its errors; what comes behind is read and dropped.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    shell: bool
    seconds: float = SECONDS
    most_bytes: int = MOST_BYTES
    stdin: str = "/dev/null"
    new_session: bool = True


def prepared(
    verdict: CommandVerdict,
    environ: Mapping[str, str],
    *,
    lookup: Lookup | None = None,
    seconds: float = SECONDS,
    most_bytes: int = MOST_BYTES,
) -> Execution:
    """How to run the command of `verdict`, with what of `environ` may be passed on.

    Raises CommandRefused where it is not allowed. Effect: looks whether a file is there.
    """
    if not verdict.allow:
        raise CommandRefused(str(verdict.reason), hint="run only what classify allows")
    script = read(verdict.command)
    program = _alone(script, lookup or found)
    if program is None:
        argv: tuple[str, ...] = (*SHELL, verdict.command)
        set_before: Mapping[str, str] = {}
    else:
        (stage,) = script.stages
        set_before = dict(stage.assignments)
        words = tuple(word.text for word in stage.words[1:])
        argv = (program, *(_plain_diff(words) if Path(program).name == "git" else words))
    kept = {name: value for name, value in environ.items() if _KEPT.fullmatch(name)}
    env = {**kept, **set_before, **_FIXED}
    return Execution(argv, env, shell=program is None, seconds=seconds, most_bytes=most_bytes)


def _alone(script: Script, lookup: Lookup) -> str | None:
    """The path of the one program that can be started without a shell, or None.

    A shell is needed for pipes and lists, `!`, redirections, file names that a word stands for,
    `~`, and what is no program but the shell's own (`type`).
    """
    if len(script.stages) != 1 or script.redirects or script.negated:
        return None
    words = script.stages[0].words
    if any(word.wild or _TILDE.search(word.text) for word in words):
        return None
    name = words[0].text
    return name if name.startswith("/") else lookup(name)


def found(name: str) -> str | None:
    """The first file of that name in `PATH`."""
    files = (Path(folder) / name for folder in PATH)
    return next((str(file) for file in files if file.is_file()), None)


def _plain_diff(words: tuple[str, ...]) -> tuple[str, ...]:
    """git's words with `_PLAIN_DIFF` behind the subcommand, where it is one that compares."""
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in _GIT_VALUES else 1
    if words[place : place + 1] and words[place] in _COMPARES:
        return (*words[: place + 1], *_PLAIN_DIFF, *words[place + 1 :])
    return words
