"""May these bytes run? The filters, the promotion and the approved records of a tool decide.

A tool that `access` denies (POLICY_BLOCKED), that is not promoted, or whose file changed since
(NOT_PROMOTED) is refused. Filters are in `routing/search/access_filter.py`, approvals in
`routing/delivery/approved_records_check.py`.

The hash (sha256) of the bytes must be that of the promoted version. Nothing here starts a process.
`routing/runs/run_promoted.py` asks before a tool runs.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from pulsus.core.contract.effective_kind import get_stricter_kind
from pulsus.core.storage.records.promotion_target import Target, command_to_promote
from pulsus.core.types import ToolSpec
from pulsus.errors import Denied, NotPromoted, RecordUnknown
from pulsus.execution.confinement.choose_confinement import Mode
from pulsus.routing.delivery.deliver import digest
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.search.access_filter import access_filter

_LOG = logging.getLogger("pulsus")


def check_access(project: Project, tool: ToolSpec, steps: Sequence[ToolSpec]) -> None:
    """Raise Denied where the filters of the settings leave the tool out, or deny a step of it."""
    filters = access_filter(project.settings.access)
    if filters is None:
        return
    denied = next((step for step in steps if not filters.allows(step.id)), None)
    why = filters.refusal(tool) or (denied and filters.refusal(denied))
    if why:
        step = f", by its step {denied.id}" if denied and not filters.refusal(tool) else ""
        raise Denied(
            f"{tool.id} is not run{step}: {why}",
            hint="change [access] in config/pulsus.toml if it may run after all",
            tool=tool.id,
        )


def require_promoted(project: Project, tool: ToolSpec, source: bytes) -> ToolSpec:
    """Return the tool, with the kind it counts as: write where its dry run did what it does not
    declare.

    Raises NotPromoted unless exactly these bytes are the tool's latest revision.
    """
    target = Target(tool.domain, tool.action, tool.name)
    promoted = project.promoter().current(target, digest(source))
    if promoted is None:
        raise NotPromoted(
            f"{tool.id} is not promoted in its present form, and only promoted tools are run",
            hint=f"prove and promote it: {command_to_promote(tool, project.project)}",
            tool=tool.id,
        )
    return replace(tool, kind=get_stricter_kind(tool.kind, promoted.kind))


def require_approved_records(project: Project, used: Sequence[ToolSpec], confinement: Mode) -> Mode:
    """Return how to confine a run, given whose records this user did not approve (ADR 31).

    Tools that only read, reach no host, start no program and get no secret run confined, with a
    warning. Raises RecordUnknown for any other, or with `off`; RecordChanged, AuditTampered,
    UserStateInvalid.
    """
    check = project.record_check()
    unknown = check.unknown(used)
    if not unknown:
        return confinement
    reason = "; ".join(unknown).removeprefix(f"{used[0].id}: ")
    open_ended = next((each.id for each in used if _is_open_ended(each)), None)
    if confinement == "off" or open_ended:
        why = (
            "it is not run without confinement"
            if confinement == "off"
            else (f"{open_ended} may write, reach a host, start a program or get a secret")
        )
        raise RecordUnknown(
            f"{used[0].id} is not run: {reason}; and {why}",
            hint=check.how_to_accept,
            tool=used[0].id,
        )
    _LOG.warning("%s runs confined only: %s (%s)", used[0].id, reason, check.how_to_accept)
    return "required"


def _is_open_ended(tool: ToolSpec) -> bool:
    """True if confinement would leave the tool more than reading files and giving a result."""
    effects = tool.effects
    declared = bool(effects and (effects.hosts or effects.commands))
    return tool.kind == "write" or declared or bool(tool.secrets)
