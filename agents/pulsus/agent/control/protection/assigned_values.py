"""Find what variables that a command sets may write or run: `GIT_TRACE=FILE`, `EDITOR=PROGRAM`.

`LD_PRELOAD`, `PATH` and `BASH_ENV` replace what runs, so a write may not set them.

Which variables name a file and which a program differs from program to program. So each value is
judged as a path that is written, and as a command line. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final

from pulsus.commands.shell.script_parser import Script, Stage, parse_command
from pulsus.commands.shell.words import Unreadable, Word
from pulsus.commands.shell.wrappers import program_name, wrappers

_SETTERS: Final = frozenset(
    {
        *("env", "genv", "export", "declare", "typeset", "local", "readonly", "setenv", "make"),
        *("gmake", "systemd-run", "set-environment", "dbus-update-activation-environment", "run0"),
        *("sudo", "sudo-rs", "doas", "pkexec", "exec", "crontab", "at", "batch", "su", "runuser"),
    }
)
"""Programs that take `NAME=VALUE` among their words and set that variable."""
_INSIDE: Final = frozenset(
    {"docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc", "crictl"}
)
"""Programs whose variables are those of a container, where the files of Pulsus are not."""
_SETS: Final = re.compile(r"(?:--?[a-z-]+=)?([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_REPLACES: Final = re.compile(
    r"PATH|(?:LD|DYLD)_\w+|BASH_ENV|ENV|PROMPT_COMMAND|BASH_FUNC_\w+|PS4|SHELLOPTS|BASHOPTS|IFS"
    r"|CDPATH|GLOBIGNORE|EXECIGNORE|GCONV_PATH|GIT_EXEC_PATH"
)
"""Variables with which the words of a command no longer say which program runs, or where."""
_USUAL_PATH: Final = re.compile(r"/(?:usr/(?:local/)?)?s?bin(?::/(?:usr/(?:local/)?)?s?bin)*")
_TREES: Final = re.compile(r".*(?:TREE|DEST|ROOT|TARGET|OUT|GIT_DIR|PREFIX).*")
"""Variables that name a folder below which any file may be written."""
_CHOICES: Final = re.compile(
    r"(?:\w+_)?(?:MODE|TYPE|KIND|LEVEL|ROLE|QUEUE|STAGE|STATE|STATUS|STRATEGY|POLICY|PRIORITY|CLASS)"
)
"""Variables that choose one of a few words, such as `MODE=batch`, which is no program then."""
_CHOICE: Final = re.compile(r"[A-Za-z][\w-]*")
_DATA: Final = (
    re.compile(r"\{\"[^$`\\;|&<>()!'\n]*\}"),
    re.compile(
        r"[a-z][a-z0-9+.-]*://[\w.:@/%~+-]*(?:\?[\w.-]+=[\w.:@/%~+-]*(?:&[\w.-]+=[\w.:@/%~+-]*)*)?"
    ),
)
"""An object of JSON, or an address: a shell that ran it would find no program of that name."""
_SEPARATORS: Final = re.compile(r"[\s:;,=]+")
_WRITER: Final = Word("tee")
_TREE_WRITER: Final = Word("unison")
_MOST: Final = 40
_DEEPEST: Final = 4


def judged_scripts(script: Script, depth: int = 0) -> Iterator[Script]:
    """Yield scripts that do what the values of the variables in `script` may make it do.

    Each begins with the calls before, because a `cd` among them may say where a path leads.
    Raises Unreadable for a value that cannot be read, or that replaces programs.
    """
    for at, stage in enumerate(script.stages):
        set_here = dict.fromkeys(_variables_of(stage))
        if not set_here:
            continue
        if len(set_here) > _MOST or depth >= _DEEPEST:
            raise Unreadable(program_name(stage.words), "it sets too many variables to follow")
        before = script.stages[: _start_of_pipe(script.stages, at)]
        for name, value in set_here:
            _require_known(name, value.text)
            writes = tuple(Stage((_writer_to(name), one)) for one in _paths_in(value))
            yield Script((*before, *writes))
            if (run := _command_in(name, value.text)) is None:
                continue
            opened = (replace(each, place=len(before) + each.place) for each in run.redirects)
            yield replace(run, stages=(*before, *run.stages), redirects=tuple(opened))
            yield from judged_scripts(run, depth + 1)


def _variables_of(stage: Stage) -> Iterator[tuple[str, Word]]:
    """Yield the variables that stand before a call, and those that its words set."""
    yield from ((name, Word(value)) for name, value in stage.assignments)
    if program_name(stage.words) in _INSIDE or {*wrappers(stage.words)} & _INSIDE:
        return
    outside = [*takewhile(lambda word: program_name((word,)) not in _INSIDE, stage.words)]
    sets = False
    for word in outside:
        if sets and (given := _SETS.fullmatch(word.text)):
            yield given[1], replace(word, text=given[2])
        sets = sets or program_name((word,)).casefold() in _SETTERS


def _start_of_pipe(stages: Sequence[Stage], at: int) -> int:
    while at and stages[at].fed:
        at -= 1
    return at


def _require_known(name: str, value: str) -> None:
    usual = name == "PATH" and _USUAL_PATH.fullmatch(value)
    if _REPLACES.fullmatch(name) and value and not usual:
        rule = "with this variable the words do not say which program runs"
        raise Unreadable(f"{name}={value}", rule, "write the whole path of the program")


def _writer_to(name: str) -> Word:
    return _TREE_WRITER if _TREES.fullmatch(name.upper()) else _WRITER


def _paths_in(value: Word) -> Iterator[Word]:
    """Yield the value, and each text in it that may be a path of its own."""
    for text in dict.fromkeys((value.text, *_SEPARATORS.split(value.text))):
        if text:
            yield replace(value, text=text)


def _command_in(name: str, value: str) -> Script | None:
    """Return what a program would run that takes the value as a command line, or None.

    `!` of git and `|` of less say that the rest is one.
    """
    if _CHOICES.fullmatch(name.upper()) and _CHOICE.fullmatch(value):
        return None
    line = value.lstrip("!| \t\n")
    if not line or any(pattern.fullmatch(value) for pattern in _DATA):
        return None
    try:
        return parse_command(line)
    except Unreadable as error:
        rule = f"a program may run the value of {name}, and it cannot be read"
        raise Unreadable(error.word, rule, "write the value without signs of the shell") from None
