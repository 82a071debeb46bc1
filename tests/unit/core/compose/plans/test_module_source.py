"""Plans as modules, and back (routing spec §6; docs/tool-contract.md)."""

import ast
import subprocess
import sys
from dataclasses import replace
from textwrap import dedent

import pytest

from pulsus.core.compose.plans import build_plan, module_source
from pulsus.core.types import (
    Constant,
    Effects,
    Example,
    InlineFile,
    JsonValue,
    ParamRef,
    Plan,
    PlanStep,
)
from pulsus.errors import PlanInvalid
from tests.compositions import ROWS, arg, module, spec

HEAD = "import pulsus.steps\n"
LIST = spec(
    "storage/usage/biggest",
    "folder",
    arg("limit", "int", default="10"),
    gives={"rows": ROWS},
    effects=Effects(paths=("the given folder",)),
    secrets=("TOKEN",),
    side_effects="none",
    examples=(
        Example(
            {"folder": "/tmp/data"},
            (InlineFile('/tmp/data/a "b".txt', b"1\n\t2"), InlineFile("/tmp/data/c", b"\xff", 9.0)),
            {"rows": [{"path": "/tmp/data/c", "size": 1}]},
            True,
        ),
    ),
)
SORT = spec(
    "shared/sort/top",
    arg("rows", ROWS),
    "by",
    gives={"rows": ROWS},
    effects=Effects(),
    side_effects="none",
    examples=(Example({"rows": [{"n": 1, "t": "x"}], "by": "n"}, (), {"rows": [{"n": 1}]}, True),),
)
PLOT = spec(
    "analysis/plot/plot",
    arg("rows", ROWS),
    arg("target", "Path | None"),
    gives={"figure": "str"},
    kind="write",
    effects=Effects(commands=("dot",)),
    side_effects="Writes a picture.",
    examples=(Example({"rows": [], "target": "/tmp/x.png"}),),
)


def composed(*tools, description="List the biggest files, then plot them"):
    return module_source.render_module(build_plan.compose_plan(description, tools), tools)


def read_back(text, tool_id="a/b/c"):
    tool, _ = module(tool_id, text)
    assert not tool.contract_errors
    assert not tool.missing_sections
    return tool


def test_the_module_calls_its_steps_in_order_and_returns_the_outputs_of_the_plan():
    tree = ast.parse(composed(LIST, PLOT))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert [function.name for function in functions] == ["run"]
    text = ast.unparse(functions[0])
    assert text == dedent(
        """\
        def run(folder: str, target: Path | None) -> dict[str, Any]:
            s1 = pulsus.steps.call('storage/usage/biggest', folder=folder)
            s2 = pulsus.steps.call('analysis/plot/plot', rows=pulsus.steps.output(s1, 'rows', \
step='s1'), target=target)
            return {'figure': pulsus.steps.output(s2, 'figure', step='s2')}"""
    )


def test_a_composed_module_keeps_the_tool_contract():
    tool = read_back(composed(LIST, SORT, PLOT))
    assert tool.summary == "List the biggest files, then plot them."
    assert [(a.name, a.type_hint, a.required) for a in tool.args] == [
        ("folder", "str", True),
        ("by", "str", True),
        ("target", "Path | None", True),
    ]
    assert [(out.name, out.type_hint) for out in tool.returns] == [("figure", "str")]
    assert tool.kind == "write"
    assert tool.kind_declared
    assert tool.effects == Effects(paths=("the given folder",), commands=("dot",))
    assert tool.secrets == ("TOKEN",)
    assert tool.side_effects == "s3 (analysis/plot/plot): Writes a picture."


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (("resolve", "resolve"), "resolve"),
        (("read", "resolve"), "read"),
        (("write", "read"), "write"),
    ],
)
def test_the_kind_is_the_strongest_kind_of_the_steps(kinds, expected):
    tools = [spec(f"a/b/t{n}", gives={"x": "int"}, kind=kind) for n, kind in enumerate(kinds)]
    assert module("a/b/c", composed(*tools))[0].kind == expected


def test_effects_are_left_out_if_a_step_declares_none():
    tool = spec("a/b/silent", gives={"x": "int"}, effects=None)
    assert module("a/b/c", composed(LIST, tool))[0].effects is None


