"""`pulsus diff` names every part of two plans that decides what a run does."""

from dataclasses import replace

import pytest

from pulsus.core.compose.saved_plans.plan_diff import FieldChange, compare_plans
from pulsus.core.compose.saved_plans.saved_plan import Alternative, SavedInput, StepReview
from pulsus.core.types import Effects
from tests.saved_plans import saved, step


def base(**fields):
    return saved(
        step("find", inputs={"folder": "{{ input.folder }}"}, outputs={"rows": "rows"}),
        step("drop", "d/a/writer", inputs={"rows": "{{ steps.find.outputs.rows }}"}),
        writes=["drop"],
        **{"inputs": {"folder": "/tmp"}, "settings": {"run.x": False}, **fields},
    )


def names(old, new):
    return [(c.section, c.name, c.difference) for c in compare_plans(old, new)]


def with_step(plan, number, **fields):
    steps = list(plan.plan.steps)
    steps[number] = replace(steps[number], **fields)
    return replace(plan, plan=replace(plan.plan, steps=tuple(steps)))


def with_review(plan, **fields):
    first, second = plan.review
    return replace(plan, review=(first, replace(second, **fields)))


def test_equal_plans_have_no_difference():
    assert compare_plans(base(), base()) == ()


def test_what_decides_nothing_about_a_run_is_no_difference():
    other = Alternative("find", "d/a/other", 0.3, "less probable")
    words = SavedInput("/tmp", "request", text="in /tmp", p=0.9)
    new = base(
        catalogue="d" * 64,
        alternatives=(other,),
        notes=("n",),
        request="find",
        inputs={"folder": words},
    )
    assert names(base(), new) == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"tool": "d/a/other"}, "tool"),
        ({"version": "2.0.0"}, "version"),
        ({"sha256": "cd" * 32}, "sha256"),
        ({"needs": ("find",)}, "needs"),
        ({"timeout_s": 5.0}, "timeout_s"),
        ({"on_failure": "continue"}, "on_failure"),
    ],
)
def test_a_changed_key_of_a_step_is_named(change, field):
    (found,) = compare_plans(base(), with_step(base(), 1, **change))
    assert (found.section, found.name, found.writes) == ("step", "drop", True)
    assert [each.name for each in found.fields] == [field]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": "read"}, "kind"),
        ({"effects": Effects(paths=("/etc",))}, "effects.paths"),
        ({"effects": None}, "effects"),
        ({"approval": "approver"}, "approval"),
        ({"target": ("rows",)}, "target"),
        ({"verify": "d/a/check"}, "verify"),
        ({"undo": "d/a/back"}, "undo"),
    ],
)
def test_a_changed_contract_of_a_write_is_named(change, field):
    found = compare_plans(base(), with_review(base(), **change))
    assert [(each.name, each.writes) for each in found] == [("drop", True)]
    assert field in [each.name for each in found[0].fields]


def test_a_step_that_is_new_or_gone_is_named_with_its_fields():
    small = saved(step("find"))
    large = saved(step("find"), step("w", "d/a/writer", inputs={"path": "/x"}), writes=["w"])
    (added,) = compare_plans(small, large)
    assert (added.name, added.difference, added.writes, added.tool) == (
        "w", "added", True, "d/a/writer",
    )  # fmt: skip
    assert FieldChange("inputs.path", "added", None, "/x") in added.fields
    (removed,) = compare_plans(large, small)
    assert (removed.name, removed.difference, removed.writes) == ("w", "removed", True)


def test_an_input_value_names_the_steps_that_read_it():
    (found,) = compare_plans(base(), base(inputs={"folder": "/etc"}))
    assert (found.section, found.name, found.used_by) == ("input", "folder", ("find",))
    assert not found.writes
    assert found.fields == (FieldChange("value", "changed", "/tmp", "/etc"),)


def test_a_value_of_another_type_is_a_difference():
    one, true = base(inputs={"folder": 1}), base(inputs={"folder": True})
    assert names(one, true) == [("input", "folder", "changed")]
    assert names(base(inputs={"folder": [1]}), base(inputs={"folder": [True]})) != []
    assert names(base(inputs={"folder": [1]}), base(inputs={"folder": [1.0]})) != []


def test_the_file_of_an_input_is_compared():
    was = SavedInput("x", "option", file="a.txt", sha256="ab" * 32)
    now = replace(was, sha256="cd" * 32)
    assert names(base(inputs={"folder": was}), base(inputs={"folder": now})) == [
        ("input", "folder", "changed")
    ]


def test_settings_and_the_order_of_steps_are_compared():
    assert names(base(), base(settings={"run.x": True})) == [("setting", "run.x", "changed")]
    ahead, behind = saved(step("a"), step("b")), saved(step("b"), step("a"))
    assert names(ahead, behind) == [("plan", "order", "changed")]


def test_changes_of_writes_come_first():
    new = with_step(with_step(base(), 0, timeout_s=3.0), 1, timeout_s=3.0)
    assert [c.name for c in compare_plans(base(), new)] == ["drop", "find"]


def test_a_step_that_becomes_a_write_is_a_change_of_a_write():
    was = saved(step("a"))
    now = replace(was, review=(StepReview("a", "write", Effects()),))
    (found,) = compare_plans(was, now)
    assert found.writes
    assert found.fields == (FieldChange("kind", "changed", "read", "write"),)
