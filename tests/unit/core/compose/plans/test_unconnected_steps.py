"""Plans that may not mean what the request asks for (ADR 9)."""

import pytest

from pulsus.core.compose.plans.unconnected_steps import (
    find_backward_reference,
    find_shared_inputs,
    find_unconnected_steps,
)
from pulsus.core.types import OutputRef, ParamRef, Plan, PlanStep


def plan(*inputs):
    steps = [PlanStep(f"s{n}", f"d/a/t{n}", given, {"x": "x"}) for n, given in enumerate(inputs, 1)]
    return Plan("do it", tuple(steps))


def test_a_step_without_an_output_of_another_step_is_unconnected():
    tied = plan({"a": ParamRef("a")}, {"b": OutputRef("s1", "x")}, {"c": OutputRef("s2", "x")})
    assert find_unconnected_steps(tied) == ()
    joined = plan({}, {}, {"a": OutputRef("s1", "x"), "b": OutputRef("s2", "x")})
    assert find_unconnected_steps(joined) == ()
    loose = plan({"a": ParamRef("a")}, {"a": ParamRef("a")}, {"c": OutputRef("s2", "x")})
    assert find_unconnected_steps(loose) == ("s2", "s3")


def test_an_input_of_several_steps_is_shared_unless_it_is_dry_run():
    both = plan({"path": ParamRef("path")}, {"file": ParamRef("path"), "y": OutputRef("s1", "x")})
    assert find_shared_inputs(both) == ("path",)
    assert (
        find_shared_inputs(plan({"dry_run": ParamRef("dry_run")}, {"dry_run": ParamRef("dry_run")}))
        == ()
    )
    assert find_shared_inputs(plan({"a": ParamRef("a")}, {"b": ParamRef("b")})) == ()


@pytest.mark.parametrize(
    ("later", "word"),
    [
        ("validate it", "it"),
        ("then check them", "them"),
        ("count that", "that"),
        ("parse the json", "the json"),
        ("Sort The Results", "results"),
        ("save their sizes", "their"),
        ("show this file", "this"),
        ("compare both", "both"),
        ("check the resulting file", "resulting"),
        ("look at its owner", "its"),
        ("do the same for the certificate", "same"),
        ("validate the output's keys", "the output's"),
    ],
)
def test_pronouns_and_nouns_that_mean_an_earlier_result_are_found(later, word):
    assert find_backward_reference(("convert yaml to json", later)) == word


@pytest.mark.parametrize(
    "clauses",
    [
        ("count the words of the text", "count the lines of the text"),
        ("show disk usage", "show memory usage"),
        ("it", ""),
    ],
)
def test_words_that_mean_an_input_of_the_caller_are_no_reference(clauses):
    assert find_backward_reference(clauses) is None
