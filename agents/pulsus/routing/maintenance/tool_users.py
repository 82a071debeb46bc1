"""Find the promoted tools that need another tool: `pulsus tools remove`. Effect: reads files.

It refuses to remove a tool that others depend on (TOOL_IN_USE). A deprecated tool may leave
compositions, but not the tools that verify or undo with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from pulsus.core.compose.plans.module_source import read_plan
from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.storage.records import promotion_records, version_archive
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.types import ToolSpec
from pulsus.errors import PlanInvalid, ToolInUse

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ToolUsers:
    """Ids of the promoted tools that need one tool, sorted.

    `compositions` have it as a step. `deprecated` name it as their replacement. `callers` name it
    in their `Verify:` or `Undo:`.
    """

    compositions: tuple[str, ...]
    deprecated: tuple[str, ...]
    callers: tuple[str, ...]

    def reasons(self) -> tuple[str, ...]:
        """Return one clause for each kind of use."""
        found = []
        if self.compositions:
            found.append(f"it is a step of {_list_ids(self.compositions)}")
        if self.deprecated:
            found.append(f"it replaces the deprecated {_list_ids(self.deprecated)}")
        if self.callers:
            found.append(f"`Verify:` or `Undo:` names it in {_list_ids(self.callers)}")
        return tuple(found)


def find_users(root: Path, tool_id: str) -> ToolUsers:
    """Return the promoted tools at `root` that need `tool_id`; deprecated compositions do not.

    A deprecated tool still verifies its writes, so it stays a caller. A module that cannot be read
    is no user: it cannot run either, and `pulsus audit` reports it. Raises MetadataCorrupt,
    StorageUnwritable, TargetRefused.
    """
    latest = {record.tool_id: record for record in promotion_records.read_all(root)}
    others = [r for r in latest.values() if not r.removed and r.tool_id != tool_id]
    return ToolUsers(
        tuple(
            sorted(r.tool_id for r in others if not r.deprecated and _is_step_of(root, r, tool_id))
        ),
        tuple(sorted(r.tool_id for r in others if r.deprecated and r.replacement == tool_id)),
        tuple(sorted(r.tool_id for r in others if _is_called_by(root, r, tool_id))),
    )


def refuse_if_used(tool_id: str, *, allowed: bool) -> Callable[[Path], None]:
    """Return a check that raises ToolInUse if a promoted tool needs `tool_id`.

    `allowed` is the decision of the user that it may go all the same. A deprecated tool may leave
    compositions and replacements: their users were told to change. It may not leave the callers,
    because their writes would run and end unverified.
    """

    def check(root: Path) -> None:
        if allowed:
            return
        record = {r.tool_id: r for r in promotion_records.read_all(root)}.get(tool_id)
        users = find_users(root, tool_id)
        if record is not None and record.deprecated:
            users = replace(users, compositions=(), deprecated=())
        if users.reasons():
            first = (
                f"deprecate it first: pulsus deprecate {tool_id} --replacement TOOL "
                "--sunset YYYY-MM-DD"
            )
            if users.callers:
                first = "name another tool in those `Verify:` and `Undo:`, and promote them again"
            raise ToolInUse(
                f"{tool_id} is not removed: {'; '.join(users.reasons())}",
                hint=f"{first}, or remove it in any case: --force",
                tool=tool_id,
                compositions=list(users.compositions),
                deprecated=list(users.deprecated),
                callers=list(users.callers),
            )

    return check


def _read_module(root: Path, record: PromotionRecord, needle: str) -> bytes | None:
    """Return the module of a record if its bytes hold `needle`, else None."""
    domain = None if record.domain == "shared" else record.domain
    place = Target(domain, record.action, record.name.removesuffix(".py"))
    source = version_archive.read_file(root, place.folders, record.name)
    return source if source is not None and needle.encode() in source else None


def _is_step_of(root: Path, record: PromotionRecord, tool_id: str) -> bool:
    name = tool_id.rpartition("/")[2]
    source = _read_module(root, record, name)
    if source is None:
        return False
    try:
        plan = read_plan(source)
    except PlanInvalid:
        return False
    return plan is not None and any(step.tool in (tool_id, name) for step in plan.steps)


def _is_called_by(root: Path, record: PromotionRecord, tool_id: str) -> bool:
    source = _read_module(root, record, tool_id)
    if source is None:
        return False
    tool = read_tool(
        source,
        path=root / record.name,
        tool_id=record.tool_id,
        domain=record.domain,
        action=record.action,
        name=record.name.removesuffix(".py"),
        max_bytes=len(source),
    )
    calls = (tool.verify, tool.undo) if isinstance(tool, ToolSpec) else ()
    return any(call is not None and call.tool == tool_id for call in calls)


def _list_ids(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return f"{', '.join(ids[:_SHOWN])}{more}"
