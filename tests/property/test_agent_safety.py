"""Any proposer, any order of calls: what the gates of the agent must never let happen.

A state machine proposes turns of one to six calls, invented ones among them, against tools that
count their effects. It keeps its own simple record of what was discovered, written and read, and
compares every effect with it. `AGENT_EXAMPLES` sets the number of sessions. Hypothesis makes the
draws here, and shortens a failure; `test_agent_sessions.py` plays four times as many from seeds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from pulsus.agent.answers.repeated_calls import RepeatedCalls
from pulsus.agent.knowledge.knowledge_accumulator import KnowledgeAccumulator, KnowledgeLimits
from pulsus.agent.loop.call_draft import AskPerson, RunCall
from pulsus.agent.loop.check_calls import ArgumentCheck, CallRules
from pulsus.agent.loop.run_calls import CallRunner
from pulsus.agent.loop.run_ports import LoopPorts, PersonAnswer
from pulsus.agent.loop.session_state import SessionState
from pulsus.agent.loop.turn.turn_calls import TurnCalls
from pulsus.agent.tool_protocol import CallNeeds, CallOutcome, ProposedCall
from pulsus.execution.cancellation import Cancellation
from pulsus.gates.resources.resolved_context import ResolvedContext
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.session_gates import SessionGates
from pulsus.gates.tool_descriptors import DescriptorTable, ToolDescriptor
from pulsus.gates.tool_response import tool_blocked, tool_failed, tool_success
from tests.agent_runs import Recorder, Verifier

TTL = 2700.0
MOST = 6
"""Few, so that eviction happens."""

ACTIONS = ("exec", "restart", "write")
NODE = ResolvedResource(
    "node", "pve1", "pve1", target_host="pve1", allowed_actions=ACTIONS
)  # fmt: skip
GUEST = ResolvedResource(
    "lxc", "101", "homepage", host="pve1", parent="node:pve1", target_host="homepage",
    allowed_actions=ACTIONS,
)  # fmt: skip
CONTAINER = ResolvedResource(
    "docker_container", "abc", "jellyfin", host="homepage", parent="lxc:pve1:101",
    target_host="homepage", allowed_actions=ACTIONS,
)  # fmt: skip
FROZEN = ResolvedResource("vm", "7", "vault", host="pve2", target_host="vault")
OTHERS = tuple(
    ResolvedResource("host", f"m{n}", f"web0{n}", target_host=f"web0{n}", allowed_actions=ACTIONS)
    for n in range(1, 5)
)
WORLD = (*OTHERS, FROZEN, NODE, GUEST, CONTAINER)
# A search for all of them evicts the first ones.
BY_ID = {one.id: one for one in WORLD}
INVENTED = ("host:m99", "lxc:pve1:999", "homepag", "")

TEXT = {"type": "string"}
TARGET = {"target_resource_id": TEXT, "target_host": TEXT}


def _descriptor(name: str, selector: str, kinds: dict[str, Any], **more: Any) -> ToolDescriptor:
    properties = {selector: {"type": "string", "enum": [*kinds]}, **TARGET, **more}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    found = set(kinds.values())
    if len(found) == 1:
        return ToolDescriptor(name, "", schema, kind=found.pop(), selector=selector)
    return ToolDescriptor(name, "", schema, selector=selector, kinds=kinds)


QUERY = _descriptor("pulsus_query", "action", {"search": "resolve", "get": "resolve"}, query=TEXT)
READ = _descriptor("pulsus_read", "action", {"exec": "read", "file": "read"}, command=TEXT)
CONTROL = _descriptor("pulsus_control", "type", {"command": "write"}, command=TEXT)
EDIT = _descriptor("pulsus_file_edit", "action", {"read": "read", "write": "write"}, content=TEXT)
TABLE = DescriptorTable([QUERY, READ, CONTROL, EDIT])
CHECKS: dict[int, ArgumentCheck] = {}
"""The checks of the schemas of `TABLE`, which are the same in every session and keep nothing."""


@dataclass
class Effect:
    """One thing that a tool did: "found", "read" or "wrote", to these ids, in these seconds."""

    what: str
    ids: tuple[str, ...]
    started: float
    turn: int
    ok: bool
    single: bool = False
    command: str = ""


class FakeClock:
    """Seconds that never stand still."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


