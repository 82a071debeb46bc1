"""Find what makes a jq program write its input again and again: `. + . | . + . | …`.

Each doubling alone is harmless. Many in a row, or one in each round of a fold, fill the memory:
`reduce range(60) as $i ("x"; . + .)`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from pulsus.commands.inspectors.jq.jq_tokens import OPENS, JqToken, closing, operand_behind

MOST_DOUBLINGS: Final = 8
"""Stages that may each write their input more than once: a kilobyte becomes at most megabytes."""

_COMPARES: Final = frozenset({"<", ">", "<=", ">=", "==", "!="})
_FOLDS: Final = frozenset({"reduce", "foreach"})
_BEGINS: Final = frozenset({"", "+", "(", "[", ",", ";", ":", "\\("})
"""Signs before a function that gets the value itself, and not the answer of a pipe."""
_SMALL: Final = frozenset(
    {
        *(
            "length",
            "floor",
            "ceil",
            "round",
            "sqrt",
            "tonumber",
            "type",
            "not",
            "has",
            "in",
            "now",
        ),
        *("test", "contains", "inside", "startswith", "endswith", "index", "rindex", "any", "all"),
        *("min", "max", "add", "first", "last", "nth", "select", "empty", "error", "true", "false"),
        *("null", "if", "then", "else", "elif", "end", "and", "or", "as", "reduce", "foreach"),
        *("def", "try", "catch", "label", "range", "input", "inputs", "limit", "input_line_number"),
        *("utf8bytelength", "isvalid", "infinite", "nan", "debug", "getpath", "env", "strptime"),
        *("mktime", "todate", "strftime", "gmtime", "input_filename", "keys", "min_by", "max_by"),
    }
)
"""Words of the language, and functions whose answer is no larger than a part of what they get."""
_WIDENS: Final = frozenset(
    {"tojson", "@json", "@sh", "@html", "@uri", "@base64", "@base32", "@csv"}
)
"""Functions and formats that write a text longer than it was."""


def find_doubling(found: Sequence[JqToken]) -> str | None:
    """Return the word by which the program writes its input again and again, or None."""
    doubling = _doubling_functions(found)
    count = sum(token.kind == "name" and token.text in doubling for token in found) - len(doubling)
    stage: list[JqToken] = []
    for token in (*found, JqToken("mark", "|")):
        count += token.text in _WIDENS or (token.text in {"gsub", "sub"} and token.kind == "name")
        if token.kind == "mark" and token.text == "|":
            count += _is_written_twice(stage)
            stage = []
        else:
            stage.append(token)
    if count > MOST_DOUBLINGS:
        return "."
    for at, token in enumerate(found):
        if token.kind == "name" and token.text in _FOLDS and _grows_each_round(found, at):
            return token.text
    return None


def _grows_each_round(found: Sequence[JqToken], at: int) -> bool:
    """Return True if the fold at `at` may write its value more than once in a round, or makes a
    text longer in each round of a range."""
    update = _update(found, at)
    if _is_written_twice(update) or any(one.text == "combinations" for one in update):
        return True
    source = (one.text for one in found[at : at + next(_places(found[at:], "as"), 0)])
    return "range" in source and any(
        one.text in _WIDENS or one.text in {"gsub", "sub", "*"} for one in update
    )


def _places(part: Sequence[JqToken], text: str) -> Iterator[int]:
    return (place for place, one in enumerate(part) if one.text == text)


def _doubling_functions(found: Sequence[JqToken]) -> frozenset[str]:
    """Return the functions of the program that write what they get more than once."""
    names: set[str] = set()
    starts = [at for at, one in enumerate(found[:-1]) if one.kind == "name" and one.text == "def"]
    for at, behind in zip(starts, [*starts, len(found)][1:], strict=True):
        # Up to the next definition: what is between may belong to the program itself.
        body = found[at + 2 : behind]
        if _is_written_twice(body) or any(part.text in names for part in body):
            names |= {found[start + 1].text for start in starts}
    return frozenset(names)


def _update(found: Sequence[JqToken], at: int) -> Sequence[JqToken]:
    """Return what `reduce … as $x (START; UPDATE)` does each time."""
    start = at + next(_places(found[at:], "as"), len(found))
    opened = next(
        (i for i in range(start, len(found)) if found[i].text == "(" and found[i].kind == "mark"),
        len(found),
    )
    group = found[opened : opened + closing(found[opened:]) + 1]
    depth, ends = 0, []
    for place, token in enumerate(group):
        if token.kind == "mark":
            depth += token.text in OPENS
            depth -= token.text in OPENS.values()
            if token.text == ";" and depth == 1:
                ends.append(place)
    first, last = [*ends, -1][0], [*ends[1:], len(group)][0]
    return group[first + 1 : last]


def _is_written_twice(part: Sequence[JqToken]) -> bool:
    """Return True if a value may stand twice in what `part` makes of it."""
    uses = Counter(_whole_values(part))
    uses["."] += sum(_takes_whole(part, at) for at in range(len(part)))
    return max(uses.values(), default=0) > 1


def _takes_whole(part: Sequence[JqToken], at: int) -> bool:
    """Return True for a function that is given the value of the part: `tostring + tostring`."""
    token = part[at]
    if token.kind not in {"name", "format"} or token.text in _SMALL:
        return False
    before = part[at - 1].text if at else ""
    return before in _BEGINS and not (token.kind == "format" and at + 1 < len(part))


def _whole_values(part: Sequence[JqToken]) -> Iterator[str]:
    """Yield `.`, `.[]`, `..` and fields, except in comparisons and where they are assigned to."""
    at = 0
    while at < len(part):
        start, text = at, ""
        while at < len(part) and (piece := _path_piece(part, at, text)):
            text += piece
            at += max(1, len(operand_behind(part, at - 1)) if part[at].text == "[" else 1)
        if not text:
            at += 1
            continue
        around = {part[start - 1].text if start else "", part[at].text if at < len(part) else ""}
        if around & _COMPARES or (at < len(part) and part[at].text in {"=", "|="}):
            continue
        named = _pattern_variables(part, at, text)
        if named:
            # Each use of the variable is one of the value.
            used = part[at + next(_places(part[at:], "|"), 0) :]
            yield from (text.removesuffix(".as") or "." for one in used if one.text in named)
            continue
        yield text


def _pattern_variables(part: Sequence[JqToken], at: int, path: str) -> list[str]:
    """Return the variables that `PATH as PATTERN |` sets. `. as` is lexed as a field."""
    rest = part[at:]
    if path.endswith(".as") and rest and (rest[0].kind == "variable" or rest[0].text in "[{"):
        pattern = rest
    elif rest and rest[0].text == "as":
        pattern = rest[1:]
    else:
        return []
    names = pattern[: next(_places(pattern, "|"), len(pattern))]
    # The pattern itself is no use.
    return [one.text for one in names if one.kind == "variable"]


def _path_piece(part: Sequence[JqToken], at: int, before: str) -> str:
    """Return the text of the next piece of a path (`.`, `.a`, `[0]`), or an empty text."""
    token = part[at]
    if token.kind == "field":
        return token.text
    if token.kind != "mark":
        return ""
    if token.text in {".", ".."} and not before:
        return token.text
    if token.text == "[" and before:
        if before.endswith(".as") and any(
            one.kind == "variable" for one in operand_behind(part, at - 1)
        ):
            return ""
        return "".join(one.text for one in operand_behind(part, at - 1))
    return ""
