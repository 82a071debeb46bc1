"""Vectors kept between runs (spec §13). Effect: one file a collection, below the state folder.

The model that encodes is `core/embeddings/encoder.py`.

A text is encoded once: its vector is kept under the hash of the text, in a file that says which
model made it. Writers replace the file whole; the last one wins, and what it lacks is encoded
again by who needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulsus.core.embeddings.text_vector import encode_texts
from pulsus.core.embeddings.vectors import (
    KIND,
    Vectors,
    from_content,
    stack,
    text_hash,
    to_bytes,
)
from pulsus.core.system import cache_file

if TYPE_CHECKING:
    from pulsus.core.embeddings.encoder import Encoder

Owned = tuple[int, str]
"""Whose text it is, and the text."""

Progress = Callable[[int, int], None]
"""Told how many texts are encoded, and of how many."""


@dataclass
class VectorFiles:
    """Collections of vectors. `folder` None neither reads nor writes.

    `warnings` say why a file was not used or not written.
    """

    folder: Path | None
    encoder: Encoder
    progress: Progress | None = None
    warnings: list[str] = field(default_factory=list)
    _fresh: dict[bytes, Any] = field(default_factory=dict)

    def vectors(self, name: str, texts: Callable[[], Sequence[Owned]], digest: str = "") -> Vectors:
        """Return the vectors of `texts`, in ascending order of owner; only new texts are encoded.

        `digest` names what the texts are made from: where the file was made from the same, they
        are not asked for. "" always asks.
        """
        path = self.folder / f"{name}.vec" if self.folder else None
        kept = self._load(path) if path else None
        if kept and digest and kept.digest == digest:
            return kept
        owned = list(texts())
        keys = [text_hash(text) for _, text in owned]
        known = self._fresh | (kept.known() if kept else {})
        new = {k: text for k, (_, text) in zip(keys, owned, strict=True) if k not in known}
        fresh = self._encoded(new)
        self._fresh.update(fresh)
        rows = [fresh[key] if key in fresh else known[key] for key in keys]
        made = stack(keys, [owner for owner, _ in owned], rows, digest)
        if path and (fresh or kept is None or kept.digest != digest):
            self._save(path, made)
        return made

    def _encoded(self, texts: dict[bytes, str]) -> dict[bytes, Any]:
        made = zip(texts, encode_texts(self.encoder, texts.values()), strict=True)
        return dict(self._told(made, len(texts)))

    def _told(self, items: Iterator[tuple[bytes, Any]], count: int) -> Iterator[tuple[bytes, Any]]:
        for done, item in enumerate(items, start=1):
            if self.progress:
                self.progress(done, count)
            yield item

    def _load(self, path: Path) -> Vectors | None:
        return cache_file.load(path, f"{KIND} {self.encoder.model}", from_content, self._warn)

    def _save(self, path: Path, made: Vectors) -> None:
        if failure := cache_file.save(path, to_bytes(made, self.encoder.model)):
            self._warn(f"{path.name} not saved: {failure}")

    def _warn(self, message: str) -> None:
        line = " ".join(message.split())
        if line not in self.warnings:
            self.warnings.append(line)
