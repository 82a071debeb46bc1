"""The program that a command runs in the end, without those that only run it (sudo, timeout).

For what is said *about* a command: its risk, its policy, what it reads. What may run is never
decided by it: there every wrapper has a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pulsus.commands.shell.words import Word
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """`values`: options that take the next word; `operands`: words before the program."""

    values: frozenset[str] = frozenset()
    operands: int = 0


def _wrapper(values: str = "", operands: int = 0) -> _Wrapper:
    return _Wrapper(frozenset(values.split()), operands)


PRIVILEGED: Final = frozenset({"sudo", "doas", "pkexec", "run0", "sudo-rs"})
"""Programs that run another with more rights."""

_WRAPPERS: Final[Mapping[str, _Wrapper]] = {
    "sudo": _wrapper(
        "-u --user -g --group -h --host -p --prompt -C --close-from -r --role -t --type"
        " -T --command-timeout -U --other-user -D --chdir -R --chroot"
    ),
    "sudo-rs": _wrapper("-u --user -g --group -D --chdir"),
    "doas": _wrapper("-u -C -a"),
    "pkexec": _wrapper("--user -u"),
    "run0": _wrapper("-u --user -g --group --nice -D --chdir --setenv --unit --property"),
    "timeout": _wrapper("-k --kill-after -s --signal", 1),
    "nice": _wrapper("-n --adjustment"),
    "ionice": _wrapper("-c --class -n --classdata"),
    "chrt": _wrapper("-T --sched-runtime -P --sched-period -D --sched-deadline", 1),
    "taskset": _wrapper("", 1),
    "stdbuf": _wrapper("-i --input -o --output -e --error"),
    "time": _wrapper("-f --format -o --output"),
    "env": _wrapper("-u --unset -C --chdir -S --split-string"),
    "nohup": _wrapper(),
    "setsid": _wrapper(),
    "command": _wrapper(),
    "builtin": _wrapper(),
    "exec": _wrapper("-a"),
    "busybox": _wrapper(),
    "xargs": _wrapper(
        "-a --arg-file -d --delimiter -E -I -L --max-lines -n --max-args -P --max-procs -s"
        " --max-chars --process-slot-var"
    ),
}

_DEEPEST: Final = 8


def program_name(words: Sequence[Word]) -> str:
    """Return the name of the program, without its folder; empty without one."""
    return words[0].text.rpartition("/")[2] if words else ""


def unwrap(words: Sequence[Word]) -> Sequence[Word]:
    """Return `words` from the innermost program on, or nothing if a wrapper runs none."""
    for _ in range(_DEEPEST):
        wrapper = _WRAPPERS.get(program_name(words).lower())
        if wrapper is None:
            break
        words = _within(words[1:], wrapper)
    return words


def layers(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """Yield the call itself, then what each wrapper around the program runs, from outside in."""
    for _ in range(_DEEPEST):
        yield words
        wrapper = _WRAPPERS.get(program_name(words).lower())
        if wrapper is None:
            return
        words = _within(words[1:], wrapper)
    yield words


def wrappers(words: Sequence[Word]) -> list[str]:
    """Return the names of the wrappers around the program, from outside in."""
    found: list[str] = []
    while words and program_name(words).lower() in _WRAPPERS and len(found) < _DEEPEST:
        found.append(program_name(words).lower())
        words = _within(words[1:], _WRAPPERS[found[-1]])
    return found


def _ends_in_one(text: str, values: frozenset[str]) -> bool:
    """Return True if `text` is a cluster such as `-Eu`: its last letter alone takes a value."""
    if text[:1] != "-" or not text[1:].isalpha():
        return False
    taking = [at for at, letter in enumerate(text[1:], 1) if f"-{letter}" in values]
    return taking[:1] == [len(text) - 1]


def _within(words: Sequence[Word], wrapper: _Wrapper) -> Sequence[Word]:
    at, operands = 0, wrapper.operands
    while at < len(words):
        text = words[at].text
        if text in wrapper.values or _ends_in_one(text, wrapper.values):
            at += 2
        elif text[:1] == "-" or ("=" in text and text.partition("=")[0].isidentifier()):
            at += 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    return words[at:]