@dataclass
class EffectTool:
    """A tool of the world. `fails` makes its next run fail; effects go to a common list."""

    descriptor: ToolDescriptor
    machine: Any
    ran: int = 0

    def needs(self, args):
        action = str(args.get("action") or args.get("type"))
        action = {"command": "exec"}.get(action, action)
        targets = tuple(str(args[k]) for k in ("target_resource_id", "target_host") if k in args)
        routed = self.descriptor.name != "pulsus_query"
        return CallNeeds(action, targets, str(args.get("command", "")), checks_routing=routed)

    def run(self, args, context):
        self.ran += 1
        machine, started = self.machine, self.machine.clock()
        ok = not machine.fails
        kind = self.descriptor.kind_of(args)
        ids = tuple(one.id for one in context.resources)
        single = args.get("action") == "get"
        if kind == "resolve":
            shown = [BY_ID[i] for i in ids] if single else machine.search(str(args.get("query")))
            machine.effect("found", tuple(s.id for s in shown), started, ok, single)
            if not ok:
                # A tool that failed may still say that it read something.
                return CallOutcome(tool_failed("EXECUTION_FAILED", "x"), read=ids)
            found = tuple(shown)
            read = ids if single else ()
            return CallOutcome(tool_success([]), found, single, read=read)
        if not ok and kind == "write" and args.get("action") == "append":
            # It failed before its first effect, and is sure of that.
            return CallOutcome(tool_failed("INVALID_INPUT", "x"), unchanged=True)
        what = "wrote" if kind == "write" else "read"
        machine.effect(what, ids, started, ok, command=str(args.get("command", "")))
        if not ok:
            claimed = () if kind == "write" else ids
            return CallOutcome(tool_failed("INVALID_INPUT", "x"), read=claimed)
        if kind == "write":
            return CallOutcome(tool_success([]), wrote=ids)
        return CallOutcome(tool_success([]), read=ids)


class AskingRules:
    """Some writes ask a person, `follow` commands are rewritten once, failed calls are repaired."""

    def refuse(self, draft):
        if draft.needs.command.startswith("follow"):
            return tool_blocked("POLICY_BLOCKED", "it never ends")
        return None

    def rewrite(self, draft):
        # The second rewrite would be refused again: it must not be tried for ever.
        return draft.needs.command.removeprefix("follow ") or "follow"

    def invented(self, draft):
        # The loop itself must keep writes and second repairs out, whatever the rules say.
        return [name for name in draft.call.args if name in {"command", "target_host", "content"}]

    def decide(self, draft):
        asks = draft.kind == "write" and draft.needs.command == "asks"
        return AskPerson(draft, None) if asks else RunCall(draft)

    def hear(self, texts):
        pass

    def learn(self, outcome):
        pass


NAMES = [*BY_ID, *(one.name for one in WORLD), *INVENTED]
COMMANDS = ["df -h", "df -h", "asks", "follow log", "follow follow log"]
COMMANDS += ["touch /srv/app/a", "cat /srv/app/a", "cat /srv/app/b"]
EXTRAS: list[dict[str, Any]] = [{}, {}, {}, {}, {"force": True}]
EVENTS = [*["wait", "user", "person"] * 3, "reset", "restart"]
Choose = Callable[[Sequence[Any]], Any]
"""Returns one of the values."""
KINDS = ["search", "get", "get", "read", "control", "control", "edit", "made_up"]


def chooser(data: st.DataObject) -> Choose:
    return lambda values: data.draw(st.sampled_from(values))


def proposed(pick: Choose, used: list[str]) -> tuple[str, dict[str, Any]]:
    """Choose one call. Half of them name something that the session has used.

    Reads run side by side, so that what was used may differ between two runs of the same draws.
    What is drawn must not depend on it, or the same draws could not be made again.
    """
    new, old = pick(NAMES), pick(list(range(len(NAMES))))
    name = used[old % len(used)] if pick([True, False]) and used else new
    target = {pick(["target_resource_id", "target_host"]): name}
    match pick(KINDS):
        case "search":
            args = {"action": "search", "query": pick(["all", *(one.name for one in WORLD)])}
            return "pulsus_query", args | pick(EXTRAS)
        case "get":
            return "pulsus_query", {"action": "get", **target} | pick(EXTRAS)
        case "read":
            action = pick(["exec", "file", "file", "erase"])
            more = {"command": pick(COMMANDS)} if action == "exec" else {}
            return "pulsus_read", {"action": action, **target, **more} | pick(EXTRAS)
        case "control":
            args = {"type": "command", **target, "command": pick(COMMANDS)}
            return "pulsus_control", args | pick(EXTRAS)
        case "edit":
            action = pick(["read", "write", "append"])
            return "pulsus_file_edit", {"action": action, **target, "content": "x"} | pick(EXTRAS)
        case _:
            return pick(["pulsus_erase", "PULSUS_QUERY", "rm"]), target


