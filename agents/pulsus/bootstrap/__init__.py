"""Settings → a wired application. The only place that picks implementations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulsus.bootstrap.app import App
from pulsus.config import remembered
from pulsus.config.settings import Settings
from pulsus.core.telemetry import ids

if TYPE_CHECKING:
    from pulsus.routing.vectors import Progress

__all__ = ["App", "build"]


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
