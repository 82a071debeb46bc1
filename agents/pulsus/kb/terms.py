"""Parse a goal, which is one predicate with atomic arguments (tool calling chapter, §32.5.2). Pure.

    goal     = [module ":"] name "(" argument {"," argument} ")"
    argument = name | "'" quoted "'" | variable | number

The whole string has to match, so nothing can stand behind a permitted beginning. Everything else is
refused: operators, comments, lists, nested terms, escapes, every character outside ASCII, and more
than 400 characters. If the predicate exists is checked in `goal_engine.py`.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Final, NamedTuple, NoReturn

from pulsus.errors import GoalInvalid, GoalRefused
from pulsus.kb.facts import NAME_FORM

MOST_GOAL_CHARS: Final = 400
MOST_NAME_CHARS: Final = 128

_WORD: Final = r"[a-z][A-Za-z0-9_]{0,127}"
_VARIABLE: Final = r"[A-Z_][A-Za-z0-9_]{0,127}"
_NUMBER: Final = r"(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,6})?"
_ARGUMENT: Final = rf" *(?:{_WORD}|{_VARIABLE}|{_NUMBER}|'{NAME_FORM}') *"
_GOAL: Final = re.compile(
    rf" *(?:({_WORD}) *: *)?({_WORD})\(({_ARGUMENT}(?:,{_ARGUMENT})*)\) *", re.ASCII
)
_TOKEN: Final = re.compile(
    rf" +|(?P<word>[a-z][A-Za-z0-9_]*)|(?P<variable>[A-Z_][A-Za-z0-9_]*)"
    rf"|(?P<number>[0-9]+(?:\.[0-9]+)?)|(?P<quoted>'{NAME_FORM}')|(?P<sign>[(),:])",
    re.ASCII,
)

Value = str | int | float
"""An atomic value in a goal or an answer. A name is a string."""


class Variable(NamedTuple):
    """A variable of a goal. One that begins with `_` is not part of an answer, and `_` is new
    wherever it stands.
    """

    name: str

    @property
    def shown(self) -> bool:
        """Return True if answers have the value of the variable."""
        return not self.name.startswith("_")


class Goal(NamedTuple):
    """One goal. `module` is empty for an unqualified one. `text` is the goal as it was written.

    A named tuple, as all values that each query makes: it is made four times as fast as a frozen
    dataclass, and a query takes 30 µs.
    """

    module: str
    name: str
    arguments: tuple[Value | Variable, ...]
    text: str

    @property
    def indicator(self) -> str:
        """Return the name with the number of arguments, such as `node_health/2`."""
        module = f"{self.module}:" if self.module else ""
        return f"{module}{self.name}/{len(self.arguments)}"


def parse_goal(text: str) -> Goal:
    """Return the goal. Whether its predicate exists is not checked here.

    Raises GoalRefused for anything that is more than one plain goal, and GoalInvalid for a text
    that is no complete goal.
    """
    if len(text) > MOST_GOAL_CHARS:
        raise GoalRefused(
            f"the goal has {len(text)} characters, and {MOST_GOAL_CHARS} are the most",
            hint="ask one predicate with plain arguments, such as node_health(pve1, Status)",
        )
    matched = _GOAL.fullmatch(text)
    if matched is None:
        _explain_mismatch(text)
    module, name, arguments = matched.groups()
    if " " in arguments:
        arguments = arguments.replace(" ", "")  # no argument has a space inside
    parsed = tuple(map(_parse_argument, arguments.split(",")))
    return Goal(module or "", name, parsed, text)


def render_value(value: Value) -> str:
    """Return a value as it is written in a goal: quoted if it is no plain word."""
    if not isinstance(value, str) or re.fullmatch(_WORD, value, re.ASCII):
        return str(value)
    return f"'{value}'"


def is_name(text: str) -> bool:
    """Return True if the text has the form of a name of a node, rack, group or metric."""
    return re.fullmatch(NAME_FORM, text, re.ASCII) is not None


@functools.lru_cache(maxsize=512)
def _variable(word: str) -> Variable:
    return Variable(word)


def _parse_argument(word: str) -> Value | Variable:
    first = word[0]
    if "a" <= first <= "z":
        return word
    if "A" <= first <= "_":  # between Z and _ are signs that no argument begins with
        return _variable(word)
    if first == "'":
        return word[1:-1]
    return float(word) if "." in word else int(word)


def _explain_mismatch(text: str) -> NoReturn:
    """Raise the error for a text that is no goal. It never returns."""
    if not text.strip(" "):
        raise GoalInvalid("the goal is empty", hint="ask for example node_health(pve1, Status)")
    tokens = _read_tokens(text)
    at = _skip_head(text, tokens)
    wants_argument = True
    while True:
        if at == len(tokens):
            _invalid(text, "it ends before the closing bracket")
        kind, word = tokens[at]
        at += 1
        if kind == "sign":
            _check_sign(text, word, wants_argument=wants_argument)
            if word == ")":
                break
        elif not wants_argument:
            _refuse_two_words(text, tokens[at - 2], (kind, word))
        else:
            _check_word(text, kind, word)
        wants_argument = kind == "sign"
    if tokens[at : at + 1] == [("sign", ")")]:
        _invalid(text, "it has a closing bracket too many")
    _refuse(text, "something follows the first goal; a query is exactly one goal")


def _refuse_two_words(text: str, first: tuple[str, str], second: tuple[str, str]) -> NoReturn:
    """Raise the error for two words with nothing between them that a goal may have there."""
    if first[0] == second[0] == "quoted":
        _refuse(text, "a quoted name has a quotation mark in it")
    if f"{first[1]}{second[1]}" in text:
        _refuse(text, f"{first[1]}{second[1]} is neither a number nor a name; names need quotes")
    _invalid(text, f"a comma is missing before {second[1]!r}")


def _check_sign(text: str, sign: str, *, wants_argument: bool) -> None:
    """Refuse a sign that may not stand between arguments."""
    if sign == "(":
        _refuse(text, "an argument is a nested term; only names, numbers and variables may be")
    if sign == ":":
        _refuse(text, "an argument has the operator ':'; put a name with it in quotes")
    if wants_argument:
        _invalid(text, f"an argument is missing before '{sign}'")


def _read_tokens(text: str) -> list[tuple[str, str]]:
    """Return kind and text of each token. Raises GoalRefused, GoalInvalid."""
    tokens: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        matched = _TOKEN.match(text, at)
        if matched is None:
            _refuse_character(text, at)
        if matched.lastgroup:
            tokens.append((matched.lastgroup, matched[0]))
        at = matched.end()
    return tokens


def _skip_head(text: str, tokens: list[tuple[str, str]]) -> int:
    """Return the index behind `name(`. Raises GoalRefused, GoalInvalid."""
    at = 0
    if tokens[1:2] == [("sign", ":")]:
        at = 2
        if tokens[0][0] != "word":
            _refuse(text, f"{tokens[0][1]!r} is no module")
    if at == len(tokens):
        _invalid(text, "it ends before the name of a predicate")
    kind, word = tokens[at]
    if kind != "word":
        _refuse(text, f"{word!r} is no name of a predicate: that begins with a small letter")
    _check_word(text, kind, word)
    following = tokens[at + 1][1] if at + 1 < len(tokens) else ","
    if following in (",", ":"):
        _refuse(text, f"{word}/0 is no predicate of the knowledge base")
    if following != "(":
        _invalid(text, f"an opening bracket is missing behind {word!r}")
    if text[text.index("(") - 1] == " ":
        _invalid(text, f"a space stands between {word!r} and its bracket")
    return at + 2


def _check_word(text: str, kind: str, word: str) -> None:
    if kind == "number" and not re.fullmatch(_NUMBER, word, re.ASCII):
        _refuse(text, f"the number {word[:40]} has too many digits, or begins with 0")
    if len(word) > MOST_NAME_CHARS:
        _refuse(text, f"{word[:20]}… has {len(word)} characters; {MOST_NAME_CHARS} are the most")


def _refuse_character(text: str, at: int) -> NoReturn:
    """Raise the error for the character at `at`, which begins no token."""
    char = text[at]
    if char == "'":
        if text.count("'") % 2:
            _invalid(text, "a quotation mark is not closed")
        _refuse(text, "a quoted name may only have letters, digits and the signs . _ : -")
    if not char.isascii():
        name = unicodedata.name(char, "no name")
        _refuse(text, f"U+{ord(char):04X} ({name}) is no ASCII character")
    if not char.isprintable():
        _refuse(text, f"it has the control character U+{ord(char):04X}")
    known = {"%": "a comment", "[": "a list", '"': "a string", "{": "a set", "!": "a cut"}
    what = "a comment" if text[at : at + 2] == "/*" else known.get(char, "an operator")
    fix = "; put a name with it in quotes: 'pve-1'" if char in "-." else ""
    _refuse(text, f"{char!r} is {what}{fix}")


def _refuse(text: str, reason: str) -> NoReturn:
    raise GoalRefused(
        f"the goal {text!a} is refused: {reason}",
        hint="ask one predicate with plain arguments; `pulsus kb query --help` lists them",
    )


def _invalid(text: str, reason: str) -> NoReturn:
    raise GoalInvalid(
        f"the goal {text!a} is not complete: {reason}",
        hint="write it like node_health(pve1, Status)",
    )
