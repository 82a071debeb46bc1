"""Judge jq and yq programs: they have to read, to end, and to show no secrets.

Endless functions (`repeat`, `while`), recursion and the environment (`env`) are refused. Neither
language can write or run anything but through the few names that are refused here.

Memory is checked in `growth.py` and `doubling.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pulsus.commands.content_inspector import Opinion, Unclear
from pulsus.commands.inspectors.jq.growth import find_growth
from pulsus.commands.inspectors.jq.jq_tokens import JqToken, tokens
from pulsus.commands.shipped_data import words_of

_NAMES: Final = words_of(Path(__file__).with_name("jq_functions.yaml"))
_ENVIRONMENT: Final = frozenset({"env", "$ENV", "strenv", "envsubst"})
_SECRET: Final = re.compile(r"(?i)key|token|secret|pass|cred|auth|cookie|session|private")
_ENDLESS: Final = frozenset({"repeat", "while", "until"})
_LOOKED_INTO: Final = frozenset({"recurse", "range", "gsub", "sub", "splits", "scan"})
_MOST: Final = 40
"""Definitions, and calls that may go on, that are followed."""

_FILE: Final = re.compile(r"[\w./-]+\.(ya?ml|json|xml|toml|properties|csv|tsv|hcl)")
_DOWN: Final = re.compile(r"(\.\w+\??)*\.?\[\]\??")
_LARGE: Final = 10_000_000


def jq(words: tuple[str, ...], argument: str) -> Opinion:
    """Judges programs of jq: each of `words` is one."""
    del argument
    return _judge_programs(words, _NAMES["functions"])


def yq(words: tuple[str, ...], argument: str) -> Opinion:
    """Judges programs of either yq: the one that wraps jq, and mikefarah's (`eval`)."""
    del argument
    return _judge_programs(
        tuple(word for word in words if not _FILE.fullmatch(word)),
        _NAMES["functions"] | _NAMES["yq"],
    )


def _judge_programs(programs: tuple[str, ...], known: frozenset[str]) -> Opinion:
    for program in programs:
        try:
            found = tokens(program)
            defined = _defined_names(found)
            _check_names(found, known | defined | _NAMES["keywords"])
        except Unclear as error:
            return error.opinion
        word = _find_endless_call(found)
        grown = None if word is not None else find_growth(found)
        if word is not None or grown is not None:
            rule = f"{word}: it may not end" if word else f"{grown}: it may fill the memory"
            return Opinion(True, rule, program, category="unbounded_stream")
    return Opinion(True, "the program only reads and prints", programs[0] if programs else "")


def _defined_names(found: Sequence[JqToken]) -> frozenset[str]:
    """Return the names that the program defines: functions, and their parameters."""
    names: set[str] = set()
    if sum(t.kind == "name" and t.text in {"def", *_LOOKED_INTO} for t in found) > _MOST:
        raise Unclear("", "too long to check")
    for place, token in enumerate(found):
        if token.kind == "name" and token.text == "def":
            for one in found[place + 1 :]:
                if one.text == ":":
                    break
                names.add(one.text)
    return frozenset(names)


def _check_names(found: Sequence[JqToken], known: frozenset[str]) -> None:
    for place, token in enumerate(found):
        if token.kind not in {"name", "variable"} or _is_object_key(found, place):
            continue
        if token.text in _ENVIRONMENT:
            _check_environment(found, place)
        elif token.text in {"import", "include", "modulemeta"}:
            raise Unclear(token.text, "it reads another program")
        elif token.text in {"load", "load_str", "load_xml", "load_props", "load_base64"}:
            raise Unclear(token.text, "it reads another file")
        elif token.text in {"eval", "system", "exec"}:
            raise Unclear(token.text, "it runs a computed text")
        elif token.kind == "name" and token.text not in known:
            raise Unclear(token.text, "not a function that is known to read")


def _is_object_key(found: Sequence[JqToken], place: int) -> bool:
    """Return True if the name is an object's key: `{env: 1}`, `{env}`."""
    if found[place].inside != "{" or found[place].kind != "name" or place + 1 == len(found):
        return False
    return found[place - 1].text in {"{", ","} and found[place + 1].text in {":", ",", "}"}


