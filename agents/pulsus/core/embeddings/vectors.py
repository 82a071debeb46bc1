"""Vectors of many texts: how like each is to a request, and as bytes and back (spec §13). Pure.

A file is one header line of JSON, then the texts' hashes, their owners and their vectors, row by
row. Half precision: it moves a cosine by less than 0.001 and halves the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pulsus.core.embeddings.encoder import DIMENSION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float16]

FORMAT = 1
HASH_BYTES = 16
FIRST = 200
"""Owners a request is told of: no more are ever looked at."""


def text_hash(text: str) -> bytes:
    """What a text's vector is kept under."""
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
        """Each text's vector by its hash."""
        return dict(zip(self.keys, self.rows, strict=True))

    def likeness(self, asked: Any, first: int = FIRST) -> Mapping[int, float]:
        """Cosine in [-1, 1] of the owners most like `asked`, each by the best of its rows."""
        import numpy as np

        if not len(self.rows):
            return {}
        starts = self._starts
        best = np.maximum.reduceat(self._wide @ asked, starts)
        top = np.argsort(-best, kind="stable")[:first]
        # Six digits: what lies beyond depends on the machine's order of addition.
        return {
            int(owner): min(1.0, max(-1.0, round(float(value), 6)))
            for owner, value in zip(self.owners[starts[top]], best[top], strict=True)
        }

    @cached_property
    def _wide(self) -> NDArray[np.float32]:
        import numpy as np

        return self.rows.astype(np.float32)

    @cached_property
    def _starts(self) -> Any:
        """The first row of each owner."""
        import numpy as np

        return np.flatnonzero(np.diff(self.owners.astype(np.int64), prepend=-1))


def stack(
    keys: Sequence[bytes], owners: Sequence[int], rows: Sequence[Any], digest: str
) -> Vectors:
    """The vectors of these rows."""
    import numpy as np

    matrix = np.asarray(rows, dtype=np.float16).reshape(len(keys), DIMENSION)
    return Vectors(tuple(keys), np.asarray(owners, dtype=np.uint32), matrix, digest)


def to_bytes(vectors: Vectors, model: str) -> bytes:
    """A file from which `from_bytes` makes equal vectors."""
    owners, rows = vectors.owners.astype("<u4"), vectors.rows.astype("<f2")
    body = b"".join(vectors.keys) + owners.tobytes() + rows.tobytes()
    header = {
        "format": FORMAT,
        "model": model,
        "digest": vectors.digest,
        "rows": len(vectors.keys),
        "sha256": hashlib.sha256(body).hexdigest(),
    }
    return json.dumps(header).encode("ascii") + b"\n" + body


def from_bytes(data: bytes, model: str) -> Vectors | None:
    """The vectors of a file; None where another format or model wrote it.

    Raises ValueError for a damaged file.
    """
    import numpy as np

    head, _, body = data.partition(b"\n")
    header = json.loads(head)
    if not isinstance(header, dict):
        raise ValueError("its header is no JSON object")
    if (header.get("format"), header.get("model")) != (FORMAT, model):
        return None
    if header.get("sha256") != hashlib.sha256(body).hexdigest():
        raise ValueError("its checksum is wrong")
    count = int(header["rows"])
    if len(body) != count * (HASH_BYTES + 4 + 2 * DIMENSION):
        raise ValueError("its length is wrong")
    cut, end = count * HASH_BYTES, count * (HASH_BYTES + 4)
    keys = tuple(body[n : n + HASH_BYTES] for n in range(0, cut, HASH_BYTES))
    owners = np.frombuffer(body[cut:end], dtype="<u4")
    rows = np.frombuffer(body[end:], dtype="<f2").reshape(count, DIMENSION)
    return Vectors(keys, owners, rows, str(header.get("digest", "")))
