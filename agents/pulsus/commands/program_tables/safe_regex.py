"""Patterns of tables that can be asked about any word: none takes long to say no.

A regular expression with catastrophic backtracking (ReDoS) is refused when the table is read.

`re` tries one way to match after the other. Of a pattern as an automaton of its characters, where
loops count as one however often they run:

- two ways through a loop for the same text double with every character: refused;
- three loops in a row that may share the same text take the cube of its length: refused. Two take
  the square, which `LONGEST` bounds.

Rather more is refused than is slow. Not looked for: many parts in a row that may each be left out
(`a?a?a?…`), whose ways double with the length of the pattern itself.

Source: Weber and Seidl, On the degree of ambiguity of finite automata, 1991.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, reduce
from importlib import import_module
from operator import or_
from typing import Any, Final

from pulsus.fast_dataclass import dataclass

LONGEST: Final = 2_048
"""Characters of the longest word that a pattern is asked about."""

_MOST_IN_A_ROW: Final = 2
_ASCII: Final = tuple(map(chr, range(128)))
_LARGEST: Final = 100
"""Characters within one repeat."""

_OTHER: Final = 1 << 128
"""Characters are bits: the ASCII ones, and one for all others."""
_ALL: Final = (_OTHER << 1) - 1
_NEWLINE: Final = 1 << ord("\n")
_CATEGORIES: Final = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}
_LOOPS: Final = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}
_TESTED: Final = {"ASSERT", "ASSERT_NOT"}
_REPEATED: Final = re.compile(r"[*+{]")


class _Unsafe(Exception):
    """A pattern that may take long, and why."""


@dataclass(frozen=True, slots=True)
class _RegexPiece:
    """A part of a pattern: characters it may begin and end with, and in how many ways it is empty.

    `a?` is so in one, `(a?)?` in two: each is tried.
    """

    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    empty: int = 1


@cache
def slow_reason(pattern: str) -> str:
    """Return why `pattern` may take long to reject a word, or an empty text."""
    if len(_REPEATED.findall(pattern)) < 2 and "|" not in pattern and "(" not in pattern:
        return ""
    # The parser of `re` has no public name.
    parsed = import_module("re._parser").parse(pattern)
    try:
        _Automaton(parsed, re.compile(pattern).flags)
    except _Unsafe as error:
        return str(error)
    return ""


class _Automaton:
    """Glushkov's: a state for each character of the pattern. Raises _Refused if it is slow."""

    def __init__(self, parsed: Any, flags: int) -> None:
        self.chars: list[int] = []
        self.edges: list[list[int]] = []
        """The characters that may follow each character, once for each way."""
        self.repeats = self.depth = 0
        self._build_sequence(parsed, flags)
        loops = list(_find_loops(self.edges))
        for loop in loops:
            self._check_loop(loop)
        if self._longest_chain(loops) > _MOST_IN_A_ROW:
            raise _Unsafe("more than two of its repeats may share the same text")

    def _build_sequence(self, items: Iterable[Any], flags: int) -> _RegexPiece:
        found = _RegexPiece()
        for name, value in items:
            piece = self._build_item(str(name), value, flags)
            if piece.empty > 1 and self.depth:
                raise _Unsafe("a repeat in it holds what may be empty in two ways")
            found = self._join_pieces(found, piece)
        return found

    def _join_pieces(self, one: _RegexPiece, other: _RegexPiece) -> _RegexPiece:
        for at in one.last:
            self.edges[at] += other.first
        return _RegexPiece(
            one.first + other.first if one.empty else one.first,
            other.last + one.last if other.empty else other.last,
            one.empty * other.empty,
        )

    def _build_item(self, name: str, value: Any, flags: int) -> _RegexPiece:
        if name in _LOOPS:
            least, most, inner = value
            return self._build_repeat(int(least), int(most), inner, flags)
        if name == "BRANCH":
            pieces = [self._build_sequence(each, flags) for each in value[1]]
            first = tuple(at for piece in pieces for at in piece.first)
            last = tuple(at for piece in pieces for at in piece.last)
            return _RegexPiece(first, last, sum(piece.empty for piece in pieces))
        if name == "SUBPATTERN":
            return self._build_sequence(value[3], (flags | value[1]) & ~value[2])
        if name == "ATOMIC_GROUP":
            return self._build_sequence(value, flags)
        if name in _TESTED:
            if _Automaton(value[1], flags).repeats and self.repeats:
                raise _Unsafe("it looks for a repeat within or behind another")
            return _RegexPiece()
        if name == "AT":
            return _RegexPiece()
        if name.startswith("GROUPREF"):
            raise _Unsafe("it refers to what one of its groups matched")
        self.chars.append(_characters_matched(name, value, flags))
        self.edges.append([])
        at = (len(self.chars) - 1,)
        return _RegexPiece(at, at, 0)

    def _build_repeat(self, least: int, most: int, inner: Any, flags: int) -> _RegexPiece:
        self.repeats += most > 1
        self.depth += most > 1
        piece = self._build_sequence(inner, flags)
        self.depth -= most > 1
        if most > 1:
            if piece.empty and least > 1:
                raise _Unsafe("it counts how often something comes that may be empty")
            for at in piece.last:
                self.edges[at] += piece.first
        may_repeat_empty = most > 1 and piece.empty > 0
        return _RegexPiece(piece.first, piece.last, piece.empty + (least == 0 or may_repeat_empty))

    def _check_loop(self, loop: frozenset[int]) -> None:
        """Raise _Unsafe if two ways through `loop` match the same text."""
        within = {at: [to for to in self.edges[at] if to in loop] for at in loop}
        if any(len(to) != len(set(to)) for to in within.values()):
            raise _Unsafe("a repeat in it holds another that may match the same text")
        if len(loop) > _LARGEST:
            raise _Unsafe(f"it repeats more than {_LARGEST} characters")
        numbers = {pair: at for at, pair in enumerate((a, b) for a in loop for b in loop)}
        pairs = [
            [numbers[c, d] for c in within[a] for d in within[b] if self.chars[c] & self.chars[d]]
            for a, b in numbers
        ]
        same = {numbers[at, at] for at in loop}
        if any(both & same and both - same for both in _find_loops(pairs)):
            raise _Unsafe("a repeat in it may match the same text in two ways")

    def _longest_chain(self, loops: Sequence[frozenset[int]]) -> int:
        """Return the most loops in a row of which each may share text with the next one."""
        behind = [[n for n, b in enumerate(loops) if self._may_share_text(a, b)] for a in loops]

        def longest(number: int) -> int:
            return 1 + max(map(longest, behind[number]), default=0)

        return max(map(longest, range(len(loops))), default=0)

    def _may_share_text(self, one: frozenset[int], other: frozenset[int]) -> bool:
        """Return True if `other` is reached from `one` by text that both may take."""
        both = self._characters_in(one) & self._characters_in(other)
        seen, waiting = set(one), list(one)
        while waiting and one is not other:
            for to in self.edges[waiting.pop()]:
                if to not in seen and self.chars[to] & both:
                    seen.add(to)
                    waiting.append(to)
        return one is not other and not seen.isdisjoint(other)

    def _characters_in(self, loop: Iterable[int]) -> int:
        return reduce(or_, (self.chars[at] for at in loop))


