"""Find how each program of a script uses its files: to read, to look below, or by name only.

It refuses nothing: `secret_files.py` refuses secret files.

For what is said about files (`secret_files.py`, `devices.py`); whether a call may run is decided by
its table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise, takewhile
from math import inf
from typing import Final

from pulsus.commands.cost.quantities import deadline
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.program_tables.subcommands import levels
from pulsus.commands.risk.secret_paths import rules, words
from pulsus.commands.shell.script_parser import SameScript, Script
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.working_dirs import locate_calls
from pulsus.commands.shell.wrappers import layers, program_name, unwrap, wrappers
from pulsus.fast_dataclass import dataclass, replace

_RUNS_FOUND: Final = {
    "find": {"-exec", "-execdir", "-ok", "-okdir"},
    "fd": {"-x", "-X", "--exec", "--exec-batch"},
    "fdfind": {"-x", "-X", "--exec", "--exec-batch"},
}

_NAMING: Final = frozenset({"-name", "-iname", "--include"})
"""Options that a pattern of names follows."""


@dataclass(frozen=True, slots=True)
class FileUse:
    """One call, or an opened file where `program` is empty.

    `only_names`: it prints names and other facts of files, not their content. `deep`: it looks
    below a
    folder, into files called like `pattern`. `searched` and `apart`: where in `words` patterns
    stand, and files that are used without being shown. `names`: not every `*.pem` is secret to it.
    `folders`: where it may be. `bounded`: something ends it, after `within` seconds.
    """

    program: str
    words: Sequence[Word]
    folders: tuple[str, ...]
    only_names: bool = False
    deep: bool = False
    pattern: str = "*"
    searched: frozenset[int] = frozenset()
    apart: frozenset[int] = frozenset()
    names: bool = True
    bounded: bool = False
    within: float = inf


def find_uses(script: Script, tables: Tables) -> tuple[FileUse, ...]:
    """Return how each call of `script` uses files, then what its redirections open.

    Those of the last few scripts are kept: the gate, the rules about Pulsus and grounding ask about
    the same one. Words and tables do not change.
    """
    return _uses_of(SameScript(script), tables)


@lru_cache(maxsize=16)
def _uses_of(same: SameScript, tables: Tables) -> tuple[FileUse, ...]:
    return tuple(_uses_in(same.script, tables))


def _uses_in(script: Script, tables: Tables) -> Iterator[FileUse]:
    folders: tuple[str, ...] = ()
    handed_on = any(map(_is_run_on_names, (stage.words for stage in script.stages)))
    for stage, folders in locate_calls(script):
        inner = unwrap(stage.words)
        around = stage.words[: len(stage.words) - len(inner)]
        if around:
            # What runs it reads too: `xargs -a FILE`.
            yield FileUse(program_name(around), around, folders)
        if inner:
            inner = _fill_replacement_marks(inner, around)
            timed = around and "timeout" in wrappers(stage.words)
            within = _shortest_timeout(stage.words) if timed else None
            yield _describe_use(inner, folders, tables, handed_on=handed_on, within=within)
    for redirect in script.redirects:
        if redirect.operator != "<<<":
            # Of a folder, `/dev/stdin` then leads to everything below it.
            opened = (Word(redirect.operator), redirect.target)
            yield FileUse("", opened, folders, deep=redirect.operator == "<")


def _fill_replacement_marks(inner: Sequence[Word], around: Sequence[Word]) -> Sequence[Word]:
    """Return `cat /etc/{}` run by `xargs -I{}` as `cat /etc/*`: it may get any name."""
    if not around:
        return inner
    marks = [b.text for a, b in pairwise(around) if a.text == "-I"]
    marks += [word.text[2:] for word in around if word.text[:2] == "-I" and word.text[2:]]
    marks += ["{}"] if any(word.text in {"-i", "--replace"} for word in around) else []
    marks += [word.text[10:] for word in around if word.text.startswith("--replace=")]
    if not marks or not marks[-1] or "xargs" not in wrappers(around):
        return inner
    filled = (replace(w, text=w.text.replace(marks[-1], "*"), wild=True) for w in inner[1:])
    named = zip(inner[1:], filled, strict=True)
    return (inner[0], *(b if marks[-1] in a.text else a for a, b in named))


def _describe_use(
    inner: Sequence[Word],
    folders: tuple[str, ...],
    tables: Tables,
    *,
    handed_on: bool,
    within: float | None,
) -> FileUse:
    name = program_name(inner).lower()
    texts = [word.text for word in inner[1:]]
    public = (rule_for_program("public_parts", name) or "").split()
    only_names = _is_names_only(name, inner)
    return FileUse(
        program=name,
        words=inner,
        folders=folders,
        only_names=only_names and not handed_on,
        deep=_is_recursive(name, texts) or (only_names and handed_on),
        pattern=_name_pattern(texts),
        searched=_pattern_positions(inner, tables),
        apart=_hidden_key_positions(inner, tables),
        names=name not in words("no_files") and set(public).isdisjoint(texts),
        bounded=within is not None,
        within=inf if within is None else within,
    )


def _shortest_timeout(call: Sequence[Word]) -> float:
    """Return the seconds after which the quickest `timeout N` around a program ends it."""
    around = [*layers(call)]
    calls = [(a, b) for a, b in pairwise(around) if program_name(a).lower() == "timeout"]
    return min((deadline(a[len(a) - len(b) - 1].text) for a, b in calls), default=inf)


def rule_for_program(key: str, name: str) -> str | None:
    """Return the rule of the program `name` below `key`, or None."""
    return _rules_by_program(key).get(name)


@cache
def _rules_by_program(key: str) -> Mapping[str, str]:
    """Return the rules below `key` by program, of which a key may list several. The first rule of a
    program counts."""
    found: dict[str, str] = {}
    for names, rule in rules()[key].items():
        for name in names.split():
            found.setdefault(name, str(rule))
    return found


def _is_recursive(name: str, texts: Sequence[str]) -> bool:
    recursive = rule_for_program("recursive", name)
    if recursive is not None and (not recursive or _has_option(texts, recursive)):
        return True
    return not _RUNS_FOUND.get(name, set()).isdisjoint(texts)


def _has_option(texts: Sequence[str], options: str) -> bool:
    """Return True if a word gives one of `options`, which begin with a dash: alone, with a value or
    among other letters."""
    given = [text for text in texts if text[:1] == "-"]
    for option in options.split() if given else ():
        for text in given:
            if text == option or text.startswith(option + "="):
                return True
            if len(option) == 2 and re.match(rf"-[A-Za-z0-9]*{option[1]}", text):
                return True
    return False


def _name_pattern(texts: Sequence[str]) -> str:
    """Return the pattern of the names of files that find or grep look into, or `*`."""
    included = [text[10:] for text in texts if text.startswith("--include=")]
    if not included and _NAMING.isdisjoint(texts):
        return "*"
    unsure = {"-o", "-or", "!", "-not", ",", "-iregex", "-regex"} & set(texts)
    named = [b for a, b in pairwise(texts) if a in {"-name", "-iname"}]
    named += included + [b for a, b in pairwise(texts) if a == "--include"]
    return named[0] if len(named) == 1 and not unsure else "*"


def _is_run_on_names(call: Sequence[Word]) -> bool:
    """Return True if the call runs a program on the names that another program prints."""
    if not any(word.text.endswith(("xargs", "parallel")) for word in call):
        return False
    inner = unwrap(call)
    around = {program_name((word,)) for word in call}
    return bool({"xargs", "parallel"} & around) and not _is_names_only(
        program_name(inner).lower(), inner
    )


def _is_names_only(name: str, words_of_call: Sequence[Word]) -> bool:
    if name not in words("names_only"):
        return False
    reading = rule_for_program("names_only_but", name) or ""
    if reading and _has_option([word.text for word in words_of_call[1:]], reading):
        return False
    options = _RUNS_FOUND.get(name, set())
    runs = [at for at, word in enumerate(words_of_call) if word.text in options]
    calls = (
        [*takewhile(lambda word: word.text not in {";", "+"}, words_of_call[at + 1 :])]
        for at in runs
    )
    return all(_is_names_only(program_name(call).lower(), call) for call in calls)


def _pattern_positions(call: Sequence[Word], tables: Tables) -> frozenset[int]:
    """Return the positions in the words of a call where patterns or programs in another language
    stand.

    None if the table cannot tell the words apart: then each counts as a file.
    """
    level = next(levels(call, tables), None) if program_name(call) in words("patterns") else None
    if level is None:
        return frozenset()
    inline, files = words("pattern_options"), words("pattern_files")
    options = level.parsed.given
    found = [v for one in options if one.name in inline for v in one.values]
    if not found and not any(one.name in files for one in options):
        found = list(level.parsed.operands[:1])
    return _positions_of(call, found)


def _hidden_key_positions(call: Sequence[Word], tables: Tables) -> frozenset[int]:
    """Return the positions of keys that the program uses but does not show (`ssh -i`)."""
    options = (rule_for_program("uses", program_name(call)) or "").split()
    if not options:
        return frozenset()
    known = [one for level in levels(call, tables) for one in level.parsed.given]
    used = [one for one in known if one.name in options]
    written = {f"{one.name}={v.text}" for one in used for v in one.values}
    joined = {at for at, word in enumerate(call) if word.text in written}
    return _positions_of(call, [v for one in used for v in one.values]) | joined


def _positions_of(call: Sequence[Word], found: Sequence[Word]) -> frozenset[int]:
    return frozenset(at for at, word in enumerate(call) if any(word is one for one in found))
