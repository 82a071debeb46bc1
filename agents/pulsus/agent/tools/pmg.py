"""`pulsus_pmg`: mail gateways. No backend of this Pulsus reaches one, and the tool says so.

Kinds and arguments of the tool are in `gates/built_in_tools.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pulsus.agent.tool_protocol import CallContext, CallNeeds, CallOutcome
from pulsus.agent.tools.local.local_system import LocalSystem, targets_of, text_of
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import ToolDescriptor

_REASON: Final = "no Proxmox Mail Gateway is connected to this Pulsus"


@dataclass(frozen=True, slots=True)
class MailGatewayTool:
    """Answers that no mail gateway is connected."""

    system: LocalSystem

    @property
    def descriptor(self) -> ToolDescriptor:
        """Return the tool's descriptor."""
        return built_in_tools()["pulsus_pmg"]

    def needs(self, args: Mapping[str, JsonValue]) -> CallNeeds:
        """Return the action and the reason."""
        return CallNeeds(text_of(args, "type"), targets_of(args), unavailable=_REASON)

    def run(self, args: Mapping[str, JsonValue], context: CallContext) -> CallOutcome:
        """Return the refusal."""
        return self.system.refused("EXECUTION_CONTEXT_UNAVAILABLE", _REASON)
