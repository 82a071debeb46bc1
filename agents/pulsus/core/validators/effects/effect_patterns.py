"""Matches declared effects against observed ones (docs/tool-contract.md). Pure.

Wildcards and `{name}` of `Effects:` are read here; `observed_against_declared.py` refuses what no
item covers. An item is a pattern (a path, a host, a program; `{name}` stands for an argument's
value) or words ("the given file"). Words cover the inputs of the call, and nothing else.
"""

from __future__ import annotations

import ipaddress
import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from pulsus.core.types import JsonValue
from pulsus.late_pattern import late_pattern

_PLACEHOLDER = late_pattern(r"\{(\w+)\}")
_PATH_START = ("/", "~", ".", "{", "*")
WORK_FOLDER = "/tmp"
"""The folder of a dry run, with the files of its examples."""
_FOUND_IN = ("/bin/", "/sbin/", "/usr/", "/opt/", "/snap/bin/", "/nix/store/")
_VERSION = late_pattern(r"[0-9.]+\Z")
_TOKEN = late_pattern(r"\*\*|\\.|.", re.DOTALL)

Inputs = Mapping[str, JsonValue]


def is_path_covered(path: str, declared: tuple[str, ...], inputs: Inputs) -> bool:
    """Return True if a changed path (absolute, or `~/…`) is declared, or lies below one."""
    if not all(map(_is_path, declared)) and _is_below_given(path, inputs):
        return True
    patterns = (p for item in declared if _is_path(item) for p in _fill_placeholders(item, inputs))
    return any(
        matches_wildcard(_normalise_path(pattern).rstrip("/"), path, below=True)
        for pattern in patterns
    )


def is_host_covered(host: str, declared: tuple[str, ...], inputs: Inputs) -> bool:
    """Return True if a host (`name`, `name:port`, `[v6]:port`, `unix:…`) is declared."""
    given = {name for text in _list_texts(inputs) for name in _list_hosts(text)}
    if not all(map(_is_pattern, declared)) and _split_port(host)[0] in given:
        return True
    return any(
        _is_matching_host(host, _unescape_pattern(pattern), network=not _PLACEHOLDER.search(item))
        for item in declared
        if _is_pattern(item)
        for pattern in _fill_placeholders(item, inputs)
    )


def is_command_covered(command: str, declared: tuple[str, ...], inputs: Inputs) -> bool:
    """Return True if a started program is declared, by name or by the same path.

    A name covers the program of that name where the system keeps programs, not one elsewhere.
    """
    for item in declared:
        for pattern in _fill_placeholders(item, inputs):
            words = _unescape_pattern(pattern).split()
            if words and _is_same_program(command, words[0]):
                return True
    return False


def _is_same_program(command: str, wanted: str) -> bool:
    if wanted in ("*", command):
        return True
    if "/" in wanted or ("/" in command and not command.startswith(_FOUND_IN)):
        return False
    name = posixpath.basename(command)
    return name == wanted or _VERSION.sub("", name) == wanted  # python3.11 is a python


def _is_below_given(path: str, inputs: Inputs) -> bool:
    given = (_normalise_path(text) for text in _list_texts(inputs))
    return any(path == each or path.startswith(f"{each}/") for each in given if each != "/")


def _is_path(item: str) -> bool:
    return item.startswith(_PATH_START) or (" " not in item and "/" in item)


def _is_pattern(item: str) -> bool:
    return " " not in item


def _normalise_path(path: str) -> str:
    """Return the path as absolute and without `..`. A leading `~` stays."""
    if path.startswith("~"):
        return posixpath.normpath(path)
    return posixpath.normpath(posixpath.join(WORK_FOLDER, path))


def _fill_placeholders(item: str, inputs: Inputs) -> Iterator[str]:
    """Yield the item with the values of the arguments that it names, taken literally."""
    names = _PLACEHOLDER.findall(item)
    if not names:
        yield item
        return
    values: JsonValue = inputs.get(names[0])
    for value in values if isinstance(values, list) else [values]:
        if isinstance(value, str | int) and value != "":
            known = {name: _escape_literal(inputs.get(name)) for name in names}
            known[names[0]] = _escape_literal(value)
            parts = _PLACEHOLDER.split(item)  # text and names in turn
            yield "".join(known[part] if n % 2 else part for n, part in enumerate(parts))


