"""Define the protocol between the generator and a language model (spec §7).

Types only. `llm/` and plugins implement them, and `bootstrap` connects the two. Timeouts, retries
and budgets are theirs: `llm/http/exchange.py`, `llm/http/retries.py` and `llm/budgeted_model.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from pulsus.config.settings import ModelConfig
from pulsus.fast_dataclass import dataclass

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "other"]
OnText = Callable[[str], None]
Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation with a model."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one or more answers. `estimated` if a server did not count (bytes / 4)."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        """Return the tokens of prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        """Return the sum. It is estimated if one of the two is."""
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer of a model. `finish` is "length" if the answer was cut off.

    `model` is the name that the server reports. If a schema was requested, `text` is the bare JSON
    value, already checked against the schema. `dropped` names the options that the server refused,
    so that the answer was made without them: temperature, seed or schema. A dropped schema is
    described in words instead.
    """

    text: str
    usage: Usage
    model: str
    finish: Finish
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that a server offers. `context` is its length in tokens, or 0 if unknown."""

    name: str
    context: int = 0


@dataclass(frozen=True, slots=True)
class Setup:
    """The values that a provider is created from.

    `key` is "" if there is no API key. `redact` removes secrets from a text. `context_tokens` is
    the length of context to ask a server for, where one takes it with each request; 0 for its own.
    """

    settings: ModelConfig
    key: str
    redact: Callable[[str], str]
    context_tokens: int = 0


class Provider(Protocol):
    """One way to reach a model, implemented by `llm/` and by plugins.

    Pulsus calls it through a `Proposer`. The proposer redacts the messages first. Afterwards it
    checks the answer against the schema, and counts the tokens. So a provider may answer with JSON
    inside a fence, although a schema was requested.
    """

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Schema | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        seed: int | None = None,
        on_text: OnText | None = None,
    ) -> Completion:
        """Return the model's answer.

        Raises ModelError or a subclass. Any other exception counts as an error of the plugin.
        """
        ...

    def models(self) -> Sequence[ServedModel]:
        """Return the models that the server lists, or none. Raises ModelError."""
        ...


class Proposer(Provider, Protocol):
    """A configured model. One object serves one run, and its token budget covers all calls.

    `complete` redacts the messages before they are sent. In an "assistant" message, which the model
    wrote, it hides only known secrets and their patterns: code such as `token = parts[0]` stays as
    it is. The answer always matches `schema`, a JSON Schema object. `on_text` is called with each
    piece of the answer as it arrives. `max_tokens` and `temperature` default to the settings.
    """

    @property
    def provider(self) -> str:
        """Return the name of the adapter, for the record of a generated module."""
        ...

    @property
    def model(self) -> str:
        """Return the configured name of the model."""
        ...

    @property
    def temperature(self) -> float:
        """Return the temperature of calls that set none."""
        ...

    @property
    def spent(self) -> Usage:
        """Return the tokens of all answers so far, including failed attempts if they are known."""
        ...


MakeProvider = Callable[[Setup], Provider]
"""A value of the hook `pulsus_model_providers`; its key is a name for `model.provider`."""
