"""Find the folders in which the calls of a script may run, as far as its words say.

`cd /etc && cat shadow` names /etc/shadow by it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from pulsus.commands.shell.script_parser import SameScript, Script, Stage
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import program_name, unwrap

_OPTIONS: Final = {"-C", "--chdir", "--directory", "--cwd", "-D", "-chdir", "--project-directory"}


def locate_calls(script: Script) -> tuple[tuple[Stage, tuple[str, ...]], ...]:
    """Return each call with the folders it is in: those that `cd` went to before, one in another,
    and those that its own options name. Those of the last few scripts are kept: several rules ask
    about the same one."""
    return _located(SameScript(script))


@lru_cache(maxsize=16)
def _located(same: SameScript) -> tuple[tuple[Stage, tuple[str, ...]], ...]:
    return tuple(_locate(same.script))


def _locate(script: Script) -> Iterator[tuple[Stage, tuple[str, ...]]]:
    folders: tuple[str, ...] = ()
    for stage in script.stages:
        yield stage, (*folders, *_folders_from_options(stage.words))
        inner = unwrap(stage.words)
        if program_name(inner) in {"cd", "pushd"} and len(inner) > 1:
            # Where `cd -` leads is not known.
            folders = (*folders, "/" if inner[-1].text == "-" else inner[-1].text)


def _folders_from_options(call: Sequence[Word]) -> Iterator[str]:
    texts = [word.text for word in call]
    for text, following in pairwise([*texts, ""]):
        if text[:1] != "-":
            continue
        if text in _OPTIONS:
            yield following
        elif text.startswith(
            ("--chdir=", "--directory=", "--cwd=", "-chdir=", "--project-directory=")
        ):
            yield text.partition("=")[2]
        elif text[:2] == "-C" and text[2:3] in {"/", "~", "."}:
            yield text[2:]


def resolve_paths(folders: Sequence[str], path: str) -> Iterator[str]:
    """Yield `path` as it is written, and where it lies if the folders are what they seem."""
    yield path
    if not folders:
        return
    bare = re.sub(r"^~[+-]?\d*/", "", path) if path[:1] == "~" and path[1:2] != "/" else path
    if bare[:1] not in {"/", "~"}:
        at = ""
        for folder in folders:
            at = posixpath.join(at, folder)
            yield posixpath.join(folder, bare)
        yield posixpath.join(at, bare)
