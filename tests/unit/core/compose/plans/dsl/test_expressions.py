"""Expressions in plans: what they give, and what they may not do (docs/plans.md; ADR 43)."""

import time

import pytest

from pulsus.core.compose.plans.dsl.plan_values import (
    evaluate,
    parse_value,
    references,
    value_to_json,
)
from pulsus.core.types import (
    Constant,
    Expression,
    JsonValue,
    OutputRef,
    ParamRef,
    Structure,
    Template,
)
from pulsus.errors import PlanInvalid, PlanValueFailed

INPUTS: dict[str, JsonValue] = {
    "version": "10.1",
    "n": 3,
    "names": ["a", "b"],
    "keys": {"items": 1},
}
ROWS = OutputRef("s1", "rows")
OUTPUTS: dict[OutputRef, JsonValue] = {
    ROWS: [{"path": "/a", "size": 5}, {"path": "/b", "size": 50}]
}


def value_of(text, item=None):
    return evaluate(parse_value(text, "here"), INPUTS, OUTPUTS, item)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{ input.version }}", "10.1"),
        ("{{ input.version | trim }}", "10.1"),
        ("{{ input.n + 1 }}", 4),
        ("{{ input.n > 2 }}", True),
        ("{{ input.names | length }}", 2),
        ("{{ input.keys.items }}", 1),
        ("{{ steps.s1.outputs.rows[0].path }}", "/a"),
        (
            "{{ steps.s1.outputs.rows | selectattr('size', 'gt', 9) | list }}",
            [{"path": "/b", "size": 50}],
        ),
        ("{{ steps.s1.outputs.rows | map(attribute='path') }}", ["/a", "/b"]),
        ("{{ none }}", None),
        ("{{ [input.n, 1.5] }}", [3, 1.5]),
    ],
)
def test_one_expression_keeps_the_type_of_its_value(text, value):
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)


def test_a_text_that_looks_like_a_number_stays_text():
    """jinja2's NativeEnvironment would give the number 10.1."""
    assert value_of("{{ input.version ~ '' }}") == "10.1"
    assert value_of("v{{ input.version }}") == "v10.1"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{ input.n }}{{ input.n }}", "33"),
        ("at {{ input.n }}", "at 3"),
        ("{{ none }}|{{ true }}|{{ input.names }}", '|true|["a", "b"]'),
        ("{{ input.n }}\n", 3),
        (r"\{{ raw }} and {{ input.n }}", "{{ raw }} and 3"),
        ("{% if x %}{# c #}{{ input.n }}", "{% if x %}{# c #}3"),
    ],
)
def test_other_text_with_braces_renders_to_text(text, value):
    assert value_of(text) == value


def test_item_is_the_current_item():
    assert value_of("{{ item.path }}", {"path": "/x"}) == "/x"


def test_lists_and_mappings_hold_values():
    value = parse_value({"a": ["{{ input.n }}", "x"], "b": 1}, "here")
    assert isinstance(value, Structure)
    assert evaluate(value, INPUTS, OUTPUTS) == {"a": [3, "x"], "b": 1}
    assert list(references(value)) == [ParamRef("n")]
    assert parse_value(["x", {"y": 1}], "here") == Constant(["x", {"y": 1}])


@pytest.mark.parametrize(
    "text",
    [
        "{{ range(10) }}",
        "{{ input.version.upper() }}",
        "{{ ''.join(input.names) }}",
        "{{ lipsum }}",
        "{{ self }}",
        "{{ steps }}",
        "{{ steps.s1 }}",
        "{{ steps['s' ~ '1'].outputs.rows }}",
        "{{ input }}",
        "{{ '' | center(1000) }}",
        "{{ input.n | pprint }}",
        "{{ cycler }}",
        "{{ input.n",
        "{{ }}",
        "{{ 1 + }}",
        "{{ " + "(" * 900 + ")" * 900 + " }}",
        "{{ '" + "x" * 5000 + "' }}",
        "\x00{% for x in y %} {{ input.n }}",
    ],
)
def test_an_expression_that_could_do_more_than_read_values_is_refused(text):
    with pytest.raises(PlanInvalid) as caught:
        parse_value(text, "plan.steps[0].inputs.x")
    assert caught.value.message.startswith("plan.steps[0].inputs.x: ")
    assert caught.value.hint


