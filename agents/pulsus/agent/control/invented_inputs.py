"""Optional inputs of a failed read that the model made up: nothing named them. Pure.

A small model gives inputs that it may leave out, such as the file `ubuntu`. The runtime may then
retry the call without them, once (ADR 51): `agent/loop/turn/repaired_reads.py`. It never drops what
a request named: the call would read another file or host than the one that was meant.

All modules about what a model made up: `agent/answers/phantom_claims.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from rapidfuzz import fuzz, process

from pulsus.agent.control.session_words import SessionWords, texts_in
from pulsus.agent.control.target_grounding import is_known_target
from pulsus.agent.first_call import named_paths
from pulsus.core.arguments.spans.number_words import NUMBER_WORDS
from pulsus.core.types import JsonValue, ToolSpec
from pulsus.fast_dataclass import dataclass

_TOKEN: Final = re.compile(r"[^\s\"'`,;()]+")
_LEAST_CHARS: Final = 3
_ALIKE: Final = 75
"""Likeness, of 100, from which a value is a misspelling of what was said."""


@dataclass(frozen=True, slots=True)
class NamedValues:
    """The values that count as named: `asked` are the texts of this request, `words` those of the
    session. `own` are the names of this machine: a context shows them to the model, and the tools
    run here in any case, so they name nothing for an input."""

    words: SessionWords
    asked: Sequence[str]
    own: Collection[str] = ()

    def has(self, value: JsonValue) -> bool:
        """Return True if every part of a value was named. True, false and null name nothing."""
        match value:
            case bool() | None:
                return True
            case int() | float():
                return self.words.is_known(f"{value:g}") or value in self._counts()
            case str():
                own = value.casefold() in {each.casefold() for each in self.own}
                return not own and is_known_target(value, self.words)
            case _:
                return all(self.words.is_known(text) for text in texts_in(value))

    def resemble(self, value: JsonValue) -> bool:
        """Return True if a text of the value is probably a misspelling of what was asked."""
        said = {part for each in self._tokens() for part in _forms(each)}
        return any(
            process.extractOne(form, said, scorer=fuzz.ratio, score_cutoff=_ALIKE)
            for text in texts_in(value)
            for form in _forms(text)
        )

    def _tokens(self) -> Iterator[str]:
        for text in self.asked:
            yield from _TOKEN.findall(text.casefold())

    def _counts(self) -> set[float]:
        return {NUMBER_WORDS[each] for each in self._tokens() if each in NUMBER_WORDS}


def find_invented(
    tool: ToolSpec, schema: Mapping[str, Any], args: Mapping[str, JsonValue], named: NamedValues
) -> tuple[str, ...]:
    """Return the inputs that a failed call may leave out, or () if it may not be made again.

    The tool has to read only, and to connect to nothing. The inputs are optional, and their values
    neither named nor values that `schema` lists. Nothing is left out if a value resembles what was
    asked, or if a path of the request would be in no input.
    """
    connects = tool.effects is None or tool.effects.hosts
    if tool.kind != "read" or connects:
        return ()
    optional = {arg.name for arg in tool.args if not arg.required} - set(tool.target)
    listed = {
        name for name, one in schema.get("properties", {}).items() if {"enum", "const"} & one.keys()
    }
    found = tuple(
        name
        for name, value in args.items()
        if name in optional and name not in listed and not named.has(value)
    )
    kept = [text for name, value in args.items() if name not in found for text in texts_in(value)]
    paths = [path for text in named.asked for path in named_paths(text)]
    if any(path not in kept for path in paths) or any(named.resemble(args[one]) for one in found):
        return ()
    return found


def _forms(text: str) -> Iterator[str]:
    """Yield a text and the last part of its path, if they are long enough to compare."""
    plain = text.casefold().rstrip("/")
    for form in dict.fromkeys((plain, plain.rpartition("/")[2])):
        if len(form) >= _LEAST_CHARS:
            yield form
