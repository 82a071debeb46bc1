"""Describe a call to the person who approves it: as a command, with its target and difference.

Effect: only through `read_file`, which returns what a file holds now.
"""

from __future__ import annotations

import difflib
import json
import shlex
from collections.abc import Callable
from typing import Final

from pulsus.agent.loop.call_draft import CallDraft
from pulsus.core.telemetry.visible_text import compared_lines, visible_command
from pulsus.core.types import ToolSpec

ReadFile = Callable[[str], str | None]
"""Returns the text of a file, or None if it cannot be shown."""

_MOST_LINES: Final = 60
_LONGEST_LINE: Final = 200
_MOST_COMPARED: Final = 400
"""Lines of both versions together that are compared one by one."""


def equivalent_command(draft: CallDraft) -> str:
    """Return the shell command that does what a built-in tool would do, or an empty text.

    The policy is asked about it, so that a rule holds for the command and for the tool alike.
    """
    args, needs = draft.call.args, draft.needs
    if needs.command:
        return needs.command
    name = _target_name(draft)
    action = str(args.get("action", ""))
    match draft.call.tool:
        case "pulsus_file_edit":
            appends = ["-a"] if action == "append" else []
            return shlex.join(["tee", *appends, str(args.get("path", ""))])
        case "pulsus_control" if args.get("type") == "service":
            return shlex.join(["systemctl", action, str(args.get("service") or name)])
        case "pulsus_control" if args.get("type") == "guest":
            return shlex.join([_guest_client(draft), action, name])
        case "pulsus_docker" if action == "control":
            return shlex.join(["docker", str(args.get("operation", "")), name])
        case "pulsus_kubernetes" if args.get("type") == "delete_pod":
            return shlex.join(["kubectl", "delete", "pod", name])
        case "pulsus_kubernetes" if args.get("type") == "restart":
            return shlex.join(["kubectl", "rollout", "restart", f"deployment/{name}"])
        case "pulsus_kubernetes" if args.get("type") == "scale":
            count = f"--replicas={args.get('replicas', '')}"
            return shlex.join(["kubectl", "scale", f"deployment/{name}", count])
        case _:
            return ""


def _target_name(draft: CallDraft) -> str:
    if draft.resources:
        return draft.resources[0].name
    return draft.needs.targets[0] if draft.needs.targets else ""


def _guest_client(draft: CallDraft) -> str:
    kind = draft.resources[0].kind if draft.resources else ""
    return {"docker_container": "docker", "lxc": "pct", "vm": "qm"}.get(kind, "virsh")


def command_line(draft: CallDraft) -> str:
    """Return the call as one line: its command, or the tool with its arguments."""
    command = equivalent_command(draft)
    if command:
        return command
    args = [f"{name}={json.dumps(value)}" for name, value in draft.call.args.items()]
    return " ".join([draft.call.tool, *args])


def describe_call(draft: CallDraft, reason: str, spec: ToolSpec | None, read_file: ReadFile) -> str:
    """Return the lines that a person reads before an approval.

    No text makes lines of its own but the difference of a file.
    """
    lines = [visible_command(reason)]
    targets = [resource.id for resource in draft.resources] or [*draft.needs.targets]
    if targets:
        lines.append(visible_command(f"target: {', '.join(targets)}"))
    if spec is not None:
        effects = spec.side_effects or "its contract does not say what"
        lines.append(visible_command(f"changes: {effects}"))
    if draft.call.tool == "pulsus_file_edit" and draft.kind == "write":
        lines += _difference(draft, read_file)
    return "\n".join(lines)


def _difference(draft: CallDraft, read_file: ReadFile) -> list[str]:
    path = str(draft.call.args.get("path", ""))
    content = str(draft.call.args.get("content", ""))
    before = read_file(path)
    after = (before or "") + content if draft.call.args.get("action") == "append" else content
    path = visible_command(path)
    name = path if before is not None else f"{path} (new, or not shown)"
    found = _changed_lines(compared_lines(before or ""), compared_lines(after), name, path)
    shown = [_cut(line) for line in found[:_MOST_LINES]]
    if len(found) > _MOST_LINES:
        shown.append(f"… {len(found) - _MOST_LINES} more lines")
    return shown or ["the file stays as it is"]


def _cut(line: str) -> str:
    rest = len(line) - _LONGEST_LINE
    return line if rest <= 0 else f"{line[:_LONGEST_LINE]} … {rest} more characters"


def _changed_lines(old: list[str], new: list[str], name: str, path: str) -> list[str]:
    """Return the lines of a unified difference. Long changes are listed and not compared.

    A comparison of two long files takes seconds, and is too long to read.
    """
    if len(old) + len(new) <= _MOST_COMPARED:
        return list(difflib.unified_diff(old, new, name, path, lineterm="", n=2))
    most = min(len(old), len(new))
    start = next((at for at in range(most) if old[at] != new[at]), most)
    end = next((at for at in range(most - start) if old[-1 - at] != new[-1 - at]), most - start)
    gone, come = old[start : len(old) - end], new[start : len(new) - end]
    if not gone and not come:
        return []
    head = [
        f"--- {name}",
        f"+++ {path}",
        f"@@ line {start + 1}: -{len(gone)} +{len(come)} lines @@",
    ]
    half = _MOST_LINES // 2
    rest = len(gone[half:]) + len(come[half:])
    lines = [*(f"-{line}" for line in gone[:half]), *(f"+{line}" for line in come[:half])]
    return [*head, *lines, *([f"… {rest} more lines"] if rest else [])]
