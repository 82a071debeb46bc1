"""Compile a regular expression at its first use, and not when its module is imported.

A warm route imports about six hundred patterns and needs every fifth. To compile them all took a
third of its time. Patterns of settings that can never match are refused in
`config/policy_patterns.py`, and slow regular expressions of program tables in
`commands/program_tables/safe_regex.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any, cast


def late_pattern(pattern: str, flags: int = 0, words: tuple[str, ...] = ()) -> re.Pattern[str]:
    """Return what works as `re.compile(pattern, flags)` does.

    With `words`, in lower case, each text that matches has one of them, in any case of its letters.
    A text without them is answered without the pattern, and leaves it uncompiled. A test proves
    this of each pattern with words, and compiles every pattern: one that is wrong raises `re.error`
    at its first use.
    """
    return cast("re.Pattern[str]", LatePattern(pattern, flags, words))


DIGITS = tuple("0123456789")
"""Words of a pattern that needs a digit."""

_MEMBERS = (
    *("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"),
    *("flags", "groups", "groupindex"),
)
_WITHOUT_A_MATCH: dict[str, Callable[[str], Any]] = {
    "search": lambda _: None,
    "match": lambda _: None,
    "fullmatch": lambda _: None,
    "finditer": lambda _: iter(()),
    "findall": lambda _: [],
    "sub": lambda text: text,
}
"""The answers for a text that does not match. Other methods compile the pattern at once."""


def may_match(text: str, words: Collection[str]) -> bool:
    """Return False only if the text has none of the words, whatever the case of its letters."""
    lower = text.lower()
    if any(word in lower for word in words):
        return True
    # Where case is ignored, these letters match `s` and `i`. A digit is one of any alphabet.
    return not text.isascii() and any(one in "ſıİ" or one.isdecimal() for one in text)


class LatePattern:
    """A pattern with the methods of `re.Pattern`, which it has from its first use on."""

    def __init__(self, pattern: str, flags: int, words: tuple[str, ...] = ()) -> None:
        self.pattern = pattern
        self.given_flags = flags
        self.words = words

    def __getattr__(self, name: str) -> Any:
        if name not in _MEMBERS:
            raise AttributeError(f"a pattern has no {name!r}")
        if not self.words or name not in _WITHOUT_A_MATCH:
            return getattr(self._compile(), name)

        def call(*args: Any, **options: Any) -> Any:
            text = args[name == "sub"]
            if not may_match(text, self.words):
                return _WITHOUT_A_MATCH[name](text)
            return getattr(self._compile(), name)(*args, **options)

        self.__dict__[name] = call
        return call

    def _compile(self) -> re.Pattern[str]:
        compiled = re.compile(self.pattern, self.given_flags)
        # Attributes of the instance: `__getattr__` is not called again.
        self.__dict__.update({member: getattr(compiled, member) for member in _MEMBERS})
        return compiled

    def __reduce__(self) -> tuple[object, tuple[str, int, tuple[str, ...]]]:
        return LatePattern, (self.pattern, self.given_flags, self.words)

    def __repr__(self) -> str:
        return f"late_pattern({self.pattern!r}, {int(self.given_flags)})"
