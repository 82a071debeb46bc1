"""What `pulsus audit` says of a project's settings that need approval (ADR 27)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pulsus.routing.maintenance.audit_catalogue import Finding, Level

if TYPE_CHECKING:
    from pulsus.bootstrap import App
    from pulsus.bootstrap.project_trust import Standing


def settings_findings(app: App) -> Iterator[Finding]:
    """One finding for each value of a project file that widens what may run or leave.

    A setting that is not approved is an error: no command runs with it. The project's tables of
    commands are a warning, because only commands of their programs are refused.
    """
    for each in app.standings:
        yield _setting_finding(app, each)


def _setting_finding(app: App, each: Standing) -> Finding:
    from pulsus.bootstrap.project_trust import TABLES, shown

    place = app.project / each.found.file
    line = each.found.line or None
    value = shown(app.redactor.redact_value(each.value))
    if each.state == "approved" and each.approved is not None:
        when = each.approved.approved_at[:10]
        reason = f"{each.key} = {value} was approved on this machine on {when}"
        fix = "`pulsus config trust --revoke KEY` takes an approval back"
        return Finding("SETTING_APPROVED", "info", place, line, None, reason, fix)
    reason = f"{each.key} = {value} widens what may run or leave, and is not approved here"
    if app.trust_failure:
        reason += f": {app.trust_failure}"
    fix = "`pulsus config trust KEY` shows and asks; in CI set the variable of the setting"
    level: Level = "warning" if each.key == TABLES else "error"
    return Finding("SETTING_UNAPPROVED", level, place, line, None, reason, fix)
