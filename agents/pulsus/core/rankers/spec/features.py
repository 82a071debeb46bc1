"""The features of spec §4 as it names them: name similarity and keywords of the docs.

`spec_ranker.py` weighs them and adds them up.

The first vectors import scikit-learn, which takes about a second. Only an engine that uses these
features may import this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process, utils

from pulsus.core.types import ToolSpec

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

Floats = NDArray[np.float64]

_ROWS = 256
"""Texts compared with all others at once. The whole square of 10,000 texts takes 800 MB."""


def plain_name(text: str) -> str:
    """Return the words of a name or a request: lower case, only letters and digits, one space."""
    return " ".join(utils.default_process(text.replace("_", " ")).split())


def name_similarity(request: str, names: Sequence[str]) -> Floats:
    """Return how alike the request and each name are, in [0, 1].

    `names` come from `plain_name`. The similarity is rapidfuzz's token-set ratio: 1 if the request
    says every word of the name, in any order. It is 0 if either side has no word. Source: spec §4
    `name_similarity` ("token/Levenshtein").
    """
    if not names:
        return np.zeros(0)
    scores = process.cdist(
        [plain_name(request)], names, scorer=fuzz.token_set_ratio, dtype=np.float64
    )
    ratios: Floats = scores[0] / 100
    return ratios


def doc_text(tool: ToolSpec) -> str:
    """Return the text that keywords are taken from: the docstring, and the manifest's intents.

    Source: spec §4 (docstring) and §15 (a manifest gives ranking hints).
    """
    return "\n".join((tool.doc, *(tool.manifest.intents if tool.manifest else ())))


@dataclass(frozen=True, eq=False)
class DocKeywords:
    """tf-idf vectors of texts, by scikit-learn's `TfidfVectorizer` with its default settings.

    A word is two or more letters, digits or underscores, in lower case. Its weight in a text is its
    count times `1 + ln((1 + texts) / (1 + texts with the word))`. Every vector has length 1.
    """

    vectorizer: TfidfVectorizer | None
    matrix: Any
    split: Callable[[str], list[str]]

    @classmethod
    def of(cls, texts: Sequence[str]) -> DocKeywords:
        """Return the vectors of these texts. Texts without any word give no vectors."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer()
        split = vectorizer.build_analyzer()
        if not any(map(split, texts)):  # scikit-learn refuses an empty vocabulary
            return cls(None, None, split)
        return cls(vectorizer, vectorizer.fit_transform(texts), split)

    def similarity(self, request: str, texts: int) -> Floats:
        """Return the cosine of the request and each of the `texts` texts, in [0, 1].

        0 if they share no word. Source: spec §4 `doc_keywords` ("tf-idf style overlap").
        """
        if self.vectorizer is None:
            return np.zeros(texts)
        found: Floats = (self.matrix @ self.vectorizer.transform([request]).T).toarray().ravel()
        return np.clip(found, 0.0, 1.0)  # a sum of rounded products may pass 1 by a hair

    def similar_pairs(self, least: float) -> Iterator[tuple[int, int, float]]:
        """Yield the positions of two texts, and their cosine, if it is at least `least`."""
        if self.vectorizer is None:
            return
        count = self.matrix.shape[0]
        for start in range(0, count, _ROWS):
            cosines = (self.matrix[start : start + _ROWS] @ self.matrix.T).toarray()
            for row, other in zip(*np.nonzero(cosines >= least), strict=True):
                if start + row < other:
                    yield int(start + row), int(other), min(1.0, float(cosines[row, other]))

    def shared_words(self, one: int, other: int, most: int) -> tuple[str, ...]:
        """Return the words that add most to the cosine of two texts, at most `most` of them."""
        if self.vectorizer is None:
            return ()
        products = self.matrix[one].multiply(self.matrix[other]).toarray().ravel()
        order = np.argsort(-products, kind="stable")[:most]
        words = self.vectorizer.get_feature_names_out()
        return tuple(str(words[n]) for n in order if products[n] > 0)
