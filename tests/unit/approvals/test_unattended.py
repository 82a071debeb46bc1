"""Unattended runs promote a module only under all three conditions (spec §12, ADR 9)."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.approvals.known_modules import Novelty
from pulsus.approvals.unattended import (
    ApprovalCase,
    GenerationApproval,
    NoApproval,
    RouteApproval,
    auto_approval_refusal,
    find_objection,
    low_confidence,
)
from pulsus.core.storage.candidate_store import StoredCandidate
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.types import Clarification, OutputRef, ParamRef, Plan, PlanStep
from tests.outcomes import candidate, outcome
from tests.promotions import NOON

LEAST = 0.55


def test_a_route_that_meets_all_conditions_needs_no_person():
    assert (
        auto_approval_refusal(
            RouteApproval(outcome(candidate(p=0.6), confidence=LEAST), allowed=True, least=LEAST)
        )
        is None
    )


@pytest.mark.parametrize(
    ("route", "allowed", "code"),
    [
        pytest.param(outcome(candidate()), False, "APPROVAL_REQUIRED", id="not asked for"),
        pytest.param(outcome(candidate(), confidence=0.5), True, "LOW_CONFIDENCE", id="unsure"),
        pytest.param(outcome(candidate(p=0.59)), True, "APPROVAL_REQUIRED", id="below τ"),
        pytest.param(
            outcome(candidate("d/a/x"), candidate("d/a/y", p=0.58), policy="compose"),
            True,
            "APPROVAL_REQUIRED",
            id="one step below τ",
        ),
    ],
)
def test_each_condition_alone_is_not_enough(route, allowed, code):
    found = auto_approval_refusal(RouteApproval(route, allowed, LEAST))
    assert found
    assert (found.code, found.exit_status) == (code, 4)
    assert found.hint


@given(
    confidence=st.floats(0, 1),
    ps=st.lists(st.floats(0, 1), min_size=1, max_size=4),
    allowed=st.booleans(),
)
def test_nothing_is_approved_that_misses_a_condition(confidence, ps, allowed):
    chosen = [candidate(f"d/a/x{n}", p) for n, p in enumerate(ps)]
    policy = "compose" if len(chosen) > 1 else "select"
    route = outcome(*chosen, policy=policy, confidence=confidence)
    holds = allowed and confidence >= LEAST and min(ps) >= route.tau
    assert (auto_approval_refusal(RouteApproval(route, allowed, LEAST)) is None) == holds


@given(st.floats(0, LEAST, exclude_max=True))
def test_a_number_below_the_limit_is_not_rounded_up_to_it(confidence):
    found = low_confidence(outcome(candidate(), confidence=confidence), LEAST)
    assert found
    shown = float(found.message.split()[1])
    assert shown < LEAST


def test_the_failure_names_the_unanswered_question():
    asked = Clarification("Which tool do you mean?", ("a", "b"))
    route = outcome(candidate(), confidence=0.2, clarification=asked)
    found = low_confidence(route, LEAST)
    assert found
    assert "the question would have been: Which tool do you mean? (a, b)" in found.message
    assert found.details == {"question": "Which tool do you mean?"}


@pytest.mark.parametrize("policy", ["select", "compose"])
def test_tools_however_sure_do_not_make_up_for_a_request_not_understood(policy):
    chosen = [candidate("d/a/x", 0.99), candidate("d/a/y", 0.99)][: 1 + (policy == "compose")]
    found = auto_approval_refusal(
        RouteApproval(outcome(*chosen, policy=policy, confidence=0.5), allowed=True, least=LEAST)
    )
    assert found
    assert found.code == "LOW_CONFIDENCE"


SHA = "0" * 64
PLACE = Target("d", "a", "x")
COMMAND = "pulsus promote workflows/domains/d/a/x.py --domain d --action a --name x --yes"


def case(**fields):
    shown = fields.pop("shown", "workflows/domains/d/a/x.py")
    known = fields.pop("novelty", Novelty())
    return ApprovalCase(shown, PLACE, SHA, fields.pop("proof", "behaviour"), known, **fields)


def routed(*chosen, **fields):
    return RouteApproval(outcome(*(chosen or (candidate(),)), **fields), allowed=True, least=LEAST)


def written(**fields):
    given = {"allowed": True, "asked": True, "strong": True, "placed": True, "generated": True}
    return GenerationApproval(**{**given, **fields})


def composed(*steps, clauses=("count words of the text", "count lines of the text"), **fields):
    """A route to two steps whose inputs are these."""
    route = outcome(candidate("d/a/x"), candidate("d/a/y"), policy="compose", **fields)
    ids = [tool.id for tool in route.decision.selected]
    made = [
        PlanStep(f"s{n}", tool, inputs, {"o": "o"})
        for n, (tool, inputs) in enumerate(zip(ids, steps, strict=True), 1)
    ]
    decision = replace(route.decision, plan=Plan("do it", tuple(made)))
    said = tuple(
        replace(clause, text=text) for clause, text in zip(route.subintents, clauses, strict=True)
    )
    return RouteApproval(
        replace(route, decision=decision, subintents=said), allowed=True, least=LEAST
    )


CONNECTED = ({"a": ParamRef("p")}, {"b": OutputRef("s1", "o"), "a": ParamRef("p")})


@pytest.mark.parametrize("approval", [routed(), written()], ids=["route", "generate"])
def test_a_new_module_that_meets_every_condition_needs_no_person(approval):
    assert find_objection(case(), approval) is None


@pytest.mark.parametrize("approval", [routed(), written()], ids=["route", "generate"])
@pytest.mark.parametrize(
    "known",
    [Novelty(known="d/a/x was changed"), Novelty(repeats="its bytes are those of d/b/x")],
    ids=["changed", "copy"],
)
def test_changed_bytes_and_copies_of_promoted_tools_need_a_person(known, approval):
    found = find_objection(case(novelty=known), approval)
    assert found
    assert (found.code, found.exit_status) == ("APPROVAL_REQUIRED", 4)
    assert COMMAND in found.hint


def test_changed_bytes_that_a_composition_pins_need_a_person():
    steps = {"d/b/y": ("workflows/domains/d/b/y.py", Novelty(known="d/b/y was changed"))}
    found = find_objection(case(steps=steps), composed(*CONNECTED))
    assert found
    assert "pulsus promote workflows/domains/d/b/y.py --domain d --action b" in found.hint


def test_a_rendered_composition_may_resemble_another_and_not_take_its_id():
    alike = Novelty(repeats="most of its lines are those of d/a/z")
    assert find_objection(case(novelty=alike, rendered=True), composed(*CONNECTED)) is None
    known = Novelty(known="d/a/x was changed")
    assert find_objection(case(novelty=known, rendered=True), composed(*CONNECTED))


@pytest.mark.parametrize(
    ("route", "proof", "why"),
    [
        (composed(*CONNECTED), "shape", "proof is shape"),
        (composed({"a": ParamRef("p")}, {"a": ParamRef("p")}), "behaviour", "nothing connects s2"),
        (composed(*CONNECTED, clauses=("make json", "check it")), "behaviour", "'it'"),
        (composed(*CONNECTED, clauses=("make json", "check the json")), "behaviour", "the json"),
    ],
    ids=["shape", "unconnected", "pronoun", "noun"],
)
def test_a_composition_that_may_be_wrong_needs_a_person(route, proof, why):
    found = find_objection(case(proof=proof, rendered=True), route)
    assert found
    assert (found.code, why in found.message) == ("APPROVAL_REQUIRED", True)
    assert "pulsus promote" in found.hint


def test_a_step_is_judged_as_a_tool_and_not_as_the_composition():
    route = composed({"a": ParamRef("p")}, {"a": ParamRef("p")})
    assert find_objection(case(step=True, proof="shape"), route) is None
    assert find_objection(case(step=True, novelty=Novelty(known="changed")), route)


def test_a_plan_whose_step_took_the_place_of_a_surer_tool_is_judged_by_its_own_p():
    """§6 lets a step be slightly less probable than τ; §12 does not."""
    route = composed(*CONNECTED)
    weaker = candidate("d/a/w", p=0.57)
    clauses = (
        replace(route.outcome.subintents[0], candidates=(candidate("d/a/x"), weaker)),
        route.outcome.subintents[1],
    )
    selected = (weaker.tool, route.outcome.decision.selected[1])
    decision = replace(route.outcome.decision, selected=selected)
    found = find_objection(
        case(),
        replace(route, outcome=replace(route.outcome, decision=decision, subintents=clauses)),
    )
    assert found
    assert "d/a/w (p 0.57" in found.message


@pytest.mark.parametrize("status", ["pending", "rejected"])
def test_a_candidate_that_was_edited_or_rejected_needs_a_person(status):
    sha = SHA if status == "rejected" else "1" * 64
    kept = StoredCandidate(
        Path("/p/workflows/_tmp/c.py"), "do it", "r", "run", status, ("slow",), NOON, sha
    )
    for approval in (routed(), written()):
        found = find_objection(case(candidate=kept), approval)
        assert found
        assert found.code == "APPROVAL_REQUIRED"


@pytest.mark.parametrize(
    "missing",
    [
        *({name: False} for name in ("allowed", "asked", "strong", "placed", "generated")),
        {"doubt": "it is a table"},
    ],
    ids=str,
)
def test_a_generated_module_needs_every_condition(missing):
    found = find_objection(case(), written(**missing))
    assert found
    assert found.code == "APPROVAL_REQUIRED"
    assert find_objection(case(proof="shape"), written())


def test_without_a_rule_only_a_person_approves():
    found = find_objection(case(), NoApproval(hint="approve with --yes"))
    assert found
    assert (found.code, found.hint) == ("APPROVAL_REQUIRED", "approve with --yes")


def test_a_hint_at_the_rules_is_given_only_where_they_would_approve():
    asked = replace(routed(), allowed=False)
    found = find_objection(case(), asked)
    assert found
    assert "--non-interactive" in found.hint
    for refused in (
        find_objection(
            case(proof="shape", rendered=True), replace(composed({}, {}), allowed=False)
        ),
        find_objection(case(), replace(routed(candidate(p=0.1)), allowed=False)),
    ):
        assert refused
        assert refused.hint == f"look at it, then: {COMMAND}"
