"""The view of the application that routing has; `bootstrap.App` satisfies it.

`bootstrap/app.py` makes these services.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pulsus.config.settings import Settings
from pulsus.core.memory.past_routes import PastRoute
from pulsus.core.telemetry.logging import AppLog
from pulsus.core.telemetry.metrics import Metrics
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import BrokenTool, Catalogue, JsonValue, ToolSpec
from pulsus.routing.delivery.deliver import ModuleValidator
from pulsus.routing.prompt_parser import PromptParser
from pulsus.routing.search.searcher import Searcher

if TYPE_CHECKING:
    from pulsus.core.compose.model_protocol import Proposer
    from pulsus.core.sandbox.interpreter import Interpreter
    from pulsus.core.validators.validator_protocol import Validator
    from pulsus.routing.delivery.approved_records_check import RecordCheck
    from pulsus.routing.delivery.catalogue_promoter import CataloguePromoter


class Project(Protocol):
    """One project: its folders, its settings and the services made from them."""

    @property
    def project(self) -> Path: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def workflows_root(self) -> Path: ...
    @property
    def log_dir(self) -> Path: ...
    @property
    def state_dir(self) -> Path: ...
    @property
    def tmp_dir(self) -> Path: ...
    @property
    def redactor(self) -> Redactor: ...
    @property
    def catalogue(self) -> Catalogue: ...
    @property
    def interpreter(self) -> Interpreter | None: ...

    def parser(self) -> PromptParser: ...
    def searcher(self) -> Searcher: ...
    def model(self, seconds: float | None = None) -> Proposer: ...
    def pipeline(self, extra: Sequence[tuple[str, Validator]] = ()) -> ModuleValidator: ...
    def promoter(
        self,
        run_id: str | None = None,
        route_id: str | None = None,
        made: Mapping[str, JsonValue] | None = None,
    ) -> CataloguePromoter: ...
    def record_check(self) -> RecordCheck: ...
    def define(self, source: bytes, path: Path) -> ToolSpec | BrokenTool: ...
    def new_run_id(self) -> str: ...
    def app_log(self) -> AppLog: ...
    def metrics(self) -> Metrics: ...
    def remember(self, route: PastRoute) -> None: ...
