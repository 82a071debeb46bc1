"""Find the folders and hosts that the `Effects:` of a call name, if they are certain before it.

These are the only folders that a confined write may change. None means undecided: the items are
words, or patterns, whose meaning only the run shows. Effect: looks which folders exist.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from pulsus.core.python_source import python_parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pulsus.core.types import JsonValue, ToolSpec

    Inputs = Mapping[str, JsonValue]


_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_PATH_START = ("/", "~", ".", "{")
_GIVEN = re.compile(r"(?:the|both|each|every) (?:given |named )?(.+)\Z")
_MORE = re.compile(r"\b(?:and|or|those|its|their|of|it)\b")
_JOINED = re.compile(r" (?:and|or) ")
_PLACES = ("path", "file", "folder", "dir", "directory", "out", "output", "target", "destination")
_HOSTS = ("host", "address", "url", "server", "site", "name", "endpoint", "hosts", "servers")
_HOST = re.compile(r"[\w.:\-\[\]%]{1,253}\Z")


def declared_folders(tool: ToolSpec, inputs: Inputs) -> tuple[str, ...] | None:
    """Return the folders of the declared paths, as far as they exist."""
    if tool.effects is None:
        return None
    inputs = {**literal_defaults(tool), **inputs}
    found: list[str] = []
    for item in tool.effects.paths:
        values = (
            _fill_placeholders(item, inputs)
            if _is_path(item)
            else _described_values(item, tool, inputs, _PLACES)
        )
        if values is None:
            return None
        for value in values:
            place = _writable_folder(value)
            if place is None:
                return None
            found.append(place)
    return tuple(dict.fromkeys(found))


def named_paths(tool: ToolSpec, inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Yield each input that the declared paths are about, with each path in its value.

    `the given file or folder` is about the inputs of both words.
    """
    names: dict[str, None] = {}
    for item in tool.effects.paths if tool.effects else ():
        if not _is_path(item):
            first, *more = _JOINED.split(item)
            for part in (first, *(f"the {each}" for each in more)):
                names |= dict.fromkeys(_described_names(part, tool, _PLACES) or ())
    for name in names:
        for text in _texts_in_value(inputs.get(name)):
            yield name, text


def declared_hosts(tool: ToolSpec, inputs: Inputs) -> tuple[str, ...] | None:
    """Return the declared hosts of this call: names, addresses, either with a port."""
    if tool.effects is None:
        return ()
    inputs = {**literal_defaults(tool), **inputs}
    found: list[str] = []
    for item in tool.effects.hosts:
        if item.startswith("unix:"):
            continue
        words = " " in item
        values = (
            _described_values(item, tool, inputs, _HOSTS)
            if words
            else _fill_placeholders(item, inputs)
        )
        if values is None:
            return None
        for value in values:
            found += _hosts_in(value)
    return tuple(dict.fromkeys(found))


def literal_defaults(tool: ToolSpec) -> dict[str, JsonValue]:
    """Return the defaults of its arguments that are literal values."""
    found: dict[str, JsonValue] = {}
    for arg in tool.args:
        if arg.default is not None:
            try:
                found[arg.name] = python_parser.read_literal(arg.default)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
    return found


def _is_path(item: str) -> bool:
    return item.startswith(_PATH_START) or (" " not in item and "/" in item)


def _fill_placeholders(item: str, inputs: Inputs) -> list[str] | None:
    """Return the item with its placeholders filled; None for a pattern or an unknown value."""
    if any(mark in item for mark in "*?"):
        return None
    names = _PLACEHOLDER.findall(item)
    if not names:
        return [item]
    many = inputs.get(names[0])
    found = []
    for value in many if isinstance(many, list) else [many]:
        known = {name: inputs.get(name) for name in names} | {names[0]: value}
        if not all(isinstance(each, str | int) for each in known.values()):
            return None
        parts = _PLACEHOLDER.split(item)  # text and names in turn
        found.append("".join(str(known[p]) if n % 2 else p for n, p in enumerate(parts)))
    return [each for each in found if each]


def _described_values(
    item: str, tool: ToolSpec, inputs: Inputs, kinds: tuple[str, ...]
) -> list[str] | None:
    """Return the values of the arguments that words such as "the given figure path" are about."""
    chosen = _described_names(item, tool, kinds)
    values = [text for name in chosen or () for text in _texts_in_value(inputs.get(name))]
    return values if chosen else None


def _described_names(item: str, tool: ToolSpec, kinds: tuple[str, ...]) -> list[str] | None:
    described = _GIVEN.match(item.lower())
    if described is None or _MORE.search(described[1]):
        return None
    names = [arg.name for arg in tool.args]
    exact = [name for name in names if name.replace("_", " ") == described[1]]
    return exact or [name for name in names if set(name.split("_")) & set(kinds)]


def _texts_in_value(value: JsonValue) -> Iterator[str]:
    match value:
        case str() as text if text:
            yield text
        case list() as items:
            for item in items:
                yield from _texts_in_value(item)
        case _:
            pass


def _writable_folder(text: str) -> str | None:
    """Return the folder to open so that this path can be written; None if it is too wide."""
    path = Path(os.path.realpath(Path(text).expanduser()))
    place = path if path.is_dir() else path.parent
    while not place.is_dir():
        place = place.parent
    wide = (Path("/"), Path.home(), *(Path(p) for p in ("/etc", "/usr", "/var", "/home", "/root")))
    return None if place in wide and place != path else str(place)


def _hosts_in(text: str) -> Iterator[str]:
    if len(text) > 2000:
        return
    try:
        found = urlsplit(text if "://" in text else f"//{text}")
        name, port = found.hostname, found.port
    except ValueError:
        name, port = None, None
    if name:
        shown = f"[{name}]" if ":" in name else name
        yield f"{shown}:{port}" if port else name
    if _HOST.match(text) and text.count(":") != 1:
        yield text.lower()
