"""Find words that a shell evaluates once more: arithmetic, variable names, `${…}`. Pure.

A subscript in any of them is a script of its own (`a[$(rm x)]`), so whatever is no plain name or
number is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pulsus.adoption.script_effects.shell_values import ARITHMETIC, BRACES, ScriptWord

TESTS = ("[[", "[", "test")
_DECLARES = ("declare", "typeset", "local", "export", "readonly")
_COMPARES = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_PLAIN = re.compile(r"[A-Za-z_]\w*\Z")
_EVALUATED = re.compile(r"[\[`$]")
_LATER = re.compile(r"`|\$\(|\w\[[^\]]*[\0$][^\]]*\]")
_BRACED = re.compile(r"(!?)#?(\w+|[@*#?$!-])?(?:\[((?:[^\]\[]|\[[^\]]*\])*)\])?(.*)\Z", re.S)
_UNSURE = {
    "hash": r"(?!-[rlt]+\Z|[^-\0])",
    "history": r"(?!\d+\Z)",
    "enable": r"(?!-[aps]\Z)",
    "jobs": r"-\w*x|\0",
    "unset": r"-\w*f|\0",
    "shopt": r"(?s:.*)(?:expand_aliases|\0)",
    **dict.fromkeys(("declare", "typeset", "local"), r"-\w*[ni]|\0"),
}
"""Words by which a builtin changes a file, or which programs start."""
_VALUED = {
    "read": ("dinNptu", "a"),
    "mapfile": ("dnOsuCc", ""),
    "readarray": ("dnOsuCc", ""),
    "unset": ("", ""),
    "wait": ("", "p"),
    "printf": ("", "v"),
}
"""Options that take a word, and those that take the name of a variable."""


def is_run_later(word: ScriptWord) -> bool:
    """Return True if arithmetic or a prompt would run a part of the value."""
    return bool(_LATER.search(word.shape))


def find_doubts(name: str, rest: Sequence[ScriptWord]) -> Iterator[tuple[ScriptWord, str]]:
    """Yield each word of a builtin whose effect is unknown, and why."""
    for word in rest if name in _UNSURE else ():
        if re.match(_UNSURE[name], word.shape):
            yield word, f"what {word.raw} does to {name} only shows when it runs"
    for word in evaluated_words(name, rest):
        yield word, f"what {word.raw} evaluates only shows when it runs"
    for word in variable_words(name, rest):
        if not _PLAIN.match(word.shape):
            yield word, f"the variable that {word.raw} names only shows when it runs"
    if name not in (*TESTS, "echo", "printf", ARITHMETIC, BRACES):
        for word in rest:
            if is_run_later(word):
                yield word, f"{word.raw} is text that may be run later"


def evaluated_words(name: str, rest: Sequence[ScriptWord]) -> Iterator[ScriptWord]:
    """Yield words of arithmetic with more than names, numbers and expansions."""
    words: list[ScriptWord] = []
    if name in ("let", ARITHMETIC):
        words = list(rest)
    elif name == BRACES:
        yield from (w for w in rest if _may_evaluate_braces(w.shape))
    elif name in TESTS:
        places = [n for n, w in enumerate(rest) if w.shape in _COMPARES]
        words = [w for n in places for w in (*rest[max(0, n - 1) : n], *rest[n + 1 : n + 2])]
    yield from (w for w in words if _EVALUATED.search(w.shape))


def _may_evaluate_braces(shape: str) -> bool:
    """Return True if the text in `${…}` may run a command or evaluate a hidden text."""
    found = _BRACED.match(shape)
    if not found or shape[:1] in (" ", "\t", "\n", "|", "("):
        return True
    indirect, name, place, rest = found[1], found[2] or "", found[3] or "", found[4]
    if indirect and name and place not in ("@", "*") and not rest.startswith(("@", "*")):
        return name not in ("OPTIND", "#")
    part = rest[1:] if rest.startswith(":") and rest[1:2] not in ("-", "=", "?", "+") else ""
    return rest == "@P" or any(_EVALUATED.search(each) for each in (place, part))


def assignment_in_braces(word: ScriptWord) -> tuple[str, str] | None:
    """Return the variable and the value of `${NAME:=value}`, or None for another form."""
    found = re.match(r"(\w+)(?:\[[^\]]*\])?:?=(.*)\Z", word.shape, re.S)
    return (found[1], found[2]) if found else None


def variable_words(name: str, rest: Sequence[ScriptWord]) -> Iterator[ScriptWord]:
    """Yield the words that name a variable to set or look up."""
    if name in TESTS:
        yield from (rest[n + 1] for n, w in enumerate(rest[:-1]) if w.shape in ("-v", "-R"))
    elif name == "getopts":
        yield from rest[1:2]
    elif name in _DECLARES:
        for word in rest:
            if not word.shape.startswith(("-", "+")):
                called, sign, _ = word.shape.partition("=")
                called = called.removesuffix("+") if sign else called
                yield ScriptWord(word.line, called, word.raw)
    elif name in _VALUED:
        yield from _variable_operands(name, rest)


def _variable_operands(name: str, rest: Sequence[ScriptWord]) -> Iterator[ScriptWord]:
    valued, named = _VALUED[name]
    words = list(rest)
    while words and re.match(r"-\w", words[0].shape):
        word = words.pop(0)
        for number, letter in enumerate(word.shape[1:], start=2):
            if letter in valued + named:
                own = word.shape[number:]
                value = (
                    ScriptWord(word.line, own, word.raw) if own else words.pop(0) if words else None
                )
                if value and letter in named:
                    yield value
                break
    if name not in ("printf", "wait"):
        yield from (w for w in words if w.shape != "--")
