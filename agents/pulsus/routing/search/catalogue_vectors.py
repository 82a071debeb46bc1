"""Encode a catalogue as vectors: its tools, and the phrases of its folders (spec §3, §4).

If embeddings are used at all is decided in `bootstrap/ranking_setup.py`. Vectors are cached by
`routing/search/vector_cache.py`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pulsus.core.contract.tool_table import make_columns
from pulsus.core.embeddings.meaning_similarity import TextSimilarity
from pulsus.core.embeddings.text_vector import join_parts
from pulsus.core.memory.request_index import PastRequest
from pulsus.core.types import ToolSpec
from pulsus.late_pattern import late_pattern
from pulsus.routing.search.vector_cache import Owned, VectorFiles

_TEXTS = 3
"""Version of the way in which texts are made from tools; change it with them."""

REMEMBERED = 50
"""Past requests of one tool that are compared with: they are encoded once, and looked at always."""

_PARTS = late_pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^\w]+|_+")


def tools_meaning(
    tools: Sequence[ToolSpec],
    files: VectorFiles,
    name: str = "tools",
    past: Iterable[PastRequest] = (),
) -> TextSimilarity:
    """Return the meaning of `tools` (in id order) by position; `name` is that of the collection.

    A tool is as like a request as its own text or the likest of the requests it was right for:
    its manifest's, and the last `REMEMBERED` of `past` (oldest first).
    """
    right = _right(past)
    digest = _digest(tools)
    if digest and right:
        said = json.dumps(sorted(right.items())).encode("ascii")
        digest = f"{digest} {hashlib.sha256(said).hexdigest()}"

    def texts() -> list[Owned]:
        return [(n, text) for n, tool in enumerate(tools) for text in _texts(tool, right)]

    return TextSimilarity(files.encoder, files.vectors(name, texts, digest))


def _right(past: Iterable[PastRequest]) -> dict[str, list[str]]:
    """Return the last requests each tool was right for, each once."""
    found: dict[str, dict[str, None]] = {}
    for request in past:
        for tool_id in request.right:
            said = found.setdefault(tool_id, {})
            said.pop(request.request, None)
            said[request.request] = None
    return {tool_id: list(said)[-REMEMBERED:] for tool_id, said in found.items()}


def _texts(tool: ToolSpec, right: Mapping[str, Sequence[str]]) -> dict[str, None]:
    told = tool.manifest.requests if tool.manifest else ()
    return dict.fromkeys((_passage(tool), *told, *right.get(tool.id, ())))


def _passage(tool: ToolSpec) -> str:
    """Name and summary, together and each by itself: a word of a short name weighs little in the
    whole, and over eight sets the mean of the three ranked better than any one."""
    if not tool.summary:
        return tool_text(tool)
    return join_parts(tool_text(tool), tool.summary, spaced(tool.name))


def tool_text(tool: ToolSpec) -> str:
    """Return the tool as text: its name, then its summary.

    Over seven sets "name: summary" ranked best. It beat a full stop between them, the name as
    written, added arguments, and separate sentences.
    """
    return f"{spaced(tool.name)}: {tool.summary}"


def spaced(name: str) -> str:
    """Return an identifier as words: `listOpen_ports` gives "list Open ports"."""
    return " ".join(_PARTS.sub(" ", name).split())


def phrases(tools: Sequence[ToolSpec]) -> Mapping[tuple[str | None, str], tuple[str, ...]]:
    """Return the phrases of each folder: its own name and its tools.

    Intents of manifests are left to the words. They are seventeen times as many texts, and placed
    only 0.5 % more of the shipped tools' requests.
    """
    found: dict[tuple[str | None, str], dict[str, None]] = {}
    for tool in tools:
        said = found.setdefault((tool.domain, tool.action), {})
        said[f"{spaced(tool.action)} {spaced(tool.domain or '')}".strip()] = None
        said[tool_text(tool)] = None
    return {place: tuple(said) for place, said in found.items()}


def folders_meaning(tools: Sequence[ToolSpec], files: VectorFiles) -> TextSimilarity:
    """Return the meaning of folders, by position in the sorted places of `phrases`."""
    vectors = files.vectors("folders", lambda: list(_owned(tools)), _digest(tools))
    return TextSimilarity(files.encoder, vectors)


def _digest(tools: Sequence[ToolSpec]) -> str:
    """Names the texts of `tools`; "" for rows of a file, which have no hash of their own."""
    found = make_columns(tools)
    return f"{_TEXTS} {found.digest}" if all(found.sha256) else ""


def _owned(tools: Sequence[ToolSpec]) -> Iterator[Owned]:
    said = phrases(tools)
    for number, place in enumerate(sorted(said, key=place_order)):
        yield from ((number, text) for text in said[place])


def place_order(place: tuple[str | None, str]) -> tuple[str, str]:
    """Return the order of folders in the parser."""
    return place[0] or "", place[1]
