"""Make a model from the settings, with its API key. Nothing is sent yet.

Here is decided if the key may be sent: not unencrypted over plain HTTP, and not to a host that only
a project file names (`model.key_hosts`). The key is read from the variable `model.api_key_env`. The
endpoint (URL path) of each kind of server is in `llm/http/openai_compat.py`, `anthropic.py` and
`ollama.py`. No other provider stands in for one that fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pulsus.config.settings import ModelConfig
from pulsus.core.compose.model_protocol import MakeProvider, Setup
from pulsus.errors import ConfigError, ModelKeyWithheld, ModelRefused
from pulsus.llm.address import Address, parse_address
from pulsus.llm.budgeted_model import BudgetedModel
from pulsus.llm.circuit_breaker import CircuitBreaker
from pulsus.llm.missing_model import not_configured

_OWN_KEY = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY\Z")
OVER_HTTP = ("openai", "anthropic", "ollama")
KNOWN_HOSTS = {"openai": "api.openai.com", "anthropic": "api.anthropic.com"}
"""The provider's own host: its own key may go there, whatever file names the host."""

_NOWHERE = Address("", local=True, encrypted=False)
_HEADER_SAFE = re.compile(r"[!-~]+\Z")


def connect(
    settings: ModelConfig,
    providers: Mapping[str, MakeProvider],
    environ: Mapping[str, str],
    redact: Callable[[str], str],
    *,
    redact_own: Callable[[str], str] | None = None,
    by_project: Mapping[str, str] | None = None,
    context_tokens: int = 0,
    breaker: CircuitBreaker | None = None,
) -> BudgetedModel:
    """Return the configured model. `redact_own` is that of BudgetedModel.

    `by_project`: the settings that stand in a file of the project, which others may have written,
    and in which file. A plugin's provider may do without a `base_url`. `context_tokens` is that of
    Setup; `breaker` is shared by the models of one session. Raises LlmNotConfigured
    if a needed one is missing; ConfigError; ModelKeyWithheld; ModelRefused if a key
    is needed and missing.
    """
    if not settings.base_url and settings.provider in OVER_HTTP:
        raise not_configured(settings)
    make = providers.get(settings.provider)
    if make is None:
        raise ConfigError(
            f"setting model.provider = {settings.provider!r}: there is no such provider",
            hint=f"it is one of: {', '.join(sorted(providers))} (`pulsus plugins list`)",
            key="model.provider",
        )
    place = parse_address(settings.base_url) if settings.base_url else _NOWHERE
    if settings.provider == "ollama" and place.base.endswith("/v1"):
        raise ConfigError(
            f"setting model.base_url = {place.base!r}: the provider ollama takes the address "
            "without /v1",
            hint=f'use {place.base.removesuffix("/v1")}, or model.provider = "openai"',
            key="model.base_url",
        )
    key = _allowed_key(settings, environ, place, by_project or {})
    setup = Setup(settings, key, redact, context_tokens)
    return BudgetedModel(make(setup), setup, redact_own, breaker)


def _allowed_key(
    settings: ModelConfig,
    environ: Mapping[str, str],
    place: Address,
    by_project: Mapping[str, str],
) -> str:
    name = settings.api_key_env
    if name and "model.api_key_env" in by_project and not _OWN_KEY.match(name):
        raise ConfigError(
            f"setting model.api_key_env = {name!r}: a file of the project may name only "
            "variables that end in _API_KEY, so that a checkout cannot send off other secrets",
            hint="give it by PULSUS_MODEL__API_KEY_ENV, or copy the key to PULSUS_LLM_API_KEY",
            key="model.api_key_env",
        )
    key = environ.get(name, "").strip() if name else ""
    if not key:
        return _no_key(name, place)
    _require_meant(settings, place, by_project)
    if not _HEADER_SAFE.match(key):
        raise ConfigError(f"the key in {name} holds characters no key has", hint="set it again")
    if not (place.encrypted or place.local or settings.allow_plain_http):
        raise ConfigError(
            f"setting model.base_url = {place.base!r}: the key in {name} would travel unencrypted",
            hint="use https://, or set model.allow_plain_http = true if the way is safe",
            key="model.base_url",
        )
    return key


def _require_meant(settings: ModelConfig, place: Address, by_project: Mapping[str, str]) -> None:
    """Raise if only `model.base_url` in the project's files names the host that gets the key.

    Approving where requests go is not approving where the key goes: that is `model.key_hosts`,
    which counts from a variable, or from a project's file after `pulsus config trust`.
    """
    file = by_project.get("model.base_url")
    known = place.encrypted and place.place == KNOWN_HOSTS.get(settings.provider)
    if file is None or known or place.place in (h.lower() for h in settings.key_hosts):
        return
    raise ModelKeyWithheld(
        f"the key in {settings.api_key_env} is not sent to {place.place}: that host is named by "
        f"{file}, a file of the project, and not by you",
        hint=f"if it is meant to get your key, set PULSUS_MODEL__BASE_URL={place.base} or "
        f"PULSUS_MODEL__KEY_HOSTS='[\"{place.place}\"]'; where it wants no key, unset "
        f'{settings.api_key_env} or set PULSUS_MODEL__API_KEY_ENV=""',
        host=place.place,
        variable=settings.api_key_env,
        origin=file,
    )


def _no_key(name: str, place: Address) -> str:
    if name and not place.local:
        raise ModelRefused(
            f"{place.base} is not local and there is no key for it: {name} is not set",
            hint=f'set {name}, or model.api_key_env = "" where the server wants no key',
        )
    return ""