def _escape_literal(value: JsonValue) -> str:
    """Return a pattern for exactly this text or number, or for nothing if it is neither."""
    return re.sub(r"([*?\\])", r"\\\1", str(value)) if isinstance(value, str | int) else "\0"


def _unescape_pattern(pattern: str) -> str:
    return re.sub(r"\\(.)", r"\1", pattern)


def _list_texts(value: object) -> Iterator[str]:
    """Yield every string among the inputs."""
    todo = [value]
    while todo:
        match todo.pop():
            case str() as text if text:
                yield text
            case Mapping() as fields:
                todo.extend(fields.values())
            case list() as items:
                todo.extend(items)
            case _:
                pass


def _list_hosts(text: str) -> Iterator[str]:
    """Yield the hosts that an input may name: itself, or that of a URL or `host:port`."""
    if len(text) > 2000:
        return
    yield text.lower()
    try:
        found = urlsplit(text if "://" in text else f"//{text}").hostname
    except ValueError:
        return
    if found:
        yield found


def _split_port(host: str) -> tuple[str, str]:
    """Return the name in lower case without brackets, and the port or ""."""
    if host.startswith("unix:"):
        return host, ""
    if host.startswith("["):
        name, _, port = host[1:].partition("]")
        return name.lower(), port.removeprefix(":")
    name, colon, port = host.rpartition(":")
    return (name.lower(), port) if colon and name and ":" not in name else (host.lower(), "")


def _is_matching_host(host: str, pattern: str, *, network: bool) -> bool:
    """Return True if the pattern matches the host.

    With `network` the pattern may be a network. An argument's value is always a host.
    """
    name, port = _split_port(host)
    wanted, wanted_port = _split_port(pattern)
    if wanted_port not in ("", "*") and port not in ("", wanted_port):
        return False
    if network and _is_in_network(name, wanted):
        return True
    return matches_wildcard(re.sub(r"([?\\])", r"\\\1", wanted), name, separator="")


def _is_in_network(name: str, wanted: str) -> bool:
    try:
        return ipaddress.ip_address(name) in ipaddress.ip_network(wanted, strict=False)
    except ValueError:
        return False


class _Compiled(NamedTuple):
    letters: dict[str, int]
    """A letter of the pattern → its places."""
    any_letter: int
    """Places of `?`."""
    within: int
    """Places of `*`: any letters but `/`."""
    across: int
    """Places of `**`: any letters."""
    length: int


def matches_wildcard(pattern: str, text: str, *, below: bool = False, separator: str = "/") -> bool:
    """Tell whether `text` is what the pattern describes.

    `*` and `?` stay within one part, `**` does not; a backslash makes the next letter plain. With
    `below`, what lies below such a path matches too. Without a `separator` there is one part.

    A pattern comes from a docstring, so it must not be able to hold up the match: a regular
    expression with many stars tries every way to split the text. Here all ways go forward together,
    one bit for each state of the pattern (Baeza-Yates and Gonnet, 1992).
    """
    compiled = _compile_pattern(pattern)
    stars = compiled.within | compiled.across
    end = 1 << compiled.length
    states = _with_skipped_stars(1, stars)
    for letter in text:
        if below and letter == separator and states & end:
            return True
        inner = letter != separator
        stay = states & (stars if inner else compiled.across)
        taken = states & (compiled.letters.get(letter, 0) | (compiled.any_letter if inner else 0))
        states = _with_skipped_stars(stay | taken << 1, stars)
        if not states:
            return False
    return bool(states & end)


def _with_skipped_stars(states: int, stars: int) -> int:
    """Return the states and those behind a star, because a star may match no letter."""
    return states | (states & stars) << 1


@lru_cache(maxsize=1024)
def _compile_pattern(pattern: str) -> _Compiled:
    letters: dict[str, int] = {}
    places = {"?": 0, "*": 0, "**": 0}
    place, before = 0, ""
    for token in _TOKEN.findall(pattern):
        if before in ("*", "**") and token in ("*", "**"):
            if token == "**" and before == "*":  # the wider of two stars side by side
                places["*"] &= ~(1 << place - 1)
                places["**"] |= 1 << place - 1
                before = token
            continue
        before = token
        if token in places:
            places[token] |= 1 << place
        else:
            letter = token[1:] if len(token) == 2 else token
            letters[letter] = letters.get(letter, 0) | 1 << place
        place += 1
    return _Compiled(letters, places["?"], places["*"], places["**"], place)
