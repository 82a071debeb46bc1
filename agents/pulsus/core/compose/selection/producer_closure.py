"""Add the tool that gives a value which a step needs and the request lacks (spec §6). Pure.

A person asks for "the owner of volume backups" and knows no `volume_id`. If exactly one tool gives
it, that tool becomes a step before. Only keys are looked up: the request itself should hold any
other value, and a question for it is better than a guess. Inputs that still have no value are asked
for in `routing/inputs/missing_inputs.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from pulsus.core.compose.plans import wiring
from pulsus.core.compose.selection.choose_policy import PolicyChoice
from pulsus.core.contract import type_hints
from pulsus.core.text.tokens import words
from pulsus.core.types import ArgSpec, OutputRef, Ranked, SubIntent, ToolSpec
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

_KEY = late_pattern(r"(?:^|_|-)(?:id|identifier|ticker|serial)$|[a-z](?:Id|ID)$")
"""Inputs that a person seldom knows by heart. A `pid` is no key: the process of a service is
another one than the process that is meant. Tokens are secrets, so they are left out."""

SearchTools = Callable[[str], Sequence[Ranked]]
"""Words → the tools that may be steps, best first."""
TakenInputs = Callable[[str, ToolSpec], Collection[str]]
"""A clause and a tool → the names of the inputs that the clause fills."""


@dataclass(frozen=True, slots=True)
class ClosedDecision:
    """A decision with its clauses, and a note for each tool that was added or was ambiguous."""

    choice: PolicyChoice
    subintents: tuple[SubIntent, ...]
    notes: tuple[str, ...] = ()


def needs_key(tool: ToolSpec) -> bool:
    """Return True if the tool requires a key, such as an id."""
    return any(map(_is_key, tool.args))


def add_producers(
    request: str,
    choice: PolicyChoice,
    subintents: Sequence[SubIntent],
    search: SearchTools,
    taken: TakenInputs,
    *,
    max_steps: int,
) -> ClosedDecision:
    """Return the decision with a producer before each step that lacks a key.

    A selection with a producer becomes a composition. Nothing changes if no tool gives the key, if
    several do, or if the plan would be longer than `max_steps`.
    """
    unchanged = ClosedDecision(choice, tuple(subintents))
    if choice.policy == "generate" or not any(needs_key(ranked.tool) for ranked in choice.chosen):
        return unchanged
    single = choice.policy == "select"
    clauses = (SubIntent(request, choice.chosen),) if single else tuple(subintents)
    steps: list[Ranked] = []
    texts: list[SubIntent] = []
    notes: list[str] = []
    for step, clause in zip(choice.chosen, clauses, strict=True):
        for arg in _list_open_keys(step.tool, [r.tool for r in steps], clause.text, taken):
            found, note = _find_producer(arg, step.tool, [*steps, *choice.chosen], clause, search)
            notes += [note] if note else []
            if found is not None:
                steps.append(found)
                texts.append(SubIntent(clause.text, (found,)))
        steps.append(step)
        texts.append(clause)
    if len(steps) == len(choice.chosen) or len(steps) > max_steps:
        return replace(unchanged, notes=tuple(notes) if len(steps) <= max_steps else ())
    reason = "; ".join((choice.reason, *notes))
    return ClosedDecision(PolicyChoice("compose", tuple(steps), reason), tuple(texts), tuple(notes))


def _list_open_keys(
    tool: ToolSpec, before: Sequence[ToolSpec], clause: str, taken: TakenInputs
) -> list[ArgSpec]:
    """Return the keys that neither an earlier step nor the clause gives."""
    keys = [arg for arg in tool.args if _is_key(arg) and not _is_given(arg, before)]
    if not keys:
        return []
    said = taken(clause, tool)
    return [arg for arg in keys if arg.name not in said]


def _find_producer(
    arg: ArgSpec,
    tool: ToolSpec,
    present: Sequence[Ranked],
    clause: SubIntent,
    search: SearchTools,
) -> tuple[Ranked | None, str | None]:
    """Return the one tool that gives `arg`, and a note on it, or on several."""
    have = {ranked.tool.id for ranked in present}
    found = [
        ranked
        for ranked in search(f"{' '.join(words(arg.name))} {clause.text}")
        if ranked.tool.id not in have
        # A step that writes is never added: the request did not ask for it.
        and ranked.tool.kind != "write"
        and not ranked.tool.composed
        and not any(_is_key(own) and own.name == arg.name for own in ranked.tool.args)
        and _is_given(arg, [ranked.tool])
    ]
    near = [ranked for ranked in found if ranked.tool.domain == tool.domain] or found
    if not near:
        return None, None
    if len(near) > 1:
        ids = " and ".join(sorted(ranked.tool.id for ranked in near)[:3])
        return None, f"{ids} give {arg.name!r} for {tool.id}: name one of them in the request"
    note = (
        f"{near[0].tool.id} is added before {tool.id}: it gives {arg.name!r}, and the request has "
        "no value for it"
    )
    return near[0], note


def _is_key(arg: ArgSpec) -> bool:
    hint = type_hints.parse_hint(arg.type_hint)
    return arg.required and hint.scalar and _KEY.search(arg.name) is not None


def _is_given(arg: ArgSpec, steps: Sequence[ToolSpec]) -> bool:
    offers = [wiring.list_step_outputs(f"s{n}", step) for n, step in enumerate(steps, start=1)]
    # An undeclared output fits everything by type, and so proves nothing.
    return isinstance(wiring.find_source(arg, offers), OutputRef)
