"""A plan has only steps whose inputs are available (routing spec §6)."""

from dataclasses import replace

import pytest

from pulsus.core.compose.selection import step_candidates
from pulsus.core.compose.selection.choose_policy import (
    decide_policy,
    prefer_hinted,
    put_chosen_first,
)
from pulsus.core.contract import type_hints
from pulsus.core.types import SubIntent
from tests.compositions import ROWS, arg, spec
from tests.outcomes import candidate

MAPPING = "dict[str, Any]"
BIG = spec("storage/usage/biggest", "folder", gives={"rows": ROWS, "total": "int"})
PLOT = spec("analysis/visualise/plot", arg("summary", MAPPING), "figure_path", gives={"f": "str"})
CHART = spec("shared/report/chart", arg("rows", ROWS), gives={"figure_path": "str"})
DESCRIBE = spec("analysis/summarise/describe", "path", gives={"summary": MAPPING})


def found(tool, p=0.9):
    return replace(candidate(tool.id, p), tool=tool)


def clause(text, *candidates):
    return SubIntent(text, candidates)


def decided(*clauses):
    return decide_policy(clauses[0].candidates, clauses, tau=0.6, slack=0.05, max_steps=8)


def ids(choice):
    return [r.tool.name for r in choice.chosen]


def test_a_tool_without_input_from_an_earlier_step_is_no_step():
    choice = decided(clause("biggest files", found(BIG)), clause("plot them", found(PLOT)))
    assert (choice.policy, choice.chosen) == ("generate", ())
    assert choice.reason == (
        "analysis/visualise/plot cannot serve 'plot them': no earlier step clearly gives 'summary' "
        "(dict[str, Any])"
    )


def test_a_clause_that_names_its_own_data_needs_no_earlier_step():
    matrix = spec("analysis/visualise/plot_matrix", arg("df", MAPPING), gives={"f": "str"})
    big = clause("biggest files", found(BIG))
    assert decided(big, clause("plot the matrix", found(matrix))).policy == "compose"
    for text in ("plot it", "plot them as a matrix", "plot the sizes"):
        assert decided(big, clause(text, found(matrix))).policy == "generate", text


def test_a_candidate_with_available_inputs_replaces_one_without():
    parts = (
        clause("biggest files", found(BIG)),
        clause("plot them", found(PLOT), found(CHART, 0.56)),
    )
    choice = decided(*parts)
    assert (choice.policy, ids(choice)) == ("compose", ["biggest", "chart"])
    assert "shared/report/chart takes its place" in choice.reason
    assert [c.candidates[0].tool.name for c in put_chosen_first(parts, choice)] == [
        "biggest",
        "chart",
    ]


@pytest.mark.parametrize("p", [0.54, 0.0])
def test_a_candidate_below_the_floor_replaces_no_step(p):
    choice = decided(clause("files", found(BIG)), clause("plot", found(PLOT), found(CHART, p)))
    assert choice.policy == "generate"


def test_the_first_tool_of_another_clause_replaces_no_step():
    choice = decided(
        clause("files", found(BIG)),
        clause("plot", found(PLOT), found(CHART, 0.8)),
        clause("chart", found(CHART)),
    )
    assert choice.policy == "generate"


def test_a_step_with_available_inputs_is_not_replaced():
    choice = decided(clause("describe m.csv", found(DESCRIBE)), clause("plot it", found(PLOT)))
    assert (choice.policy, ids(choice)) == ("compose", ["describe", "plot"])


def test_the_first_step_needs_no_earlier_output():
    assert step_candidates.explain_missing_input(PLOT, []) is None
    assert decided(clause("plot", found(PLOT)), clause("files", found(BIG))).policy == "compose"


def test_a_path_without_an_earlier_output_becomes_a_parameter():
    assert step_candidates.explain_missing_input(DESCRIBE, [BIG]) is None


def test_a_tool_with_undeclared_outputs_may_feed_any_later_step():
    assert step_candidates.explain_missing_input(PLOT, [spec("a/b/silent", "folder")]) is None


@pytest.mark.parametrize(
    ("hint", "only_a_step_gives"),
    [
        (ROWS, True),
        (MAPPING, True),
        ("list", True),
        ("list[list[float]]", True),
        ("pd.DataFrame", True),
        (f"{ROWS} | None", True),
        ("list[str]", False),
        ("str | list[list[float]]", False),
        ("Path", False),
        ("Literal['a', 'b']", False),
        ("Any", False),
        (None, False),
        ("None", False),
    ],
)
def test_only_rows_tables_and_mappings_must_come_from_a_step(hint, only_a_step_gives):
    assert step_candidates.is_data_hint(type_hints.parse_hint(hint)) is only_a_step_gives


def test_a_clause_that_formats_rows_comes_before_the_one_that_writes_them():
    table = spec("shared/report/table", arg("rows", ROWS), gives={"markdown": "str"})
    text = arg("markdown", f"str | {ROWS}")
    save = spec("shared/save/save", text, "path", gives={"path": "str"}, kind="write")
    clauses = [clause("big", found(BIG)), clause("save", found(save)), clause("as", found(table))]
    ordered = step_candidates.put_formats_first(clauses)
    assert [each.text for each in ordered] == ["big", "as", "save"]
    assert step_candidates.put_formats_first(ordered) == ordered
    # A tool that gives no text for the file, or gets no rows, stays where the request has it.
    for other in (CHART, spec("shared/report/alone", arg("rows", ROWS), gives={"markdown": ROWS})):
        kept = [*clauses[:2], clause("as", found(other))]
        assert step_candidates.put_formats_first(kept) == tuple(kept)
    assert step_candidates.put_formats_first(clauses[1:]) == tuple(clauses[1:])


def test_a_docs_hint_never_removes_the_input_of_a_later_step():
    numbers = spec("data/summarise/numbers", "path", gives={"count": "int"})
    parts = (
        clause("describe m.csv", found(DESCRIBE), found(numbers)),
        clause("plot it", found(PLOT)),
    )
    choice = decided(*parts)
    assert prefer_hinted(choice, parts, {numbers.id}, floor=0.55) == choice
