"""What a catalogue means, as vectors: its tools, and the phrases of its folders (spec §3, §4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pulsus.core.catalogue import columns
from pulsus.core.embeddings.meaning import Meaning
from pulsus.core.types import ToolSpec
from pulsus.routing.vectors import Owned, VectorFiles

_TEXTS = 1
"""Of the way texts are made from tools: another way, another number."""

_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^\w]+|_+")


def tools_meaning(tools: Sequence[ToolSpec], files: VectorFiles, name: str = "tools") -> Meaning:
    """The meaning of `tools` (in id order) by position; `name` is that of the collection."""
    vectors = files.vectors(name, lambda: list(enumerate(map(tool_text, tools))), _digest(tools))
    return Meaning(files.encoder, vectors)


def tool_text(tool: ToolSpec) -> str:
    """What a tool is, in words: its name, then its summary. "name: summary" ranked best over seven
    sets, before a full stop in between, the name as written, arguments added or sentences apart."""
    return f"{spaced(tool.name)}: {tool.summary}"


def spaced(name: str) -> str:
    """An identifier as words: `listOpen_ports` gives "list Open ports"."""
    return " ".join(_PARTS.sub(" ", name).split())


def phrases(tools: Sequence[ToolSpec]) -> Mapping[tuple[str | None, str], tuple[str, ...]]:
    """What each folder is about: its own name and its tools. Their manifests' intents, seventeen
    times as many texts, placed 0.5 % more of the shipped tools' requests and are left to words."""
    found: dict[tuple[str | None, str], dict[str, None]] = {}
    for tool in tools:
        said = found.setdefault((tool.domain, tool.action), {})
        said[f"{spaced(tool.action)} {spaced(tool.domain or '')}".strip()] = None
        said[tool_text(tool)] = None
    return {place: tuple(said) for place, said in found.items()}


def folders_meaning(tools: Sequence[ToolSpec], files: VectorFiles) -> Meaning:
    """The meaning of folders, by position in the sorted places of `phrases`."""
    vectors = files.vectors("folders", lambda: list(_owned(tools)), _digest(tools))
    return Meaning(files.encoder, vectors)


def _digest(tools: Sequence[ToolSpec]) -> str:
    """Names the texts of `tools`; "" for rows of a file, which have no hash of their own."""
    found = columns(tools)
    return f"{_TEXTS} {found.digest}" if all(found.sha256) else ""


def _owned(tools: Sequence[ToolSpec]) -> Iterator[Owned]:
    said = phrases(tools)
    for number, place in enumerate(sorted(said, key=place_order)):
        yield from ((number, text) for text in said[place])


def place_order(place: tuple[str | None, str]) -> tuple[str, str]:
    """The order of folders in the parser."""
    return place[0] or "", place[1]
