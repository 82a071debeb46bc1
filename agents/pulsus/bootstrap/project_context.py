"""The view of the application that its parts have; `App` satisfies it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pulsus.routing.delivery.project_protocol import Project

if TYPE_CHECKING:
    from pulsus.plugins.contributions import Contributions
    from pulsus.plugins.load_plugins import Plugins
    from pulsus.routing.search.vector_cache import Progress


class ProjectContext(Project, Protocol):
    """A project as routing sees it, with its plugins and caches."""

    @property
    def origins(self) -> Mapping[str, str]: ...
    @property
    def progress(self) -> Progress | None: ...
    @property
    def cache_dir(self) -> Path | None: ...
    @property
    def cache_token(self) -> str | None: ...
    @property
    def has_plugins(self) -> bool: ...
    @property
    def plugins(self) -> Plugins: ...
    @property
    def contributions(self) -> Contributions: ...
    @property
    def synonyms(self) -> Mapping[str, tuple[str, ...]]: ...
