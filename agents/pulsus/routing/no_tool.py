"""Why a request that no tool answers ends there, and does not go to the generator (spec §6, §7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulsus.errors import NothingFits
from pulsus.routing.generation.request import GenerationRequest
from pulsus.routing.search.searcher import SearchResult

if TYPE_CHECKING:
    from pulsus.routing.delivery.project import Project


def no_tool_failure(
    project: Project, found: SearchResult, reason: str, wanted: GenerationRequest, *, looks: bool
) -> NothingFits | None:
    """The failure; None where the generator is to write a tool. `looks`: nothing is to be done."""
    if found.filtered and not wanted.forced:
        return NothingFits(
            reason, hint="ask without that filter, or change [access] in config/pulsus.toml"
        )
    if wanted.scaffold:
        return None
    if not project.settings.model.base_url:
        from pulsus.llm.connect import not_configured  # only to say what to set

        missing = not_configured(project.settings.model)
        if not wanted.forced:
            missing.message = f"{reason}; a tool would have to be written, and {missing.message}"
        missing.hint += "; without a model, `pulsus generate --scaffold` starts a tool by hand"
        return missing
    if looks:
        return NothingFits(
            f"{reason}; {project.settings.model.name} would be asked to write a tool, and this "
            "only looks",
            hint="leave out --plan and --explain, or `pulsus generate` it",
        )
    return None
