"""Load plugins and call their hooks. A plugin that fails (on import too) is named and left out.

Skipped are plugins of `plugins.disabled`. A second plugin of the same name, an unknown hook and a
hook without its mark are errors of that plugin. Hooks are called by pluggy, so `tryfirst`,
`trylast` and wrappers work. But one exception would end a call of pluggy for all plugins. So each
implementation is replaced by one that never raises (`plugin_failures.py`). The hooks are listed in
`plugins/hookspecs.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pluggy

from pulsus.fast_dataclass import dataclass
from pulsus.plugins import builtin, hookspecs
from pulsus.plugins.find_plugins import entry_points
from pulsus.plugins.plugin_failures import PluginIsolation

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
        self._isolation = PluginIsolation()
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
                with self._isolation.guard(entry.name):
                    plugin = entry.load()
                    loaded.append((entry.name, plugin() if isinstance(plugin, type) else plugin))
        # pluggy calls what was registered last first.
        for name, plugin in reversed(loaded):
            with self._isolation.guard(name):
                self._register(name, plugin)

    @property
    def infos(self) -> tuple[PluginInfo, ...]:
        """Return every plugin that was found, failed and disabled ones included."""
        errors = self._isolation.errors
        return tuple(replace(i, error=errors.get(n, i.error)) for n, i in self._infos.items())

    @property
    def failures(self) -> tuple[str, ...]:
        """Return one line for each plugin that failed to load or to answer."""
        return tuple(f"plugin {i.name} failed: {i.error}" for i in self.infos if i.error)

    def gather(self, hook: str, accept: Callable[[str, Any], Iterable[Any]]) -> tuple[Any, ...]:
        """Call `hook`, and return the items of all answers in pluggy's order.

        `accept` turns a plugin's name and its answer into items. If it raises, this plugin is
        marked as failed and gives nothing.
        """
        self._isolation.forget_answers()
        gathered: list[Any] = []
        for answer in getattr(self._manager.hook, hook)():
            name = self._isolation.source(answer)
            with self._isolation.guard(name):
                gathered.extend(accept(name, answer))
        return tuple(gathered)

    def fail(self, name: str, error: Exception) -> None:
        """Mark that plugin as failed."""
        self._isolation.fail(name, error)

    def _register(self, name: str, plugin: object) -> None:
        isolated = SimpleNamespace()
        for attribute in dir(plugin):
            options = self._manager.parse_hookimpl_opts(plugin, attribute)
            if options is not None:
                wraps = options["wrapper"] or options["hookwrapper"]
                isolate = self._isolation.isolate_wrapper if wraps else self._isolation.isolate
                function = isolate(name, getattr(plugin, attribute))
                setattr(isolated, attribute, hookspecs.hookimpl(**options)(function))
        self._manager.register(isolated, name=name)
        callers = self._manager.get_hookcallers(isolated) or []
        hooks = tuple(sorted(caller.name for caller in callers if caller.has_spec()))
        self._infos[name] = replace(self._infos[name], hooks=hooks)
        for other in sorted(_meant_as_hooks(plugin) - set(hooks)):
            known = hasattr(hookspecs, other)
            problem = f"{other} lacks @hookimpl" if known else f"unknown hook {other}"
            raise ValueError(f"{problem}; see docs/plugins.md of Pulsus")


def _meant_as_hooks(plugin: object) -> set[str]:
    """Return the names of functions that look like hooks: one without @hookimpl is a mistake."""
    named = (name for name in dir(plugin) if name.startswith("pulsus_"))
    return {name for name in named if inspect.isroutine(getattr(plugin, name))}


def load(disabled: Collection[str] = ()) -> Plugins:
    """Load the plugins of this environment: entry points of the group `pulsus.plugins`."""
    return Plugins(entry_points(), disabled)
