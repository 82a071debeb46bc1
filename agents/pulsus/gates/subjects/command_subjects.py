"""Find the names of the things that a command changes or shows, to see if a read is of a write.

So it decides if a read verifies a write; reads whose output is hidden or constant are in
`shown_state.py`. The state that waits for that read is in `gates/workflow/workflow_state.py`.

A read of a machine shows one of its many parts: `uptime` says nothing about a service that was
restarted. Only a command whose words are known gives names. No effects.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from pulsus.commands import classify
from pulsus.commands.risk.risk_level import calls_in_text
from pulsus.commands.risk.secret_paths import follow_links
from pulsus.commands.shell.script_parser import Stage, parse_command
from pulsus.commands.shell.words import Unreadable, Word
from pulsus.commands.shell.wrappers import program_name, unwrap
from pulsus.commands.shipped_data import rules_of
from pulsus.fast_dataclass import dataclass
from pulsus.gates.subjects.named_places import is_placed, named_in_place, place_of_listing
from pulsus.gates.subjects.shown_state import (
    hides_its_output,
    lists_all,
    passes_lines,
    shows_state,
)

_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_DEEPEST_SHELL: Final = 3
_WRITES: Final = frozenset({">", ">>", ">|", "&>", "&>>"})
_UNIT: Final = re.compile(r"\.(?:service|socket|timer|target|mount)$")
_UNKNOWN: Final = re.compile(r"[$<>*?]")
_TARGET: Final = re.compile(r">{1,2}\s*(/(?!dev/)[^\s;|&<>()\"']+)")
_BLANK: Final = re.compile(r"\s")
_EVERY: Final = "all "
_FOLDER: Final = "the files in "
_TOP_FOLDER: Final = 2
"""Slashes in the shortest folder that counts as shown by what is in it."""
_PROCESS_OPTIONS: Final = frozenset({"-p", "-q", "--pid", "--ppid"})
"""Options whose number names a process."""


@dataclass(frozen=True, slots=True)
class _SubjectRules:
    """The tables of command_subjects.yaml. `listed` is the kind of thing of each program."""

    listed: Mapping[str, str]
    files: frozenset[str]
    first_is_no_file: frozenset[str]
    last_is_written: frozenset[str]
    folder_listings: frozenset[str]
    verbs: frozenset[str]
    shows_nothing: frozenset[str]
    filters: frozenset[str]


def written_subjects(command: str) -> tuple[str, ...]:
    """Return the names of what a command changes, the last thing of it first, listings at the end.

    Parts of it that only read add none. Empty if its words do not say what it changes.
    """
    found = [*dict.fromkeys(_written(command, 0))][::-1]
    return tuple(sorted(found, key=is_listing))


def file_subjects(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the names of files that are written: each path, then the listing of its folder."""
    found = [follow_links(path) for path in paths if path.startswith("/")]
    return tuple(dict.fromkeys([*found, *(_listing_of(posixpath.dirname(p)) for p in found)]))


def shown_subjects(
    command: str = "", paths: Iterable[str] = (), values: Iterable[str] = (), *, lists: bool = False
) -> frozenset[str]:
    """Return the names of what a read shows: those of its command, its paths and its values.

    `lists` says that it lists the files of each of its paths.
    """
    found = {name for value in values for name in _value_names(value)}
    for path in paths:
        found |= {*_path_names(path), *([_listing_of(follow_links(path))] if lists else [])}
    return frozenset(found | _shown(command) if command else found)


def is_listing(subject: str) -> bool:
    """Return True if a subject stands for a listing, and not for one thing."""
    return subject.startswith((_EVERY, _FOLDER))


def _written(command: str, depth: int) -> Iterator[str]:
    try:
        script = parse_command(command)
    except Unreadable:
        for words in calls_in_text(command):
            known = [word for word in words if not _UNKNOWN.search(word.text)]
            yield from _written_by(unwrap(known), "", depth)
        yield from _file_names(_TARGET.findall(command), "")
        return
    folder = ""
    for stage in script.stages:
        words = unwrap(stage.words)
        if program_name(words) == "cd":
            folder = posixpath.join(folder, words[1].text) if len(words) > 1 else ""
        elif words and not classify(shlex.join(word.text for word in words)).allow:
            yield from _written_by(words, folder, depth)
    targets = [each.target.text for each in script.redirects if each.operator in _WRITES]
    yield from _file_names((each for each in targets if not each.startswith("/dev/")), folder)


def _written_by(words: Sequence[Word], folder: str, depth: int) -> Iterator[str]:
    """Yield the names of what one call changes."""
    rules, program = _rules(), program_name(words)
    operands = [each for each in _operands(words) if not each.isspace()]
    kind = rules.listed.get(program)
    if program in _SHELLS:
        texts = [word.text for word in words]
        if "-c" in texts[:-1] and depth < _DEEPEST_SHELL:
            yield from _written(texts[texts.index("-c") + 1], depth + 1)
    elif kind is not None:
        names = [name for each in operands for name in _names_of(each) if name not in rules.verbs]
        placed = [one for name in names for one in named_in_place(name, words) if one != name]
        listing = [_EVERY + kind + place_of_listing(words)] if names else []
        yield from [*placed, *names, *listing]
    elif program.partition(".")[0] in rules.files:
        yield from _file_names(_written_files(program, words, operands), folder)
    else:  # the operands of any other program may be anything, but a path is a path
        yield from _file_names((each for each in operands if each.startswith("/")), folder)


