"""The grammar of goals: exactly one plain goal, and the right error for everything else."""

import pytest

from pulsus.errors import GoalInvalid, GoalRefused
from pulsus.kb.terms import MOST_GOAL_CHARS, Variable, is_name, parse_goal, render_value

REFUSED = [
    "node_health(pve0,S), assertz(x)",
    "node_health(pve0,S);halt",
    "node_health(pve0,S) :- true",
    "node_health(pve0,S)->shell(ls)",
    "node_health(pve0,S).",
    "node_health(pve0,S). halt.",
    "node_health(pve0,S) node_health(pve1,S)",
    "node_health(pve0,S) % comment",
    "node_health(/* x */pve0,S)",
    "node_health(pve-1,S)",
    "node_health(f(x),S)",
    "node_health((pve0),S)",
    "node_health([pve0],S)",
    "node_health({x},S)",
    'node_health("pve0",S)',
    "node_health(`pve0`,S)",
    "node_health('pve0\\x29\\',S)",
    "node_health('a''b',S)",
    "node_health('a)',S)",
    "node_health('',S)",
    "node_health(a:b,S)",
    "node_health(0x1F,S)",
    "node_health(007,S)",
    "node_health(1234567890123456,S)",
    "node_health(+pve0,S)",
    "'node_health'(pve0,S)",
    "Node_Health(pve0,S)",
    "X",
    "X(pve0,S)",
    "halt",
    "halt, node_health(pve0,S)",
    "!",
    "\\+ node_health(pve0,S)",
    "node_health(pve0,\tS)",
    "node_health(pve0,S)\n",
    "node_health(pve0,S)\x00",
    "node_he\u0430lth(pve0,S)",  # a Cyrillic a
    "node_health\uff08pve0,S\uff09",  # full-width brackets
    "node_health(pve\u0661,S)",  # an Arabic digit
    "node_health(pve0,\u202eS)",  # a direction mark
    f"node_health({'a' * 129},S)",
    f"node_health({'a' * MOST_GOAL_CHARS},S)",
    f"{'a' * 129}(pve0,S)",
]
ILL_FORMED = [
    "",
    "   ",
    "node_health(",
    "node_health(pve0",
    "node_health(pve0,",
    "node_health()",
    "node_health(pve0,)",
    "node_health(,S)",
    "node_health(pve0 S)",
    "node_health pve0",
    "node_health (pve0,S)",
    "node_health(pve0,S))",
    "node_health('pve0,S)",
    "live_state:",
]


@pytest.mark.parametrize("text", REFUSED)
def test_anything_beyond_one_plain_goal_is_refused(text):
    with pytest.raises(GoalRefused):
        parse_goal(text)


@pytest.mark.parametrize("text", ILL_FORMED)
def test_an_incomplete_goal_is_no_refusal(text):
    with pytest.raises(GoalInvalid):
        parse_goal(text)


def test_the_arguments_have_their_types():
    goal = parse_goal(" live_state:node_metric( 'PVE-1.example', cpu , 93.5 ) ")
    assert (goal.module, goal.name) == ("live_state", "node_metric")
    assert goal.arguments == ("PVE-1.example", "cpu", 93.5)
    assert parse_goal("p(101,X,_,_y)").arguments == (
        101,
        Variable("X"),
        Variable("_"),
        Variable("_y"),
    )
    assert goal.indicator == "live_state:node_metric/3"


def test_a_name_with_a_dash_is_told_to_need_quotes():
    with pytest.raises(GoalRefused, match="'pve-1'"):
        parse_goal("node_health(pve-1, S)")


def test_a_look_alike_character_is_named_and_not_shown():
    with pytest.raises(GoalRefused, match=r"U\+0430 \(CYRILLIC SMALL LETTER A\)") as caught:
        parse_goal("node_he\u0430lth(pve0,S)")
    assert caught.value.message.isascii()


@pytest.mark.parametrize("value", ["pve1", "PVE1", "pve-1", "101", "a.b:c", 5, 2.5])
def test_a_rendered_value_parses_to_itself(value):
    assert parse_goal(f"p({render_value(value)})").arguments == (value,)


def test_a_name_has_no_character_that_needs_an_escape():
    assert is_name("pve-1.example.org")
    assert not any(map(is_name, ("", "a b", "a'b", "-a", "\u00e4", "a\n", "a" * 129)))
