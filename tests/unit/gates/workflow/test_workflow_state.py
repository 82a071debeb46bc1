"""The workflow lets no write go unverified, and no read gets stuck (architecture, Appendix A)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.workflow.workflow_state import WorkflowState, refuse_answer, refuse_call

WEB = "docker_container:web1:abc"
NODE = "node:delly"


def found():
    return WorkflowState().after_read("resolve", (), started=0.0)


def written(resource=WEB, ended=10.0):
    return found().begin_write("pulsus_control", [resource]).after_write(ended=ended)


def test_a_write_before_any_discovery_is_blocked():
    refusal = refuse_call(WorkflowState(), "pulsus_control", "write", ["web"])
    assert refusal is not None
    assert refusal.error is not None
    assert refusal.error.to_json() == {
        "code": "FSM_BLOCKED",
        "message": "pulsus_control may change something, "
        "and no resource was discovered in this session",
        "blocked": True,
        "details": {
            "state": "RESOLVING",
            "tool": "pulsus_control",
            "required": "discover",
            "target_resource_id": "web",
            "recovery_hint": "Use pulsus_query action=search to discover the resource, then retry",
            "auto_recoverable": True,
        },
    }


def test_a_write_before_verification_is_blocked_with_what_to_read():
    refusal = refuse_call(written(), "pulsus_docker", "write", [NODE])
    assert refusal is not None
    assert refusal.error is not None
    details = dict(refusal.error.details)
    assert WEB in str(details.pop("recovery_hint"))
    assert details == {
        "state": "VERIFYING",
        "tool": "pulsus_docker",
        "required": "verify",
        "target_resource_id": WEB,
        "auto_recoverable": True,
    }


def test_an_answer_before_verification_is_blocked():
    refusal = refuse_answer(written())
    assert refusal is not None
    assert refusal.error is not None
    assert refusal.error.code == "FSM_BLOCKED"
    assert refusal.error.details["required"] == "verify"
    assert refuse_answer(WorkflowState()) is None
    assert refuse_answer(found()) is None


def test_failure_mode_1_reading_logs_never_enters_verifying():
    read = built_in_tools()["pulsus_read"]
    kind = read.kind_of({"action": "exec", "command": "grep -i error /var/log/app.log"})
    state = found()
    for turn in range(20):
        assert refuse_call(state, read.name, kind) is None
        state = state.after_read(kind, [NODE], started=float(turn))
        assert state.name == "READING"


def test_failure_mode_1_reads_stay_possible_after_a_write():
    state = written()
    assert refuse_call(state, "pulsus_read", "read") is None
    assert refuse_call(state, "pulsus_query", "resolve") is None


def test_failure_mode_2_verification_ends_with_the_read_and_not_with_the_answer():
    state = written().after_read("read", [WEB], started=11.0)
    assert state.name == "READING"
    assert refuse_call(state, "pulsus_control", "write") is None
    assert refuse_answer(state) is None


def test_failure_mode_4_no_flag_of_one_cycle_reaches_the_next():
    state = found()
    for cycle in range(1, 4):
        state = state.begin_write("pulsus_control", [WEB]).after_write(ended=10.0 * cycle)
        assert state.name == "VERIFYING"
        assert not state.after_read("read", [WEB], started=10.0 * cycle - 5).may_answer()
        state = state.after_read("read", [WEB], started=10.0 * cycle + 1)
        assert replace(state, writes=0) == found()


def test_a_read_of_another_resource_does_not_verify():
    assert written().after_read("read", [NODE], started=11.0).name == "VERIFYING"


@pytest.mark.parametrize("started", [0.0, 9.9, 10.0])
def test_a_read_that_began_before_the_write_ended_does_not_verify(started):
    assert written(ended=10.0).after_read("read", [WEB], started=started).name == "VERIFYING"


def test_a_search_that_happens_to_list_the_resource_does_not_verify():
    assert written().after_read("resolve", [WEB], started=11.0).name == "VERIFYING"


def test_a_query_for_the_written_resource_verifies():
    state = written().after_read("resolve", [WEB], started=11.0, single=True)
    assert state.name == "READING"


def test_every_resource_of_a_write_has_to_be_read():
    state = found().begin_write("apply", [WEB, NODE]).after_write(ended=1.0)
    state = state.after_read("read", [NODE], started=2.0)
    assert state.name == "VERIFYING"
    assert state.after_read("read", [WEB], started=3.0).name == "READING"


def test_a_tool_cannot_report_fewer_resources_than_it_was_called_for():
    state = found().begin_write("apply", [WEB]).after_write([NODE, ""], ended=1.0)
    assert [write.resource_id for write in state.unverified] == [WEB, NODE]


def test_a_second_write_of_a_turn_is_blocked_while_the_first_runs():
    state = found().begin_write("pulsus_control", [WEB])
    assert state.name == "WRITING"
    refusal = refuse_call(state, "pulsus_file_edit", "write")
    assert refusal is not None
    assert refusal.error is not None
    assert refusal.error.details["required"] == "verify"
    assert refuse_answer(state) is not None


def test_a_write_that_failed_half_way_has_to_be_verified():
    state = found().begin_write("pulsus_control", [WEB])
    assert state.after_write(ended=1.0).name == "VERIFYING"
    assert state.after_write(ended=1.0, changed=False).name == "READING"


def test_a_read_does_not_verify_a_write_that_still_runs():
    state = found().begin_write("pulsus_control", [WEB]).after_read("read", [WEB], started=5.0)
    assert state.name == "WRITING"
    assert state.after_write(ended=4.0).name == "VERIFYING"


def test_a_write_without_a_resource_is_refused_because_nothing_could_verify_it():
    with pytest.raises(ValueError, match="names no resource"):
        found().begin_write("plugin", [])


def test_blocked_calls_never_wear_a_gate_down():
    state = written()
    for _ in range(100):
        assert refuse_call(state, "pulsus_control", "write") is not None
        assert refuse_answer(state) is not None


@pytest.mark.parametrize("subject", ["/srv/app/a", "the files in /srv/app", "all service"])
def test_a_file_or_list_of_a_guest_does_not_verify_that_of_its_machine(subject):
    begun = WorkflowState(found=True).begin_write("pulsus_control", [NODE], [subject])
    state = begun.after_write(ended=10.0)
    guest = state.after_read("read", [WEB], started=11.0, subjects=[subject], within=[NODE])
    assert guest.name == "VERIFYING"
    assert state.after_read("read", [NODE], started=11.0, subjects=[subject]).may_answer()


def test_a_service_inside_a_machine_still_verifies_its_restart():
    begun = WorkflowState(found=True).begin_write("pulsus_control", [NODE], ["nginx"])
    state = begun.after_write(ended=10.0)
    assert state.after_read(
        "read", [WEB], started=11.0, subjects=["nginx"], within=[NODE]
    ).may_answer()
