"""Load the facts of one project: its files, this machine and plugins (docs/knowledge-base.md).

Effect: reads files and sources of facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from pulsus.bootstrap.project_context import ProjectContext
from pulsus.core.telemetry import ids
from pulsus.errors import ConfigError
from pulsus.fast_dataclass import dataclass
from pulsus.kb.fact_base import FactBase
from pulsus.kb.fact_files import read_fact_files
from pulsus.kb.fact_sources import GatheredFacts, SourceFailure, gather_facts
from pulsus.kb.facts import EVERY_NODE, KnownNode
from pulsus.kb.facts_document import FactDefaults
from pulsus.kb.query_limits import QueryDeadline, QueryLimits
from pulsus.kb.rag_context import UNAVAILABLE, rag_context
from pulsus.plugins.plugin_failures import contain_plugin

_LOCAL = "local"


@dataclass(frozen=True, slots=True)
class LoadedKnowledge:
    """The facts at the time `now`, and the sources that gave none."""

    facts: FactBase
    now: datetime
    failures: tuple[SourceFailure, ...] = ()


@dataclass(frozen=True, slots=True)
class ProjectKnowledge:
    """The knowledge base of one project."""

    ground: ProjectContext

    @property
    def limits(self) -> QueryLimits:
        """The limits of one query, by the settings."""
        config = self.ground.settings.kb
        return QueryLimits(config.max_answers, config.query_seconds, config.use_degraded)

    def load(self, files: Sequence[Path] = ()) -> LoadedKnowledge:
        """Return the facts of `files`, or of all sources of the project if none is named.

        A source that fails is listed. Raises FactsInvalid for a file, and ConfigError.
        """
        config = self.ground.settings.kb
        now = ids.utc_now()
        defaults = FactDefaults(
            now, config.live_ttl_seconds, config.inventory_ttl_seconds, config.alert_seconds
        )
        if files:
            facts = read_fact_files([(path, str(path)) for path in files], defaults)
            return LoadedKnowledge(FactBase(facts), now)
        stated = read_fact_files([self._own_file(name) for name in config.files], defaults)
        known = frozenset(fact.name for fact in stated if isinstance(fact, KnownNode))
        gathered = self._gather(known, now, defaults)
        # A file of the project decides what a node is; sources say how it is now.
        added = [f for f in gathered.facts if not (isinstance(f, KnownNode) and f.name in known)]
        return LoadedKnowledge(FactBase([*stated, *added]), now, gathered.failures)

    def context(self, target: str = EVERY_NODE) -> str:
        """Return the context of a model's prompt, `*Unavailable.*` for an unknown node.

        Raises what `load` raises, and KnowledgeTimeout.
        """
        limits = replace(self.limits, seconds=self.ground.settings.kb.context_seconds)
        deadline = QueryDeadline(limits)
        loaded = self.load()
        view = loaded.facts.at(loaded.now, use_degraded=limits.use_degraded)
        if target != EVERY_NODE and view.node(target) is None:
            return UNAVAILABLE
        return rag_context(view, target, deadline)

    def _gather(
        self, known: frozenset[str], now: datetime, defaults: FactDefaults
    ) -> GatheredFacts:
        config = self.ground.settings.kb
        sources = [
            source
            for source in self.ground.contributions.fact_sources
            if config.local_metrics or source.name != _LOCAL
        ]
        with contain_plugin():
            return gather_facts(sources, known, now, defaults, config.source_seconds)

    def _own_file(self, name: str) -> tuple[Path, str]:
        """Return a file of the settings, which has to lie in the project. Raises ConfigError."""
        root = self.ground.project.resolve()
        path = (root / name).resolve()
        if not path.is_relative_to(root):
            raise ConfigError(
                f"kb.files names {name!r}, which is outside the project",
                hint="name a file below the project; for one query: --facts FILE",
            )
        return path, name
