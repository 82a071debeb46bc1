"""Find clauses that exclude something ("except *.gz", "that are not running") unfollowed. Pure.

The filler gives an excluded value to no input that asks for what is wanted
(`core/arguments/candidates/excluded_values.py`). So an answer has it all the same. The words that
exclude something are recognised in `core/text/exclusions.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from pulsus.core.compose.selection.row_vocabulary import row_vocabulary
from pulsus.core.text.exclusions import Exclusion, find_exclusions
from pulsus.core.text.tokens import content_words, stem, words
from pulsus.core.types import ToolSpec
from pulsus.late_pattern import late_pattern

_VALUE: Final = late_pattern(r"[\d*/\\@_=\"'`]|\w[.:]\w")
"""A sign that no plain word has."""
_WITHOUT: Final = late_pattern(r"(?i)without\b|ignor|skip")
"""Words that also name what a tool is for: "images without a tag", "ignoring case"."""
_OF_ROWS: Final = late_pattern(
    r"(?i)\b(?:(?:that|which|who|whose)\s+(?:\w{1,20}\s+)?|(?:list|show|find|which|all|any|the"
    r"|every)\s+(?:\w{1,30}\s+){0,2}\w{1,30}s\s+)\Z"
)
"""Wording that makes rows of what stands before a negation: "services that are not running"."""
_DESCRIBES: Final = late_pattern(
    r"(?i)\s+(?:containing|matching|mentioning|owned|named|called|belonging)\s"
)
"""Words behind "not" that describe rows, wherever they stand: "lines in a.log not containing x"."""
_ASKS_STATE: Final = late_pattern(r"(?i)\b(?:why|is|are|does|do|did|if|whether)\b[^,;.]{0,60}\Z")
_LONGEST_BEFORE: Final = 80
_NEGATED: Final = late_pattern(
    r"(?i)\b(?:not|no|never|without|cannot|can't|except|excluding|ignor\w*|skip\w*|non|missing"
    r"|(?:is|are|do|does)n't)\b"
)
_LISTED: Final = late_pattern(r"`([A-Za-z]{2,30})`")
_TALK: Final = frozenset(
    map(stem, words("sure know mind matter sense work responding fail able come"))
)


def find_unfollowed_exclusions(
    text: str, rest: str, tools: Sequence[ToolSpec], known: Collection[str]
) -> Iterator[tuple[int, str]]:
    """Yield place and words of each clause of `text` that excludes something unused.

    `rest` is the text with blanks in place of the words that are used already, and `known` has the
    words and stems of the chosen tools.
    """
    for one in find_exclusions(text):
        open_words = rest[one.inner : one.end]
        told = [w for w in content_words(open_words) if not w.isdecimal()]
        has_value = _VALUE.search(open_words) is not None
        if not (told or has_value) or not rest[one.start : one.inner].strip():
            continue
        if has_value or _restricts(text, one, told, tools, known):
            yield one.start, text[one.start : one.end].strip()


def is_exclusion(left_out: str) -> bool:
    """Return True if the words of a left out restriction exclude something."""
    found = find_exclusions(left_out)
    return bool(found) and found[0].start == 0


def _restricts(
    text: str,
    one: Exclusion,
    told: Sequence[str],
    tools: Sequence[ToolSpec],
    known: Collection[str],
) -> bool:
    """Return True if plain words behind the mark make the answer another one.

    A tool may be about the negation itself: "users without a password".
    """
    stems = {stem(word) for word in told}
    about = [phrase for tool in tools for phrase in _phrases(tool)]
    values = {key for tool in tools for key in _values(tool)}
    if stems.isdisjoint(values) and any(
        stems.intersection(map(stem, words(p))) and _NEGATED.search(p) for p in about
    ):
        return False
    if one.sure:
        of_tool = any(word in known or stem(word) in known for word in told)
        return not (of_tool and _WITHOUT.match(text, one.start))
    if _DESCRIBES.match(text, one.inner):
        return True
    before = text[max(0, one.start - _LONGEST_BEFORE) : one.start]
    if _OF_ROWS.search(before) is None or not stems.isdisjoint(_TALK):
        return False
    return "that" in before or "who" in before or _ASKS_STATE.search(before) is None


def _values(tool: ToolSpec) -> Iterator[str]:
    """Yield the stems of the values that rows may have, and of those that inputs list."""
    yield from row_vocabulary(tool).values
    for arg in tool.args:
        yield from (stem(value.lower()) for value in _LISTED.findall(arg.description))


def _phrases(tool: ToolSpec) -> Iterator[str]:
    """Yield what the tool says of itself: its summary, and requests that it is for."""
    yield tool.summary
    yield from tool.manifest.intents if tool.manifest else ()
