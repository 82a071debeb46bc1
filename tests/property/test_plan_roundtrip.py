"""Plans as text, and plans made by the planner (routing spec §6)."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pulsus.core.compose.plans import build_plan, module_source
from pulsus.core.compose.plans.dsl import plan_checks, plan_file, plan_mapping
from pulsus.core.types import Constant, OutputRef, ParamRef, Plan, PlanStep
from pulsus.errors import PlanInvalid, PlanUnwirable
from tests.compositions import arg, spec
from tests.example_counts import examples

TEXT = st.one_of(
    st.text(),
    st.text(alphabet="{}\\ input.x"),
    st.sampled_from(
        ["{{input.x}}", "{{steps.s1.outputs.o}}", "yes", "1_000", "1:30", "=", "<<", "~"]
    ),
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
NAME = st.from_regex(r"[a-z_é][a-z0-9_é]{0,5}", fullmatch=True).filter(
    lambda name: name not in plan_checks.RESERVED and plan_checks.is_plan_name(name)
)
STEP_ID = NAME.filter(str.isascii)

HINTS = ("str", "int", "float", "Path", "list[str]", "list[dict[str, Any]]", "dict[str, Any]", None)


@st.composite
def plans(draw):
    names = draw(st.lists(STEP_ID, min_size=1, max_size=4, unique=True))
    params = draw(st.lists(NAME, max_size=3, unique=True))
    steps: list[PlanStep] = []
    made: list[OutputRef] = []
    for number, step in enumerate(names):
        sources: list[st.SearchStrategy] = [JSON.map(Constant)]
        sources += [st.sampled_from(params).map(ParamRef)] if params else []
        sources += [st.sampled_from(made)] if made else []
        inputs = draw(st.dictionaries(NAME, st.one_of(sources), max_size=3))
        outputs = draw(st.dictionaries(NAME, TEXT, max_size=2))
        outputs = {f"{name}_{number}": key for name, key in outputs.items()}
        made += [OutputRef(step, name) for name in outputs]
        sha256 = draw(st.none() | st.just("ab" * 32))
        steps.append(PlanStep(step, f"d/a/{number}::run", inputs, outputs, sha256))
    values = [value for step in steps for value in step.inputs.values()]
    used = [name for name in params if ParamRef(name) in values]
    outputs = [ref.output for ref in made]
    returns = draw(st.lists(st.sampled_from(outputs), unique=True)) if outputs else []
    return Plan(draw(TEXT), tuple(steps), tuple(used), tuple(returns))


@st.composite
def catalogues(draw):
    tools = []
    for number in range(draw(st.integers(1, 5))):
        args = draw(
            st.dictionaries(NAME, st.tuples(st.sampled_from(HINTS), st.booleans()), max_size=3)
        )
        gives = draw(st.dictionaries(NAME, st.sampled_from(HINTS), max_size=3))
        kind = draw(st.sampled_from(["resolve", "read", "write"]))
        specs = [
            arg(n, hint, default=None if required else "1") for n, (hint, required) in args.items()
        ]
        tools.append(spec(f"d/a/t{number}", *specs, gives=gives, kind=kind))
    return tools


@pytest.mark.seconds
@settings(max_examples=examples(60), deadline=None)
@given(plans())
def test_a_rendered_plan_is_parsed_back_unchanged(value):
    assert plan_file.parse_yaml(plan_file.render_yaml(value)) == value
    assert plan_file.parse_json(plan_file.render_json(value)) == value
    assert plan_mapping.plan_from_dict(plan_mapping.plan_to_dict(value)) == value


@pytest.mark.seconds
@settings(max_examples=examples(100), deadline=None)
@given(catalogues(), st.text(max_size=30))
def test_every_composed_plan_is_valid_and_renders_the_same_twice(tools, description):
    try:
        made = build_plan.compose_plan(description, tools)
    except PlanUnwirable:
        return
    done: dict = {}
    for step in made.steps:
        for value in step.inputs.values():
            match value:
                case OutputRef(earlier, output):
                    assert output in done[earlier]
                case ParamRef(name):
                    assert name in made.params
                case _:
                    raise AssertionError("the planner makes references only")
        done[step.id] = step.outputs
    outputs = [name for names in done.values() for name in names]
    assert len(outputs) == len(set(outputs))
    assert set(made.returns) <= set(outputs)
    assert build_plan.compose_plan(description, tools) == made
    assert plan_file.render_yaml(made) == plan_file.render_yaml(
        build_plan.compose_plan(description, tools)
    )
    text = module_source.render_module(made, tools)
    assert text == module_source.render_module(made, list(reversed(tools)))
    assert module_source.read_plan(text.encode()) == made


@settings(max_examples=examples(100), deadline=None)
@given(st.text(max_size=200))
def test_text_that_is_no_plan_is_refused_without_a_crash(text):
    for parse in (plan_file.parse_yaml, plan_file.parse_json):
        with suppress(PlanInvalid):
            parse(text)


@settings(max_examples=examples(60), deadline=None)
@given(plans(), st.data())
def test_a_plan_with_a_replaced_value_is_parsed_or_refused_without_a_crash(value, data):
    tree: dict = plan_mapping.plan_to_dict(value)
    places = [(tree, key) for key in tree]
    for holder in (tree["plan"], tree["io"], *tree["plan"]["steps"]):
        places += [(holder, key) for key in holder]
    holder, key = data.draw(st.sampled_from(places))
    holder[key] = data.draw(JSON)
    with suppress(PlanInvalid):
        plan_file.parse_json(json.dumps(tree))
