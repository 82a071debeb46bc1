"""Devices and files of the kernel that are no files to read: endless, a terminal, or with effects.

Reads of `/dev/urandom`, `/dev/tty` and some files below /proc are refused here. A write to a disk
is blocked by `gates/command_policy.py`.

`commands/rules/sensitive.yaml` names them. A program that takes a device for what it is
(`smartctl`) may name one; any other would read its content.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import takewhile

from pulsus.commands.command_verdict import CallFinding, Category, refusal
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.non_interactive import ends_in_time
from pulsus.commands.risk.file_uses import FileUse
from pulsus.commands.risk.secret_paths import (
    holds_any,
    is_disk,
    matches_any,
    normalize,
    rules,
    words,
)
from pulsus.commands.shell.glob_overlap import patterns_overlap, simplify_pattern
from pulsus.commands.shell.script_parser import Script
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.working_dirs import resolve_paths
from pulsus.commands.shell.wrappers import program_name
from pulsus.fast_dataclass import replace

_LIMITS = {
    "head": ("-c", "--bytes"),
    "od": ("-N", "--read-bytes"),
    "xxd": ("-l", "-len"),
    "hexdump": ("-n",),
    "hd": ("-n",),
    "cmp": ("-n", "--bytes"),
}
"""Options that say how many bytes a program reads before it ends."""

_OTHER_ROOTS = re.compile(r"^(?:proc/[^/]+/root/)+")
_PLAIN_DEVICES = re.compile(
    r"null|stdin|stdout|stderr|zero|full|u?random|(?:fd|shm|mqueue|hugepages|pts|tcp|udp)(?:/.*)?"
)
"""Names below /dev that other rules judge, or that hold files of programs."""
_FOLDERS = re.compile(r"(^|/)(dev|proc|sys)(/|$)|^/$")

_REASONS: Mapping[Category, tuple[str, str]] = {
    "unbounded_stream": ("it does not end", "head -c N reads N bytes of it"),
    "tty_flag": ("it is a terminal", ""),
}
"""The rule for a device of each category, and what would be allowed."""


def find_devices(
    found: Sequence[FileUse], script: Script, context: JudgeContext
) -> Iterator[CallFinding]:
    """Yield a refusal for each device that would be read as a file."""
    calls = [use.words for use in found if use.program]
    for use in found:
        if not use.program and use.words[0].text != "<":
            continue
        readers = [use.words] if use.program else calls
        ends = partial(_is_ended_in_time, use, context, readers)
        takes_devices = use.program in words("device_tools")
        shows_facts = takes_devices and (use.only_names or not use.deep)
        for at, word in enumerate(use.words):
            plain = "/" not in word.text and not use.folders and not word.wild
            if at and not plain and at not in use.searched:
                for each in _judge_device(use, word, ends=ends, shows_facts=shows_facts):
                    yield _mention_reader(each, word, script)


def _mention_reader(found: CallFinding, word: Word, script: Script) -> CallFinding:
    """Say of an endless device that a later program of its pipe reads a number of bytes.

    Such a pipe ends if the programs before it stop when nothing reads them. No table says that of
    a program, so Pulsus does not rely on it.
    """
    if found.category != "unbounded_stream":
        return found
    for at, stage in enumerate(script.stages):
        behind = takewhile(lambda each: each.fed, script.stages[at + 1 :])
        reader = next((each for each in behind if _is_size_limited(each.words)), None)
        if word in stage.words and reader is not None:
            name = program_name(reader.words)
            rule = f"it does not end by itself, and Pulsus does not rely on {name} to end it"
            direct = reader == script.stages[at + 1]
            instead = f"let {name} read it directly" if direct else found.reason.instead
            return replace(found, reason=replace(found.reason, rule=rule, instead=instead))
    return found


def _is_ended_in_time(
    use: FileUse, context: JudgeContext, readers: Sequence[Sequence[Word]]
) -> bool:
    """Return True if a number of bytes, or `timeout N`, ends the call in time. The N seconds are
    then counted."""
    sized = len(readers) == 1 and _is_size_limited(readers[0])
    if sized or not (use.bounded or context.bounded):
        return sized
    return ends_in_time(replace(context, within=min(context.within, use.within)))


def _judge_device(
    use: FileUse, word: Word, *, ends: Callable[[], bool], shows_facts: bool
) -> Iterator[CallFinding]:
    text = word.text
    spellings = [text, text.rpartition("=")[2]] + ([text[2:]] if text[:1] == "-" else [])
    for path in dict.fromkeys(p for one in spellings for p in resolve_paths(use.folders, one)):
        if not word.wild and not _FOLDERS.search(path.lower()):
            continue
        if shows_facts and not use.only_names and matches_any(path, _device_patterns("starts")):
            yield refusal("guard", path, "opening it starts the device")
        if not shows_facts:
            yield from _judge_device_read(
                path, ends=ends, name_pattern=use.pattern if use.deep else None
            )
        if (use.program in words("readers") or not use.program) and is_disk(path):
            rule = "it is a whole disk: it holds every file, also files that you may not read"
            yield refusal("sensitive", path, rule)
        elif use.program not in _no_device_readers() and _is_other_device(path):
            yield refusal("allow", path, "it is a device, and not known as one to read from")


def _is_other_device(path: str) -> bool:
    """Return True for a name below /dev that is not known to be harmless to read.

    A disk, a memory or an endless stream has many names: `/dev/block/8:0` is `/dev/sda`.
    """
    if path[:1] != "/":
        return False
    parts = _OTHER_ROOTS.sub("", simplify_pattern(normalize(path))).split("/")
    below = "/".join(parts[1:])
    if not below or not parts[0].strip("*?") or not patterns_overlap(parts[0], "dev"):
        return False
    return not _PLAIN_DEVICES.fullmatch(below)


@cache
def _no_device_readers() -> frozenset[str]:
    return (
        words("device_tools") | words("device_programs") | words("no_readers") | words("no_files")
    )


def _judge_device_read(
    path: str, *, ends: Callable[[], bool], name_pattern: str | None
) -> Iterator[CallFinding]:
    for category in _REASONS:
        found = matches_any(path, _device_patterns(category)) or (
            name_pattern is not None and holds_any(path, _device_patterns(category), name_pattern)
        )
        if found and not (category == "unbounded_stream" and ends()):
            yield refusal("non_interactive", path, *_REASONS[category], category)
    deep = name_pattern is not None and holds_any(path, _device_patterns("effects"), name_pattern)
    if deep or matches_any(path, _device_patterns("effects")):
        yield refusal("guard", path, "reading it has an effect: it is no plain file")


@cache
def _device_patterns(key: str) -> tuple[str, ...]:
    return tuple(str(rules()["devices"][key]).split())


def _is_size_limited(call: Sequence[Word]) -> bool:
    """Return True if the program stops after a number of bytes: `head -c 16`, not `head -c -16`."""
    options = _LIMITS.get(program_name(call), ())
    texts = [word.text for word in call[1:]]
    for at, text in enumerate(texts):
        for option in options:
            if text == option:
                return "".join(texts[at + 1 : at + 2])[:1].isdigit()
            long = text.startswith(option + "=")
            if long or (text.startswith(option) and len(option) == 2):
                return text[len(option) :].removeprefix("=")[:1].isdigit()
    return False
