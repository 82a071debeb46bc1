"""Descriptions of services and containers that another program reads: `docker inspect web | jq …`.

`docker inspect … | jq .Config.Env` is refused here, because passwords stand there.

Such a description may hold an environment, whose secrets the redactor knows by their names. So a
reader may neither ask for the environment alone nor write the text in a form without these names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pulsus.commands.command_verdict import CallFinding, refusal
from pulsus.commands.risk.environment_queries import asks_for_environment, environment_options
from pulsus.commands.risk.secret_paths import words
from pulsus.commands.shell.script_parser import Script
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import program_name, unwrap

_NAMELESS: Final = re.compile(
    r"@base(?:32|64)\b|\b(?:explode|ltrimstr|splits?|scalars|strings|leaf_paths)\b"
    r"|\.\.\s*(?:\||//)\s*(?:\.value|select\s*\(\s*type)"
)
"""Words of a jq program that encode or cut values, or print them without their names."""

_NO_DESCRIPTION: Final = frozenset({"logs", "ps", "images", "version", "top", "stats"})
"""Subcommands that print no settings."""

_ONLY_MATCHING: Final = re.compile(r"-[A-Za-z]*o[A-Za-z]*|--only-matching|--replace\S*")
_AT_SIGN: Final = re.compile(
    r"^(?:-[dF]|--delimiter=|--field-separator=)?[\[\"']*=|FS *=.*=|\"=\"|[^!<>=]=[^=~]*/"
)
"""`-d=`, `-F=`, `FS = "="`, `split($0, a, "=")` and `s/.*=//`."""

_CASES: Final = frozenset(
    {("a-z", "A-Z"), ("A-Z", "a-z"), ("[:lower:]", "[:upper:]"), ("[:upper:]", "[:lower:]")}
)
_LETTERS: Final = re.compile(r"(?<!\\)[A-Za-z]|=")


def find_reshaped_environment(script: Script) -> Iterator[CallFinding]:
    """Yield a refusal of each program that takes secrets of a described environment apart from
    their names."""
    described = False
    for stage in script.stages if len(script.stages) > 1 else ():
        inner = unwrap(stage.words)
        if not stage.fed:
            described = False
        elif described:
            yield from _find_reshaping(inner)
        described = described or _is_description(inner)


def _is_description(call: Sequence[Word]) -> bool:
    name = program_name(call)
    if name == "ssh":
        parts = (part for word in call for part in word.text.split())
        return any(environment_options(part.rpartition("/")[2]) for part in parts)
    return (
        bool(environment_options(name))
        and name not in words("loggers")
        and _NO_DESCRIPTION.isdisjoint(word.text for word in call)
    )


def _find_reshaping(call: Sequence[Word]) -> Iterator[CallFinding]:
    name, texts = program_name(call), [word.text for word in call[1:]]
    if name in words("recoders") or (name == "tr" and _changes_letters(texts)):
        rule = "it writes a description of an environment in a form in which no secret is found"
        yield refusal("sensitive", name, rule)
    elif _cuts_at_sign(name, texts):
        rule = "it cuts names from the values of a description, by which secrets are found"
        yield refusal("sensitive", name, rule)
    elif name in words("selectors"):
        for text in texts:
            if asks_for_environment(text) or _NAMELESS.search(text):
                rule = "it takes an environment, or values without their names, from a description"
                yield refusal("sensitive", text[:60], rule)
                return


def _cuts_at_sign(name: str, texts: Sequence[str]) -> bool:
    """Return True for programs that may print the text behind `=` alone."""
    if name in {"grep", "egrep", "fgrep", "rg", "ugrep"}:
        return any(map(_ONLY_MATCHING.fullmatch, texts))
    return name in {"cut", "awk", "gawk", "mawk", "sed"} and any(map(_AT_SIGN.search, texts))


def _changes_letters(texts: Sequence[str]) -> bool:
    """Return True unless tr changes the case, or no letter and no `=`."""
    sets = [re.sub(r"\[:\w+:\]", "", text) for text in texts if text[:1] != "-"]
    return tuple(texts) not in _CASES and any(map(_LETTERS.search, sets))
