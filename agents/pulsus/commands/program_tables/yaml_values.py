"""Values of a parsed table file by what they have to be. Each raises BadTable for anything else.

A typo in a key gets the nearest known one. Invalid tables are reported by
`commands/table_check/checker.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import get_args

from pulsus.commands.command_verdict import Category


class BadTable(ValueError):
    """A table that cannot be read; the text names the key and what is wrong."""


def nearest(word: str, known: Collection[str]) -> str:
    """Return the known word that is nearest to `word`, or all known words."""
    # Late: only a table that is wrong needs it.
    from difflib import get_close_matches

    close = get_close_matches(word, sorted(known), 1)
    return f"did you mean {close[0]!r}?" if close else f"known are {', '.join(sorted(known))}"


def mapping(raw: Mapping[str, object], key: str, name: str) -> Mapping[str, object]:
    value = raw.get(key, {})
    if not isinstance(value, Mapping):
        raise BadTable(f"{name}: {key} is not a mapping of words")
    for word in value:
        if not isinstance(word, str):
            raise BadTable(f"{name}: {key}: {no_text(word)}")
    return value


def no_text(value: object) -> str:
    """Return what YAML made of a word without quotes (`on`, `no`, `5`), and what to do."""
    if value is True or value is False:
        return f"YAML takes the word for {str(value).lower()}: quote it, as 'on', 'no' or 'yes'"
    return f"YAML takes the word for {value!r}, which is no text: quote it"


def listed(raw: Mapping[str, object], key: str, name: str) -> list[object]:
    value = raw.get(key, [])
    if not isinstance(value, list):
        raise BadTable(f"{name}: {key} is not a list")
    return value


def text_of(raw: Mapping[str, object], key: str, name: str) -> str:
    value = raw.get(key, "")
    if not isinstance(value, str):
        why = "write words with blanks between" if isinstance(value, list) else no_text(value)
        raise BadTable(f"{name}: {key} is not a text: {why}")
    return value


def flag(raw: Mapping[str, object], key: str, name: str) -> bool:
    value = raw.get(key, False)
    if not isinstance(value, bool):
        raise BadTable(f"{name}: {key} is neither true nor false: {value!r}")
    return value


def category_of(raw: Mapping[str, object], name: str, key: str = "category") -> Category | None:
    value = raw.get(key)
    if value is None or value in get_args(Category):
        return value  # type: ignore[return-value]  # one of the literals
    raise BadTable(f"{name}: {key} {value!r} is none of {', '.join(get_args(Category))}")


def reasons(raw: Mapping[str, object], name: str) -> dict[str, str]:
    """Return the reason for each option or subcommand that `refused` names."""
    found = mapping(raw, "refused", name)
    for words, why in found.items():
        if not isinstance(why, str) or not why.strip():
            raise BadTable(f"{name}: refused {words} has no reason: {words}: it writes a file")
    return {word: str(why) for words, why in found.items() for word in words.split()}


def reasons_below(
    refused: Mapping[str, str], style: str, above: Mapping[str, str]
) -> dict[str, str]:
    """Return those of options that hold for subcommands too, added to what is known from `above`.

    Of options with one letter only where a program's are its subcommands' (gnu); elsewhere the same
    letter may be another option.
    """
    options = (word for word in refused if word[0] == "-" and (style == "gnu" or len(word) > 2))
    return {**above, **{word: refused[word] for word in options}}
