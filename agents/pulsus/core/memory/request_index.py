"""Past requests as columns: searched by phrase, small enough to keep as one file (ADR 16). Pure.

How past requests fade (decay) with their age is computed here; `recall.py` compares them, and
`past_routes.py` keeps them.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice

from pulsus.core.text.phrases import Phrase, phrases
from pulsus.fast_dataclass import dataclass

_PAIR = 0.7
"""Weight of a word pair beside a word. Over three routing sets 0.5 to 1 ranked alike."""
_OWN = 0.3
"""The weight of a word of a path or an address beside a word around it: `mount /dev/sdb1 /mnt` and
`mount /dev/sdc1 /data` ask for the same thing."""


@dataclass(frozen=True, slots=True)
class PastRequest:
    """One past request with the tools it was right for and those it was wrong for, by id.

    `count` is what it says, in runs. `at` is in seconds of the epoch; None never fades.
    """

    request: str
    right: tuple[str, ...]
    wrong: tuple[str, ...] = ()
    count: float = 1.0
    at: float | None = None


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Counts of phrases in past requests and their tools. Columns are by `keys`, sorted.

    `known` is the share of the catalogue's tools that have a past; `sizes` how many requests each
    of those has, beside the usual one.
    """

    requests: int
    known: float
    sizes: Mapping[str, float]
    keys: Sequence[int]
    in_requests: Sequence[int]
    in_tools: Sequence[int]

    @classmethod
    def of(cls, past: Sequence[PastRequest], tools: int) -> WordCounts:
        """Return the counts of the earliest requests, as many as the last power of two.

        `tools` is the size of the catalogue. So the same past always gives the same counts, and
        they stay as they are until it has doubled.
        """
        settled = list(islice(past, 1 << len(past).bit_length() >> 1))
        in_requests: Counter[int] = Counter()
        of_tools: dict[int, set[str]] = {}
        sizes: Counter[str] = Counter()
        for row in settled:
            sizes.update(row.right)
            for phrase in phrases(row.request):
                in_requests[phrase.likeness] += 1
                of_tools.setdefault(phrase.key, set()).update(row.right)
        keys = sorted(in_requests.keys() | of_tools)
        return cls(
            requests=len(settled),
            known=min(1.0, len(sizes) / tools) if tools else 0.0,
            sizes={tool: sizes[tool] * len(sizes) / sizes.total() for tool in sorted(sizes)},
            keys=array("Q", keys),
            in_requests=array("I", (in_requests[key] for key in keys)),
            in_tools=array("I", (len(of_tools.get(key, ())) for key in keys)),
        )

    def rarity(self, phrase: Phrase) -> float:
        """Return the similarity that a shared phrase gives to two requests."""
        count = _value_of_key(self.keys, self.in_requests, phrase.likeness)
        share = _PAIR if phrase.pair else _OWN if phrase.own else 1.0
        return math.log(1 + max(1, self.requests) / (count + 0.5)) * share

    def telling(self, phrase: Phrase) -> float:
        """Return how well the phrase distinguishes one tool from the others."""
        count = _value_of_key(self.keys, self.in_tools, phrase.key)
        return (math.log((len(self.sizes) + 1) / (count + 1)) + 1) * (_PAIR if phrase.pair else 1.0)


@dataclass(frozen=True, slots=True)
class RequestSegment:
    """Past requests. `X_at` says where each entry of `X` begins, and at last where it ends.

    By phrase (`keys`, sorted): the requests alike by it, and the tools it was right for with how
    often, apart what never fades (`firm`) and what does (`fading`, as it was at `latest`). By
    request: its text, its length (the summed squares of its phrases' weights) and its verdicts: one
    below 0 is against the tool, one at NaN never fades. `half_life` is in seconds.
    """

    half_life: float
    latest: float
    ids: Sequence[str]
    keys: Sequence[int]
    request_at: Sequence[int]
    request: Sequence[int]
    tool_at: Sequence[int]
    tool: Sequence[int]
    firm: Sequence[float]
    fading: Sequence[float]
    lengths: Sequence[float]
    verdict_at: Sequence[int]
    verdict_tool: Sequence[int]
    verdict: Sequence[float]
    verdict_time: Sequence[float]
    text_at: Sequence[int]
    text: bytes | memoryview

    @classmethod
    def of(
        cls, past: Sequence[PastRequest], counts: WordCounts, half_life: float
    ) -> RequestSegment:
        """Return the segment of these requests; one made several times is kept once."""
        return _RequestPacker(past, counts, half_life).segment()

    def requests_with(self, key: int) -> Sequence[int]:
        """Return the numbers of the requests alike by a phrase, in order."""
        n = _find_key(self.keys, key)
        return () if n is None else self.request[self.request_at[n] : self.request_at[n + 1]]

    def has(self, number: int, key: int) -> bool:
        """Return True if a request has a phrase."""
        n = _find_key(self.keys, key)
        if n is None:
            return False
        begin, end = self.request_at[n], self.request_at[n + 1]
        at = bisect_left(self.request, number, begin, end)
        return at < end and self.request[at] == number

    def tools_with(self, key: int, now: float) -> list[tuple[str, float]]:
        """Tools whose past requests hold a phrase, with how many do; what is past fades."""
        n = _find_key(self.keys, key)
        if n is None:
            return []
        left, ids = self._decay_factor(self.latest, now), self.ids
        rows = slice(self.tool_at[n], self.tool_at[n + 1])
        columns = zip(self.tool[rows], self.firm[rows], self.fading[rows], strict=True)
        return [(ids[tool], firm + left * fading) for tool, firm, fading in columns]

    def verdicts(self, number: int, now: float) -> Iterator[tuple[str, float]]:
        """Yield the tools a request speaks for (> 0) or against (< 0), with how much by now."""
        for at in range(self.verdict_at[number], self.verdict_at[number + 1]):
            when = self.verdict_time[at]
            decay = 1.0 if math.isnan(when) else self._decay_factor(when, now)
            yield self.ids[self.verdict_tool[at]], self.verdict[at] * decay

    def request_text(self, number: int) -> str:
        """Return a request as it was made."""
        kept = self.text[self.text_at[number] : self.text_at[number + 1]]
        return bytes(kept).decode("utf-8", "replace")

    def _decay_factor(self, then: float, now: float) -> float:
        return float(0.5 ** (max(0.0, now - then) / self.half_life))


