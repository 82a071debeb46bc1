"""Code within a command: scripts that a shell in it would run, and code that is not followed.

Code that cannot be followed (`python -c`, a script on stdin) is refused in a write.
`protected_uses.py` asks it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from pulsus.commands.shell.script_parser import Stage
from pulsus.commands.shell.words import Unreadable, Word
from pulsus.commands.shell.wrappers import program_name, unwrap, wrappers

_SHELLS: Final = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "mksh", "csh", "tcsh"}
)
_ARCHIVERS: Final = frozenset({"tar", "gtar", "bsdtar", "star", "unzip"})
_LANGUAGES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("python", "pypy"), "cm"),
    "perl": "eE",
    "ruby": "e",
    "node": "ep",
    "php": "rBRE",
    "lua": "e",
    "deno": "",
    "bun": "e",
    "tclsh": "",
    "guile": "c",
    "Rscript": "e",
}
"""General languages, and the letters of the options that give code."""


def require_known_code(stage: Stage, inner: Sequence[Word], name: str) -> None:
    """Raise Unreadable for code that a shell or a language is given in a way that is not read."""
    operands = [word.text for word in inner[1:] if word.text[:1] != "-" or word.text == "-"]
    if name in _ARCHIVERS and (option := _absolute_names(inner)):
        instead = "extract it below a folder, without this option"
        raise Unreadable(option, "the archive decides which files are written", instead)
    codes = _LANGUAGES.get(name)
    if name in _SHELLS or name in {"source", ".", "eval"}:
        if stage.fed and (not operands or operands[0] in {"-", "/dev/stdin"}):
            raise Unreadable(name, "the program that it would run is written by another program")
        if name == "eval":
            raise Unreadable(name, "what it runs is not known before it runs")
    elif codes is not None:
        if stage.fed and (not operands or operands[0] in {"-", "/dev/stdin"}):
            raise Unreadable(name, "the program that it would run is written by another program")
        given = re.compile(rf"-[a-zA-Z]*[{codes}]") if codes else None
        has_code = given and any(given.match(one.text) for one in inner[1:] if one.text[:2] != "--")
        # `-m` runs a module: `own_process.py` looks at its name.
        if has_code and not (name in {"python", "pypy"} and _runs_module(inner)):
            raise Unreadable(name, "code of a general language is not followed")


def _absolute_names(inner: Sequence[Word]) -> str:
    """Return the option that lets names in an archive lead anywhere when it is unpacked."""
    texts = [word.text for word in inner[1:]]
    if program_name(inner) == "unzip":
        return next((text for text in texts if re.fullmatch(r"-[a-zA-Z]*:[a-zA-Z]*", text)), "")
    unpacks = any(
        text in {"--extract", "--get"}
        or (re.fullmatch(r"-?[a-zA-Z]*x[a-zA-Z]*", text) and (at == 0 or text[0] == "-"))
        for at, text in enumerate(texts)
    )
    absolute = (
        text
        for at, text in enumerate(texts)
        if text.startswith(("--absolute-names", "--absolute-paths"))
        or (re.fullmatch(r"-?[a-zA-Z]*P[a-zA-Z]*", text) and (at == 0 or text[0] == "-"))
    )
    return next(absolute, "") if unpacks else ""


def _runs_module(inner: Sequence[Word]) -> bool:
    """Return True if the first option of Python that decides what runs is `-m`."""
    for word in inner[1:]:
        if word.text[:1] != "-" or word.text[:2] == "--":
            return False
        if "c" in word.text:
            return False
        if "m" in word.text:
            return True
    return False


def inner_scripts(stage: Stage) -> Iterator[str]:
    """Yield the texts that a shell within the call would run."""
    inner = unwrap(stage.words)
    places = [at for at, word in enumerate(inner) if program_name((word,)) in {*_SHELLS, "su"}]
    for at in places:
        for place, word in enumerate(inner[at + 1 :], at + 1):
            text = word.text
            if text in {"--command"} or (text[:1] == "-" and text[1:2] != "-" and "c" in text):
                following = [each.text for each in inner[place + 1 :]]
                given = next((each for each in following if each[:1] != "-"), "")
                if given:
                    yield given
                break
    if "env" in wrappers(stage.words):
        words_of_env = [word.text for word in stage.words]
        for option, value in pairwise([*words_of_env, ""]):
            if option in {"-S", "--split-string"}:
                yield value
            elif option.startswith(("-S", "--split-string=")):
                yield option.removeprefix("-S").removeprefix("--split-string=")
