"""A composition that was promoted for the same request is selected again (spec §6)."""

from dataclasses import replace

import pytest

from pulsus.core.compose.selection.choose_policy import PolicyChoice
from pulsus.core.compose.selection.promoted_plan import find_promoted_plan, select_promoted_plan
from pulsus.core.types import Vote
from tests.ranking import ranked

REQUEST = "sort rows by a column then render a markdown table"
STEPS = (ranked("shared/sort/top_rows", 0.8), ranked("shared/report/markdown_table", 0.9))
COMPOSE = PolicyChoice("compose", STEPS, "why")


def composition(summary=REQUEST, p=0.4, **changes):
    found = ranked("shared/report/top_rows_then_markdown_table", p)
    tool = replace(found.tool, summary=summary, composed=True)
    return replace(found, tool=tool, **changes)


@pytest.mark.parametrize(
    "request_text",
    [
        REQUEST,
        "Sort the rows by a column, then render a Markdown table!",
        "sort 5 rows of /srv/a.csv by a column then render a markdown table",
    ],
)
def test_the_same_words_with_other_values_find_the_composition(request_text):
    made = composition("sort 9 rows of /srv/b.csv by a column then render a markdown table")
    made = made if "5" in request_text else composition()
    assert find_promoted_plan(request_text, (*STEPS, made)) == made


@pytest.mark.parametrize(
    ("request_text", "made"),
    [
        pytest.param(
            "render a markdown table then sort rows by a column", composition(), id="order"
        ),
        pytest.param("sort rows by a column then plot them", composition(), id="other words"),
        pytest.param("the and of", composition("then and"), id="no content words"),
        pytest.param(
            REQUEST, composition(votes=(Vote(REQUEST, 1.0, -0.5),)), id="it was wrong for it"
        ),
    ],
)
def test_another_request_or_a_wrong_composition_is_composed_anew(request_text, made):
    assert find_promoted_plan(request_text, (*STEPS, made)) is None


def test_a_tool_that_is_no_composition_is_not_taken_for_one():
    plain = composition()
    plain = replace(plain, tool=replace(plain.tool, composed=False))
    assert find_promoted_plan(REQUEST, (plain,)) is None


def test_a_long_request_is_compared_as_far_as_its_summary_goes():
    long = " then ".join(f"render the table of colour{chr(97 + n)}" for n in range(20))
    made = composition(long[:199] + "…")
    assert find_promoted_plan(long, (made,)) == made


def test_the_composition_comes_first_with_the_p_of_its_weakest_step():
    choice, candidates = select_promoted_plan(composition(), (*STEPS, composition()), COMPOSE)
    assert (choice.policy, [r.tool.name for r in choice.chosen]) == (
        "select",
        ["top_rows_then_markdown_table"],
    )
    assert [r.tool.name for r in candidates] == [
        "top_rows_then_markdown_table",
        "top_rows",
        "markdown_table",
    ]
    assert candidates[0].p == 0.8
    assert "promoted for the same request" in choice.reason


def test_without_a_plan_the_composition_keeps_its_own_p():
    choice, _ = select_promoted_plan(
        composition(), (composition(),), PolicyChoice("generate", (), "why")
    )
    assert choice.chosen[0].p == 0.4
