"""A read that failed over invented inputs: called again once, judged again, and said so."""

import pytest

from pulsus.agent.loop.call_draft import AskPerson, RunCall
from pulsus.agent.tool_protocol import CallNeeds, CallOutcome
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.gates.tool_response import tool_blocked, tool_failed, tool_success
from tests.agent_runs import WEB, AllowAll, FakeTool, answers, call, messages_of, proposes, world

TEXT = {"type": "string"}
SCHEMA = {
    "type": "object",
    "properties": {"os_release": TEXT, "flag": TEXT},
    "additionalProperties": False,
}
FAULT = "input os_release='ubuntu': no such file or folder"


class DropsInputs(AllowAll):
    """Rules that let every call leave out `os_release`; those without it ask a person, if told."""

    def __init__(self, *, asks=False):
        super().__init__()
        self.asks = asks

    def invented(self, draft):
        return ("os_release",) if "os_release" in draft.call.args else ("flag",)

    def decide(self, draft):
        asked = self.asks and "os_release" not in draft.call.args
        return AskPerson(draft, "request") if asked else RunCall(draft)


class LocalTool(FakeTool):
    """A catalogue tool: it acts on no resource."""

    def needs(self, args):
        return CallNeeds("run")


def refuses_the_file(args, context):
    if "os_release" in args:
        return CallOutcome(tool_failed("INVALID_INPUT", FAULT))
    return CallOutcome(tool_success({"kernel": "6.18"}))


def always(outcome):
    return lambda args, context: CallOutcome(outcome)


def session(answer, kind="read", **rules):
    made = world()
    made.tools["kernel_uptime"] = LocalTool(
        ToolDescriptor("kernel_uptime", "Show the kernel.", SCHEMA, kind=kind), answer
    )
    made.control = DropsInputs(**rules)
    return made


def uptime():
    return proposes(call("kernel_uptime", os_release="ubuntu", flag="no"))


def rows(made, phase):
    return [fields for name, fields in made.record.rows if name == phase]


def test_a_read_with_an_invented_file_costs_no_turn_of_the_model():
    made = session(refuses_the_file)
    made.run(uptime(), answers("It is 6.18."))
    ran = made.tools["kernel_uptime"].ran
    assert ran == [{"os_release": "ubuntu", "flag": "no"}, {"flag": "no"}]
    assert len(made.model.asked) == 2


def test_the_result_says_which_inputs_were_left_out_and_why():
    made = session(refuses_the_file)
    made.run(uptime(), answers("It is 6.18."))
    (result,) = made.named("agent_tool_result")
    assert result["ok"] is True
    assert result["meta"]["dropped_inputs"] == ["os_release"]
    assert FAULT in result["meta"]["dropped_because"]
    assert "dropped_inputs: os_release" in messages_of("tool", made.messages)[0]


def test_the_trace_and_the_counters_have_the_repair():
    made = session(refuses_the_file)
    made.run(uptime(), answers("It is 6.18."))
    (row,) = rows(made, "recovery")
    assert row["dropped"] == ["os_release"]
    assert row["message"] == FAULT
    labels = {"error_code": "INVALID_INPUT", "tool": "kernel_uptime"}
    assert rows(made, "count:auto_recovery_attempt_total") == [labels]
    assert rows(made, "count:auto_recovery_success_total") == [labels]
    assert [row["args"] for row in rows(made, "verdict")] == [
        {"os_release": "ubuntu", "flag": "no"},
        {"flag": "no"},
    ]


def test_a_call_is_repaired_once_although_its_rules_would_drop_more():
    made = session(always(tool_failed("INVALID_INPUT", FAULT)))
    made.run(uptime(), answers("I could not."))
    assert len(made.tools["kernel_uptime"].ran) == 2
    (result,) = made.named("agent_tool_result")
    assert result["error"]["code"] == "INVALID_INPUT"
    assert result["meta"]["dropped_inputs"] == ["os_release"]
    assert rows(made, "count:auto_recovery_success_total") == []


@pytest.mark.parametrize(
    "outcome",
    [
        tool_failed("EXECUTION_FAILED", "it broke"),
        tool_blocked("INVALID_INPUT", "a gate refuses it"),
        tool_blocked("SENSITIVE_PATH", "secrets are there"),
        tool_success({}),
    ],
    ids=["it broke", "refused", "a secret", "it worked"],
)
def test_no_other_result_makes_a_second_call(outcome):
    made = session(always(outcome))
    made.run(uptime(), answers("I could not."))
    assert len(made.tools["kernel_uptime"].ran) == 1


def test_a_write_is_never_made_again_without_its_inputs():
    made = world(control=always(tool_failed("INVALID_INPUT", FAULT)))
    made.control = DropsInputs()
    restart = call("pulsus_control", type="service", action="restart", target_resource_id=WEB.id)
    search = call("pulsus_query", action="search", query="nginx")
    made.run(proposes(search), proposes(restart), answers("I could not."))
    assert len(made.tools["pulsus_control"].ran) == 1


def test_the_second_call_is_judged_and_no_person_is_asked_about_it():
    made = session(refuses_the_file, asks=True)
    made.run(uptime(), answers("I could not."))
    assert made.asker.asked == []
    assert len(made.tools["kernel_uptime"].ran) == 1
    (result,) = made.named("agent_tool_result")
    assert result["error"]["message"] == FAULT


def test_repairs_count_as_equal_calls_so_that_no_loop_runs_for_ever():
    made = session(refuses_the_file)
    made.run(*[uptime() for _ in range(5)], answers("It is 6.18."))
    assert len([args for args in made.tools["kernel_uptime"].ran if "os_release" not in args]) <= 3
