"""Check that a pattern of commands can match one (docs/command-safety.md, Policy). Pure.

A pattern that can never match is a settings error. If a command matches a pattern is decided in
`gates/command_patterns.py`, and the ruling is made in `gates/command_policy.py`. The patterns that
ship (`rm <system>`, `mkfs*`) are defaults in `settings.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from pulsus.late_pattern import late_pattern

NAMED: Final = ("@default", "@read", "@secret", "@disk", "@shell-from-network")
"""Patterns that stand for a rule; `@default` for the patterns that ship."""

STANDS_FOR: Final = ("<ip>", "<name>", "<system>")
"""Words of a pattern that stand for a kind of word."""

_PLAIN: Final = late_pattern(r"[\w.+-]+\*?(?: [\w./=-]+\*?)*")
_OPERATOR: Final = late_pattern(r"\|[|&]?|&&?|;;?|\d*(>>?|<<?<?|>\||<>|[<>]&)\S*|&>>?\S*|\S+;")
_RUNS: Final = late_pattern(r"-(exec|ok)(dir)?")
"""Options of find behind which `;` is a word like any other."""


def pattern_error(pattern: str, block: Sequence[str] = ()) -> str:
    """Return why no command is ever like `pattern`, and what to write; empty if some may be.

    `block` is the whole policy.block with this pattern: the list replaces the patterns that ship.
    """
    if _PLAIN.fullmatch(pattern):
        return _program_error(pattern.partition(" ")[0])
    words = pattern.split()
    if not words:
        return "it names no program: name one, or take it out"
    if pattern[0] == "@":
        known = pattern in NAMED
        return "" if known else f"it is none of {', '.join(NAMED)}: write one of these"
    if words[-1] == ";" and any(map(_RUNS.fullmatch, words)):
        del words[-1]
    last = len(words) - 1
    wrong = (
        _word_error(word, last=at == last) or _operator_error(words, at, pattern, block)
        for at, word in enumerate(words)
    )
    return _program_error(words[0]) or next(filter(None, wrong), "")


def _operator_error(words: list[str], at: int, pattern: str, block: Sequence[str]) -> str:
    """Return why the operator at that place matches nothing; empty if it is a word like others."""
    word = words[at]
    if not _OPERATOR.fullmatch(word) or word in STANDS_FOR:
        return ""
    joined = word[:-1] if word.endswith(";") else ""  # `ls;`
    first = " ".join([*words[:at], joined]).strip("; ")
    said = f"`{word.removeprefix(joined)}` belongs to the shell. Write"
    if not first or pattern_error(first):
        return f"{said} one pattern for each program"
    if not block or "@default" in block:
        return f"{said} one pattern for each program: {json.dumps(first)}"
    kept = [first if each == pattern else each for each in block]
    return f"{said}: block = {json.dumps(['@default', *dict.fromkeys(kept)])}"


def _program_error(word: str) -> str:
    if word == "**" or word in STANDS_FOR:
        return f"{word} stands for other words, not for the program: begin with its name, or with *"
    if "/" in word:
        return f"a program is named without its folder: write {word.rpartition('/')[2] or '*'}"
    if "=" in word:
        return f"{word} is a variable, not the program: begin with the program's name"
    return ""


def _word_error(word: str, *, last: bool) -> str:
    if word == "**" and not last:
        return "** is any further words: it stands at the end alone; write * for one word"
    found = re.search(r"<[a-zA-Z_ -]*>", word)
    if found and word not in STANDS_FOR:
        return f"{found[0]} is none of {', '.join(STANDS_FOR)}, each a word of its own"
    if word[0] in "'\"":
        return f"words are matched without quotes: take them out of {word}; ? stands for a blank"
    return ""
