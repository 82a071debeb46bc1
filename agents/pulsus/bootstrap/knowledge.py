"""Load the facts of one project: its files, this machine and plugins (docs/knowledge-base.md).

A file of `kb.files` outside the project is refused. What a file says a node is wins over a source.
If a fact is stale is decided in `kb/facts.py`. Effect: reads files and sources of facts.
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
from pulsus.kb.fact_base import FactBase, FactView
from pulsus.kb.fact_files import read_fact_files
from pulsus.kb.fact_sources import FactSource, GatheredFacts, SourceFailure, gather_facts
from pulsus.kb.facts import EVERY_NODE, THIS_MACHINE, KnownNode
from pulsus.kb.facts_document import FactDefaults
from pulsus.kb.query_limits import QueryDeadline, QueryLimits
from pulsus.kb.rag_context import rag_context
from pulsus.plugins.plugin_failures import contain_plugin


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

    def load(
        self, files: Sequence[Path] = (), source_seconds: float | None = None
    ) -> LoadedKnowledge:
        """Return the facts of `files`, or of all sources of the project if none is named.

        Sources have `source_seconds`, by default those of the settings. A source that fails is
        listed. Raises FactsInvalid for a file, UsageError for one that is missing, and ConfigError.
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
        seconds = config.source_seconds if source_seconds is None else source_seconds
        gathered = self._gather(known, now, defaults, seconds)
        # A file of the project decides what a node is; sources say how it is now.
        added = [f for f in gathered.facts if not (isinstance(f, KnownNode) and f.name in known)]
        return LoadedKnowledge(FactBase([*stated, *added]), now, gathered.failures)

    def view(self) -> FactView:
        """Return the facts of all sources as they hold now. Raises what `load` raises."""
        return self.view_of(self.load())

    def view_of(self, loaded: LoadedKnowledge) -> FactView:
        """Return loaded facts as they hold at their time, by the settings."""
        config = self.ground.settings.kb
        return loaded.facts.at(
            loaded.now, use_degraded=config.use_degraded, use_racks=config.use_racks
        )

    def context(self, request: str) -> str:
        """Return the context of a request's prompt: of the node that it names, or of all.

        It is empty in a project without facts files and sources of its own, because the agent's
        tools tell about this machine. Raises what `load` raises, and KnowledgeTimeout.
        """
        config = self.ground.settings.kb
        if not config.files and all(s.name == THIS_MACHINE for s in self._sources()):
            return ""
        limits = replace(self.limits, seconds=config.context_seconds)
        deadline = QueryDeadline(limits)
        # A source that is late ends before the context is given up, so the rest of it is shown.
        loaded = self.load(source_seconds=min(config.source_seconds, config.context_seconds / 2))
        view = self.view_of(loaded)
        words = {word.strip("@.,:;?!'\"()") for word in request.split()}
        named = sorted(word for word in words if view.node(word) is not None)
        return rag_context(view, named[0] if len(named) == 1 else EVERY_NODE, deadline)

    def _gather(
        self, known: frozenset[str], now: datetime, defaults: FactDefaults, seconds: float
    ) -> GatheredFacts:
        with contain_plugin():
            return gather_facts(self._sources(), known, now, defaults, seconds)

    def _sources(self) -> list[FactSource]:
        local = self.ground.settings.kb.local_metrics
        found = self.ground.contributions.fact_sources
        return [source for source in found if local or source.name != THIS_MACHINE]

    def _own_file(self, name: str) -> tuple[Path, str]:
        """Return a file of the settings, which has to lie in the project. Raises ConfigError."""
        root = self.ground.project.resolve()
        path = (root / name).resolve()
        if not path.is_relative_to(root):
            raise ConfigError(
                f"kb.files names {name!r}, which is outside the project",
                hint="name a file below the project; for one query: --facts FILE",
            )
        if not path.exists():
            raise ConfigError(
                f"kb.files names {name!r}, and {path} does not exist",
                hint="write the facts there, or take its name out of kb.files",
            )
        return path, name
