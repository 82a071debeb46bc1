"""Finding and calling plugins. A plugin that fails is named and left out; it never stops Pulsus."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pluggy

from pulsus.core.telemetry.sanitize import one_line
from pulsus.fast_dataclass import dataclass
from pulsus.plugins import builtin, hookspecs
from pulsus.plugins.entry_points import entry_points
from pulsus.plugins.isolation import contained

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
    """The loaded plugins, in name order after the built-in one."""

    def __init__(self, found: Iterable[EntryPoint], disabled: Collection[str] = ()) -> None:
        self._manager = pluggy.PluginManager("pulsus")
        self._manager.add_hookspecs(hookspecs)
        self._infos: dict[str, PluginInfo] = {}
        self._register(BUILTIN, builtin, PluginInfo(BUILTIN, "pulsus-workbench", ""))
        for entry in sorted(found, key=lambda e: (e.name, e.value)):
            dist = entry.dist
            info = PluginInfo(entry.name, dist.name if dist else "", dist.version if dist else "")
            if entry.name in disabled:
                self._infos[entry.name] = replace(info, disabled=True)
            elif entry.name in self._infos:
                taken = f"another plugin has the name {entry.name}"
                self._infos[f"{entry.name} = {entry.value}"] = replace(info, error=taken)
            else:
                self._load(entry, info)

    @property
    def infos(self) -> tuple[PluginInfo, ...]:
        """Every plugin that was found, failed and disabled ones included."""
        return tuple(self._infos.values())

    @property
    def failures(self) -> tuple[str, ...]:
        """One line for each plugin that failed to load or to answer."""
        return tuple(f"plugin {i.name} failed: {i.error}" for i in self.infos if i.error)

    def gather(self, hook: str, accept: Callable[[str, Any], Iterable[Any]]) -> tuple[Any, ...]:
        """What every plugin that has not failed answers to `hook`, in order.

        `accept` turns a plugin's name and answer into items; where it or the plugin raises, that
        plugin is marked as failed and gives nothing.
        """
        gathered: list[Any] = []
        for name, plugin in self._manager.list_name_plugin():
            method = getattr(plugin, hook, None)
            if method is None or name not in self._infos or self._infos[name].error:
                continue
            try:
                with contained():
                    gathered.extend(accept(name, method()))
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                self.fail(name, error)
        return tuple(gathered)

    def fail(self, name: str, error: Exception) -> None:
        """Mark that plugin as failed."""
        text = one_line(f"{type(error).__name__}: {error}")
        self._infos[name] = replace(self._infos[name], error=text)

    def _load(self, entry: EntryPoint, info: PluginInfo) -> None:
        self._infos[entry.name] = info
        try:
            with contained():
                plugin = entry.load()
                self._register(entry.name, plugin() if isinstance(plugin, type) else plugin, info)
        except Exception as error:  # noqa: BLE001 - importing a plugin may raise anything
            self.fail(entry.name, error)

    def _register(self, name: str, plugin: object, info: PluginInfo) -> None:
        self._manager.register(plugin, name=name)
        callers = self._manager.get_hookcallers(plugin) or []
        hooks = tuple(sorted(caller.name for caller in callers if caller.has_spec()))
        self._infos[name] = replace(info, hooks=hooks)
        for other in sorted(_meant_as_hooks(plugin) - set(hooks)):
            known = hasattr(hookspecs, other)
            problem = f"{other} lacks @hookimpl" if known else f"unknown hook {other}"
            raise ValueError(f"{problem}; see docs/plugins.md")


def _meant_as_hooks(plugin: object) -> set[str]:
    named = (name for name in dir(plugin) if name.startswith("pulsus_"))
    return {name for name in named if inspect.isroutine(getattr(plugin, name))}


def load(disabled: Collection[str] = ()) -> Plugins:
    """The plugins of this environment: entry points of the group `pulsus.plugins`."""
    return Plugins(entry_points(), disabled)
