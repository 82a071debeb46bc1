"""The settings of a project → its language model, and the model of an agent.

The API key is checked in `llm/connect.py`, budget and secrets in `llm/budgeted_model.py`.
"""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pulsus.config.trust.approved_settings import SOURCES

if TYPE_CHECKING:
    from pulsus.agent.model.json_model import JsonModel
    from pulsus.agent.model.native_model import NativeModel
    from pulsus.bootstrap.project_context import ProjectContext
    from pulsus.config.settings import AgentConfig
    from pulsus.llm.budgeted_model import BudgetedModel
    from pulsus.llm.circuit_breaker import CircuitBreaker

_TELLING = ("model.api_key_env", "model.base_url")
"""Settings that have further rules if a file of the project sets them, approved or not."""


def connect_model(
    ground: ProjectContext,
    seconds: float | None = None,
    breaker: CircuitBreaker | None = None,
    longest: float = math.inf,
) -> BudgetedModel:
    """Return the configured model, with a budget of its own.

    With `seconds` an answer is asked for once, and waited for no longer than that. An answer with
    its retries takes at most `longest` seconds. `breaker` is that of a session.

    Raises LlmNotConfigured, ConfigError, ModelRefused.
    """
    from pulsus.llm.connect import connect

    settings = ground.settings.model
    settings = replace(settings, total_seconds=min(longest, settings.total_seconds))
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


def connect_turn_model(ground: ProjectContext, breaker: CircuitBreaker) -> JsonModel | NativeModel:
    """Return the model of one agent run, which calls tools as `agent.protocol` says.

    `breaker` is that of the session (`new_breaker`). Raises as `connect_model`.
    """
    config = ground.settings.agent
    # A model that is given up at the end of a run sends for no longer than the run may take.
    model = connect_model(ground, breaker=breaker, longest=config.run_seconds)
    if config.protocol == "native":
        model.require_native_calls()
    return turn_model(config, model, config.protocol)


def turn_model(
    config: AgentConfig, model: BudgetedModel, protocol: Literal["json", "native"]
) -> JsonModel | NativeModel:
    """Return a model that calls tools in one of the two ways."""
    from pulsus.agent.model.json_model import JsonModel
    from pulsus.agent.model.native_model import NativeModel

    make = NativeModel if protocol == "native" else JsonModel
    return make(
        model,
        temperature=config.temperature,
        max_tokens=config.max_answer_tokens,
        context_tokens=config.context_tokens,
    )


def new_breaker(config: AgentConfig) -> CircuitBreaker:
    """Return the circuit breaker of a session."""
    from pulsus.llm.circuit_breaker import CircuitBreaker

    return CircuitBreaker(config.breaker_failures, config.breaker_seconds)
