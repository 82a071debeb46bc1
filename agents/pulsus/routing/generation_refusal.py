"""Decide why a request that no tool fits is not given to the generator (spec §6, §7)."""

from __future__ import annotations

import shlex

from pulsus.errors import NothingFits
from pulsus.routing.delivery.route_run import RouteRun
from pulsus.routing.search.searcher import SearchResult


def no_tool_failure(run: RouteRun, found: SearchResult, reason: str) -> NothingFits | None:
    """Return why the route ends without a tool; None if the generator is to write one."""
    wanted, model = run.options.wanted, run.project.settings.model
    if found.filtered and not wanted.forced:
        return NothingFits(
            reason, hint="ask without that filter, or change [access] in config/pulsus.toml"
        )
    if wanted.scaffold:
        return None
    if not model.base_url:
        from pulsus.llm.connect import not_configured  # late: only for the hint what to set

        missing = not_configured(model)
        if not wanted.forced:
            missing.message = f"{reason}; a tool would have to be written, and {missing.message}"
        command = f"pulsus generate {shlex.quote(run.text)} --scaffold"
        skeleton = f"without a model, write it by hand from a skeleton: {command}"
        missing.hint = f"{missing.hint}; {skeleton}"
        if not wanted.forced:
            missing.hint = f"{_hint_at_nearest(found)}; for a new tool, {missing.hint}"
        return missing
    if run.inspects:
        return NothingFits(
            f"{reason}; {model.name} would be asked to write a tool, but this command only "
            "inspects",
            hint=f"{_hint_at_nearest(found)}; for a new tool, leave out --plan and --explain, or "
            "`pulsus generate` it",
        )
    return None


def _hint_at_nearest(found: SearchResult) -> str:
    if found.candidates:
        return (
            "if one of the nearest tools is right, `pulsus run ID` runs it; else ask in other words"
        )
    return "ask in other words: `pulsus tools list` shows what the tools are called"