def _find_loops(edges: Sequence[Sequence[int]]) -> Iterator[frozenset[int]]:
    """Yield the states that lead to each other, and those that lead to themselves (Kosaraju)."""
    before: list[list[int]] = [[] for _ in edges]
    for at, following in enumerate(edges):
        for to in following:
            before[to].append(at)
    seen: set[int] = set()
    order = [at for start in range(len(edges)) for at in _walk_postorder(start, edges, seen)]
    seen = set()
    for start in reversed(order):
        found = frozenset(_walk_postorder(start, before, seen))
        if len(found) > 1 or (found and start in edges[start]):
            yield found


def _walk_postorder(start: int, edges: Sequence[Sequence[int]], seen: set[int]) -> Iterator[int]:
    """Yield the states that `start` leads to and that are not in `seen`, each after the states that
    it leads to itself."""
    if start in seen:
        return
    seen.add(start)
    waiting = [(start, iter(edges[start]))]
    while waiting:
        at, following = waiting[-1]
        to = next((to for to in following if to not in seen), None)
        if to is None:
            waiting.pop()
            yield at
        else:
            seen.add(to)
            waiting.append((to, iter(edges[to])))


def _characters_matched(name: str, value: Any, flags: int) -> int:
    """Return the characters that one element of a pattern matches, or more than these."""
    if name == "ANY":
        return _ALL if flags & re.DOTALL else _ALL & ~_NEWLINE
    items = value if name == "IN" else [(name.removeprefix("NOT_"), value)]
    found = 0
    for kind, what in items:
        found |= _characters_of_item(str(kind), what)
    if flags & re.IGNORECASE:
        found |= sum(1 << ord(c.swapcase()) for c in _ASCII if c.isalpha() and found >> ord(c) & 1)
    negated = name == "NOT_LITERAL" or str(items[0][0]) == "NEGATE"
    return (_ALL & ~found) | _OTHER if negated else found


def _characters_of_item(kind: str, what: Any) -> int:
    if kind == "LITERAL":
        return 1 << min(int(what), 128)
    if kind == "RANGE":
        low, high = (min(int(end), 128) for end in what)
        return int((1 << high + 1) - (1 << low))
    if kind == "CATEGORY":
        name = str(what).removeprefix("CATEGORY_")
        bare = name.removeprefix("NOT_")
        known = re.compile(_CATEGORIES[bare].upper() if name != bare else _CATEGORIES[bare])
        return _OTHER | sum(1 << ord(char) for char in _ASCII if known.match(char))
    return 0  # NEGATE, which is no character, and what never matches
