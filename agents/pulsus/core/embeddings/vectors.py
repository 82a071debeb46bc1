"""Compare a request with the vectors of many texts, and store the vectors (spec §13). Pure.

The numbers have half precision: that moves a cosine by less than 0.001 and halves the file.
`routing/search/vector_cache.py` keeps the file between runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pulsus.core.embeddings.encoder import DIMENSION
from pulsus.core.system import cache_file
from pulsus.core.system.cache_file import CacheFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float16]

KIND = "vectors 2"
"""The kind of a file, with the name of the model behind it."""
HASH_BYTES = 16
FIRST = 200
"""The most owners that a request reads."""


def text_hash(text: str) -> bytes:
    """Return the key of a text's vector."""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()[:HASH_BYTES]


@dataclass(frozen=True, eq=False)
class Vectors:
    """One unit vector a row. `owners` says whose each is: a number, never less than the row before.

    `keys` are the texts' hashes; `digest` names what the rows were made from, "" where nothing
    does.
    """

    keys: Sequence[bytes]
    owners: NDArray[np.uint32]
    rows: Rows
    digest: str = ""

    def known(self) -> dict[bytes, Any]:
        """Return each text's vector by its hash."""
        return dict(zip(self.keys, self.rows, strict=True))

    def likeness(self, asked: Any, first: int = FIRST) -> Mapping[int, float]:
        """Cosine in [-1, 1] of the owners most like `asked`, each by the best of its rows."""
        import numpy as np

        if not len(self.rows):
            return {}
        starts = self._first_rows
        best = np.maximum.reduceat(self._float32_rows @ asked, starts)
        top = np.argsort(-best, kind="stable")[:first]
        # Six digits: what lies beyond depends on the machine's order of addition.
        return {
            int(owner): min(1.0, max(-1.0, round(float(value), 6)))
            for owner, value in zip(self.owners[starts[top]], best[top], strict=True)
        }

    @cached_property
    def _float32_rows(self) -> NDArray[np.float32]:
        import numpy as np

        return self.rows.astype(np.float32)

    @cached_property
    def _first_rows(self) -> Any:
        """Return the first row of each owner."""
        import numpy as np

        return np.flatnonzero(np.diff(self.owners.astype(np.int64), prepend=-1))


def stack(
    keys: Sequence[bytes], owners: Sequence[int], rows: Sequence[Any], digest: str
) -> Vectors:
    """Return the vectors of these rows."""
    import numpy as np

    matrix = np.asarray(rows, dtype=np.float16).reshape(len(keys), DIMENSION)
    return Vectors(tuple(keys), np.asarray(owners, dtype=np.uint32), matrix, digest)


def to_bytes(vectors: Vectors, model: str) -> bytes:
    """Return a file from which `from_content` makes equal vectors."""
    columns = {
        "keys": b"".join(vectors.keys),
        "owners": vectors.owners.astype("<u4").tobytes(),
        "rows": vectors.rows.astype("<f2").tobytes(),
    }
    return cache_file.pack(f"{KIND} {model}", vectors.digest, columns)


def from_content(content: CacheFile) -> Vectors:
    """Return the vectors of a file. Raises KeyError or ValueError for damage."""
    import numpy as np

    data = bytes(content.columns["keys"])
    keys = tuple(data[n : n + HASH_BYTES] for n in range(0, len(data), HASH_BYTES))
    owners = np.frombuffer(content.columns["owners"], dtype="<u4")
    rows = np.frombuffer(content.columns["rows"], dtype="<f2").reshape(len(keys), DIMENSION)
    if len(owners) != len(keys):
        raise ValueError("its columns have different lengths")
    return Vectors(keys, owners, rows, str(content.values))