def _written_files(program: str, words: Sequence[Word], operands: list[str]) -> list[str]:
    rules, texts = _rules(), [word.text for word in words]
    if program == "dd":
        return [each.removeprefix("of=") for each in texts if each.startswith("of=")]
    if program in rules.last_is_written:
        return [texts[texts.index("-t") + 1]] if "-t" in texts[:-1] else operands[-1:]
    scripted = program == "sed" and not {"-e", "-f"}.isdisjoint(texts)
    return operands[1:] if program in rules.first_is_no_file and not scripted else operands


def _shown(command: str) -> set[str]:
    """Return the names of everything that a reading command mentions, and what it lists."""
    try:
        script = parse_command(command)
        if hides_its_output(command, script):
            return set()
        stages: Sequence[Stage] = script.stages
    except Unreadable:
        stages = [Stage(tuple(words)) for words in calls_in_text(command)]
    found: set[str] = set()
    listed: set[str] = set()
    folder = ""
    for at, stage in enumerate(stages):
        words = unwrap(stage.words)
        if program_name(words) == "cd":
            folder = posixpath.join(folder, words[1].text) if len(words) > 1 else ""
            continue
        behind = [unwrap(each.words) for each in takewhile(_is_fed, stages[at + 1 :])]
        if not all(map(shows_state, (words, *behind))) or not all(map(passes_lines, behind)):
            continue
        names, kind = _shown_by(words, fed=stage.fed)
        if is_placed(words):
            names = {each for name in names for each in named_in_place(name, words)}
            kind = {each + place_of_listing(words) for each in kind}
        if not lists_all(words, behind):
            names, kind = {name for name in names if not is_listing(name)}, set()
        inside = [name for name in names if folder.startswith("/") and not name.startswith("/")]
        found |= names.union(*(_path_names(posixpath.join(folder, name)) for name in inside))
        listed |= kind
    # A filter behind a listing leaves only what it names.
    return found if found and len(stages) > 1 else found | listed


def _is_fed(stage: Stage) -> bool:
    return stage.fed


def _shown_by(words: Sequence[Word], *, fed: bool) -> tuple[set[str], set[str]]:
    """Return the names of what one call shows, and the kind of thing that it lists all of."""
    rules, program = _rules(), program_name(words)
    if program in rules.shows_nothing:
        return set(), set()
    operands = _operands(words, limits=True)
    if program in rules.filters and not fed:
        # The pattern of a filter names what is looked for, and not what is there.
        patterns = 0 if {"-e", "-f"} & {word.text for word in words} else 1
        skipped = patterns if program not in {"sort", "uniq", "head", "tail", "wc", "cut"} else 0
        operands = [each for each in operands[skipped:] if "/" in each or "." in each]
    values = [each.text.partition("=")[2] for each in words if each.text.startswith("--")]
    names = {name for each in (*operands, *values) for name in _value_names(each)}
    kind = rules.listed.get(program)
    if kind is not None:
        names -= rules.verbs
        return names, set() if names else {_EVERY + kind}
    if program in rules.folder_listings:
        names |= {_listing_of(follow_links(each)) for each in operands if each.startswith("/")}
    known = program in rules.files or program in rules.filters or program in rules.folder_listings
    return names if known else names | {program}, set()


def _operands(words: Sequence[Word], *, limits: bool = False) -> list[str]:
    """Return the words that are no options. With `limits` no number that an option limits by."""
    found, before = [], ""
    for word in words[1:]:
        text = word.text
        is_limit = (
            limits and text.isdigit() and before[:1] == "-" and before not in _PROCESS_OPTIONS
        )
        if text and text[0] not in "-+" and not is_limit and not _BLANK.search(text):
            found.append(text)
        before = text
    return found


def _names_of(operand: str) -> Iterator[str]:
    """Yield the names in one operand of a program that has units, packages or settings."""
    if "://" in operand:
        yield operand
    elif operand.startswith("/"):
        yield from file_subjects([operand])
    else:
        name = _UNIT.sub("", operand.partition("=")[0])
        yield name.rpartition("/")[2].partition(":")[0] or name


def _file_names(paths: Iterable[str], folder: str) -> Iterator[str]:
    """Yield the names of written files; of a relative one in an unknown folder the last part."""
    for path in paths:
        full = posixpath.join(folder, path)
        if full.startswith("/"):
            yield from file_subjects([full])
        elif path.strip("./"):
            yield posixpath.basename(posixpath.normpath(path))


def _value_names(value: str) -> set[str]:
    """Return the names that a value of a read may stand for."""
    if value.startswith("/"):
        return _path_names(value)
    plain = _UNIT.sub("", value)
    last = plain.rpartition("/")[2]
    return {value, plain, last, last.partition(":")[0], plain.partition("=")[0]} - {""}


def _path_names(path: str) -> set[str]:
    """Return a path, its last part, and the folders above it: what is in a folder shows it.

    The folders below the root, such as /etc, hold too much to be shown by one file.
    """
    path = follow_links(path)
    found = {path, posixpath.basename(path)}
    while path.count("/") > _TOP_FOLDER:
        path = posixpath.dirname(path)
        found.add(path)
    return {each for each in found if each.strip("/")}


def _listing_of(folder: str) -> str:
    return _FOLDER + (folder or "/")


@cache
def _rules() -> _SubjectRules:
    found: Mapping[str, Any] = rules_of(Path(__file__).with_suffix(".yaml"))
    listed = {p: kind for kind, programs in found["listings"].items() for p in programs.split()}
    sets = {name: frozenset(words.split()) for name, words in found.items() if name != "listings"}
    return _SubjectRules(listed, **sets)
