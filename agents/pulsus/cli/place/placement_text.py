"""The lines of a placement plan for a person. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from pulsus.placement.placement_plan import PlacementPlan

_BAR = 20
"""Characters of a bar."""


def placement_lines(plan: PlacementPlan) -> Iterator[str]:
    """Yield the status, the actions, what has no place and why, and the load of each host."""
    gap = f" (gap {plan.gap:.1%})" if plan.status == "feasible" and plan.gap is not None else ""
    yield f"status: {plan.status}{gap}"
    if plan.objective:
        yield "  ".join(
            f"{name}={value:g}"
            + ("" if value <= plan.bounds[name] else f" (≥ {plan.bounds[name]:g})")
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
        wide = max(map(len, plan.ram_shares))
        for name, (before, after) in plan.ram_shares.items():
            yield f"  {name:<{wide}}  {_bar(before)} {before:>6.1%}  {_bar(after)} {after:>6.1%}"


def _bar(share: float) -> str:
    full = min(_BAR, round(share * _BAR))
    return "█" * full + "░" * (_BAR - full)
