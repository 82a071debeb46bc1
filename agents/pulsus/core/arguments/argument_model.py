"""The fitted model of arguments: weights of features, trees of the confidence (ADR 36).

`argument_model.json` beside this file was fitted by `scripts/fit_arguments.py`. The threshold of a
value's p is in `core/arguments/candidates/fill_limits.py`. No language model is meant here: that
one is asked in `routing/inputs/ask_model_for_inputs.py`. Effect: reads it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pulsus.fast_dataclass import dataclass

FILE = Path(__file__).with_suffix(".json")


@dataclass(frozen=True, slots=True)
class ArgumentModel:
    """Weights that score a value for an input, and trees that say how likely a choice is right.

    A tree is a list of nodes: [feature, threshold, left, right], or [value] for a leaf. A feature
    is a place in `names`; `left` is taken for numbers up to the threshold.
    """

    weights: Mapping[str, float]
    names: Sequence[str]
    start: float
    trees: Sequence[Sequence[Sequence[float]]]

    def score(self, features: Mapping[str, float]) -> float:
        """Return the sum of the features' weights (a logit)."""
        weights = self.weights
        return sum(weights.get(name, 0.0) * value for name, value in features.items())

    def probability(self, features: Mapping[str, float]) -> float:
        """Return the probability, 0 to 1, that a choice with these numbers is right."""
        values = [features.get(name, 0.0) for name in self.names]
        logit = self.start
        for tree in self.trees:
            node = tree[0]
            while len(node) > 1:
                node = tree[int(node[2] if values[int(node[0])] <= node[1] else node[3])]
            logit += node[0]
        return 1.0 / (1.0 + math.exp(-logit))


def parse_model(document: Mapping[str, Any]) -> ArgumentModel:
    """Return the model that `scripts/fit_arguments.py` wrote."""
    return ArgumentModel(
        document["weights"], document["names"], document["start"], document["trees"]
    )


@cache
def shipped_model() -> ArgumentModel:
    """Return the model of the package, read once."""
    return parse_model(json.loads(FILE.read_text(encoding="utf-8")))
