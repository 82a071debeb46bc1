"""Tools as names of inputs and outputs, and how two tools fit together. Pure.

Only `pulsus compose-eval` uses it. Types of a plan are compared in
`core/contract/type_compatibility.py`.

A bare catalogue has no types. So an output feeds an input if their names say so: `artist_id` of one
tool and `artistId` of another. The same rules serve typed tools, whose names are as good.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from pulsus.core.text.tokens import stem, stems

Words = frozenset[str]

EQUAL = 1.0
"""Strength of a link by equal names."""
CLEAR = 0.8
"""Strength of a link by names that agree apart from the tool's own name, or a role."""
LOOSE = 0.6
"""Strength of a link by a part of the name: `id` of a tool that is named after the artist."""

_KEY_WORDS = Words(
    stem(word) for word in ("id", "ticker", "key", "cik", "token", "code", "number", "identifier")
)
"""Words of inputs that a person seldom knows by heart. Another tool looks them up."""
_ROLES = Words(
    stem(word)
    for word in (
        *("origin", "destination", "from", "to", "source", "target", "first", "second"),
        *("start", "end", "departure", "arrival"),
    )
)
"""Words that tell two inputs of the same kind apart."""
_ACTS = Words(
    stem(word) for word in ("book", "buy", "reserve", "play", "schedule", "cancel", "order", "pay")
)
"""Verbs of tools that act on a thing that another tool found."""
_TASKS = """
    add analyze arrange book buy calculate cancel check compare compute convert count create define
    delete describe display download encrypt execute fetch filter find generate get identify let
    list load locate look make obtain open order plan play plot post print provide pull purchase
    read record recommend remove rent reserve retrieve run save schedule search see send set share
    show sort stream summarize tell translate update upload validate watch write
"""
_COMMON_VERBS = Words(stem(word) for word in _TASKS.split())
"""Verbs that begin the names of unrelated tools."""
_MOST_PRODUCERS = 50
"""Producers looked at for one tool, in id order. More are names such as `name` or `text`."""


@dataclass(frozen=True)
class ToolSignature:
    """A tool by its words: id, name, description, and the names of inputs and outputs."""

    id: str
    name: str
    description: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @cached_property
    def name_words(self) -> Words:
        """Return the stems of the name."""
        return Words(split_identifier(self.name))

    @cached_property
    def own_words(self) -> Words:
        """Return the stems of name and description."""
        return self.name_words | Words(split_identifier(self.description))

    @cached_property
    def summary_words(self) -> Words:
        """Return the stems of the description."""
        return Words(split_identifier(self.description))

    @cached_property
    def input_words(self) -> tuple[Words, ...]:
        """Return the stems of each input."""
        return tuple(Words(split_identifier(name)) for name in self.inputs)

    @cached_property
    def output_words(self) -> tuple[Words, ...]:
        """Return the stems of each output."""
        return tuple(Words(split_identifier(name)) for name in self.outputs)

    @cached_property
    def all_output_words(self) -> Words:
        """Return the stems of all outputs together."""
        return Words().union(*self.output_words)

    @cached_property
    def family(self) -> str | None:
        """Return the first word of the name if it is no verb: `hotels` of `Hotels.Search`."""
        first = next(iter(split_identifier(self.name)), None)
        return None if first is None or first in _COMMON_VERBS else first

    @cached_property
    def acts(self) -> bool:
        """Return True if the tool books, buys or plays what another tool finds."""
        own = re.sub(r"^.*\.", "", self.name)
        return next(iter(split_identifier(own)), "") in _ACTS


@dataclass(frozen=True, slots=True)
class ToolLink:
    """The fit of one tool's outputs to another's inputs. `strength` is 0 for tools that do not fit.

    `by_key` is True if the input is a key such as an id, `family` if both tools share a family.
    """

    strength: float
    by_key: bool
    family: bool

    @property
    def firm(self) -> bool:
        """Return True if the name of the input says which tool it comes from."""
        return self.strength >= CLEAR and (self.family or self.by_key)


