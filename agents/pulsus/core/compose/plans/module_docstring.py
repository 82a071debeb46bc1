"""The docstring contract of a composed module, from its steps' (docs/tool-contract.md). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pulsus.core.compose.plans import type_hints
from pulsus.core.compose.plans.plan_file import dump_yaml
from pulsus.core.compose.plans.wiring import outputs_of
from pulsus.core.contract import examples
from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.types import (
    ArgSpec,
    Example,
    Kind,
    OutputSpec,
    Plan,
    ToolSpec,
)

_STRENGTH: tuple[Kind, ...] = ("resolve", "read", "write")
_SECTION = re.compile(r"[A-Za-z -]{1,20}:")
_SUMMARY_CHARS = 200


def contract(
    plan: Plan,
    tools: Mapping[str, ToolSpec],
    params: Sequence[ArgSpec],
    example: Example | None,
) -> str:
    """The whole docstring text. It promises no less than its steps together.

    Kind is the strongest of the steps'; effects and secrets are their union, and effects are left
    undeclared where one step declares none.
    """
    used = [tools[step.tool] for step in plan.steps]
    sections = [
        _summary(plan, used),
        _steps(plan, used),
        _section("Args:", [_arg(param) for param in params]),
        _section("Returns:", [_output(name, spec) for name, spec in _returns(plan, tools)]),
        _section("Side effects:", _side_effects(plan, used)),
        f"Kind: {max((tool.kind for tool in used), key=_STRENGTH.index)}",
        _effects(used),
        f"Secrets: {_joined(secret for tool in used for secret in tool.secrets)}",
        _examples(example),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _summary(plan: Plan, used: Sequence[ToolSpec]) -> str:
    text = one_line(plan.description, _SUMMARY_CHARS) or "; then ".join(t.name for t in used)
    if _SECTION.match(text):
        text = f"Plan: {text}"
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _steps(plan: Plan, used: Sequence[ToolSpec]) -> str:
    lines = (
        f"- {step.id}: {tool.id}: {one_line(tool.summary)}"
        for step, tool in zip(plan.steps, used, strict=True)
    )
    return "\n".join(("Runs these tools in order:", "", *lines))


def _arg(param: ArgSpec) -> str:
    return _entry(param.name, param.type_hint, param.description)


def _output(name: str, spec: OutputSpec) -> str:
    return _entry(name, spec.type_hint, spec.description)


def _entry(name: str, hint: str | None, text: str) -> str:
    words = one_line(text) or "See the step that uses it."
    return f"{name} ({type_hints.annotation(type_hints.parse(hint))}): {words}"


def _returns(plan: Plan, tools: Mapping[str, ToolSpec]) -> list[tuple[str, OutputSpec]]:
    found: dict[str, OutputSpec] = {}
    for step in plan.steps:
        declared = {spec.name: spec for spec in outputs_of(tools[step.tool])}
        for name, key in step.outputs.items():
            found[name] = declared.get(key, OutputSpec(key, None))
    return [(name, found[name]) for name in plan.returns]


def _side_effects(plan: Plan, used: Sequence[ToolSpec]) -> list[str]:
    lines = []
    for step, tool in zip(plan.steps, used, strict=True):
        text = one_line(tool.side_effects if tool.side_effects is not None else "not stated")
        if text.rstrip(".").lower() not in ("", "none"):
            lines.append(f"{step.id} ({tool.id}): {text}")
    return lines


def _effects(used: Sequence[ToolSpec]) -> str:
    declared = [tool.effects for tool in used if tool.effects is not None]
    if len(declared) < len(used):
        return ""
    lines = [
        f"paths: {_joined(path for e in declared for path in e.paths)}",
        f"hosts: {_joined(host for e in declared for host in e.hosts)}",
        f"commands: {_joined(command for e in declared for command in e.commands)}",
    ]
    return _section("Effects:", lines)


def _examples(example: Example | None) -> str:
    if example is None:
        return ""
    text = dump_yaml([examples.item(example)], compact=True)
    return _section("Examples:", text.rstrip("\n").split("\n"))


def _joined(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(map(one_line, words))) or "none"


def _section(header: str, lines: Sequence[str]) -> str:
    return "\n".join((header, *(f"    {line}" for line in lines or ("none",))))
