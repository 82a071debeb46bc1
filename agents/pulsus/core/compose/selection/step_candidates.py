"""Which of the candidates can be a plan's steps: those whose inputs are there (spec §6). Pure.

A path or a number that no step gives is a value for the caller, a parameter of the plan. Rows or a
mapping are one only where a clause names what it works on ("summarise the matrix"): otherwise
past the first step they come from a step before, or the tool is no step.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pulsus.core.compose.plans import wiring
from pulsus.core.contract import type_hints
from pulsus.core.contract.type_hints import Hint, Shape
from pulsus.core.text.tokens import stems
from pulsus.core.types import OutputRef, Ranked, SubIntent, ToolSpec
from pulsus.fast_dataclass import dataclass

_PLAIN = frozenset({"str", "int", "float", "bool", "bytes", "Path", "Literal", "Any"})


_THE = re.compile(r"\b(?:the|my|our)\s+((?:\w+\s+)?\w+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StepAssignment:
    """A tool for each clause, as far as there is one; `notes` say what could not be a step.

    `whole` is false where a clause is left without a tool.
    """

    chosen: tuple[Ranked, ...]
    whole: bool
    notes: tuple[str, ...]


def assign_steps(subintents: Sequence[SubIntent], *, floor: float) -> StepAssignment:
    """For each clause in order its best tool whose inputs are there.

    Another than its first takes its place only where it reaches `floor` itself and no other clause
    begins with it.
    """
    firsts = {clause.candidates[0].tool.id for clause in subintents}
    chosen: list[Ranked] = []
    notes: list[str] = []
    for clause in subintents:
        first = clause.candidates[0]
        before = [r.tool for r in chosen]
        why = explain_missing_input(first.tool, before)
        if why is None or _own(clause.text, first.tool):
            chosen.append(first)
            continue
        others = (r for r in clause.candidates[1:] if r.tool.id not in firsts and r.p >= floor)
        found = next((r for r in others if explain_missing_input(r.tool, before) is None), None)
        instead = f"; {found.tool.id} in its place" if found else ""
        notes.append(f"{clause.text!r} not by {first.tool.id}: {why}{instead}")
        if found is None:
            return StepAssignment(tuple(chosen), False, tuple(notes))
        chosen.append(found)
    return StepAssignment(tuple(chosen), True, tuple(notes))


def has_unfed_step(tools: Sequence[ToolSpec]) -> bool:
    """Whether a step of these, in this order, has an input that is not there."""
    return any(explain_missing_input(tool, tools[:at]) for at, tool in enumerate(tools))


def explain_missing_input(tool: ToolSpec, before: Sequence[ToolSpec]) -> str | None:
    """Why a tool cannot follow these steps, in one clause; None where it can.

    Nothing is missing of the first step: what it works on is the request's own. Nor behind a tool
    that does not say what it gives.
    """
    if not before:
        return None
    offers = [wiring.list_step_outputs(f"s{n}", step) for n, step in enumerate(before, start=1)]
    if any(offer.hint.anything for step in offers for offer in step):
        return None
    for arg in wiring.list_inputs(tool):
        wanted = type_hints.parse(arg.type_hint)
        if not arg.required or not is_data_hint(wanted):
            continue
        if not isinstance(wiring.find_source(arg, offers), OutputRef):
            return f"no step before it clearly gives {arg.name!r} ({type_hints.annotation(wanted)})"
    return None


def _own(text: str, tool: ToolSpec) -> bool:
    """Whether a clause names, with an article, the very thing the tool is called after."""
    called = set(stems(tool.name.replace("_", " "))[1:])
    return any(called & set(stems(named)) for named in _THE.findall(text))


def is_data_hint(hint: Hint) -> bool:
    """Whether only a step gives such a value: rows, a table, a mapping; not a list of names."""
    return bool(hint.concrete) and all(map(_holds, hint.concrete))


def _holds(shape: Shape) -> bool:
    if shape.name in _PLAIN:
        return False
    if shape.name in ("list", "tuple"):
        return not (shape.args and shape.args[0].scalar)
    return True
