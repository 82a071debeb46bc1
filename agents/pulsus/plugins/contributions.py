"""What the plugins add together, checked. Gathering calls plugin code; a bad answer is isolated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pulsus.core.rankers.base import Feature
from pulsus.core.validators.finding import Validator
from pulsus.plugins.load import Plugins
from pulsus.routing.synonyms import merge_synonyms


@dataclass(frozen=True, slots=True)
class Contributions:
    """Everything gathered, in plugin order."""

    features: tuple[Feature, ...]
    validators: tuple[tuple[str, Validator], ...]
    tool_sources: tuple[Path, ...]
    synonyms: Mapping[str, tuple[str, ...]]


def gather(plugins: Plugins) -> Contributions:
    """What `plugins` add. One that answers nonsense is marked as failed in `plugins.infos`."""
    return Contributions(
        features=plugins.gather("pulsus_features", _features),
        validators=plugins.gather("pulsus_validators", _validators),
        tool_sources=plugins.gather("pulsus_tool_sources", _sources),
        synonyms=merge_synonyms(plugins.gather("pulsus_synonyms", _synonyms)),
    )


def _features(answer: Any) -> Iterable[Feature]:
    found = list(answer)
    for feature in found:
        if not callable(feature) or not isinstance(getattr(feature, "name", None), str):
            raise TypeError(
                f"{feature!r} is no ranking feature: it needs a name and to be callable"
            )
    return found


def _validators(answer: Any) -> Iterable[tuple[str, Validator]]:
    found = list(answer)
    for validator in found:
        if not callable(validator):
            raise TypeError(f"{validator!r} is no validator: it is not callable")
    return [(getattr(v, "__name__", type(v).__name__), v) for v in found]


def _sources(answer: Any) -> Iterable[Path]:
    return [Path(folder) for folder in answer]


def _synonyms(answer: Any) -> Iterable[Mapping[str, tuple[str, ...]]]:
    return [{str(word): tuple(map(str, meanings)) for word, meanings in dict(answer).items()}]
