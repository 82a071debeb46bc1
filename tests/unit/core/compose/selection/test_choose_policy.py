"""Select, compose or generate (spec §5, §6)."""

import pytest

from pulsus.core.compose.selection.choose_policy import (
    CandidateSet,
    PolicyChoice,
    decide_policy,
    narrow_then_widen,
    put_first,
    put_steps_first,
)
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.core.types import SubIntent
from tests.ranking import CATALOGUE, ranked


def choice(candidates=(), clauses=(), max_steps=8):
    subintents = [SubIntent(f"part {n}", tuple(c)) for n, c in enumerate(clauses)]
    return decide_policy(candidates, subintents, tau=0.6, slack=0.05, max_steps=max_steps)


def ids(made):
    return [r.tool.id for r in made.chosen]


@pytest.mark.parametrize(("p", "policy"), [(0.60, "select"), (0.5999, "generate")])
def test_a_single_tool_is_selected_if_its_p_reaches_tau(p, policy):
    made = choice([ranked("a/b/x", p)], [[ranked("a/b/x", p)]])
    assert made.policy == policy


def test_the_reason_names_the_highest_p_even_if_another_tool_is_first():
    made = choice([ranked("a/b/first", 0.14), ranked("a/b/likely", 0.26)])
    assert made.reason == "no candidate reaches τ 0.60: the highest p is 0.26, of a/b/likely"


@pytest.mark.parametrize(
    ("p", "shown"),
    [
        (0.596, "τ 0.600: the highest p is 0.596,"),
        (0.59996, "τ 0.60000: the highest p is 0.59996,"),
    ],
)
def test_the_reason_does_not_show_a_p_below_tau_as_tau(p, shown):
    assert shown in choice([ranked("a/b/x", p)]).reason


def test_clauses_with_different_tools_are_composed_in_order():
    parts = [[ranked("a/b/y", 0.56)], [ranked("a/b/x", 0.9)], [ranked("a/b/z", 0.7)]]
    made = choice([ranked("a/b/x", 0.9)], parts)
    assert (made.policy, ids(made)) == ("compose", ["a/b/y", "a/b/x", "a/b/z"])


def test_a_clause_below_tau_less_slack_is_not_composed():
    made = choice([ranked("a/b/x", 0.7)], [[ranked("a/b/x", 0.9)], [ranked("a/b/y", 0.54)]])
    assert (made.policy, ids(made)) == ("select", ["a/b/x"])


def test_one_tool_for_two_clauses_prevents_a_composition():
    made = choice([ranked("a/b/x", 0.7)], [[ranked("a/b/x", 0.9)], [ranked("a/b/x", 0.8)]])
    assert made.policy == "select"


def test_a_clause_without_candidates_prevents_a_composition():
    made = choice([ranked("a/b/x", 0.2)], [[ranked("a/b/x", 0.9)], []])
    assert made.policy == "generate"


def test_a_request_with_too_many_steps_is_not_shortened():
    parts = [[ranked(f"a/b/t{n}", 0.9)] for n in range(3)]
    made = choice([ranked("a/b/t0", 0.9)], parts, max_steps=2)
    assert (made.policy, ids(made)) == ("generate", [])
    assert "3 steps" in made.reason


def test_a_request_without_candidates_is_generated_with_a_reason():
    assert choice().reason == "no tool shares a word with the request"


def test_the_reason_names_tool_p_and_conflict():
    made = choice([ranked("a/b/x", 0.3, caution="the request asks to delete, the tool only reads")])
    assert "a/b/x" in made.reason
    assert "0.30" in made.reason
    assert "only reads" in made.reason


def look(pool, found, tau=0.6):
    def rank(only):
        return [r for r in found if only is None or r.tool.id in only]

    return narrow_then_widen(pool, rank, tau=tau)


def test_a_folder_with_a_probable_tool_is_not_widened():
    found = [ranked("a/b/x", 0.71), ranked("c/d/y", 0.7)]
    looked = look({"c/d/y"}, found)
    assert ([r.tool.id for r in looked.candidates], looked.widened) == (["c/d/y", "a/b/x"], False)
    assert [r.rank for r in looked.candidates] == [1, 2]
    assert looked.candidates[0].why_not is None
    assert "parsed folder" in (looked.candidates[1].why_not or "")


@pytest.mark.parametrize("pool", [{"c/d/y"}, {"nowhere"}])
def test_a_folder_without_a_probable_tool_is_widened(pool):
    found = [ranked("a/b/x", 0.8), ranked("c/d/y", 0.5)]
    looked = look(pool, found)
    assert ([r.tool.id for r in looked.candidates], looked.widened) == (["a/b/x", "c/d/y"], True)


def test_a_request_without_a_folder_is_never_reported_as_widened():
    assert look(set(), [ranked("a/b/x", 0.8)]).widened is False


def test_the_best_tool_of_a_wrong_folder_does_not_win_over_a_clearly_better_tool():
    index = Ranker.build(CATALOGUE)
    looked = narrow_then_widen(
        {"storage/usage/disk_usage", "storage/usage/biggest_files"},
        lambda only: index.rank("show memory and swap usage", tools=only),
        tau=0.6,
    )
    assert looked.widened
    assert looked.candidates[0].tool.id == "memory/usage/memory_summary"


def test_a_mediocre_tool_of_the_parsed_folder_does_not_win_over_a_clearly_better_one():
    found = (ranked("a/b/right", 0.8), ranked("c/d/near", 0.62))
    looked = narrow_then_widen({"c/d/near"}, lambda tools: found, tau=0.6)
    assert looked.widened
    assert looked.candidates[0].tool.id == "a/b/right"


def test_the_steps_of_a_plan_come_first_in_the_order_of_the_whole_request():
    listed = [ranked("a/b/x", 0.9), ranked("a/b/y", 0.4), ranked("a/b/z", 0.3)]
    steps = (ranked("a/b/w", 0.7), ranked("a/b/z", 0.8), ranked("a/b/x", 0.95))
    found = put_steps_first(listed, PolicyChoice("compose", steps, "why"))
    assert [(r.tool.name, r.p, r.rank) for r in found] == [
        ("x", 0.95, 1),
        ("z", 0.8, 2),
        ("w", 0.7, 3),
        ("y", 0.4, 4),
    ]
    assert [bool(r.why_not) for r in found] == [False, False, False, True]


def test_candidates_keep_their_order_if_nothing_is_composed():
    listed = (ranked("a/b/x", 0.9), ranked("a/b/y", 0.4))
    assert put_steps_first(listed, PolicyChoice("select", listed[1:], "why")) == listed


@pytest.mark.parametrize(("p", "first"), [(0.6, "rows"), (0.59, "x")])
def test_a_tool_for_given_rows_is_first_only_if_it_reaches_tau(p, first):
    looked = CandidateSet((ranked("a/b/x", 0.7), ranked("a/b/rows", 0.1)), widened=False)
    found = put_first([ranked("a/b/rows", p)], looked, tau=0.6).candidates
    assert found[0].tool.name == first
    assert len(found) == 2
    assert [r.rank for r in found][:1] == [1]
