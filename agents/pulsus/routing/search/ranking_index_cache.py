"""Cache the ranking index between runs (spec §13). Effect: two files in the state folder.

A cached index is stale if the digest of the tools or of the counting code differs; few changes are
kept beside it.

`ranking.bin` holds a whole catalogue. `ranking-new.bin` holds the tools that came, changed or went
since then, as long as they are few.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from pulsus.config.settings import RankerConfig
from pulsus.core.contract.tool_table import make_columns
from pulsus.core.rankers.feature_protocol import Feature
from pulsus.core.rankers.lexical import index_builder
from pulsus.core.rankers.lexical.documents import Documents
from pulsus.core.rankers.lexical.index_segment import KIND, IndexSegment, encode
from pulsus.core.rankers.lexical.query_terms import Synonyms
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.core.system import cache_file
from pulsus.core.types import ToolSpec
from pulsus.fast_dataclass import dataclass

BASE = "ranking.bin"
NEW = "ranking-new.bin"

_FEW = 32
_SHARE = 0.02
"""Changed tools up to which, with this share of the catalogue, only they are counted anew."""


def load_rank_index(
    tools: Sequence[ToolSpec],
    config: RankerConfig,
    *,
    features: Sequence[Feature],
    synonyms: Synonyms,
    state_dir: Path | None,
) -> tuple[Ranker, tuple[str, ...]]:
    """Return the index of `tools` in id order, and one warning where a kept one was damaged.

    What an earlier run counted is used again. `state_dir` None neither reads nor writes. A file
    that cannot be written only costs the next run its head start.
    """
    warnings: tuple[str, ...] = ()
    documents = None
    if state_dir:
        kept = _IndexFiles(state_dir / "index")
        documents = kept.documents(tools)
        warnings = tuple(kept.warnings)
    index = Ranker.build(tools, config, features=features, synonyms=synonyms, documents=documents)
    return index, warnings


class _IndexFiles:
    """The two files of one state folder. `warnings` say what of them was of no use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.warnings: list[str] = []

    def documents(self, tools: Sequence[ToolSpec]) -> Documents:
        """Return the words of these tools; what is new of them is counted and kept."""
        key = _index_key(make_columns(tools).digest)
        base = self._open(BASE)
        if base is not None and base.key == key:
            return Documents.of(base)
        new = self._open(NEW) if base is not None else None
        if base is not None and new is not None and new.key == _following(key, base):
            return Documents.of(base, new)
        prints = index_builder.prints_of(tools)
        if base is not None:
            change = _catalogue_change(base, make_columns(tools).ids, prints)
            if change.size <= _FEW + _SHARE * len(base):
                return Documents.of(base, self._follow(base, key, change, tools, prints))
        data = index_builder.pack_index(zip(tools, prints, strict=True), key=key)
        cache_file.save(self.folder / BASE, data)
        return Documents.of(IndexSegment.from_bytes(data))

    def _follow(
        self,
        base: IndexSegment,
        key: str,
        change: _CatalogueChange,
        tools: Sequence[ToolSpec],
        prints: Sequence[bytes],
    ) -> IndexSegment:
        """Count and save what is new or changed since `base`."""
        new = [(tools[n], prints[n]) for n in change.new]
        following = _following(key, base)
        data = index_builder.pack_index(new, key=following, removed=change.removed)
        cache_file.save(self.folder / NEW, data)
        return IndexSegment.from_bytes(data)

    def _open(self, name: str) -> IndexSegment | None:
        return cache_file.load(self.folder / name, KIND, IndexSegment, self.warnings.append)


@dataclass(frozen=True, slots=True)
class _CatalogueChange:
    """Positions of tools that came or changed, and numbers of kept ones that went or changed."""

    new: tuple[int, ...]
    removed: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.new) + len(self.removed)


def _catalogue_change(
    base: IndexSegment, ids: Sequence[str], prints: Sequence[bytes]
) -> _CatalogueChange:
    known = {base.ids.raw(n): n for n in range(len(base))}
    new, kept = [], set()
    for position, (tool_id, own) in enumerate(zip(ids, prints, strict=True)):
        number = known.get(encode(tool_id))
        if number is not None and base.print(number) == own:
            kept.add(number)
        else:
            new.append(position)
    return _CatalogueChange(tuple(new), tuple(n for n in range(len(base)) if n not in kept))


def _index_key(digest: str) -> str:
    """Return the key of an index: the tools, and the code that counts."""
    told = repr((index_builder.ANALYSIS, digest))
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()


def _following(key: str, base: IndexSegment) -> str:
    return f"{key} after {base.checksum:08x}"
