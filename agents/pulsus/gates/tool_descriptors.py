"""Tool classification: the one table that says if a call is resolve, read or write (§7).

A duplicate tool name is refused here: a plugin or a catalogue tool cannot replace a built-in one.
Built-in tools are in `built_in_tools.yaml`, those of the catalogue in
`core/contract/tool_table.py`. The kind of a catalogue tool is decided in
`core/contract/effective_kind.py`.

Pure. A tool, an action or an argument that the table does not know makes the call a write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, Literal

from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

CallKind = Literal["resolve", "read", "write"]
"""`resolve` finds resources, `read` changes nothing, `write` may change something."""


@dataclass(frozen=True, slots=True)
class ToolDescriptor:
    """A tool as it is offered to a model and as it is classified.

    `parameters` is a JSON Schema of an object. `selector` is the argument that names the action, if
    there are actions. A tool of one kind has `kind`. Others have `kinds`, the kind of each value of
    the selector: exactly those of the schema's enum. `needs` lists, by action, arguments that a
    call cannot do without beside the schema's `required`: `*` is every action, and `a|b` is met by
    one of the two. `polls` says that repeated equal calls are its purpose.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    kind: CallKind | None = None
    selector: str = ""
    kinds: Mapping[str, CallKind] = field(default_factory=dict)
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    polls: bool = False

    def kind_of(self, args: Mapping[str, JsonValue]) -> CallKind:
        """Return the kind of a call.

        An argument that the schema lacks, or an action that its enum lacks, makes it a write.
        """
        properties = self.parameters.get("properties", {})
        if not set(args) <= set(properties):
            return "write"
        chosen = args.get(self.selector)
        if self.kind is not None:
            listed = properties.get(self.selector, {}).get("enum", ())
            return self.kind if self.selector not in args or chosen in listed else "write"
        return self.kinds.get(chosen, "write") if isinstance(chosen, str) else "write"

    def missing_arguments(self, args: Mapping[str, JsonValue]) -> tuple[str, ...]:
        """Return what `needs` asks for and a call lacks, as `needs` writes it."""
        action = args.get(self.selector)
        wanted = (*self.needs.get("*", ()), *self.needs.get(str(action), ()))
        return tuple(one for one in wanted if not any(name in args for name in one.split("|")))

    @property
    def lowest_kind(self) -> CallKind:
        """Return the least dangerous kind that a call of the tool may have."""
        kinds = {self.kind} if self.kind else set(self.kinds.values())
        order: tuple[CallKind, ...] = ("resolve", "read", "write")
        return next(kind for kind in order if kind in kinds)


class DescriptorTable:
    """All tools of a session, by name. Built-in tools come first and cannot be replaced."""

    def __init__(
        self, built_in: Iterable[ToolDescriptor], added: Iterable[ToolDescriptor] = ()
    ) -> None:
        """Raises ValueError for an invalid descriptor, or for an added one of a taken name."""
        self._by_name: dict[str, ToolDescriptor] = {}
        for descriptor in (*built_in, *added):
            _require_valid(descriptor)
            if descriptor.name in self._by_name:
                raise ValueError(f"tool {descriptor.name!r} is already described")
            self._by_name[descriptor.name] = descriptor

    def __iter__(self) -> Iterator[ToolDescriptor]:
        return iter(self._by_name.values())

    def get(self, name: str) -> ToolDescriptor | None:
        """Return the descriptor, or None for an unknown tool."""
        return self._by_name.get(name)

    def kind_of(self, name: str, args: Mapping[str, JsonValue]) -> CallKind:
        """Return the kind of a call; "write" for an unknown tool."""
        descriptor = self.get(name)
        return descriptor.kind_of(args) if descriptor else "write"


def _require_valid(descriptor: ToolDescriptor) -> None:
    name, properties = descriptor.name, descriptor.parameters.get("properties", {})
    if (descriptor.kind is None) == (not descriptor.kinds):
        raise ValueError(f"tool {name!r} needs either a kind or a selector with kinds")
    if descriptor.kinds:
        listed = properties.get(descriptor.selector, {}).get("enum")
        if not listed or set(listed) != set(descriptor.kinds):
            raise ValueError(
                f"tool {name!r}: the values of {descriptor.selector!r} are {listed}, "
                f"but kinds are given for {sorted(descriptor.kinds)}"
            )
