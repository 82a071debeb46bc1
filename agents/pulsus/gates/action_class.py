"""Which known kind of change a command is, by `action_class.yaml`: one call, word by word."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from pulsus.commands.shell.script_parser import read
from pulsus.commands.shell.words import Unreadable
from pulsus.commands.shell.wrappers import unwrap
from pulsus.gates.command_patterns import is_whole

_FILE: Final = Path(__file__).parent / "action_class.yaml"


def action_class(command: str, target_type: str) -> str:
    """The kind of change, for example `service-restart`; empty for one that is not known.

    Nothing is known of several programs in one command, and of one kind of target for another.
    """
    try:
        script = read(command)
    except Unreadable:
        return ""
    only = script.stages[0]
    if script.compound or script.redirects or only.assignments:
        return ""
    words = unwrap(only.words)
    for name, kind in _kinds().items():
        if target_type in kind["targets"].split() and any(
            is_whole(c, words) for c in kind["calls"]
        ):
            return name
    return ""


@cache
def _kinds() -> Mapping[str, Any]:
    """The file as parsed. Effect: reads it, once."""
    # Late: a warm route imports no YAML.
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    raw: Mapping[str, Any] = yaml.load(_FILE.read_text(encoding="utf-8"), Loader=loader)
    return raw
