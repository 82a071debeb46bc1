"""The words of one request with their places, seen from the tool that shall answer it. Pure."""

from __future__ import annotations

from bisect import bisect_left

from pulsus.core.arguments.inputs import Fillable
from pulsus.core.arguments.spans.span import RequestSpans
from pulsus.core.text.tokens import stem


class RequestWords:
    """The words of a request in order: `low` in lower case, `stems` as stems.

    `own` are the stems of the tool's name and summary, `of_inputs` those of all its inputs' names.
    """

    def __init__(self, found: RequestSpans, tool: Fillable) -> None:
        self.request = found.request
        self.starts = [word.start for word in found.words]
        self.low = [word.text.lower() for word in found.words]
        self.stems = [stem(word) for word in self.low]
        self.present = frozenset(self.stems)
        self.own = tool.own
        self.of_inputs = frozenset(word for one in tool.inputs for word in one.words)

    def before(self, at: int, count: int) -> list[int]:
        """Return the numbers of the last words that begin before `at`, nearest first."""
        first = bisect_left(self.starts, at)
        return list(range(first - 1, max(-1, first - 1 - count), -1))

    def after(self, at: int, count: int) -> list[int]:
        """Return the numbers of the first words that begin at `at` or behind it."""
        first = bisect_left(self.starts, at)
        return list(range(first, min(len(self.starts), first + count)))
