"""What the parts of the application need of it; `App` satisfies it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pulsus.config.settings import Settings
from pulsus.core.telemetry.redact import Redactor
from pulsus.core.types import Catalogue

if TYPE_CHECKING:
    from pulsus.plugins.contributions import Contributions
    from pulsus.plugins.load import Plugins
    from pulsus.routing.vectors import Progress


class Ground(Protocol):
    """One project: its folders, its settings, its plugins, its tools."""

    @property
    def project(self) -> Path: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def origins(self) -> Mapping[str, str]: ...
    @property
    def progress(self) -> Progress | None: ...
    @property
    def workflows_root(self) -> Path: ...
    @property
    def log_dir(self) -> Path: ...
    @property
    def state_dir(self) -> Path: ...
    @property
    def tmp_dir(self) -> Path: ...
    @property
    def cache_dir(self) -> Path | None: ...
    @property
    def cache_token(self) -> str | None: ...
    @property
    def redactor(self) -> Redactor: ...
    @property
    def plugins(self) -> Plugins: ...
    @property
    def contributions(self) -> Contributions: ...
    @property
    def synonyms(self) -> Mapping[str, tuple[str, ...]]: ...
    @property
    def catalogue(self) -> Catalogue: ...
