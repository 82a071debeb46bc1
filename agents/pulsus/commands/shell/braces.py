"""Brace expansion, as bash does it before anything else: `a{b,c}` is `ab ac`, `{1..3}` is `1 2 3`.

More than 1,000 words are refused (`command_limits.py`).

Only what reads the same in every bash is expanded: lists with commas and plain ranges, balanced.
Everything else with a comma or two dots between braces is refused by `words.unquoted`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from pulsus.commands.shell.command_limits import MOST_BRACE_WORDS, MOST_BRACES

_PIECES = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|[^'\"\\]", re.DOTALL)
_NUMBERS = re.compile(r"(-?(?:0|[1-9]\d{0,5}))\.\.(-?(?:0|[1-9]\d{0,5}))")
_LETTERS = re.compile(r"([a-z])\.\.([a-z])|([A-Z])\.\.([A-Z])")


def expanded(source: str) -> list[str]:
    """Return the words that `source` stands for, each as written without braces. Itself where it
    has none.

    An alternative of nothing (`{,}`) is no word. Empty if they are more than `MOST_BRACE_WORDS`,
    or its braces more than `MOST_BRACES`.
    """
    if "{" not in source:
        return [source]
    pieces = _PIECES.findall(source)
    if "".join(pieces) != source:
        return [source]  # quotes that do not end: refused where they are read
    if pieces.count("{") > MOST_BRACES:
        return []
    words = list(islice(_expand_pieces(pieces), MOST_BRACE_WORDS + 1))
    if len(words) > MOST_BRACE_WORDS:
        return []
    return [word for word in map("".join, words) if word]


def _expand_pieces(pieces: Sequence[str]) -> Iterator[list[str]]:
    for start, piece in enumerate(pieces):
        if piece != "{":
            continue
        end = _find_closing(pieces, start)
        parts = None if end is None else _split_alternatives(pieces[start + 1 : end])
        if end is None or parts is None:
            continue
        before = list(pieces[:start])
        for part in parts:
            for middle in _expand_pieces(part):
                for behind in _expand_pieces(pieces[end + 1 :]):
                    yield before + middle + behind
        return
    yield list(pieces)


def _find_closing(pieces: Sequence[str], start: int) -> int | None:
    depth = 0
    for place in range(start, len(pieces)):
        depth += {"{": 1, "}": -1}.get(pieces[place], 0)
        if depth == 0:
            return place
    return None


def _split_alternatives(inside: Sequence[str]) -> list[list[str]] | None:
    """Return the alternatives between commas, or of a range; None if there is neither."""
    depth = 0
    parts: list[list[str]] = [[]]
    for piece in inside:
        depth += {"{": 1, "}": -1}.get(piece, 0)
        if piece == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(piece)
    return parts if len(parts) > 1 else _expand_range("".join(inside))


def _expand_range(text: str) -> list[list[str]] | None:
    numbers = _NUMBERS.fullmatch(text)
    if numbers:
        first, last = int(numbers[1]), int(numbers[2])
        if abs(last - first) >= MOST_BRACE_WORDS:
            return None  # left as written, and refused for its braces
        return [[str(n)] for n in _inclusive_range(first, last)]
    letters = _LETTERS.fullmatch(text)
    if letters:
        first, last = (ord(letter) for letter in letters.groups() if letter)
        return [[chr(n)] for n in _inclusive_range(first, last)]
    return None


def _inclusive_range(first: int, last: int) -> range:
    return range(first, last + 1) if first <= last else range(first, last - 1, -1)