def is_known(call: ProposedCall) -> bool:
    """True if the table has the tool, the action and every argument of the call."""
    tool = TABLE.get(call.tool)
    if tool is None:
        return False
    properties = tool.parameters["properties"]
    listed = properties[tool.selector]["enum"]
    return set(call.args) <= set(properties) and call.args.get(tool.selector) in listed


class AgentSafety(RuleBasedStateMachine):
    """One session against an adversary."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.effects: list[Effect] = []
        self.turn, self.fails = 0, False
        self.person = PersonAnswer("approved")
        self.record = Recorder()
        self.cancellation = Cancellation()
        self.tools = {each.name: EffectTool(each, self) for each in TABLE}
        rules = CallRules(self.tools, TABLE, AskingRules(), True, 2, 300, _checks=CHECKS)
        self.ports = LoopPorts(
            lambda event: None, self, Verifier(), self.record, self.record, clock=self.clock
        )
        runner = CallRunner(self.cancellation, 4, self.clock)
        self.calls = TurnCalls(rules, runner, self, self.ports)
        self.state = self.fresh()
        # The machine's own record.
        self.used: dict[str, float] = {}
        self.open: dict[str, tuple[float, str]] = {}
        self.explicit: str = ""
        self.ever_explicit: set[str] = set()

    def fresh(self) -> SessionState:
        gates = SessionGates(resources=ResolvedContext(TTL, MOST))
        knowledge = KnowledgeAccumulator(KnowledgeLimits(60, 2000, 200))
        return SessionState(gates, knowledge, RepeatedCalls(1000, 1000), turn=1)

    def teardown(self) -> None:
        self.cancellation.close()

    # The asker.
    def describe(self, request):
        return {"approval_id": "a"}

    def decide(self, request):
        self.clock.now += 400
        return self.person

    def redeem(self, request, now_call):
        return None

    def search(self, query: str):
        return [one for one in WORLD if query in ("all", one.name)]

    def effect(self, what, ids, started, ok, single=False, command=""):
        self.effects.append(Effect(what, ids, started, self.turn, ok, single, command))

    @rule(data=st.data(), size=st.integers(1, 6), fails=st.sampled_from([False] * 3 + [True]))
    def propose(self, data, size, fails):
        self.play(chooser(data), size, fails)

    @rule(data=st.data(), size=st.integers(1, 3))
    def propose_few(self, data, size):
        self.play(chooser(data), size, fails=False)

    @rule(data=st.data())
    def propose_one(self, data):
        self.play(chooser(data), 1, fails=False)

    def play(self, pick, size, fails):
        """One turn of calls in an event loop of its own, and every check of what it did."""
        anyio.run(self.play_calls, self.draw_calls(pick, size), fails)

    def draw_calls(self, pick, size):
        return [proposed(pick, sorted(self.used)) for _ in range(size)]

    async def play_calls(self, calls, fails):
        """One turn of these calls, and every check of what it did."""
        self.turn += 1
        self.fails = fails
        self.state = replace(self.state, turn=self.turn, fresh_from_turn=self.turn)
        before, rows = len(self.effects), len(self.record.rows)
        state_before = self.state
        offered = [
            ProposedCall(f"c{self.turn}-{n}", tool, args) for n, (tool, args) in enumerate(calls)
        ]

        done = await self.calls.run(self.state, offered, 60.0, accepts_writes=True)
        self.state = done.state
        new = self.effects[before:]
        self.check_unknown(offered, done)
        self.check_rows(self.record.rows[rows:])
        self.check_expiry(new)
        self.check_writes(new, state_before)
        self.check_mismatch(offered, done, new)
        self.follow(new)

    def check_unknown(self, offered, done):
        """An unknown tool, action or argument has no effect."""
        for each in done.envelopes:
            call = each.call
            if not is_known(call):
                assert not each.envelope["ok"], call
                assert TABLE.kind_of(call.tool, call.args) == "write", call

    def check_rows(self, rows):
        """Each refusal of phase 1 is recorded before any call runs."""
        phases = [phase for phase, _ in rows]
        if "call" in phases and "approval" not in phases:
            last = max((n for n, p in enumerate(phases) if p == "refusal"), default=-1)
            assert last < phases.index("call")
        repaired = [row for phase, row in rows if phase == "recovery"]
        reads = [row for phase, row in rows if phase == "call" and row["kind"] == "read"]
        assert len(repaired) <= len(reads), "a call was repaired twice, or it was no read"

    def check_expiry(self, new):
        """Nothing is read, written or looked at by an id that has expired."""
        used = dict(self.used)
        for each in sorted(new, key=lambda effect: effect.started):
            for one in each.ids:
                if each.what != "found" or each.single:
                    unused_s = each.started - used.get(one, each.started)
                    # An answer of a person takes 400 s here.
                    assert unused_s <= TTL + 401, "a call on what has expired"
                used[one] = each.started

    def check_writes(self, new, state_before):
        wrote = [each for each in new if each.what == "wrote"]
        assert len(wrote) <= 1, "two writes in one turn"
        for each in wrote:
            assert not self.open, "a write before the last one was verified"
            assert each.ids, "a write on nothing"
            if each.command == "asks":
                assert self.person.decision == "approved", "a write that a person refused"
            for one in each.ids:
                assert one in self.used, "a write on what was never discovered"
                assert BY_ID[one].allowed_actions, "a write on what allows none"
            # Reads of the turn ended before the write began.
            others = [e.started for e in new if e.what != "wrote"]
            assert all(at < each.started for at in others)

    def check_mismatch(self, offered, done, new):
        errors = [e.envelope.get("error", {}) for e in done.envelopes]
        for error in errors:
            if error.get("code") == "ROUTING_MISMATCH":
                meant = set(error["details"]["more_specific_resource_ids"])
                assert meant <= self.ever_explicit, "a mismatch without an explicit access"
        child = BY_ID.get(self.explicit)
        if child is not None and child in (GUEST, CONTAINER):
            inside = {GUEST.id: {NODE.id}, CONTAINER.id: {NODE.id}}[child.id]
            for each in new:
                if each.what in ("wrote", "read"):
                    assert not inside & set(each.ids), "a call on the parent of what was meant"

    def follow(self, new):
        """Keep the record of the machine itself."""
        for each in new:
            if each.what == "wrote":
                touched = each.command.partition("touch ")[2]
                for one in each.ids:
                    parts = BY_ID[one].kind in ("host", "node")  # it has more than this file
                    self.open[one] = each.started, touched if parts else ""
        for each in new:
            self.follow_use(each)
            shows = each.what == "read" or (each.what == "found" and each.single)
            for one in each.ids if shows and each.ok else ():
                written, touched = self.open.get(one, (each.started, ""))
                if each.started > written and touched in each.command:
                    del self.open[one]

    def follow_use(self, each):
        found = each.what == "found"
        if found and not each.ok:
            return
        for one in each.ids:
            # What was not found before is only ever used by a refused call.
            self.used[one] = max(self.used.get(one, 0.0), each.started)
        if found and each.single and each.ids:
            self.explicit = each.ids[0]
            self.ever_explicit.add(each.ids[0])

    @rule(data=st.data(), what=st.sampled_from(EVENTS))
    def happen(self, data, what):
        """One of the rarer events, so that most steps are proposals."""
        self.take_place(chooser(data), what)

    def take_place(self, pick, what):
        match what:
            case "wait":
                self.clock.now += pick([60, 3600])
            case "person":
                decision = pick(["approved", "denied", "expired"])
                self.person = PersonAnswer(decision, "no")
            case "user":
                self.name(pick([*BY_ID]))
            case "reset":
                gates = self.state.gates.reset(self.clock(), keep_pinned=pick([False, True]))
                self.state = replace(self.state, gates=gates)
                self.forget()
            case _:
                self.state = self.fresh()
                self.forget()

    def name(self, one):
        """The user names a resource: an explicit access, if it was discovered."""
        context, now = self.state.gates.resources, self.clock()
        if context.entry(one, now) is None:
            return
        context = context.mark_explicit([one], now, by_user=True)
        self.state = replace(self.state, gates=replace(self.state.gates, resources=context))
        self.used[one] = now
        self.explicit = one
        self.ever_explicit.add(one)

    def forget(self):
        assert not self.state.gates.resources.has_resources(self.clock())
        self.used, self.open, self.explicit, self.ever_explicit = {}, {}, "", set()

    @invariant()
    def an_answer_leaves_no_write_unverified(self):
        workflow = self.state.gates.workflow
        assert workflow.may_answer() == (not self.open)
        assert {one.resource_id for one in workflow.unverified} == set(self.open)

    @invariant()
    def no_more_resources_than_the_limit(self):
        assert len(self.state.gates.resources) <= MOST


_PARTS = 2
"""So that several processes share the examples."""


def examples() -> int:
    return int(os.environ.get("AGENT_EXAMPLES", "100"))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", range(_PARTS))
def test_no_order_of_calls_gets_past_the_gates_of_the_agent(part):
    run_state_machine_as_test(
        AgentSafety,
        settings=settings(
            max_examples=max(1, examples() // _PARTS),
            stateful_step_count=50,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