class SignatureTable:
    """A catalogue of signatures in id order, with the rarity of words and cached links."""

    def __init__(self, tools: Iterable[ToolSignature]) -> None:
        self.tools: Sequence[ToolSignature] = tuple(sorted(tools, key=lambda tool: tool.id))
        self.place = {tool.id: number for number, tool in enumerate(self.tools)}
        self._counts = Counter(word for tool in self.tools for word in tool.own_words)
        self._links: dict[tuple[int, int], ToolLink] = {}
        self._alike: dict[tuple[int, int], float] = {}
        self._with_output: dict[Words, list[int]] = defaultdict(list)
        self._rarity: dict[str, float] = {}
        for number, tool in enumerate(self.tools):
            for words in sorted(set(tool.output_words), key=sorted):
                self._with_output[words].append(number)

    def rarity(self, word: str) -> float:
        """Return how few tools have a word in name or description (idf)."""
        found = self._rarity.get(word)
        if found is None:
            found = math.log(1 + len(self.tools) / (self._counts.get(word, 0) + 0.5))
            self._rarity[word] = found
        return found

    def mass(self, words: Iterable[str]) -> float:
        """Return the summed rarity of words."""
        # Exact, because a set has no order and a plain sum of floats depends on it.
        return math.fsum(self.rarity(word) for word in words)

    def share(self, part: Words, whole: Words) -> float:
        """Return the share of `whole`, by rarity, that lies in `part`; 0 for no words."""
        return self.mass(part & whole) / self.mass(whole) if whole else 0.0

    def link(self, consumer: int, producer: int) -> ToolLink:
        """Return how `producer` feeds `consumer`, both as places in `tools`."""
        found = self._links.get((consumer, producer))
        if found is None:
            found = self._find_link(consumer, producer)
            self._links[consumer, producer] = found
        return found

    def likeness(self, one: int, other: int) -> float:
        """Return the cosine of two tools' words, 0 to 1; 0 for a tool and itself."""
        if one == other:
            return 0.0
        key = (min(one, other), max(one, other))
        found = self._alike.get(key)
        if found is None:
            a, b = (self.tools[place].own_words for place in key)
            scale = math.sqrt(self.mass(a) * self.mass(b))
            found = self.mass(a & b) / scale if scale else 0.0
            self._alike[key] = found
        return found

    def producers(self, consumer: int) -> tuple[int, ...]:
        """Return the tools whose outputs firmly feed an input of `consumer`."""
        tool = self.tools[consumer]
        near = {
            number
            for words in tool.input_words
            for size in range(1, min(len(words), 3) + 1)
            for some in combinations(sorted(words), size)
            for number in self._with_output.get(Words(some), ())[:_MOST_PRODUCERS]
        }
        return tuple(sorted(n for n in near if n != consumer and self.link(consumer, n).firm))

    def count_roles(self, consumer: int, producer: int) -> int:
        """Return how many inputs differ only in role: 2 for `originId` and `destinationId`."""
        wanted = self.tools[consumer].input_words
        counts = (
            sum(words < one and one - words <= _ROLES for one in wanted)
            for words in self.tools[producer].output_words
            if words
        )
        return max(1, max(counts, default=1))

    def _find_link(self, consumer: int, producer: int) -> ToolLink:
        to, of = self.tools[consumer], self.tools[producer]
        if consumer == producer:
            return ToolLink(0.0, by_key=False, family=False)
        family = to.family is not None and to.family == of.family
        best, key = max(_match_names(to, of), default=(0.0, False))
        # Both may carry the other's names. Then the tool that acts comes second.
        if best and of.acts and not to.acts:
            best, key = 0.0, False
        return ToolLink(best, by_key=key, family=family)


def split_identifier(name: str) -> list[str]:
    """Return the stems of an identifier or a text, split at case, `_`, `.` and `-`."""
    return stems(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", re.sub(r"[_.-]", " ", name)))


def _match_names(to: ToolSignature, of: ToolSignature) -> Iterator[tuple[float, bool]]:
    """Yield strength and "is a key" of each pair of input and output that fit by name.

    An input that the producer takes too is left out: the producer only repeats it.
    """
    for wanted in to.input_words:
        if not wanted or wanted in of.input_words:
            continue
        key = bool(wanted & _KEY_WORDS)
        for given in of.output_words:
            strength = _match_words(wanted, given, of.name_words)
            if strength:
                yield strength, key


def _match_words(wanted: Words, given: Words, producer: Words) -> float:
    if wanted == given:
        return EQUAL
    if wanted & given and wanted <= given | producer:
        return CLEAR
    if given and given < wanted:
        rest = wanted - given
        if rest <= _ROLES:
            return CLEAR
        if rest <= producer | _KEY_WORDS:
            return LOOSE
    return 0.0
