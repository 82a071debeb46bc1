"""The lines of a placement plan for a person. Pure.

`placement/unplaced_reasons.py` finds why a machine has no place. It prints why no placement
is possible (infeasible); the constraints in conflict come from
`placement/search/infeasible_core.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pulsus.placement.load_picture import load_lines
from pulsus.placement.placement_plan import PlacementPlan


def placement_lines(plan: PlacementPlan) -> Iterator[str]:
    """Yield the status, the actions, what has no place and why, and the load of each host."""
    gap = f" (gap {plan.gap:.1%})" if plan.status == "feasible" and plan.gap is not None else ""
    yield f"status: {plan.status}{gap}"
    if plan.objective:
        yield "  ".join(
            f"{name}={value:g}"
            + (f" (≥ {plan.bounds[name]:g}, gap {plan.gaps[name]:.1%})" if plan.gaps[name] else "")
            for name, value in plan.objective.items()
        )
    for number, each in enumerate(plan.actions, start=1):
        way = f"{each.source} -> {each.target}" if each.source else f"on {each.target}"
        yield f"{number:>4}. {each.action} {each.vmid} {way}"
    for vm in plan.unplaced:
        yield f"VM {vm.vmid} is not placed (priority {vm.priority}):"
        yield from (f"  {host}: {reason}" for host, reason in vm.reasons.items())
    if plan.core:
        yield (
            "These constraints contradict each other:"
            if plan.core_is_minimal
            else ("These constraints contradict each other (perhaps not all of them are needed):")
        )
        yield from (f"  - {words}" for words in plan.core)
    if plan.objective:
        yield "RAM of each host, before and after:"
        yield from (f"  {line}" for line in load_lines(plan.ram_shares))
    if plan.ended_by_clock:
        yield "The time limit ended the search: another machine may find another plan."
