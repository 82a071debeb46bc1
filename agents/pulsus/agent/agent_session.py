"""One session of the agent over several requests (assistant architecture §5, deep dive §2).

What was found and learned stays from one request to the next, and so do open writes: a write that
was not verified blocks the next one, also after an error. A request that is too long (8,000
characters) is refused here. Secrets are redacted from each event here (`_observe`). How many turns
a run has is decided in `agent/loop/turn_budget.py`; saved chats are in
`agent/sessions/session_file.py`. Effects: those of the parts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final, Protocol

import anyio.to_thread

from pulsus.agent.agent_events import AgentEvent, EmitEvent
from pulsus.agent.agent_metrics import AgentMetrics
from pulsus.agent.answers.repeated_calls import RepeatedCalls
from pulsus.agent.cluster_context import ClusterContext, join_contexts
from pulsus.agent.knowledge.knowledge_accumulator import KnowledgeAccumulator, KnowledgeLimits
from pulsus.agent.knowledge.knowledge_gate import asks_to_look_again
from pulsus.agent.loop.agent_loop import AgentLoop, AgentRunEnd
from pulsus.agent.loop.check_calls import CallRules
from pulsus.agent.loop.run_calls import CallRunner
from pulsus.agent.loop.run_ports import ApprovalAsker, LoopPorts, RunRecorder
from pulsus.agent.loop.session_state import SessionState
from pulsus.agent.loop.transcript import Transcript
from pulsus.agent.loop.turn_budget import TurnBudget
from pulsus.agent.mentions.mention_parser import Mention
from pulsus.agent.mentions.prefetcher import Prefetched, Prefetcher
from pulsus.agent.tool_selection import ToolSelection, only_asks, refers_back, select_tools
from pulsus.agent.verify_without_model import ContractVerifier
from pulsus.config.settings import AgentConfig
from pulsus.errors import RequestInvalid
from pulsus.execution.cancellation import Cancellation
from pulsus.fast_dataclass import dataclass
from pulsus.gates.resources.resolved_context import NameLookup, ResolvedContext
from pulsus.gates.session_gates import SessionGates
from pulsus.gates.tool_descriptors import ToolDescriptor

if TYPE_CHECKING:
    from pulsus.agent.control.call_verdict import AgentControl
    from pulsus.agent.first_call import IsFolder
    from pulsus.agent.model.proposal import TurnModel
    from pulsus.agent.tool_protocol import ProposedCall
    from pulsus.agent.tools.all_tools import AgentTools
    from pulsus.core.telemetry.redaction import Redactor
    from pulsus.core.types import JsonValue

CATALOGUE_TOOLS: Final = 4
"""Catalogue tools that a request lists, the best by the router's ranking."""
WITH_LIKELY: Final = 1
"""As many are listed if the router is sure of one: a shorter list misleads a small model less."""
MOST_REQUEST_CHARS: Final = 8000
_REMEMBERED_CALLS: Final = 500


class MakeModel(Protocol):
    """Makes the model of one request, with a budget of its own."""

    def __call__(self) -> TurnModel:
        """Return the model. Raises LlmNotConfigured, ConfigError, ModelRefused."""
        ...


@dataclass(frozen=True)
class SessionParts:
    """The parts that a session is wired from.

    `rank` gives the agent's names of catalogue tools for a request, the best first. `verifying`
    maps a catalogue tool to the tool under `Verify:`. `open_record` begins the trace of a run.
    `max_turns` is that of a request which names none. `cluster` adds the state of the cluster to
    the prompt. `suggest` gives the likely first call, and `is_folder` says what is at a path.
    """

    tools: AgentTools
    control: AgentControl
    asker: ApprovalAsker
    prefetcher: Prefetcher
    cluster: ClusterContext
    make_model: MakeModel
    rank: Callable[[str], Sequence[str]]
    verifying: Mapping[str, str]
    open_record: Callable[[str], RunRecorder]
    new_run_id: Callable[[], str]
    metrics: AgentMetrics
    redactor: Redactor
    config: AgentConfig
    max_turns: int
    suggest: Callable[[str], ProposedCall | None] = field(default=lambda request: None)
    is_folder: IsFolder = field(default=lambda path: None)
    clock: Callable[[], float] = field(default=time.monotonic)


