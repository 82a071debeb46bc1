"""The words of one request with their places, seen from the tool that shall answer it. Pure.

Values are found in `core/arguments/spans/find_spans.py`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter

from pulsus.core.arguments.inputs import Fillable
from pulsus.core.arguments.spans.span import RequestSpans
from pulsus.core.arguments.words.abbreviations import stem_in_full
from pulsus.late_pattern import late_pattern

_BREAK = late_pattern(r"[,;!?()\n]|[.:](?=\s|$)| - |--|->|\b(?:and|or|but|then|while|plus)\b")
"""Ends a part of a sentence: a value and the words that say what it is stand in one part."""


class RequestWords:
    """The words of a request in order: `low` in lower case, `stems` as stems.

    `own` are the stems of the tool's name and summary, `of_inputs` those of all its inputs' names.
    """

    def __init__(self, found: RequestSpans, tool: Fillable) -> None:
        self.request = found.request
        self.starts = [word.start for word in found.words]
        self.low = [word.text.lower() for word in found.words]
        self.stems = [stem_in_full(word) for word in self.low]
        self.present = frozenset(self.stems)
        self.own = tool.own
        names = Counter(word for one in tool.inputs for word in one.words)
        said = Counter(word for one in tool.inputs for word in one.described)
        self.of_inputs = frozenset(names)
        self.of_one = frozenset(word for word, count in names.items() if count == 1)
        self.described_of_one = frozenset(word for word, count in said.items() if count == 1)
        self.qualifiers = {
            one.name: one.words.difference(*shorter)
            for one in tool.inputs
            if (shorter := [o.words for o in tool.inputs if o.words < one.words])
        }
        """By name, the words that tell an input from one with a shorter name: `ca` of `ca_file`."""
        self._breaks = [0, *(m.start() for m in _BREAK.finditer(self.request.lower()))]

    def before(self, at: int, count: int) -> list[int]:
        """Return the numbers of the last words that begin before `at`, nearest first."""
        first = bisect_left(self.starts, at)
        return list(range(first - 1, max(-1, first - 1 - count), -1))

    def after(self, at: int, count: int) -> list[int]:
        """Return the numbers of the first words that begin at `at` or behind it."""
        first = bisect_left(self.starts, at)
        return list(range(first, min(len(self.starts), first + count)))

    def part_of(self, start: int, end: int) -> frozenset[str]:
        """Return the stems of the words that stand in one part of the sentence with a value."""
        number = bisect_right(self._breaks, start)
        first = self._breaks[number - 1]
        later = bisect_left(self._breaks, end)
        last = self._breaks[later] if later < len(self._breaks) else len(self.request)
        places = range(bisect_left(self.starts, first), bisect_left(self.starts, last))
        return frozenset(self.stems[n] for n in places if not start <= self.starts[n] < end)
