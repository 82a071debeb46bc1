"""Agent runs with a scripted model and tools that count their effects: no machine is touched."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import anyio

from pulsus.agent.agent_events import AgentEvent
from pulsus.agent.answers.repeated_calls import RepeatedCalls
from pulsus.agent.knowledge.knowledge_accumulator import KnowledgeAccumulator, KnowledgeLimits
from pulsus.agent.loop.agent_loop import AgentLoop, AgentRunEnd
from pulsus.agent.loop.call_draft import AskPerson, CallDraft, RefusedCall, RunCall
from pulsus.agent.loop.check_calls import CallRules
from pulsus.agent.loop.run_calls import CallRunner
from pulsus.agent.loop.run_ports import LoopPorts, PersonAnswer
from pulsus.agent.loop.session_state import SessionState
from pulsus.agent.loop.transcript import Transcript
from pulsus.agent.loop.turn_budget import TurnBudget
from pulsus.agent.model.proposal import AgentMessage, TurnProposal, TurnRequest
from pulsus.agent.tool_protocol import CallContext, CallNeeds, CallOutcome, ProposedCall
from pulsus.core.types import JsonValue
from pulsus.execution.cancellation import Cancellation
from pulsus.gates.resources.resolved_context import ResolvedContext
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.session_gates import SessionGates
from pulsus.gates.tool_descriptors import DescriptorTable, ToolDescriptor
from pulsus.gates.tool_response import ToolResponse, tool_blocked, tool_failed, tool_success

WEB = ResolvedResource(
    "service", "nginx", "nginx", host="web01", parent="host:web01:m1", target_host="web01",
    allowed_actions=("restart", "stop", "exec"),
)  # fmt: skip
HOST = ResolvedResource(
    "host", "m1", "web01", host="web01", target_host="web01",
    allowed_actions=("exec", "command", "write", "append"),
)  # fmt: skip
TEXT = {"type": "string"}
TARGET = {"target_resource_id": TEXT, "target_host": TEXT}


def _schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


QUERY = ToolDescriptor(
    "pulsus_query",
    "Find resources.",
    _schema(action={"type": "string", "enum": ["search", "get"]}, query=TEXT, **TARGET),
    kind="resolve",
    selector="action",
)
READ = ToolDescriptor(
    "pulsus_read",
    "Read.",
    _schema(action={"type": "string", "enum": ["exec", "file"]}, command=TEXT, **TARGET),
    kind="read",
    selector="action",
)
CONTROL = ToolDescriptor(
    "pulsus_control",
    "Change.",
    _schema(
        type={"type": "string", "enum": ["service", "command"]},
        action=TEXT,
        command=TEXT,
        **TARGET,
    ),
    kind="write",
    selector="type",
)


def _targets(args: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(args[k]) for k in ("target_resource_id", "target_host") if k in args)


@dataclass
class FakeTool:
    """A tool whose outcome a function gives. It counts what it was asked to do."""

    descriptor: ToolDescriptor
    answer: Callable[[Mapping[str, Any], CallContext], CallOutcome]
    ran: list[dict[str, Any]] = field(default_factory=list)

    def needs(self, args):
        action = str(args.get("action") or args.get("type") or "")
        return CallNeeds(action, _targets(args), command=str(args.get("command", "")))

    def run(self, args, context):
        self.ran.append(dict(args))
        return self.answer(args, context)


def found(*resources: ResolvedResource):
    def answer(args, context):
        single = args.get("action") == "get"
        shown = tuple(one for one in resources if not single or one.id in _targets(args))
        ids = tuple(one.id for one in shown)
        data: JsonValue = {"resources": [{"id": one} for one in ids]}
        return CallOutcome(tool_success(data), shown, single, read=ids if single else ())

    return answer


def reads(args, context):
    return CallOutcome(
        tool_success({"output": "active"}), read=tuple(r.id for r in context.resources)
    )


def writes(args, context):
    return CallOutcome(tool_success({"done": True}), wrote=tuple(r.id for r in context.resources))


def fails(args, context):
    return CallOutcome(tool_failed("EXECUTION_FAILED", "it broke"))


class AllowAll:
    """Control rules that let every call run, but for names in `asked` and `refused`."""

    def __init__(self, asked=(), refused=(), request="request"):
        self.asked, self.refused, self.request = asked, refused, request

    def refuse(self, draft: CallDraft) -> ToolResponse | None:
        if draft.call.tool in self.refused:
            return tool_blocked("POLICY_BLOCKED", "refused by the test")
        return None

    def rewrite(self, draft: CallDraft) -> str | None:
        return None

    def invented(self, draft: CallDraft):
        return ()

    def decide(self, draft: CallDraft) -> RunCall | AskPerson | RefusedCall:
        return AskPerson(draft, self.request) if draft.call.tool in self.asked else RunCall(draft)

    def hear(self, texts):
        self.heard = [*getattr(self, "heard", []), *texts]

    def learn(self, outcome):
        self.learned = [*getattr(self, "learned", []), outcome]


@dataclass
class ScriptedAsker:
    """A person with prepared answers."""

    answer: PersonAnswer = field(default_factory=lambda: PersonAnswer("approved"))
    asked: list[AskPerson] = field(default_factory=list)

    def describe(self, request):
        return {"approval_id": "a1", "command": "c", "risk_level": "low", "description": "d"}

    def decide(self, request):
        self.asked.append(request)
        return self.answer

    def redeem(self, request, now_call):
        return None


class ScriptedModel:
    """A model that gives prepared proposals, the last one again and again."""

    provider, model = "scripted", "scripted"

    def __init__(self, *proposals: Any):
        self.left = list(proposals)
        self.asked: list[TurnRequest] = []

    def propose(self, ask, on_text):
        self.asked.append(ask)
        answer = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer(ask) if callable(answer) else answer

    def system_prompt(self, tools, context):
        return "system"

    def transcript_chars(self, tools):
        return 100_000


_ids = itertools.count(1)


def call(tool: str, **args: Any) -> ProposedCall:
    return ProposedCall(f"call-{next(_ids)}", tool, args)


def proposes(*calls: ProposedCall) -> TurnProposal:
    return TurnProposal("{}", calls=calls)


def answers(text: str, confidence: str = "high") -> TurnProposal:
    return TurnProposal(text, text=text, confidence=confidence)  # type: ignore[arg-type]


@dataclass
class Verifier:
    """The runtime's own verification."""

    response: ToolResponse = field(default_factory=lambda: tool_success({}))
    ran: list[CallDraft] = field(default_factory=list)

    def verify(self, draft):
        self.ran.append(draft)
        return self.response


