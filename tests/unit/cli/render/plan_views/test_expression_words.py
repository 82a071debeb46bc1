"""A reviewer reads the conditions of a plan in words, and the words are exact."""

import pytest

from pulsus.cli.render.plan_views.expression_words import condition_words, value_words
from pulsus.core.compose.plans.dsl.plan_values import parse_value


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("input.force", "the input force is true, or neither 0 nor empty"),
        ("not input.force", "the input force is false, 0 or empty"),
        ("steps.a.outputs.rows | length > 0", "rows of a is not empty"),
        ("steps.a.outputs.rows | count == 0", "rows of a is empty"),
        ("steps.a.outputs.rows | length > 5", "the length of rows of a is more than 5"),
        ("steps.a.outputs.state == 'down'", 'state of a is "down"'),
        ("1 < input.n <= 5", "1 is less than the input n and the input n is at most 5"),
        (
            "input.a == 1 and (input.b == 2 or input.c is not defined)",
            "the input a is 1 and (the input b is 2 or the input c is not defined)",
        ),
        ("not (input.a == 1)", "not (the input a is 1)"),
        ("input.host in steps.a.outputs.hosts", "the input host is in hosts of a"),
        (
            "(steps.a.outputs.rows | first).path != '/'",
            'path of the first of rows of a is not "/"',
        ),
        (
            'steps.a.outputs.rows | sum("bytes") > 2 * input.n',
            'rows of a | sum("bytes") is more than 2 * the input n',
        ),
        ("steps.a.outputs.rows[:2] == []", "rows of a[:2] is []"),
    ],
)
def test_a_condition_is_shown_in_words(source, words):
    assert condition_words(source) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("{{ input.hosts }}", "the input hosts"),
        ("{{ steps.a.outputs.rows | sort }}", "rows of a | sort"),
        (["{{ input.a }}", "b"], '[the input a, "b"]'),
        ({"k": "/srv/{{ input.a }}"}, '{"k": "/srv/" + the input a}'),
        ("{{ [input.a, -input.b] if input.n > 1 else [] }}",
         "[the input a, -the input b] if the input n is more than 1, else []"),
        ("{{ (input.a + 1) * 2 }}", "(the input a + 1) * 2"),
        ("{{ {'k': item.name} }}", '{"k": name of the item}'),
    ],
)  # fmt: skip
def test_a_list_of_items_is_shown_in_words(value, words):
    assert value_words(parse_value(value, "for_each")) == words


def test_a_product_of_sums_keeps_its_parentheses_in_a_quotient():
    """The reader saw another number: only the first sum was divided by."""
    source = "input.x / ((input.a + input.b) * (input.c + input.d))"
    sums = "(the input a + the input b) * (the input c + the input d)"
    assert value_words(parse_value(f"{{{{ {source} }}}}", "x")) == f"the input x / ({sums})"