def test_the_example_combines_the_steps_examples_with_their_files():
    (example,) = read_back(composed(LIST, PLOT)).examples
    assert example.inputs == {"folder": "/tmp/data", "target": "/tmp/x.png"}
    assert {(f.path, f.content, f.age_s) for f in example.files} == {
        ('/tmp/data/a "b".txt', b"1\n\t2", None),
        ("/tmp/data/c", b"\xff", 9.0),
    }
    assert not example.has_expected


def test_the_example_names_a_field_of_the_rows_that_the_step_gets():
    (example,) = read_back(composed(LIST, SORT)).examples
    assert example.inputs["by"] == "size"


def test_a_result_is_expected_only_if_the_steps_examples_prove_it():
    (example,) = read_back(composed(LIST)).examples
    assert example.expected == {"rows": [{"path": "/tmp/data/c", "size": 1}]}
    rows: JsonValue = [{"path": "/tmp/data/c", "size": 1}]
    table = spec(
        "shared/report/table",
        arg("rows", ROWS),
        gives={"text": "str"},
        examples=(Example({"rows": rows}, (), {"text": "one"}, True),),
    )
    assert read_back(composed(LIST, replace(table, effects=Effects()))).examples[0].expected == {
        "text": "one"
    }
    other = replace(table, examples=(Example({"rows": []}, (), {"text": "none"}, True),))
    assert not module("a/b/c", composed(LIST, other))[0].examples[0].has_expected


def test_a_step_without_an_example_gives_the_module_none():
    bare = replace(LIST, examples=())
    assert not module("a/b/c", composed(bare, PLOT))[0].examples


def test_only_a_step_without_input_from_another_step_sets_options_in_the_example():
    disks = spec(
        "storage/usage/disks",
        arg("saved", default="''"),
        gives={"rows": ROWS},
        examples=(
            Example(
                {"saved": "/tmp/df"},
                (InlineFile("/tmp/df", b"x"),),
                {"rows": [{"full": 1}]},
                True,
            ),
        ),
    )
    table = spec(
        "shared/report/table",
        arg("rows", ROWS),
        arg("columns", "list[str] | None", default="None"),
        gives={"text": "str"},
        examples=(Example({"rows": [{"n": 1}], "columns": ["n"]}),),
    )
    source = composed(disks, table)
    assert 'def run(saved: str = "", columns: list[str] | None = None)' in source
    (example,) = module("a/b/c", source)[0].examples
    assert example.inputs == {"saved": "/tmp/df"}
    assert [file.path for file in example.files] == ["/tmp/df"]


def test_a_shared_input_of_the_example_comes_from_the_step_that_reads_a_file():
    lint = spec("config/lint/lint", "path", gives={"rows": ROWS})
    lint = replace(
        lint, examples=(Example({"path": "/tmp/etc"}, (InlineFile("/tmp/etc/a", b""),)),)
    )
    convert = spec("data/convert/doc", "path", gives={"text": "str"})
    file = InlineFile("/tmp/app.toml", b"a = 1")
    convert = replace(convert, examples=(Example({"path": file.path}, (file,)),))
    (example,) = module("a/b/c", composed(lint, convert))[0].examples
    assert example.inputs == {"path": "/tmp/app.toml"}


