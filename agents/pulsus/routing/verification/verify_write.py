"""Verify what a write changed, by the read that its contract names (`Verify:`, ADR 41).

Effect: runs a promoted read in a confined process of its own. Nothing here asks a person or prints,
so every path that runs a write can call it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from typing import cast

from pulsus.approvals.run_consent import RunApproval
from pulsus.core.compose.plans.module_source import read_plan
from pulsus.core.contract import declared_call, example_match
from pulsus.core.types import (
    Constant,
    DeclaredCall,
    JsonValue,
    OutputRef,
    ParamRef,
    Plan,
    PlanStep,
    ToolSpec,
    Verification,
)
from pulsus.errors import HungUp, PulsusError, Terminated, ToolNotFound, VerifyInvalid
from pulsus.routing.delivery.candidate_module import read_module
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.run_promoted import ToolRun, run_promoted


def verify_write(
    project: Project, tool: ToolSpec, inputs: Mapping[str, JsonValue], result: JsonValue
) -> Verification:
    """Return the verdict on a write that ran with `inputs` and gave `result`.

    `inputs` are the values of the call by name; the tool's defaults apply to the others. Call it
    after every real run of a write, and before the next write starts. Do not call it after a dry
    run: that changed nothing.

    The verdict is `ok` only if the tool of `Verify:` is promoted, only reads, ended without an
    error, and its result says no failure and fits `expect`. Anything else is a verdict with
    `ok=False` and the reason; only Terminated and HungUp are raised.
    """
    outputs = result if isinstance(result, dict) else {"result": result}
    given = _list_defaults(tool) | dict(inputs)
    return _verify(project, tool, given, outputs)


def verify_steps(
    project: Project,
    tool: ToolSpec,
    source: bytes,
    inputs: Mapping[str, JsonValue],
    result: JsonValue,
) -> Verification:
    """Return the verdict on a composition that ran.

    It is that of the first write that is not verified, else that of the last write.
    `source` are the bytes of the composition. A step is verified with the values that are still
    known after the run: constants, the composition's inputs, and what it returned. A step that
    needs another value is not verified, and then the verdict names no tool.
    """
    plan = read_plan(source)
    if tool.verify or plan is None:
        return verify_write(project, tool, inputs, result)
    given = _list_defaults(tool) | dict(inputs)
    found = Verification(None, False, f"{tool.id} has no step that writes")
    for step in plan.steps:
        called = project.catalogue.get(step.tool)
        if called is None:
            return Verification(None, False, f"the step {step.tool} is not in the catalogue")
        if called.kind != "write":
            continue
        known = _list_step_inputs(step, called, given, _list_returned(plan, result))
        if known.get("dry_run") is True:
            continue
        if step.when or step.for_each:
            reason = f"the step {step.id} runs on a condition or for each item"
            return Verification(None, False, reason)
        if called.composed:
            return Verification(None, False, f"the step {called.id} is a composition of its own")
        outputs = _list_step_outputs(step, result)
        if lost := _find_lost_value(called, known, outputs):
            # Nothing contradicts the change: it could not be looked at.
            reason = f"the composition does not return {lost}, which step {step.id} needs for it"
            return Verification(None, False, reason)
        found = _verify(project, called, known, outputs)
        if not found.ok:
            break
    return found


def _verify(
    project: Project,
    tool: ToolSpec,
    inputs: Mapping[str, JsonValue],
    outputs: Mapping[str, JsonValue],
) -> Verification:
    call = tool.verify
    if call is None:
        return Verification(None, False, f"{tool.id} declares no `Verify:`")
    try:
        checks = cast(
            dict[str, JsonValue], declared_call.render_value(dict(call.inputs), inputs, outputs)
        )
        expected = declared_call.render_value(call.expected, inputs, outputs)
    except KeyError as missing:
        reason = f"`Verify:` needs {{{{{missing.args[0]}}}}}, which this run does not have"
        return Verification(call.tool, False, reason)
    try:
        result = _run_read(project, call, checks)
    except (Terminated, HungUp):
        raise
    except PulsusError as error:
        return Verification(call.tool, False, f"{error.code}: {error.message}")
    return _judge(call, expected, result)


def _run_read(project: Project, call: DeclaredCall, inputs: Mapping[str, JsonValue]) -> JsonValue:
    """Return the result of the verifying tool. Raises PulsusError if it did not end well."""
    checker = project.catalogue.get(call.tool)
    if checker is None:
        raise ToolNotFound(f"{call.tool} is not in the catalogue")
    if checker.kind == "write":
        raise VerifyInvalid(f"{checker.id} is a write, and only a read verifies")
    source = read_module(checker.path)
    # Without a person and without `yes` a tool that may write on record is refused here, too.
    done = run_promoted(project, ToolRun(checker, source, inputs, RunApproval()))
    if done.failure:
        raise done.failure
    return done.result


def _judge(call: DeclaredCall, expected: JsonValue, result: JsonValue) -> Verification:
    if isinstance(result, dict) and result.get("ok") is False:
        return Verification(call.tool, False, f"{call.tool} says that it is not ok", result)
    if not call.has_expected:
        return Verification(call.tool, True, f"{call.tool} ended without an error", result)
    difference = example_match.matches(expected, result)
    if difference:
        return Verification(call.tool, False, difference, result)
    return Verification(call.tool, True, f"the result of {call.tool} is as expected", result)


def _list_defaults(tool: ToolSpec) -> dict[str, JsonValue]:
    """Return the tool's defaults that are plain values, by argument name."""
    found: dict[str, JsonValue] = {}
    for arg in tool.args:
        if arg.default is None:
            continue
        try:
            found[arg.name] = ast.literal_eval(arg.default)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue  # computed when it is called: a reference to it is named as missing
    return found


def _list_step_inputs(
    step: PlanStep,
    called: ToolSpec,
    inputs: Mapping[str, JsonValue],
    returned: Mapping[tuple[str, str], JsonValue],
) -> dict[str, JsonValue]:
    """Return the inputs of a step that are known after the run. `returned` are results by step."""
    found = _list_defaults(called)
    for name, value in step.inputs.items():
        found.pop(name, None)
        match value:
            case Constant(constant):
                found[name] = constant
            case ParamRef(param) if param in inputs:
                found[name] = inputs[param]
            case OutputRef(source, output) if (source, output) in returned:
                found[name] = returned[source, output]
            case _:
                pass
    return found


def _find_lost_value(
    tool: ToolSpec, inputs: Mapping[str, JsonValue], outputs: Mapping[str, JsonValue]
) -> str | None:
    """Return the first reference of `Verify:` without a value, or None."""
    for kind, name in declared_call.list_references(tool.verify) if tool.verify else ():
        if name not in (inputs if kind == "input" else outputs):
            return f"{{{{{kind}.{name}}}}}"
    return None


def _list_returned(plan: Plan, result: JsonValue) -> dict[tuple[str, str], JsonValue]:
    """Return what the composition returned, by step and name, if one step alone has the name."""
    if not isinstance(result, dict):
        return {}
    named = [(step.id, name) for step in plan.steps for name in step.outputs]
    counts = Counter(name for _, name in named)
    return {
        (step, name): result[name] for step, name in named if name in result and counts[name] == 1
    }


def _list_step_outputs(step: PlanStep, result: JsonValue) -> dict[str, JsonValue]:
    """Return the outputs of a step that the composition returned."""
    if not isinstance(result, dict):
        return {}
    return {key: result[name] for name, key in step.outputs.items() if name in result}
