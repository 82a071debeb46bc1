"""`pulsus_read`: read-only commands, files, file names, ends of files and logs (§2.4, §2.5).

Without a number, 100 log lines or the last 50 lines of a file are read. Limits: files in
`agent/tools/local/readable_files.py`, searches in `agent/tools/local/file_search.py`, logs in
`agent/tools/local/log_sources.py`, output in `agent/tools/local/tool_report.py`.

A command runs only if the command gate allows it as a read. Nothing here can change anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pulsus.agent.tool_protocol import CallContext, CallNeeds, CallOutcome
from pulsus.agent.tools.local import command_runs
from pulsus.agent.tools.local.file_search import find_files
from pulsus.agent.tools.local.local_system import (
    LocalSystem,
    is_service,
    number_of,
    targets_of,
    text_of,
)
from pulsus.agent.tools.local.log_sources import LogQuestion, read_logs
from pulsus.agent.tools.local.readable_files import FileRefused, FileText, read_end, read_start
from pulsus.agent.tools.local.tool_report import LINES_BEFORE
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.gates.tool_response import ToolResponse
from pulsus.infra.inventory import CONTAINER

_TAIL_LINES: Final = 50
_LOG_LINES: Final = 100
_FOUND: Final = 100


@dataclass(frozen=True, slots=True)
class ReadTool:
    """Reads on this machine."""

    system: LocalSystem

    @property
    def descriptor(self) -> ToolDescriptor:
        """Return the tool's descriptor."""
        return built_in_tools()["pulsus_read"]

    def needs(self, args: Mapping[str, JsonValue]) -> CallNeeds:
        """Return the command or the path that the call reads."""
        action, path = text_of(args, "action"), text_of(args, "path")
        return CallNeeds(
            action=action,
            targets=targets_of(args),
            command=text_of(args, "command") if action == "exec" else "",
            paths=(path,) if path and action in {"file", "find", "tail"} else (),
            checks_routing=True,
        )

    def run(self, args: Mapping[str, JsonValue], context: CallContext) -> CallOutcome:
        """Run the read."""
        target = self.system.target_of(context)
        action = text_of(args, "action")
        elsewhere = self.system.refuse_elsewhere(target)
        if elsewhere and not (action == "logs" and target.kind == CONTAINER):
            return CallOutcome(elsewhere)
        try:
            response = self._read(action, target, args, context)
        except FileRefused as refused:
            response = self.system.file_refused(refused)
        except OSError as error:
            message = f"{text_of(args, 'path')} cannot be read: {error.strerror}"
            response = self.system.report.failed("EXECUTION_FAILED", message)
        return CallOutcome(response, read=(target.id,) if response.ok else ())

    def _read(
        self,
        action: str,
        target: ResolvedResource,
        args: Mapping[str, JsonValue],
        context: CallContext,
    ) -> ToolResponse:
        system, path = self.system, text_of(args, "path")
        match action:
            case "exec":
                return command_runs.run_read(system, text_of(args, "command"), context)
            case "file":
                return self._file(read_start(path, system.protected))
            case "tail":
                lines = number_of(args, "lines", _TAIL_LINES)
                return self._tail(read_end(path, lines + LINES_BEFORE, system.protected), lines)
            case "find":
                return self._find(path, args, context)
            case _:
                named = target.name if is_service(target) or target.kind == CONTAINER else ""
                asked = LogQuestion(
                    unit=text_of(args, "unit") or named,
                    pattern=text_of(args, "pattern"),
                    lines=number_of(args, "lines", _LOG_LINES),
                    since=text_of(args, "since"),
                )
                return read_logs(system, target, asked, context)

    def _file(self, found: FileText) -> ToolResponse:
        data: dict[str, JsonValue] = {
            "path": found.path,
            "size_bytes": found.size_bytes,
            "truncated": not found.complete,
        }
        if found.real != found.path:
            data["real_path"] = found.real
        if found.text is None:
            data["binary"] = True
        else:
            data["content"] = found.text
        return self.system.report.success(data)

    def _tail(self, found: FileText, wanted: int) -> ToolResponse:
        if found.text is None:
            return self._file(found)
        shown, meta = self.system.report.last_lines(found.text.splitlines(), wanted)
        data: dict[str, JsonValue] = {
            "path": found.path,
            "size_bytes": found.size_bytes,
            "lines": shown,
        }
        return self.system.report.success(data, meta)

    def _find(self, path: str, args: Mapping[str, JsonValue], context: CallContext) -> ToolResponse:
        if not Path(path).is_dir():
            return self.system.report.failed("NOT_FOUND", f"there is no folder {path}")
        found = find_files(
            path,
            text_of(args, "pattern"),
            number_of(args, "lines", _FOUND),
            self.system.protected,
            lambda: context.cancellation.is_cancelled,
        )
        rows: list[JsonValue] = list(found.rows)
        data: dict[str, JsonValue] = {"path": path, "matches": rows, "total": len(rows)}
        return self.system.report.success(data, {"note": found.note} if found.note else {})
