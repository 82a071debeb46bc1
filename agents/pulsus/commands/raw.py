"""Values of a parsed table file by what they have to be. Each raises BadTable for anything else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from pulsus.commands.verdict import Category


class BadTable(ValueError):
    """A table that cannot be read; the text names the key and what is wrong."""


def mapping(raw: Mapping[str, object], key: str, name: str) -> Mapping[str, object]:
    value = raw.get(key, {})
    if not isinstance(value, Mapping) or not all(isinstance(k, str) for k in value):
        raise BadTable(f"{name}: {key} is not a mapping of words")
    return value


def listed(raw: Mapping[str, object], key: str, name: str) -> list[object]:
    value = raw.get(key, [])
    if not isinstance(value, list):
        raise BadTable(f"{name}: {key} is not a list")
    return value


def text_of(raw: Mapping[str, object], key: str, name: str) -> str:
    value = raw.get(key, "")
    if not isinstance(value, str):
        raise BadTable(f"{name}: {key} is not a text: {value!r}")
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
    """Why each option or subcommand is refused that `refused` names."""
    found = mapping(raw, "refused", name)
    return {word: str(why) for words, why in found.items() for word in words.split()}


def reasons_below(
    refused: Mapping[str, str], style: str, above: Mapping[str, str]
) -> dict[str, str]:
    """Those of options that hold for subcommands too, added to what is known from `above`.

    Of options with one letter only where a program's are its subcommands' (gnu); elsewhere the same
    letter may be another option.
    """
    options = (word for word in refused if word[0] == "-" and (style == "gnu" or len(word) > 2))
    return {**above, **{word: refused[word] for word in options}}
