"""The inputs of a call's verdict as JSON, and the same verdict from them again (§11). Pure.

A trace has them so that `pulsus runs replay` can decide each call again. No session reads them:
what was discovered in one run is never known in another.

`agent/trace_replay.py` compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

from pulsus.agent.answers.repeated_calls import CountedCall, RepeatedCalls
from pulsus.agent.knowledge.knowledge_accumulator import KnowledgeAccumulator, KnowledgeLimits
from pulsus.agent.loop.call_draft import AnsweredCall, AskPerson, CheckedCall, RefusedCall
from pulsus.agent.loop.check_calls import CallRules, TurnMoment, judge_call
from pulsus.agent.loop.session_state import SessionState
from pulsus.agent.tool_protocol import ProposedCall
from pulsus.core.types import JsonValue
from pulsus.gates.resources.explicit_access import ExplicitAccess, ExplicitAccesses, Surroundings
from pulsus.gates.resources.resolved_context import ResolvedContext
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.session_gates import SessionGates
from pulsus.gates.workflow.workflow_state import RunningWrite, UnverifiedWrite, WorkflowState

ALLOWED = "allowed"
"""The verdict of the session's gates on a call that they let through."""


def verdict_inputs(
    rules: CallRules, state: SessionState, call: ProposedCall, moment: TurnMoment, writes: int
) -> dict[str, JsonValue]:
    """Return everything that the gates of a session decide this call by."""
    workflow = state.gates.workflow
    return {
        "now": moment.now,
        "accepts_writes": moment.accepts_writes,
        "writes": writes,
        "strict": rules.strict,
        "max_identical": state.repeats.max_identical,
        "equal_calls": state.repeats.count(call.digest),
        "workflow": {
            "found": workflow.found,
            "running": asdict(workflow.running) if workflow.running else None,
            "unverified": [asdict(one) for one in workflow.unverified],
            "writes": workflow.writes,
        },
        **_resource_inputs(state.gates.resources, moment.now),
    }


@lru_cache(maxsize=1)
def _resource_inputs(context: ResolvedContext, now: float) -> dict[str, JsonValue]:
    """Return the inputs about resources. The calls of one turn share them."""
    explicit = context.explicit
    return {
        "resources": [_fields_of(one) for one in context.live(now)],
        "explicit": [
            {
                "resource": _fields_of(one.resource),
                "surroundings": asdict(one.surroundings),
                "accessed": one.accessed,
                "named": one.named,
            }
            for one in explicit.by_id.values()
        ],
        "explicit_last": explicit.last,
    }


def session_verdict(checked: CheckedCall) -> str:
    """Return the verdict of the session's gates alone: a code of a refusal, or ALLOWED."""
    if isinstance(checked, RefusedCall) and not checked.by_control:
        error = checked.response.error
        return error.code if error is not None else ""
    return ALLOWED


def whole_verdict(checked: CheckedCall) -> str:
    """Return the verdict of all rules: "run", "ask", "known", or the code of a refusal."""
    match checked:
        case RefusedCall():
            return checked.response.error.code if checked.response.error is not None else ""
        case AskPerson():
            return "ask"
        case AnsweredCall():
            return "known"
        case _:
            return "run"


def derive_verdict(rules: CallRules, call: ProposedCall, inputs: Mapping[str, Any]) -> CheckedCall:
    """Return the verdict of these rules on a call, decided by recorded inputs.

    Raises KeyError, TypeError and ValueError for inputs that do not have this form.
    """
    descriptor = rules.table.get(call.tool)
    writes = descriptor is not None and descriptor.kind_of(call.args) == "write"
    earlier = int(inputs["equal_calls"])
    counted = {call.digest: CountedCall(writes, earlier)} if earlier else {}
    state = SessionState(
        SessionGates(_workflow(inputs["workflow"]), _resources(inputs)),
        KnowledgeAccumulator(KnowledgeLimits(1, 200, 20)),
        RepeatedCalls(int(inputs["max_identical"]), 1, counted),
    )
    moment = TurnMoment(float(inputs["now"]), bool(inputs["accepts_writes"]))
    strict = replace(rules, strict=bool(inputs["strict"]))
    return judge_call(strict, state, call, moment, int(inputs["writes"]))[1]


@lru_cache(maxsize=2000)
def _fields_of(resource: ResolvedResource) -> dict[str, JsonValue]:
    return asdict(resource)


def _workflow(found: Mapping[str, Any]) -> WorkflowState:
    running = found["running"]
    return WorkflowState(
        found=bool(found["found"]),
        running=_running(running) if running else None,
        unverified=tuple(
            UnverifiedWrite(**{**one, "subjects": tuple(one.get("subjects", ()))})
            for one in found["unverified"]
        ),
        writes=int(found["writes"]),
    )


def _running(found: Mapping[str, Any]) -> RunningWrite:
    subjects = tuple(found.get("subjects", ()))
    return RunningWrite(found["tool"], tuple(found["resources"]), subjects)


def _resources(inputs: Mapping[str, Any]) -> ResolvedContext:
    now = float(inputs["now"])
    known = [_resource(one) for one in inputs["resources"]]
    accesses = {
        access.resource.id: access for access in (_access(one) for one in inputs["explicit"])
    }
    context = ResolvedContext(max_resources=max(len(known), 1)).add(known, now)
    return context.with_explicit(ExplicitAccesses(accesses, int(inputs["explicit_last"])))


def _access(found: Mapping[str, Any]) -> ExplicitAccess:
    place = found["surroundings"]
    return ExplicitAccess(
        _resource(found["resource"]),
        Surroundings(place["context"], tuple(place["above"]), tuple(place["hosts"])),
        int(found["accessed"]),
        int(found["named"]),
    )


def _resource(found: Mapping[str, Any]) -> ResolvedResource:
    plain: dict[str, Any] = {
        key: tuple(each) if isinstance(each, list) else each for key, each in found.items()
    }
    return ResolvedResource(**plain)