def _check_environment(found: Sequence[JqToken], place: int) -> None:
    one = found[place + 1] if place + 1 < len(found) else JqToken("mark", "")
    if one.kind != "field" or _SECRET.search(one.text):
        raise Unclear(found[place].text, "the environment holds secrets; name one variable of it")


# -- what may go on


def _find_endless_call(found: Sequence[JqToken]) -> str | None:
    names = [token.text for token in found if token.kind == "name"]
    endless = next((name for name in names if name in _ENDLESS), None) or _find_recursive_function(
        found
    )
    if endless is not None:
        return endless
    if "range" in names and ("infinite" in names or any(map(_is_large_number, found))):
        return "range"
    for place, token in enumerate(found):
        if token.kind != "name" or token.text not in _LOOKED_INTO:
            continue
        arguments = _call_arguments(found, place)
        if token.text == "recurse" and arguments and not _is_descent(arguments):
            return "recurse"
        if token.text == "range" and len(arguments) > 2 and not _is_nonzero_step(arguments[2]):
            return "range"
        if (
            token.text in {"gsub", "sub", "splits", "scan"}
            and arguments
            and _may_match_empty(arguments[0])
        ):
            return token.text
    return None


def _is_large_number(token: JqToken) -> bool:
    if token.kind != "number":
        return False
    return not token.text.isdigit() or len(token.text) > 12 or int(token.text) >= _LARGE


def _call_arguments(found: Sequence[JqToken], place: int) -> list[list[JqToken]]:
    """Return the arguments in the parentheses after the name at `place`."""
    if place + 1 == len(found) or found[place + 1].text != "(":
        return []
    arguments: list[list[JqToken]] = [[]]
    depth = 0
    for token in found[place + 2 :]:
        if token.kind == "mark" and token.text in {"(", "[", "{"}:
            depth += 1
        elif token.kind == "mark" and token.text in {")", "]", "}"}:
            if depth == 0:
                break
            depth -= 1
        if token.text == ";" and depth == 0 and token.kind == "mark":
            arguments.append([])
        else:
            arguments[-1].append(token)
    return arguments


def _is_descent(arguments: Sequence[Sequence[JqToken]]) -> bool:
    """Return True for `recurse(.children[])`. It ends, because a value has a last child."""
    return (
        len(arguments) == 1 and _DOWN.fullmatch("".join(t.text for t in arguments[0])) is not None
    )


def _is_nonzero_step(tokens_of_step: Sequence[JqToken]) -> bool:
    text = "".join(token.text for token in tokens_of_step)
    return re.fullmatch(r"-?0*[1-9][0-9]*", text) is not None


def _may_match_empty(pattern: Sequence[JqToken]) -> bool:
    """Return True if the expression may match an empty text: jq 1.6 goes on replacing that for
    ever."""
    if len(pattern) != 1 or pattern[0].kind != "string":
        return False
    try:
        return re.search(pattern[0].text.replace("\\\\", "\\"), "") is not None
    except (re.error, OverflowError, RecursionError):
        return False


def _find_recursive_function(found: Sequence[JqToken]) -> str | None:
    for place, token in enumerate(found[:-1]):
        if token.kind == "name" and token.text == "def":
            name = found[place + 1].text
            body = _definition_body(found[place + 2 :])
            if any(one.kind == "name" and one.text == name for one in body):
                return name
    return None


def _definition_body(rest: Sequence[JqToken]) -> list[JqToken]:
    """Return the tokens of a definition, from after its name to the `;` that ends it."""
    depth = 0
    begun = False
    open_definitions = 1
    body: list[JqToken] = []
    for token in rest:
        if token.kind == "mark" and token.text in {"(", "[", "{"}:
            depth += 1
        elif token.kind == "mark" and token.text in {")", "]", "}"}:
            depth -= 1
        elif depth == 0 and token.text == ":" and not begun:
            begun = True
        elif depth == 0 and token.text == "def" and token.kind == "name":
            open_definitions += 1
        elif depth == 0 and token.text == ";":
            open_definitions -= 1
            if open_definitions == 0:
                break
        if begun:
            body.append(token)
    return body
