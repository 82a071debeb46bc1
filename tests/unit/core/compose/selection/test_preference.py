"""A docs hint chooses between tools that are good enough without it, and changes nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.compose.selection.choose_policy import PolicyChoice, decide_policy, prefer_hinted
from pulsus.core.types import Ranked, SubIntent
from tests.ranking import tool

TAU, SLACK = 0.60, 0.05
FLOOR = TAU - SLACK


def ranked(name, p):
    return Ranked(tool(f"text/x/{name}", "Do."), {"name": p}, {"name": 1.0}, score=p, p=p, rank=1)


def clause(*found):
    return SubIntent("part", tuple(found))


def decided(clauses, candidates=()):
    return decide_policy(candidates, clauses, tau=TAU, slack=SLACK, max_steps=8)


def names(choice):
    return [r.tool.name for r in choice.chosen]


def test_a_hinted_tool_is_preferred_to_an_equally_good_step():
    clauses = [clause(ranked("a", 0.8), ranked("b", 0.79)), clause(ranked("c", 0.9))]
    found = prefer_hinted(decided(clauses), clauses, {"text/x/b"}, floor=FLOOR)
    assert names(found) == ["b", "c"]
    assert "text/x/b instead of text/x/a" in found.reason


@pytest.mark.parametrize(
    ("p", "why"), [(0.70, "clearly worse"), (0.54, "below the floor"), (0.0, "nothing")], ids=str
)
def test_a_hint_never_makes_a_worse_tool_a_step(p, why):
    clauses = [clause(ranked("a", 0.8 if p else 0.56), ranked("b", p)), clause(ranked("c", 0.9))]
    assert names(prefer_hinted(decided(clauses), clauses, {"text/x/b"}, floor=FLOOR)) == [
        "a",
        "c",
    ], why


def test_a_hinted_tool_below_the_floor_is_not_preferred():
    clauses = [clause(ranked("a", 0.555), ranked("b", 0.545)), clause(ranked("c", 0.9))]
    assert names(prefer_hinted(decided(clauses), clauses, {"text/x/b"}, floor=FLOOR)) == ["a", "c"]


def test_a_hint_never_makes_one_tool_two_steps():
    clauses = [
        clause(ranked("a", 0.8), ranked("b", 0.8)),
        clause(ranked("c", 0.8), ranked("b", 0.8)),
    ]
    assert names(prefer_hinted(decided(clauses), clauses, {"text/x/b"}, floor=FLOOR)) == ["b", "c"]


pool = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.floats(0, 1)),
    min_size=1,
    max_size=4,
    unique_by=lambda x: x[0],
).map(lambda found: sorted((ranked(n, p) for n, p in found), key=lambda r: -r.p))


@given(pool, st.lists(pool, max_size=3), st.sets(st.sampled_from("abcdef")))
def test_a_hint_never_changes_the_policy_or_admits_a_weaker_tool(candidates, parts, hinted):
    clauses = [clause(*found) for found in parts]
    before = decided(clauses, candidates)
    after = prefer_hinted(before, clauses, {f"text/x/{n}" for n in hinted}, floor=FLOOR)
    assert after.policy == before.policy
    assert len({r.tool.id for r in after.chosen}) == len(before.chosen)
    if before.policy != "compose":
        assert after == before
    assert all(r.p >= FLOOR for r in after.chosen)


def test_a_hint_never_adds_a_tool_to_an_empty_choice():
    choice = PolicyChoice("generate", (), "no")
    assert prefer_hinted(choice, [], {"text/x/a"}, floor=FLOOR) == choice
