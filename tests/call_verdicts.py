"""Rules of control over the shipped tables and a made-up project, and drafts of calls for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from pulsus.agent.control.build_call_question import ControlPorts
from pulsus.agent.control.call_question import CallQuestion
from pulsus.agent.control.call_verdict import AgentControl
from pulsus.agent.control.protection.files.protected_places import ProtectedPlaces
from pulsus.agent.control.protection.files.startup_files import StartupFiles
from pulsus.agent.control.protection.own_address import OwnAddress
from pulsus.agent.control.protection.processes.own_process import OwnProcess
from pulsus.agent.control.protection.self_protection import SelfProtection
from pulsus.agent.control.session_grants import SessionGrants
from pulsus.agent.control.session_words import SessionWords
from pulsus.agent.loop.call_draft import AskPerson, CallDraft
from pulsus.agent.tool_protocol import CallNeeds, ProposedCall
from pulsus.commands.judge_context import JudgeContext
from pulsus.config.settings import PolicyConfig
from pulsus.gates.command_policy import CommandPolicy
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.tool_descriptors import CallKind, ToolDescriptor
from pulsus.gates.tool_response import ToolError, ToolResponse

HOST = ResolvedResource(
    "host", "m1", "web01", host="web01", target_host="web01",
    allowed_actions=("command", "write", "append"),
)  # fmt: skip
NGINX = ResolvedResource(
    "service", "nginx", "nginx", host="web01", parent=HOST.id, target_host="web01",
    allowed_actions=("restart", "stop"),
)  # fmt: skip


class Clock:
    """Seconds that only a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class PolicyGate:
    """A command gate with the shipped tables."""

    config: PolicyConfig = field(default_factory=PolicyConfig)

    def __post_init__(self) -> None:
        self.policy = CommandPolicy(self.config)
        self.context = JudgeContext()


@dataclass
class PlainTool:
    """A tool that is judged only."""

    descriptor: ToolDescriptor

    def needs(self, args):
        raise AssertionError("the draft has its needs")

    def run(self, args, context):
        raise AssertionError("no call runs in these tests")


def control(
    level="controlled",
    *,
    said="",
    seen=(),
    policy: Mapping[str, Any] | None = None,
    clock=None,
    ports=None,
    serve=(),
    places: ProtectedPlaces | None = None,
    own: OwnProcess | None = None,
    startup: StartupFiles | None = None,
) -> AgentControl:
    """Return rules for a project in /srv/app. The host and `said` are words of the user."""
    places = places or ProtectedPlaces(
        [Path("/srv/app/.pulsus"), Path("/srv/app/config")],
        folder=Path("/srv/app"),
        project=Path("/srv/app"),
        home=Path("/home/ops"),
        resolve=lambda path: path,
    )
    gate = PolicyGate(PolicyConfig(**(policy or {})))
    own = own or OwnProcess(ports=serve, locate=lambda name: (), resolve=lambda path: path)
    address = OwnAddress(gate.context.tables, ports=serve)
    words = SessionWords()
    words.add_said(said, *HOST.names)
    for each in seen:
        words.add_seen(each)
    numbers = count(1)
    return AgentControl(
        level,
        gate,
        SelfProtection(places, own, address, gate.context.tables, startup),
        words,
        SessionGrants(clock or Clock(), minutes=60),
        approval_seconds=600,
        ports=ports or ControlPorts(new_id=lambda: f"a{next(numbers)}"),
    )


def draft(tool, kind: CallKind, needs: CallNeeds, resources=(HOST,), **args) -> CallDraft:
    """Return the draft of a call."""
    schema = {"type": "object", "properties": {}}
    descriptor = ToolDescriptor(tool, "", schema, kind=kind)
    call = ProposedCall("c1", tool, args)
    return CallDraft(call, PlainTool(descriptor), kind, needs, tuple(resources))


def read_command(command) -> CallDraft:
    """Return a call of the read tool."""
    needs = CallNeeds("exec", (HOST.id,), command=command, checks_routing=True)
    return draft("pulsus_read", "read", needs, action="exec", command=command)


def write_command(command) -> CallDraft:
    """Return a call of the tool that runs commands which may write."""
    needs = CallNeeds("command", (HOST.id,), command=command, checks_routing=True)
    return draft("pulsus_control", "write", needs, type="command", command=command)


def restart(resource=NGINX, action="restart") -> CallDraft:
    """Return the restart of a service."""
    needs = CallNeeds(action, (resource.id,), written={"action": action})
    return draft("pulsus_control", "write", needs, [resource], type="service", action=action)


def edit(path, content) -> CallDraft:
    """Return a call that replaces a file."""
    needs = CallNeeds("write", (HOST.id,), paths=(path,), written={"content": content})
    return draft("pulsus_file_edit", "write", needs, action="write", path=path, content=content)


def request_of(decided) -> CallQuestion:
    """Return the request of a call that waits for a person."""
    assert isinstance(decided, AskPerson)
    assert isinstance(decided.request, CallQuestion)
    return decided.request


def code_of(response) -> str:
    """Return the code of a refusal, or an empty text."""
    return response.error.code if response is not None else ""


def error_of(response: ToolResponse | None) -> ToolError:
    """Return the error of a refusal."""
    assert response is not None
    assert response.error is not None
    return response.error


def details_of(response: ToolResponse | None) -> dict[str, Any]:
    """Return the details of a refusal."""
    return dict(error_of(response).details)
