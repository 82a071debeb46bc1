"""The settings of a project → its language model."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from pulsus.config.trust.approved_settings import SOURCES

if TYPE_CHECKING:
    from pulsus.bootstrap.project_context import ProjectContext
    from pulsus.llm.budgeted_model import BudgetedModel
    from pulsus.llm.circuit_breaker import CircuitBreaker

_TELLING = ("model.api_key_env", "model.base_url")
"""Settings that have further rules if a file of the project sets them, approved or not."""


def connect_model(
    ground: ProjectContext, seconds: float | None = None, breaker: CircuitBreaker | None = None
) -> BudgetedModel:
    """Return the configured model, with a budget of its own.

    With `seconds` an answer is asked for once, and waited for no longer than that. `breaker` is
    that of a session.

    Raises LlmNotConfigured, ConfigError, ModelRefused.
    """
    from pulsus.llm.connect import connect

    settings = ground.settings.model
    if seconds is not None:
        most = min(seconds, settings.total_seconds)
        settings = replace(settings, total_seconds=most, retries=0)
    origins = {key: ground.origins.get(key, "default") for key in _TELLING}
    return connect(
        settings,
        ground.contributions.model_providers,
        os.environ,
        ground.redactor.redact,
        redact_own=ground.redactor.redact_derived,
        by_project={key: o for key, o in origins.items() if o in SOURCES},
        # One length for every question: a server that takes it loads the model anew for another.
        context_tokens=ground.settings.agent.context_tokens,
        breaker=breaker,
    )
