"""While a write waits, every read runs. A failed write waits too, if it may have written."""

from dataclasses import replace

import pytest

from pulsus.agent.answers.run_facts import NOTHING_CHANGED
from pulsus.agent.tool_protocol import CallOutcome
from pulsus.gates.tool_response import tool_blocked, tool_failed, tool_success
from tests.agent_runs import (
    HOST,
    WEB,
    answers,
    call,
    proposes,
    world,
)

READS = [
    {"target_resource_id": WEB.id},
    {"target_host": "web01"},
    {"target_host": "localhost"},
    {"target_host": "an unknown name"},
    {},
]


def search():
    return proposes(call("pulsus_query", action="search", query="nginx"))


def read(**named):
    return call("pulsus_read", action="exec", command="systemctl status nginx", **named)


def restart(named=WEB.id):
    return call("pulsus_control", type="service", action="restart", target_resource_id=named)


def get(named=WEB.id):
    return call("pulsus_query", action="get", target_resource_id=named)


def ask_anew(session, *calls):
    session.state = replace(session.state, verified_write=False)  # as each new request does
    session.run(proposes(*calls), answers("nginx is active."))


def read_twice(session, before, after):
    session.run(
        search(),
        proposes(before),
        proposes(restart()),
        proposes(after),
        proposes(get()),
        answers("done"),
    )
    return session.tools["pulsus_read"].ran


@pytest.mark.parametrize("named", READS)
def test_an_answer_from_facts_never_takes_the_place_of_a_verifying_read(named):
    session = world()
    assert len(read_twice(session, read(**named), read(**named))) == 2
    assert "already_known" not in str(session.named("agent_tool_result"))


def test_a_read_that_verified_nothing_runs_again_while_the_write_waits():
    seen = iter(((), (WEB.id,)))

    def reads_late(args, context):
        return CallOutcome(tool_success({"output": "active"}), read=next(seen))

    session = world(read=reads_late)
    end = session.run(
        search(),
        proposes(restart()),
        proposes(read()),
        proposes(read()),
        answers("nginx is active."),
    )
    assert len(session.tools["pulsus_read"].ran) == 2
    assert end.state.gates.workflow.unverified == ()
    assert not session.named("agent_correction")


def test_once_the_write_is_verified_a_repeated_read_is_answered_from_facts_again():
    session = world()
    shown = {"target_resource_id": WEB.id}
    session.run(search(), proposes(restart()), proposes(read(**shown)), answers("done"))
    ask_anew(session, read(**shown))
    assert len(session.tools["pulsus_read"].ran) == 1


@pytest.mark.parametrize("named", [{"target_host": "web01"}, {"target_resource_id": WEB.id}])
def test_facts_about_what_a_machine_holds_do_not_outlive_a_write_on_the_machine(named):
    """`docker stop web` on a machine changes the container web."""
    session = world()
    stop = call("pulsus_control", type="command", command="./stop", target_resource_id=HOST.id)
    session.run(
        search(), proposes(read(**named)), proposes(stop), proposes(get(HOST.id)), answers("done")
    )
    ask_anew(session, read(**named))
    assert len(session.tools["pulsus_read"].ran) == 2


def failing(response, **outcome):
    return lambda args, context: CallOutcome(response, **outcome)


NO_SUCH = tool_failed("INVALID_INPUT", "/etc/app is a link")


@pytest.mark.parametrize("code", ["INVALID_INPUT", "NOT_FOUND", "EXECUTION_FAILED"])
def test_a_write_that_changed_nothing_for_certain_waits_for_no_read(code):
    session = world(control=failing(tool_failed(code, "no"), unchanged=True))
    end = session.run(search(), proposes(restart()), answers("It was not restarted."))
    assert end.state.gates.workflow.name == "READING"
    assert not session.named("agent_correction")
    assert not session.verifier.ran
    assert (end.facts.changed, end.facts.failed) == ((), ())
    assert end.note == NOTHING_CHANGED


@pytest.mark.parametrize(
    "outcome",
    [
        failing(tool_failed("INVALID_INPUT", "the tool rejected it")),
        failing(tool_failed("EXECUTION_FAILED", "it did not end in time", retryable=True)),
        failing(tool_failed("NOT_FOUND", "gone")),
        failing(NO_SUCH, unchanged=True, wrote=(WEB.id,)),
        failing(tool_success({"done": True}), unchanged=True),
        failing(tool_blocked("POLICY_BLOCKED", "no"), wrote=(WEB.id,)),
    ],
    ids=["invalid", "timeout", "not found", "says both", "worked", "refused and wrote"],
)
def test_a_write_whose_effect_is_not_known_waits_for_a_read(outcome):
    session = world(control=outcome)
    session.run(
        search(), proposes(restart()), answers("done"), proposes(get()), answers("It is as before.")
    )
    assert session.named("agent_correction") == [{"reason": "verification_required"}]


def test_a_tool_that_raises_leaves_its_effect_unknown():
    def raises(args, context):
        raise ValueError("INVALID_INPUT")

    session = world(control=raises)
    session.run(
        search(), proposes(restart()), answers("done"), proposes(get()), answers("As before.")
    )
    assert session.named("agent_correction") == [{"reason": "verification_required"}]


def test_after_a_write_that_changed_nothing_the_next_one_may_run():
    tried = iter((failing(NO_SUCH, unchanged=True), failing(tool_success({}), wrote=(WEB.id,))))
    session = world(control=lambda args, context: next(tried)(args, context))
    end = session.run(
        search(),
        proposes(restart()),
        proposes(restart()),
        proposes(get()),
        answers("It was restarted."),
    )
    assert len(session.tools["pulsus_control"].ran) == 2
    assert (end.facts.changed, end.facts.failed) == ((WEB.id,), ())
