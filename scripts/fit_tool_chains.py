"""Fit the weights of tool chains (agents/pulsus/core/compose/tool_chains, ADR 41).

  python scripts/fit_tool_chains.py CASES.jsonl --catalogue TOOLS.jsonl [--write | --folds N]

The rows are those of `pulsus compose-eval`. With --folds the weights are fitted on all folds but
one and judged on that one, and nothing is written. Past plans of a row are always the other rows
of the fit. `--write` stores weights of named numbers, and no words. Needs scikit-learn.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from pulsus.cli.command_session import CommandSession
from pulsus.cli.evaluate.prepare_search import build_engine
from pulsus.core.compose.tool_chains import (
    chain_edges,
    past_plans,
    tool_evidence,
    tool_set,
    tool_support,
)
from pulsus.core.compose.tool_chains.chain_composer import ChainComposer
from pulsus.core.compose.tool_chains.chain_edges import StepPairs
from pulsus.core.compose.tool_chains.chain_model import FILE, ChainModel, LinearModel, Matrix
from pulsus.core.compose.tool_chains.past_plans import PastPlan, PastPlans
from pulsus.core.compose.tool_chains.tool_evidence import RequestScores, ToolEvidence
from pulsus.core.compose.tool_chains.tool_set import ToolSetChoice
from pulsus.core.compose.tool_chains.tool_signature import SignatureTable
from pulsus.routing.evaluation.compose_cases import ComposeCase, load_cases, load_signatures
from pulsus.routing.evaluation.compose_metrics import measure
from pulsus.routing.evaluation.compose_setup import rank_texts

_STRENGTH = {"evidence": 0.3, "support": 0.1, "tool_set": 0.1, "edges": 0.3, "past_edges": 0.1}
"""Inverse regularisation of each model, chosen by cross-validation."""
_INNER = 8


def fit_linear(
    names: Sequence[str], columns: Matrix, right: Matrix, strength: float
) -> LinearModel:
    """Return a logistic model, with the scale of the columns folded into the weights."""
    scaler = StandardScaler().fit(columns)
    model = LogisticRegression(C=strength, max_iter=3000).fit(scaler.transform(columns), right)
    weights = model.coef_[0] / scaler.scale_
    intercept = float(model.intercept_[0] - np.sum(weights * scaler.mean_))
    return LinearModel(tuple(names), weights, intercept)


class Fit:
    """Rows with their rankings, from which models of any subset are fitted."""

    def __init__(self, cases: Sequence[ComposeCase], table: SignatureTable, rank: Any) -> None:
        self.cases, self.table, self.rank = cases, table, rank
        self.scores = [RequestScores.of(case.query, rank) for case in cases]
        self.plans = [
            PastPlan.of(scores, case.tools, case.edges, table)
            for case, scores in zip(cases, self.scores, strict=True)
        ]

    def fit(self, rows: Sequence[int], *, past: bool) -> ChainModel:
        """Return the models of these rows. A row's past plans are the other rows."""
        memory = [
            PastPlans([self.plans[row] for row in rows]).without(n) if past else None
            for n in range(len(rows))
        ]
        gold = [frozenset(self.plans[row].steps) for row in rows]
        found = [
            self._collect(row, plans, right)
            for row, plans, right in zip(rows, memory, gold, strict=True)
        ]
        right = [
            np.array([tool in wanted for tool in one.tools], dtype=np.float64)
            for one, wanted in zip(found, gold, strict=True)
        ]
        votes = past_plans.NAMES if past else ()
        names = (*tool_evidence.NAMES, *votes)
        evidence, alone = self._stacked("evidence", names, [f.columns for f in found], right)
        support, p = self._stacked(
            "support",
            (*tool_support.NAMES, *names),
            [
                tool_support.collect_support(f, q, self.table)
                for f, q in zip(found, alone, strict=True)
            ],
            right,
        )
        sets, inside, edges, fed = [], [], [], []
        for n, row in enumerate(rows):
            choice = ToolSetChoice.of(self.table, found[n], p[n], memory[n])
            pool = choice.pool(gold[n])
            sets.append(choice.columns(gold[n], pool))
            inside += [tool in gold[n] for tool in pool]
            plan = self.plans[row]
            kept = memory[n]
            pairs = StepPairs(
                self.scores[row], plan.steps, self.table, kept.pairs if kept else None
            )
            edges.append(pairs.columns())
            fed += [edge in plan.edges for edge in pairs.pairs]
        set_names = (*tool_set.NAMES, *(tool_set.PAST_NAMES if past else ()))
        edge_model = "past_edges" if past else "edges"
        edge_names = (*chain_edges.NAMES, *(chain_edges.PAST_NAMES if past else ()))
        return ChainModel(
            evidence,
            support,
            fit_linear(set_names, np.vstack(sets), np.array(inside), _STRENGTH["tool_set"]),
            fit_linear(edge_names, np.vstack(edges), np.array(fed), _STRENGTH[edge_model]),
        )

    def composer(self, rows: Sequence[int], *, past: bool) -> ChainComposer:
        """Return a composer fitted on these rows, with them as past plans if `past`."""
        plans = PastPlans([self.plans[row] for row in rows]) if past else None
        return ChainComposer(self.table, self.rank, self.fit(rows, past=past), plans)

    def _collect(self, row: int, plans: PastPlans | None, right: frozenset[int]) -> ToolEvidence:
        scores = self.scores[row]
        recalled = plans.tools(scores) if plans else frozenset()
        found = tool_evidence.collect_evidence(scores, self.table, recalled | right)
        if plans is None:
            return found
        votes = plans.votes(scores, found.tools)
        return replace(found, columns=np.hstack([found.columns, votes]))

    def _stacked(
        self, model: str, names: Sequence[str], columns: Sequence[Matrix], right: Sequence[Matrix]
    ) -> tuple[LinearModel, list[Matrix]]:
        """Return the model of all rows, and p of each row by models that have not seen it."""
        strength = _STRENGTH[model]
        p: list[Matrix] = [np.zeros(0)] * len(columns)
        seed = 1 if model == "evidence" else 2
        for fitted, judged in KFold(_INNER, shuffle=True, random_state=seed).split(columns):
            part = fit_linear(
                names,
                np.vstack([columns[n] for n in fitted]),
                np.hstack([right[n] for n in fitted]),
                strength,
            )
            for n in judged:
                p[n] = part.probabilities(columns[n])
        return fit_linear(names, np.vstack(columns), np.hstack(right), strength), p


