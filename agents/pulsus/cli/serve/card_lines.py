"""The text of a card on a terminal. Pure.

Characters that hide or deceive are shown as codes: what a person approves is what is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pulsus.cli import console
from pulsus.core.telemetry.visible_text import visible_command, visible_text


def card_row(card: dict[str, Any]) -> str:
    """Return a card on one line, with the first line of its reason."""
    reason = next(iter(_text(card["reason"]).splitlines()), "")
    return (
        f"{card['id']}  {_state(card)}  {card['kind']}  risk {card['risk_level']}  "
        f"{_text(card['requester'])}  {reason}".rstrip()
    )


def card_lines(card: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a card. Characters that hide or deceive are shown as codes."""
    yield f"{card['id']}  {_state(card)}  {card['kind']}  risk {card['risk_level']}"
    yield f"  asked by    {_text(card['requester'])}"
    for name, line in _labelled("reason", _text(card["reason"]).splitlines()):
        yield f"  {name:<10}  {line}"
    for name, line in _labelled("plan", [*_plan_lines(card)]):
        yield f"  {name:<10}  {line}"
    if card["kind"] == "migration" and card["executor"]:
        dry = "nothing is moved" if card["executor"] == "dry-run" else "VMs are moved"
        yield f"  executor    {_text(card['executor'])}: {dry}"
    if card["targets"]:
        yield f"  targets     {_text(', '.join(card['targets']))}"
    yield f"  plan hash   {card['plan_hash'][:12]}"
    yield f"  expires     {card['expires_at']}"
    if card["decided_by"]:
        yield f"  decided by  {_text(card['decided_by'])}"
    for name, line in _labelled("result", [_text(row) for row in card["results"]]):
        yield f"  {name:<10}  {line}"


def _state(card: dict[str, Any]) -> str:
    """Return the state of a card in words: of "unknown" there are two sorts."""
    if card["status"] != "unknown":
        return str(card["status"])
    return "in doubt" if card.get("in_doubt") else "never started"


def _plan_lines(card: dict[str, Any]) -> Iterator[str]:
    plan = card["plan"]
    if card["kind"] == "migration":
        for each in plan:
            way = f"{each['source']} -> {each['target']}" if each["source"] else each["target"]
            yield _text(f"{each['action']} vmid {each['vmid']}: {way}")
    elif card["kind"] == "promotion":
        yield from _promotion_lines(plan)
    elif card["kind"] == "plan":
        yield from _saved_plan_lines(plan)
    elif isinstance(plan, dict) and "command" in plan:
        yield visible_command(str(plan["command"]))
    else:
        yield from _text(console.pretty(plan)).splitlines()


def _promotion_lines(plan: dict[str, Any]) -> Iterator[str]:
    """Yield what is promoted, its proof and effects, its contract, and how the file changes."""
    before = plan["replaces_sha256"]
    yield _text(f"promote {plan['path']} as {plan['tool']}, {plan['kind']}")
    yield f"sha256 {plan['sha256']}"
    yield f"replaces {before}" if before else "new: no file is replaced"
    yield _text(f"proof: {plan['proof']}; {', '.join(plan['checks'])}")
    for warning in plan["warnings"]:
        yield _text(f"warning: {warning}")
    for name in ("declared", "observed"):
        yield f"effects {name}: {_effects_text(plan['effects'][name])}"
    yield "contract:"
    yield from (f"  {_text(line)}" for line in plan["contract"].splitlines())
    yield "difference:"
    yield from (f"  {_text(line)}" for line in plan["difference"].splitlines())


def _effects_text(effects: dict[str, list[str]] | None) -> str:
    """Return effects on one line."""
    found = [f"{name} {', '.join(rows)}" for name, rows in (effects or {}).items() if rows]
    return _text("; ".join(found)) or "none"


def _saved_plan_lines(plan: dict[str, Any]) -> Iterator[str]:
    """Yield the steps of a plan with their inputs, and the values that it gets."""
    yield _text(f"{plan['file']}: {len(plan['steps'])} steps, {plan['hash']}")
    for name, value in plan["inputs"].items():
        yield _text(f"input {name} = {json.dumps(value, ensure_ascii=False)}")
    for step in plan["steps"]:
        asks = f", approval: {step['approval']}" if step["approval"] else ""
        version = f"@{step['version']}" if step["version"] else ""
        yield _text(f"{step['step']}  {step['kind']}{asks}  {step['tool']}{version}")
        for name, value in (*step["inputs"].items(), *step["control"].items()):
            yield _text(f"    {name} = {json.dumps(value, ensure_ascii=False)}")
        if step["kind"] == "write" and step["side_effects"]:
            yield from (f"    {_text(line)}" for line in step["side_effects"].splitlines())


def _labelled(name: str, lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each line with the name before the first one only."""
    yield from ((name if number == 0 else "", line) for number, line in enumerate(lines))


def _text(value: object) -> str:
    return visible_text(str(value))
