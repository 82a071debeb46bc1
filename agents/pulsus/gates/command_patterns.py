"""Patterns of commands, as policies write them (docs/command-safety.md, Policy).

This decides if a pattern of an allowlist or blocklist matches a command. The patterns that ship
(`rm -rf /`, `mkfs`, `reboot`) are defaults in `config/settings.py`, the ruling is made in
`command_policy.py`, and a pattern that can never match is refused by `config/policy_patterns.py`.

`systemctl restart nginx*`: the program, then words that the call has in this order, others between
them; letters of either case are alike, `*` and `?` as in file names. `<name>` is a host that is
named and no address, `<ip>` an address, `<system>` a folder that the system needs.
"""

from __future__ import annotations

import ipaddress
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from pulsus.commands.shell.glob_overlap import fits
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import program_name

MORE: Final = "**"
"""At the end of a pattern: any further words, or none."""

_SYSTEM: Final = {
    *("/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/root"),
    *("/run", "/sbin", "/srv", "/sys", "/usr", "/usr/bin", "/usr/lib", "/usr/sbin", "/usr/local"),
    *("/var", "/var/lib", "/var/log", "~", "$HOME"),
}


def has_words(pattern: str, words: Sequence[Word]) -> bool:
    """Return True if the call has the words of `pattern`, in this order."""
    wanted = _split_pattern(pattern)
    if wanted[-1:] == (MORE,):
        wanted = wanted[:-1]
    if not wanted or not fits(program_name(words).lower(), wanted[0].lower()):
        return False
    rest = iter(words[1:])
    return all(any(_is_word_match(one, word.text) for word in rest) for one in wanted[1:])


@lru_cache(maxsize=4096)
def select_patterns(patterns: tuple[str, ...], programs: frozenset[str]) -> tuple[str, ...]:
    """Return those of `patterns` that may be about calls of these programs: the others fit none."""
    by_name, others = _positions_by_program(patterns)
    places = {place for name in programs for place in by_name.get(name, ())}
    places |= {at for at, word in others if not word or any(fits(one, word) for one in programs)}
    return tuple(patterns[place] for place in sorted(places))


@lru_cache(maxsize=64)
def _positions_by_program(
    patterns: tuple[str, ...],
) -> tuple[Mapping[str, Sequence[int]], Sequence[tuple[int, str]]]:
    """Return the places of patterns by the plain name they begin with, and the other patterns.

    That of a pattern about every command (`@read`) is empty.
    """
    by_name: dict[str, list[int]] = {}
    others = []
    for place, pattern in enumerate(patterns):
        first = "".join(_split_pattern(pattern)[:1]).lower()
        if pattern.startswith("@"):
            others.append((place, ""))
        elif set(first) & set("*?["):
            others.append((place, first))
        elif first:
            by_name.setdefault(first, []).append(place)
    return by_name, others


@lru_cache(maxsize=1024)
def _split_pattern(pattern: str) -> tuple[str, ...]:
    return tuple(pattern.split())


def is_exactly(pattern: str, words: Sequence[Word]) -> bool:
    """Return True if the call is `pattern` word by word. `**` at its end takes any further
    words."""
    wanted = _split_pattern(pattern)
    if wanted[-1:] == (MORE,):
        wanted, words = wanted[:-1], words[: len(wanted) - 1]
    if not wanted or len(wanted) != len(words):
        return False
    if not fits(words[0].text.lower(), wanted[0].lower()) or any(word.wild for word in words):
        return False
    return all(map(_is_word_match, wanted[1:], (word.text for word in words[1:])))


def _is_word_match(pattern: str, text: str) -> bool:
    special = _SPECIAL.get(pattern)
    return special(text) if special else fits(text.lower(), pattern.lower())


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return False
    return True


def _is_host_name(text: str) -> bool:
    host = bool(re.fullmatch(r"[\w][\w.:-]*", text)) and bool(re.search(r"[A-Za-z]", text))
    return host and not _is_address(text) and not re.fullmatch(r"[\d.]+(ms|s|m|h)?", text)


def _is_system_folder(text: str) -> bool:
    whole = re.sub(r"/\*+$", "/", text)
    return (posixpath.normpath(re.sub(r"^/+", "/", whole)) if whole else "") in _SYSTEM


_SPECIAL: Final[Mapping[str, Callable[[str], bool]]] = {
    "<ip>": _is_address,
    "<name>": _is_host_name,
    "<system>": _is_system_folder,
}
