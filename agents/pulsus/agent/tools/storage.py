"""`pulsus_storage`: file systems, large folders, disks and pools of this machine (§7).

SMART health of a disk is read here. How full a disk may be is a threshold in
`infra/local_facts.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pulsus.agent.tool_protocol import CallContext, CallNeeds, CallOutcome
from pulsus.agent.tools.local import machine_figures
from pulsus.agent.tools.local.file_search import largest_folders
from pulsus.agent.tools.local.local_system import LocalSystem, targets_of, text_of
from pulsus.agent.tools.local.readable_files import FileRefused
from pulsus.commands.execution_plan import find_program
from pulsus.core.types import JsonValue
from pulsus.errors import ExtraMissing
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.infra.local_command import failure_line, output_text

_LARGEST: Final = 10
_BLOCK_DEVICES: Final = Path("/sys/block")
_VIRTUAL: Final = ("loop", "ram", "zram", "dm-", "sr", "fd")
_SECTOR: Final = 512
_LATER: Final = (
    "no backend of this Pulsus knows {0}: they belong to Proxmox, which is not connected"
)
_NO_POOLS: Final = "neither ZFS (zpool) nor LVM (vgs) is installed here"


@dataclass(frozen=True, slots=True)
class StorageTool:
    """Shows the storage of this machine."""

    system: LocalSystem

    @property
    def descriptor(self) -> ToolDescriptor:
        """Return the tool's descriptor."""
        return built_in_tools()["pulsus_storage"]

    def needs(self, args: Mapping[str, JsonValue]) -> CallNeeds:
        """Return what the call reads, and why it cannot be read here."""
        kind, path = text_of(args, "type"), text_of(args, "path")
        unavailable = ""
        if kind == "pools" and not any(find_program(each) for each in ("zpool", "vgs")):
            unavailable = _NO_POOLS
        elif kind not in {"filesystems", "disks", "pools"}:
            unavailable = _LATER.format(kind)
        paths = (path,) if path else ()
        return CallNeeds(kind, targets_of(args), paths=paths, unavailable=unavailable)

    def run(self, args: Mapping[str, JsonValue], context: CallContext) -> CallOutcome:
        """Read the figures."""
        unavailable = self.needs(args).unavailable
        if unavailable:
            return self.system.refused("EXECUTION_CONTEXT_UNAVAILABLE", unavailable)
        target = self.system.target_of(context)
        elsewhere = self.system.refuse_elsewhere(target)
        if elsewhere is not None:
            return CallOutcome(elsewhere)
        try:
            match text_of(args, "type"):
                case "filesystems":
                    data = self._file_systems(text_of(args, "path"), context)
                case "disks":
                    data = {"disks": self._disks(context)}
                case _:
                    data = {"pools": self._pools(context)}
        except ExtraMissing as missing:
            return self.system.refused(
                "EXECUTION_CONTEXT_UNAVAILABLE", missing.message, recovery_hint=missing.hint
            )
        except FileRefused as refused:
            return CallOutcome(self.system.file_refused(refused))
        except (OSError, _PoolsUnreadable) as error:
            return CallOutcome(self.system.report.failed("EXECUTION_FAILED", str(error)))
        return CallOutcome(self.system.report.success(data), read=(target.id,))

    def _file_systems(self, path: str, context: CallContext) -> dict[str, JsonValue]:
        rows: list[JsonValue] = list(machine_figures.file_systems(path))
        data: dict[str, JsonValue] = {"host": self.system.host.name, "filesystems": rows}
        if path and Path(path).is_dir():
            found = largest_folders(
                path,
                _LARGEST,
                self.system.protected,
                lambda: context.cancellation.is_cancelled,
            )
            data["largest"] = list(found.rows)
            if found.note:
                data["note"] = found.note
        return data

    def _disks(self, context: CallContext) -> list[JsonValue]:
        if not _BLOCK_DEVICES.is_dir():
            return []
        names = sorted(each.name for each in _BLOCK_DEVICES.iterdir())
        return [self._disk(name, context) for name in names if not name.startswith(_VIRTUAL)]

    def _disk(self, name: str, context: CallContext) -> dict[str, JsonValue]:
        folder = _BLOCK_DEVICES / name
        health, why = self._health(f"/dev/{name}", context)
        row: dict[str, JsonValue] = {
            "host": self.system.host.name,
            "device": f"/dev/{name}",
            "model": _read_line(folder / "device" / "model"),
            "size_bytes": int(_read_line(folder / "size") or 0) * _SECTOR,
            "rotational": _read_line(folder / "queue" / "rotational") == "1",
            "health": health,
        }
        return row | ({"health_note": why} if why else {})

    def _health(self, device: str, context: CallContext) -> tuple[str, str]:
        """Return the SMART verdict, or "UNKNOWN" and the reason."""
        result = self.system.machine.commands.run(
            ("smartctl", "--json", "--health", device), cancellation=context.cancellation
        )
        if result is None:
            return "UNKNOWN", "smartctl is not installed"
        try:
            passed = json.loads(output_text(result))["smart_status"]["passed"]
        except (ValueError, KeyError, TypeError):
            return "UNKNOWN", "smartctl gives no verdict for this disk to this user"
        return ("PASSED" if passed else "FAILED"), ""

    def _pools(self, context: CallContext) -> list[JsonValue]:
        rows: list[JsonValue] = []
        if find_program("zpool"):
            listed = ("zpool", "list", "-H", "-p", "-o", "name,size,allocated,free,health")
            for name, size, used, free, health in self._table(listed, 5, context):
                rows.append(_pool(name, "zfs", size, used, free, health))
        if find_program("vgs"):
            columns = ("--noheadings", "--units", "b", "--nosuffix", "--separator", "\t")
            groups = ("vgs", *columns, "-o", "vg_name,vg_size,vg_free,vg_attr")
            for name, size, free, attributes in self._table(groups, 4, context):
                used = str(int(size) - int(free))
                rows.append(_pool(name, "lvm", size, used, free, attributes))
        return rows

    def _table(self, argv: tuple[str, ...], columns: int, context: CallContext) -> list[list[str]]:
        result = self.system.machine.commands.run(argv, cancellation=context.cancellation)
        if result is None or result.status != 0:
            why = failure_line(result) if result else "it cannot be started"
            raise _PoolsUnreadable(f"{argv[0]}: {why}")
        lines = (line.strip().split("\t") for line in output_text(result).splitlines())
        return [cells for cells in lines if len(cells) == columns]


class _PoolsUnreadable(Exception):
    """A pool manager does not answer; the text says why."""


def _pool(
    name: str, kind: str, size: str, used: str, free: str, health: str
) -> dict[str, JsonValue]:
    return {
        "name": name,
        "type": kind,
        "total_bytes": int(size),
        "used_bytes": int(used),
        "free_bytes": int(free),
        "status": health,
        "usage_percent": round(100 * int(used) / int(size), 1) if int(size) else 0.0,
    }


def _read_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
