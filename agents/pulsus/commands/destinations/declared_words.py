"""The words of a call that a declaration names, and the ports among them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pulsus.commands.destinations.connection_strings import read_postgres_ports
from pulsus.commands.program_tables.connects_declaration import Connects, DestinationSource
from pulsus.commands.program_tables.option_parser import Parsed
from pulsus.commands.shell.words import Word

UNKNOWN_PORT: Final = 0
"""A port that a word names in a way that is not read: a service, a range, a pattern."""
_NUMBER: Final = re.compile(r"0*([0-9]{1,5})")
_SETTING: Final = re.compile(r"(?i)port[\s=]+(.*)")


def named_ports(declared: Connects, levels: Sequence[Parsed]) -> tuple[int, ...]:
    """Return the ports that words of a call name apart from its places, UNKNOWN_PORT among them."""
    found: dict[int, None] = {}
    for source in declared.ports:
        for word in declared_words(source, levels):
            text = word.text
            if source.place == "setting":
                setting = _SETTING.fullmatch(text.strip())
                if setting is None:
                    continue
                text = setting[1]
            found[_read_port(text, wild=word.wild)] = None
    for source in declared.sources:
        if source.place == "postgres":
            for word in declared_words(source, levels):
                found |= {_read_port(text): None for text in read_postgres_ports(word.text)}
    return tuple(found)


def _read_port(text: str, *, wild: bool = False) -> int:
    number = None if wild else _NUMBER.fullmatch(text.strip())
    return int(number[1]) if number else UNKNOWN_PORT


def declared_words(source: DestinationSource, levels: Sequence[Parsed]) -> Iterator[Word]:
    """Yield the words of a call that `source` names: values of options, or operands."""
    if source.options:
        for parsed in levels:
            for one in parsed.given:
                if one.name in source.options:
                    # Given without a value, it may say alone that the place is not known.
                    unnamed = (Word(one.name),) if source.place == "dynamic" else ()
                    yield from one.values or unnamed
        yield from _option_values(source.options, levels[-1].operands)
        return
    operands = levels[-1].operands
    if source.first < 0:
        yield from operands[-1:]
    else:
        yield from operands[source.first : source.last + 1]


def _option_values(options: frozenset[str], operands: Sequence[Word]) -> Iterator[Word]:
    """Yield values of options among words that an inspector judges (`aws ec2 --profile x`)."""
    for at, word in enumerate(operands):
        if word.text[:1] != "-":
            continue
        name, equals, value = word.text.partition("=")
        if name in options:
            yield from (Word(value),) if equals else operands[at + 1 : at + 2]
