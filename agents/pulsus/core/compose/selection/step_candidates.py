"""Choose a tool for each clause whose inputs are available (spec §6). Pure.

A path or a number that no step gives is a parameter of the plan. Rows or a mapping are a parameter
only if the clause names its data ("summarise the matrix"). Otherwise they must come from an earlier
step, and a tool that gets none cannot be a step. The first step always takes its data from the
caller. `core/compose/plans/wiring.py` says which output feeds which input.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pulsus.core.compose.plans import wiring
from pulsus.core.contract import type_hints
from pulsus.core.contract.type_hints import Hint, Shape
from pulsus.core.text.tokens import stems
from pulsus.core.types import OutputRef, Ranked, SubIntent, ToolSpec
from pulsus.late_pattern import late_pattern

_SCALAR_NAMES = frozenset({"str", "int", "float", "bool", "bytes", "Path", "Literal", "Any"})


_NAMED_THING = late_pattern(r"\b(?:the|my|our)\s+((?:\w+\s+)?\w+)", re.IGNORECASE)


def assign_steps(
    subintents: Sequence[SubIntent], *, floor: float
) -> tuple[tuple[Ranked, ...], tuple[str, ...]]:
    """Return for each clause its best tool whose inputs are available, and notes on the others.

    A tool other than the clause's first must reach `floor`, and no other clause may have it as its
    first tool. The tools end before a clause that has no possible tool.
    """
    firsts = {clause.candidates[0].tool.id for clause in subintents}
    chosen: list[Ranked] = []
    notes: list[str] = []
    for clause in subintents:
        first = clause.candidates[0]
        before = [r.tool for r in chosen]
        why = explain_missing_input(first.tool, before)
        if why is None or _has_own_data(clause.text, first.tool):
            chosen.append(first)
            continue
        others = (r for r in clause.candidates[1:] if r.tool.id not in firsts and r.p >= floor)
        found = next((r for r in others if explain_missing_input(r.tool, before) is None), None)
        instead = f"; {found.tool.id} takes its place" if found else ""
        notes.append(f"{first.tool.id} cannot serve {clause.text!r}: {why}{instead}")
        if found is None:
            break
        chosen.append(found)
    return tuple(chosen), tuple(notes)


def put_formats_first(subintents: Sequence[SubIntent]) -> tuple[SubIntent, ...]:
    """Return the clauses with one that formats rows before one that writes them to a file.

    "save them to out.md as a table" names the file first, and means a file with the table.
    """
    ordered = list(subintents)
    for at in range(len(ordered) - 1, 1, -1):
        tools = [clause.candidates[0].tool for clause in ordered[: at + 1] if clause.candidates]
        if len(tools) == at + 1 and _formats_for(tools[at], tools[at - 1], tools[: at - 1]):
            ordered[at - 1 : at + 1] = ordered[at], ordered[at - 1]
    return tuple(ordered)


def _formats_for(tool: ToolSpec, writer: ToolSpec, before: Sequence[ToolSpec]) -> bool:
    """Return True if `tool` makes a text of earlier rows for the input that `writer` writes."""
    if tool.kind == "write" or not wiring.is_report_writer(writer):
        return False
    written = {arg.name for arg in wiring.list_inputs(writer) if arg.required}
    texts = {
        each.name
        for each in wiring.list_outputs(tool)
        if type_hints.parse_hint(each.type_hint).has("str")
    }
    earlier = {each.name for step in before for each in wiring.list_outputs(step)}
    return bool((texts & written) - earlier) and explain_missing_input(tool, before) is None


def has_unfed_step(tools: Sequence[ToolSpec]) -> bool:
    """Return True if one of these steps, in this order, lacks an input."""
    return any(explain_missing_input(tool, tools[:at]) for at, tool in enumerate(tools))


def explain_missing_input(tool: ToolSpec, before: Sequence[ToolSpec]) -> str | None:
    """Return in one clause why the tool cannot follow these steps, or None if it can.

    The first step lacks nothing, because the request gives its data. A tool after a step with
    undeclared outputs lacks nothing either, because that step may give anything.
    """
    if not before:
        return None
    offers = [wiring.list_step_outputs(f"s{n}", step) for n, step in enumerate(before, start=1)]
    # A tool without declared outputs may give anything, and the dry run shows whether it fits.
    if any(offer.hint.anything for step in offers for offer in step):
        return None
    for arg in wiring.list_inputs(tool):
        wanted = type_hints.parse_hint(arg.type_hint)
        if not arg.required or not is_data_hint(wanted):
            continue
        if not isinstance(wiring.find_source(arg, offers), OutputRef):
            hint = type_hints.write_annotation(wanted)
            return f"no earlier step clearly gives {arg.name!r} ({hint})"
    return None


def _has_own_data(text: str, tool: ToolSpec) -> bool:
    """Return True if a clause names, with an article, the thing that the tool is named after."""
    # The first word of a tool name is its verb: only the other words can name data.
    nouns = set(stems(tool.name.replace("_", " "))[1:])
    return any(nouns & set(stems(named)) for named in _NAMED_THING.findall(text))


def is_data_hint(hint: Hint) -> bool:
    """Return True if only a step can give such a value: rows, a table or a mapping.

    A list of names is no such value: a caller can type it.
    """
    return bool(hint.concrete) and all(map(_is_data_shape, hint.concrete))


def _is_data_shape(shape: Shape) -> bool:
    if shape.name in _SCALAR_NAMES:
        return False
    if shape.name in ("list", "tuple"):
        return not (shape.args and shape.args[0].scalar)
    return True
