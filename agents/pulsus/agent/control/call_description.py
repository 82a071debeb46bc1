"""Describe a call to the person who approves it: as a command, with its target and difference.

The difference (diff) of a file edit is made by `approvals/cards/file_difference.py`.
`gates/command_policy.py` judges a built-in tool by the command that is equivalent to it.

Effect: only through `read_file`, which returns what a file holds now.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from typing import Final

from pulsus.agent.loop.call_draft import CallDraft
from pulsus.approvals.cards.file_difference import EditNotShown, appended_lines, file_difference
from pulsus.approvals.tool_description import describe_tool
from pulsus.core.telemetry.visible_text import visible_command
from pulsus.core.types import ToolSpec
from pulsus.gates.repeated_commands import is_decided_by_files

_FROM_CONTENT: Final = "content of a file decides what it changes: no rule can judge these targets"

ReadFile = Callable[[str], str | None]
"""Returns the text of a file, or None if it is new. Raises EditNotShown if it cannot be shown."""


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

    No text makes lines of its own but the difference of a file. Raises EditNotShown.
    """
    lines = [visible_command(reason)]
    targets = [resource.id for resource in draft.resources] or [*draft.needs.targets]
    if targets:
        lines.append(visible_command(f"target: {', '.join(targets)}"))
    if spec is not None:
        lines.append(visible_command(f"does: {describe_tool(spec)}"))
    if draft.kind == "write" and draft.needs.command and is_decided_by_files(draft.needs.command):
        lines.append(_FROM_CONTENT)
    if draft.call.tool == "pulsus_file_edit" and draft.kind == "write":
        lines += _difference(draft, read_file)
    return "\n".join(lines)


def _difference(draft: CallDraft, read_file: ReadFile) -> list[str]:
    path = str(draft.call.args.get("path", ""))
    content = str(draft.call.args.get("content", ""))
    appends = draft.call.args.get("action") == "append"
    try:
        before = read_file(path)
    except EditNotShown as hidden:
        if not appends:
            raise
        return appended_lines(path, content, str(hidden))
    return file_difference(path, before, (before or "") + content if appends else content)
