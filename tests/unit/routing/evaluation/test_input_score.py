"""The inputs that a request fills, against the wanted ones (`pulsus eval`)."""

import pytest

from pulsus.core.types import InputValue, JsonValue
from pulsus.routing.evaluation.input_score import compare_inputs, count_inputs, same_value


def said(value, text="words"):
    return InputValue(value, "request", text, 0.9)


def default(value):
    return InputValue(value, "default")


def differences(wanted, **filled):
    plan = {name.replace("__", "."): value for name, value in filled.items()}
    return [(each.name, each.what) for each in compare_inputs(wanted, plan)]


@pytest.mark.parametrize(
    ("value", "wanted", "same"),
    [
        pytest.param("/a", "/a", True, id="text"),
        pytest.param(0.1 + 0.2, 0.3, True, id="a float that was computed"),
        pytest.param(3, 3.0, True, id="a whole number"),
        pytest.param("3", 3, True, id="a number that the tool takes as text"),
        pytest.param(True, 1, False, id="true is no number"),
        pytest.param("b", {"any": ["a", "b"]}, True, id="one of several"),
        pytest.param("c", {"any": ["a", "b"]}, False, id="none of several"),
        pytest.param({"any": 1, "x": 2}, {"any": 1, "x": 2}, True, id="an object with a key any"),
        pytest.param(None, "a", False, id="nothing"),
        pytest.param("A", "a", False, id="text in another case"),
        pytest.param([0.1 + 0.2, "b"], [0.3, "b"], True, id="a list by its items"),
        pytest.param([1, 2], [2, 1], False, id="a list in another order"),
        pytest.param([1], [1, 2], False, id="a shorter list"),
    ],
)
def test_a_value_is_the_wanted_one_or_one_of_several(value, wanted, same):
    assert same_value(value, wanted) is same


def test_a_spelling_does_not_make_numbers_of_texts_the_same():
    assert same_value(["Piano"], {"any": [["piano"]]}, str.lower)
    assert not same_value("1.5", 15, lambda text: text.replace(".", ""))


def test_each_kind_of_difference_is_told_apart():
    assert differences({"limit": 3}, limit=said(3)) == []
    assert differences({"limit": 3}, limit=said(5)) == [("limit", "wrong")]
    assert differences({"limit": 3}, limit=default(10)) == [("limit", "missing")]
    assert differences({"limit": 10}, limit=default(10)) == []
    assert differences({"limit": 3}) == [("limit", "missing")]
    assert differences({}, limit=said(3)) == [("limit", "unwanted")]
    assert differences({}, limit=default(3)) == []


def test_an_input_of_a_plan_is_named_with_its_tool():
    plan = {"first__path": said("/a"), "second__path": said("/b")}
    assert differences({"first.path": "/a", "second.path": "/b"}, **plan) == []
    assert differences({"second.path": "/a"}, **plan) == [("second.path", "wrong")]
    assert differences({"d/a/second.path": "/b"}, **plan) == []  # a whole id
    assert differences({"third.path": "/a"}, **plan) == [("third.path", "missing")]
    assert differences({"path": "/a"}, **plan) == []  # the first step that has it
    assert differences({}, **plan) == []  # values beside the wanted ones are not counted


def test_a_difference_says_what_was_filled_from_which_words_and_what_was_wanted():
    wanted: dict[str, JsonValue] = {"limit": {"any": [3, 4]}, "folder": "/a", "depth": 2}
    filled = {"limit": said(5, "five"), "depth": default(1)}
    assert [each.sentence for each in compare_inputs(wanted, filled)] == [
        "limit: filled 5 from 'five', wanted 3 or 4",
        'folder: filled nothing, wanted "/a"',
        "depth: filled 1 by default, wanted 2",
    ]


def test_a_row_that_was_routed_to_other_tools_is_counted_and_not_judged():
    wrong = compare_inputs({"limit": 3, "folder": "/a"}, {"limit": said(5)})
    found = count_inputs([(), wrong, None])
    assert (found.rows, found.right, found.wrong, found.missing, found.other_tools) == (
        *(3, 1, 1),
        *(1, 1),
    )
