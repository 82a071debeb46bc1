"""Devices and files of the kernel that are no files to read: endless, a terminal, or with effects.

`rules/sensitive.yaml` names them. A program that takes a device for what it is (`smartctl`) may
name one; any other would read its content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from pulsus.commands.peeled import peeled, program, wrappers
from pulsus.commands.places import is_disk, matches, rules, words
from pulsus.commands.script import Script
from pulsus.commands.sensitive import searched_for
from pulsus.commands.tables import Tables
from pulsus.commands.verdict import Category, Finding, Reason
from pulsus.commands.words import Word

_LIMITS = {
    "head": ("-c", "--bytes"),
    "od": ("-N", "--read-bytes"),
    "xxd": ("-l", "-len"),
    "hexdump": ("-n",),
    "hd": ("-n",),
    "cmp": ("-n", "--bytes"),
}
"""Options that say how many bytes a program reads before it ends."""

_REASONS: Mapping[Category, Callable[[str], Reason]] = {
    "unbounded_stream": lambda path: Reason(
        "non_interactive", path, "it does not end", "head -c N reads so many bytes of it"
    ),
    "tty_flag": lambda path: Reason("non_interactive", path, "it is a terminal"),
}


def devices_in(script: Script, tables: Tables) -> Iterator[Finding]:
    """A refusal for each device that `script` would read as a file."""
    for stage in script.stages:
        inner = peeled(stage.words)
        bounded = "timeout" in wrappers(stage.words) or _limited(inner)
        searched = searched_for(inner, tables)
        for word in (w for at, w in enumerate(inner) if at and at not in searched):
            yield from _device(program(inner), word, bounded=bounded)
    only = peeled(script.stages[0].words) if len(script.stages) == 1 else ()
    for redirect in script.redirects:
        if redirect.operator == "<":
            bounded = bool(only) and _limited(only)
            yield from _device("cat", redirect.target, bounded=bounded)


def _device(name: str, word: Word, *, bounded: bool) -> Iterator[Finding]:
    text = word.text
    spellings = [text, text.rpartition("=")[2]] + ([text[2:]] if text[:1] == "-" else [])
    for path in dict.fromkeys(spellings):
        if not any(folder in path.lower() for folder in ("dev/", "proc/", "sys/")):
            continue
        if name not in words("device_tools"):
            yield from _read(path, bounded=bounded)
        if name in words("readers") and is_disk(path):
            rule = "it is a whole disk: every file of it, whoever may read them"
            yield Finding("write_or_unknown", Reason("sensitive", path, rule))


def _read(path: str, *, bounded: bool) -> Iterator[Finding]:
    for category in _REASONS:
        if matches(path, _named(category)) and not (bounded and category == "unbounded_stream"):
            yield Finding("write_or_unknown", _REASONS[category](path), category)
    if matches(path, _named("effects")):
        reason = Reason("guard", path, "opening it does something: it is a device")
        yield Finding("write_or_unknown", reason)


@cache
def _named(key: str) -> tuple[str, ...]:
    return tuple(str(rules()["devices"][key]).split())


def _limited(given: Sequence[Word]) -> bool:
    """Whether the program stops after a number of bytes: `head -c 16`, not `head -c -16`."""
    options = _LIMITS.get(program(given), ())
    texts = [word.text for word in given[1:]]
    for at, text in enumerate(texts):
        for option in options:
            if text == option:
                return "".join(texts[at + 1 : at + 2])[:1].isdigit()
            long = text.startswith(option + "=")
            if long or (text.startswith(option) and len(option) == 2):
                return text[len(option) :].removeprefix("=")[:1].isdigit()
    return False
