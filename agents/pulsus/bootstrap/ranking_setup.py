"""Set up ranking for one project: the catalogue with its meaning, calibration and past.

Each part is imported and worked out when it is first asked for. Without `embeddings_enabled` there
are no vectors, and the ranking goes by words alone. Scores are computed in `core/rankers/`; the
threshold τ counts in `core/compose/selection/choose_policy.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from pulsus.core.telemetry import ids
from pulsus.errors import PulsusError
from pulsus.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pulsus.bootstrap.project_context import ProjectContext
    from pulsus.bootstrap.project_history import ProjectHistory
    from pulsus.core.embeddings.meaning_similarity import TextSimilarity
    from pulsus.core.memory.past_routes import PastRoute
    from pulsus.core.memory.recall import PastMemory
    from pulsus.core.memory.request_index import PastRequest as PastRequest
    from pulsus.core.rankers.calibration import Calibration
    from pulsus.core.rankers.lexical_ranker import Ranker
    from pulsus.core.rankers.ranking_protocol import RankingEngine
    from pulsus.core.rankers.spec.spec_ranker import SpecRanker
    from pulsus.core.types import ToolSpec
    from pulsus.routing.prompt_parser import PromptParser
    from pulsus.routing.search.project_docs import ProjectDocs
    from pulsus.routing.search.searcher import Searcher
    from pulsus.routing.search.vector_cache import VectorFiles


@dataclass(frozen=True)
class Ranking:
    """Parses requests and ranks the tools of one project."""

    ground: ProjectContext
    past: ProjectHistory

    @cached_property
    def index(self) -> RankingEngine:
        """The catalogue made ready for ranking, with what is remembered.

        The specification's engine remembers nothing beside the history that the searcher gives.
        """
        if self._is_spec:
            return self._spec_ranker
        index = replace(self._unremembering, memory=self._memory(self.past.routes))
        if self.vectors is None or not self.past.routes:
            return index
        from pulsus.core.memory.feedback_weights import weighted_past_requests

        past = weighted_past_requests(
            self.past.routes, self.ground.settings.ranker.history_half_life_days
        )
        return replace(index, dense=self.meaning(self.ground.catalogue.tools, "tools-past", past))

    @property
    def _is_spec(self) -> bool:
        return self.ground.settings.ranker.engine == "spec"

    @cached_property
    def _spec_ranker(self) -> SpecRanker:
        from pulsus.core.rankers.spec.spec_ranker import SpecRanker  # imports scikit-learn

        return SpecRanker.build(
            self.ground.catalogue.tools,
            self.ground.settings.ranker,
            features=self.ground.contributions.features,
            dense=self.meaning(self.ground.catalogue.tools),
        )

    @cached_property
    def _unremembering(self) -> Ranker:
        meaning = self.meaning(self.ground.catalogue.tools)
        return replace(self._ranking[0], dense=meaning, calibration=self.calibration)

    @cached_property
    def _ranking(self) -> tuple[Ranker, tuple[str, ...]]:
        from pulsus.routing.search.ranking_index_cache import load_rank_index

        return load_rank_index(
            self.ground.catalogue.tools,
            self.ground.settings.ranker,
            features=self.ground.contributions.features,
            synonyms=self.ground.synonyms,
            state_dir=self.ground.cache_dir,
        )

    def _memory(self, routes: Sequence[PastRoute], *, keep: bool = True) -> PastMemory:
        from pulsus.routing.search.past_request_store import MemoryStore

        half_life = self.ground.settings.ranker.history_half_life_days
        recall = MemoryStore(half_life, ids.utc_now(), self.ground.cache_dir if keep else None)
        return recall.memory(self.ground.catalogue.tools, routes)

    def _unshadowed(self, index: RankingEngine) -> RankingEngine | None:
        """Return the index without the shadowed tools; None if no tool is shadowed."""
        from pulsus.core.contract.tool_table import list_shadowed, make_columns

        ids = make_columns(self.ground.catalogue.tools).ids
        hidden = frozenset(ids[shared] for shared, _ in list_shadowed(ids))
        return index.hiding(hidden) if hidden else None

    @property
    def calibration(self) -> Calibration:
        """The project's own calibration, or the one shipped with Pulsus."""
        return self._calibration[0]

    @cached_property
    def _calibration(self) -> tuple[Calibration, str | None]:
        from pulsus.routing.evaluation.calibration_file import load_calibration

        return load_calibration(self.ground.project)

    @property
    def calibration_warnings(self) -> tuple[str, ...]:
        """The reason why the project's own calibration is not used, if it has one."""
        return (self._calibration[1],) if self._calibration[1] else ()

    @property
    def index_warnings(self) -> tuple[str, ...]:
        """Return why a stored index or calibration was not used; none before anything is ranked."""
        ranked = "_ranking" in self.__dict__
        return (*self._ranking[1], *self.calibration_warnings) if ranked else ()

    @property
    def access_warnings(self) -> tuple[str, ...]:
        """Patterns of the filters that are of no tool here."""
        from pulsus.core.contract.tool_table import make_columns
        from pulsus.routing.search.access_filter import access_filter

        filters = access_filter(self.ground.settings.access)
        return filters.unmatched(make_columns(self.ground.catalogue.tools).ids) if filters else ()

    @cached_property
    def vectors(self) -> VectorFiles | None:
        """The kept vectors; None if embeddings are off. Raises ExtraMissing."""
        if not self.ground.settings.embeddings_enabled:
            return None
        from pulsus.core.embeddings.encoder import minilm
        from pulsus.routing.search.vector_cache import VectorFiles

        kept = self.ground.cache_dir
        folder = kept / "cache" / "embeddings" if kept else None
        return VectorFiles(folder, minilm(), self.ground.progress)

    def meaning(
        self, tools: Sequence[ToolSpec], name: str = "tools", past: Iterable[PastRequest] = ()
    ) -> TextSimilarity | None:
        """Return the vectors of `tools` and of the requests of `past`; None without embeddings.

        `name` is that of the cache file.
        """
        if self.vectors is None:
            return None
        from pulsus.routing.search.catalogue_vectors import tools_meaning

        return tools_meaning(tools, self.vectors, name, past)

    def parser(self) -> PromptParser:
        """Return the parser that knows this catalogue's words."""
        from pulsus.routing.parser_cache import cached_parser

        tools = self.ground.catalogue.tools
        meaning = None
        if self.vectors:
            from pulsus.routing.search.catalogue_vectors import folders_meaning

            meaning = folders_meaning(tools, self.vectors)
        rag = self.ground.settings.rag_enabled
        library = self._docs.shelf(tools, self.vectors) if rag else None
        learned = cached_parser(tools, self.ground.synonyms, self.ground.cache_dir)
        return replace(learned, meaning=meaning, library=library)

    @cached_property
    def _docs(self) -> ProjectDocs:
        from pulsus.routing.search.project_docs import ProjectDocs

        return ProjectDocs(self.ground.project, self.ground.workflows_root, self.ground.cache_dir)

    @property
    def hint_warnings(self) -> tuple[str, ...]:
        """The reasons why stored vectors or docs were not used; none if neither is on."""
        docs = self._docs.warnings if self.ground.settings.rag_enabled else ()
        vectors: VectorFiles | None = self.__dict__.get("vectors")
        return (*(vectors.warnings if vectors else ()), *docs)

    def _stale_steps(self, tool: ToolSpec) -> str | None:
        """Return why a composition cannot run: its bytes or those of a step changed, or are gone.

        Reads its files.
        """
        from pulsus.routing.delivery.candidate_module import pinned_steps, read_module

        try:
            pinned_steps(self.ground, read_module(tool.path))
        except PulsusError as failure:
            return failure.message
        return None

    def searcher(self, *, past: bool = True) -> Searcher:
        """Ranking and choice over this catalogue.

        Without `past` as a fresh checkout would do it: its promotion records count, and what was
        routed here does not.
        """
        from pulsus.core.memory.accepted_plans import list_accepted_plans
        from pulsus.routing.search.access_filter import access_filter
        from pulsus.routing.search.ranking.catalogue_ranking import CatalogueRanking
        from pulsus.routing.search.searcher import Searcher

        accepted = list_accepted_plans(self.past.routes) if past else ()
        index = self.index
        if not past and not self._is_spec:
            index = replace(self._unremembering, memory=self._memory((), keep=False))
        gone = self.past.deprecations
        ranking = CatalogueRanking(
            self.ground.catalogue,
            gone.without(index),
            self.past.history if past else self.past.promotions,
            ids.utc_now(),
            self._unshadowed(gone.without(index)),
            access_filter(self.ground.settings.access),
        )
        searcher = Searcher(
            ranking,
            self.ground.settings.compose.max_steps,
            stale_steps=self._stale_steps,
            accepted=accepted,
        )
        if not gone.records:
            return searcher
        rest = gone.without(index, sunset_only=True)
        late = replace(ranking, index=rest, unshadowed=self._unshadowed(rest))
        return replace(searcher, deprecations=gone, last_resort=replace(searcher, ranking=late))
