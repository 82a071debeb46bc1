"""Prove of a regular expression that each text which it matches has one of some words.

The expression is read as Python reads it. Each way through it is kept as the text that it has for
certain, with a gap where that may be anything. A way with one of the words in it is done.
"""

import gc
import importlib
import json
import pkgutil
import re
import sys

import pulsus
from pulsus.late_pattern import LatePattern

parser = importlib.import_module("re._parser")
code = importlib.import_module("re._constants")

GAP = "\0"
MOST_WAYS = 20_000
MOST_LETTERS = 16
"""A set of more letters is a gap."""


def unproven(pattern, flags, words):
    """Return the ends of the ways through the pattern that have none of the words."""
    return _Ways(words).follow(parser.parse(pattern, flags), {GAP})


class _Ways:
    def __init__(self, words):
        self.words = words
        self.longest = max(map(len, words))

    def follow(self, parts, ways):
        for name, value in parts:
            ways = self._cut(ways)
            if len(ways) > MOST_WAYS:
                raise OverflowError("there are too many ways: give shorter words")
            ways = self._step(name, value, ways)
        return self._cut(ways)

    def _cut(self, ways):
        """Leave out the ways that are done, and of the others what no word can reach back to."""
        left = (way for way in ways if not any(word in way for word in self.words))
        return {re.sub(f"{GAP}+", GAP, way)[-self.longest :] for way in left}

    def _step(self, name, value, ways):
        match name:
            case code.LITERAL:
                return {way + chr(value).lower() for way in ways}
            case code.IN:
                letters = self._letters(value)
                return {way + letter for way in ways for letter in letters}
            case code.BRANCH:
                return set().union(*(self.follow(branch, ways) for branch in value[1]))
            case code.SUBPATTERN:
                return self.follow(value[3], ways)
            case code.ATOMIC_GROUP:
                return self.follow(value, ways)
            case code.MAX_REPEAT | code.MIN_REPEAT | code.POSSESSIVE_REPEAT:
                least, most, parts = value
                return self._repeat(least, most, parts, ways)
            case code.ASSERT:
                # What stands ahead or behind is in the text too.
                return ways if self.follow(value[1], {GAP}) else set()
            case code.AT | code.ASSERT_NOT:
                return ways
            case code.ANY | code.NOT_LITERAL | code.GROUPREF:
                return {way + GAP for way in ways}
            case _:
                raise NotImplementedError(f"{name} is not read")

    def _repeat(self, least, most, parts, ways):
        out = ways
        for _ in range(min(least, 3)):
            out = self.follow(parts, out)
        if (least, most) == (0, 1):
            return ways | self.follow(parts, ways)
        return out if least == most <= 3 else out | {way + GAP for way in out}

    def _letters(self, items):
        """Return the letters of a set, or a gap for a set of many."""
        digits = set("0123456789")
        letters = set()
        for name, value in items:
            if name is code.LITERAL:
                letters.add(chr(value).lower())
            elif name is code.RANGE and value[1] - value[0] <= MOST_LETTERS:
                letters |= {chr(number).lower() for number in range(value[0], value[1] + 1)}
            elif value is code.CATEGORY_DIGIT and not digits.isdisjoint(self.words):
                letters |= digits
            else:
                return {GAP}
        return letters if len(letters) <= MOST_LETTERS else {GAP}


def check_all():
    """Return what is wrong with the patterns of all modules, and how many there are."""
    for info in pkgutil.walk_packages(pulsus.__path__, "pulsus."):
        if not info.name.endswith("__main__"):
            importlib.import_module(info.name)
    found = [each for each in gc.get_objects() if isinstance(each, LatePattern)]
    wrong = []
    for each in found:
        re.compile(each.pattern, each.given_flags)
        ways = unproven(each.pattern, each.given_flags, each.words) if each.words else ()
        wrong += [[each.pattern, way] for way in ways]
        wrong += [[each.pattern, word] for word in each.words if word != word.lower()]
    with_words = sum(bool(each.words) for each in found)
    return {"wrong": wrong, "patterns": len(found), "with words": with_words}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(check_all()))
