"""A plan that was accepted for the same request is composed again (spec §6)."""

import pytest

from pulsus.core.compose.selection.accepted_plan import (
    find_accepted_plan,
    has_own_terms,
    lost_terms_note,
    repeat_accepted_plan,
)
from pulsus.core.compose.selection.choose_policy import PolicyChoice
from pulsus.core.memory.accepted_plans import AcceptedPlan
from pulsus.core.types import Constant, Expression, OutputRef, ParamRef, Plan, PlanStep, SubIntent
from tests.ranking import ranked

LINT, EDIT = ranked("config/lint/lint_config", 0.8), ranked("config/edit/set_line", 0.1)
IDS = (LINT.tool.id, EDIT.tool.id)
ACCEPTED = (
    AcceptedPlan("ready app.yaml for the launch", IDS),
    AcceptedPlan("sort 5 rows", ("a/b/c", "a/b/d")),
)
NOTHING = PolicyChoice("generate", (), "no candidate")


def rank(ids):
    return [found for found in (LINT, EDIT) if found.tool.id in ids]


@pytest.mark.parametrize(
    "request_text", ["ready app.yaml for the launch", "Ready /srv/db.yaml for the launch!"]
)
def test_the_same_words_with_other_values_find_the_plan(request_text):
    assert find_accepted_plan(request_text, ACCEPTED) == ACCEPTED[0]


@pytest.mark.parametrize(
    "request_text", ["ready app.yaml", "launch the app.yaml that is ready", "", "/srv/db.yaml"]
)
def test_other_words_find_no_plan(request_text):
    assert find_accepted_plan(request_text, ACCEPTED) is None


def test_the_accepted_steps_are_composed_though_the_words_name_none():
    found = repeat_accepted_plan("ready it", IDS, NOTHING, (), rank)
    assert found is not None
    choice, clauses = found
    assert (choice.policy, choice.chosen) == ("compose", (LINT, EDIT))
    assert clauses == (SubIntent("ready it", (LINT,)), SubIntent("ready it", (EDIT,)))


def test_the_clauses_of_the_request_are_kept_if_each_step_has_one():
    clauses = (SubIntent("lint it", (EDIT,)), SubIntent("set it", (LINT,)))
    found = repeat_accepted_plan("lint it, set it", IDS, NOTHING, clauses, rank)
    assert found is not None
    assert [(c.text, c.candidates) for c in found[1]] == [("lint it", (LINT,)), ("set it", (EDIT,))]


def test_a_plan_with_a_tool_that_is_gone_is_not_composed():
    assert repeat_accepted_plan("ready it", (*IDS, "x/y/gone"), NOTHING, (), rank) is None


def test_a_decision_for_these_steps_stays_as_it_is():
    same = PolicyChoice("compose", (LINT, EDIT), "by words")
    assert repeat_accepted_plan("ready it", IDS, same, (), rank) is None


@pytest.mark.parametrize(
    ("inputs", "more", "own"),
    [
        ({"path": ParamRef("path"), "rows": OutputRef("a", "rows")}, {}, False),
        ({"path": ParamRef("path"), "key": Constant("workers")}, {}, True),
        ({"path": ParamRef("path")}, {"when": Expression("input.x")}, True),
        ({"path": ParamRef("path")}, {"on_failure": "continue"}, True),
    ],
)
def test_a_plan_whose_condition_or_value_would_be_lost_is_known(inputs, more, own):
    plan = Plan("it", (PlanStep("a", EDIT.tool.id, inputs, {}, **more),), ("path",), ())
    assert has_own_terms(plan) is own


def test_lost_conditions_are_named_only_if_the_same_tools_were_chosen():
    told = AcceptedPlan("ready it", IDS, "run-1", has_own_terms=True)
    (note,) = lost_terms_note(told, (LINT, EDIT))
    assert note.startswith("made from the tools of run-1: the conditions and fixed values")
    assert "pulsus plan --file FILE" in note
    assert lost_terms_note(told, (LINT,)) == ()
    assert lost_terms_note(AcceptedPlan("ready it", IDS, "run-1"), (LINT, EDIT)) == ()
