"""Plans as YAML and JSON text (routing spec §6)."""

import json

import pytest

from pulsus.core.compose.plans.dsl import plan_file, plan_mapping
from pulsus.core.types import Constant, OutputRef, ParamRef, Plan, PlanStep
from pulsus.errors import PlanInvalid

SPEC = """
plan:
  description: "Summarize a matrix then plot it"
  steps:
    - id: s1
      tool: summarize_matrix.py::run
      inputs: { df: "{{input.df}}" }
      outputs: { summary: "summary" }
    - id: s2
      tool: plot_matrix.py::run
      inputs: { summary: "{{steps.s1.outputs.summary}}" }
      outputs: { figure_path: "figure_path" }
io:
  params: ["df"]
  returns: ["figure_path"]
"""


def one_step(**inputs):
    params = tuple(value.name for value in inputs.values() if isinstance(value, ParamRef))
    return Plan("", (PlanStep("s1", "a/b/c", inputs, {"rows": "rows"}),), params, ("rows",))


def refusal(text, parse=plan_file.parse_yaml):
    with pytest.raises(PlanInvalid) as caught:
        parse(text)
    assert caught.value.hint
    return str(caught.value)


def test_the_plan_of_the_specification_is_parsed_and_rendered_again():
    read = plan_file.parse_yaml(SPEC)
    assert read.steps[0] == PlanStep(
        "s1", "summarize_matrix.py::run", {"df": ParamRef("df")}, {"summary": "summary"}
    )
    assert read.steps[1].inputs == {"summary": OutputRef("s1", "summary")}
    assert (read.params, read.returns) == (("df",), ("figure_path",))
    assert plan_file.parse_yaml(plan_file.render_yaml(read)) == read
    assert plan_file.parse_json(plan_file.render_json(read)) == read


@pytest.mark.parametrize(
    "value",
    [
        "{{input.df}}",
        "{{steps.s1.outputs.rows}}",
        r"\{{input.df}}",
        "docker ps --format {{.Names}}",
        "{{{{",
        "yes",
        "1e3",
        "0123456789",
        "0o17",
        "-",
        "0x10",
        "2024-01-01",
        "null",
        "",
        " padded ",
        "tab\tline\nend",
        "\x00\x85\u2028\ufeff🜲",
        10**40,
        {"{{input.df}}": ["{{input.df}}", None, True, 1.5]},
    ],
    ids=str,
)
def test_a_constant_never_becomes_a_reference_or_another_type(value):
    written = one_step(x=Constant(value))
    assert plan_file.parse_yaml(plan_file.render_yaml(written)) == written
    assert plan_file.parse_json(plan_file.render_json(written)) == written


def test_the_hash_of_a_step_survives_yaml():
    pinned = Plan("", (PlanStep("s1", "a/b/c", {}, {}, "0" * 64),))
    assert plan_file.parse_yaml(plan_file.render_yaml(pinned)) == pinned


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("{{input.df}}", "{{input.dg}}", "plan.steps[0].inputs.df"),
        ("{{input.df}}", "x {{input.df", "plan.steps[0].inputs.df"),
        ("{{input.df}}", "{{ steps.s2.outputs.figure_path }}", "plan.steps[0].inputs.df"),
        ("steps.s1.outputs.summary", "steps.s3.outputs.summary", "plan.steps[1].inputs.summary"),
        ("steps.s1.outputs.summary", "steps.s2.outputs.summary", "plan.steps[1].inputs.summary"),
        ("steps.s1.outputs.summary", "steps.s1.outputs.rows", "plan.steps[1].inputs.summary"),
        ("id: s2", "id: s1", "plan.steps[1].id"),
        ("id: s2", "id: 2", "plan.steps[1].id"),
        ("id: s2", "id: a-b", "plan.steps[1].id"),
        ("id: s2", "id: class", "plan.steps[1].id"),
        ("tool: plot_matrix.py::run", "tool: ../../etc/passwd", "plan.steps[1].tool"),
        ("tool: plot_matrix.py::run", "tol: plot_matrix", "plan.steps[1].tol"),
        ("tool: plot_matrix.py::run", "sha256: abc", "plan.steps[1]"),
        ('params: ["df"]', 'params: ["df", "more"]', "io.params[1]"),
        ('params: ["df"]', 'params: ["df", "df"]', "io.params[1]"),
        ('params: ["df"]', "params: df", "io.params"),
        ('returns: ["figure_path"]', 'returns: ["figure"]', "io.returns[0]"),
        ("outputs: { figure_path:", "outputs: { a-b:", "plan.steps[1].outputs"),
        ("io:", "oi:", "oi"),
    ],
)
def test_an_invalid_plan_is_refused_with_the_place(old, new, place):
    assert old in SPEC
    assert f"{place}:" in refusal(SPEC.replace(old, new))


def test_an_output_name_of_two_steps_cannot_be_returned():
    text = SPEC.replace("figure_path: ", "summary: ").replace('["figure_path"]', '["summary"]')
    assert "s1 and s2 both give it" in refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "plan: &a {steps: []}",
        "a: &a [x, x]\nb: &b [*a, *a]\nplan: *b",
        "plan: [",
        "plan: !!python/object/apply:os.system [id]",
        "plan: 1\nplan: 2",
        "[]",
        "",
        "\x00",
        "[" * 5000,
        "plan: {1: 2}",
        "plan: {steps: .nan}",
        "plan: {steps: []}",
        "plan: {steps: [{id: s1, tool: t, inputs: {x: " + "9" * 5000 + "}}]}",
    ],
    ids=lambda text: text[:20],
)
def test_hostile_yaml_is_refused_and_runs_no_code(text):
    refusal(text)


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"plan": 1, "plan": 2}', '{"plan": NaN}', "[" * 100_000, '"x"'],
    ids=lambda text: text[:20],
)
def test_hostile_json_is_refused(text):
    refusal(text, plan_file.parse_json)


def test_a_plan_file_above_the_size_limit_is_not_parsed():
    assert "longer than" in refusal("#" * (plan_file.MAX_CHARS + 1))


def test_half_a_surrogate_pair_in_a_plan_is_refused():
    data = plan_mapping.plan_to_dict(one_step(x=Constant("ok")))
    text = json.dumps(data).replace('"ok"', r'"\ud800"')
    assert "surrogate" in refusal(text, plan_file.parse_json)


def test_a_constant_nested_too_deep_is_refused():
    deep = json.dumps(plan_mapping.plan_to_dict(one_step(x=Constant("ok")))).replace(
        '"ok"', "[" * 200 + "]" * 200
    )
    assert "nested deeper" in refusal(deep, plan_file.parse_json)


def test_a_plan_with_too_many_steps_is_refused():
    steps = tuple(PlanStep(f"s{n}", "a/b/c", {}, {}) for n in range(51))
    text = plan_file.render_json(Plan("", steps))
    assert "more than 50 steps" in refusal(text, plan_file.parse_json)


def test_all_digests_of_a_plan_are_quoted_not_only_some():
    lines = plan_file.dump_yaml({"a": "a" * 64, "b": "1" * 64, "c": "abc"}).splitlines()
    assert lines == [f'a: "{"a" * 64}"', f'b: "{"1" * 64}"', "c: abc"]