HOSTILE = [
    'ends with a quote"',
    'triple """ + __import__("os").system("id") + """',
    "back\\slash \\",
    "Kind: read",
    "Examples:\n- inputs: {}",
    "line\nKind: resolve\n\nSecrets: none",
    "bell \x07, escape \x1b[31m, override \u202e, nul \x00",
    "braces {{input.folder}}",
    "é 漢字 🜲",
    "",
    "x" * 5000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_request_text_cannot_inject_code_or_contract_sections(text):
    source = composed(LIST, PLOT, description=text)
    tool = read_back(source)
    assert (tool.kind, tool.secrets, len(tool.examples)) == ("write", ("TOKEN",), 1)
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    assert "__import__" not in names
    plan = module_source.read_plan(source.encode())
    assert plan is not None
    assert plan.description == " ".join(text.split())
    assert source.replace("\n", "").isprintable()


def test_constants_and_unusual_names_survive_rendering():
    tool = spec("a/b/c", arg("class"), arg("data", "Any"), gives={"class": "str"})
    value: JsonValue = {"a": ['quote "', "{{x}}", None, True, 1.5], "long": "y" * 120}
    step = PlanStep(
        "s1",
        "a/b/c",
        {"class": ParamRef("s1"), "data": Constant(value)},
        {"out": "class"},
        tool.sha256,
    )
    plan = Plan("", (step,), ("s1",), ("out",))
    source = module_source.render_module(plan, [tool])
    assert module_source.read_plan(source.encode()) == plan
    call = next(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    data = next(word.value for word in call.keywords if word.arg == "data")
    assert ast.literal_eval(data) == value
    assert '**{"class": s1}' in source
    assert "def run(s1: str)" in source


def test_a_step_with_an_unused_result_is_still_called():
    quiet = spec("a/b/quiet", gives={"x": "int"})
    last = spec("a/b/last", gives={"y": "int"})
    steps = (
        PlanStep("s1", quiet.id, {}, {}, quiet.sha256),
        PlanStep("s2", last.id, {}, {"y": "y"}, last.sha256),
    )
    source = module_source.render_module(Plan("", steps, (), ("y",)), [quiet, last])
    assert '    pulsus.steps.call("a/b/quiet")\n' in source


def test_an_optional_parameter_of_the_module_keeps_its_default():
    step = PlanStep(
        "s1",
        LIST.id,
        {"folder": ParamRef("folder"), "limit": ParamRef("limit")},
        {"rows": "rows"},
        LIST.sha256,
    )
    source = module_source.render_module(Plan("", (step,), ("limit", "folder"), ("rows",)), [LIST])
    assert "def run(folder: str, limit: int = 10) -> dict[str, Any]:" in source


def test_a_step_with_a_missing_tool_or_other_bytes_is_not_rendered():
    plan = build_plan.compose_plan("", [LIST])
    with pytest.raises(PlanInvalid, match="missing in the given tools"):
        module_source.render_module(plan, [])
    with pytest.raises(PlanInvalid, match="not pinned"):
        module_source.render_module(plan, [replace(LIST, sha256="0" * 64)])


@pytest.mark.parametrize(
    "text",
    [
        "PLAN = 1\n",
        "import json\nPLAN = {}\n",
        HEAD,
        "def run(:\n",
    ],
)
def test_a_module_that_is_not_composed_has_no_plan(text):
    assert module_source.read_plan(text.encode()) is None


def test_a_syntax_warning_of_the_module_does_not_hide_its_plan():
    text = composed(LIST, PLOT) + 'X = "\\d"\n'
    assert module_source.read_plan(text.encode()) == build_plan.compose_plan(
        "List the biggest files, then plot them", [LIST, PLOT]
    )


@pytest.mark.parametrize(
    "text",
    [
        "PLAN = {}\n",
        "PLAN = dict(plan=1)\n",
        "PLAN = open('/etc/passwd').read()\n",
        "PLAN = {}\nPLAN = {}\n",
        "PLAN = {**{}}\n",
        "PLAN = {'plan': {'steps': [{'id': 's1', 'tool': 'a/b/c', 'inputs': {'x': {1}}}]}}\n",
        "PLAN = {'plan': {'steps': [{'id': 's1', 'tool': 'a/b/c', 'inputs': {'x': b'1'}}]}}\n",
    ],
)
def test_a_tampered_plan_in_a_module_is_refused(text):
    with pytest.raises(PlanInvalid):
        module_source.read_plan((HEAD + text).encode())


def test_a_module_file_is_named_after_its_route():
    assert module_source.name_module_file("route-1a2b3c4d") == "route_1a2b3c4d.py"
    for bad in ("route-1a2b3c4", "route-../../../", "run-1a2b3c4d"):
        with pytest.raises(ValueError, match="not a route id"):
            module_source.name_module_file(bad)


@pytest.mark.seconds
def test_ruff_and_mypy_accept_a_rendered_module_unchanged(tmp_path):
    tools = [
        LIST,
        SORT,
        PLOT,
        spec("a/b/odd", arg("mode", "Literal['a']"), arg("df", "pd.DataFrame")),
    ]
    plain = [composed(*tools), composed(LIST), composed(spec("a/b/none"))]
    plain.append(composed(LIST, PLOT, description="both \"kinds\" of 'quotes'"))
    for number, source in enumerate(plain):
        (tmp_path / f"route_{number}.py").write_text(source, encoding="utf-8")
    for command in (
        ("ruff", "check", "--isolated"),
        ("ruff", "format", "--isolated", "--check", "--line-length=100"),
        ("mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}"),
    ):
        files = sorted(map(str, tmp_path.glob("route_*.py")))
        done = subprocess.run(
            [sys.executable, "-m", *command, *files], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
