"""Validated settings, kept for the next run. Effect: writes into the state folder."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pulsus.config import settings_cache
from pulsus.config.sections import plain
from pulsus.core.system.state_dir import open_state
from pulsus.core.telemetry.redaction import Redactor
from pulsus.errors import PulsusError


def cache_settings(
    sources: settings_cache.SettingsFingerprint,
    known: settings_cache.Known,
    state_dir: Path,
    redactor: Redactor,
) -> None:
    """Spare the next run the validation of these settings; a secret among them is not kept.

    Nothing is kept where the state folder cannot be written.
    """
    values = plain(known.settings)
    if sources.state_dir != state_dir or redactor.redact_value(values) != values:
        return
    with suppress(PulsusError, OSError):
        (open_state(state_dir).path / "index").mkdir(exist_ok=True)
        settings_cache.save(sources, known)
