"""What is promoted with nobody watching: only under all three conditions (spec §12, ADR 9)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.types import Clarification
from pulsus.routing.unattended import low_confidence, refusal
from tests.outcomes import candidate, outcome

LEAST = 0.55


def test_all_conditions_together_need_nobody():
    assert refusal(outcome(candidate(p=0.6), confidence=LEAST), allowed=True, least=LEAST) is None


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
    found = refusal(route, allowed=allowed, least=LEAST)
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
    assert (refusal(route, allowed=allowed, least=LEAST) is None) == holds


@given(st.floats(0, LEAST, exclude_max=True))
def test_what_falls_short_never_looks_as_if_it_did_not(confidence):
    found = low_confidence(outcome(candidate(), confidence=confidence), LEAST)
    assert found
    shown = float(found.message.split()[1])
    assert shown < LEAST


def test_the_question_nobody_could_answer_is_told():
    asked = Clarification("Did you mean domain=a or b?", ("a", "b"))
    route = outcome(candidate(), confidence=0.2, clarification=asked)
    found = low_confidence(route, LEAST)
    assert found
    assert "the question would have been: Did you mean domain=a or b?" in found.message
    assert found.details == {"question": "Did you mean domain=a or b?"}


@pytest.mark.parametrize("policy", ["select", "compose"])
def test_tools_however_sure_do_not_make_up_for_a_request_not_understood(policy):
    chosen = [candidate("d/a/x", 0.99), candidate("d/a/y", 0.99)][: 1 + (policy == "compose")]
    found = refusal(outcome(*chosen, policy=policy, confidence=0.5), allowed=True, least=LEAST)
    assert found
    assert found.code == "LOW_CONFIDENCE"
