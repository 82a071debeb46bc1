"""Check a call of `Verify:` or `Undo:` against the tool that it names (ADR 41). Pure.

`routing/delivery/verify_gate.py` and `routing/maintenance/catalogue_check.py` ask.
"""

from __future__ import annotations

from collections.abc import Iterator

from pulsus.core.contract import type_compatibility, type_hints
from pulsus.core.contract.declared_call import read_reference
from pulsus.core.contract.section_names import nearest_name
from pulsus.core.types import ArgSpec, DeclaredCall, JsonValue, ToolSpec

_VARIADIC = ("var_positional", "var_keyword")


def check_call(
    section: str, call: DeclaredCall, owner: ToolSpec, called: ToolSpec | None
) -> Iterator[str]:
    """Yield what is wrong with the call that `owner` declares in `section`.

    `called` is the tool of that id, or None if the catalogue lacks it.
    """
    if called is None:
        yield f"{section}: there is no tool {call.tool}"
        return
    # A remount is undone by a remount, but no change confirms itself.
    if called.id == owner.id and section == "Verify":
        yield f"{section}: {owner.id} names itself; name another tool"
        return
    if section == "Verify" and called.kind == "write":
        yield f"Verify: {called.id} is a write, and only a read or resolve verifies"
    known = {arg.name: arg for arg in called.args if arg.kind not in _VARIADIC}
    free = any(arg.kind == "var_keyword" for arg in called.args)
    for name, value in call.inputs.items():
        if name in known:
            yield from _check_type(section, called, known[name], value, owner)
        elif not free:
            nearest = f"; the nearest is {nearest_name(name, known)[0]!r}" if known else ""
            yield f"{section}: {called.id} has no input {name!r}{nearest}"
    for arg in known.values():
        if arg.required and arg.name not in call.inputs:
            yield f"{section}: {called.id} needs the input {arg.name!r}"


def _check_type(
    section: str, called: ToolSpec, arg: ArgSpec, value: JsonValue, owner: ToolSpec
) -> Iterator[str]:
    """Yield an error if the value cannot be of the type that the argument takes."""
    wanted = type_hints.parse_hint(arg.type_hint)
    reference = read_reference(value)
    if reference:
        given = type_hints.parse_hint(_find_hint(owner, *reference))
        if not type_compatibility.fits(given, wanted):
            shown = type_hints.write_annotation(given)
            yield (
                f"{section}: {called.id} takes {arg.name} as {arg.type_hint}, "
                f"and {value} is {shown}"
            )
    elif not type_compatibility.accepts(wanted, value):
        yield f"{section}: {called.id} takes {arg.name} as {arg.type_hint}, not {value!r}"


def _find_hint(owner: ToolSpec, kind: str, name: str) -> str | None:
    values = owner.args if kind == "input" else owner.returns
    return next((each.type_hint for each in values if each.name == name), None)
