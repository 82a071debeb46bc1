"""An intent in two manifests is found as ranking reads it."""

from pulsus.routing.maintenance.shared_intents import find_shared_intents
from tests.ranking import tool


def claimed(*tools):
    return [(c.tool.id, c.rival.id, c.phrase, c.theirs) for c in find_shared_intents(tools)]


def test_one_intent_in_two_manifests_is_claimed_in_any_word_order_and_form():
    one = tool("a/b/one", intents=("open ports", "x"))
    two = tool("a/b/two", intents=("ports opened", "y"))
    assert claimed(one, two) == [("a/b/one", "a/b/two", "open ports", "ports opened")]


def test_one_stem_written_differently_is_not_one_intent():
    one, two = tool("a/b/one", intents=("D state",)), tool("a/b/two", intents=("where state is",))
    assert claimed(one, two) == []


def test_one_word_written_alike_is_one_intent():
    one, two = tool("a/b/one", intents=("lsof",)), tool("a/b/two", intents=("LSOF",))
    assert claimed(one, two) == [("a/b/one", "a/b/two", "lsof", "LSOF")]


def test_intents_without_a_content_word_do_not_collide():
    assert claimed(tool("a/b/one", intents=("what is it",)), tool("a/b/two", intents=("do",))) == []