@dataclass(frozen=True, slots=True)
class AskOptions:
    """The options of one request. Ids in `mentions`, from a completion, are resolved again."""

    emit: EmitEvent
    cancellation: Cancellation
    mentions: Sequence[Mention] = ()
    max_turns: int | None = None
    steer: Callable[[], Sequence[str]] = field(default=tuple)


@dataclass(frozen=True, slots=True)
class AskEnd:
    """The end of one request."""

    run_id: str
    end: AgentRunEnd
    prefetched: Prefetched


class AgentSession:
    """A session. One request runs at a time."""

    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts
        self.state = self._fresh_state()
        self.transcript: Transcript | None = None
        self.selection: ToolSelection | None = None
        self.last_prefetched = Prefetched()
        self._earlier: list[tuple[str, str]] = []
        self._results: dict[str, JsonValue] = {}
        self._routed: set[str] = set()

    @property
    def parts(self) -> SessionParts:
        """Return the parts of the session."""
        return self._parts

    def remember_earlier(self, exchanges: Sequence[tuple[str, str]]) -> None:
        """Give the model the requests and answers of an earlier session. Nothing else is kept."""
        self._earlier = list(exchanges)

    def reset(self, *, keep_pinned: bool) -> None:
        """Forget what was found, learned and said; with `keep_pinned` all but pinned resources."""
        now = self._parts.clock()
        fresh = self._fresh_state()
        self.state = replace(
            fresh, gates=self.state.gates.reset(now, keep_pinned=keep_pinned), turn=self.state.turn
        )
        self.transcript, self._earlier = None, []

    def pin(self, name: str, *, pinned: bool) -> NameLookup:
        """Pin the resource of an id, name or alias, or take the pin away.

        A pinned resource does not expire and is not evicted. Returns what the name means.
        """
        now, gates = self._parts.clock(), self.state.gates
        found = gates.resources.find(name, now)
        if found.resource is not None:
            resources = gates.resources.pin([found.resource.id], now, pinned=pinned)
            self.state = replace(self.state, gates=replace(gates, resources=resources))
        return found

    async def ask(self, request: str, options: AskOptions) -> AskEnd:
        """Run one request to its end.

        Raises RequestInvalid, LlmNotConfigured, ConfigError and what a trace that cannot be written
        raises. Other failures are events, and an end with an exit status.
        """
        text = request.strip()
        _require_request(text)
        parts, config = self._parts, self._parts.config
        model = parts.make_model()
        run_id = parts.new_run_id()
        record = parts.open_record(run_id)
        self._results.clear()
        self._routed.clear()
        fetched = await anyio.to_thread.run_sync(parts.prefetcher.fetch, text, options.mentions)
        self.last_prefetched = fetched
        cluster = await parts.cluster.fetch(text)
        self._begin(text, fetched)
        likely = await anyio.to_thread.run_sync(parts.suggest, text)
        selection = select_tools(
            parts.tools.table,
            text,
            await anyio.to_thread.run_sync(parts.rank, text),
            most=CATALOGUE_TOOLS if likely is None else WITH_LIKELY,
            suggests=parts.control.level == "read_only",
            verifying=parts.verifying,
            likely="" if likely is None else likely.tool,
            is_folder=parts.is_folder,
        )
        self.selection = selection
        follows_up = self.transcript is not None and refers_back(text)
        context = join_contexts(cluster, fetched.summary)
        system = model.system_prompt(selection.at_start(), context)
        most_chars = model.transcript_chars(selection.at_start())
        transcript = self._transcript_for(system, text, most_chars)
        record.event(
            "request",
            decision=parts.control.level,
            request=text,
            state=self.state.gates.workflow.name,
            mentioned={
                "exact": [*fetched.exact],
                "similar": [*fetched.similar],
                "unresolved": [*fetched.unresolved],
            },
            tools=[*selection.listed],
            artifacts=[],
        )
        max_turns = options.max_turns or parts.max_turns
        loop = AgentLoop(
            model,
            CallRules(
                parts.tools.by_name,
                parts.tools.table,
                parts.control,
                config.strict_resolution,
                config.compaction_keep_turns,
                config.compaction_min_chars,
                config.max_turn_calls,
            ),
            CallRunner(options.cancellation, config.parallel_reads, parts.clock),
            LoopPorts(
                lambda event: self._observe(event, options.emit),
                parts.asker,
                ContractVerifier(parts.tools.by_name, self._results.get),
                record,
                parts.metrics,
                options.steer,
                parts.clock,
            ),
            TurnBudget(
                max_turns,
                config.wrap_up_after,
                config.wrap_up_escalate_after,
                config.max_error_turns,
            ),
            config.run_seconds,
        )
        end = await loop.run(
            self.state,
            transcript,
            self._offered,
            run_id,
            looks_first=likely is not None or (selection.measures and not follows_up),
            likely=likely,
            question=text if only_asks(text) and not follows_up else "",
            known=cluster,
        )
        self.state = end.state
        return AskEnd(run_id, end, fetched)

    def _begin(self, text: str, fetched: Prefetched) -> None:
        """Start the episode of a request: what was said, what it mentions, what may be repeated."""
        state, parts = self.state, self._parts
        parts.control.begin_request(text)
        fresh_from = state.turn + 1 if asks_to_look_again(text) else state.fresh_from_turn
        self.state = replace(
            state,
            gates=fetched.apply(state.gates, parts.clock()),
            repeats=self._fresh_repeats(),
            fresh_from_turn=fresh_from,
            verified_write=False,
        )
        self._say_found_names()

    def _transcript_for(self, system: str, text: str, most_chars: int) -> Transcript:
        if self.transcript is None:
            config = self._parts.config
            self.transcript = Transcript(
                system,
                text,
                keep_turns=config.compaction_keep_turns,
                min_chars=config.compaction_min_chars,
                most_chars=most_chars,
                earlier=self._earlier,
            )
        else:
            self.transcript.begin_request(system, text, self.state.turn, most_chars)
        return self.transcript

    def _offered(self, state: SessionState) -> tuple[ToolDescriptor, ...]:
        """Return the tools of a turn."""
        assert self.selection is not None
        self.state = state
        self._say_found_names()
        return self.selection.in_state(state, self._routed)

    def _say_found_names(self) -> None:
        """Let the names that discovery found count as said: a write may act on them."""
        now = self._parts.clock()
        for resource in self.state.gates.resources.live(now):
            self._parts.control.words.add_said(*resource.names)

    def _observe(self, event: AgentEvent, emit: EmitEvent) -> None:
        """Note the results of tools, and pass the event on without secrets."""
        if event.name == "agent_tool_result" and event.fields.get("ok"):
            tool, data = str(event.fields["tool"]), event.fields.get("data")
            self._results[tool] = data
            self._parts.control.words.add_seen(data)
            if tool == "pulsus_route":
                self._routed |= _routed_names(data)
        clean = self._parts.redactor.redact_value(dict(event.fields))
        assert isinstance(clean, dict)
        emit(AgentEvent(event.name, clean))

    def _fresh_repeats(self) -> RepeatedCalls:
        return RepeatedCalls(self._parts.config.max_identical_calls, _REMEMBERED_CALLS)

    def _fresh_state(self) -> SessionState:
        config = self._parts.config
        limits = KnowledgeLimits(config.max_facts, config.max_fact_chars, config.max_fact_value)
        resources = ResolvedContext(config.context_ttl_minutes * 60, config.context_max_resources)
        return SessionState(
            SessionGates(resources=resources), KnowledgeAccumulator(limits), self._fresh_repeats()
        )


def _require_request(text: str) -> None:
    """Raise RequestInvalid for a request that is empty or too long."""
    if not text:
        raise RequestInvalid("the request is empty", hint='say what to do: pulsus agent "REQUEST"')
    if len(text) > MOST_REQUEST_CHARS:
        raise RequestInvalid(
            f"the request has {len(text)} characters, and {MOST_REQUEST_CHARS} are the most",
            hint="say it shorter; a tool can read a long text from a file",
        )


def _routed_names(data: JsonValue) -> set[str]:
    rows = data.get("tools") if isinstance(data, dict) else None
    found = rows if isinstance(rows, list) else []
    return {str(row["tool"]) for row in found if isinstance(row, dict) and "tool" in row}
