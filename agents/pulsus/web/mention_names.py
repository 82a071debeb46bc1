"""The names that a question may mention, for the completion of the chat (deep dive §1).

At most 2,000 names, from `infra/local_machine.py`. The mentions in a question are resolved in
`agent/mentions/`.
"""

from __future__ import annotations

from typing import Final

from pulsus.core.types import JsonValue
from pulsus.infra.inventory import CONTAINER, HOST, SERVICE, Inventory

MENTIONED_KINDS: Final = (HOST, SERVICE, CONTAINER)
_MOST_NAMES: Final = 2000


def mention_names(inventory: Inventory) -> dict[str, JsonValue]:
    """Return `names` with their ids, sorted, and `unavailable`: sources that did not answer."""
    found = inventory.list_resources(MENTIONED_KINDS)
    entries = sorted(found.entries, key=lambda each: (each.resource.name, each.resource.id))
    return {
        "names": [
            {
                "name": entry.resource.name,
                "resource_id": entry.resource.id,
                "resource_type": entry.resource.kind,
                "status": entry.status,
            }
            for entry in entries[:_MOST_NAMES]
        ],
        "unavailable": [
            {"name": state.name, "reason": state.reason} for state in found.backends if state.reason
        ],
    }
