"""Similarity of meaning (embeddings) of a request to known texts (spec §4, §5).

`vectors.py` computes the cosine. Its share in a score is decided in `core/rankers/scorer.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from pulsus.core.embeddings.vectors import Vectors

if TYPE_CHECKING:
    from pulsus.core.embeddings.encoder import Encoder, Vector


@dataclass(frozen=True, eq=False)
class TextSimilarity:
    """Finds the texts that are similar to a request, by owner. Pure: same text, same numbers."""

    encoder: Encoder
    vectors: Vectors

    def similar(self, text: str) -> Mapping[int, float]:
        """Cosine in [-1, 1] by owner: for tools, by position in the index's tools."""
        return self.vectors.likeness(request_vector(self.encoder, text))


@lru_cache(maxsize=256)
def request_vector(encoder: Encoder, text: str) -> Vector:
    """Return a request's vector; one request is asked about its tools, folders and documents."""
    return next(iter(encoder.encode([text])))
