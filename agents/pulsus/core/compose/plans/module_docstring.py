"""The docstring contract of a composed module, from its steps' (docs/tool-contract.md). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pulsus.core.compose.plans.plan_file import dump_yaml
from pulsus.core.compose.plans.wiring import list_outputs
from pulsus.core.compose.rendering import render_template
from pulsus.core.contract import examples, type_hints
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


def render_contract(
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
    args = [_entry(param.name, param.type_hint, param.description) for param in params]
    returns = [
        _entry(name, spec.type_hint, spec.description) for name, spec in _returns(plan, tools)
    ]
    kind = max((tool.kind for tool in used), key=_STRENGTH.index)
    secrets = _joined(secret for tool in used for secret in tool.secrets)
    sections = [
        ("Args:", args or ["none"]),
        ("Returns:", returns or ["none"]),
        ("Side effects:", _side_effects(plan, used) or ["none"]),
        (f"Kind: {kind}", []),
        ("Effects:", _effects(used)),
        (f"Secrets: {secrets}", []),
        ("Examples:", _example(example)),
    ]
    return render_template(
        "composed_docstring.j2",
        one_line=one_line,
        summary=_summary(plan, used),
        steps=[(step.id, tool) for step, tool in zip(plan.steps, used, strict=True)],
        sections=[(header, lines) for header, lines in sections if lines is not None],
    )


def _summary(plan: Plan, used: Sequence[ToolSpec]) -> str:
    text = one_line(plan.description, _SUMMARY_CHARS) or "; then ".join(t.name for t in used)
    if _SECTION.match(text):
        text = f"Plan: {text}"
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _entry(name: str, hint: str | None, text: str) -> str:
    words = one_line(text) or "See the step that uses it."
    return f"{name} ({type_hints.annotation(type_hints.parse(hint))}): {words}"


def _returns(plan: Plan, tools: Mapping[str, ToolSpec]) -> list[tuple[str, OutputSpec]]:
    found: dict[str, OutputSpec] = {}
    for step in plan.steps:
        declared = {spec.name: spec for spec in list_outputs(tools[step.tool])}
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


def _effects(used: Sequence[ToolSpec]) -> list[str] | None:
    """Return the union of the steps' effects; None if one of them declares none."""
    declared = [tool.effects for tool in used if tool.effects is not None]
    if len(declared) < len(used):
        return None
    return [
        f"paths: {_joined(path for e in declared for path in e.paths)}",
        f"hosts: {_joined(host for e in declared for host in e.hosts)}",
        f"commands: {_joined(command for e in declared for command in e.commands)}",
    ]


def _example(example: Example | None) -> list[str] | None:
    if example is None:
        return None
    return dump_yaml([examples.item(example)], compact=True).rstrip("\n").split("\n")


def _joined(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(map(one_line, words))) or "none"
