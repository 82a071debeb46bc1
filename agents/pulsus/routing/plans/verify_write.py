"""Verify a write of a tool by the read that its contract names (`Verify:`, ADR 41).

`core/contract/declared_call_check.py` checks that the named read exists and takes these inputs. The
error WRITE_UNVERIFIED is made in `routing/plans/verified_run.py`.

Effect: runs a promoted read in a confined process of its own. Nothing here asks a person or prints,
so every path that runs a write can call it.

Called by `routing/plans/verified_run.py` after a run. A write of the agent is verified in
`agent/verify_without_model.py`, a file that it wrote in `agent/tools/local/file_replacement.py`;
the read that shows if a command worked is chosen in `gates/verifying_read.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from pulsus.approvals.run_consent import RunApproval
from pulsus.core.contract import declared_call, example_match
from pulsus.core.python_source import python_parser
from pulsus.core.types import (
    DeclaredCall,
    JsonValue,
    ToolSpec,
    Verification,
)
from pulsus.errors import HungUp, PulsusError, Terminated, ToolNotFound, VerifyInvalid
from pulsus.routing.delivery.candidate_module import read_module
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.runs.run_promoted import ToolRun, run_promoted


def verify_write(
    project: Project, tool: ToolSpec, inputs: Mapping[str, JsonValue], result: JsonValue
) -> Verification:
    """Return the verdict on a write that ran with `inputs` and gave `result`.

    `inputs` are the values of the call by name; the tool's defaults apply to the others. Call it
    after every real run of a write, and before the next write starts. Do not call it after a dry
    run: that changed nothing.

    The verdict is `ok` only if the tool of `Verify:` is promoted, only reads, ended without an
    error, and its result says no failure and fits `expect`. Anything else is a verdict with
    `ok=False` and the reason; only Terminated and HungUp are raised. A read that ends well and of
    which no value is expected compared nothing: its verdict is that of no `Verify:`.
    """
    outputs = result if isinstance(result, dict) else {"result": result}
    given = _list_defaults(tool) | dict(inputs)
    return _verify(project, tool, given, outputs)


def says_unchanged(result: JsonValue) -> bool:
    """Return True if a write returned `changed` as False or 0."""
    return isinstance(result, dict) and result.get("changed") in (False, 0)


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
        reason = f"`Verify:` of {tool.id} needs {missing.args[0]}, which this run does not have"
        if outputs == {"result": None}:
            reason = "the run has no result to check it by, so look at the target yourself"
        return Verification(call.tool, False, reason)
    try:
        result = _run_read(project, call, checks)
    except (Terminated, HungUp):
        raise
    except PulsusError as error:
        return Verification(call.tool, False, f"{error.code}: {error.message}")
    return _judge(tool, call, expected, result)


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


def _judge(
    tool: ToolSpec, call: DeclaredCall, expected: JsonValue, result: JsonValue
) -> Verification:
    if isinstance(result, dict) and result.get("ok") is False:
        return Verification(call.tool, False, f"{call.tool} says that it is not ok", result)
    if not declared_call.uses_write(call) and not example_match.expects_value(call):
        reason = f"`Verify:` of {tool.id} uses no input and no output of it, and expects no value"
        return Verification(None, False, reason)
    difference = example_match.matches(expected, result) if call.has_expected else None
    if difference:
        return Verification(call.tool, False, difference, result)
    # A value of this run may also be the wildcard `...`, which fits every result.
    if not (call.has_expected and example_match.is_concrete(expected)):
        reason = (
            f"{call.tool} ran without an error and compared nothing, because `Verify:` of "
            f"{tool.id} expects no value"
        )
        return Verification(None, False, reason)
    return Verification(call.tool, True, f"the result of {call.tool} is as expected", result)


def _list_defaults(tool: ToolSpec) -> dict[str, JsonValue]:
    """Return the tool's defaults that are plain values, by argument name."""
    found: dict[str, JsonValue] = {}
    for arg in tool.args:
        if arg.default is None:
            continue
        try:
            found[arg.name] = python_parser.read_literal(arg.default)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue  # computed when it is called: a reference to it is named as missing
    return found
