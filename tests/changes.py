"""Run a shipped tool that changes things, then the verifying read and the undo of its contract."""

import functools
import stat
from pathlib import Path

from pulsus.core.contract.declared_call import render_value
from pulsus.core.contract.example_match import matches
from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.types import ToolSpec
from pulsus.execution.confinement.declared_effects import literal_defaults
from tests.catalogue.conftest import import_tool, module_of

MOST_BYTES = 200_000


@functools.cache
def spec_of(tool_id):
    """Return the contract of one tool. A throw-away root reads those it needs, not all."""
    path = module_of(tool_id)
    domain, action, name = tool_id.split("/")
    spec = read_tool(
        path.read_bytes(),
        path=path,
        tool_id=tool_id,
        domain=domain,
        action=action,
        name=name,
        max_bytes=MOST_BYTES,
    )
    assert isinstance(spec, ToolSpec), spec
    return spec


def change(tool_id, **inputs):
    """Run the tool for real, check its `Verify:`, and return its result."""
    result = import_tool(tool_id).run(**inputs)
    reason = unverified(tool_id, inputs, result)
    assert reason is None, f"{tool_id} is not confirmed: {reason}"
    return result


def unverified(tool_id, inputs, result):
    """Return why the verifying read of the tool does not confirm the result; None if it does."""
    spec = spec_of(tool_id)
    given = {**literal_defaults(spec), **inputs}
    call = spec.verify
    assert call is not None
    assert spec_of(call.tool).kind == "read"
    found = import_tool(call.tool).run(**rendered(call.inputs, given, result))
    assert call.has_expected
    if found.get("ok") is False:
        return f"{call.tool} says that it is not ok: {found}"
    differs = matches(render_value(call.expected, given, result), found)
    return None if differs is None else f"{differs} in {found}"


def undo(tool_id, inputs, result):
    """Run the `Undo:` of the tool for real, check its `Verify:`, and return its result."""
    spec = spec_of(tool_id)
    assert spec.undo is not None
    given = {**literal_defaults(spec), **inputs}
    return change(spec.undo.tool, **rendered(spec.undo.inputs, given, result))


def rendered(values, given, result):
    """Return the inputs of a declared call with their references replaced."""
    return {name: render_value(value, given, result) for name, value in values.items()}


def tree(folder):
    """Return every file below the folder with its kind, mode, owner, group and content."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        info = path.lstat()
        content: object = None
        if stat.S_ISLNK(info.st_mode):
            content = str(path.readlink())
        elif stat.S_ISREG(info.st_mode):
            content = path.read_bytes()
        name = str(path.relative_to(folder))
        found[name] = (oct(info.st_mode), info.st_uid, info.st_gid, content)
    return found