@pytest.mark.parametrize("source", ["input.n = 0", "(input.n = 0) and true"])
def test_one_equals_sign_in_a_condition_is_not_refused_without_the_comparison(source):
    with pytest.raises(PlanInvalid) as caught:
        parse_value(f"{{{{ {source} }}}}", "plan.steps[0].when")
    assert caught.value.hint.startswith("compare with `==`: ")


def test_another_mistake_in_a_condition_is_not_answered_with_a_comparison():
    with pytest.raises(PlanInvalid) as caught:
        parse_value("{{ input.n == }}", "plan.steps[0].when")
    assert "==`" not in caught.value.hint


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("{{ input.n | lenght }}", "length"),
        ("{{ input.n is divisableby(2) }}", "divisibleby"),
        ("{{ input.n | pprint }}", None),
    ],
)
def test_a_misspelt_filter_is_not_named_without_the_right_one(text, near):
    with pytest.raises(PlanInvalid) as caught:
        parse_value(text, "plan.steps[0].inputs.x")
    assert (f"Did you mean {near!r}?" in caught.value.message) == (near is not None)
    assert ("Did you mean" in caught.value.message) == (near is not None)


@pytest.mark.parametrize(
    "text",
    [
        "{{ input.missing + 1 }}",
        "{{ input.version.__class__ }}",
        "{{ input.version['__class__'] }}",
        "{{ input.keys.keys }}",
        "{{ 'x' * 1000000000 }}",
        "{{ [1] * 1000000000 }}",
        "{{ '%999999999d' % 1 }}",
        "{{ 9 ** 1000 }}",
        "{{ input.n / 0 }}",
        "{{ {1: 2} }}",
        "{{ 1e308 * 10 }}",
        "{{ input.names | map('attr', '__class__') | list }}",
        "{{ input.names | map(attribute='__class__') | list | length > input.n.__init__ }}",
    ],
)
def test_a_value_that_cannot_be_computed_safely_is_an_error(text):
    try:
        value = parse_value(text, "here")
    except PlanInvalid:
        return
    with pytest.raises(PlanValueFailed) as caught:
        evaluate(value, INPUTS, OUTPUTS)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{{ input.n }}", ParamRef),
        (" {{steps.s1.outputs.rows}} ", OutputRef),
        ("{{ input.n + 1 }}", Expression),
        ("a {{ input.n }}", Template),
        (r"\{{ input.n }}", Constant),
        ("plain", Constant),
    ],
)
def test_a_value_is_written_as_it_was_read(text, kind):
    value = parse_value(text, "here")
    assert isinstance(value, kind)
    assert parse_value(value_to_json(value), "here") == value


MANY: dict[str, JsonValue] = {
    "text": "a" * 900_000,
    "quotes": '"' * 1_000,
    "many": list(range(30_000)),
    "lists": [[1], [2, 3]],
}


@pytest.mark.parametrize(
    "text",
    [
        "{{ input.text ~ input.text }}",
        "{{ input.text + input.text }}",
        "a {{ input.text }}{{ input.text }}",
        "{{ [input.text, input.text] | join }}",
        "{{ input.quotes | " + " | ".join(["tojson"] * 400) + " }}",
        "{{ input.many | map('string') | map('replace', '1', input.text) | list }}",
        "{{ input.many | select('in', input.many) | list }}",
        "{{ " + " * ".join(["1000000000 ** 64"] * 100) + " }}",
        "{{ " + " * ".join(["1000000000 ** 64"] * 250) + " }}",
        "{{ " + "(" * 1900 + "1" + ")" * 1900 + " }}",
        "{{ 'nan' | float }}",
        "{{ " + "9" * 3900 + " * 10 }}",
    ],
)
def test_an_expression_that_would_grow_or_run_for_minutes_is_an_error(text):
    started = time.monotonic()
    try:
        value = parse_value(text, "here")
    except PlanInvalid:
        return
    with pytest.raises(PlanValueFailed) as caught:
        evaluate(value, MANY, {})
    assert caught.value.hint
    assert time.monotonic() - started < 20


def test_lists_of_items_are_added_up_to_one_list():
    value = parse_value("{{ input.lists | sum(start=[]) }}", "here")
    assert evaluate(value, MANY, {}) == [1, 2, 3]


def test_a_null_that_is_joined_to_a_text_is_not_written_as_none():
    assert value_of("{{ 'n=' ~ input.n ~ none ~ input.names }}") == 'n=3["a", "b"]'
