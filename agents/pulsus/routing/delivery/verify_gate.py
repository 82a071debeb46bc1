"""Refuse to promote a write whose contract has no `Verify:` that proves a change (ADR 41). Pure.

If a `Verify:` names a fitting read is checked in `core/contract/declared_call_check.py`. The errors
are VERIFY_MISSING, VERIFY_UNRELATED and VERIFY_INVALID. The change of a run is verified in
`routing/plans/verify_write.py`.

This is one rule for a promotion. `routing/delivery/deliver.py` asks all of them.
"""

from __future__ import annotations

from collections.abc import Callable

from pulsus.core.contract.declared_call import find_verify_gap
from pulsus.core.contract.declared_call_check import check_call
from pulsus.core.types import ToolSpec
from pulsus.errors import PulsusError, VerifyInvalid, VerifyMissing, VerifyUnrelated

_HASHES = "shared/hash/hash_file"

FindTool = Callable[[str], ToolSpec | None]
"""A tool id → the tool of the catalogue, or None."""


def find_verification_fault(tool: ToolSpec, find: FindTool, *, new: bool) -> PulsusError | None:
    """Return the reason against a promotion, or None if nothing speaks against it.

    Every call that the contract declares must fit the catalogue. A `new` tool with `Kind: write` in
    its docstring must declare `Verify:`, and the call must use an input or output of the tool. A
    composition needs none of its own: its steps are verified.
    """
    for section, call in (("Verify", tool.verify), ("Undo", tool.undo)):
        fault = call and next(check_call(section, call, tool, find(call.tool)), None)
        if fault:
            return VerifyInvalid(
                f"{tool.id} is not promoted: {fault}",
                hint="name a promoted tool and the inputs that it takes: `pulsus tools show ID`",
                tool=tool.id,
                section=section,
            )
    gap = find_verify_gap(tool) if new else None
    if gap is None or gap == "no_value":  # an error of the read is a check too, if a weak one
        return None
    hint = (
        f"name a read that shows the change, and the value that it has to give, "
        f"{_example_call(tool, find)}; `pulsus tools list` has the reads. If none shows it, add "
        "one first: pulsus generate REQUEST --scaffold"
    )
    if gap == "missing":
        reason = "it declares `Kind: write` and no `Verify:`"
        return VerifyMissing(f"{tool.id} is not promoted: {reason}", hint=hint, tool=tool.id)
    reason = "its `Verify:` uses no input and no output of the tool, so it proves no change"
    return VerifyUnrelated(f"{tool.id} is not promoted: {reason}", hint=hint, tool=tool.id)


_FORM = (
    'as in `Verify: TOOL {INPUT: "{{input.NAME}}"} expect {OUTPUT: "{{output.NAME}}", ...: ...}`'
)


def _example_call(tool: ToolSpec, find: FindTool) -> str:
    """Return a call that compares a file of the tool; the general form if none fits."""
    if find(_HASHES) is None:
        return _FORM
    digest = next((each.name for each in tool.returns if "sha256" in each.name), "")
    for kind, values in (("output", tool.returns), ("input", tool.args)):
        for each in values:
            if "path" in each.name or "file" in each.name:
                call = (
                    f'{_HASHES} {{path: "{{{{{kind}.{each.name}}}}}", '
                    f'expected: "{{{{output.{digest or "sha256"}}}}}"}} '
                    "expect {matches: true, ...: ...}"
                )
                lacks = "" if digest else ", if the tool returns the `sha256` of what it wrote"
                return f"such as `Verify: {call}`{lacks}"
    return _FORM
