"""The events of an agent run, as clients see them (contracts, Commands and agent).

Each event becomes one JSON object whose `event` is its name. Events carry no secret and no token:
`agent/agent_session.py` redacts each of them.

They are not the trace of the run, which `core/telemetry/logging.py` writes to disk. They are sent
to browsers as SSE by `web/api/event_stream.py`, and printed by `cli/agent/event_view.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

EVENT_NAMES: Final = (
    "agent_start",
    "agent_turn",
    "agent_token",
    "agent_withdrawn",
    "agent_tool_call",
    "agent_tool_result",
    "agent_correction",
    "approval_needed",
    "agent_suspended",
    "agent_final",
    "agent_error",
    "agent_max_turns",
)


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """One event: its name and its fields, which are JSON values."""

    name: str
    fields: Mapping[str, JsonValue]

    def to_json(self) -> dict[str, JsonValue]:
        """Return the event as one line of ndjson has it."""
        return {"event": self.name, **self.fields}


EmitEvent = Callable[[AgentEvent], None]
"""Sends an event to the clients of the run. It must not raise."""


def agent_event(name: str, /, **fields: JsonValue) -> AgentEvent:
    """Return an event. Raises ValueError for a name that the contracts do not have."""
    if name not in EVENT_NAMES:
        raise ValueError(f"there is no agent event {name!r}")
    return AgentEvent(name, fields)
