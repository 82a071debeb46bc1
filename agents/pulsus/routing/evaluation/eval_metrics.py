"""Figures of routing (hit@1, hit@3, calibration) over golden requests (`pulsus eval`). Pure.

The threshold that a figure must reach is in `routing/evaluation/floors.py`, the calibration error
(ECE) in `routing/evaluation/reliability.py`. Inputs are compared in
`routing/evaluation/input_score.py`, failures explained in `routing/evaluation/diagnosis.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pulsus.core.compose.selection.choose_policy import PolicyChoice
from pulsus.core.types import InputValue, Ranked
from pulsus.routing.evaluation import diagnosis, reliability
from pulsus.routing.evaluation.dataset import GoldenRow
from pulsus.routing.evaluation.diagnosis import DiagnosisContext, FailureCause
from pulsus.routing.evaluation.input_score import (
    InputCounts,
    InputDifference,
    compare_inputs,
    count_inputs,
)
from pulsus.routing.evaluation.reliability import Bin, Prediction

Rank = Callable[[str], Sequence[Ranked]]
"""At least ten candidates of a request, where there are as many, best first."""

Decide = Callable[[str, Sequence[Ranked]], PolicyChoice]
"""A request and its candidates → the decision."""

FillInputs = Callable[[str], Mapping[str, InputValue]]
"""A request that was ranked → the inputs that a route fills, in a plan as `TOOL.INPUT`."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that went wrong: the wrong tool first, or the wrong policy, steps or inputs.

    `inputs` are those that differ from the row. `cause` is None without a diagnosis. With `any_of`,
    each of the expected tools alone is right.
    """

    query: str
    expected: tuple[str, ...]
    got: tuple[str, ...]
    p: float
    expected_policy: str | None
    policy: str | None
    what: str
    cause: FailureCause | None = None
    any_of: bool = False
    inputs: tuple[InputDifference, ...] = ()


@dataclass(frozen=True, slots=True)
class Population:
    """The requests behind the figures.

    `with_tools` counts requests that some tool fits, `without_tools` those that none fits.
    `with_policy` counts rows with a policy, `several_steps` those that want a composition.
    """

    with_tools: int
    without_tools: int
    with_policy: int
    several_steps: int


@dataclass(frozen=True, slots=True)
class EvalReport:
    """The figures of contracts `pulsus eval`; None if no row bears on one.

    `hit_at_1`, `recall_at_5`, `ndcg_at_10`, `mrr`, `coverage_at_tau` are over rows with tools; a
    row whose tools are alternatives (`any`) wants one of them. `ece` (10 bins) and
    `precision_at_tau` are over all rows: nothing is right for a row that nothing fits.
    `out_of_catalogue_below_tau` is over those. `compose_exact` (the same tools in order) is over
    rows with policy compose. `inputs_right` (the row's tools, and every value right) is over rows
    with `inputs`, which `inputs` counts; None without such rows.
    """

    queries: int
    tools: int
    tau: float
    hit_at_1: float | None
    recall_at_5: float | None
    ndcg_at_10: float | None
    mrr: float | None
    policy_accuracy: float | None
    compose_exact: float | None
    inputs_right: float | None
    ece: float | None
    precision_at_tau: float | None
    coverage_at_tau: float | None
    out_of_catalogue_below_tau: float | None
    index_seconds: float
    query_ms_p50: float | None
    query_ms_p99: float | None
    failures: tuple[Failure, ...]
    population: Population
    reliability: tuple[Bin, ...] = ()
    inputs: InputCounts | None = None


@dataclass(frozen=True, slots=True)
class _RankedRow:
    """One row, ranked. `position` is that of the first right tool, from 1; 0 = not found.

    `inputs` are None if they are not judged: the row has none, or was routed to other tools.
    """

    row: GoldenRow
    ids: tuple[str, ...]
    p: float
    found: Sequence[Ranked]
    milliseconds: float
    choice: PolicyChoice | None
    inputs: tuple[InputDifference, ...] | None

    @property
    def right(self) -> bool:
        return bool(self.ids) and self.ids[0] in self.row.tools

    @property
    def stated(self) -> Prediction:
        return Prediction(self.p, self.right, bool(self.row.tools))

    @property
    def position(self) -> int:
        return next((n for n, i in enumerate(self.ids, start=1) if i in self.row.tools), 0)


def evaluate(
    rows: Sequence[GoldenRow],
    rank: Rank,
    decide: Decide | None,
    *,
    tau: float,
    tools: int,
    index_seconds: float,
    seconds: Callable[[], float],
    fill: FillInputs | None = None,
    context: DiagnosisContext | None = None,
) -> EvalReport:
    """Return the report of ranking every row once. `seconds` is a monotonic clock.

    Without `decide` no policy is judged, without it or `fill` no input; without `context` no
    failure says why.
    """
    seen = [_look(row, rank, decide, fill, seconds) for row in rows]
    with_inputs = [s.inputs for s in seen if fill and decide and s.row.inputs is not None]
    answerable = [s for s in seen if s.row.tools]
    sure = [s for s in seen if s.p >= tau]
    judged = [s for s in seen if s.row.policy and s.choice]
    composed = [s for s in judged if s.row.policy == "compose"]
    times = sorted(s.milliseconds for s in seen)
    return EvalReport(
        queries=len(rows),
        tools=tools,
        tau=tau,
        hit_at_1=_mean([float(s.right) for s in answerable]),
        recall_at_5=_mean([_recall(s, 5) for s in answerable]),
        ndcg_at_10=_mean([_ndcg(s, 10) for s in answerable]),
        mrr=_mean([1 / s.position if s.position else 0.0 for s in answerable]),
        policy_accuracy=_mean([float(_policy(s) == s.row.policy) for s in judged]),
        compose_exact=_mean([float(_chosen(s) == s.row.tools) for s in composed]),
        inputs_right=_mean([float(found == ()) for found in with_inputs]),
        ece=reliability.ece([s.stated for s in seen]),
        precision_at_tau=_mean([float(s.right) for s in sure]),
        coverage_at_tau=_mean([float(s.p >= tau) for s in answerable]),
        out_of_catalogue_below_tau=_mean([float(s.p < tau) for s in seen if not s.row.tools]),
        index_seconds=round(index_seconds, 3),
        query_ms_p50=_percentile(times, 0.50),
        query_ms_p99=_percentile(times, 0.99),
        failures=tuple(f for s in seen if (f := _failure(s, context))),
        population=Population(
            with_tools=len(answerable),
            without_tools=len(rows) - len(answerable),
            with_policy=sum(row.policy is not None for row in rows),
            several_steps=sum(row.policy == "compose" for row in rows),
        ),
        reliability=reliability.bins([s.stated for s in seen]),
        inputs=count_inputs(with_inputs) if with_inputs else None,
    )


def to_json(report: EvalReport) -> dict[str, Any]:
    """Return the report's JSON keys, in order; the caller puts `schema_version` first."""
    apart = ("failures", "population", "reliability", "inputs")
    plain = {name: getattr(report, name) for name in EvalReport.__slots__ if name not in apart}
    return {
        **{k: round(v, 4) if isinstance(v, float) else v for k, v in plain.items()},
        "population": asdict(report.population),
        "inputs": asdict(report.inputs) if report.inputs else None,
        "reliability": reliability.to_json(report.reliability),
        "failures": [_failure_json(f) for f in report.failures],
    }


def _failure_json(failure: Failure) -> dict[str, Any]:
    told = asdict(failure)
    told |= told.pop("cause") or {}
    told["any"] = told.pop("any_of")
    return {k: list(v) if isinstance(v, tuple) else v for k, v in told.items()}


def _look(
    row: GoldenRow,
    rank: Rank,
    decide: Decide | None,
    fill: FillInputs | None,
    seconds: Callable[[], float],
) -> _RankedRow:
    start = seconds()
    found = rank(row.query)
    taken = (seconds() - start) * 1000
    asked = row.policy or row.inputs is not None
    choice = decide(row.query, found) if decide and asked else None
    p = found[0].p if found else 0.0
    ids = tuple(r.tool.id for r in found)
    differ = None
    if row.inputs is not None and fill and choice and _has_tools_of(row, choice):
        differ = compare_inputs(row.inputs, fill(row.query))
    return _RankedRow(row, ids, p, found, taken, choice if row.policy else None, differ)


def _has_tools_of(row: GoldenRow, choice: PolicyChoice) -> bool:
    """Return True if the decision is for the tools of the row: only then are its inputs judged."""
    chosen = tuple(r.tool.id for r in choice.chosen)
    return chosen == row.tools or (row.any_of and len(chosen) == 1 and chosen[0] in row.tools)


def _policy(seen: _RankedRow) -> str | None:
    return seen.choice.policy if seen.choice else None


def _chosen(seen: _RankedRow) -> tuple[str, ...]:
    return tuple(r.tool.id for r in seen.choice.chosen) if seen.choice else ()


def _failure(seen: _RankedRow, context: DiagnosisContext | None) -> Failure | None:
    row, wrong = seen.row, []
    if row.tools and not seen.right:
        wrong.append("tool")
    if row.policy and seen.choice and _policy(seen) != row.policy:
        wrong.append("policy")
    elif row.policy == "compose" and seen.choice and _chosen(seen) != row.tools:
        wrong.append("steps")
    if seen.inputs:
        wrong.append("inputs")
    if not wrong:
        return None
    got = _chosen(seen) or seen.ids[:3]
    if wrong == ["inputs"]:
        got = seen.ids[:1] if row.any_of else row.tools
    what = "+".join(wrong)
    cause = _cause(seen, wrong[0], context) if context else None
    p = round(seen.p, 4)
    policy = _policy(seen)
    wrong_inputs = seen.inputs or ()
    return Failure(
        row.query, row.tools, got, p, row.policy, policy, what, cause, row.any_of, wrong_inputs
    )


def _cause(seen: _RankedRow, what: str, context: DiagnosisContext) -> FailureCause:
    split = (seen.row.policy, _policy(seen)) == ("select", "compose")
    if seen.choice and split and set(seen.row.tools).intersection(_chosen(seen)):
        # The right tool was chosen, so the split is the cause and not the rank of the whole.
        return diagnosis.wrong_policy(seen.row, seen.choice, seen.found, context)
    if what == "tool":
        return diagnosis.wrong_tool(seen.row, context)
    if what == "inputs":
        return diagnosis.wrong_inputs(seen.inputs or ())
    denied = diagnosis.denied_tool(seen.row, context)
    if denied:
        return denied
    if what == "policy" and seen.choice:
        return diagnosis.wrong_policy(seen.row, seen.choice, seen.found, context)
    return diagnosis.wrong_steps(seen.row, _chosen(seen))


def _recall(seen: _RankedRow, depth: int) -> float:
    gold = set(seen.row.tools)
    wanted = 1 if seen.row.any_of else min(len(gold), depth)
    return min(wanted, len(gold & set(seen.ids[:depth]))) / wanted


def _ndcg(seen: _RankedRow, depth: int) -> float:
    gold = set(seen.row.tools)
    wanted = 1 if seen.row.any_of else min(len(gold), depth)
    found = [n for n, i in enumerate(seen.ids[:depth]) if i in gold][:wanted]
    ideal = sum(1 / math.log2(n + 2) for n in range(wanted))
    return sum(1 / math.log2(n + 2) for n in found) / ideal


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _percentile(ordered: Sequence[float], share: float) -> float | None:
    """Return the nearest-rank percentile of sorted values."""
    if not ordered:
        return None
    return round(ordered[max(0, math.ceil(share * len(ordered)) - 1)], 3)
