"""Words and signs that compare: "at least", "is not", ">=", "starting with". Pure.

`compared_conditions.py` makes conditions of them. Words for upper and lower bounds of an input are
in `core/arguments/candidates/bound_sides.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pulsus.core.arguments.rows.clause_tokens import Token
from pulsus.core.arguments.words.word_set import word_set
from pulsus.fast_dataclass import dataclass

INVERSE: Final[Mapping[str, str]] = {
    ">": "<=", ">=": "<", "<": ">=", "<=": ">", "==": "!=", "!=": "==",
    "contains": "not_contains", "not_contains": "contains",
    "in": "not_in", "not_in": "in", "empty": "not_empty", "not_empty": "empty",
}  # fmt: skip
"""The operator for the rows that another one leaves out."""

ORDERING: Final = (">", ">=", "<", "<=")
TEXTUAL: Final = ("contains", "not_contains", "starts_with", "ends_with", "matches")

_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "==": ("==", "=", "eq", "equals", "equal"),
    "!=": ("!=", "<>", "ne", "not_equals", "not_equal"),
    ">": (">", "gt", "greater", "above"),
    ">=": (">=", "ge", "gte", "at_least"),
    "<": ("<", "lt", "less", "below"),
    "<=": ("<=", "le", "lte", "at_most"),
    "contains": ("contains", "includes"),
    "not_contains": ("not_contains", "excludes"),
    "starts_with": ("starts_with", "startswith", "prefix"),
    "ends_with": ("ends_with", "endswith", "suffix"),
    "matches": ("matches", "regex", "match"),
    "in": ("in", "one_of"),
    "not_in": ("not_in", "none_of"),
    "empty": ("empty", "is_empty", "is_null"),
    "not_empty": ("not_empty", "is_not_empty", "not_null"),
}

_UP = word_set("more greater larger bigger higher older longer later heavier slower fatter worse")
_DOWN = word_set("less fewer lower smaller younger newer shorter faster lighter earlier")
_BE = ("is", "are", "was", "were", "be")
_NOT_BE = ("isn't", "aren't", "isnt", "arent", "wasn't", "weren't", "ain't")
_NOT_DO = ("does not", "do not", "doesn't", "don't", "doesnt", "dont", "did not", "didn't", "not")

MOST_WORDS: Final = 6


@dataclass(frozen=True, slots=True)
class Comparison:
    """An operator in a clause: `tokens[first:behind]`. `words` are its words as written."""

    op: str
    first: int
    behind: int
    words: str


def written_operator(op: str, offered: Sequence[str]) -> str | None:
    """Return the operator as an input spells it (`gt` for `>`); None if it does not offer it."""
    known = {one.lower(): one for one in offered}
    return next((known[one] for one in _SPELLINGS[op] if one in known), None)


def count_operators(offered: Sequence[str]) -> int:
    """Return how many different operators the texts name."""
    return sum(written_operator(op, offered) is not None for op in _SPELLINGS)


def find_comparisons(tokens: Sequence[Token]) -> Iterator[Comparison]:
    """Yield the comparisons from left to right. The longest words win, and none overlap."""
    place = 0
    while place < len(tokens):
        found = _comparison_at(tokens, place)
        if found:
            yield found
            place = found.behind
        else:
            place += 1


def operator_behind(tokens: Sequence[Token], place: int) -> tuple[str, int] | None:
    """Return `>=` or `<=` for "or more", "or below" at this token, and the place behind it."""
    text = [token.low for token in tokens[place : place + 2]]
    if len(text) == 2 and text[0] in ("or", "and", "&") and tokens[place + 1].kind == "word":
        if text[1] in _UP or text[1] in ("above", "over", "up", "upwards", "beyond"):
            return ">=", place + 2
        if text[1] in _DOWN or text[1] in ("below", "under", "down"):
            return "<=", place + 2
    if text[:1] == ["plus"] or (text[:1] == ["+"] and tokens[place].start == tokens[place - 1].end):
        return ">=", place + 1
    return None


def _comparison_at(tokens: Sequence[Token], place: int) -> Comparison | None:
    for count in range(min(MOST_WORDS, len(tokens) - place), 0, -1):
        part = tokens[place : place + count]
        if any(token.kind not in ("word", "sign") for token in part):
            continue
        words = " ".join(token.low for token in part)
        op = _OPERATORS.get(words)
        if op:
            return Comparison(op, place, place + count, words)
    return None


def _phrases() -> Iterator[tuple[str, str]]:
    for word in _UP:
        yield f"{word} than", ">"
        yield from ((f"{no} {word} than", "<=") for no in ("no", "not"))
        yield from ((f"{word} than or equal{to}", ">=") for to in (" to", ""))
    for word in _DOWN:
        yield f"{word} than", "<"
        yield from ((f"{no} {word} than", ">=") for no in ("no", "not"))
        yield from ((f"{word} than or equal{to}", "<=") for to in (" to", ""))
    plain = {
        ">": "over|above|past|beyond|exceeding|exceeds|exceed|in excess of|>",
        "<": "under|below|beneath|<",
        ">=": "at least|not under|not below|a minimum of|greater or equal to|>=|=>|≥",
        "<=": "at most|not over|not above|a maximum of|less or equal to|<=|=<|≤",
        "==": "equal to|equals|exactly|=|==|set to",
        "!=": "other than|not equal to|differs from|different from|anything but|!=|<>|≠",
        "empty": "empty|blank|null|unset|not set",
        "not_empty": "not empty|not blank|not null|non-empty",
    }
    for op, texts in plain.items():
        yield from ((text, op) for text in texts.split("|"))


def _operators() -> dict[str, str]:
    found = dict(_phrases())
    for text, op in list(found.items()):
        if text[0].isalpha():
            found |= {f"{be} {text}": op for be in _BE}
    found |= dict.fromkeys(_BE[:4], "==")
    found |= dict.fromkeys((f"{be} not" for be in _BE), "!=")
    found |= dict.fromkeys(_NOT_BE, "!=")
    found["not"] = "!="
    for be in _NOT_BE:
        found |= {f"{be} empty": "not_empty", f"{be} set": "empty"}
        found |= {f"{be} {text}": "<=" for text in ("over", "above")}
        found |= {f"{be} {text}": ">=" for text in ("under", "below")}
    for stem in ("contain", "include", "mention"):
        found |= dict.fromkeys(
            (stem, f"{stem}s", f"{stem[:-1] if stem[-1] == 'e' else stem}ing"), "contains"
        )
        found |= dict.fromkeys((f"{no} {stem}" for no in _NOT_DO), "not_contains")
        found[f"not {stem}ing"] = "not_contains"
    found |= dict.fromkeys(("say", "says", "saying", "reads"), "contains")
    for verb in ("start", "begin"):
        starts = (verb, f"{verb}s", f"{verb}{verb[-1] if verb == 'begin' else ''}ing")
        found |= dict.fromkeys((f"{form} with" for form in starts), "starts_with")
    ends = (f"{form} {how}" for form in ("end", "ends", "ending") for how in ("with", "in", "on"))
    found |= dict.fromkeys(ends, "ends_with")
    found |= dict.fromkeys(("match", "matches", "matching"), "matches")
    # A single word of state is no operator without its verb: "columns with empty cells".
    for word in ("empty", "blank", "null", "unset", "not set"):
        del found[word]
    return found


_OPERATORS = _operators()
