"""The summary of mentioned resources that a model gets with a request (deep dive §1). Pure.

Names and states come from discovery, and any user may choose the name of a container. So each value
is on one line, short, and in quotes.

So a name cannot write lines of its own into the prompt (prompt injection).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.types import JsonValue
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.infra.inventory import InventoryEntry

LookUpParent = Callable[[str], ResolvedResource | None]

_NAME_CHARS: Final = 120
_PATH_CHARS: Final = 200
_MOST_ROWS: Final = 10
_DEEPEST: Final = 8
_SHOWN_LISTS: Final = ("ports", "config_paths", "log_paths")


def routing_chain(resource: ResolvedResource, parent_of: LookUpParent) -> list[ResolvedResource]:
    """Return the resources around `resource`, from inside to outside, without itself."""
    chain: list[ResolvedResource] = []
    above = parent_of(resource.parent) if resource.parent else None
    while above is not None and above not in chain and len(chain) < _DEEPEST:
        chain.append(above)
        above = parent_of(above.parent) if above.parent else None
    return chain


def resource_summary(
    entry: InventoryEntry,
    parent_of: LookUpParent,
    found: Mapping[str, JsonValue],
    *,
    certain: bool,
) -> str:
    """Return the paragraph about one resource. `found` is what discovery says about it.

    If it is not `certain`, the user's words only resemble its name, and the paragraph says so.
    """
    resource = entry.resource
    lines = [
        f"{_quoted(resource.name)}: {resource.kind}, {entry.status}, id {_quoted(resource.id)}"
    ]
    if not certain:
        lines[0] += " (the request does not name it for certain)"
    chain = routing_chain(resource, parent_of)
    if chain:
        lines.append(
            "  runs on " + ", on ".join(f"{_quoted(one.name)} ({one.kind})" for one in chain)
        )
    elif resource.host and resource.host != resource.name:
        lines.append(f"  on {_quoted(resource.host)}")
    target = resource.target_host or resource.name
    lines.append(f"  target_host: {_quoted(target)}")
    lines += _mounts(found.get("bind_mounts"), resource, chain)
    for name in _SHOWN_LISTS:
        values = found.get(name)
        if isinstance(values, list) and values:
            shown = json.dumps(values[:_MOST_ROWS], ensure_ascii=False)
            lines.append(f"  {name}: {one_line(shown, 2 * _PATH_CHARS)}")
    return "\n".join(lines)


def unresolved_note(name: str, where: str) -> str:
    """Return what the model is told of a mention that no resource has."""
    return (
        f"{_quoted(name)} was mentioned and does not exist on {_quoted(where)}. Say so, and ask "
        "the user what is meant. Do not act on it, and do not search for it."
    )


def ambiguous_note(name: str, ids: Sequence[str]) -> str:
    """Return what the model is told of a mention that several resources have."""
    listed = ", ".join(map(_quoted, ids[:_MOST_ROWS]))
    return f"{_quoted(name)} is the name of several resources: {listed}. Ask the user which."


def _mounts(
    mounts: JsonValue, resource: ResolvedResource, chain: Sequence[ResolvedResource]
) -> list[str]:
    """Return the lines of bind mounts: paths of the surrounding machine, not of the inside."""
    rows = [row for row in mounts if isinstance(row, dict)] if isinstance(mounts, list) else []
    if not rows:
        return []
    where = chain[0].name if chain else resource.host
    lines = [f"  bind mounts (paths on {_quoted(where)} → paths inside {_quoted(resource.name)}):"]
    lines += [
        f"    {_path(row.get('source'))} → {_path(row.get('destination'))}"
        for row in rows[:_MOST_ROWS]
    ]
    return lines


def _path(value: JsonValue) -> str:
    return one_line(str(value or "?"), _PATH_CHARS)


def _quoted(name: str) -> str:
    return json.dumps(one_line(name, _NAME_CHARS), ensure_ascii=False)
