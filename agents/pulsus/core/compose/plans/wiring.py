"""Where a step's input comes from: an earlier step's output, by name, then by type (spec §6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pulsus.core.contract import type_hints
from pulsus.core.contract.type_hints import Hint
from pulsus.core.types import ArgSpec, OutputRef, OutputSpec, ToolSpec

RESULT = "result"
ROWS = "rows"
TEXT = "text"


@dataclass(frozen=True, slots=True)
class StepOutput:
    """One output that a later step may use, under the tool's own key."""

    step: str
    key: str
    hint: Hint


@dataclass(frozen=True, slots=True)
class TypeMismatch:
    """An earlier output of the same name whose type does not fit."""

    offer: StepOutput
    wanted: Hint

    @property
    def reason(self) -> str:
        """Why, in one clause."""
        given, wanted = type_hints.annotation(self.offer.hint), type_hints.annotation(self.wanted)
        return f"{self.offer.key!r} of {self.offer.step} is {given}, which does not fit {wanted}"


def list_outputs(tool: ToolSpec) -> tuple[OutputSpec, ...]:
    """What the tool's `Returns:` declares; `result` with the return hint where it declares none."""
    return tool.returns or (OutputSpec(RESULT, tool.return_hint),)


def list_step_outputs(step: str, tool: ToolSpec) -> tuple[StepOutput, ...]:
    """Everything `step` gives to later ones."""
    return tuple(
        StepOutput(step, o.name, type_hints.parse(o.type_hint)) for o in list_outputs(tool)
    )


def list_inputs(tool: ToolSpec) -> tuple[ArgSpec, ...]:
    """The arguments a plan can give: all but `*args` and `**kwargs` themselves."""
    return tuple(a for a in tool.args if a.kind not in ("var_positional", "var_keyword"))


def find_source(
    arg: ArgSpec, earlier: Sequence[Sequence[StepOutput]]
) -> OutputRef | TypeMismatch | None:
    """The output that feeds `arg`, a clash of types, or None where nothing earlier is meant.

    `earlier` holds each step's offers in plan order. The nearest step with an output of the same
    name and a fitting type wins; then, for a required container, the nearest step with an output
    of the very same type (`rows` where there are several), or one called `text` where a document
    in words will do too. An optional scalar is never wired: a default says what the tool means,
    and names such as `path` or `limit` mean other things there.
    """
    wanted = type_hints.parse(arg.type_hint)
    if wanted.scalar and not arg.required:
        return None
    same = [offer for step in reversed(earlier) for offer in step if _same(offer.key, arg.name)]
    fitting = [offer for offer in same if type_hints.fits(offer.hint, wanted)]
    if fitting:
        return OutputRef(fitting[0].step, fitting[0].key)
    if not arg.required or wanted.scalar:
        return None
    by_type = (_of_type(wanted, step) for step in reversed(earlier))
    found = next((offer for offer in by_type if offer is not None), None)
    if found is not None:
        return OutputRef(found.step, found.key)
    return TypeMismatch(same[0], wanted) if same else None


def is_report_writer(tool: ToolSpec) -> bool:
    """Whether the step writes down a value it is given, such as a report.

    Its scalars say where to: they are never taken from another step, nor shared with one, or a
    report would be written over the file it is about.
    """
    containers = (a for a in list_inputs(tool) if not type_hints.parse(a.type_hint).scalar)
    return tool.kind == "write" and any(arg.required for arg in containers)


def _of_type(wanted: Hint, offers: Sequence[StepOutput]) -> StepOutput | None:
    equal = [offer for offer in offers if _equal(offer.hint, wanted)]
    rows = [offer for offer in equal if offer.key == ROWS]
    document = [offer for offer in offers if wanted.has("str") and offer.key == TEXT]
    best = rows or equal or [offer for offer in document if type_hints.fits(offer.hint, wanted)]
    return best[0] if len(best) == 1 else None


def _same(one: str, other: str) -> bool:
    return one.replace("_", "").casefold() == other.replace("_", "").casefold()


def _equal(given: Hint, wanted: Hint) -> bool:
    return not given.scalar and frozenset(given.concrete) <= frozenset(wanted.concrete)
