"""Find the promoted tools that need another tool: `pulsus tools remove`. Effect: reads files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pulsus.core.compose.plans.module_source import read_plan
from pulsus.core.storage.records import promotion_records, version_archive
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.storage.records.promotion_target import Target
from pulsus.errors import PlanInvalid, ToolInUse

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ToolUsers:
    """Ids of the promoted tools that need one tool, sorted.

    `compositions` have it as a step. `deprecated` name it as their replacement.
    """

    compositions: tuple[str, ...]
    deprecated: tuple[str, ...]

    def reasons(self) -> tuple[str, ...]:
        """Return one clause for each kind of use."""
        found = []
        if self.compositions:
            found.append(f"it is a step of {_list_ids(self.compositions)}")
        if self.deprecated:
            found.append(f"it replaces the deprecated {_list_ids(self.deprecated)}")
        return tuple(found)


def find_users(root: Path, tool_id: str) -> ToolUsers:
    """Return the promoted tools at `root` that need `tool_id`; deprecated compositions do not.

    A composition whose plan cannot be read is not one of them: it cannot run either, and
    `pulsus audit` reports it. Raises MetadataCorrupt, StorageUnwritable, TargetRefused.
    """
    latest = {record.tool_id: record for record in promotion_records.read_all(root)}
    others = [r for r in latest.values() if not r.removed and r.tool_id != tool_id]
    return ToolUsers(
        tuple(
            sorted(r.tool_id for r in others if not r.deprecated and _is_step_of(root, r, tool_id))
        ),
        tuple(sorted(r.tool_id for r in others if r.deprecated and r.replacement == tool_id)),
    )


def refuse_if_used(tool_id: str, *, allowed: bool) -> Callable[[Path], None]:
    """Return a check that raises ToolInUse if a promoted tool needs `tool_id`.

    `allowed` is the decision of the user that it may go all the same. A deprecated tool may too:
    its users were told to change.
    """

    def check(root: Path) -> None:
        record = {r.tool_id: r for r in promotion_records.read_all(root)}.get(tool_id)
        if allowed or (record is not None and record.deprecated):
            return
        users = find_users(root, tool_id)
        if users.reasons():
            raise ToolInUse(
                f"{tool_id} is not removed: {'; '.join(users.reasons())}",
                hint="deprecate it first (pulsus deprecate), or remove it in any case: --force",
                tool=tool_id,
                compositions=list(users.compositions),
                deprecated=list(users.deprecated),
            )

    return check


def _is_step_of(root: Path, record: PromotionRecord, tool_id: str) -> bool:
    domain = None if record.domain == "shared" else record.domain
    place = Target(domain, record.action, record.name.removesuffix(".py"))
    source = version_archive.read_file(root, place.folders, record.name)
    if source is None or tool_id.rpartition("/")[2].encode() not in source:
        return False
    try:
        plan = read_plan(source)
    except PlanInvalid:
        return False
    names = (tool_id, tool_id.rpartition("/")[2])
    return plan is not None and any(step.tool in names for step in plan.steps)


def _list_ids(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return f"{', '.join(ids[:_SHOWN])}{more}"
