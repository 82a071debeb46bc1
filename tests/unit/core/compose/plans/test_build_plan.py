"""Tools become a plan: outputs feed inputs, and the rest are parameters (routing spec §6)."""

import pytest

from pulsus.core.compose.plans import build_plan
from pulsus.core.compose.plans.dsl.plan_mapping import plan_from_dict
from pulsus.core.types import Example, OutputRef, ParamRef
from pulsus.errors import PlanInvalid, PlanUnwirable
from tests.compositions import ROWS, arg, spec

BIG = spec("storage/usage/biggest", "folder", gives={"rows": ROWS, "total": "int"})
TABLE = spec("shared/report/table", arg("rows", ROWS), gives={"markdown": "str"})
SAVE = spec(
    "shared/save/save",
    arg("markdown", f"str | {ROWS}"),
    "path",
    gives={"path": "str"},
    kind="write",
)


def test_inputs_without_an_earlier_output_of_their_name_become_parameters():
    plan = build_plan.compose_plan("big files as a table", [BIG, TABLE])
    first, second = plan.steps
    assert first.inputs == {"folder": ParamRef("folder")}
    assert second.inputs == {"rows": OutputRef("s1", "rows")}
    assert (plan.params, plan.returns) == (("folder",), ("markdown",))


def test_every_step_is_pinned_for_domain_tools_and_shared_tools():
    plan = build_plan.compose_plan("", [BIG, TABLE])
    assert [step.tool for step in plan.steps] == ["storage/usage/biggest", "shared/report/table"]
    assert [step.sha256 for step in plan.steps] == [BIG.sha256, TABLE.sha256]


def test_the_output_of_the_nearest_earlier_step_is_used():
    sort = spec("shared/sort/top", arg("rows", ROWS), gives={"rows": ROWS})
    plan = build_plan.compose_plan("", [BIG, sort, TABLE])
    assert plan.steps[2].inputs == {"rows": OutputRef("s2", "rows")}


def test_a_nearer_output_of_a_wrong_type_does_not_hide_a_fitting_one():
    count = spec("shared/count/rows", arg("rows", ROWS), gives={"rows": "int"})
    plan = build_plan.compose_plan("", [BIG, count, TABLE])
    assert plan.steps[2].inputs == {"rows": OutputRef("s1", "s1_rows")}


def test_a_container_is_connected_by_type_if_no_name_matches():
    scan = spec("net/scan/ports", gives={"found": ROWS, "host": "str"})
    plan = build_plan.compose_plan("", [scan, TABLE])
    assert plan.steps[1].inputs == {"rows": OutputRef("s1", "found")}


def test_rows_is_used_if_a_step_has_several_outputs_of_one_type():
    two = spec("a/b/two", gives={"unreadable": ROWS, "rows": ROWS})
    assert build_plan.compose_plan("", [two, SAVE]).steps[1].inputs["markdown"] == OutputRef(
        "s1", "rows"
    )


def test_no_output_is_guessed_if_several_have_the_same_type():
    two = spec("a/b/two", gives={"left": ROWS, "right": ROWS})
    assert build_plan.compose_plan("", [two, TABLE]).params == ("rows",)


def test_the_text_of_the_nearest_step_is_saved_before_older_rows():
    convert = spec("data/convert/doc", "source", gives={"text": "str", "to": "str"})
    plan = build_plan.compose_plan("", [BIG, convert, SAVE])
    assert plan.steps[2].inputs["markdown"] == OutputRef("s2", "text")
    assert build_plan.compose_plan("", [BIG, convert, TABLE]).steps[2].inputs == {
        "rows": OutputRef("s1", "rows")
    }


def test_a_scalar_is_never_connected_by_its_type_alone():
    need = spec("a/b/need", "host")
    assert build_plan.compose_plan("", [SAVE, need]).steps[1].inputs == {"host": ParamRef("host")}


def test_an_optional_scalar_keeps_its_default():
    lists = spec("a/b/list", arg("path", default="''"), gives={"rows": ROWS})
    assert build_plan.compose_plan("", [SAVE, lists]).steps[1].inputs == {}


CERT = spec(
    "web/tls/expiry",
    arg("host", default="''"),
    arg("file", default="''"),
    arg("path", default="''"),
    arg("limit", "int", default="LIMIT"),
    gives={"rows": ROWS},
    examples=(Example({"file": "/tmp/a.pem", "limit": 1}), Example({"host": "h"})),
)


def test_an_optional_input_that_examples_set_becomes_an_optional_parameter():
    plan = build_plan.compose_plan("", [CERT, TABLE])
    assert plan.steps[0].inputs == {"host": ParamRef("host"), "file": ParamRef("file")}
    params = build_plan.list_parameters(plan, [CERT, TABLE])
    assert [(p.name, p.required, p.default) for p in params] == [
        ("host", False, "''"),
        ("file", False, "''"),
    ]


def test_optional_parameters_are_not_shared_and_leave_the_plain_names_to_required_ones():
    other = spec("a/b/read", "file", gives={"x": "int"})
    plan = build_plan.compose_plan("", [CERT, other, CERT])
    assert plan.params == ("file", "host", "s1_file", "s3_host", "s3_file")
    assert plan.steps[1].inputs == {"file": ParamRef("file")}


