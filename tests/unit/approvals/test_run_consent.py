"""A call of a writing tool with `dry_run` only tries, also in a composition."""

from dataclasses import replace

import pytest

from pulsus.approvals.approver_protocol import WriteRun
from pulsus.approvals.run_consent import RunApproval, input_options, is_dry_run_call
from pulsus.core.compose.plans.module_source import render_module
from pulsus.core.types import Constant, JsonValue, OutputRef, ParamRef, Plan, PlanStep
from pulsus.errors import ApprovalNeeded
from pulsus.execution.parse_inputs import parse_inputs
from tests.compositions import arg, spec

READ = spec("shared/report/rows", gives={"rows": "list"})
DRY = arg("dry_run", "bool")
SAVE = spec("shared/save/save", arg("rows", "list"), DRY, kind="write", gives={"path": "str"})
PRUNE = spec("shared/save/prune", kind="write", gives={"pruned": "int"})
COMPOSED = spec("shared/save/both", DRY, kind="write")


def run_of(tool):
    return WriteRun(tool, (tool,), {})


def step(number, tool, **inputs):
    gives = {o.name: o.name for o in tool.returns}
    return PlanStep(f"s{number}", tool.id, inputs, gives, tool.sha256)


def composed(*steps, params=("dry_run",)):
    return render_module(Plan("Do.", steps, params), [READ, SAVE, PRUNE]).encode()


def saved(value):
    return (step(1, READ), step(2, SAVE, rows=OutputRef("s1", "rows"), dry_run=value))


@pytest.mark.parametrize(
    ("value", "given", "tries"),
    [
        pytest.param(ParamRef("dry_run"), {"dry_run": True}, True, id="handed on"),
        pytest.param(ParamRef("dry_run"), {"dry_run": False}, False, id="false"),
        pytest.param(ParamRef("dry_run"), {}, False, id="not given"),
        pytest.param(ParamRef("dry_run"), {"dry_run": "true"}, False, id="no bool"),
        pytest.param(ParamRef("other"), {"dry_run": True, "other": False}, False, id="another"),
        pytest.param(Constant(True), {"dry_run": True}, True, id="always"),
        pytest.param(Constant(False), {"dry_run": True}, False, id="never"),
    ],
)
def test_a_composition_is_a_dry_run_only_if_every_write_step_is(value, given, tries):
    params = (value.name,) if isinstance(value, ParamRef) else ()
    source = composed(*saved(value), params=params)
    assert is_dry_run_call([COMPOSED, READ, SAVE], source, given) is tries


def test_a_step_that_writes_and_cannot_try_makes_the_call_one_that_writes():
    source = composed(*saved(ParamRef("dry_run")), step(3, PRUNE))
    assert not is_dry_run_call([COMPOSED, READ, SAVE, PRUNE], source, {"dry_run": True})


def test_a_step_that_the_plan_does_not_name_makes_the_call_one_that_writes():
    """A step's own steps run too, and their inputs are not known before."""
    source = composed(*saved(ParamRef("dry_run")))
    hidden = spec("shared/save/hidden", DRY, kind="write")
    assert not is_dry_run_call([COMPOSED, READ, SAVE, hidden], source, {"dry_run": True})


def test_a_write_run_is_refused_by_default():
    with pytest.raises(ApprovalNeeded, match="shared/save/save may change things") as refused:
        RunApproval().obtain(run_of(SAVE), dry=False)
    assert "--yes" in refused.value.hint
    assert "dry_run=true" in refused.value.hint
    with pytest.raises(ApprovalNeeded) as refused:
        RunApproval().obtain(run_of(PRUNE), dry=False)
    assert "dry_run" not in refused.value.hint


def test_the_hint_to_confirm_a_run_keeps_every_input():
    given = ("markdown=# A title", "path:=null")
    with pytest.raises(ApprovalNeeded) as refused:
        RunApproval(given=given).obtain(run_of(SAVE), dry=False)
    command = "pulsus run shared/save/save --input 'markdown=# A title' --input path:=null --yes"
    assert f"confirm it: {command}" in refused.value.hint


def test_a_plan_in_no_catalogue_is_confirmed_by_the_same_request():
    """`pulsus run` does not know the plan: only a route finds it again."""
    asked = RunApproval(given=("path=x.png",), request="draw it, then save it")
    with pytest.raises(ApprovalNeeded) as refused:
        asked.obtain(WriteRun(COMPOSED, (SAVE,), {}), dry=False)
    command = "pulsus route 'draw it, then save it' --run --input path=x.png"
    assert command in refused.value.hint
    assert "pulsus run" not in refused.value.hint
    assert refused.value.message.startswith(SAVE.id)


def test_inputs_become_options_that_are_read_back_as_they_were():
    args = (arg("a", "str"), arg("b", "str"), arg("c", "int"))
    values: dict[str, JsonValue] = {"a": "x y", "b": "@not-a-file", "c": 3}
    assert parse_inputs(tuple(input_options(values)), args) == values


def test_a_call_without_yes_is_not_told_that_yes_does_not_count():
    strict = replace(SAVE, approval="approver")
    with pytest.raises(ApprovalNeeded, match="the target was not typed"):
        RunApproval().obtain(run_of(strict), dry=False)
    with pytest.raises(ApprovalNeeded, match="`--yes` alone does not stand for an approver"):
        RunApproval(yes=True).obtain(run_of(strict), dry=False)
