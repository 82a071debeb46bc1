"""Doc feature: tf-idf overlap of request and tool (spec §4 `doc_keywords`).

scikit-learn fits it once; what stays is plain postings, so a query imports nothing of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pulsus.core.rankers.fields import bag, places
from pulsus.core.rankers.text import stem

FORMAT = 1
_PIVOT = 0.5
"""How far a tool's length counts (0 not, 1 cosine). Over five routing sets
0.5 and 0.7 were alike, 0.3 and 1 worse."""

Posting = tuple[int, float, int]
"""Tool number, tf-idf weight, places as bits."""


@dataclass(frozen=True, slots=True)
class DocIndex:
    """A fitted catalogue. `vocabulary` maps each word as written to its stem.

    `names` holds each tool's name as stems. Numbers are positions in the order of fitting.
    """

    size: int
    idf: Mapping[str, float]
    postings: Mapping[str, Sequence[Posting]]
    names: tuple[tuple[str, ...], ...]
    vocabulary: Mapping[str, str]

    @property
    def unseen(self) -> float:
        """The idf of a word no tool has."""
        return math.log(1 + self.size) + 1

    def weight(self, key: str) -> float:
        """The idf of a stem, seen or not."""
        return self.idf.get(key, self.unseen)


def fit(tools: Sequence[Mapping[str, list[str]]]) -> DocIndex:
    """The index of tools given by their words (`field_words`), in that order.

    Sublinear tf, smoothed idf; a tool's length counts by pivoted normalisation.
    """
    bags = [bag(fields) for fields in tools]
    bits = [places(fields) for fields in tools]
    vocabulary = {w: stem(w) for fields in tools for found in fields.values() for w in found}
    names = tuple(tuple(dict.fromkeys(stem(w) for w in fields["name"])) for fields in tools)
    idf: dict[str, float] = {}
    postings: dict[str, list[Posting]] = {}
    if any(bags):
        for key, weight, column in _columns(bags):
            idf[key] = weight
            postings[key] = [(n, value, bits[n][key]) for n, value in column]
    return DocIndex(len(tools), idf, postings, names, dict(sorted(vocabulary.items())))


def _columns(
    bags: Sequence[Mapping[str, int]],
) -> list[tuple[str, float, list[tuple[int, float]]]]:
    """Each stem with its idf and its (tool, weight) pairs, in stem order."""
    import numpy as np  # both only while fitting: they take about a second to import
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.feature_extraction.text import TfidfTransformer

    counter = DictVectorizer(dtype=np.float64)
    weigher = TfidfTransformer(norm=None, sublinear_tf=True)
    matrix = weigher.fit_transform(counter.fit_transform(bags))
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    pivot = float(norms[norms > 0].mean())
    by_stem = matrix.tocsc()
    out = []
    for number, key in enumerate(counter.get_feature_names_out()):
        column = slice(by_stem.indptr[number], by_stem.indptr[number + 1])
        pairs = sorted(zip(by_stem.indices[column], by_stem.data[column], strict=True))
        shares = [
            (int(tool), round(float(v / (1 - _PIVOT + _PIVOT * norms[tool] / pivot)), 6))
            for tool, v in pairs
        ]
        out.append((str(key), round(float(weigher.idf_[number]), 6), shares))
    return out


def to_json(index: DocIndex) -> dict[str, Any]:
    """JSON values from which `from_json` makes an equal index."""
    return {
        "format": FORMAT,
        "size": index.size,
        "idf": dict(index.idf),
        "postings": {key: [list(p) for p in found] for key, found in index.postings.items()},
        "names": [list(name) for name in index.names],
        "vocabulary": dict(index.vocabulary),
    }


def from_json(data: Mapping[str, Any]) -> DocIndex | None:
    """The index, or None where the data is damaged or of another format: fit it anew."""
    if data.get("format") != FORMAT:
        return None
    try:
        index = DocIndex(
            size=int(data["size"]),
            idf={str(key): float(weight) for key, weight in data["idf"].items()},
            postings={
                str(key): [(int(n), float(weight), int(bits)) for n, weight, bits in found]
                for key, found in data["postings"].items()
            },
            names=tuple(tuple(map(str, name)) for name in data["names"]),
            vocabulary={str(word): str(key) for word, key in data["vocabulary"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return index if _whole(index) else None


def _whole(index: DocIndex) -> bool:
    """Whether every part speaks of the same tools and stems."""
    numbers = range(index.size)
    return (
        len(index.names) == index.size
        and index.idf.keys() == index.postings.keys()
        and all(n in numbers for found in index.postings.values() for n, _, _ in found)
    )
