"""Read the promotion records and the ends of past routes of a project, when asked for.

How far back past routes are read is decided in `core/memory/past_routes.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from pulsus.core.telemetry import ids
from pulsus.core.types import ToolHistory
from pulsus.errors import MetadataCorrupt
from pulsus.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pulsus.bootstrap.project_context import ProjectContext
    from pulsus.core.memory.past_routes import PastRoute
    from pulsus.core.storage.records.promotion_records import PromotionRecord
    from pulsus.routing.search.deprecations import Deprecations

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class ProjectHistory:
    """The promotion records and past routes of one project."""

    ground: ProjectContext

    @cached_property
    def records(self) -> tuple[PromotionRecord, ...]:
        """Every promotion record. Raises MetadataCorrupt."""
        from pulsus.core.storage.records import promotion_records

        return promotion_records.read_all(self.ground.workflows_root)

    @cached_property
    def latest(self) -> Mapping[str, PromotionRecord]:
        """The last record of every promoted tool, by id. Raises MetadataCorrupt."""
        latest = {record.tool_id: record for record in self.records}
        return {tool: record for tool, record in latest.items() if not record.removed}

    @property
    def removed(self) -> tuple[PromotionRecord, ...]:
        """The last record of every removed tool; none if a record is damaged."""
        try:
            latest = {record.tool_id: record for record in self.records}
        except MetadataCorrupt:
            return ()
        return tuple(record for record in latest.values() if record.removed)

    @cached_property
    def shown_records(self) -> Mapping[str, PromotionRecord]:
        """Return `latest` for display: nothing, with a warning, if a record is damaged."""
        try:
            return self.latest
        except MetadataCorrupt as failure:
            _LOG.warning("versions and deprecations are not shown: %s", failure.message)
            return {}

    @cached_property
    def deprecations(self) -> Deprecations:
        """The deprecated tools. Raises MetadataCorrupt."""
        from pulsus.routing.search.deprecations import Deprecations

        return Deprecations.of(self.records, ids.utc_now().date())

    @cached_property
    def routes(self) -> tuple[PastRoute, ...]:
        """The ends of past routes, oldest first. Raises StateCorrupt."""
        from pulsus.core.memory import past_routes

        return past_routes.load_routes(self.ground.state_dir)

    @cached_property
    def history(self) -> Mapping[str, ToolHistory]:
        """The history of every tool. Raises MetadataCorrupt, StateCorrupt."""
        from pulsus.core.memory import past_routes

        return past_routes.history(self.records, self.routes)

    @cached_property
    def promotions(self) -> Mapping[str, ToolHistory]:
        """The history of every tool by its promotion records alone. Raises MetadataCorrupt."""
        from pulsus.core.memory import past_routes

        return past_routes.history(self.records, ())

    def remember(self, route: PastRoute) -> None:
        """Keep how a route ended, for the history feature."""
        from pulsus.core.memory import past_routes
        from pulsus.core.system.state_dir import open_state

        open_state(self.ground.state_dir)
        past_routes.record_route(self.ground.state_dir, route, self.ground.redactor)
