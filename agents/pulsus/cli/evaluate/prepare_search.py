"""The search that `pulsus eval` measures: the project's own, or that of a catalogue in a file.

The search itself is `routing/evaluation/search_setup.py`.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.render.unknown_tools import warn_of_missing

if TYPE_CHECKING:
    from datetime import datetime

    from pulsus.bootstrap.app import App
    from pulsus.core.memory.request_index import PastRequest
    from pulsus.core.rankers.ranking_protocol import RankingEngine
    from pulsus.core.types import ToolHistory, ToolSpec
    from pulsus.routing.evaluation.search_setup import Fill, SearchSetup
    from pulsus.routing.search.searcher import Searcher

ReadHistory = Callable[[Path], list[tuple[str, tuple[str, ...]]]]
"""A file of past requests → each request with the tools that answered it."""


def prepare(
    session: CommandSession,
    catalogue: Path | None,
    history: Path | None,
    read_history: ReadHistory | None = None,
) -> SearchSetup:
    """Return the project's catalogue, or bare rows, ready to be searched.

    `read_history` reads `history`; by default it has the rows of `pulsus eval`.
    """
    from pulsus.core.telemetry.ids import utc_now
    from pulsus.core.types import Catalogue
    from pulsus.routing.evaluation import dataset
    from pulsus.routing.evaluation.search_setup import SearchSetup
    from pulsus.routing.search.ranking.catalogue_ranking import CatalogueRanking
    from pulsus.routing.search.searcher import Searcher

    app = session.app
    tau = app.settings.ranker.threshold
    began = time.perf_counter()
    if catalogue is None:
        parser, searcher = app.parser(), app.searcher(past=False)
        if history:
            searcher = _remembering(session, searcher, history, read_history)
        known = frozenset(tool.id for tool in app.catalogue.tools)
        seconds = time.perf_counter() - began
        return SearchSetup(searcher, parser, known, seconds, tau, _filler(app))
    tools = dataset.load_tools(catalogue, console.warn)
    ordered = tuple(sorted(tools, key=lambda tool: tool.id))
    past = _past(ordered, history, read_history)
    index = build_engine(session, ordered, past, vectors_of(catalogue, history))
    now = utc_now()
    counted = _accepted(past, now) if app.settings.ranker.engine == "spec" else {}
    steps = app.settings.compose.max_steps
    ranking = CatalogueRanking(Catalogue(app.workflows_root, ordered), index, counted, now)
    searcher = Searcher(ranking, steps)
    taken = time.perf_counter() - began
    return SearchSetup(searcher, None, frozenset(tool.id for tool in tools), taken, tau)


def _filler(app: App) -> Fill:
    """Return what fills the inputs of a search result, as a route of this project does."""
    from datetime import datetime

    from pulsus.routing.inputs.route_inputs import inputs_of_search

    steps, now = app.settings.compose.max_steps, datetime.now().astimezone()
    return lambda intent, found: inputs_of_search(
        intent, found, app.catalogue, max_steps=steps, now=now
    )


def build_engine(
    session: CommandSession,
    tools: Sequence[ToolSpec],
    past: Sequence[PastRequest],
    vectors: str,
) -> RankingEngine:
    """Return the engine of the settings for these tools. `vectors` names their cache file."""
    app = session.app
    config, features = app.settings.ranker, app.contributions.features
    if config.engine == "spec":
        from pulsus.core.rankers.spec.spec_ranker import SpecRanker

        dense = app.ranking.meaning(tools, vectors)
        return SpecRanker.build(tools, config, features=features, dense=dense)
    from pulsus.core.rankers.lexical_ranker import Ranker
    from pulsus.core.telemetry.ids import utc_now
    from pulsus.routing.search.past_request_store import MemoryStore

    return Ranker.build(
        tools,
        config,
        features=features,
        synonyms=app.synonyms,
        memory=MemoryStore(config.history_half_life_days, utc_now()).of(past, len(tools)),
        calibration=app.ranking.calibration,
        dense=app.ranking.meaning(tools, vectors, past),
    )


def _remembering(
    session: CommandSession, searcher: Searcher, history: Path, read_history: ReadHistory | None
) -> Searcher:
    """Return the project's searcher that remembers these requests too, filters and all."""
    from pulsus.core.telemetry.ids import utc_now

    app = session.app
    past = _past(app.catalogue.tools, history, read_history)
    if app.settings.ranker.engine == "spec":
        now = utc_now()
        remembered = replace(searcher.ranking, history=_accepted(past, now), now=now)
        return replace(searcher, ranking=remembered)
    index = build_engine(session, app.catalogue.tools, past, vectors_of(None, history))
    ranking = searcher.ranking
    index = index.hiding(ranking.index.hidden)
    hidden = ranking.unshadowed.hidden if ranking.unshadowed else frozenset()
    unshadowed = index.hiding(hidden) if hidden else None
    return replace(searcher, ranking=replace(ranking, index=index, unshadowed=unshadowed))


def _accepted(past: Sequence[PastRequest], now: datetime) -> Mapping[str, ToolHistory]:
    """Return the history of these requests, each accepted just now: the other engine's memory.

    Requests of manifests have no time: they are hints and were never accepted.
    """
    from pulsus.core.types import ToolHistory

    told = Counter(tool for one in past if one.at is not None for tool in one.right)
    return {
        tool: ToolHistory(tool, promotions=0, accepted=times, failed=0, last_success=now)
        for tool, times in told.items()
    }


def _past(
    tools: Sequence[ToolSpec], history: Path | None, read_history: ReadHistory | None
) -> list[PastRequest]:
    """Return the past requests that a project with these tools would remember, oldest first."""
    from pulsus.core.telemetry.ids import utc_now
    from pulsus.routing.evaluation import dataset
    from pulsus.routing.search import past_request_store

    if history is None:
        return [*past_request_store.manifest_requests(tools)]
    if read_history is not None:
        rows = read_history(history)
    else:
        rows = [(row.query, row.tools) for row in dataset.load_queries(history, console.warn)]
    told = {tool for _, right in rows for tool in right}
    warn_of_missing("--history: no such tool", told, frozenset(tool.id for tool in tools))
    return [
        *past_request_store.manifest_requests(tools),
        *past_request_store.accepted_queries(rows, utc_now()),
    ]


def vectors_of(*files: Path | None) -> str:
    """Return the name of the kept vectors of what was read from these files."""
    told = "|".join(str(file.resolve()) if file else "" for file in files)
    return f"eval-{hashlib.sha256(told.encode('utf-8', 'replace')).hexdigest()[:8]}"
