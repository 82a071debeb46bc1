"""A tool as one line of a prompt: its parameters, types and allowed values."""

from pulsus.agent.model.json_model import JsonModel
from pulsus.agent.model.tool_prompt_line import tool_prompt_line
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import ToolDescriptor


def tool(**properties):
    schema = {"type": "object", "properties": properties, "required": ["path"]}
    return ToolDescriptor("tail", "Show the end\nof a file.", schema, kind="read")


def test_a_parameter_that_may_be_left_out_has_a_mark():
    made = tool(path={"type": "string"}, lines={"type": "integer", "minimum": 1})
    assert tool_prompt_line(made) == (
        "tail(path: string, lines?: integer): Show the end of a file."
    )


def test_every_form_of_a_type_is_shown():
    made = tool(
        path={"enum": ["a", "b c", 3]},
        one={"const": "x"},
        rows={"type": "array", "items": {"type": "string"}},
        either={"anyOf": [{"type": "string"}, {"type": "null"}]},
        two={"type": ["string", "null"]},
        inner={"type": "object", "properties": {"n": {"type": "number"}}},
        free={},
    )
    assert (
        tool_prompt_line(made)
        .partition(":  ")[0]
        .startswith(
            'tail(path: a|"b c"|3, one?: x, rows?: [string], either?: string|null, '
            "two?: string|null, inner?: {n?: number}, free?: any): "
        )
    )


def test_the_name_and_every_parameter_of_a_built_in_tool_are_in_its_line():
    for made in built_in_tools().values():
        line = tool_prompt_line(made)
        assert line.startswith(f"{made.name}(")
        assert "\n" not in line
        shown = set(made.parameters["properties"]) - {"target_host"}
        assert all(f"{name}" in line for name in shown)


def test_the_parameters_that_an_action_needs_are_named():
    line = tool_prompt_line(built_in_tools()["pulsus_read"])
    assert line.endswith("shows a log. Needs exec: command; file|find|tail: path.")


def test_the_prompt_has_one_line_for_each_tool():
    tools = tuple(built_in_tools().values())
    model = JsonModel(None, temperature=0.0, max_tokens=1, context_tokens=1)  # type: ignore[arg-type]
    lines = model.system_prompt(tools, "Host: web01").splitlines()
    assert [line for line in lines if line in map(tool_prompt_line, tools)] == [
        tool_prompt_line(one) for one in tools
    ]
