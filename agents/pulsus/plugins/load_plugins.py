"""Load plugins and call their hooks. A plugin that fails is named and left out.

Hooks are called by pluggy, so `tryfirst`, `trylast` and wrappers work. But one exception would end
a call of pluggy for all plugins. So each implementation is replaced by one that never raises.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pluggy

from pulsus.core.telemetry.sanitize import one_line
from pulsus.fast_dataclass import dataclass
from pulsus.plugins import builtin, hookspecs
from pulsus.plugins.find_plugins import entry_points
from pulsus.plugins.plugin_failures import contain_plugin

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

BUILTIN = "pulsus"


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """One plugin as `pulsus plugins list` shows it. `error` is empty while it works."""

    name: str
    distribution: str
    version: str
    hooks: tuple[str, ...] = ()
    error: str = ""
    disabled: bool = False


class Plugins:
    """The loaded plugins. Hooks are called in name order after the built-in plugin."""

    def __init__(self, found: Iterable[EntryPoint], disabled: Collection[str] = ()) -> None:
        self._manager = pluggy.PluginManager("pulsus")
        self._manager.add_hookspecs(hookspecs)
        self._answers: list[tuple[str, Any]] = []
        self._infos = {BUILTIN: PluginInfo(BUILTIN, "pulsus-workbench", "")}
        loaded: list[tuple[str, object]] = [(BUILTIN, builtin)]
        for entry in sorted(found, key=lambda e: (e.name, e.value)):
            dist = entry.dist
            info = PluginInfo(entry.name, dist.name if dist else "", dist.version if dist else "")
            if entry.name in disabled:
                self._infos[entry.name] = replace(info, disabled=True)
            elif entry.name in self._infos:
                taken = f"another plugin has the name {entry.name}"
                self._infos[f"{entry.name} = {entry.value}"] = replace(info, error=taken)
            else:
                self._infos[entry.name] = info
                with self._failing(entry.name), contain_plugin():
                    plugin = entry.load()
                    loaded.append((entry.name, plugin() if isinstance(plugin, type) else plugin))
        # pluggy calls what was registered last first.
        for name, plugin in reversed(loaded):
            with self._failing(name), contain_plugin():
                self._register(name, plugin)

    @property
    def infos(self) -> tuple[PluginInfo, ...]:
        """Return every plugin that was found, failed and disabled ones included."""
        return tuple(self._infos.values())

    @property
    def failures(self) -> tuple[str, ...]:
        """Return one line for each plugin that failed to load or to answer."""
        return tuple(f"plugin {i.name} failed: {i.error}" for i in self.infos if i.error)

    def gather(self, hook: str, accept: Callable[[str, Any], Iterable[Any]]) -> tuple[Any, ...]:
        """Call `hook`, and return the items of all answers in pluggy's order.

        `accept` turns a plugin's name and its answer into items. If it raises, this plugin is
        marked as failed and gives nothing.
        """
        self._answers = []
        gathered: list[Any] = []
        for answer in getattr(self._manager.hook, hook)():
            name = self._source(answer)
            with self._failing(name), contain_plugin():
                gathered.extend(accept(name, answer))
        return tuple(gathered)

    def fail(self, name: str, error: Exception) -> None:
        """Mark that plugin as failed."""
        text = one_line(f"{type(error).__name__}: {error}")
        self._infos[name] = replace(self._infos[name], error=text)

    @contextmanager
    def _failing(self, name: str) -> Iterator[None]:
        """Mark that plugin as failed if the block raises."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            self.fail(name, error)

    def _register(self, name: str, plugin: object) -> None:
        isolated = SimpleNamespace()
        for attribute in dir(plugin):
            options = self._manager.parse_hookimpl_opts(plugin, attribute)
            if options is not None:
                wraps = options["wrapper"] or options["hookwrapper"]
                isolate = self._isolated_wrapper if wraps else self._isolated
                function = isolate(name, getattr(plugin, attribute))
                setattr(isolated, attribute, hookspecs.hookimpl(**options)(function))
        self._manager.register(isolated, name=name)
        callers = self._manager.get_hookcallers(isolated) or []
        hooks = tuple(sorted(caller.name for caller in callers if caller.has_spec()))
        self._infos[name] = replace(self._infos[name], hooks=hooks)
        for other in sorted(_meant_as_hooks(plugin) - set(hooks)):
            known = hasattr(hookspecs, other)
            problem = f"{other} lacks @hookimpl" if known else f"unknown hook {other}"
            raise ValueError(f"{problem}; see docs/plugins.md")

    def _isolated(self, name: str, function: Callable[..., Any]) -> Callable[[], Any]:
        """Return `function` as one that gives no answer if it raises, or if its plugin failed."""

        def call() -> Any:
            if not self._infos[name].error:
                with self._failing(name), contain_plugin():
                    answer = function()
                    if answer is None:
                        raise TypeError("it answered None")
                    self._answers.append((name, answer))
                    return answer
            return None  # pluggy leaves it out

        return call

    def _isolated_wrapper(
        self, name: str, function: Callable[..., Any]
    ) -> Callable[[], Generator[None, Any, Any]]:
        """Return the hook wrapper `function` as one that changes nothing if it raises."""

        def call() -> Generator[None, Any, Any]:
            wrapper = None
            if not self._infos[name].error:
                with self._failing(name), contain_plugin():
                    wrapper = function()
                    next(wrapper)
            result = yield
            if wrapper is None or self._infos[name].error:
                return result
            with self._failing(name), contain_plugin():
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

    def _source(self, answer: Any) -> str:
        """Return the name of the plugin that gave this answer."""
        return next(name for name, given in self._answers if given is answer)


def _meant_as_hooks(plugin: object) -> set[str]:
    """Return the names of functions that look like hooks: one without @hookimpl is a mistake."""
    named = (name for name in dir(plugin) if name.startswith("pulsus_"))
    return {name for name in named if inspect.isroutine(getattr(plugin, name))}


def load(disabled: Collection[str] = ()) -> Plugins:
    """Load the plugins of this environment: entry points of the group `pulsus.plugins`."""
    return Plugins(entry_points(), disabled)
