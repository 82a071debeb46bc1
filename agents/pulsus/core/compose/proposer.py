"""What a language model is to the generator: messages in, text and token use out (spec §7).

Types only: the rooms that reach a model (`llm/`, plugins) implement `Proposer`; `bootstrap` joins.
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
    """One turn of the conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more answers. `estimated` where a server did not count (bytes / 4)."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        """Prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        """Both together; estimated where either is."""
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer. `model` is the name the server gives; `finish` is "length" when it was cut off.

    Where a schema was asked for, `text` is the bare JSON value, already checked against it.
    `dropped` names what the server refused to take and the answer was therefore made without:
    temperature, seed, schema (it was put in words instead).
    """

    text: str
    usage: Usage
    model: str
    finish: Finish
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that a server offers. `context` is its length in tokens, 0 where not stated."""

    name: str
    context: int = 0


@dataclass(frozen=True, slots=True)
class Setup:
    """What a provider is made from. `key` is "" where there is none; `redact` hides secrets."""

    settings: ModelConfig
    key: str
    redact: Callable[[str], str]


class Provider(Protocol):
    """One way to reach a model: what `llm/` and plugins implement.

    It is called through a `Proposer`, which redacts the messages before, and afterwards checks the
    answer against the schema and counts the tokens. So `schema` is a wish here: the answer may be
    JSON inside a fence.
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
        """The model's answer. Raises ModelError and its kinds; anything else is the plugin's."""
        ...

    def models(self) -> Sequence[ServedModel]:
        """What the server says it has; empty where it does not say. Raises ModelError."""
        ...


class Proposer(Protocol):
    """A configured model. Its token budget spans every call on it: one object serves one run."""

    @property
    def provider(self) -> str:
        """The name of the adapter, for the record of where code came from."""
        ...

    @property
    def model(self) -> str:
        """The name of the model as configured."""
        ...

    @property
    def temperature(self) -> float:
        """The temperature used where a call names none."""
        ...

    @property
    def spent(self) -> Usage:
        """The tokens of every answer so far, failed attempts included as far as they are known."""
        ...

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
        """The model's answer to `messages`, which are redacted before they leave.

        Of an "assistant" message, words the model wrote, only known secrets and shapes are hidden:
        `token = parts[0]` stays code.

        `schema` is a JSON Schema object that the answer must fit. `on_text` is called with each
        piece as it arrives. `max_tokens` and `temperature` default to the settings. Raises
        ModelError and its kinds.
        """
        ...

    def models(self) -> Sequence[ServedModel]:
        """What the server says it has; empty where it does not say. Raises ModelError."""
        ...


MakeProvider = Callable[[Setup], Provider]
"""What the hook `pulsus_model_providers` gives, by the name `model.provider` selects it by."""
