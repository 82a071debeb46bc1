"""`pulsus_file_edit`: read, replace or append to a file (§2.4). Written content is verified.

The atomic write, the backup of the previous version and the sha256 check after it are in
`agent/tools/local/file_replacement.py`.

Protected files are refused before, in `agent/control/protection/self_protection.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from pulsus.agent.tool_protocol import CallContext, CallNeeds, CallOutcome
from pulsus.agent.tools.local.file_replacement import EditStore, read_version, replace_file
from pulsus.agent.tools.local.local_system import LocalSystem, is_host, targets_of, text_of
from pulsus.agent.tools.local.readable_files import FileRefused
from pulsus.core.types import JsonValue
from pulsus.errors import PulsusError
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.gates.tool_response import ToolResponse


@dataclass(frozen=True, slots=True)
class FileEditTool:
    """Edits files of this machine."""

    system: LocalSystem

    @property
    def descriptor(self) -> ToolDescriptor:
        """Return the tool's descriptor."""
        return built_in_tools()["pulsus_file_edit"]

    def needs(self, args: Mapping[str, JsonValue]) -> CallNeeds:
        """Return the path, and the content that a write would set."""
        action = text_of(args, "action")
        written: dict[str, JsonValue] = {}
        if action != "read":
            written = {"path": text_of(args, "path"), "content": text_of(args, "content")}
        return CallNeeds(
            action,
            targets_of(args),
            paths=(text_of(args, "path"),),
            checks_routing=True,
            written=written,
        )

    def run(self, args: Mapping[str, JsonValue], context: CallContext) -> CallOutcome:
        """Read or write the file. A write needs consent."""
        target, action = self.system.target_of(context), text_of(args, "action")
        refusal = self.system.refuse_elsewhere(target)
        if refusal is None and action != "read":
            refusal = self.system.refuse_unapproved(context, f"pulsus_file_edit action={action}")
        if refusal is None and not is_host(target):
            refusal = self.system.report.blocked(
                "INVALID_INPUT",
                f"{target.id} has no files of its own: name its host {self.system.host.id}",
                target_resource_id=self.system.host.id,
            )
        if refusal is not None:
            return CallOutcome(refusal)
        path = text_of(args, "path")
        try:
            if action == "read":
                return CallOutcome(self._read(path), read=(target.id,))
            response = self._write(path, text_of(args, "content"), append=action == "append")
        except FileRefused as refused:
            answer = self.system.file_refused(refused)
            # A write that failed half way may have had an effect.
            wrote = action != "read" and not refused.unchanged
            changed = (target.id,) if wrote else ()
            return CallOutcome(answer, wrote=changed, unchanged=refused.unchanged)
        except PulsusError as error:
            answer = self.system.report.failed(
                "EXECUTION_FAILED", error.message, recovery_hint=error.hint
            )
            return CallOutcome(answer)
        return CallOutcome(response, wrote=(target.id,))

    def _read(self, path: str) -> ToolResponse:
        version = read_version(path, self.system.protected)
        if version is None:
            raise FileRefused("NOT_FOUND", f"{path} does not exist")
        data: dict[str, JsonValue] = {
            "path": path,
            "size_bytes": len(version.data),
            "sha256": version.sha256,
        }
        if b"\0" in version.data:
            data["binary"] = True
        else:
            data["content"] = version.data.decode("utf-8", "replace")
        return self.system.report.success(data)

    def _write(self, path: str, content: str, *, append: bool) -> ToolResponse:
        system = self.system
        store = EditStore(system.state_dir, system.report.now())
        edit = replace_file(
            path, content.encode("utf-8"), append=append, protected=system.protected, store=store
        )
        data: dict[str, JsonValue] = {
            "path": path,
            "action": "append" if append else "write",
            "created": edit.before is None,
            "changed": edit.before is None or edit.before.sha256 != edit.sha256,
            "size_bytes": edit.size_bytes,
            "sha256": edit.sha256,
            "mode": edit.mode,
            "verified": True,
        }
        if edit.before is not None:
            data |= {"previous_sha256": edit.before.sha256, "previous_version": edit.previous}
        return system.report.success(data)
