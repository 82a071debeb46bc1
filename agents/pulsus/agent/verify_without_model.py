"""Verify a write without the model, when turns, budget or time have ended (architecture §7).

The expected state after `start`, `stop` or `restart` is compared here. A file that the agent wrote
is read again and compared (sha256) at once, in `agent/tools/local/file_replacement.py`.

That every write is verified before the answer is the rule of `gates/workflow/workflow_state.py`.
Which read verifies a command is in `gates/verifying_read.py`.

Effects: those of the reads that it makes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Protocol, runtime_checkable

from pulsus.agent.loop.call_draft import CallDraft
from pulsus.agent.tool_protocol import AgentTool, CallContext
from pulsus.core.types import JsonValue, Verification
from pulsus.execution.cancellation import Cancellation
from pulsus.fast_dataclass import dataclass
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.tool_response import ToolResponse, tool_failed, tool_success
from pulsus.gates.verifying_read import VerifyingRead, verifying_read
from pulsus.infra.inventory import HOST

_SECONDS: Final = 30.0
_THIS_MACHINE: Final = "agent"
"""The type of target that action_labels.yaml gives the machine of the agent."""
_EXPECTED: Final[Mapping[str, str]] = {
    "start": "running",
    "restart": "running",
    "reload": "running",
    "stop": "stopped",
    "shutdown": "stopped",
}
"""The state of a service, guest or container after each action."""


@runtime_checkable
class VerifiedTool(Protocol):
    """A tool whose contract names the read that verifies it."""

    def verify(self, args: Mapping[str, JsonValue], result: JsonValue) -> Verification:
        """Return the verdict of that read."""
        ...


@dataclass(frozen=True)
class ContractVerifier:
    """A WriteVerifier. `result_of` gives the data that a tool returned last in this run."""

    tools: Mapping[str, AgentTool]
    result_of: Callable[[str], JsonValue]

    def verify(self, draft: CallDraft) -> ToolResponse:
        """Return the result of the read that the contract names.

        A built-in write is verified by getting each resource that it changed, and by its state if
        the action says what it must be. A command that changes one service of this machine is
        verified by a read of that service. Other commands and edits leave open what to expect of
        the resource, so only the model's own read, or the edit's checksum, can confirm them.
        """
        tool = draft.tool
        if isinstance(tool, VerifiedTool):
            verdict = tool.verify(draft.call.args, self.result_of(draft.call.tool))
            if verdict.ok:
                return tool_success({"verified_by": verdict.tool})
            return tool_failed("EXECUTION_FAILED", verdict.reason or "the change is not confirmed")
        target = draft.resources[0] if len(draft.resources) == 1 else None
        if draft.needs.command and target is not None and target.kind == HOST:
            read = verifying_read(draft.needs.command, _THIS_MACHINE)
            if read is not None:
                return self._compare_output(target, read)
        action = str(draft.call.args.get("operation") or draft.call.args.get("action") or "")
        expected = _EXPECTED.get(action)
        if expected is None:
            name = draft.call.tool
            return tool_failed("EXECUTION_FAILED", f"no read verifies {name} without the model")
        return self._compare_states(draft, expected)

    def _compare_output(self, host: ResolvedResource, read: VerifyingRead) -> ToolResponse:
        cancellation = Cancellation()  # a stopped run still says what became of its write
        try:
            context = CallContext((host,), cancellation, _SECONDS)
            args: dict[str, JsonValue] = {"action": "exec", "command": read.command}
            response = self.tools["pulsus_read"].run(args, context).response
        finally:
            cancellation.close()
        if not response.ok:
            return response
        data = response.data if isinstance(response.data, dict) else {}
        found = str(data.get("output", "")).strip()
        if found in read.expected:
            return tool_success({"verified_by": read.command, "output": found})
        wanted = " or ".join(read.expected)
        text = f"{read.command} says {found or 'nothing'!r}, and should say {wanted}"
        return tool_failed("EXECUTION_FAILED", text)

    def _compare_states(self, draft: CallDraft, expected: str) -> ToolResponse:
        cancellation = Cancellation()  # a stopped run still says what became of its write
        try:
            for resource in draft.resources:
                context = CallContext((), cancellation, _SECONDS)
                args: dict[str, JsonValue] = {"action": "get", "target_resource_id": resource.id}
                response = self.tools["pulsus_query"].run(args, context).response
                if not response.ok:
                    return response
                data = response.data if isinstance(response.data, dict) else {}
                if data.get("status") != expected:
                    found = data.get("status", "unknown")
                    text = f"{resource.id} is {found}, and should be {expected}"
                    return tool_failed("EXECUTION_FAILED", text)
        finally:
            cancellation.close()
        return tool_success({"status": expected})
