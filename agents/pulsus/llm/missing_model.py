"""The error for a language model that is not configured. Pure.

A route that finds no tool says what to set, without the client of a model. A model whose name the
server does not know is another error: `http/failures.py`.
"""

from __future__ import annotations

from pulsus.config.settings import ModelConfig
from pulsus.errors import LlmNotConfigured


def not_configured(settings: ModelConfig) -> LlmNotConfigured:
    """Return the error for a missing model. It says what to set."""
    return LlmNotConfigured(
        "no language model is configured: model.base_url is empty",
        hint=f'set model.base_url (for example "{_example_base(settings)}") and model.name in '
        "config/pulsus.toml, or PULSUS_MODEL__BASE_URL and PULSUS_MODEL__NAME; a key goes to the "
        f"variable {settings.api_key_env or 'that model.api_key_env names'}; then "
        "`pulsus doctor --model`",
    )


def not_approved(place: str) -> LlmNotConfigured:
    """Return the error for a model that a file of the project sets, at `place`, unapproved."""
    return LlmNotConfigured(
        f"no language model is configured: {place} sets model.base_url, which is not used before "
        "you approve it",
        hint="`pulsus config trust model.base_url` shows the value and asks; in CI set "
        "PULSUS_MODEL__BASE_URL instead; then `pulsus doctor --model`",
    )


def _example_base(settings: ModelConfig) -> str:
    local = "http://127.0.0.1:11434"
    return local if settings.provider == "ollama" else f"{local}/v1"
