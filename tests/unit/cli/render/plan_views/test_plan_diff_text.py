"""`pulsus diff` as text: values differ in what is shown, and no value forges a line."""

import pytest

from pulsus.cli.render.plan_views.plan_diff_text import plan_diff_lines
from pulsus.core.compose.saved_plans.plan_diff import compare_plans
from tests.saved_plans import HOSTILE, saved, step


def lines(old, new, *, verbose=False):
    changes = compare_plans(old, new)
    return [*plan_diff_lines(changes, verbose=verbose, columns=80, style=lambda text, _: text)]


def plan(value, **fields):
    return saved(step("a", inputs={"x": "{{ input.x }}"}), inputs={"x": value}, **fields)


def test_equal_plans_are_one_line():
    assert lines(plan(1), plan(1)) == ["the plans are equal"]


def test_a_change_shows_both_values():
    assert lines(plan(1), plan(2)) == [
        "1 change, none to a step that writes",
        "",
        "~ input x  used by a",
        "    value  1 -> 2",
    ]


def test_a_change_to_a_write_is_marked_and_counted():
    found = lines(plan(1, writes=["a"]), plan(2, writes=["a"]))
    assert found[0] == "1 change, 1 to steps that write"
    assert found[2] == "~ input x  WRITES  used by a"


def test_long_values_that_differ_at_their_end_do_not_look_equal():
    found = lines(plan("y" * 300 + "1"), plan("y" * 300 + "2"))
    (value,) = [line for line in found if "value" in line]
    old, _, new = value.partition("value")[2].partition(" -> ")
    assert old.strip() != new.strip()
    assert old.strip().endswith('1"')


def test_a_field_that_is_new_in_a_step_says_so():
    found = lines(saved(step("a", timeout_s=3)), saved(step("a", retry={"attempts": 2})))
    assert "    timeout_s  removed 3" in found
    assert any(line.startswith("    retry      added {") for line in found)


@pytest.mark.parametrize("value", HOSTILE)
def test_no_value_drives_the_terminal_or_forges_a_line(value):
    found = lines(plan("x", settings={}), plan(value, settings={value: value}), verbose=True)
    assert all(not set(line) & set("\x1b\x07\x00\u202e\u2028\x85\n\r") for line in found)
    heads = [line for line in found if line[:2].strip() in ("+", "-", "~")]
    assert sorted(line.split()[1] for line in heads) == ["input", "setting"]


def test_an_input_with_the_name_of_a_field_keeps_the_label_of_that_field():
    reads = step("a", inputs={"x": "{{ input.value }}"})
    found = lines(saved(reads, inputs={"value": 8}), saved(reads, inputs={"value": 9}))
    assert "    value  8 -> 9" in found
