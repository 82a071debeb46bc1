"""The fitted weights of tool chains: five small linear models (ADR 41).

`chain_model.json` beside this file was fitted by `scripts/fit_tool_chains.py`. It holds weights of
named numbers only, no words of a request or a tool. Only `pulsus compose-eval` uses it. Effect:
reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FILE = Path(__file__).with_suffix(".json")

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class LinearModel:
    """Weights of named numbers. `names` are the columns that a matrix must have, in order."""

    names: Sequence[str]
    weights: Matrix
    intercept: float

    def logits(self, columns: Matrix) -> Matrix:
        """Return one logit a row. Raises ValueError for a matrix with other columns."""
        if columns.shape[1] != len(self.names):
            raise ValueError(f"{columns.shape[1]} columns, and the model has {len(self.names)}")
        found: Matrix = columns @ self.weights + self.intercept
        return found

    def probabilities(self, columns: Matrix) -> Matrix:
        """Return one probability a row, 0 to 1."""
        found: Matrix = 1.0 / (1.0 + np.exp(-self.logits(columns)))
        return found


@dataclass(frozen=True)
class ChainModel:
    """The models of the four decisions. `evidence` and `support` rate one tool at a time.

    `tool_set` rates a tool beside the other steps of a plan, `edges` a pair of steps.
    """

    evidence: LinearModel
    support: LinearModel
    tool_set: LinearModel
    edges: LinearModel


def parse_linear(document: Mapping[str, Any]) -> LinearModel:
    """Return a model from its JSON: `intercept`, and `weights` by name in column order."""
    weights = document["weights"]
    return LinearModel(
        tuple(weights),
        np.array(list(weights.values()), dtype=np.float64),
        float(document["intercept"]),
    )


def parse_model(document: Mapping[str, Any]) -> ChainModel:
    """Return the four models of one kind of catalogue: with past plans, or without."""
    return ChainModel(
        **{name: parse_linear(document[name]) for name in ChainModel.__dataclass_fields__}
    )


@cache
def shipped_model(*, past_plans: bool) -> ChainModel:
    """Return the weights of the package for requests with or without past plans. Read once."""
    document = json.loads(FILE.read_text(encoding="utf-8"))
    return parse_model(document["with_past_plans" if past_plans else "without_past_plans"])
