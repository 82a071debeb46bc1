"""A text and its parts as one vector, so that no part is lost in the whole. Pure.

`encoder.py` has the model, and `routing/search/catalogue_vectors.py` says which text of a tool
counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pulsus.core.embeddings.encoder import Encoder, Vector

_BETWEEN = "\x1f"
_WEIGHTS = (1.0, 0.25, 0.25)
"""Weights of the whole text and of its parts. Over eight sets 0.25 to 0.5 ranked alike."""


def join_parts(whole: str, *parts: str) -> str:
    """Return one text to be encoded as the weighted mean of all; at most two parts count."""
    return _BETWEEN.join(text.replace(_BETWEEN, " ") for text in (whole, *parts))


def encode_texts(encoder: Encoder, texts: Iterable[str]) -> Iterator[Vector]:
    """Yield a unit vector for each text, in order; one that `join` made has that of all its
    parts.
    """
    for text in texts:
        whole, *parts = text.split(_BETWEEN)
        if parts:
            yield _weighted_mean(encoder, (whole, *parts))
        else:
            yield from encoder.encode([whole])


def _weighted_mean(encoder: Encoder, parts: Iterable[str]) -> Vector:
    import numpy as np

    rows = zip(_WEIGHTS, encoder.encode(parts), strict=False)
    total = np.sum([weight * row for weight, row in rows], axis=0)
    return np.asarray(total / max(float(np.linalg.norm(total)), 1e-12), dtype=np.float32)
