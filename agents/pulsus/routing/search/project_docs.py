"""RAG over the docs of a project, as hints (spec §14). Effect: reads them, keeps one file.

At most 2,000 files of up to 1 MB each are read. The passages are searched in
`core/retrieval/passage_index.py`, and the cache is stale if a document or tool differs.

Read are the tools' docstrings, `docs/`, `ADRs/` and `domains/**/README.md` of the catalogue. What
is found there may say which folder a request means and which of two tools a plan takes; scores,
p, τ and policy do not know of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.core.contract.tool_table import make_columns
from pulsus.core.retrieval import document_passages, passage_index
from pulsus.core.retrieval.document_passages import DocSection, Place, ToolIdNames
from pulsus.core.retrieval.passage_index import PassageIndex
from pulsus.core.system import cache_file
from pulsus.core.types import ToolSpec

if TYPE_CHECKING:
    from pulsus.routing.search.vector_cache import VectorFiles

FORMAT = 1
MAX_FILES = 2000
MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Document:
    """One Markdown file; `source` is its path in the project, `about` what all of it speaks of."""

    source: str
    text: str
    about: tuple[Place, ...] = ()


@dataclass
class ProjectDocs:
    """The docs of one project. `state_dir` None keeps nothing.

    `warnings` say what was not read, used or kept.
    """

    project: Path
    workflows_root: Path
    state_dir: Path | None
    warnings: list[str] = field(default_factory=list)

    def shelf(self, tools: Sequence[ToolSpec], vectors: VectorFiles | None = None) -> PassageIndex:
        """Return the passages of docs and `tools`, ready for searching; by meaning too with
        `vectors`.
        """
        found = make_columns(tools)
        documents = list(islice(self._documents(found.ids), MAX_FILES + 1))
        if len(documents) > MAX_FILES:
            documents.pop()
            self.warnings.append(f"only the first {MAX_FILES} files of docs are read for hints")
        digest = _digest(found.digest, documents)
        shelf = self._load(digest) if all(found.sha256) else None

        def cut() -> list[DocSection]:
            known = ToolIdNames.of(found.ids)
            read = (
                document_passages.of_document(d.source, d.text, known, d.about) for d in documents
            )
            return [*document_passages.of_tools(tools), *(one for some in read for one in some)]

        if shelf is None:
            shelf = PassageIndex.of(cut())
            self._save(digest, shelf)
        if vectors is None:
            return shelf
        from pulsus.core.embeddings.meaning_similarity import TextSimilarity

        def texts() -> list[tuple[int, str]]:
            return [(n, f"{s.heading}: {s.text}") for n, s in enumerate(cut())]

        return replace(
            shelf,
            meaning=TextSimilarity(vectors.encoder, vectors.vectors("passages", texts, digest)),
        )

    def _documents(self, ids: Sequence[str]) -> Iterator[Document]:
        places = sorted(set(ToolIdNames.of(ids).places.values()), key=lambda p: (p[0] or "", p[1]))
        for folder in (self.project / "docs", self.project / "ADRs"):
            for path in sorted(folder.rglob("*.md")):
                yield from self._read(path)
        domains = self.workflows_root / "domains"
        for path in sorted(domains.rglob("README.md")):
            inside = path.relative_to(domains).parts[:-1]
            about = tuple((d, a) for d, a in places if (d, a)[: len(inside)] == inside[:2])
            yield from self._read(path, about if inside else ())

    def _read(self, path: Path, about: tuple[Place, ...] = ()) -> Iterator[Document]:
        """Yield the document, unless a link leads out of the project or it is too large."""
        try:
            if not path.resolve().is_relative_to(self.project.resolve()) or not path.is_file():
                return
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except (OSError, RuntimeError) as error:
            self.warnings.append(f"{path} is not read for hints: {error}")
            return
        if len(data) > MAX_BYTES:
            self.warnings.append(f"{path} is not read for hints: larger than {MAX_BYTES} bytes")
            return
        source = path.relative_to(self.project).as_posix()
        yield Document(source, data.decode("utf-8", "replace"), about)

    @property
    def _file(self) -> Path | None:
        return self.state_dir / "cache" / "rag" / "passages.jsonl" if self.state_dir else None

    def _load(self, digest: str) -> PassageIndex | None:
        if self._file is None:
            return None
        return cache_file.load(
            self._file,
            digest,
            lambda cached: passage_index.from_json(cached.values),
            self.warnings.append,
        )

    def _save(self, digest: str, shelf: PassageIndex) -> None:
        if self._file is None:
            return
        failure = cache_file.save(self._file, cache_file.pack(digest, passage_index.to_json(shelf)))
        if failure:
            self.warnings.append(f"{self._file.name} not saved: {failure}")


def _digest(tools: str, documents: Sequence[Document]) -> str:
    """Names what the passages are cut from."""
    told = hashlib.sha256(f"{FORMAT} {tools}".encode())
    for document in documents:
        said = json.dumps([document.source, document.text, document.about])
        told.update(said.encode("ascii"))
    return told.hexdigest()
