"""Compares the effects seen in a dry run with those the docstring declares (spec §8). Pure.

An effect beyond the declared ones is refused. Without a declaration an effect is reported, and the
tool counts as write when it is run. `effect_patterns.py` decides if a path, host or program matches
a declared item. Effects are observed in `core/sandbox/observation/`. Kind and effects are sections
of the docstring, so the tool's hash covers them. A real run is confined to the declared effects in
`execution/confinement/declared_effects.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pulsus.core.python_source import python_parser
from pulsus.core.types import Effects, JsonValue, ObservedEffects, ToolSpec
from pulsus.core.validators.effects.effect_patterns import (
    WORK_FOLDER,
    is_command_covered,
    is_host_covered,
    is_path_covered,
)

DRY_RUN = "dry_run"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Effects in words: `exceeded` go beyond the declaration, `undeclared` have none."""

    exceeded: tuple[str, ...] = ()
    undeclared: tuple[str, ...] = ()


def judge_effects(
    tool: ToolSpec, observed: ObservedEffects, inputs: Mapping[str, JsonValue]
) -> Judgement:
    """Return the effects of one call beyond the contract. `inputs` are those of the call."""
    inputs = {**_default_texts(tool), **inputs}
    changes = (*(f"changes {path}" for path in observed.paths), *observed.others)
    if changes and is_read_only(tool):
        return Judgement(
            _list_broken_promises(changes, f"(Kind: {tool.kind})", tool, observed, inputs)
        )
    if is_read_only(tool) and has_dry_run(tool):  # a dry run never sees its other effects
        return Judgement((f"takes dry_run, as only what writes does (Kind: {tool.kind})",))
    if changes and inputs.get(DRY_RUN) is True and has_dry_run(tool):
        return Judgement(
            _list_broken_promises(changes, "(dry_run is true)", tool, observed, inputs)
        )
    if tool.effects is None:
        return Judgement(undeclared=(*changes, *_list_hosts_and_commands(observed)))
    return Judgement(_list_undeclared(tool, observed, inputs))


def list_undeclared_reads(
    tool: ToolSpec, observed: ObservedEffects, inputs: Mapping[str, JsonValue]
) -> tuple[str, ...]:
    """Return the paths that one call read and that neither `Effects:` nor its inputs name."""
    if tool.effects is None or tool.composed:
        return ()
    given = {**_default_texts(tool), **inputs}
    words = ("the given paths", *tool.effects.paths)  # inputs are always covered: callers name them
    return tuple(path for path in observed.reads if not is_path_covered(path, words, given))


def is_read_only(tool: ToolSpec) -> bool:
    """Return True if the tool declares that it changes nothing."""
    return tool.kind_declared and tool.kind != "write"


def has_dry_run(tool: ToolSpec) -> bool:
    """Return True if the tool has an argument `dry_run: bool`."""
    return any(arg.name == DRY_RUN and arg.type_hint == "bool" for arg in tool.args)


def _list_broken_promises(
    changes: tuple[str, ...],
    why: str,
    tool: ToolSpec,
    observed: ObservedEffects,
    inputs: Mapping[str, JsonValue],
) -> tuple[str, ...]:
    """Return the changes, each with the broken promise, and all other undeclared effects."""
    others = replace(observed, paths=(), others=())
    return (*(f"{change} {why}" for change in changes), *_list_undeclared(tool, others, inputs))


def _list_undeclared(
    tool: ToolSpec, observed: ObservedEffects, inputs: Mapping[str, JsonValue]
) -> tuple[str, ...]:
    declared = tool.effects
    if declared is None:
        return ()
    paths = observed.paths
    if tool.kind_declared and tool.kind == "write":  # it writes beside what it replaces
        paths = tuple(p for p in paths if not p.startswith(f"{WORK_FOLDER}/"))
    return (
        *(f"changes {p}" for p in paths if not is_path_covered(p, declared.paths, inputs)),
        *(f"reaches {h}" for h in observed.hosts if not is_host_covered(h, declared.hosts, inputs)),
        *(
            f"starts {c}"
            for c in observed.commands
            if not is_command_covered(c, declared.commands, inputs)
        ),
        *(item for item in observed.others if not _is_other_covered(item, declared, inputs)),
    )


def _is_other_covered(item: str, declared: Effects, inputs: Mapping[str, JsonValue]) -> bool:
    """Return True if a signal is declared as the program `kill`, or a system call by its name.

    A thread that runs on cannot be declared.
    """
    what, _, name = item.partition(" ")
    program = {"signals": "kill", "calls": name.partition(" ")[0]}.get(what)
    return program is not None and is_command_covered(program, declared.commands, inputs)


def _default_texts(tool: ToolSpec) -> dict[str, JsonValue]:
    """Return the defaults of arguments that are plain text, by name."""
    return {
        arg.name: text
        for arg in tool.args
        if arg.default is not None and (text := _parse_text(arg.default)) is not None
    }


def _parse_text(source: str) -> str | None:
    try:
        value = python_parser.read_literal(source)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, str) else None


def _list_hosts_and_commands(observed: ObservedEffects) -> tuple[str, ...]:
    return (
        *(f"reaches {host}" for host in observed.hosts),
        *(f"starts {command}" for command in observed.commands),
    )
