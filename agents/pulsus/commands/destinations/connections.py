"""The destinations of one call, from its words and the `connects` of its table. Pure.

If such a host is allowed is decided in `gates/egress.py`. Each word is read in
`named_destinations.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pulsus.commands.command_verdict import Destination
from pulsus.commands.destinations.addresses import NetworkPlace, UnknownPlace, has_scheme
from pulsus.commands.destinations.declared_words import declared_words, named_ports
from pulsus.commands.destinations.named_destinations import places
from pulsus.commands.destinations.relayed_hosts import hosts_in_header, relayed_hosts
from pulsus.commands.program_tables.connects_declaration import (
    CONFIGURED,
    INDEX,
    LOCAL,
    ON_THE_WAY,
    Connects,
)
from pulsus.commands.program_tables.option_parser import Parsed
from pulsus.commands.shell.words import Word

_NOT_SENT: Final = frozenset(
    {"path", "file", "number", "decimal", "count", "duration", "size", "literal", "command"}
)
"""Kinds of values that stay here, or say nothing."""
_FILES: Final = frozenset(
    {
        "maybe",
        "colon",
        "rsync",
        "git",
        "mongo",
        "filter",
        "moved",
        "postgres",
        "cloud",
        "inside",
        "qemu",
        "remote",
    }
)
"""Kinds where a word may name no place at all, so that a pattern of file names names none."""
_NAMES_OF_FILES: Final = frozenset({"inet"})
"""Kinds where a word is the name of a file, and no pattern of file names can become a place."""
_ASKED: Final = frozenset({"account"})
"""Kinds where a word is no place, and is asked of the one that this machine is set to."""
_SENT_WHOLE: Final = frozenset({"forge"})
"""Kinds where a word is sent to the place too: the name of a repository."""
_FETCHED: Final = frozenset({"url", "urls", "httpie"})
"""Kinds where a word is an address, whose path may name more places."""
_HEADERS: Final = frozenset(
    {"-H", "--header", "--proxy-header", "-b", "--cookie", "-e", "--referer"}
)
_DIG_SETTING: Final = re.compile(r"\+[a-z]+")
"""Settings of how dig asks and prints. A setting with a value may be sent."""
_ENDS: Final = ("/", "?", "#")


def connections(
    declared: Connects, called: str, levels: Sequence[Parsed]
) -> tuple[Destination, ...]:
    """Return the destinations of the call of `called` (a program and subcommands).

    Its place is `dynamic` if it is not known before the call runs.
    """
    program, *below = called.split(" ")
    call_words = frozenset((*below, *(word.text for word in levels[-1].operands)))
    names = {one.name for parsed in levels for one in parsed.given}
    if declared.quiet & names:
        return ()
    ports = named_ports(declared, levels)
    found: list[NetworkPlace | None] = []
    asked = frozenset[str]().union(*(s.when for s in declared.sources if s.place in _ASKED))
    # The name of a database says where the next word is looked up, and goes nowhere.
    used = {id(word) for word in levels[-1].operands[:1] if word.text in asked}
    known: set[int] = set()
    for source in declared.sources:
        if source.when and source.when.isdisjoint(call_words):
            continue
        for word in declared_words(source, levels):
            here = list(_places_in_word(source.place, word))
            found += _with_ports(here, source.place, ports)
            if source.place in _FETCHED:
                found += relayed_hosts(word.text)
            if here or source.place == "postgres":
                known.add(id(word))
            if _is_only_a_place(source.place, word.text, here):
                used.add(id(word))
    found += _places_in_headers(declared, levels)
    sent = [word for word in _words_sent(declared, levels) if id(word) not in used]
    found += _unexpected_places(declared, [word for word in sent if id(word) not in known])
    if declared.unless.isdisjoint(names):
        found = _with_unnamed_places(declared, found, call_words | names, ports)
    if any(word.wild for word in sent):
        # What another program found would be asked of an index that everybody can write to.
        found = [None if place == NetworkPlace(INDEX) else place for place in found]
    texts = tuple(word.text for word in sent)
    return tuple(
        Destination(
            host="" if place is None else place.host,
            port=None if place is None else _port_of(declared, place),
            program=program,
            dynamic=place is None,
            sends=texts,
        )
        for place in dict.fromkeys(found)
    )


def _with_unnamed_places(
    declared: Connects,
    found: Sequence[NetworkPlace | None],
    call_words: frozenset[str],
    ports: Sequence[int],
) -> list[NetworkPlace | None]:
    """Return `found`, or else the place that counts without one, and those that always count."""
    instead = () if found else _implicit_places(declared.otherwise, call_words)
    always = _implicit_places(declared.also, call_words)
    return [*found, *_with_ports(instead, "", ports), *always]


def _takes_addresses(declared: Connects) -> bool:
    """Return False for a program that connects for names of files alone (awk)."""
    named = [source for source in declared.sources if source.place not in _NAMES_OF_FILES]
    return bool(named or declared.otherwise or declared.also)


def _unexpected_places(declared: Connects, words: Sequence[Word]) -> Iterator[NetworkPlace | None]:
    """Yield the places of addresses where a table expects none."""
    for word in words if _takes_addresses(declared) else ():
        if has_scheme(word.text):
            yield from _places_in_word("maybe", word)


def _places_in_headers(
    declared: Connects, levels: Sequence[Parsed]
) -> Iterator[NetworkPlace | None]:
    """Yield the places that headers of a request name: a proxy connects there."""
    if any(source.place in _FETCHED for source in declared.sources):
        for one in (one for parsed in levels for one in parsed.given if one.name in _HEADERS):
            for word in one.values:
                yield from hosts_in_header(word.text)


def _is_only_a_place(kind: str, text: str, here: Sequence[NetworkPlace | None]) -> bool:
    """Return True if a word says no more than where its places are: nothing else of it is sent.

    A path, a user or a setting in the same word reaches the place.
    """
    if not here or kind in _ASKED or kind in _SENT_WHOLE:
        return False
    return all(_is_place_alone(text, place, fetched=kind in _FETCHED) for place in here)


def _is_place_alone(text: str, place: NetworkPlace | None, *, fetched: bool) -> bool:
    if place is None or place.host == CONFIGURED or (place.host == LOCAL and not fetched):
        return True
    bare = place.host.removeprefix("@").casefold()
    spelled = {bare, f"[{bare}]"}
    if place.port is not None:
        spelled |= {f"{one}:{place.port}" for one in spelled}
    return text.casefold() in spelled


def _implicit_places(
    listed: Sequence[tuple[str, frozenset[str]]], call_words: frozenset[str]
) -> list[NetworkPlace | None]:
    """Return the places that the program connects to without a word that names them."""
    applying = (text for text, when in listed if not when or not when.isdisjoint(call_words))
    return [NetworkPlace(text) if text else None for text in applying]


def _with_ports(
    found: Sequence[NetworkPlace | None], kind: str, ports: Sequence[int]
) -> Iterator[NetworkPlace | None]:
    """Yield the places at the ports that other words name.

    Programs differ on which of two ports counts, so a place with another one is yielded with both.
    libpq alone is known to take that of a connection string.
    """
    for place in found:
        own = place is None or place.port is not None
        if own or not ports or kind in ON_THE_WAY:
            yield place
        if place is not None and kind not in ON_THE_WAY and not (own and kind == "postgres"):
            yield from (NetworkPlace(place.host, port) for port in ports)


def _port_of(declared: Connects, place: NetworkPlace) -> int | None:
    """Return the port of a place, or None if it is not known. A place that the client's own
    configuration names has a port only if a word names it."""
    if place.port is not None:
        return place.port or None
    return None if place.host[:1] == "@" else declared.port


def _places_in_word(kind: str, word: Word) -> Iterator[NetworkPlace | None]:
    """Yield the places of a word, and None for a place that is not known."""
    text = word.text
    if word.wild and kind not in _ASKED:
        if kind in _NAMES_OF_FILES and not word.head.startswith("/inet"):
            return
        if kind in _FILES and word.head and ":" not in word.text:
            return
        # No name that a pattern finds has a slash, so `://` would stand in the pattern.
        if kind in {"maybe", "moved"} and ":" not in word.text and "//" not in word.text:
            return
        text = word.head
        behind = text.partition("://")[2] or text
        # `http://host/a?b`: the host is literal, and only what follows stands for file names.
        if not any(sign in behind for sign in _ENDS):
            yield None
            return
    try:
        yield from places(kind, text)
    except UnknownPlace:
        yield None


def _words_sent(declared: Connects, levels: Sequence[Parsed]) -> Iterator[Word]:
    """Yield the words that may reach the other side: operands, and values that are no local
    files."""
    for parsed in levels:
        for one in parsed.given:
            if one.option.kind is not None and one.option.kind.name not in _NOT_SENT:
                yield from one.values
            elif any(one.name in source.options for source in declared.ports):
                yield from one.values  # the number of a port reaches the other side
    asks_names = any(source.place == "dig" for source in declared.sources)
    for word in levels[-1].operands:
        if not (asks_names and _DIG_SETTING.fullmatch(word.text)):
            yield word


def is_local(destination: Destination) -> bool:
    """Return True if it is this machine by the name that tables use for it."""
    return destination.host == LOCAL and not destination.dynamic
