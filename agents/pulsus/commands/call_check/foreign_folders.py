"""Refuse calls that take settings or code from a folder which is not the system's own.

`git -C /tmp/x` and `--root DIR` are checked here.

A package manager with `--root DIR` follows the settings below DIR, and git follows those of the
repository that it is called in. If anybody may write there, the call is not known to read.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from pulsus.commands.command_verdict import CallFinding, refusal
from pulsus.commands.program_tables.option_parser import Parsed
from pulsus.commands.risk.secret_paths import follow_links
from pulsus.commands.shell.parent_folders import read_from_root
from pulsus.commands.shell.script_parser import Stage
from pulsus.commands.shell.wrappers import program_name, unwrap
from pulsus.commands.shipped_data import rules_of

_FILE: Final = Path(__file__).parents[1] / "rules" / "foreign_folders.yaml"


def check_foreign_options(program: str, parsed: Parsed) -> Iterator[CallFinding]:
    """Yield a refusal of each option that names another root, data base or file of settings."""
    listed, shared = _options_of(program), _options_below("named", program)
    for one in parsed.given:
        if one.name in shared and one.values and _is_shared(one.values[0].text):
            yield _refuse_shared(program, one.values[0].text)
        if one.name in listed and one.values and one.values[0].text != "/":
            rule = f"{program} would follow what lies there, and anybody may have written it"
            yield refusal("allow", f"{one.name} {one.values[0].text}", rule)


def check_foreign_repository(
    node: str, parsed: Parsed, folders: Sequence[str]
) -> Iterator[CallFinding]:
    """Yield a refusal of git that compares the files of a repository which is not in the current
    folder or below it: settings of that repository name programs for its files."""
    program, _, subcommand = node.partition(" ")
    outside = [folder for folder in folders if _leads_outside(folder)]
    if program != "git" or not outside:
        return
    first = subcommand.partition(" ")[0]
    asked = {first, *(f"{first}:{one.name}" for one in parsed.given)}
    if not asked.isdisjoint(_words("compared")):
        rule = "settings of that repository name programs that git runs for its files"
        yield refusal("allow", outside[0], rule, "call it in that repository")


def check_foreign_project(
    node: str, parsed: Parsed, folders: Sequence[str]
) -> Iterator[CallFinding]:
    """Yield a refusal of a call that reads a project which is not in the current folder or below
    it, and fetches what that project names."""
    program, _, subcommand = node.partition(" ")
    first = parsed.operands[0].text if parsed.operands else ""
    composed = node in _words("composed") or node.partition(" ")[2] == "compose"
    if composed and first in _words("composed_fetch"):
        named = _options_below("named", program)
        values = [w.text for one in parsed.given if one.name in named for w in one.values]
        outside = [each for each in (*values, *folders) if _leads_outside(each)]
        rule = "its settings may include others, which are fetched from where they say"
    elif program in _words("backed") and not subcommand and first in _words("backed_fetch"):
        outside = [folder for folder in folders if _leads_outside(folder)]
        rule = "its settings name the place where its state is kept"
    else:
        return
    if outside:
        yield refusal("allow", outside[0], rule, "call it in that folder")


def _leads_outside(folder: str) -> bool:
    return folder[:1] in {"/", "~", "-"} or ".." in folder.split("/")


def check_shared_folders(
    calls: Sequence[tuple[Stage, tuple[str, ...]]],
) -> Iterator[CallFinding]:
    """Yield a refusal of each of `calls`, which stand with their folders, that follows settings of
    a folder where everybody may write."""
    for stage, folders in calls:
        name = program_name(unwrap(stage.words)) if folders else ""
        if name in _words("follow") and _is_shared(posixpath.join(*folders)):
            yield _refuse_shared(name, folders[-1])


def _is_shared(path: str) -> bool:
    whole = follow_links(read_from_root(path))
    return f"{whole}/".startswith(tuple(_words("shared")))


def _refuse_shared(program: str, path: str) -> CallFinding:
    rule = f"everybody may write there, and {program} follows settings that it finds there"
    return refusal("allow", path, rule)


@cache
def _rules() -> Mapping[str, Any]:
    found: Mapping[str, Any] = rules_of(_FILE)
    return found


@cache
def _words(key: str) -> frozenset[str]:
    return frozenset(str(_rules()[key]).split())


@cache
def _options_of(program: str) -> frozenset[str]:
    if program in _words("harmless"):
        return frozenset()
    return _words("options") | _options_below("programs", program)


@cache
def _options_below(key: str, program: str) -> frozenset[str]:
    own = (str(v).split() for names, v in _rules()[key].items() if program in names.split())
    return frozenset[str]().union(*own)