@dataclass
class Recorder:
    """Keeps events and counts in order."""

    rows: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def event(self, phase, **fields):
        self.rows.append((phase, fields))

    def count(self, name, **labels):
        self.rows.append((f"count:{name}", labels))


@dataclass
class AgentWorld:
    """One session with its tools; `run` plays a request against a script."""

    tools: dict[str, FakeTool]
    control: Any = field(default_factory=AllowAll)
    asker: Any = field(default_factory=ScriptedAsker)
    verifier: Verifier = field(default_factory=Verifier)
    record: Recorder = field(default_factory=Recorder)
    events: list[AgentEvent] = field(default_factory=list)
    state: SessionState | None = None
    max_turns: int = 8
    ended_at: float = 0.0
    looks_first: bool = False
    likely: ProposedCall | None = None

    def run(
        self,
        *proposals: Any,
        request: str = "do it",
        cancellation: Cancellation | None = None,
        model: Any = None,
    ) -> AgentRunEnd:
        model = model or ScriptedModel(*proposals)
        table = DescriptorTable([tool.descriptor for tool in self.tools.values()])
        rules = CallRules(self.tools, table, self.control, True, 2, 300)
        cancellation = cancellation or Cancellation()
        ports = LoopPorts(self.events.append, self.asker, self.verifier, self.record, self.record)
        loop = AgentLoop(
            model,
            rules,
            CallRunner(cancellation, 4),
            ports,
            TurnBudget(self.max_turns, 12, 18),
            60.0,
        )
        transcript = Transcript("system", request, keep_turns=2, min_chars=300, most_chars=100_000)
        state = self.state or fresh_state()
        try:
            ended = anyio.run(self._timed, loop, state, transcript, lambda state: list(table))
        finally:
            cancellation.close()
        self.state, self.model, self.messages = ended.state, model, transcript.all_messages
        return ended

    async def _timed(
        self, loop: AgentLoop, state: SessionState, transcript: Transcript, tools: Any
    ) -> AgentRunEnd:
        ended = await loop.run(
            state, transcript, tools, "run-1", looks_first=self.looks_first, likely=self.likely
        )
        self.ended_at = time.monotonic()
        return ended

    def named(self, name: str) -> list[dict[str, Any]]:
        """The fields of every event of that name."""
        return [dict(each.fields) for each in self.events if each.name == name]


def fresh_state(*resources: ResolvedResource) -> SessionState:
    gates = SessionGates(resources=ResolvedContext())
    if resources:
        gates = replace(gates, resources=gates.resources.add(resources, 0.0))
        gates = replace(gates, workflow=gates.workflow.reset(keep_found=True))
    return SessionState(
        gates, KnowledgeAccumulator(KnowledgeLimits(60, 2000, 200)), RepeatedCalls(3, 500)
    )


def world(**answers_by_tool: Any) -> AgentWorld:
    """A session over web01 with the service nginx."""
    answers_for = {"query": found(WEB, HOST), "read": reads, "control": writes} | answers_by_tool
    return AgentWorld(
        {
            "pulsus_query": FakeTool(QUERY, answers_for["query"]),
            "pulsus_read": FakeTool(READ, answers_for["read"]),
            "pulsus_control": FakeTool(CONTROL, answers_for["control"]),
        }
    )


def messages_of(role: str, messages: tuple[AgentMessage, ...]) -> list[str]:
    return [each.content for each in messages if each.role == role]
