"""Spellings of a tool's name in a request (spec §4 `name_similarity`, the exact part).

`core/rankers/lexical_ranker.py` puts a tool that the request names first.
"""

from __future__ import annotations

from pulsus.core.text.tokens import words
from pulsus.core.types import ToolSpec
from pulsus.late_pattern import late_pattern

_IDENTIFIER = late_pattern(r"[\w./:-]+")
"""A word as written: `disk/usage/largest_files`, `ping.py::run`."""


_MOST = 0.3
_SURE = 200


def worth(covered: float, tools: int) -> float:
    """Return the name feature of a tool whose name's share `covered` the request says, in [0, 1].

    A covered name is strong evidence among `_SURE` tools, and the more there are, the more often it
    is chance: judged on sets left out in turn, any constant costs 2 to 6 points of hit@1 somewhere.
    """
    return _MOST * min(1.0, _SURE / max(1, tools)) * covered


def cover(said: float, own: float) -> float:
    """Share of the name's idf mass the request says, in [0, 1]."""
    return min(1.0, said / own) if own else 0.0


def spellings(tool: ToolSpec) -> frozenset[str]:
    """Return the spellings by which a request names this tool, and not merely its words.

    Its id, `name.py`, `name.py::run`, or a name of several words; the bare words of a name only
    as the whole request (`=` and the words).
    """
    name = tool.name.lower()
    file = f"{name}.py"
    said = {file, f"{file}::{tool.entry}", "=" + " ".join(words(tool.name))}
    return frozenset(said | {full for full in (tool.id.lower(), name) if not full.isalnum()})


def tool_spellings(tool: ToolSpec) -> frozenset[str]:
    """Under which keys (`key_of`) a tool is looked for; its id as it is needs none."""
    cased = {key_of(tool.id)} if tool.id != tool.id.lower() else set()
    return frozenset({key_of(tool.name), *cased})


def key_of(spelling: str) -> str:
    """Return the spelling without the signs that join its words."""
    if spelling.startswith("="):
        return spelling[1:].replace(" ", "")
    bare = spelling.partition("::")[0].removesuffix(".py")
    return "".join(words(bare.lower()))


def mentions(text: str) -> frozenset[str]:
    """Everything in a request that may be one of a tool's `spellings`."""
    identifiers = {w.strip("./:-").lower() for w in _IDENTIFIER.findall(text) if not w.isalnum()}
    return frozenset({w for w in identifiers if not w.isalnum()} | {"=" + " ".join(words(text))})
