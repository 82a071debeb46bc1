"""The words of a tool, by where they stand (spec §4, §15).

The places are name, summary, manifest, path, body and arguments; a word in the name counts more.
The `Examples:` of a contract do not count.
Weights of features are the setting `ranker.weights`, applied in `core/rankers/scorer.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

from pulsus.core.text.tokens import STOP_WORDS, stem, words
from pulsus.core.types import ToolSpec

PLACES = ("name", "summary", "manifest", "path", "body", "args")
"""A posting holds them as bits."""

NAME = 0b1
"""The bit of the first place."""

FOCUS = 0b1111
"""The first four: what the tool is for. The others say what else it mentions."""

_SHOWN = {"summary": "doc", "body": "doc"}

_COUNTS: Mapping[str, int] = {"name": 2}
"""Weight of a field's words, 1 by default. Three times for the name ranked no better."""


def field_words(tool: ToolSpec) -> dict[str, list[str]]:
    """Content words of each place, in order.

    Argument and output names count once each however often they occur, so that a tool with many
    arguments is not about its arguments.
    """
    args = [a.name for a in tool.args] + [r.name for r in tool.returns]
    descriptions = [a.description for a in tool.args] + [r.description for r in tool.returns]
    hints = tool.manifest
    texts: dict[str, Iterable[str]] = {
        "name": (tool.name,),
        "summary": (tool.summary,),
        "body": (tool.body,),
        "args": dict.fromkeys(w for t in (*args, *descriptions) for w in words(t)),
        "manifest": (*hints.intents, hints.name or "") if hints else (),
        "path": (tool.domain or "", tool.action),
    }
    return {
        place: [w for text in texts[place] for w in words(text) if w not in STOP_WORDS]
        for place in PLACES
    }


def surface_words(fields: Mapping[str, list[str]]) -> Counter[str]:
    """Return counts of one tool's words as they are written, over all places."""
    counts: Counter[str] = Counter()
    for place, found in fields.items():
        for word in found:
            counts[word] += _COUNTS.get(place, 1)
    return counts


def stem_counts(fields: Mapping[str, list[str]]) -> Counter[str]:
    """Stem counts of one tool over all places."""
    counts: Counter[str] = Counter()
    for word, count in surface_words(fields).items():
        counts[stem(word)] += count
    return counts


def stem_places(fields: Mapping[str, list[str]]) -> dict[str, int]:
    """For each stem the places it stands in, as bits in the order of `PLACES`."""
    bits: dict[str, int] = {}
    for bit, place in enumerate(PLACES):
        for word in fields[place]:
            key = stem(word)
            bits[key] = bits.get(key, 0) | 1 << bit
    return bits


@cache
def place_names(bits: int) -> tuple[str, ...]:
    """Return the places of a bit set as `matched` calls them; summary and body are both `doc`."""
    found = (place for bit, place in enumerate(PLACES) if bits >> bit & 1)
    return tuple(dict.fromkeys(_SHOWN.get(place, place) for place in found))
