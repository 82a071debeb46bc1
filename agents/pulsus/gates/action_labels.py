"""Describe commands and tool actions for display and approval. Nothing here lets anything run.

The words for destructive actions are in `action_labels.yaml`. The risk that a person is shown is
decided in `approval_risk.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pulsus.commands import classify
from pulsus.commands.risk.risk_level import calls_in_text, destroys
from pulsus.commands.shell.script_parser import parse_command
from pulsus.commands.shell.words import Unreadable, Word
from pulsus.commands.shell.wrappers import unwrap
from pulsus.commands.shipped_data import rules_of
from pulsus.gates.command_patterns import is_exactly


def action_class(command: str, target_type: str) -> str:
    """Return the kind of change, for example `service-restart`, or an empty string.

    A command of several programs has no kind. Each kind applies to certain target types only.
    """
    try:
        script = parse_command(command)
    except Unreadable:
        return ""
    only = script.stages[0]
    if script.compound or script.redirects or only.assignments:
        return ""
    words = unwrap(only.words)
    for name, kind in _label_rules()["kinds"].items():
        if target_type in kind["targets"].split() and any(
            is_exactly(c, words) for c in kind["calls"]
        ):
            return str(name)
    return ""


def is_destructive(command: str) -> bool:
    """Return True if a part of the command may lose data or stop a service, machine or process."""
    if classify(command).allow:
        return False
    try:
        calls: list[Sequence[Word]] = [stage.words for stage in parse_command(command).stages]
    except Unreadable:
        calls = list(calls_in_text(command))
    return any(map(destroys, calls))


def is_read_only(command: str) -> bool:
    """Return True for a proven read, as written or in lower case."""
    return classify(command).allow or (
        command != command.lower() and classify(command.lower()).allow
    )


def is_write(action: str) -> bool:
    """Return True if `action`, a verb of a tool, changes something. An empty action does not."""
    verb = action.strip().lower()
    return bool(verb) and verb not in _label_rules()["read_verbs"].split()


def _label_rules() -> Mapping[str, Any]:
    rules: Mapping[str, Any] = rules_of(Path(__file__).with_suffix(".yaml"))
    return rules
