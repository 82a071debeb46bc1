"""One project, wired: each implementation is picked here or in a part this names.

Heavy parts are imported by the method that needs them, so that a command pays for what it uses. The
folders of a project (catalogue, logs, state, candidates) are joined here from the settings. The
redactor gets the secrets of the environment here (`core/telemetry/redaction.py`). Old logs and
candidates are removed in `routing/maintenance/housekeeping.py`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulsus.config import cache_secret, settings_cache
from pulsus.config.settings import Settings
from pulsus.config.trust.approval_hash import Widening
from pulsus.config.trust.approved_settings import linked_out, project_value
from pulsus.core.telemetry import ids
from pulsus.core.telemetry.redaction import Redactor
from pulsus.errors import LlmNotConfigured, PulsusError, ToolNotFound
from pulsus.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pulsus.approvals.approver_protocol import Approver
    from pulsus.bootstrap.command_gate import CommandGate
    from pulsus.bootstrap.knowledge import ProjectKnowledge
    from pulsus.bootstrap.project_history import ProjectHistory
    from pulsus.bootstrap.project_trust import SettingApproval
    from pulsus.bootstrap.ranking_setup import Ranking
    from pulsus.bootstrap.validation_setup import ValidationSetup
    from pulsus.core.memory.past_routes import PastRoute
    from pulsus.core.sandbox.interpreter import Interpreter
    from pulsus.core.storage.catalogue_lock import CatalogueStore
    from pulsus.core.telemetry.logging import AppLog
    from pulsus.core.telemetry.metrics import Metrics
    from pulsus.core.types import BrokenTool, Catalogue, JsonValue, ToolSpec
    from pulsus.core.validators.pipeline import Pipeline
    from pulsus.core.validators.validator_protocol import Validator
    from pulsus.llm.budgeted_model import BudgetedModel
    from pulsus.plugins.contributions import Contributions
    from pulsus.plugins.load_plugins import Plugins
    from pulsus.routing.delivery.approved_records_check import RecordCheck
    from pulsus.routing.delivery.catalogue_promoter import CataloguePromoter
    from pulsus.routing.maintenance.housekeeping import Housekeeping
    from pulsus.routing.prompt_parser import PromptParser
    from pulsus.routing.router import Router
    from pulsus.routing.search.searcher import Searcher
    from pulsus.routing.search.vector_cache import Progress


@dataclass(frozen=True)
class App:
    """One project with its settings. Paths are absolute.

    `widenings` are the values of project files that need approval, `standings` how they stand.
    """

    project: Path
    settings: Settings
    origins: Mapping[str, str]
    progress: Progress | None = None
    unsaved: settings_cache.SettingsFingerprint | None = None
    widenings: tuple[Widening, ...] = ()
    standings: tuple[SettingApproval, ...] = ()
    trust_failure: str = ""

    @property
    def asked(self) -> list[tuple[Widening, Any]]:
        """The values that need approval, each as the project sets it."""
        settings, origins = self.settings, self.origins
        named = [(each, project_value(settings, origins, each.key)) for each in self.widenings]
        return [*named, *self.links]

    @cached_property
    def links(self) -> list[tuple[Widening, Any]]:
        """State and log folder where the project has a link to elsewhere in their place."""
        folders = {"state_dir": self.state_dir, "log_dir": self.log_dir}
        own = [v for k, v in folders.items() if self.origin(k) not in ("environment", "flag")]
        return list(linked_out(self.project, own))

    @property
    def writable(self) -> bool:
        """False if the state folder is a link to elsewhere that this user did not approve."""
        return not any(e.key.endswith("/") and e.state != "approved" for e in self.standings)

    @property
    def workflows_root(self) -> Path:
        """The catalogue."""
        return self.project / self.settings.workflows_root

    @property
    def log_dir(self) -> Path:
        """The folder of traces and validation logs."""
        return self.project / self.settings.log_dir

    @property
    def state_dir(self) -> Path:
        """Caches, locks and past routes."""
        return self.project / self.settings.state_dir

    @property
    def tmp_dir(self) -> Path:
        """Candidates that are not promoted."""
        return self.workflows_root / self.settings.tmp.dirname

    @property
    def cache_dir(self) -> Path | None:
        """The state folder where what was worked out may be kept; None without a cache."""
        return self.state_dir if self.settings.cache_enabled else None

    @cached_property
    def cache_token(self) -> str | None:
        """The seal of caches of contracts and verdicts; None if this user has no key.

        A repository can contain a `.pulsus/` folder, but cannot know this value.
        """
        key = cache_secret.get_or_make(self.project)
        return cache_secret.seal(key, b"contracts and verdicts") if key else None

    @cached_property
    def redactor(self) -> Redactor:
        """Return the redactor, which knows the secrets of this environment."""
        return Redactor.from_environment(os.environ, (self.settings.model.api_key_env,))

    @cached_property
    def plugins(self) -> Plugins:
        """The plugins of this environment, loaded."""
        from pulsus.plugins.load_plugins import load

        return load(self.settings.plugins.disabled)

    @cached_property
    def has_plugins(self) -> bool:
        """True if an installed package declares a plugin: only then anything is loaded for them."""
        from pulsus.plugins.find_plugins import entry_points

        return bool(entry_points())

    @cached_property
    def contributions(self) -> Contributions:
        """The contributions of the plugins."""
        from pulsus.plugins.contributions import gather

        return gather(self.plugins)

    @cached_property
    def synonyms(self) -> Mapping[str, tuple[str, ...]]:
        """The plugins' vocabulary and the project's own, `config/synonyms.toml`."""
        from pulsus.routing.intent.synonyms import load_synonyms, merge_synonyms, stem_synonyms

        own = load_synonyms(self.project / "config" / "synonyms.toml")
        merged = merge_synonyms([self.contributions.synonyms, own])
        return stem_synonyms(merged, self.cache_dir)

    @cached_property
    def commands(self) -> CommandGate:
        """The command gate."""
        from pulsus.bootstrap.command_gate import CommandGate

        return CommandGate(self)

    @cached_property
    def knowledge(self) -> ProjectKnowledge:
        """The knowledge base."""
        from pulsus.bootstrap.knowledge import ProjectKnowledge

        return ProjectKnowledge(self)

    @cached_property
    def proving(self) -> ValidationSetup:
        """The setup that modules are validated with."""
        from pulsus.bootstrap.validation_setup import ValidationSetup

        return ValidationSetup(self, self.past)

    @property
    def interpreter(self) -> Interpreter | None:
        """The Python that tools run with; None is ours. Raises ConfigError."""
        return self.proving.interpreter

    def origin(self, key: str) -> str:
        """Return the layer that set a dotted setting."""
        return self.origins.get(key, "default")

    def checked_plugins(self) -> Plugins:
        """Return the plugins after each was asked for what it adds, so that failures show."""
        _ = self.contributions
        return self.plugins

    @cached_property
    def catalogue(self) -> Catalogue:
        """Everything discovery finds. Raises WorkflowsMissing, StateCorrupt."""
        from pulsus.core.system.state_dir import open_state
        from pulsus.routing.index.discovery_index import DiscoveryIndex
        from pulsus.routing.tool_discovery import discover

        open_state(self.state_dir, create=False)
        limit = self.settings.discovery.max_file_bytes
        token = self.cache_token if self.cache_dir else None
        index = DiscoveryIndex(self.state_dir, max_file_bytes=limit, token=token) if token else None
        found = discover(
            self.workflows_root,
            self.settings.discovery,
            tmp_dirname=self.settings.tmp.dirname,
            cache=index,
            extra=self.contributions.tool_sources,
        )
        self.cache_settings()
        return found

    def cache_settings(self) -> None:
        """Write the validated settings to the cache, so that the next run need not validate them.

        A secret among them is never written. Nothing is written if the state folder is read-only.
        """
        if not (self.cache_dir and self.unsaved):
            return
        from pulsus.config.setting_types import plain_values
        from pulsus.core.system.state_dir import open_state

        values = plain_values(self.settings)
        secret = self.redactor.redact_value(values) != values
        if secret or self.unsaved.state_dir != self.state_dir:
            return
        known = settings_cache.CachedSettings(self.settings, self.origins, self.widenings)
        with suppress(PulsusError, OSError):
            (open_state(self.state_dir).path / "index").mkdir(exist_ok=True)
            settings_cache.save(self.unsaved, known)

    def tool(self, ref: str) -> ToolSpec:
        """Return the one tool an id or bare name means. Raises ToolNotFound, ToolAmbiguous."""
        from pulsus.routing.tool_discovery import find_tool

        try:
            return find_tool(self.catalogue, ref)
        except ToolNotFound as missing:
            removed = next((r for r in self.past.removed if ref in (r.tool_id, r.name[:-3])), None)
            if removed is None:
                raise
            raise ToolNotFound(
                f"{removed.tool_id} was removed from the catalogue ({removed.id})",
                hint=f"bring it back: pulsus rollback {removed.tool_id}",
                tool=removed.tool_id,
            ) from missing

    @cached_property
    def past(self) -> ProjectHistory:
        """The promotion records, and the ends of past routes."""
        from pulsus.bootstrap.project_history import ProjectHistory

        return ProjectHistory(self)

    @cached_property
    def ranking(self) -> Ranking:
        """The catalogue made ready for ranking."""
        from pulsus.bootstrap.ranking_setup import Ranking

        return Ranking(self, self.past)

    @property
    def housekeeping(self) -> Housekeeping:
        """Clean-up, and the log entries beside promotions."""
        from pulsus.routing.maintenance.housekeeping import Housekeeping

        return Housekeeping(self)

    def parser(self) -> PromptParser:
        """Return the parser that knows this catalogue's words."""
        return self.ranking.parser()

    def searcher(self, *, past: bool = True) -> Searcher:
        """Ranking and choice over this catalogue; without `past` as a fresh checkout would."""
        return self.ranking.searcher(past=past)

    def remember(self, route: PastRoute) -> None:
        """Keep how a route ended, for the history feature."""
        self.past.remember(route)

    def model(self, seconds: float | None = None) -> BudgetedModel:
        """Return the configured language model, a Proposer, with a budget of its own: for one run.

        With `seconds` an answer is asked for once, and waited for no longer than that.

        Raises LlmNotConfigured, ConfigError, ModelRefused.
        """
        from pulsus.bootstrap.language_model import connect_model

        waiting = self.unapproved("model.base_url")
        try:
            return connect_model(self, seconds)
        except LlmNotConfigured:
            if waiting is None:
                raise
            from pulsus.llm.missing_model import not_approved

            raise not_approved(waiting.found.place) from None

    def unapproved(self, key: str) -> SettingApproval | None:
        """Return the value of a project file that stays unused until this user approves it."""
        found = (each for each in self.standings if each.key == key and each.state != "approved")
        return next(found, None)

    def pipeline(self, extra: Sequence[tuple[str, Validator]] = ()) -> Pipeline:
        """Return the validation pipeline with this project's rules and `extra`."""
        return self.proving.pipeline(extra)

    @property
    def store(self) -> CatalogueStore:
        """The catalogue as changes to it need it."""
        from pulsus.core.storage.catalogue_lock import CatalogueStore

        return CatalogueStore(
            self.workflows_root,
            self.state_dir,
            ids.utc_now,
            self.redactor,
            self.settings.storage.lock_seconds,
        )

    def promoter(
        self,
        run_id: str | None = None,
        route_id: str | None = None,
        made: Mapping[str, JsonValue] | None = None,
    ) -> CataloguePromoter:
        """Promotion on behalf of one run; `made` is how a generator made the module."""
        from pulsus.routing.delivery.catalogue_promoter import CataloguePromoter
        from pulsus.routing.delivery.edited_in_place import PreviousBytes
        from pulsus.routing.delivery.project_replay import ProjectExampleReplay

        return CataloguePromoter(
            store=self.store,
            run_id=run_id,
            route_id=route_id,
            made=made,
            replay=ProjectExampleReplay(self),
            find=PreviousBytes(self.workflows_root, self.state_dir),
        )

    def record_check(self) -> RecordCheck:
        """Return the check whether this user approved a promotion record."""
        from pulsus.routing.delivery.approved_records_check import RecordCheck

        return RecordCheck(self.store, self.settings.audit.trusted_signers)

    def define(self, source: bytes, path: Path) -> ToolSpec | BrokenTool:
        """The tool these bytes are when they lie at `path`."""
        from dataclasses import replace

        from pulsus.core.contract.declared_call import describe_errors
        from pulsus.core.types import BrokenTool
        from pulsus.routing.discovery.folder_reader import define_tool

        limit = self.settings.validation.max_module_bytes
        tool = define_tool(source, path, self.workflows_root, max_bytes=limit)
        if isinstance(tool, BrokenTool) or not tool.contract_errors:
            return tool
        return replace(tool, contract_errors=describe_errors(tool.contract_errors, self._tool_ids))

    def _tool_ids(self) -> list[str]:
        """Return the ids of the catalogue. An unreadable catalogue has none, and ends nothing."""
        with suppress(PulsusError):
            return [tool.id for tool in self.catalogue.tools]
        return []

    def router(self, person: Approver | None) -> Router:
        """Return the routing pipeline; `person` is None if no person can be asked."""
        from pulsus.routing.router import Router

        return Router(self, person)

    def app_log(self) -> AppLog:
        """Return the log of the application's life."""
        from pulsus.core.telemetry.logging import AppLog

        return AppLog(self.log_dir, ids.utc_now, self.redactor)

    def metrics(self) -> Metrics:
        """Return counters and timers; none are kept where `log.metrics` is off."""
        from pulsus.core.telemetry.metrics import Metrics

        enabled = self.settings.log.metrics
        return Metrics(self.log_dir, ids.utc_now, self.redactor, enabled)

    def new_run_id(self) -> str:
        """Return an id for a run that starts now."""
        return ids.run_id(ids.utc_now(), os.urandom)
