"""Decide what happens when a plugin fails: Pulsus goes on without it. Calls plugin code.

A plugin that cannot be imported or loaded is left out in `load_plugins.py`.

A hook that raises marks its plugin as failed, and the plugin is not called again. What a hook gave
is wrapped, so that a later failure of it has its own consequence: a feature counts 0, an inspector
refuses the command, a provider's fault is a ModelError. `exit()` of a plugin ends nothing, and its
output goes to stderr.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO, TypeVar, get_args

from pulsus.core.rankers.feature_protocol import Feature
from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.types import ParsedIntent, StepResult, ToolSpec
from pulsus.core.validators.validator_protocol import Validator
from pulsus.errors import ModelError, PulsusError
from pulsus.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pulsus.commands.content_inspector import ContentInspector, Opinion
    from pulsus.core.compose.model_protocol import (
        Completion,
        MakeProvider,
        Message,
        OnText,
        Provider,
        ServedModel,
        Setup,
    )

T = TypeVar("T")


class PluginExit(Exception):
    """Plugin code tried to end the process."""


@contextlib.contextmanager
def contain_plugin() -> Iterator[None]:
    """Run plugin code in a block: its output goes to stderr, and it cannot end Pulsus.

    Raises PluginExit instead of SystemExit.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except SystemExit as leaving:
        raise PluginExit(f"it called exit({leaving.code!r})") from None


class PluginIsolation:
    """Calls of hooks that never raise, and the error of each plugin that failed, by its name."""

    def __init__(self) -> None:
        self.errors: dict[str, str] = {}
        self._answers: list[tuple[str, Any]] = []

    @contextlib.contextmanager
    def guard(self, name: str) -> Iterator[None]:
        """Run code of that plugin in a block, and mark it as failed if the block raises."""
        try:
            with contain_plugin():
                yield
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            self.fail(name, error)

    def fail(self, name: str, error: Exception) -> None:
        """Mark that plugin as failed."""
        self.errors[name] = one_line(f"{type(error).__name__}: {error}")

    def forget_answers(self) -> None:
        """Begin a call of a hook: the answers of the last one are no longer needed."""
        self._answers = []

    def source(self, answer: Any) -> str:
        """Return the name of the plugin that gave this answer to the hook."""
        return next(name for name, given in self._answers if given is answer)

    def isolate(self, name: str, function: Callable[..., Any]) -> Callable[[], Any]:
        """Return `function` as one that gives no answer if it raises, or if its plugin failed."""

        def call() -> Any:
            if name not in self.errors:
                with self.guard(name):
                    answer = function()
                    if answer is None:
                        raise TypeError("it answered None")
                    self._answers.append((name, answer))
                    return answer
            return None  # pluggy leaves it out

        return call

    def isolate_wrapper(
        self, name: str, function: Callable[..., Any]
    ) -> Callable[[], Generator[None, Any, Any]]:
        """Return the hook wrapper `function` as one that changes nothing if it raises."""

        def call() -> Generator[None, Any, Any]:
            wrapper = None
            if name not in self.errors:
                with self.guard(name):
                    wrapper = function()
                    next(wrapper)
            result = yield
            if wrapper is None or name in self.errors:
                return result
            with self.guard(name):
                try:
                    wrapper.send(result)
                except StopIteration as end:
                    return self._changed(name, result, end.value)
                raise TypeError("the hook wrapper yields more than once")
            return result

        return call

    def _changed(self, name: str, result: Any, changed: Any) -> Any:
        """Return what a wrapper made of the answers, each new one with that plugin as its source.

        An old-style wrapper gets an outcome of pluggy, and changes this instead of returning.
        """
        if not isinstance(result, list):
            changed = result.get_result()
        if not isinstance(changed, list):
            raise TypeError(f"the hook wrapper returned {changed!r:.80}, not the list of answers")
        known = [id(answer) for _, answer in self._answers]
        self._answers += [(name, answer) for answer in changed if id(answer) not in known]
        return changed if isinstance(result, list) else None


