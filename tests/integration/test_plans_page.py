"""docs/plans.md: valid plans, expressions that give what the page says, and every key."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from pulsus.core.compose.plans.dsl import control_checks, expression_filters, expressions, plan_file
from pulsus.core.compose.plans.dsl.plan_mapping import STEP_KEYS
from pulsus.core.compose.plans.dsl.plan_values import evaluate, parse_value
from pulsus.core.compose.saved_plans import saved_plan_mapping
from pulsus.core.types import JsonValue, OutputRef

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/plans.md").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "docs/schemas/plan-file.json").read_text(encoding="utf-8"))
PLANS = re.findall(r"```yaml\n(plan:.*?)```", PAGE, re.DOTALL)
EXAMPLES = re.findall(r"^\| `(.+?)` \| `(.+)` \|$", PAGE.partition("<!-- examples -->")[2], re.M)
INPUTS: dict[str, JsonValue] = {"version": "10.1", "n": 3, "names": ["b", "a"], "options": {}}
ROWS: list[JsonValue] = [{"path": "/x", "bytes": 5}, {"path": "/y", "bytes": 7}]


@pytest.mark.parametrize("text", PLANS)
def test_a_plan_on_the_page_is_valid(text):
    plan_file.parse_yaml(text)
    Draft202012Validator(SCHEMA).validate(plan_file.read_yaml(text))


def test_the_page_has_plans_and_examples():
    assert len(PLANS) >= 1
    assert len(EXAMPLES) >= 12


@pytest.mark.parametrize(("value", "result"), EXAMPLES)
def test_an_expression_gives_what_the_page_says(value, result):
    written = parse_value(value.replace("\\|", "|"), "here")
    found = evaluate(written, INPUTS, {OutputRef("s1", "rows"): ROWS})
    expected = json.loads(result)
    assert (found, type(found)) == (expected, type(expected))


def test_the_page_names_each_key_filter_and_limit():
    keys = STEP_KEYS | saved_plan_mapping._KEYS
    assert [key for key in keys if not re.search(rf"`(?:plan\.|io\.)?{key}\b|`{key}", PAGE)] == []
    listed = re.search(r"these filters:\n`([^`]+)`", PAGE)
    assert listed is not None
    assert sorted(listed[1].split()) == sorted(expressions._environment().filters)
    limits = (control_checks.MAX_ITEMS, int(control_checks.MAX_TIMEOUT_S), expressions.MAX_SOURCE)
    for limit in (*limits, int(control_checks.MAX_DELAY_S), expression_filters.MAX_RESULT):
        assert f"{limit:,}" in PAGE
