"""A project → one session of the agent: model, tools, gates, approvals, trace and counters.

Here is decided which catalogue tools are offered to a request (a least probability), and which call
the router suggests. The limits of a run are in `agent/loop/turn_budget.py`. The self-protection is
set up in `agent_protection.py`; `agent_replay.py` replays a recorded run.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.agent.agent_metrics import AgentMetrics
from pulsus.agent.agent_session import AgentSession, SessionParts
from pulsus.agent.cluster_context import ClusterContext
from pulsus.agent.control.build_call_question import ControlPorts
from pulsus.agent.control.call_approvals import CallApprovals
from pulsus.agent.control.call_verdict import AgentControl, ControlLevel
from pulsus.agent.control.person_asker import CallApprover, PersonAsker
from pulsus.agent.control.session_grants import GrantChange, SessionGrant, SessionGrants
from pulsus.agent.control.session_words import SessionWords
from pulsus.agent.first_call import likely_call, names_host, path_call
from pulsus.agent.loop.run_ports import RunRecorder
from pulsus.agent.mentions.prefetcher import Prefetcher
from pulsus.agent.tool_protocol import CallContext, ProposedCall
from pulsus.agent.tool_selection import asks_change
from pulsus.agent.tools.all_tools import AgentTools, agent_tools
from pulsus.agent.tools.catalogue.catalogue_tool import CatalogueTool
from pulsus.agent.tools.cluster.execute_migration import ProposeMigration
from pulsus.agent.tools.cluster.query_wam import KnowledgeAnswer
from pulsus.agent.tools.local.readable_files import MOST_BYTES, FileRefused, read_start
from pulsus.agent.trace_replay import (
    KeyedRecord,
    replay_key,
)
from pulsus.approvals.cards.file_difference import EditNotShown
from pulsus.bootstrap.agent_protection import make_self_protection
from pulsus.bootstrap.language_model import connect_turn_model, new_breaker
from pulsus.core.telemetry import ids
from pulsus.core.telemetry.logging import open_trace
from pulsus.core.types import JsonValue
from pulsus.errors import ExtraMissing
from pulsus.execution.cancellation import Cancellation
from pulsus.kb.goal_engine import answer, find_predicate
from pulsus.kb.terms import parse_goal
from pulsus.routing.delivery.candidate_module import read_module
from pulsus.routing.delivery.deliver import digest

if TYPE_CHECKING:
    from pulsus.bootstrap.app import App

_LEAST_P = 0.02
"""Below this probability a catalogue tool is not offered for a request."""
_LOOK_SECONDS = 10.0


def require_agent_extra(*packages: str) -> None:
    """Raise ExtraMissing if a package of the extra `agent` is not installed."""
    from importlib.util import find_spec

    lacking = [name for name in packages if find_spec(name) is None]
    if lacking:
        raise ExtraMissing.of("the agent", lacking, "agent")


def make_agent_session(
    app: App,
    person: CallApprover | None,
    level: ControlLevel | None = None,
    own_ports: Sequence[int] = (),
    propose: ProposeMigration | None = None,
) -> AgentSession:
    """Return a new session. `person` is None if no person can be asked.

    `level` is the control level, by default that of the settings. The agent connects neither to
    `own_ports` of this machine nor to the port of the settings. `propose` takes migrations for
    approval; without it they are refused. The model is made for each request.
    Raises ExtraMissing and what reading the catalogue raises.
    """
    config, tools = app.settings.agent, make_agent_tools(app, propose)
    catalogue = {t.name: t for t in tools.by_name.values() if isinstance(t, CatalogueTool)}
    record, breaker = _CurrentRecord(app), new_breaker(config)
    grants = SessionGrants(time.monotonic, minutes=config.grant_minutes, record=record.note_grant)
    control = AgentControl(
        level or config.control_level,
        app.commands,
        make_self_protection(app, own_ports),
        _session_words(app),
        grants,
        approval_seconds=config.approval_minutes * 60,
        ports=ControlPorts(
            {name: tool.tool for name, tool in catalogue.items()},
            lambda spec: digest(read_module(spec.path)),
            lambda path: _shown_text(path, tools.system.protected),
            own_names=tuple(tools.system.host.names),
        ),
    )
    pending = CallApprovals(time.monotonic, seconds=config.approval_minutes * 60)
    return AgentSession(
        SessionParts(
            tools=tools,
            control=control,
            asker=PersonAsker(pending, grants, control.hash_of, person),
            prefetcher=Prefetcher(tools.system.machine, lambda one: _look_closer(tools, one)),
            cluster=ClusterContext(app.knowledge.context, app.settings.kb.context_seconds),
            make_model=lambda: connect_turn_model(app, breaker),
            rank=lambda request: _rank(app, request, catalogue),
            verifying=_verifying_tools(catalogue),
            open_record=record.open,
            new_run_id=app.new_run_id,
            metrics=AgentMetrics(app.metrics(), frozenset(tools.by_name)),
            redactor=app.redactor,
            config=config,
            suggest=lambda request: _suggest(app, request, catalogue),
            is_folder=_is_folder,
            max_turns=config.max_turns if config.protocol == "native" else config.json_max_turns,
        )
    )


def make_agent_tools(app: App, propose: ProposeMigration | None = None) -> AgentTools:
    """Return the tools of a session, and of a replay. Raises ExtraMissing."""
    require_agent_extra("anyio", "psutil")
    return agent_tools(
        app,
        app.commands,
        environ=os.environ,
        now=ids.utc_now,
        ask=lambda goal: _ask_knowledge(app, goal),
        facts=app.knowledge.view,
        propose=propose,
    )


class _CurrentRecord:
    """The trace of the run of now. Changes of grants between runs are in the trace of the last."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._trace: RunRecorder | None = None

    def open(self, run_id: str) -> RunRecorder:
        """Begin the trace of a run. Raises StorageUnwritable, DiskFull."""
        trace = open_trace(
            self._app.log_dir, run_id, clock=ids.utc_now, redactor=self._app.redactor
        )
        self._trace = KeyedRecord(trace, replay_key(self._app.state_dir))
        return self._trace

    def note_grant(self, change: GrantChange, grant: SessionGrant) -> None:
        """Write what happened to a grant."""
        if self._trace is not None:
            self._trace.event(
                "grant",
                decision=change,
                grant_id=grant.grant_id,
                command=grant.command,
                risk_level=grant.risk_level,
                artifacts=[],
            )


