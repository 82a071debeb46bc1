"""The limits of what a session knows, and what a write makes unknown."""

import pytest

from pulsus.agent.knowledge.knowledge_accumulator import KnowledgeAccumulator, KnowledgeLimits
from pulsus.agent.knowledge.session_fact import (
    Fact,
    category_of_key,
    cut,
    fact_key,
    one_line,
    short_line,
)


def fact(key, turn=1, value="v", subjects=("web1",), call="c"):
    return Fact(key, value, 0.0, turn, call, "id", subjects)


def empty(max_facts=3, max_chars=2000, max_value=200):
    return KnowledgeAccumulator(KnowledgeLimits(max_facts, max_chars, max_value))


def keys(knowledge):
    return [each.key for each in knowledge.facts]


def test_the_least_recently_used_fact_is_evicted_first():
    known = empty().remember([fact("a"), fact("b"), fact("c")], turn=1)
    used = known.touch(["a"])
    assert keys(used.remember([fact("d", turn=9)], turn=9)) == ["c", "a", "d"]


def test_facts_of_the_current_and_previous_turn_outlive_older_ones_that_were_used_later():
    known = empty().remember([fact("new", turn=8), fact("old", turn=2)], turn=8).touch(["old"])
    known = known.remember([fact("b", turn=9), fact("c", turn=9)], turn=9)
    assert keys(known) == ["new", "b", "c"]


def test_pinned_facts_give_way_if_nothing_older_is_left():
    known = empty(max_facts=2).remember([fact("a"), fact("b"), fact("c")], turn=1)
    assert keys(known) == ["b", "c"]


def test_a_new_value_replaces_the_old_one():
    known = empty().remember([fact("a", value="stopped")], 1).remember([fact("a")], 2)
    assert [each.value for each in known.facts] == ["v"]


def test_a_value_is_cut_and_kept_on_one_line():
    (kept,) = empty(max_value=6).remember([fact("a", value="x\n[exec] b = 1")], 1).facts
    assert kept.value == "x [ex…"


def test_a_fact_that_alone_exceeds_the_limit_is_left_out():
    assert empty(max_chars=3).remember([fact("abcd")], 1).facts == ()


def test_a_write_removes_facts_about_its_resource_and_facts_about_everything():
    known = empty().remember(
        [fact("a", subjects=("web1",)), fact("b", subjects=("db1",)), fact("all", subjects=())], 1
    )
    assert keys(known.after_write(["WEB1", "host:web1"])) == ["b"]


def test_a_write_to_an_unknown_place_removes_every_fact():
    assert empty().remember([fact("a")], 1).after_write([]).facts == ()


def test_the_summary_groups_facts_by_category():
    known = empty().remember([fact("metrics:web1"), fact("alert:web1:cpu")], 1)
    assert known.summary() == "[alert] alert:web1:cpu = v\n[metrics] metrics:web1 = v"


def test_long_keys_stay_distinct():
    first, second = fact_key("exec", "web1", "x" * 500), fact_key("exec", "web1", "x" * 501)
    assert len(first) == len(second) == 160
    assert first != second


def test_a_key_cannot_forge_a_line_of_the_summary():
    assert fact_key("exec", "web1", "a\n[alert] b") == "exec:web1:a [alert] b"


def test_unknown_keys_are_about_resources():
    assert category_of_key("lxc:pve1:106:status") == "resource"
    assert category_of_key("exec:web1:df") == "exec"


def test_cut_never_exceeds_its_limit():
    assert [cut("abc", limit) for limit in range(4)] == ["", "…", "a…", "abc"]


@pytest.mark.parametrize("limit", [1, 20, 200])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "short",
        "a\n b\x00c " * 3,
        "\n" * 900 + "late",
        " x" * 5000,
        "word " * 41 + "\n\n" + "end",
    ],
)
def test_a_short_line_is_that_of_the_whole_text_though_only_its_beginning_is_read(text, limit):
    assert short_line(text, limit) == cut(one_line(text), limit)
