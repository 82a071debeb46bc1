"""The workflow against what it promises, over any order of calls, also impossible ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pulsus.gates.workflow.workflow_state import WorkflowState, refuse_answer, refuse_call

IDS = st.sampled_from(["a", "b", "c"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("read"), st.sets(IDS), st.sampled_from([0.0, 1.0, 2.5])),
        st.tuples(st.just("search"), st.sets(IDS), st.just(0.0)),
        st.tuples(st.just("write"), st.sets(IDS, min_size=1), st.booleans()),
        st.tuples(st.just("failed read"), st.sets(IDS), st.just(0.0)),
        st.tuples(st.just("reset"), st.just(set()), st.booleans()),
    ),
    max_size=15,
)


@given(STEPS)
def test_every_write_is_read_before_the_next_write_or_the_answer(steps):
    state, now = WorkflowState(), 0.0
    waiting: dict[str, float] = {}
    for step, ids, detail in steps:
        now += 1
        match step:
            case "read":
                began = now - float(detail)
                state = state.after_read("read", ids, started=began)
                waiting = {
                    one: end for one, end in waiting.items() if one not in ids or began <= end
                }
            case "search":
                state = state.after_read("resolve", ids, started=now)
            case "write" if refuse_call(state, "tool", "write", sorted(ids)) is None:
                assert not waiting
                state = state.begin_write("tool", sorted(ids))
                assert state.name == "WRITING"
                assert refuse_answer(state) is not None
                assert refuse_call(state, "tool", "write") is not None
                state = state.after_write(ended=now, changed=bool(detail))
                waiting = dict.fromkeys(ids, now) if detail else {}
            case "failed read" | "write":
                pass  # A failed read and a refused write leave no trace.
            case _:
                state, waiting = state.reset(keep_found=bool(detail)), {}
                assert state.name == ("READING" if detail else "RESOLVING")
        assert (state.name == "VERIFYING") == bool(waiting)
        assert (refuse_answer(state) is None) == (not waiting)
        assert refuse_call(state, "tool", "read") is None
        assert refuse_call(state, "tool", "resolve") is None


@given(st.lists(st.tuples(st.sampled_from(["read", "resolve"]), st.sets(IDS)), max_size=20))
def test_no_number_of_reads_leads_to_verifying(calls):
    state = WorkflowState()
    for number, (kind, ids) in enumerate(calls):
        state = state.after_read(kind, ids, started=float(number), single=True)
        assert state.name == "READING"
