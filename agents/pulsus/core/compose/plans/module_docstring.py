"""Build the docstring contract of a composed module (docs/tool-contract.md). Pure.

Kind, effects and secrets of a composition are the union of its steps' here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pulsus.core.compose.plans.dsl.plan_file import dump_yaml
from pulsus.core.compose.plans.wiring import list_outputs
from pulsus.core.compose.rendering import render_contract
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

# From the weakest kind to the strongest: a module may do what its strongest step may do.
_STRENGTH: tuple[Kind, ...] = ("resolve", "read", "write")
_SUMMARY_CHARS = 200


def render_plan_contract(
    plan: Plan,
    tools: Mapping[str, ToolSpec],
    params: Sequence[ArgSpec],
    example: Example | None,
) -> str:
    """Return the whole docstring. It declares at least what the steps declare together.

    The kind is the strongest kind of the steps. Effects and secrets are the union of theirs. If one
    step declares no effects, the module declares none either.
    """
    used = [tools[step.tool] for step in plan.steps]
    args = [_render_entry(param.name, param.type_hint, param.description) for param in params]
    returns = [
        _render_entry(name, spec.type_hint, spec.description)
        for name, spec in _list_returns(plan, tools)
    ]
    kind = max((tool.kind for tool in used), key=_STRENGTH.index)
    secrets = _join_words(secret for tool in used for secret in tool.secrets)
    sections = [
        ("Args:", args or ["none"]),
        ("Returns:", returns or ["none"]),
        ("Side effects:", _list_side_effects(plan, used) or ["none"]),
        (f"Kind: {kind}", []),
        ("Effects:", _merge_effects(used)),
        (f"Secrets: {secrets}", []),
        ("Examples:", _render_example(example)),
    ]
    summary = one_line(plan.description, _SUMMARY_CHARS) or "; then ".join(t.name for t in used)
    steps = [
        f"- {step.id}: {tool.id}: {one_line(tool.summary)}"
        for step, tool in zip(plan.steps, used, strict=True)
    ]
    body = "\n".join(("Runs these tools in order:", "", *steps))
    written = [(header, lines) for header, lines in sections if lines is not None]
    return render_contract(summary, "Plan", body, written)


def _render_entry(name: str, hint: str | None, text: str) -> str:
    words = one_line(text) or "See the step that uses it."
    return f"{name} ({type_hints.write_annotation(type_hints.parse_hint(hint))}): {words}"


def _list_returns(plan: Plan, tools: Mapping[str, ToolSpec]) -> list[tuple[str, OutputSpec]]:
    found: dict[str, OutputSpec] = {}
    for step in plan.steps:
        declared = {spec.name: spec for spec in list_outputs(tools[step.tool])}
        for name, key in step.outputs.items():
            found[name] = declared.get(key, OutputSpec(key, None))
    return [(name, found[name]) for name in plan.returns]


def _list_side_effects(plan: Plan, used: Sequence[ToolSpec]) -> list[str]:
    lines = []
    for step, tool in zip(plan.steps, used, strict=True):
        # A step without the section may have effects, so it is listed rather than left out.
        text = one_line(tool.side_effects if tool.side_effects is not None else "not stated")
        if text.rstrip(".").lower() not in ("", "none"):
            lines.append(f"{step.id} ({tool.id}): {text}")
    return lines


def _merge_effects(used: Sequence[ToolSpec]) -> list[str] | None:
    """Return the union of the steps' effects, or None if one step declares no effects."""
    declared = [tool.effects for tool in used if tool.effects is not None]
    # A union without that step would promise less than the module does.
    if len(declared) < len(used):
        return None
    return [
        f"paths: {_join_words(path for e in declared for path in e.paths)}",
        f"hosts: {_join_words(host for e in declared for host in e.hosts)}",
        f"commands: {_join_words(command for e in declared for command in e.commands)}",
    ]


def _render_example(example: Example | None) -> list[str] | None:
    if example is None:
        return None
    return dump_yaml([examples.write_item(example)], compact=True).rstrip("\n").split("\n")


def _join_words(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(map(one_line, words))) or "none"
