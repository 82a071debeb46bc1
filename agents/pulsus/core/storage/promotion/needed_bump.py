"""SemVer rules: is a change of a tool major, minor or patch for its callers (spec §10)? Pure.

Breaking changes of an interface are found here. `choose_version.py` makes the next version from it,
with the replayed examples.

Read from source, never imported. Arguments are compared by griffe; what it leaves open (hints,
names swallowed by `**kwargs`) and what is only in the docstring is compared here. ADR 20 has the
table. Callers give arguments by name, so their order is no part of the interface.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pulsus.core.contract import type_compatibility
from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.python_source import python_parser
from pulsus.core.storage.records.semver import BUMPS, Bump, greatest
from pulsus.core.types import ArgSpec, BrokenTool, Effects, OutputSpec, ToolSpec
from pulsus.fast_dataclass import dataclass

_VARIADIC: Mapping[str, str] = {"var_positional": "*args", "var_keyword": "**kwargs"}
_KIND_WORDS = {
    "positional_only": "by position only",
    "keyword_only": "by name only",
    "positional_or_keyword": "by position or name",
}


@dataclass(frozen=True, slots=True)
class ApiChange:
    """One difference, in words, and the least bump it calls for."""

    bump: Bump
    text: str


@dataclass(frozen=True, slots=True)
class Diff:
    """Every difference, the gravest first; `bump` is what they call for together."""

    changes: tuple[ApiChange, ...] = ()

    @property
    def bump(self) -> Bump:
        """A patch where callers see no difference."""
        return greatest(*(c.bump for c in self.changes))

    def with_more(self, changes: Sequence[ApiChange]) -> Diff:
        """Return these and other changes, the gravest first."""
        return Diff(tuple(sorted((*self.changes, *changes), key=lambda c: -BUMPS.index(c.bump))))

    @property
    def texts(self) -> tuple[str, ...]:
        """The differences in words, each behind its level."""
        return tuple(f"{c.bump}: {c.text}" for c in self.changes)


def compare(old: bytes, new: bytes) -> Diff:
    """Return the changes from the module `old` to the module `new`.

    Where one of them is no tool, nothing can be compared, and that is a major change.
    """
    if old == new:
        return Diff()
    before, after = read_revision(old), read_revision(new)
    for what, found in (("earlier", before), ("new", after)):
        if isinstance(found, BrokenTool):
            text = f"the {what} module cannot be read: {found.reason}"
            return Diff((ApiChange("major", text),))
    assert isinstance(before, ToolSpec)
    assert isinstance(after, ToolSpec)
    return diff_specs(before, after)


def diff_specs(old: ToolSpec, new: ToolSpec) -> Diff:
    """Return the changes between two specifications of a tool."""
    found = [
        *_compare_arguments(old.args, new.args),
        *_compare_outputs(old.returns, new.returns),
        *_compare_kinds(old, new),
        *_compare_effects(old.effects, new.effects),
        *_compare_secrets(old.secrets, new.secrets),
        *_compare_success_statuses(old.success_statuses, new.success_statuses),
        *_compare_action_sections(old, new),
    ]
    return Diff().with_more(found)


def _compare_arguments(old: Sequence[ArgSpec], new: Sequence[ArgSpec]) -> Iterator[ApiChange]:
    before, after = _arguments_by_name(old), _arguments_by_name(new)
    for name in before:
        if name not in after:
            yield ApiChange("major", f"argument {name!r} was removed or renamed")
    yield from _compare_with_griffe(old, new, {*before} & {*after})
    for name, arg in after.items():
        if name in before:
            yield from _compare_hints(f"argument {name!r}", before[name].type_hint, arg.type_hint)
        elif not arg.required:
            yield ApiChange("minor", f"optional argument {name!r} was added")
    yield from _compare_variadics(old, new)


def _compare_with_griffe(
    old: Sequence[ArgSpec], new: Sequence[ArgSpec], common: set[str]
) -> Iterator[ApiChange]:
    """Compare kinds, requiredness and defaults, and find new required arguments."""
    import griffe  # late: only a changed tool needs it

    with python_parser.only_reader():
        before, after = (
            griffe.visit("tool", filepath=Path("tool.py"), code=_render_stub(args))
            for args in (old, new)
        )
    kinds = {arg.name: _KIND_WORDS.get(arg.kind, arg.kind) for arg in new}
    changed = set()
    for found in griffe.find_breaking_changes(before, after):
        was, now = found.old_value, found.new_value
        match found.kind:
            case griffe.BreakageKind.PARAMETER_ADDED_REQUIRED:
                yield ApiChange("major", f"required argument {now.name!r} was added")
            case griffe.BreakageKind.PARAMETER_CHANGED_REQUIRED:
                yield ApiChange("major", f"argument {was.name!r} has no default any more")
            case griffe.BreakageKind.PARAMETER_CHANGED_KIND:
                changed.add(was.name)
                yield ApiChange("major", f"argument {was.name!r} is given {kinds[was.name]}")
            case griffe.BreakageKind.PARAMETER_CHANGED_DEFAULT:
                text = f"default of {was.name!r} is {now.default}, it was {was.default}"
                yield ApiChange("minor", text)
            case _:
                pass  # removed names are looked for above; order is not the interface
    yield from _list_eased_arguments(
        _arguments_by_name(old), _arguments_by_name(new), common - changed
    )


def _list_eased_arguments(
    old: Mapping[str, ArgSpec], new: Mapping[str, ArgSpec], names: set[str]
) -> Iterator[ApiChange]:
    """Yield the changes that griffe does not report because nothing breaks."""
    for name in sorted(names):
        if old[name].required and not new[name].required:
            yield ApiChange("minor", f"argument {name!r} has a default now")
        if old[name].kind != new[name].kind:
            yield ApiChange("minor", f"argument {name!r} is given {_KIND_WORDS[new[name].kind]}")


def _compare_variadics(old: Sequence[ArgSpec], new: Sequence[ArgSpec]) -> Iterator[ApiChange]:
    before, after = ({a.kind: a for a in args if a.kind in _VARIADIC} for args in (old, new))
    for kind, shown in _VARIADIC.items():
        match before.get(kind), after.get(kind):  # type: ignore[call-overload]
            case ArgSpec(), None:
                yield ApiChange("major", f"{shown} was removed")
            case None, ArgSpec():
                yield ApiChange("minor", f"{shown} was added")
            case ArgSpec(type_hint=was), ArgSpec(type_hint=now):
                yield from _compare_hints(shown, was, now)
            case _:
                pass


def _compare_hints(what: str, old: str | None, new: str | None) -> Iterator[ApiChange]:
    """Compare two hints: a caller's value must still fit, so a new hint may only admit more."""
    if not type_compatibility.admits(new, old):
        text = f"{what} takes {new or 'anything'}, it took {old or 'anything'}"
        yield ApiChange("major", text)
    elif not type_compatibility.is_same(new, old):
        yield ApiChange("minor", f"{what} takes {new or 'anything'} too")


