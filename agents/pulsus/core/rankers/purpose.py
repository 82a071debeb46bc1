"""Does the request ask for a change, and does the tool make one? (spec §6: partial fits)

A tool that only reads must not answer "restart nginx", and a tool that deletes must not answer
"show the largest files", however many words they share.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pulsus.core.rankers.text import clean, stem, words
from pulsus.core.types import ToolSpec

_CLAUSE = re.compile(r"[.,;:!?]\s|[.,;:!?]$|\b(?:and|then|or|but)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """`groups` maps a verb's stem to its group; the rest as in verbs.toml, stemmed."""

    groups: Mapping[str, str]
    plain: frozenset[str]
    output_verbs: frozenset[str]
    output_words: frozenset[str]
    polite: frozenset[str]


@cache
def lexicon() -> Lexicon:
    """The verbs shipped with Pulsus."""
    data = tomllib.loads(resources.files(__package__).joinpath("verbs.toml").read_text("utf-8"))
    groups = {stem(verb): group for group, verbs in data["change"].items() for verb in verbs}
    return Lexicon(
        groups=groups,
        plain=frozenset(verb for verbs in data["change"].values() for verb in verbs),
        output_verbs=frozenset(data["output"]["verbs"]),
        output_words=frozenset(stem(w) for w in data["output"]["words"]),
        polite=frozenset(data["polite"]["words"]),
    )


def commands(request: str) -> tuple[str, ...]:
    """The verbs of change the request gives as a command, in order, each once.

    Only the first word of a clause counts, past polite words, and only in its plain form:
    "list deleted files" and "packages to update" command nothing.
    """
    found = (_command(part) for part in _CLAUSE.split(clean(request)))
    return tuple(dict.fromkeys(verb for verb in found if verb))


def _command(clause: str) -> str | None:
    known = lexicon()
    said = words(clause)
    start = next((n for n, w in enumerate(said) if w not in known.polite), len(said))
    if start == len(said) or said[start] not in known.plain:
        return None
    verb = said[start]
    about_output = any(stem(w) in known.output_words for w in said[start + 1 :])
    return None if verb in known.output_verbs and about_output else verb


def changes(tool: ToolSpec) -> frozenset[str]:
    """The groups of change a write tool names in its name, action, summary or hints."""
    if tool.kind != "write":
        return frozenset()
    said = [*words(tool.name), *words(tool.action)]
    return _groups([*said, *_leading(tool)])


def caution(request: str, asked: tuple[str, ...], tool: ToolSpec) -> str | None:
    """Why request and tool are at odds, in one line; None where they are not.

    `asked` are the request's `commands`. A declared write tool that names its change must be asked
    for that change; an asked change needs a tool that makes one. A tool that only reads may still
    do what is asked to the rows it is given: then its name or summary begins with that verb.
    """
    makes = changes(tool)
    if asked:
        wanted = _groups(asked)
        if tool.kind != "write":
            fits = bool(wanted & _groups(_leading(tool)))
            return None if fits else f"the request asks to {asked[0]}, the tool only reads"
        at_odds = bool(makes) and not makes & wanted
        return f"the request asks to {asked[0]}, the tool does not" if at_odds else None
    if not (tool.kind_declared and makes) or makes & _groups(words(clean(request))):
        return None
    return "the tool changes things, the request does not ask for that"


def _groups(said: Iterable[str]) -> frozenset[str]:
    known = lexicon().groups
    return frozenset(known[s] for s in map(stem, said) if s in known)


def _leading(tool: ToolSpec) -> list[str]:
    """The first word of the tool's name, summary and hints: where its verb stands."""
    hints = tool.manifest.intents if tool.manifest else ()
    return [w for text in (tool.name, tool.summary, *hints) for w in words(text)[:1]]
