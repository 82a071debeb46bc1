"""Strict resolution: refuse a change on a target that the session has not found first (§4).

An unknown host or other target, and an ambiguous one (several resources with that name), are
refused here (STRICT_RESOLUTION), and so is an action that the resource does not allow
(ACTION_NOT_ALLOWED). A model may write any name. Only what discovery found is acted on. What a
session has found is in `resolved_context.py`.

Asked by `agent/loop/check_calls.py`, for each call of a turn.
"""

from __future__ import annotations

from collections.abc import Iterable

from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.resources.resolved_context import NameLookup, ResolvedContext
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.resources.similar_resources import similar_names
from pulsus.gates.tool_descriptors import CallKind
from pulsus.gates.tool_response import ToolResponse, tool_blocked


@dataclass(frozen=True, slots=True)
class Resolution:
    """The targets of a call, or the reason of its refusal.

    `resources` are the targets that were resolved, in the call's order. `unresolved` are the others
    of a call that may go on. `warnings` go into `meta` of the result.
    """

    resources: tuple[ResolvedResource, ...] = ()
    unresolved: tuple[str, ...] = ()
    refusal: ToolResponse | None = None
    warnings: tuple[str, ...] = ()


def resolve_targets(
    context: ResolvedContext,
    kind: CallKind,
    action: str,
    targets: Iterable[str],
    now: float,
    *,
    needs_host: bool = False,
    strict: bool = True,
) -> Resolution:
    """Return the resources of a call, or its refusal STRICT_RESOLUTION.

    A write needs every target resolved, and at least one. A read that needs a host (it runs a
    command) passes if the session knows any host. Other reads and searches always pass. With
    `strict` False a missing resource is a warning. A name of several resources is refused for
    writes and for reads that need a host, strict or not: there is no telling which is meant.
    """
    names = tuple(targets)
    lookups = {name: context.find(name, now) for name in names}
    resources = tuple(found.resource for found in lookups.values() if found.resource is not None)
    unresolved = tuple(name for name, found in lookups.items() if found.resource is None)
    passed = Resolution(resources, unresolved)
    if kind == "resolve" or (kind == "read" and not needs_host):
        return passed
    for name in unresolved:
        if lookups[name].ambiguous:
            return Resolution(refusal=_refuse_ambiguous(name, action, lookups[name]))
    if kind == "read":
        if context.has_host(now):
            return Resolution(resources, unresolved, None, _warn_unresolved(unresolved))
        missing = (*unresolved, "")[:1]
    else:
        missing = unresolved[:1] if names else ("",)
    if not missing:
        return passed
    if not strict:
        warning = f"strict resolution is off: {action} runs on what was not discovered"
        return Resolution(resources, unresolved, None, (warning,))
    return Resolution(refusal=_refuse_unknown(missing[0], action, context, now))


def refuse_action(
    context: ResolvedContext, kind: CallKind, action: str, targets: Iterable[str], now: float
) -> ToolResponse | None:
    """Return the refusal ACTION_NOT_ALLOWED of a write, or None.

    Targets that are not resolved are left to `resolve_targets`.
    """
    if kind != "write":
        return None
    for name in targets:
        resource = context.find(name, now).resource
        if resource is not None and action not in resource.allowed_actions:
            allowed: list[JsonValue] = [*resource.allowed_actions]
            may = ", ".join(resource.allowed_actions) or "none"
            return tool_blocked(
                "ACTION_NOT_ALLOWED",
                f"{action} is not allowed on {resource.id}; allowed actions: {may}",
                action=action,
                target_resource_id=resource.id,
                allowed_actions=allowed,
                auto_recoverable=False,
            )
    return None


def _refuse_unknown(name: str, action: str, context: ResolvedContext, now: float) -> ToolResponse:
    why = f"{name!r} was not discovered" if name else "it names no resource that was discovered"
    similar: list[JsonValue] = [*similar_names(name, context, now)] if name else []
    hint = f"Use pulsus_query action=search query='{name}' to discover the resource, then retry"
    return _blocked(
        name,
        action,
        f"cannot {action}: {why} in this session",
        similar,
        hint if name else "Use pulsus_query action=search, then retry with target_resource_id",
    )


def _refuse_ambiguous(name: str, action: str, found: NameLookup) -> ToolResponse:
    ids = ", ".join(found.ids)
    return _blocked(
        name,
        action,
        f"cannot {action}: {name!r} is the name of several resources: {ids}",
        [*found.ids],
        "Retry with target_resource_id, one of the suggestions",
    )


def _blocked(
    name: str, action: str, message: str, suggestions: list[JsonValue], hint: str
) -> ToolResponse:
    return tool_blocked(
        "STRICT_RESOLUTION",
        message,
        resource_id=name,
        action=action,
        suggestions=suggestions,
        recovery_hint=hint,
        auto_recoverable=True,
    )


def _warn_unresolved(unresolved: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{name!r} was not discovered in this session" for name in unresolved)
