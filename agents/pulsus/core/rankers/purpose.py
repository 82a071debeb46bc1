"""Does the request ask for a change, and does the tool make one? (spec §6: partial fits)

A tool that only reads must not answer "restart nginx", and a tool that deletes must not answer
"show the largest files", however many words they share.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
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
    text = clean(request)
    if lexicon().plain.isdisjoint(words(text)):
        return ()
    found = (_command(part) for part in _CLAUSE.split(text))
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


def caution(asked: tuple[str, ...], said: frozenset[str], tool: ToolSpec) -> str | None:
    """Why request and tool are at odds, in one line; None where they are not.

    `asked` are the request's `commands`, `said` the groups of all its words (`groups_of`). A
    declared write tool that names its change must be asked for that change; an asked change needs
    a tool that makes one. A tool that only reads may still do what is asked to the rows it is
    given: then its name or summary begins with that verb.
    """
    if not asked and not (tool.kind_declared and tool.kind == "write"):
        return None
    leading, named = _groups_in(tool.name, tool.action, tool.summary)
    makes = leading | named if tool.kind == "write" else frozenset()
    if not asked:
        odd = bool(makes) and not makes & said
        return "the tool changes things, the request does not ask for that" if odd else None
    wanted = _groups(asked)
    if tool.kind != "write":
        return None if wanted & leading else f"the request asks to {asked[0]}, the tool only reads"
    odd = bool(makes) and not makes & wanted
    return f"the request asks to {asked[0]}, the tool does not" if odd else None


def groups_of(request: str) -> frozenset[str]:
    """The groups of change any word of the request belongs to, as a command or not."""
    return _groups(words(clean(request)))


@lru_cache(maxsize=16384)
def _groups_in(name: str, action: str, summary: str) -> tuple[frozenset[str], frozenset[str]]:
    """Groups of the words where a tool's verb stands, and of its name and action anywhere."""
    leading = [w for text in (name, summary) for w in words(text)[:1]]
    return _groups(leading), _groups([*words(name), *words(action)])


def _groups(said: Iterable[str]) -> frozenset[str]:
    known = lexicon().groups
    return frozenset(known[s] for s in map(stem, said) if s in known)
