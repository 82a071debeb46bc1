"""The settings that decide what a run may do; a plan is reviewed with their values. Pure.

Approvals of settings are in `config/trust/approved_settings.py`.
"""

from __future__ import annotations

import json

from pulsus.config.trust.approval_marks import FREE
from pulsus.config.trust.settings_to_approve import setting_marks
from pulsus.core.types import JsonValue
from pulsus.routing.delivery.project_protocol import Project

_SECTIONS = ("access.", "policy.", "run.")


def trusted_settings(project: Project) -> dict[str, JsonValue]:
    """Return what `[access]`, `[policy]` and `[run]` set, where that could widen what a run may do.

    A value that is the default is left out.
    """
    settings = project.settings
    defaults = type(settings)()
    marks = setting_marks(type(settings))
    keys = [key for key, mark in marks.items() if mark is not FREE and key.startswith(_SECTIONS)]
    values = {key: _read(settings, key) for key in sorted(keys)}
    return {key: value for key, value in values.items() if value != _read(defaults, key)}


def _read(settings: object, key: str) -> JsonValue:
    found = settings
    for name in key.split("."):
        found = getattr(found, name)
    # As JSON has it: a tuple is a list, a path is its text.
    value: JsonValue = json.loads(json.dumps(found, default=str))
    return value