def cross_validate(fit: Fit, folds: int, seed: int) -> None:
    """Print the figures of rows that the weights have not seen."""
    for past in (False, True):
        chains: list[Any] = [None] * len(fit.cases)
        wired: list[Any] = [None] * len(fit.cases)
        for train, test in KFold(folds, shuffle=True, random_state=seed).split(fit.cases):
            composer = fit.composer([int(n) for n in train], past=past)
            for n in test:
                case = fit.cases[n]
                found = composer.compose(case.query)
                chains[n] = (found.tools, found.edges)
                wired[n] = (case.tools, composer.wire(case.query, case.tools))
        told = "with past plans" if past else "without past plans"
        for what, answers in (("composed", chains), ("gold tools", wired)):
            report = measure(fit.cases, answers)
            figures = (
                f"{v.name} {v.value:.3f} [{v.low:.3f}, {v.high:.3f}]" for v in report.figures
            )
            print(f"{told}, {folds} folds, {what}: {', '.join(figures)}")


def to_json(model: ChainModel) -> dict[str, Any]:
    """Return the models as JSON, weights rounded to five digits."""
    return {
        name: {
            "intercept": float(f"{linear.intercept:.5g}"),
            "weights": {
                k: float(f"{w:.5g}") for k, w in zip(linear.names, linear.weights, strict=True)
            },
        }
        for name in ChainModel.__dataclass_fields__
        for linear in [getattr(model, name)]
    }


def main() -> None:
    """Fit, and write or judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--catalogue", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    specs, table = load_signatures(options.catalogue)
    cases = [case for case in load_cases(options.cases) if set(case.tools) <= table.place.keys()]
    session = CommandSession(Path.cwd(), "json", 0, {})
    engine = build_engine(session, specs, (), "fit-tool-chains")
    fit = Fit(cases, table, rank_texts(engine))
    if not options.write:
        cross_validate(fit, options.folds, options.seed)
        return
    rows = range(len(cases))
    document = {
        "rows": len(cases),
        "without_past_plans": to_json(fit.fit(rows, past=False)),
        "with_past_plans": to_json(fit.fit(rows, past=True)),
    }
    FILE.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {FILE}")


if __name__ == "__main__":
    main()
