"""Resolve the tools of a plan, and pin each step to the bytes of its tool (contracts, "Plans").

A pinned step runs exactly the bytes that were planned and validated, even if the file changes
later: a different SHA-256 is refused here. It also refuses compositions that are nested too deep. A
saved plan whose tools changed since its review is refused in
`routing/plans/changes_since_review.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from pulsus.core.compose.plans.module_source import read_plan
from pulsus.core.text.similar_names import did_you_mean
from pulsus.core.types import Plan, PlanStep, ToolSpec
from pulsus.errors import HashMoved, PlanInvalid, ToolAmbiguous, ToolNotFound

FindTools = Callable[[str], Sequence[ToolSpec]]
"""Return the tools that a reference may mean, as `Catalogue.find` does."""

PinnedTools = dict[str, tuple[ToolSpec, bytes]]

# A person could not review a plan with more levels of compositions.
MAX_NESTING = 4


def pin_steps(plan: Plan, find: FindTools, known: Iterable[str] = ()) -> Plan:
    """Return `plan` with every tool as an id and every step pinned to the bytes of its tool.

    `known` are ids to offer in place of one that no tool has.

    Raises ToolNotFound, ToolAmbiguous, or HashMoved if a step is already pinned to other bytes.
    """
    pinned = (_pin_step(step, find, n, known) for n, step in enumerate(plan.steps))
    return replace(plan, steps=tuple(pinned))


def collect_step_sources(
    source: bytes, find: FindTools, read: Callable[[Path], bytes]
) -> PinnedTools:
    """Return every tool that a module's plan calls, directly or through a composed tool, by id.

    Each comes with the source that its step is pinned to. Empty for a module that is not composed.
    Raises HashMoved if a file has changed since the plan was made, and PlanInvalid if compositions
    nest deeper than `MAX_NESTING`.
    """
    found: PinnedTools = {}
    _collect_steps(source, find, read, found, 0)
    return found


def _pin_step(step: PlanStep, find: FindTools, number: int, known: Iterable[str]) -> PlanStep:
    tool = _resolve_tool(step, find, f"plan.steps[{number}].tool", known)
    if step.sha256 not in (None, tool.sha256):
        raise _build_moved_error(step, tool.sha256)
    return replace(step, tool=tool.id, sha256=tool.sha256)


def _resolve_tool(
    step: PlanStep, find: FindTools, place: str, known: Iterable[str] = ()
) -> ToolSpec:
    match list(find(step.tool)):
        case [tool]:
            return tool
        case []:
            raise ToolNotFound(
                f"step {step.id}: no tool is called {step.tool!r}",
                hint=did_you_mean(step.tool, known, "`pulsus tools list` shows every id"),
                step=step.id,
                tool=step.tool,
                place=place,
            )
        case several:
            ids = sorted(tool.id for tool in several)
            raise ToolAmbiguous(
                f"step {step.id}: {step.tool!r} is ambiguous: it may be {' or '.join(ids)}",
                hint="write the whole id",
                step=step.id,
                tools=ids,
                place=place,
            )


def _collect_steps(
    source: bytes, find: FindTools, read: Callable[[Path], bytes], found: PinnedTools, depth: int
) -> None:
    plan = read_plan(source)
    if plan is None:
        return
    if depth >= MAX_NESTING:
        raise PlanInvalid(
            f"the plan nests compositions deeper than {MAX_NESTING} levels",
            hint="replace a composed step by the steps that it calls",
        )
    for number, step in enumerate(plan.steps):
        tool = _resolve_tool(step, find, f"plan.steps[{number}].tool")
        # The bytes on disk decide, because the catalogue may come from an older index.
        code = read(tool.path)
        digest = hashlib.sha256(code).hexdigest()
        if step.sha256 != digest:
            raise _build_moved_error(step, digest)
        # The steps of a tool are collected once, however many steps call it.
        if tool.id not in found:
            found[tool.id] = (replace(tool, sha256=digest), code)
            _collect_steps(code, find, read, found, depth + 1)


def _build_moved_error(step: PlanStep, digest: str) -> HashMoved:
    # Twelve digits are enough for people; the details carry the whole hashes.
    wanted = step.sha256[:12] if step.sha256 else "no hash"
    return HashMoved(
        f"step {step.id}: {step.tool} is {digest[:12]}… now, the plan is pinned to {wanted}",
        hint="compose the plan again, so that it is validated with the current tool",
        step=step.id,
        tool=step.tool,
        expected=step.sha256,
        actual=digest,
    )
