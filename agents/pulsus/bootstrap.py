"""Settings → a wired application. The only place that picks implementations.

Heavy parts are imported by the method that needs them, so that a command pays for what it uses.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulsus.config import remembered
from pulsus.config.settings import Settings, plain
from pulsus.core.telemetry import ids
from pulsus.core.telemetry.redact import Redactor
from pulsus.core.types import BrokenTool, Catalogue, JsonValue, ToolHistory, ToolSpec
from pulsus.errors import (
    ConfigError,
    Denied,
    MetadataCorrupt,
    PulsusError,
    ToolAmbiguous,
    ToolNotFound,
)

if TYPE_CHECKING:
    from pulsus.core.embeddings.meaning import Meaning
    from pulsus.core.rankers.calibration import Calibration
    from pulsus.core.rankers.memory import PastMemory
    from pulsus.core.rankers.recollection import Past
    from pulsus.core.rankers.scorer import RankIndex
    from pulsus.core.sandbox.interpreter import Interpreter
    from pulsus.core.storage.accepted import PastRoute
    from pulsus.core.storage.metadata import Record
    from pulsus.core.storage.retention import GcReport
    from pulsus.core.telemetry.logging import AppLog
    from pulsus.core.telemetry.metrics import Metrics
    from pulsus.core.validators.finding import Validator
    from pulsus.core.validators.pipeline import Pipeline
    from pulsus.llm.gate import Gate
    from pulsus.plugins.contributions import Contributions
    from pulsus.plugins.load import Plugins
    from pulsus.routing.approval import Person
    from pulsus.routing.deprecations import Deprecations
    from pulsus.routing.promoter import CataloguePromoter
    from pulsus.routing.prompt_parser import PromptParser
    from pulsus.routing.rag import Docs
    from pulsus.routing.router import Router
    from pulsus.routing.search import Searcher
    from pulsus.routing.vectors import Progress, VectorFiles


_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class App:
    """One project with its settings. Paths are absolute."""

    project: Path
    settings: Settings
    origins: Mapping[str, str]
    progress: Progress | None = None
    unsaved: remembered.Sources | None = None

    @property
    def workflows_root(self) -> Path:
        """The catalogue."""
        return self.project / self.settings.workflows_root

    @property
    def log_dir(self) -> Path:
        """Where traces and validation logs go."""
        return self.project / self.settings.log_dir

    @property
    def state_dir(self) -> Path:
        """Caches, locks and past routes."""
        return self.project / self.settings.state_dir

    @property
    def tmp_dir(self) -> Path:
        """Candidates that are not promoted."""
        return self.workflows_root / self.settings.tmp.dirname

    @cached_property
    def redactor(self) -> Redactor:
        """The one redactor, knowing the secrets of this environment."""
        return Redactor.from_environment(os.environ, (self.settings.model.api_key_env,))

    @cached_property
    def plugins(self) -> Plugins:
        """The plugins of this environment, loaded."""
        from pulsus.plugins.load import load

        return load(self.settings.plugins.disabled)

    @cached_property
    def contributions(self) -> Contributions:
        """What the plugins add."""
        from pulsus.plugins.contributions import gather

        return gather(self.plugins)

    @cached_property
    def validators(self) -> tuple[tuple[str, Validator], ...]:
        """The plugins' checks of a module. Pulsus itself adds none as a plugin."""
        return self.contributions.validators if len(self.plugins.infos) > 1 else ()

    @cached_property
    def synonyms(self) -> Mapping[str, tuple[str, ...]]:
        """The plugins' vocabulary and the project's own, `config/synonyms.toml`."""
        from pulsus.routing.synonyms import load_synonyms, merge_synonyms, stemmed

        own = load_synonyms(self.project / "config" / "synonyms.toml")
        merged = merge_synonyms([self.contributions.synonyms, own])
        return stemmed(merged, self.state_dir if self._caching else None)

    @cached_property
    def interpreter(self) -> Interpreter | None:
        """The Python that tools run with; None is ours. Raises ConfigError."""
        if not self.settings.tools.python:
            return None
        from pulsus.core.sandbox.interpreter import NoInterpreter, read

        try:
            return read(self.project / Path(self.settings.tools.python).expanduser())
        except NoInterpreter as error:
            hint = 'name one with bin/python, or leave it "" for the Python of Pulsus'
            raise ConfigError(f"tools.python: {error}", hint=hint) from None

    def origin(self, key: str) -> str:
        """The layer that set a dotted setting."""
        return self.origins.get(key, "default")

    def checked_plugins(self) -> Plugins:
        """The plugins after each was asked for what it adds, so that failures show."""
        _ = self.contributions
        return self.plugins

    @cached_property
    def catalogue(self) -> Catalogue:
        """Everything discovery finds. Raises WorkflowsMissing, StateCorrupt."""
        from pulsus.core.storage.state import open_state
        from pulsus.routing.index import Index
        from pulsus.routing.tool_discovery import discover

        open_state(self.state_dir, create=False)
        limit = self.settings.discovery.max_file_bytes
        index = Index(self.state_dir, max_file_bytes=limit) if self._caching else None
        found = discover(
            self.workflows_root,
            self.settings.discovery,
            tmp_dirname=self.settings.tmp.dirname,
            cache=index,
            extra=self.contributions.tool_sources,
        )
        if index:
            self._remember_settings()
        return found

    def settle(self) -> None:
        """Keep the validated settings for the next run, where the state folder can be written."""
        if not (self._caching and self.unsaved):
            return
        from pulsus.core.storage.state import open_state

        with suppress(PulsusError, OSError):
            (open_state(self.state_dir).path / "index").mkdir(exist_ok=True)
            self._remember_settings()

    def _remember_settings(self) -> None:
        """Spare the next run the validation of these settings; a secret among them is not kept."""
        values = plain(self.settings)
        if (
            self.unsaved
            and self.unsaved.state_dir == self.state_dir
            and self.redactor.redact_value(values) == values
        ):
            remembered.save(self.unsaved, self.settings, self.origins)

    def tool(self, ref: str) -> ToolSpec:
        """The one tool an id or bare name means. Raises ToolNotFound, ToolAmbiguous."""
        found = self.catalogue.find(ref)
        if len(found) == 1:
            return found[0]
        if found:
            listed = ", ".join(t.id for t in found)
            raise ToolAmbiguous(f"{ref!r} may be {listed}", hint="give the whole id")
        from rapidfuzz import process  # only on this error path

        near = process.extractOne(ref, [t.id for t in self.catalogue.tools], score_cutoff=60)
        raise ToolNotFound(
            f"no tool is called {ref!r}",
            hint=f"did you mean {near[0]}?" if near else "`pulsus tools list` shows every id",
        )

    @cached_property
    def rank_index(self) -> RankIndex:
        """The catalogue made ready for ranking, with what is remembered."""
        index = replace(self._unremembering, memory=self._memory(self.routes, self._caching))
        if self.vectors is None or not self.routes:
            return index
        from pulsus.routing.told import of_routes

        past = of_routes(self.routes, self.settings.ranker.history_half_life_days)
        return replace(index, dense=self.meaning(self.catalogue.tools, "tools-past", past))

    @cached_property
    def _unremembering(self) -> RankIndex:
        meaning = self.meaning(self.catalogue.tools)
        return replace(self._ranking[0], dense=meaning, calibration=self.calibration)

    @property
    def calibration(self) -> Calibration:
        """The project's own calibration, or the one shipped with Pulsus."""
        return self._calibration[0]

    @cached_property
    def _calibration(self) -> tuple[Calibration, str | None]:
        from pulsus.routing.calibration_file import own_or_shipped

        return own_or_shipped(self.project)

    @cached_property
    def vectors(self) -> VectorFiles | None:
        """The kept vectors; None where embeddings are off. Raises ExtraMissing."""
        if not self.settings.embeddings_enabled:
            return None
        from pulsus.core.embeddings.encoder import minilm
        from pulsus.routing.vectors import VectorFiles

        folder = self.state_dir / "cache" / "embeddings" if self._caching else None
        return VectorFiles(folder, minilm(), self.progress)

    def meaning(
        self, tools: Sequence[ToolSpec], name: str = "tools", past: Iterable[Past] = ()
    ) -> Meaning | None:
        """What `tools` and the requests of `past` mean; None where embeddings are off.

        `name` is that of the kept file.
        """
        if self.vectors is None:
            return None
        from pulsus.routing.meaning import tools_meaning

        return tools_meaning(tools, self.vectors, name, past)

    @property
    def ranking_warnings(self) -> tuple[str, ...]:
        """Why a kept index or calibration was not used; none as long as nothing is ranked."""
        ranked = "_ranking" in self.__dict__
        return (*self._ranking[1], *self.calibration_warnings) if ranked else ()

    @property
    def access_warnings(self) -> tuple[str, ...]:
        """Patterns of the filters that are of no tool here."""
        from pulsus.core.catalogue import columns
        from pulsus.routing.access import access

        filters = access(self.settings.access)
        return filters.unmatched(columns(self.catalogue.tools).ids) if filters else ()

    @property
    def calibration_warnings(self) -> tuple[str, ...]:
        """Why the project's own calibration is not used, where it has one."""
        return (self._calibration[1],) if self._calibration[1] else ()

    @cached_property
    def _ranking(self) -> tuple[RankIndex, tuple[str, ...]]:
        from pulsus.routing.warm import rank_index

        return rank_index(
            self.catalogue.tools,
            self.settings.ranker,
            features=self.contributions.features,
            synonyms=self.synonyms,
            state_dir=self.state_dir if self._caching else None,
        )

    def _unshadowed(self, index: RankIndex) -> RankIndex | None:
        """The same without the shadowed tools; None where there are none."""
        from pulsus.core.catalogue import columns, shadowed

        ids = columns(self.catalogue.tools).ids
        hidden = frozenset(ids[shared] for shared, _ in shadowed(ids))
        return replace(index, hidden=index.hidden | hidden) if hidden else None

    @cached_property
    def routes(self) -> tuple[PastRoute, ...]:
        """How past routes ended, oldest first. Raises StateCorrupt."""
        from pulsus.core.storage import accepted

        return accepted.load(self.state_dir)

    def _memory(self, routes: Sequence[PastRoute], keep: bool) -> PastMemory:
        from pulsus.routing.recall import Recall

        half_life = self.settings.ranker.history_half_life_days
        recall = Recall(half_life, ids.utc_now(), self.state_dir if keep else None)
        return recall.memory(self.catalogue.tools, routes)

    @cached_property
    def history(self) -> Mapping[str, ToolHistory]:
        """How every tool fared. Raises MetadataCorrupt, StateCorrupt."""
        from pulsus.core.storage import accepted

        return accepted.history(self.records, self.routes)

    def parser(self) -> PromptParser:
        """The parser that knows this catalogue's words."""
        from pulsus.routing.parser_file import known_parser

        tools = self.catalogue.tools
        meaning = None
        if self.vectors:
            from pulsus.routing.meaning import folders_meaning

            meaning = folders_meaning(tools, self.vectors)
        library = self._docs.shelf(tools, self.vectors) if self.settings.rag_enabled else None
        learned = known_parser(tools, self.synonyms, self.state_dir if self._caching else None)
        return replace(learned, meaning=meaning, library=library)

    @cached_property
    def _docs(self) -> Docs:
        from pulsus.routing.rag import Docs

        state_dir = self.state_dir if self._caching else None
        return Docs(self.project, self.workflows_root, state_dir)

    @property
    def hint_warnings(self) -> tuple[str, ...]:
        """Why kept vectors or docs were not used; none as long as neither is on."""
        docs = self._docs.warnings if self.settings.rag_enabled else ()
        vectors: VectorFiles | None = self.__dict__.get("vectors")
        return (*(vectors.warnings if vectors else ()), *docs)

    def searcher(self, *, past: bool = True) -> Searcher:
        """Ranking and choice over this catalogue.

        Without `past` as a fresh checkout would do it: what was routed here does not count.
        """
        from pulsus.routing.access import access
        from pulsus.routing.search import Searcher

        index = self.rank_index
        if not past:
            index = replace(self._unremembering, memory=self._memory((), keep=False))
        gone = self.deprecations
        searcher = Searcher(
            self.catalogue,
            gone.without(index),
            self.history if past else {},
            ids.utc_now(),
            self.settings.compose.max_steps,
            self._unshadowed(gone.without(index)),
            access(self.settings.access),
        )
        if not gone.records:
            return searcher
        rest = gone.without(index, sunset_only=True)
        late = replace(searcher, index=rest, unshadowed=self._unshadowed(rest))
        return replace(searcher, deprecations=gone, last_resort=late)

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """Every promotion record. Raises MetadataCorrupt."""
        from pulsus.core.storage import metadata

        return metadata.read_all(self.workflows_root)

    @cached_property
    def latest(self) -> Mapping[str, Record]:
        """The last record of every tool that was ever promoted, by id. Raises MetadataCorrupt."""
        return {record.tool_id: record for record in self.records}

    @cached_property
    def told(self) -> Mapping[str, Record]:
        """As `latest`, only to tell of tools: none, with a warning, where a record is damaged."""
        try:
            return self.latest
        except MetadataCorrupt as failure:
            _LOG.warning("versions and deprecations are not shown: %s", failure.message)
            return {}

    @cached_property
    def deprecations(self) -> Deprecations:
        """The deprecated tools. Raises MetadataCorrupt."""
        from pulsus.routing.deprecations import Deprecations

        return Deprecations.of(self.records, ids.utc_now().date())

    def model(self) -> Gate:
        """The configured language model, a Proposer, with a budget of its own: for one run.

        Raises LlmNotConfigured, ConfigError, ModelRefused.
        """
        from pulsus.llm.connect import connect

        origin = self.origin("model.api_key_env")
        return connect(
            self.settings.model,
            self.contributions.model_providers,
            os.environ,
            self.redactor.redact,
            redact_own=self.redactor.redact_derived,
            named_by_project=origin in remembered.SOURCES,
        )

    def pipeline(self, extra: Sequence[tuple[str, Validator]] = ()) -> Pipeline:
        """The validation pipeline with this project's rules; `extra` come before the plugins'."""
        from pulsus.core.validators.pipeline import Pipeline

        return Pipeline(
            validation=self.settings.validation,
            sandbox=self.settings.sandbox,
            log_dir=self.log_dir,
            clock=ids.utc_now,
            redact=self.redactor.redact,
            extra_validators=lambda: (*extra, *self.validators),
            mypy_cache=self.state_dir / "cache" / "mypy",
            python=self.interpreter,
        )

    def promoter(
        self,
        run_id: str | None = None,
        route_id: str | None = None,
        made: Mapping[str, JsonValue] | None = None,
    ) -> CataloguePromoter:
        """Promotion on behalf of one run; `made` is how a generator made the module."""
        from pulsus.routing.promoter import CataloguePromoter

        return CataloguePromoter(
            workflows_root=self.workflows_root,
            state_dir=self.state_dir,
            lock_seconds=self.settings.storage.lock_seconds,
            clock=ids.utc_now,
            redactor=self.redactor,
            run_id=run_id,
            route_id=route_id,
            made=made,
        )

    def define(self, source: bytes, path: Path) -> ToolSpec | BrokenTool:
        """The tool these bytes are when they lie at `path`."""
        from pulsus.routing.reading import define

        limit = self.settings.validation.max_module_bytes
        return define(source, path, self.workflows_root, max_bytes=limit)

    def router(self, person: Person | None) -> Router:
        """The routing pipeline; `person` is None where nobody can be asked."""
        from pulsus.routing.router import Router

        return Router(self, person)

    def app_log(self) -> AppLog:
        """The log of the application's life."""
        from pulsus.core.telemetry.logging import AppLog

        return AppLog(self.log_dir, ids.utc_now, self.redactor)

    def metrics(self) -> Metrics:
        """Counters and timers; none are kept where `log.metrics` is off."""
        from pulsus.core.telemetry.metrics import Metrics

        enabled = self.settings.log.metrics
        return Metrics(self.log_dir, ids.utc_now, self.redactor, enabled)

    def new_run_id(self) -> str:
        """An id for a run that starts now."""
        return ids.run_id(ids.utc_now(), os.urandom)

    def remember(self, route: PastRoute) -> None:
        """Keep how a route ended, for the history feature."""
        from pulsus.core.storage import accepted
        from pulsus.core.storage.state import open_state

        open_state(self.state_dir)
        accepted.record(self.state_dir, route, self.redactor)

    def gc(self, *, dry_run: bool) -> GcReport:
        """Remove old candidates and logs (spec §16)."""
        from pulsus.core.storage.retention import gc

        return gc(
            workflows_root=self.workflows_root,
            tmp_dirname=self.settings.tmp.dirname,
            log_dir=self.log_dir,
            state_dir=self.state_dir,
            tmp_days=self.settings.tmp.retention_days,
            log_days=self.settings.log.retention_days,
            clock=ids.utc_now,
            dry_run=dry_run,
        )

    def log_refusal(self, refusal: Denied) -> None:
        """Record in the decision log what was refused, and to whom."""
        from pulsus.core.storage import chain
        from pulsus.core.storage.promote import os_user

        data: dict[str, JsonValue] = {
            "by": os_user(),
            "code": refusal.code,
            "message": refusal.message,
            "tool": str(refusal.details.get("tool") or "") or None,
        }
        clock, redactor = ids.utc_now, self.redactor
        chain.append(self.state_dir, "refuse", data, clock=clock, redactor=redactor)

    def log_removed(self, report: GcReport) -> None:
        """Record in the decision log what `gc` removed."""
        from pulsus.routing.upkeep import log_removed

        clock, redactor = ids.utc_now, self.redactor
        log_removed(self.state_dir, report, self.project, clock=clock, redactor=redactor)

    def seal_log(self, *, dry_run: bool) -> Path | None:
        """The segment of the decision log that was sealed; None where none is old enough."""
        from pulsus.routing.upkeep import seal

        days = self.settings.audit.seal_days
        return seal(self.state_dir, days=days, clock=ids.utc_now, dry_run=dry_run)

    @property
    def _caching(self) -> bool:
        return self.settings.cache_enabled


def build(project: Path, flags: dict[str, Any], progress: Progress | None = None) -> App:
    """The application for the folder `project`; `progress` is told of long work.

    A promotion that was interrupted here is put right first. Raises ConfigError.
    """
    app = _wired(project, flags, progress)
    if (app.state_dir / "promotion.json").exists():
        from pulsus.core.storage import writing  # only after a crash

        writing.recover(app.workflows_root, app.state_dir, clock=ids.utc_now, redactor=app.redactor)
    return app


def _wired(project: Path, flags: dict[str, Any], progress: Progress | None) -> App:
    sources = remembered.Sources.of(project, flags)
    known = remembered.load(sources) if flags.get("cache_enabled", True) else None
    if known:
        return App(project, *known, progress)
    from pulsus.config import layers  # pydantic: only where something about the settings is new

    found = layers.read(Settings, project, flags)
    settings = layers.validated(Settings, found)
    return App(project, settings, found.origins, progress, sources)
