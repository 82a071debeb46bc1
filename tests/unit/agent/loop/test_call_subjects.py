"""A write to a part of a machine is verified by a read of that part (assistant architecture §2)."""

import pytest

from pulsus.agent.tool_protocol import CallOutcome
from pulsus.gates.tool_response import tool_failed, tool_success
from tests.agent_runs import HOST, WEB, Verifier, answers, call, proposes, world

FOUND = call("pulsus_query", action="search", query="web01")


def wrote(command, *turns, verifier=None):
    """A session that changed web01 by a command, and made these turns then."""
    session = world()
    session.verifier = verifier or session.verifier
    change = call("pulsus_control", type="command", command=command, target_resource_id=HOST.id)
    return session, session.run(proposes(FOUND), proposes(change), *turns)


def read(command):
    return proposes(call("pulsus_read", action="exec", command=command, target_resource_id=HOST.id))


RESTART = "systemctl restart nginx"


def test_a_look_at_the_uptime_does_not_verify_the_restart_of_a_service():
    session, end = wrote(
        RESTART,
        read("uptime"),
        answers("nginx was restarted."),
        read("systemctl is-active nginx"),
        answers("nginx was restarted and is active."),
    )
    assert end.summary == "nginx was restarted and is active."
    reasons = [each["reason"] for each in session.named("agent_correction")]
    assert reasons == ["verification_required"]
    uptime = session.named("agent_tool_result")[2]
    assert uptime["ok"]
    left = uptime["meta"]["not_verified"]
    assert (left["target_resource_id"], left["subject"]) == (HOST.id, "nginx")
    assert "nginx" in left["recovery_hint"]
    assert "nginx" in next(m.content for m in session.messages if "required" in m.content)


def test_a_second_write_waits_although_something_else_was_read():
    change = call("pulsus_control", type="command", command="rm /x/y", target_resource_id=HOST.id)
    session, _ = wrote(
        RESTART, read("uptime"), proposes(change), read("systemctl status nginx"), answers("Done.")
    )
    refused = session.named("agent_tool_result")[3]
    assert refused["error"]["code"] == "FSM_BLOCKED"
    assert refused["error"]["details"]["subject"] == "nginx"
    assert "nginx" in refused["error"]["details"]["recovery_hint"]


@pytest.mark.parametrize(
    "shown", ["systemctl status nginx", "systemctl list-units", "ps aux | grep nginx"]
)
def test_a_read_that_names_or_lists_the_subject_verifies(shown):
    session, end = wrote(RESTART, read(shown), answers("nginx was restarted."))
    assert end.summary == "nginx was restarted."
    assert session.named("agent_correction") == []
    assert "not_verified" not in session.named("agent_tool_result")[2].get("meta", {})


def test_a_read_that_printed_nothing_verifies_nothing():
    def silent(args, context):
        quiet = "-q" in args.get("command", "")
        output = "" if quiet else "active"
        return CallOutcome(
            tool_success({"output": output}), read=tuple(r.id for r in context.resources)
        )

    session = world(read=silent)
    change = call("pulsus_control", type="command", command=RESTART, target_resource_id=HOST.id)
    session.run(
        proposes(FOUND),
        proposes(change),
        read("systemctl is-active -q nginx"),
        answers("nginx was restarted."),
        read("systemctl is-active nginx"),
        answers("nginx was restarted and is active."),
    )
    reasons = [each["reason"] for each in session.named("agent_correction")]
    assert reasons == ["verification_required"]


def test_the_service_itself_verifies_a_command_on_its_machine():
    get = proposes(call("pulsus_query", action="get", target_resource_id=WEB.id))
    session, end = wrote(RESTART, get, answers("nginx was restarted."))
    assert end.summary == "nginx was restarted."
    assert session.named("agent_correction") == []


def test_a_command_that_names_nothing_is_verified_by_any_read_of_its_machine():
    _, end = wrote("./deploy.sh prod", read("uptime"), answers("It was deployed."))
    assert end.summary == "It was deployed."


@pytest.mark.parametrize("confirmed", [True, False])
def test_without_a_fitting_read_the_runtime_verifies_or_says_that_it_did_not(confirmed):
    verifier = Verifier() if confirmed else Verifier(tool_failed("EXECUTION_FAILED", "gone"))
    turns = [*[read(f"df {n}") for n in range(3)], *[answers("Done.")] * 30]
    session, end = wrote(RESTART, *turns, verifier=verifier)
    assert len(verifier.ran) == 1
    assert end.summary.startswith("Done." if confirmed else "not verified")
    open_ids = [one.resource_id for one in end.state.gates.workflow.unverified]
    assert open_ids == ([] if confirmed else [HOST.id])
    assert session.named("agent_correction")