def _ask_knowledge(app: App, goal: str) -> KnowledgeAnswer:
    """Return the answers to a goal. A refused goal costs no reading of facts."""
    parsed = parse_goal(goal)
    find_predicate(parsed)
    loaded = app.knowledge.load()
    found = answer(parsed, loaded.facts, loaded.now, app.knowledge.limits)
    return KnowledgeAnswer(found, tuple(loaded.facts.at(loaded.now).node_names()))


def _rank(app: App, request: str, catalogue: Mapping[str, CatalogueTool]) -> list[str]:
    """Return the agent's names of the catalogue tools for a request, the best first.

    If it names no host, tools that connect come last: a person would be asked about each call.
    """
    names = {tool.tool.id: name for name, tool in catalogue.items() if not tool.not_allowed}
    found = app.searcher().search(app.parser().parse(request))
    ranked = [*found.choice.chosen, *(one for one in found.candidates if one.p >= _LEAST_P)]
    if not names_host(request):
        ranked.sort(key=lambda one: one.tool.effects is not None and bool(one.tool.effects.hosts))
    ids_in_order = dict.fromkeys(one.tool.id for one in ranked)
    return [names[one] for one in ids_in_order if one in names]


def _suggest(app: App, request: str, catalogue: Mapping[str, CatalogueTool]) -> ProposedCall | None:
    """Return the call that the router would make for the request, or None. No model is asked.

    If no tool of the catalogue fits a question, it is the read of the path that it names.
    """
    from pulsus.routing.inputs.route_inputs import inputs_of_search

    intent = app.parser().parse(request)
    found = app.searcher().search(intent)
    choice = found.choice
    if choice.policy == "generate":
        return None if asks_change(request) else path_call(request, _is_folder)
    if choice.policy != "select" or not choice.chosen:
        return None
    tool = choice.chosen[0].tool
    names = [n for n, one in catalogue.items() if one.tool.id == tool.id and not one.not_allowed]
    if not names:
        return None
    inputs = inputs_of_search(
        intent,
        found,
        app.catalogue,
        max_steps=app.settings.compose.max_steps,
        now=datetime.now().astimezone(),
    )
    return likely_call(request, names[0], tool, inputs, _is_folder)


def _is_folder(path: str) -> bool | None:
    """Return True for a folder, False for another file, or None if nothing can be seen there."""
    try:
        return stat.S_ISDIR(Path(path).stat().st_mode)
    except (OSError, ValueError):
        return None


def _verifying_tools(catalogue: Mapping[str, CatalogueTool]) -> dict[str, str]:
    """Return for each tool the agent's name of the tool under `Verify:` of its contract."""
    by_ref: dict[str, str] = {}
    for name, tool in catalogue.items():
        by_ref |= {tool.tool.id: name, tool.tool.name: by_ref.get(tool.tool.name, name)}
    calls = {name: tool.tool.verify for name, tool in catalogue.items()}
    return {
        name: by_ref[call.tool]
        for name, call in calls.items()
        if call is not None and call.tool in by_ref
    }


def _look_closer(tools: AgentTools, resource_id: str) -> Mapping[str, JsonValue]:
    """Return what discovery says about one resource; empty if its backend says nothing."""
    cancellation = Cancellation()
    try:
        args: dict[str, JsonValue] = {"action": "get", "target_resource_id": resource_id}
        context = CallContext((), cancellation, _LOOK_SECONDS)
        response = tools.by_name["pulsus_discovery"].run(args, context).response
    finally:
        cancellation.close()
    return response.data if response.ok and isinstance(response.data, dict) else {}


def _session_words(app: App) -> SessionWords:
    """Return the words that the settings say: the hosts of the egress policy."""
    words = SessionWords()
    words.add_said(*map(str, app.settings.policy.egress_hosts))
    return words


def _shown_text(path: str, protected: Sequence[Path]) -> str | None:
    """Return the text of a file for the difference that an approver sees; None for a new file.

    Raises EditNotShown.
    """
    try:
        found = read_start(path, protected)
    except FileRefused as refused:
        if refused.code == "NOT_FOUND":
            return None
        raise EditNotShown(refused.message) from None
    if found.text is None:
        raise EditNotShown(f"{path} holds no text, so an approver cannot read what is lost")
    if not found.complete:
        raise EditNotShown(
            f"{path} has {found.size_bytes} bytes, and an approver can be shown what is lost of "
            f"a file of at most {MOST_BYTES} bytes"
        )
    return found.text
