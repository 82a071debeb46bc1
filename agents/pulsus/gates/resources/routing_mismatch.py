"""Routing mismatch (ROUTING_MISMATCH): refuse a call on a machine while something inside it is
meant (§2.7).

The parents of a resource are known from `explicit_access.py`.

A file at the same path exists on the machine and in its container. Editing the wrong one looks like
success and changes nothing.

Asked by `agent/loop/check_calls.py`, for each call of a turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pulsus.core.types import JsonValue
from pulsus.gates.resources.explicit_access import ExplicitAccess, Surroundings
from pulsus.gates.resources.resolved_context import ResolvedContext
from pulsus.gates.resources.resolved_resource import MACHINE_KINDS, ResolvedResource
from pulsus.gates.tool_response import ToolResponse, tool_blocked


def refuse_parent(
    context: ResolvedContext, targets: Iterable[str], now: float
) -> ToolResponse | None:
    """Return the refusal ROUTING_MISMATCH, or None.

    `targets` are the targets of a file, read or command call, as it names them. A machine is
    refused while the latest explicit access is inside it, at any depth. It is accepted again once
    the user named the machine itself.
    """
    for name in targets:
        parent = context.find(name, now).resource
        if parent is not None and parent.kind not in MACHINE_KINDS:
            continue
        own = context.explicit.by_id.get(parent.id) if parent is not None else None
        is_inside = _inside_of(name, parent)
        inside = [
            access
            for access in context.explicit.by_id.values()
            if access.accessed and access.is_later_than(own) and is_inside(access.surroundings)
        ]
        if inside:
            inside.sort(key=lambda access: access.accessed, reverse=True)
            return _refuse(name, parent, inside)
    return None


def _inside_of(name: str, parent: ResolvedResource | None) -> Callable[[Surroundings], bool]:
    """Return what says whether commands for a resource run inside the target `name`.

    The target is `parent`, or a name that this session did not discover.
    """
    if parent is not None:
        machine, names = parent.id, {one.casefold() for one in parent.names}
        return lambda place: (
            (machine in place.above or not names.isdisjoint(place.hosts))
            and machine != place.context
        )
    plain = name.casefold()

    def is_inside(place: Surroundings) -> bool:
        ids = [one.casefold() for one in place.above if one.partition(":")[0] in MACHINE_KINDS]
        return plain in place.hosts or any(plain in {one, one.rpartition(":")[2]} for one in ids)

    return is_inside


def _refuse(
    name: str, parent: ResolvedResource | None, inside: list[ExplicitAccess]
) -> ToolResponse:
    names: list[JsonValue] = [access.resource.name for access in inside]
    ids: list[JsonValue] = [access.resource.id for access in inside]
    meant = inside[0].resource
    kind = f"a {parent.kind}" if parent is not None else "not discovered"
    return tool_blocked(
        "ROUTING_MISMATCH",
        f"target_host {name!r} is {kind}, but more specific resources on it were referenced: "
        f"{', '.join(map(str, names))}",
        target_host=name,
        more_specific_resources=names,
        more_specific_resource_ids=ids,
        target_resource_id=meant.id,
        recovery_hint=f"Retry with target_resource_id='{meant.id}' (preferred) "
        f"or target_host='{meant.name}'",
        auto_recoverable=True,
    )
