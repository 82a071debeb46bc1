"""The program that a command runs in the end, without those that only run it (sudo, timeout).

The list of wrappers, with the options that take a value, is `wrappers.yaml`. That `sudo` is never a
read is said by its table, `commands/tables/sudo.yaml`.

For what is said *about* a command: its risk, its policy, what it reads. The verdict on the program
that a wrapper runs is decided in call_check/nested_commands.py, by the wrapper's table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from pulsus.commands.shell.command_limits import DEEPEST_WRAPPER
from pulsus.commands.shell.words import Word
from pulsus.commands.shipped_data import rules_of
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """`values`: options that take the next word; `operands`: words before the program."""

    values: frozenset[str] = frozenset()
    operands: int = 0


PRIVILEGED: Final = frozenset({"sudo", "doas", "pkexec", "run0", "sudo-rs"})
"""Programs that run another with more rights."""

_WRAPPERS: Final[Mapping[str, _Wrapper]] = {
    name: _Wrapper(frozenset(rule["values"].split()), rule.get("operands", 0))
    for name, rule in rules_of(Path(__file__).with_suffix(".yaml")).items()
}


def program_name(words: Sequence[Word]) -> str:
    """Return the name of the program, without its folder; empty without one."""
    return words[0].text.rpartition("/")[2] if words else ""


def unwrap(words: Sequence[Word]) -> Sequence[Word]:
    """Return `words` from the innermost program on, or nothing if a wrapper runs none."""
    for _ in range(DEEPEST_WRAPPER):
        wrapper = _WRAPPERS.get(program_name(words).lower())
        if wrapper is None:
            break
        words = _skip_wrapper_words(words[1:], wrapper)
    return words


def layers(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """Yield the call itself, then what each wrapper around the program runs, from outside in."""
    for _ in range(DEEPEST_WRAPPER):
        yield words
        wrapper = _WRAPPERS.get(program_name(words).lower())
        if wrapper is None:
            return
        words = _skip_wrapper_words(words[1:], wrapper)
    yield words


def wrappers(words: Sequence[Word]) -> list[str]:
    """Return the names of the wrappers around the program, from outside in."""
    found: list[str] = []
    while words and program_name(words).lower() in _WRAPPERS and len(found) < DEEPEST_WRAPPER:
        found.append(program_name(words).lower())
        words = _skip_wrapper_words(words[1:], _WRAPPERS[found[-1]])
    return found


def _is_value_cluster(text: str, values: frozenset[str]) -> bool:
    """Return True if `text` is a cluster such as `-Eu`: its last letter alone takes a value."""
    if text[:1] != "-" or not text[1:].isalpha():
        return False
    taking = [at for at, letter in enumerate(text[1:], 1) if f"-{letter}" in values]
    return taking[:1] == [len(text) - 1]


def _skip_wrapper_words(words: Sequence[Word], wrapper: _Wrapper) -> Sequence[Word]:
    at, operands = 0, wrapper.operands
    while at < len(words):
        text = words[at].text
        if text in wrapper.values or _is_value_cluster(text, wrapper.values):
            at += 2
        elif text[:1] == "-" or ("=" in text and text.partition("=")[0].isidentifier()):
            at += 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    return words[at:]
