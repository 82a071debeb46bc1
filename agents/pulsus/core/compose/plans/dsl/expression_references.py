"""Find what an expression reads in its parsed form, and refuse names and calls (ADR 43). Pure.

Only `input.NAME`, `steps.ID.outputs.NAME` and `item` may be read. A step or parameter that does not
exist is refused in `plan_checks.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import nodes

from pulsus.core.compose.plans.dsl.refusal import refuse
from pulsus.core.types import OutputRef, ParamRef

ITEM = "item"
_NAMES = "input.NAME, steps.ID.outputs.NAME"


def walk_references(
    tree: nodes.Template, source: str, place: str
) -> Iterator[ParamRef | OutputRef | str]:
    """Yield the references below `tree`. Raises PlanInvalid for anything that is not allowed."""
    waiting: list[nodes.Node] = list(reversed(tree.body))
    while waiting:
        node = waiting.pop()
        reference = read_reference(node)
        if reference is not None:
            yield reference
            continue
        if isinstance(node, nodes.Name):
            fix = f"write {_NAMES}, or item in a step with for_each"
            refuse(place, source, f"{node.name!r} is no name that a plan knows", fix)
        if isinstance(node, nodes.Call):
            refuse(place, source, "an expression calls nothing", "use a filter: value | upper")
        waiting += reversed(list(node.iter_child_nodes()))


def read_reference(node: nodes.Node) -> ParamRef | OutputRef | str | None:
    """Return the reference that the node is as a whole, or None."""
    match _read_path(node):
        case ["input", name]:
            return ParamRef(name)
        case ["steps", step, "outputs", name]:
            return OutputRef(step, name)
        case ["item"]:
            return ITEM
        case _:
            return None


def _read_path(node: nodes.Node) -> list[str]:
    """Return the names of `a.b.c` or `a["b"].c`, or an empty list for any other node."""
    names: list[str] = []
    while True:
        match node:
            case nodes.Getattr():
                names.append(node.attr)
                node = node.node
            case nodes.Getitem(arg=nodes.Const(value=str() as name)):
                names.append(name)
                node = node.node
            case nodes.Name():
                return [node.name, *reversed(names)]
            case _:
                return []
