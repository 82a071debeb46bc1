"""The lines that an approver reads on a card, the same on the page and in the terminal.

The terminal's layout is in `cli/serve/card_lines.py`.

No text of a card can make a line of its own, or hide a part of one: a plan, a file name or a reason
is folded by `visible_command`. Only a contract and a difference have lines, and each of them begins
with a sign or with blanks. Pure (tool calling §32.5).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pulsus.core.telemetry.visible_text import visible_command, visible_lines
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

_FILE_EDIT = "pulsus_file_edit"
_DIFFERENCE_HEAD = "--- "


@dataclass(frozen=True, slots=True)
class CardText:
    """The lines of a card, without line breaks and characters that hide."""

    plan: tuple[str, ...]
    reason: tuple[str, ...]
    difference: tuple[str, ...] = ()

    def to_json(self) -> dict[str, JsonValue]:
        """Return the field `shown` of a card."""
        return {
            "plan": [*self.plan],
            "reason": [*self.reason],
            "difference": [*self.difference],
        }


def card_text(card: Mapping[str, Any]) -> CardText:
    """Return the lines of a card, which has the fields of `GET /api/v1/approvals`.

    A plan of another shape, as an earlier version may have left it, is shown as JSON.
    """
    kind, plan, reason = card["kind"], card["plan"], card["reason"]
    try:
        lines = tuple(_plan_lines(kind, plan))
        difference = plan["difference"] if kind == "promotion" else ""
        is_edit = kind == "command" and plan.get("tool") == _FILE_EDIT
    except (KeyError, TypeError, AttributeError):
        return CardText(tuple(visible_lines(json.dumps(plan, indent=2))), _folded(reason))
    if kind == "command":
        return CardText(lines, *_call_reason(reason, is_edit=is_edit))
    return CardText(lines, _folded(reason), tuple(visible_lines(difference)))


def _plan_lines(kind: str, plan: Any) -> Iterator[str]:
    match kind:
        case "migration":
            yield from map(_action_line, plan)
        case "promotion":
            yield from _promotion_lines(plan)
        case "plan":
            yield from _saved_plan_lines(plan)
        case _:
            yield visible_command(plan["command"])


def _folded(reason: str) -> tuple[str, ...]:
    return (visible_command(reason.strip()),)


def _call_reason(reason: str, *, is_edit: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words and the difference of a call. Pulsus made each line of them."""
    lines = visible_lines(reason)
    heads = [at for at, line in enumerate(lines) if line.startswith(_DIFFERENCE_HEAD)]
    end = heads[0] if heads and is_edit else len(lines)
    return tuple(lines[:end]), tuple(lines[end:])


def _action_line(action: Mapping[str, Any]) -> str:
    source, target = action["source"], action["target"]
    way = f"{source} -> {target}" if source else target
    return visible_command(f"{action['action']} vmid {action['vmid']}: {way}")


def _promotion_lines(plan: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is promoted, its proof and effects, and its contract."""
    before = plan["replaces_sha256"]
    yield visible_command(f"promote {plan['path']} as {plan['tool']}, {plan['kind']}")
    yield visible_command(f"sha256 {plan['sha256']}")
    yield visible_command(f"replaces {before}" if before else "new: no file is replaced")
    if plan.get("replaces"):
        place = "/".join(str(part or "shared") for part in plan["replaces"])
        yield visible_command(f"moves here from {place}, which is then deprecated")
    for name in ("bump", "owner"):
        if plan.get(name):
            yield visible_command(f"{name}: {plan[name]}")
    yield visible_command(f"proof: {plan['proof']}; {', '.join(plan['checks'])}")
    for warning in plan["warnings"]:
        yield visible_command(f"warning: {warning}")
    for name in ("declared", "observed"):
        yield visible_command(f"effects {name}: {_effects_text(plan['effects'][name])}")
    if plan.get("network"):
        yield visible_command(f"its proof reached: {', '.join(plan['network'])}")
    if plan.get("does"):
        yield visible_command(f"does: {plan['does']}")
    yield "contract:"
    yield from (f"  {line}" for line in visible_lines(plan["contract"]))


def _effects_text(effects: Mapping[str, list[str]] | None) -> str:
    found = [f"{name} {', '.join(rows)}" for name, rows in (effects or {}).items() if rows]
    return "; ".join(found) or "none"


def _saved_plan_lines(plan: Mapping[str, Any]) -> Iterator[str]:
    """Yield the steps of a plan with their inputs, and the values that it gets."""
    count = len(plan["steps"])
    noun = "step" if count == 1 else "steps"
    yield visible_command(f"{plan['file']}: {count} {noun}, {plan['hash']}")
    for name, value in plan["inputs"].items():
        yield visible_command(f"input {name} = {_value_text(value)}")
    for step in plan["steps"]:
        asks = f", approval: {step['approval']}" if step["approval"] else ""
        version = f"@{step['version']}" if step["version"] else ""
        yield visible_command(f"{step['step']}  {step['kind']}{asks}  {step['tool']}{version}")
        for name, value in (*step["inputs"].items(), *step["control"].items()):
            yield f"    {visible_command(f'{name} = {_value_text(value)}')}"
        if step["kind"] == "write" and step["does"]:
            yield f"    {visible_command('does: ' + step['does'])}"


def _value_text(value: JsonValue) -> str:
    """Return a value as JSON, with every digit of a number."""
    return json.dumps(value, ensure_ascii=False)
