"""The steps of a saved plan as a graph: who waits for whom, and who runs beside whom. Pure.

The order is that of the engine (docs/plans.md, "Order of a run"): a step waits for the steps that
it refers to or `needs`, and a write runs alone, between the steps listed before and after it. The
graph is for pictures (`pulsus show`); a run is ordered in `execution/engine/schedule.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pulsus.core.compose.plans.dsl.plan_values import references
from pulsus.core.compose.plans.dsl.step_references import list_step_values
from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.core.types import OutputRef, PlanStep
from pulsus.fast_dataclass import dataclass

# An output is read, `needs` names the step, or one of the two is a write.
EdgeKind = Literal["data", "needs", "order"]


@dataclass(frozen=True, slots=True)
class PlanEdge:
    """The step `target` waits for the step `source`. `labels` say which output goes where."""

    source: str
    target: str
    kind: EdgeKind
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanGraph:
    """The edges of a plan, and its stages: the steps of one stage may run at the same time."""

    edges: tuple[PlanEdge, ...]
    stages: tuple[tuple[str, ...], ...]


def draw_plan_graph(saved: SavedPlan) -> PlanGraph:
    """Return the graph of the plan. Edges of kind `order` are only those that say something new."""
    edges: list[PlanEdge] = []
    before: dict[str, set[str]] = {}
    stage: dict[str, int] = {}
    writes = set(saved.writes)
    earlier: list[str] = []
    for step in saved.plan.steps:
        own = _declared_edges(step)
        waits = _close([edge.source for edge in own], before)
        for each in reversed(_list_barriers(step.id, earlier, writes)):
            if each not in waits:
                own.append(PlanEdge(each, step.id, "order"))
                waits |= {each, *before[each]}
        edges += own
        before[step.id] = waits
        stage[step.id] = 1 + max((stage[each] for each in waits), default=-1)
        earlier.append(step.id)
    return PlanGraph(tuple(edges), _group_by_stage(stage))


def _declared_edges(step: PlanStep) -> list[PlanEdge]:
    """Return one edge for each step that this one reads, then those that it only `needs`."""
    labels: dict[str, list[str]] = {}
    for place, value in list_step_values(step):
        for found in references(value, place):
            if isinstance(found, OutputRef):
                wanted = place.removeprefix("inputs.").removesuffix(".items")
                same = wanted == found.output
                labels.setdefault(found.step, []).append(
                    found.output if same else f"{found.output} → {wanted}"
                )
    data = [
        PlanEdge(source, step.id, "data", tuple(dict.fromkeys(each)))
        for source, each in labels.items()
    ]
    return [*data, *(PlanEdge(n, step.id, "needs") for n in step.needs if n not in labels)]


def _list_barriers(step_id: str, earlier: list[str], writes: set[str]) -> list[str]:
    """Return the earlier steps that must have ended because one of the two is a write."""
    if step_id in writes:
        return earlier
    last = next((n for n in range(len(earlier) - 1, -1, -1) if earlier[n] in writes), None)
    return [] if last is None else [earlier[last]]


def _close(sources: list[str], before: Mapping[str, set[str]]) -> set[str]:
    return {each for source in sources for each in (source, *before[source])}


def _group_by_stage(stage: Mapping[str, int]) -> tuple[tuple[str, ...], ...]:
    last = max(stage.values(), default=-1)
    return tuple(
        tuple(step for step, at in stage.items() if at == number) for number in range(last + 1)
    )