class _RequestPacker:
    """Columns while they grow. Requests are numbered in the order of their texts."""

    def __init__(self, past: Sequence[PastRequest], counts: WordCounts, half_life: float) -> None:
        self.half_life = half_life
        self.latest = max((row.at for row in past if row.at is not None), default=0.0)
        self.ids = sorted({tool for row in past for tool in (*row.right, *row.wrong)})
        self.number = {tool: n for n, tool in enumerate(self.ids)}
        self.by_text: dict[str, list[PastRequest]] = {}
        for row in past:
            self.by_text.setdefault(row.request, []).append(row)
        self.texts = sorted(self.by_text)
        self.holding: dict[int, list[int]] = {}
        self.tools: dict[int, dict[int, list[float]]] = {}
        self.lengths = array("d")
        for n, text in enumerate(self.texts):
            found = phrases(text)
            self.lengths.append(math.fsum(counts.rarity(phrase) ** 2 for phrase in found))
            told = self._sum_verdicts(self.by_text[text])
            for phrase in found:
                self.holding.setdefault(phrase.likeness, []).append(n)
                _add_counts(self.tools.setdefault(phrase.key, {}), told)

    def _sum_verdicts(self, rows: Iterable[PastRequest]) -> dict[int, list[float]]:
        """Return for each tool two sums of verdicts: those that never fade, and those that do.

        Verdicts that fade count with their weight at `latest`. Those against a tool are negative.
        """
        sums: dict[int, list[float]] = {}
        for row in rows:
            fades = row.at is not None
            decay = 0.5 ** ((self.latest - row.at) / self.half_life) if row.at is not None else 1.0
            for tool, count in _list_verdicts(row):
                sums.setdefault(self.number[tool], [0.0, 0.0])[fades] += count * decay
        return sums

    def segment(self) -> RequestSegment:
        keys = sorted(self.holding.keys() | self.tools)
        holding = [self.holding.get(key, []) for key in keys]
        tools = [sorted(self.tools.get(key, {}).items()) for key in keys]
        rows = [
            [
                (tool, count, row.at)
                for row in self.by_text[text]
                for tool, count in _list_verdicts(row)
            ]
            for text in self.texts
        ]
        texts = [text.encode("utf-8", "replace") for text in self.texts]
        return RequestSegment(
            half_life=self.half_life,
            latest=self.latest,
            ids=tuple(self.ids),
            keys=array("Q", keys),
            request_at=_end_positions(map(len, holding)),
            request=array("I", (n for numbers in holding for n in numbers)),
            tool_at=_end_positions(map(len, tools)),
            tool=array("I", (tool for found in tools for tool, _ in found)),
            firm=array("d", (count[0] for found in tools for _, count in found)),
            fading=array("d", (count[1] for found in tools for _, count in found)),
            lengths=self.lengths,
            verdict_at=_end_positions(map(len, rows)),
            verdict_tool=array("I", (self.number[tool] for row in rows for tool, _, _ in row)),
            verdict=array("d", (count for row in rows for _, count, _ in row)),
            verdict_time=array(
                "d", (math.nan if at is None else at for row in rows for _, _, at in row)
            ),
            text_at=_end_positions(map(len, texts)),
            text=b"".join(texts),
        )


def _list_verdicts(row: PastRequest) -> Iterator[tuple[str, float]]:
    for tool in row.right:
        yield tool, row.count
    for tool in row.wrong:
        yield tool, -row.count


def _add_counts(into: dict[int, list[float]], more: Mapping[int, Sequence[float]]) -> None:
    for tool, (firm, fading) in more.items():
        sums = into.setdefault(tool, [0.0, 0.0])
        sums[0] += firm
        sums[1] += fading


def _end_positions(sizes: Iterable[int]) -> array[int]:
    return array("I", accumulate(sizes, initial=0))


def _find_key(keys: Sequence[int], key: int) -> int | None:
    at = bisect_left(keys, key)
    return at if at < len(keys) and keys[at] == key else None


def _value_of_key(keys: Sequence[int], column: Sequence[int], key: int) -> int:
    found = _find_key(keys, key)
    return 0 if found is None else column[found]
