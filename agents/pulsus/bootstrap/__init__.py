"""Settings → a wired application. The only place that picks implementations.

`build` refuses a project with unapproved (untrusted) values; `inspect` uses defaults in their
place. Both decisions are made with `project_trust.py`. A promotion that was interrupted is
recovered first.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulsus.bootstrap.app import App
from pulsus.config import settings_cache
from pulsus.config.settings import Settings
from pulsus.errors import ConfigError

if TYPE_CHECKING:
    from pulsus.routing.search.vector_cache import Progress

__all__ = ["App", "build", "inspect"]


def build(project: Path, flags: dict[str, Any], progress: Progress | None = None) -> App:
    """Build the application for the folder `project`; `progress` reports long work.

    An interrupted promotion is recovered first. Raises ConfigError; ConfigUntrusted if a file of
    the project sets a value that this user must approve first; UserStateInvalid if approvals cannot
    be read.
    """
    app = _wired(project, flags, progress)
    if app.widenings or app.links:
        from pulsus.bootstrap import project_trust

        found, _ = project_trust.setting_approvals(project, app.asked)
        unapproved = [each for each in found if each.state != "approved"]
        if unapproved:
            raise project_trust.untrusted_error(unapproved, app.redactor.redact_value)
        app = replace(app, standings=found)
    return _recovered(app)


def inspect(project: Path, flags: dict[str, Any], progress: Progress | None = None) -> App:
    """Return the application for a command that only reports: `doctor`, `config`, `audit`, `init`.

    Values that are not approved are not used: the default stands in their place, and
    `App.standings` tells of them. Raises ConfigError.
    """
    from pulsus.bootstrap import project_trust

    app = _wired(project, flags, progress)
    asked = [*app.asked, *project_trust.table_widenings(project)]
    if asked:
        found, failure = project_trust.setting_approvals(project, asked, lenient=True)
        unapproved = [each for each in found if each.state != "approved"]
        app = replace(app, standings=found, trust_failure=failure)
        settings = [each for each in unapproved if "/" not in each.key]
        if settings:
            usable = project_trust.without_unapproved(app.settings, app.origins, settings)
            app = replace(app, settings=usable, unsaved=None)
    if not app.writable:
        return replace(app, settings=replace(app.settings, cache_enabled=False), unsaved=None)
    return _recovered(app)


def _recovered(app: App) -> App:
    if (app.state_dir / "promotion.json").exists():
        app.store.recover()
    return app


def _redacted(failure: ConfigError) -> ConfigError:
    """Return the error without secrets: it shows the wrong value, whatever that is."""
    from pulsus.core.telemetry.redaction import Redactor  # only for settings that are wrong

    redact = Redactor.from_environment(os.environ).redact
    return ConfigError(redact(failure.message), hint=redact(failure.hint), **failure.details)


def _wired(project: Path, flags: dict[str, Any], progress: Progress | None) -> App:
    sources = settings_cache.SettingsFingerprint.of(project, flags)
    if sources.silent:
        return App(project, Settings(), {}, progress)
    known = settings_cache.load(sources) if flags.get("cache_enabled", True) else None
    if known:
        return App(project, known.settings, known.origins, progress, None, known.widenings)
    # pydantic: only where something about the settings is new
    from pulsus.config import diagnostics, layers
    from pulsus.config.trust import settings_to_approve

    try:
        found = layers.read_layers(Settings, project, flags)
        settings = layers.validate_layers(Settings, found)
    except ConfigError as failure:
        raise _redacted(diagnostics.with_line(failure, project)) from None
    asked = settings_to_approve.find_widenings(settings, found.origins, project)
    return App(project, settings, found.origins, progress, sources, asked)
