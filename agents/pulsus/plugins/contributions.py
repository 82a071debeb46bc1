"""Gather and check what plugins add. A plugin with an invalid answer is left out.

Refused are a name that is taken (a duplicate feature, provider or fact source), a content inspector
in the place of a built-in kind, and values of the wrong type. `plugin_failures.py` wraps the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulsus.core.rankers.feature_protocol import Feature
from pulsus.core.validators.validator_protocol import Validator
from pulsus.fast_dataclass import dataclass
from pulsus.plugins.load_plugins import BUILTIN, Plugins
from pulsus.plugins.plugin_failures import (
    PluginFeature,
    PluginInspector,
    PluginProviderMaker,
    PluginValidator,
)
from pulsus.routing.intent.synonyms import merge_synonyms

if TYPE_CHECKING:
    from pulsus.commands.content_inspector import ContentInspector
    from pulsus.core.compose.model_protocol import MakeProvider
    from pulsus.kb.fact_sources import FactSource


@dataclass(frozen=True, slots=True)
class Contributions:
    """Everything gathered, in plugin order."""

    features: tuple[Feature, ...]
    validators: tuple[tuple[str, Validator], ...]
    tool_sources: tuple[Path, ...]
    synonyms: Mapping[str, tuple[str, ...]]
    model_providers: Mapping[str, MakeProvider]
    command_tables: tuple[Path, ...] = ()
    content_inspectors: Mapping[str, ContentInspector] = field(default_factory=dict)
    fact_sources: tuple[FactSource, ...] = ()


def gather(plugins: Plugins) -> Contributions:
    """Return what `plugins` add. One with an invalid answer has failed and adds nothing."""
    while True:
        failed = plugins.failures
        found = _gather(plugins)
        if plugins.failures == failed:
            return found


def _gather(plugins: Plugins) -> Contributions:
    from pulsus.core.rankers.lexical_ranker import (
        BUILT_IN,  # only here: listing tools needs no ranking
    )

    taken = set(BUILT_IN)
    makers: set[str] = set()
    kinds: set[str] = set()
    origins: set[str] = set()

    def features(plugin: str, answer: Any) -> Iterable[Feature]:
        return [_feature(f, taken, partial(plugins.fail, plugin)) for f in _list(answer)]

    def providers(plugin: str, answer: Any) -> Iterable[tuple[str, MakeProvider]]:
        return [(name, _maker(plugin, name, make, makers)) for name, make in dict(answer).items()]

    def inspectors(plugin: str, answer: Any) -> Iterable[tuple[str, ContentInspector]]:
        return [(kind, _inspector(kind, judge, kinds)) for kind, judge in dict(answer).items()]

    def sources_of_facts(plugin: str, answer: Any) -> Iterable[FactSource]:
        return [_fact_source(each, origins) for each in _list(answer)]

    return Contributions(
        features=plugins.gather("pulsus_features", features),
        validators=plugins.gather("pulsus_validators", _validators),
        tool_sources=plugins.gather("pulsus_tool_sources", _sources),
        synonyms=merge_synonyms(plugins.gather("pulsus_synonyms", _synonyms)),
        model_providers=dict(plugins.gather("pulsus_model_providers", providers)),
        command_tables=plugins.gather("pulsus_command_tables", _folders),
        content_inspectors=dict(plugins.gather("pulsus_content_inspectors", inspectors)),
        fact_sources=plugins.gather("pulsus_fact_sources", sources_of_facts),
    )


def _feature(feature: Any, taken: set[str], failed: Callable[[Exception], None]) -> Feature:
    name = getattr(feature, "name", None)
    if not callable(feature) or not isinstance(name, str) or not name.isidentifier():
        raise TypeError(f"{feature!r} is no ranking feature: it needs a name and to be callable")
    if name in taken:
        raise ValueError(f"there is a ranking feature called {name} already")
    taken.add(name)
    return PluginFeature(feature, failed)


def _maker(plugin: str, name: Any, make: Any, taken: set[str]) -> MakeProvider:
    if not isinstance(name, str) or not name or not callable(make):
        raise TypeError(f"{name!r}: {make!r} is no model provider: it is a name and what makes it")
    if name in taken:
        raise ValueError(f"there is a model provider called {name} already")
    taken.add(name)
    return make if plugin == BUILTIN else PluginProviderMaker(plugin, make)


def _inspector(kind: Any, judge: Any, taken: set[str]) -> ContentInspector:
    from pulsus.commands.table_check.checker import (
        is_built_in_kind,  # only where a plugin has an inspector
    )

    if not isinstance(kind, str) or not kind.isidentifier() or not callable(judge):
        raise TypeError(f"{kind!r}: {judge!r} is no inspector: it is a kind and what judges it")
    if kind in taken or is_built_in_kind(kind):
        raise ValueError(f"there is a kind called {kind} already")
    taken.add(kind)
    return PluginInspector(judge)


def _fact_source(source: Any, taken: set[str]) -> FactSource:
    name = getattr(source, "name", None)
    if (
        not isinstance(name, str)
        or not name.isidentifier()
        or not callable(getattr(source, "read", None))
    ):
        raise TypeError(f"{source!r:.80} is no fact source: it needs a name and a method `read`")
    if name in taken:
        raise ValueError(f"there is a fact source called {name} already")
    taken.add(name)
    found: FactSource = source
    return found


def _validators(_: str, answer: Any) -> Iterable[tuple[str, Validator]]:
    found = _list(answer)
    for validator in found:
        if not callable(validator):
            raise TypeError(f"{validator!r} is no validator: it is not callable")
    return [(getattr(v, "__name__", type(v).__name__), PluginValidator(v)) for v in found]


def _sources(_: str, answer: Any) -> Iterable[Path]:
    return [Path(folder) for folder in _list(answer)]


def _folders(_: str, answer: Any) -> Iterable[Path]:
    found = [Path(folder) for folder in _list(answer)]
    for folder in found:
        if not folder.is_absolute() or not folder.is_dir():
            raise ValueError(f"{str(folder)!r} is no folder of tables: an absolute path to one is")
    return found


def _synonyms(_: str, answer: Any) -> Iterable[Mapping[str, tuple[str, ...]]]:
    table = {word: tuple(_list(meanings)) for word, meanings in dict(answer).items()}
    for text in (*table, *(meaning for meanings in table.values() for meaning in meanings)):
        if not isinstance(text, str):
            raise TypeError(f"{text!r} is no word")
    return [table]


def _list(answer: Any) -> list[Any]:
    if isinstance(answer, str | bytes):
        raise TypeError(f"{answer!r} is text, not a list")
    return list(answer)
