"""Recoveries are counted once a refusal, and only a success of the same tool resolves them."""

from __future__ import annotations

from pulsus.gates.workflow.pending_recovery import PendingRecoveries


def test_a_repeated_refusal_is_not_a_second_recovery():
    one, first = PendingRecoveries().track("FSM_BLOCKED", "pulsus_control", 1.0)
    two, again = one.track("FSM_BLOCKED", "pulsus_control", 2.0)
    assert (again.recovery_id, again.created, again.attempts) == (first.recovery_id, 1.0, 2)
    assert len(two.pending) == 1


def test_a_success_of_another_tool_resolves_nothing():
    open_ones, _ = PendingRecoveries().track("STRICT_RESOLUTION", "pulsus_control", 1.0)
    left, resolved = open_ones.check_recovery_success("pulsus_read")
    assert not resolved
    assert left == open_ones


def test_a_success_resolves_every_refusal_of_its_tool_once():
    first, _ = PendingRecoveries().track("FSM_BLOCKED", "pulsus_control", 1.0)
    second, _ = first.track("ROUTING_MISMATCH", "pulsus_control", 2.0)
    left, resolved = second.check_recovery_success("pulsus_control")
    assert [one.code for one in resolved] == ["FSM_BLOCKED", "ROUTING_MISMATCH"]
    assert not left.check_recovery_success("pulsus_control")[1]


def test_an_id_is_never_used_twice():
    first, one = PendingRecoveries().track("FSM_BLOCKED", "a", 1.0)
    empty, _ = first.check_recovery_success("a")
    _, two = empty.track("FSM_BLOCKED", "a", 2.0)
    assert one.recovery_id != two.recovery_id
