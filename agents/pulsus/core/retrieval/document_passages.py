"""Cut documents into passages for RAG: one for each heading (spec §14). Pure.

`passage_index.py` searches them; `routing/search/project_docs.py` says which documents are read.
`routing/generation/prompt_context.py` puts passages into a prompt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pulsus.core.types import ToolSpec
from pulsus.late_pattern import late_pattern

Place = tuple[str | None, str]
"""Domain (None = shared) and action."""

MAX_CHARS = 4000
"""Of a passage; a longer section goes on in the next one."""

_HEADING = late_pattern(r"^#{1,6}\s+(.+?)\s*#*\s*$")
_FENCE = late_pattern(r"^\s*(```|~~~)")
_TOKEN = late_pattern(r"\w[\w./-]*\w")


@dataclass(frozen=True, slots=True)
class DocSection:
    """A passage before it is searched: `places` and `tools` are what it speaks of."""

    source: str
    heading: str
    text: str
    places: tuple[Place, ...] = ()
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolIdNames:
    """Names of tools that a document may mention: ids, and names of more than one word."""

    ids: Mapping[str, Place]
    names: Mapping[str, tuple[str, ...]]
    places: Mapping[str, Place]

    @classmethod
    def of(cls, ids: Collection[str]) -> ToolIdNames:
        """Return the names in a catalogue of these ids."""
        by_id: dict[str, Place] = {}
        names: dict[str, tuple[str, ...]] = {}
        places: dict[str, Place] = {}
        for tool_id in sorted(ids):
            place, _, name = tool_id.rpartition("/")
            domain, _, action = place.partition("/")
            by_id[tool_id] = places[place] = (None if domain == "shared" else domain, action)
            if "_" in name:
                names[name] = (*names.get(name, ()), tool_id)
        return cls(by_id, names, places)

    def spoken_of(self, text: str) -> tuple[tuple[Place, ...], tuple[str, ...]]:
        """Return the places and tools a text names, in order."""
        places: dict[Place, None] = {}
        tools: dict[str, None] = {}
        for token in _TOKEN.findall(text):
            word = token.removesuffix("::run").removesuffix(".py")
            for tool_id in self.names.get(word, (word,) if word in self.ids else ()):
                tools[tool_id] = None
                places[self.ids[tool_id]] = None
            if word in self.places:
                places[self.places[word]] = None
        return tuple(places), tuple(tools)


def of_tools(tools: Sequence[ToolSpec]) -> Iterator[DocSection]:
    """Yield each tool's docstring."""
    for tool in tools:
        place = (tool.domain, tool.action)
        yield DocSection(tool.id, tool.summary, tool.doc[:MAX_CHARS], (place,), (tool.id,))


def of_document(
    source: str, text: str, known: ToolIdNames, about: Sequence[Place]
) -> Iterator[DocSection]:
    """Yield the sections of a Markdown file; `about` is what all of it speaks of, such as its
    domain.
    """
    for heading, body in _split_sections(text):
        whole = f"{heading}\n{body}"
        places, tools = known.spoken_of(whole)
        spoken = tuple(dict.fromkeys((*places, *(() if places else about))))
        for start in range(0, max(1, len(body)), MAX_CHARS):
            part = body[start : start + MAX_CHARS].strip()
            if part or heading:
                yield DocSection(source, heading, part, spoken, tools)


def _split_sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield each heading with the text below it; a `#` inside a fence is no heading."""
    heading, body, fence = "", list[str](), ""
    for line in text.splitlines():
        marked = _FENCE.match(line)
        if marked and fence in ("", marked[1]):
            fence = "" if fence else marked[1]
        found = None if fence else _HEADING.match(line)
        if found is None:
            body.append(line)
            continue
        if heading or "".join(body).strip():
            yield heading, "\n".join(body)
        heading, body = found[1], []
    if heading or "".join(body).strip():
        yield heading, "\n".join(body)
