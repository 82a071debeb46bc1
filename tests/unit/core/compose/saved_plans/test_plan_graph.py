"""The graph of a saved plan shows the order in which the engine runs its steps."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pulsus.core.compose.plans.dsl.step_references import list_dependencies
from pulsus.core.compose.saved_plans.plan_graph import PlanEdge, draw_plan_graph
from pulsus.execution.engine.schedule import Schedule, ScheduledStep
from tests.example_counts import examples
from tests.saved_plans import saved, step


def test_reads_that_do_not_wait_for_each_other_share_a_stage():
    plan = saved(
        step("a", outputs={"rows": "rows"}),
        step("b"),
        step("c", inputs={"rows": "{{ steps.a.outputs.rows }}"}, needs=["b"]),
    )
    graph = draw_plan_graph(plan)
    assert graph.stages == (("a", "b"), ("c",))
    assert graph.edges == (PlanEdge("a", "c", "data", ("rows",)), PlanEdge("b", "c", "needs"))


def test_a_write_is_never_drawn_beside_another_step():
    graph = draw_plan_graph(saved(step("a"), step("w"), step("b"), writes=["w"]))
    assert graph.stages == (("a",), ("w",), ("b",))
    assert [(e.source, e.target, e.kind) for e in graph.edges] == [
        ("a", "w", "order"),
        ("w", "b", "order"),
    ]


def test_an_order_that_other_edges_imply_is_not_drawn():
    plan = saved(
        step("a", outputs={"x": "x"}),
        step("b", inputs={"y": "{{ steps.a.outputs.x }}"}),
        step("w", needs=["b"]),
        writes=["w"],
    )
    assert [(e.source, e.target, e.kind) for e in draw_plan_graph(plan).edges] == [
        ("a", "b", "data"),
        ("b", "w", "needs"),
    ]


def test_a_label_names_the_output_and_where_it_goes():
    plan = saved(
        step("a", outputs={"rows": "rows", "ok": "ok"}),
        step(
            "b",
            when="{{ steps.a.outputs.ok }}",
            for_each={"items": "{{ steps.a.outputs.rows }}", "limit": 3},
            inputs={"ok": "{{ steps.a.outputs.ok }}", "row": "{{ item }}"},
        ),
    )
    (edge,) = draw_plan_graph(plan).edges
    assert edge.labels == ("rows → for_each", "ok → when", "ok")


@pytest.mark.seconds
@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_the_stages_are_those_in_which_the_engine_starts_the_steps(data):
    count = data.draw(st.integers(1, 7))
    names = [f"s{n}" for n in range(count)]
    needs = [
        data.draw(st.lists(st.sampled_from(names[:n]), unique=True)) if n else []
        for n in range(count)
    ]
    writes = data.draw(st.lists(st.sampled_from(names), unique=True))
    plan = saved(*(step(n, needs=w) for n, w in zip(names, needs, strict=True)), writes=writes)
    schedule = Schedule(
        [ScheduledStep(s.id, s.id in writes, list_dependencies(s)) for s in plan.plan.steps]
    )
    rounds = []
    while schedule.unended:
        started = list(iter(schedule.take, None))
        rounds.append(tuple(started))
        for each in started:
            schedule.end(each, passed=True)
    assert draw_plan_graph(plan).stages == tuple(rounds)