def test_all_steps_share_one_dry_run_parameter():
    def write(name, default):
        return spec(f"a/b/{name}", arg("dry_run", "bool", default=default), kind="write")

    tools = [write("one", "True"), write("two", "True")]
    plan = build_plan.compose_plan("", tools)
    assert plan.params == ("dry_run",)
    assert not build_plan.list_parameters(plan, tools)[0].required
    tools = [write("one", "True"), write("two", "False")]
    (param,) = build_plan.list_parameters(build_plan.compose_plan("", tools), tools)
    assert param.required, "with different defaults the caller must say which is meant"


def test_two_steps_with_the_same_required_input_share_a_parameter():
    other = spec("storage/age/stale", arg("folder", "Path"), gives={"old": ROWS})
    plan = build_plan.compose_plan("", [BIG, other])
    assert plan.params == ("folder",)


def test_a_parameter_of_another_type_is_prefixed_with_its_step():
    other = spec("storage/age/stale", arg("folder", "int"), gives={"old": ROWS})
    plan = build_plan.compose_plan("", [BIG, other])
    assert plan.params == ("folder", "s2_folder")


def test_a_report_never_overwrites_the_file_it_describes():
    digest = spec("shared/hash/file", "path", gives={"path": "str", "rows": ROWS})
    plan = build_plan.compose_plan("", [digest, SAVE])
    assert plan.steps[1].inputs["path"] == ParamRef("s2_path")
    assert plan.params == ("path", "s2_path")


def test_unused_outputs_are_returned_and_the_last_step_keeps_its_names():
    plan = build_plan.compose_plan("", [BIG, spec("a/b/c", gives={"rows": ROWS}), TABLE])
    assert plan.steps[0].outputs == {"s1_rows": "rows", "total": "total"}
    assert plan.returns == ("s1_rows", "total", "markdown")


def test_a_tool_without_declared_outputs_has_the_output_result():
    plain = spec("a/b/plain", return_hint="list[str]")
    use = spec("a/b/use", arg("result", "list[str]"))
    plan = build_plan.compose_plan("", [plain, use])
    assert plan.steps[1].inputs == {"result": OutputRef("s1", "s1_result")}


def test_an_output_key_that_is_no_identifier_gets_a_valid_name():
    odd = spec("a/b/odd", gives={"load-1m": "float", "5m": "float"})
    plan = build_plan.compose_plan("", [odd])
    assert plan.steps[0].outputs == {"load_1m": "load-1m", "_5m": "5m"}


def test_a_parameter_never_has_the_name_of_a_keyword():
    assert build_plan.compose_plan("", [spec("a/b/c", "from")]).params == ("from_",)


def test_a_plan_that_cannot_be_connected_names_the_missing_input():
    text = spec("a/b/text", gives={"rows": "str"})
    with pytest.raises(PlanUnwirable) as caught:
        build_plan.compose_plan("", [text, TABLE])
    message = str(caught.value)
    assert "s2" in message
    assert "'rows'" in message
    assert "str, which does not fit list[dict[str, Any]]" in message
    assert caught.value.details["input"] == "rows"


@pytest.mark.parametrize("tools", [[], [BIG] * 9], ids=["none", "too many"])
def test_a_plan_with_no_step_or_more_than_the_limit_is_refused(tools):
    with pytest.raises(PlanInvalid):
        build_plan.compose_plan("", tools, max_steps=8)


def test_parameters_carry_the_hint_and_description_of_their_step():
    plan = build_plan.compose_plan("", [BIG, TABLE])
    (folder,) = build_plan.list_parameters(plan, [BIG, TABLE])
    assert (folder.name, folder.type_hint, folder.required) == ("folder", "str", True)


def test_a_parameter_that_only_an_expression_reads_has_no_type():
    steps = [{"id": "s", "tool": BIG.id, "inputs": {"folder": "/tmp/{{ input.name }}"}}]
    plan = plan_from_dict({"plan": {"steps": steps}, "io": {"params": ["name"]}})
    (name,) = build_plan.list_parameters(plan, [BIG])
    assert (name.name, name.type_hint, name.required) == ("name", None, True)


RENEW = spec("web/tls/renew", "path", "key", gives={"path": "str"}, kind="write")
EDIT = spec("config/edit/set_line", "path", "key", gives={"path": "str"}, kind="write")


def test_the_file_of_one_change_does_not_become_that_of_the_next():
    plan = build_plan.compose_plan("", [RENEW, EDIT])
    first, second = plan.steps
    assert first.inputs == {"path": ParamRef("path"), "key": ParamRef("key")}
    assert second.inputs == {"path": ParamRef("s2_path"), "key": ParamRef("s2_key")}


def test_a_change_does_not_take_its_target_from_the_output_of_a_read():
    find = spec("config/find/find", "name", gives={"path": "str"})
    assert build_plan.compose_plan("", [find, EDIT]).steps[1].inputs["path"] == ParamRef("path")
