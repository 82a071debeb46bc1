"""Values of variables that a program which connects may send, such as the language it asks for.

git sends `LANGUAGE` as `Accept-Language`, and ssh sends `LANG` and `LC_*` where its settings say
so. Other variables name users, agents, proxies or options. So every value counts as sent, except
one usual locale: of it, only which one it is could say anything. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from locale import locale_alias
from typing import Final

from pulsus.commands.command_verdict import Destination
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import layers, program_name

_LOCALE_NAME: Final = re.compile(r"LANG|LANGUAGE|LC_[A-Z]+")
_LOCALE: Final = re.compile(r"([a-z]{2}(?:_[A-Z]{2})?)(?:\.(?:UTF-8|utf8))?")
_NEUTRAL: Final = frozenset({"", "C", "POSIX", "C.UTF-8", "C.utf8"})
_NEUTRAL_ZONES: Final = frozenset({"", "UTC", "UTC0"})
_MOST_LOCALES: Final = 1
"""Different locales of one command that say nothing. More could spell a text."""
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


def variables_of_env(words: Sequence[Word]) -> tuple[tuple[str, str], ...]:
    """Return the variables that env and wrappers such as sudo set for the program in `words`."""
    calls = [*layers(words)]
    if len(calls) == 1 and program_name(words) not in {"env", "genv"}:
        return ()  # most calls, and the quickest way for them
    before = [
        word for outer, inner in pairwise(calls) for word in outer[1 : len(outer) - len(inner)]
    ]
    if calls and program_name(calls[-1]) in {"env", "genv"}:
        before += calls[-1][1:]
    found = (_ASSIGNMENT.fullmatch(word.text) for word in before)
    return tuple((one[1], one[2]) for one in found if one is not None)


def with_variables(
    destinations: Iterable[Destination], variables: Iterable[tuple[str, str]]
) -> tuple[Destination, ...]:
    """Return the destinations, each with the values that may be sent to it as well."""
    different = tuple(dict.fromkeys(variables))
    sent = _telling(different) if different else ()
    if not sent:
        return tuple(dict.fromkeys(destinations))
    return tuple(
        dict.fromkeys(
            replace(each, sends=(*(each.sends or (each.host,)), *sent)) for each in destinations
        )
    )


def _telling(variables: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return the values that could say something."""
    usual = {value for name, value in variables if _is_usual_locale(name, value)}
    few = len(usual) <= _MOST_LOCALES
    return tuple(
        value
        for name, value in variables
        if not (_is_neutral(name, value) or (few and _is_usual_locale(name, value)))
    )


def _is_neutral(name: str, value: str) -> bool:
    if name == "TZ":
        return value in _NEUTRAL_ZONES
    return _LOCALE_NAME.fullmatch(name) is not None and value in _NEUTRAL


def _is_usual_locale(name: str, value: str) -> bool:
    """Return True for one language, or a language with a country, that systems really have."""
    found = _LOCALE.fullmatch(value) if _LOCALE_NAME.fullmatch(name) else None
    return found is not None and found[1].casefold() in locale_alias