@dataclasses.dataclass(slots=True)
class PluginFeature:
    """A plugin's ranking signal. After it raised once, it is 0 for every tool."""

    feature: Feature
    failed: Callable[[Exception], None]
    broken: bool = dataclasses.field(default=False, init=False)

    @property
    def name(self) -> str:
        """Return the plugin's name for it."""
        return self.feature.name

    def __call__(self, intent: ParsedIntent, tool: ToolSpec) -> float:
        """Return the plugin's number, or 0 if it raises."""
        if self.broken:
            return 0.0
        try:
            with contain_plugin():
                return float(self.feature(intent, tool))
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            self.broken = True
            self.failed(error)
            return 0.0


@dataclass(frozen=True, slots=True)
class PluginValidator:
    """A plugin's check. It raises TypeError for an answer that is no step result."""

    validator: Validator

    def __call__(self, source: bytes, tool: ToolSpec) -> StepResult:
        """Return the plugin's verdict. Raises the plugin's exceptions."""
        with contain_plugin():
            found: Any = self.validator(source, tool)
        if not isinstance(found, StepResult) or not isinstance(found.ok, bool):
            raise TypeError(f"it answered {found!r:.80}, not a StepResult")
        return found


@dataclass(frozen=True, slots=True)
class PluginInspector:
    """A plugin's judge of content. An exception or an invalid opinion refuses the command."""

    inspector: ContentInspector

    def __call__(self, words: tuple[str, ...], argument: str) -> Opinion:
        """Return the plugin's opinion, or one that refuses."""
        from pulsus.commands.content_inspector import Opinion

        try:
            with contain_plugin():
                found: Any = self.inspector(words, argument)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            return Opinion(False, f"its inspector failed: {one_line(str(error))}")
        if not isinstance(found, Opinion) or not isinstance(found.reads, bool):
            return Opinion(False, f"its inspector answered {one_line(repr(found), 80)}, no opinion")
        wrong = _misfilled(found)
        return Opinion(False, f"its inspector is wrong: {wrong}") if wrong else found


def _misfilled(found: Any) -> str:
    """Return what is wrong with the fields of a plugin's opinion, or ''."""
    from pulsus.commands.command_verdict import Category

    categories = get_args(Category)
    if found.category is not None and found.category not in categories:
        return f"category {found.category!r} is none of {', '.join(categories)}"
    if not isinstance(found.rule, str) or not isinstance(found.word, str):
        return "rule and word are texts"
    if found.category is None and found.word in categories:
        return f"it gave a category as the word: write category={found.word!r}"
    return ""


@dataclass(frozen=True, slots=True)
class PluginProviderMaker:
    """The maker of a plugin's model provider. Its failures are ModelErrors with its name."""

    plugin: str
    make: MakeProvider

    def __call__(self, setup: Setup) -> PluginProvider:
        """Return the guarded provider. Raises ModelError."""
        return PluginProvider(self.plugin, _asked(self.plugin, lambda: self.make(setup)))


@dataclass(frozen=True, slots=True)
class PluginProvider:
    """A plugin's model provider. Exceptions other than PulsusError become ModelErrors."""

    plugin: str
    provider: Provider

    def complete(
        self, messages: Sequence[Message], *, on_text: OnText | None = None, **options: Any
    ) -> Completion:
        """Return the plugin's answer. Raises ModelError and its kinds."""
        from pulsus.core.compose.model_protocol import Completion

        options["on_text"] = on_text and _outside(on_text, sys.stdout)
        found: Any = _asked(self.plugin, lambda: self.provider.complete(messages, **options))
        if not isinstance(found, Completion) or not isinstance(found.text, str):
            raise _broken(self.plugin, f"it answered {found!r:.80}, not a Completion")
        return found

    def models(self) -> Sequence[ServedModel]:
        """Return the plugin's list of models. Raises ModelError and its kinds."""
        return _asked(self.plugin, self.provider.models)


def _outside(on_text: OnText, stdout: TextIO) -> OnText:
    """Return `on_text` so that it prints to the caller's stdout, and not to the plugin's."""

    def tell(piece: str) -> None:
        with contextlib.redirect_stdout(stdout):
            on_text(piece)

    return tell


def _asked(plugin: str, call: Callable[[], T]) -> T:
    try:
        with contain_plugin():
            return call()
    except PulsusError:
        raise
    except Exception as error:
        raise _broken(plugin, f"{type(error).__name__}: {error}") from error


def _broken(plugin: str, said: str) -> ModelError:
    return ModelError(
        f"the model provider of plugin {plugin} failed: {one_line(said)}",
        hint="report it to the plugin's author, or choose another model.provider",
    )
