"""Loops: equal calls, and turns in which nothing succeeds."""

from pulsus.agent.answers.repeated_calls import ErrorTurns, RepeatedCalls
from pulsus.core.types import JsonValue
from pulsus.gates.tool_descriptors import ToolDescriptor

SCHEMA = {"type": "object", "properties": {"a": {}, "b": {}}}
READ = ToolDescriptor("pulsus_read", "", SCHEMA, kind="read")
WRITE = ToolDescriptor("pulsus_control", "", SCHEMA, kind="write")
POLL = ToolDescriptor("pulsus_metrics", "", SCHEMA, kind="read", polls=True)
ARGS: dict[str, JsonValue] = {"a": 1, "b": "x"}
SAME: dict[str, JsonValue] = {"b": " x ", "a": 1}


def proposed(state, descriptor, times):
    refused = []
    for _ in range(times):
        state, refusal = state.check(descriptor, ARGS)
        refused.append(refusal)
    return state, refused


def test_three_equal_calls_run_and_the_fourth_is_refused():
    state, refused = proposed(RepeatedCalls(3, 100), READ, 3)
    assert refused == [None, None, None]
    _, refusal = state.check(READ, SAME)
    assert refusal is not None
    assert refusal.error is not None
    assert refusal.error.code == "LOOP_DETECTED"
    assert refusal.error.details["identical_calls"] == 3


def test_a_call_with_other_arguments_is_another_call():
    state, _ = proposed(RepeatedCalls(3, 100), READ, 3)
    assert state.check(READ, {"a": 2})[1] is None


def test_a_tool_that_polls_may_repeat():
    assert proposed(RepeatedCalls(3, 100), POLL, 9)[1] == [None] * 9


def test_the_read_that_verifies_a_write_is_not_refused_for_reads_before_it():
    state, _ = proposed(RepeatedCalls(3, 100), READ, 3)
    assert state.after_write().check(READ, ARGS)[1] is None


def test_an_equal_write_is_refused_although_writes_took_effect_between():
    state = RepeatedCalls(3, 100)
    for _ in range(3):
        state, refusal = state.check(WRITE, ARGS)
        assert refusal is None
        state = state.after_write()
    assert state.check(WRITE, ARGS)[1] is not None


def test_the_memory_of_calls_is_bounded():
    state = RepeatedCalls(3, 5)
    for number in range(1000):
        state, _ = state.check(READ, {"a": number})
    assert len(state.calls) == 5


def test_turns_without_a_success_are_counted_until_one_succeeds():
    stuck = ErrorTurns().after_turn([False, False]).after_turn([False]).after_turn([])
    assert stuck.is_stuck(2)
    assert not stuck.is_stuck(3)
    assert not stuck.after_turn([False, True]).is_stuck(1)
