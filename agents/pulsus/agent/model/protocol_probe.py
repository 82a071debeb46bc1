"""Find out how a model calls tools best: by JSON objects in text, or natively. Effects: asks it.

`pulsus doctor --model` shows it. The setting is `agent.protocol`, which
`bootstrap/language_model.py` follows. Other abilities of a model are tested in
`llm/model_probe.py`.

Small models often write a correct JSON object, and miss the native interface; large ones do both
well, and natively they can make several calls in one turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final, Literal

from pulsus.agent.model.proposal import AgentMessage, TurnModel, TurnProposal, TurnRequest
from pulsus.core.telemetry.sanitize import one_line
from pulsus.errors import PulsusError
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.llm.model_probe import ProbeFinding, describe_failure

AgentProtocol = Literal["json", "native"]


def _tool(name: str, description: str, **properties: str) -> ToolDescriptor:
    schema = {
        "type": "object",
        "properties": {each: {"type": kind} for each, kind in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }
    return ToolDescriptor(name, description, schema, kind="read")


_TOOLS: Final = (
    _tool("read_file", "Read the last lines of a file.", path="string", lines="integer"),
    _tool("disk_usage", "Show how full a file system is.", path="string"),
    _tool("service_status", "Show if a service runs.", service="string"),
)
_REQUEST: Final = "Show me the last 20 lines of /var/log/syslog."
_EXPECTED: Final = ("read_file", {"path": "/var/log/syslog", "lines": 20})


def probe_protocols(
    by_json: TurnModel, natively: TurnModel, configured: AgentProtocol, tell: Callable[[str], None]
) -> Iterator[ProbeFinding]:
    """Yield what each way gives, and the protocol to set. `tell` names each test.

    One tool of three has to be called with exact arguments. None of this is needed to write tools.
    """
    tell("does it call a tool by a JSON object")
    json_found = _probe_call("json calls", by_json)
    yield json_found
    tell("does it call a tool natively")
    native_found = _probe_call("native calls", natively)
    yield native_found
    yield _choose(json_found.ok, native_found.ok, configured)


def _probe_call(name: str, model: TurnModel) -> ProbeFinding:
    system = model.system_prompt(_TOOLS, "Host: localhost")
    messages = (AgentMessage("system", system), AgentMessage("user", _REQUEST))
    try:
        proposal = model.propose(TurnRequest(messages, _TOOLS, text_only=False, turn=1), None)
    except PulsusError as error:
        return replace(describe_failure(name, error), required=False)
    if [(call.tool, dict(call.args)) for call in proposal.calls] == [_EXPECTED]:
        return ProbeFinding(name, True, "the right tool with exact arguments", required=False)
    return ProbeFinding(name, False, _describe(proposal), _HINT, required=False)


_HINT: Final = "the agent needs one of the two ways: a larger model, or one trained to call tools"


def _describe(proposal: TurnProposal) -> str:
    if proposal.calls:
        calls = ", ".join(f"{call.tool}({dict(call.args)})" for call in proposal.calls)
        return one_line(f"it called {calls}", 160)
    return one_line(f"it called nothing, and wrote: {proposal.raw!r}", 160)


def _choose(json_works: bool, native_works: bool, configured: AgentProtocol) -> ProbeFinding:
    if not (json_works or native_works):
        said = "it calls tools neither by JSON nor natively: the agent cannot use it"
        return ProbeFinding("protocol", False, said, _HINT, required=False)
    best: AgentProtocol = "native" if native_works else "json"
    chosen = partial(ProbeFinding, "protocol", required=False, protocol=best)
    if best == configured:
        return chosen(True, f'agent.protocol = "{best}", as it is set')
    hint = f'set agent.protocol = "{best}"'
    if json_works and native_works:
        said = f'both ways work, and "native" allows several calls in one turn: {hint}'
        return chosen(True, said, hint)
    return chosen(False, f'agent.protocol is "{configured}", but only "{best}" works', hint)
