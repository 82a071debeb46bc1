"""A request that is a command line, and what that would change (spec §6: partial fits). Pure.

In a command line the verb stands behind the program: "ip route add", "systemctl stop nginx". The
first words of a sentence say nothing of that. Words: verbs.txt. This is about ranking. If a shell
command is safe is decided in `commands/classify.py`, and the command line of Pulsus itself is read
in `cli/main.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.core.text import verb_tables as table
from pulsus.core.text.tokens import STOP_WORDS
from pulsus.core.text.verbs import find_command
from pulsus.late_pattern import late_pattern

_STEP = late_pattern(r"\s*(?:\|\|?|&&|;)\s*")
_BEFORE = late_pattern(r"(?:[$#>]\s+)?(?:(?:sudo|doas|xargs)\s+(?:-\S+\s+)*)?(?:[A-Z_]+=\S+\s+)*")
_PROGRAM = late_pattern(r"[a-z][a-z0-9_.+-]*")
_FLAG = late_pattern(r"--?[A-Za-z][\w-]*(?:[=:]\S*)?|-\d+")
_OLD_STYLE = late_pattern(r"(?=[a-zA-Z]*[ctxru])[ctxruvfzjJpPk]{1,6}")
_QUOTED = late_pattern(r"\"[^\"]*\"|'[^']*'")
_REACH = 3
"""Words behind the program among which its verb is: "docker container rm"."""


def find_change(request: str) -> tuple[str, ...] | None:
    """Return the verbs of change of a command line, each step's first; none where it only looks.

    None for a request that is no command line, and for a program that is a verb itself, such as
    `kill -9 1`: the reading of sentences knows those.
    """
    if "-" not in request and table.KNOWN.isdisjoint(request.split(maxsplit=2)[:2]):
        return None
    steps = [
        command
        for step in _STEP.split(_QUOTED.sub("Q", request))
        if (command := _split_command(step))
    ]
    asked = _find_change_word(steps[0]) if any(map(_is_command, steps)) else None
    if asked is None:
        return None
    more = ((step[0], _find_change_word(step)) for step in steps[1:])
    found = (asked, *(program if verb is None else verb for program, verb in more))
    return tuple(dict.fromkeys(verb for verb in found if verb))


def find_program(request: str) -> tuple[str, ...] | None:
    """Return the program a command line begins with, and the words behind it; None for anything
    else.

    None, too, for a program that does one thing: its name is a word like any other.
    """
    if find_change(request) is None:
        return None
    command = _split_command(_STEP.split(_QUOTED.sub("Q", request))[0])
    if command[:1] == [] or command[0] not in table.PROGRAMS:
        return None
    return (command[0], *(word for word in command[1:] if not word.startswith("-")))


def _split_command(step: str) -> list[str]:
    """Return a step's words, beginning with its program. tar's letters become flags."""
    before = _BEFORE.match(step)
    command = step[before.end() if before else 0 :].split()
    if command[:1] == ["tar"] and len(command) > 1 and _OLD_STYLE.fullmatch(command[1]):
        command[1] = f"-{command[1]}"
    return command


def _is_command(command: Sequence[str]) -> bool:
    """Return True if the words look like a command: a program, then a flag or a subcommand."""
    if len(command) < 2 or not _PROGRAM.fullmatch(command[0]):
        return False
    if any(
        len(w) > 1 and w in STOP_WORDS and not _is_brought_up_or_down(command, n)
        for n, w in enumerate(command)
    ):
        return False
    if any(map(_FLAG.fullmatch, command)):
        return True
    return command[0] in table.PROGRAMS and _find_action_position(command) is not None


def _find_action_position(command: Sequence[str]) -> int | None:
    """Return the position of the word for the program's action, such as "delete"."""
    arguments = [n for n, word in enumerate(command) if n and not word.startswith("-")]
    near = (
        n
        for n in arguments
        if (n in arguments[:_REACH] and _is_action_word(command[n]))
        or _is_brought_up_or_down(command, n)
    )
    return next(near, None)


def _is_action_word(word: str) -> bool:
    return word in table.CHANGES or word in table.LOOKS


def _is_brought_up_or_down(command: Sequence[str], at: int) -> bool:
    """Return True if something is brought up or down: "docker compose -f x.yaml up"."""
    if command[at] not in table.BROUGHT:
        return False
    before = list(command[:at])
    while before and before[-1] not in table.BRINGS:
        if _FLAG.fullmatch(before[-1]):
            before.pop()
        elif len(before) > 1 and _FLAG.fullmatch(before[-2]):
            del before[-2:]
        else:
            return False
    return bool(before)


def _find_change_word(command: Sequence[str]) -> str | None:
    """Return the word of a command's change, "" if it only reads, None if it is a verb."""
    program = command[0]
    flags = [word.partition("=")[0] for word in command[1:] if _FLAG.fullmatch(word)]
    if _has_any_flag(flags, table.LOOKING.get(program, frozenset()) | table.NEVER):
        return ""
    if program in table.VERBS:
        return None
    if _has_any_flag(flags, table.WRITING.get(program, frozenset())):
        return program
    return _find_change_by_action(command) if program in table.PROGRAMS else ""


def _find_change_by_action(command: Sequence[str]) -> str:
    """Return the word for the program's action if that is a change and no noun; else ""."""
    at = _find_action_position(command)
    if at is None or command[at] in table.LOOKS:
        return ""
    action, *rest = (word for word in command[at:] if not word.startswith("-"))
    if action in table.VERBS and rest:
        return find_command(" ".join((action, *rest)), lambda _word: True) or ""
    return action


def _has_any_flag(flags: Sequence[str], wanted: frozenset[str]) -> bool:
    """Return True if one of the flags is wanted, also within joined letters: `-nl` has `-l`."""
    for flag in flags:
        letters = "" if flag.startswith("--") else flag[1:]
        if flag in wanted or any(f"-{letter}" in wanted for letter in letters):
            return True
    return False