def _compare_outputs(old: Sequence[OutputSpec], new: Sequence[OutputSpec]) -> Iterator[ApiChange]:
    """Compare the results. A new type hint may only promise more."""
    before, after = ({o.name: o for o in outputs} for outputs in (old, new))
    for name, output in before.items():
        if name not in after:
            yield ApiChange("major", f"output {name!r} was removed or renamed")
            continue
        was, now = output.type_hint, after[name].type_hint
        if not type_compatibility.admits(was, now):
            text = f"output {name!r} is {now or 'anything'}, it was {was or 'anything'}"
            yield ApiChange("major", text)
        elif not type_compatibility.is_same(was, now):
            yield ApiChange("minor", f"output {name!r} is always {now}")
    for name in after.keys() - before.keys():
        yield ApiChange("minor", f"output {name!r} was added")


def _compare_kinds(old: ToolSpec, new: ToolSpec) -> Iterator[ApiChange]:
    if old.kind != new.kind:
        # A tool that only read was run unattended; one that may write is not.
        raised = new.kind == "write"
        text = f"kind is {new.kind}, it was {old.kind}"
        yield ApiChange("major" if raised else "minor", text)


def _compare_effects(old: Effects | None, new: Effects | None) -> Iterator[ApiChange]:
    if old is None:
        return  # nothing was promised
    if new is None:
        yield ApiChange("minor", "effects are not declared any more")
        return
    for what in ("paths", "hosts", "commands"):
        more = sorted({*getattr(new, what)} - {*getattr(old, what)})
        if more:
            yield ApiChange("minor", f"effects on more {what}: {', '.join(more)}")


def _compare_secrets(old: Sequence[str], new: Sequence[str]) -> Iterator[ApiChange]:
    for name in sorted({*new} - {*old}):
        yield ApiChange("major", f"secret {name} is needed now")
    for name in sorted({*old} - {*new}):
        yield ApiChange("minor", f"secret {name} is not needed any more")


def _compare_success_statuses(old: Sequence[int], new: Sequence[int]) -> Iterator[ApiChange]:
    if not (old and new):
        return  # the output `exit_status` itself was added or removed
    for status in sorted({*new} - {*old}):
        yield ApiChange("minor", f"exit status {status} means success now")
    for status in sorted({*old} - {*new}):
        yield ApiChange("major", f"exit status {status} means failure now")


def _compare_action_sections(old: ToolSpec, new: ToolSpec) -> Iterator[ApiChange]:
    """Compare who approves a run, and how a change is verified and reversed."""
    if old.approval != new.approval:
        # `--yes` of a script no longer runs the tool.
        bump: Bump = "major" if new.approval == "approver" else "minor"
        was, now = (each.approval or "not declared" for each in (old, new))
        yield ApiChange(bump, f"approval is {now}, it was {was}")
    for name in ("verify", "undo"):
        if getattr(old, name) and not getattr(new, name):
            yield ApiChange("minor", f"`{name.capitalize()}:` was removed")


def read_revision(source: bytes) -> ToolSpec | BrokenTool:
    """The tool these bytes are, wherever they lie."""
    return read_tool(
        source,
        path=Path("tool.py"),
        tool_id="domain/action/tool",
        domain="domain",
        action="action",
        name="tool",
        max_bytes=len(source),
    )


def _arguments_by_name(args: Sequence[ArgSpec]) -> dict[str, ArgSpec]:
    return {a.name: a for a in args if a.kind not in _VARIADIC}


def _render_stub(args: Sequence[ArgSpec]) -> str:
    """Return a function with the same arguments for griffe, without body or hints.

    `*args` and `**kwargs` always get the same names.
    """
    parts: list[str] = []
    kinds = [a.kind for a in args]
    for index, arg in enumerate(args):
        if arg.kind == "keyword_only" and not {"var_positional", "keyword_only"} & {*kinds[:index]}:
            parts.append("*")
        if arg.kind in _VARIADIC:
            parts.append(_VARIADIC[arg.kind])
            continue
        parts.append(arg.name + ("" if arg.default is None else f"={arg.default}"))
        if arg.kind == "positional_only" and "positional_only" not in kinds[index + 1 :]:
            parts.append("/")
    return f"def run({', '.join(parts)}):\n    ...\n"
