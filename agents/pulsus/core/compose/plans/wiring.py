"""Find the earlier output that feeds an input of a step: by name first, then by type (spec §6).

`build_plan.py` makes the plan from it. A producer for an input that no step feeds is added in
`core/compose/selection/producer_closure.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.core.contract import type_compatibility, type_hints
from pulsus.core.contract.type_hints import Hint
from pulsus.core.types import ArgSpec, OutputRef, OutputSpec, ToolSpec
from pulsus.fast_dataclass import dataclass

RESULT = "result"
ROWS = "rows"
TEXT = "text"


@dataclass(frozen=True, slots=True)
class StepOutput:
    """One output of a step that a later step may use. `key` is the tool's own key."""

    step: str
    key: str
    hint: Hint


@dataclass(frozen=True, slots=True)
class TypeMismatch:
    """An earlier output with the name of the input, but with a type that does not fit."""

    offer: StepOutput
    wanted: Hint

    @property
    def reason(self) -> str:
        """Return the mismatch as one clause."""
        given, wanted = map(type_hints.write_annotation, (self.offer.hint, self.wanted))
        return f"{self.offer.key!r} of {self.offer.step} is {given}, which does not fit {wanted}"


def list_outputs(tool: ToolSpec) -> tuple[OutputSpec, ...]:
    """Return the outputs of `Returns:`, or `result` with the return hint if it declares none."""
    return tool.returns or (OutputSpec(RESULT, tool.return_hint),)


def list_step_outputs(step: str, tool: ToolSpec) -> tuple[StepOutput, ...]:
    """Return every output that `step` offers to later steps."""
    return tuple(
        StepOutput(step, o.name, type_hints.parse_hint(o.type_hint)) for o in list_outputs(tool)
    )


def list_inputs(tool: ToolSpec) -> tuple[ArgSpec, ...]:
    """Return the arguments that a plan can set: all except `*args` and `**kwargs`."""
    return tuple(a for a in tool.args if a.kind not in ("var_positional", "var_keyword"))


def find_source(
    arg: ArgSpec, earlier: Sequence[Sequence[StepOutput]]
) -> OutputRef | TypeMismatch | None:
    """Return the output that feeds `arg`, a type mismatch, or None if no earlier output matches.

    `earlier` holds the outputs of each step in plan order. The first rule that finds an output
    decides:

    1. The nearest step with an output of the same name and a fitting type.
    2. For a required container: the nearest step with an output of exactly this type. If a step has
       several, `rows` is used, and without `rows` none of them.
    3. For a required container that may be text: the output `text` of the nearest step.

    An optional scalar is never connected. Its default is what the tool means, and names such as
    `path` or `limit` mean something else in another tool.
    """
    wanted = type_hints.parse_hint(arg.type_hint)
    if wanted.scalar and not arg.required:
        return None
    same = [
        offer for step in reversed(earlier) for offer in step if _is_same_name(offer.key, arg.name)
    ]
    fitting = [offer for offer in same if type_compatibility.fits(offer.hint, wanted)]
    if fitting:
        return OutputRef(fitting[0].step, fitting[0].key)
    # By type alone, a path or a number could come from any tool: only containers are matched so.
    if not arg.required or wanted.scalar:
        return None
    by_type = (_match_type(wanted, step) for step in reversed(earlier))
    found = next((offer for offer in by_type if offer is not None), None)
    if found is not None:
        return OutputRef(found.step, found.key)
    return TypeMismatch(same[0], wanted) if same else None


def is_report_writer(tool: ToolSpec) -> bool:
    """Return True if the step writes a value that it is given, such as a report.

    The scalars of such a step say where to write. They are never connected to another step or
    shared with one: the report would overwrite the file that it describes.
    """
    containers = (a for a in list_inputs(tool) if not type_hints.parse_hint(a.type_hint).scalar)
    return tool.kind == "write" and any(arg.required for arg in containers)


def _match_type(wanted: Hint, offers: Sequence[StepOutput]) -> StepOutput | None:
    equal = [offer for offer in offers if _is_same_type(offer.hint, wanted)]
    rows = [offer for offer in equal if offer.key == ROWS]
    document = [offer for offer in offers if wanted.has("str") and offer.key == TEXT]
    best = (
        rows
        or equal
        or [offer for offer in document if type_compatibility.fits(offer.hint, wanted)]
    )
    # With several equal outputs a choice would be a guess, and a wrong guess still type-checks.
    return best[0] if len(best) == 1 else None


def _is_same_name(one: str, other: str) -> bool:
    # Tools spell the same thing as `filename` and `file_name`.
    return one.replace("_", "").casefold() == other.replace("_", "").casefold()


def _is_same_type(given: Hint, wanted: Hint) -> bool:
    return not given.scalar and frozenset(given.concrete) <= frozenset(wanted.concrete)
