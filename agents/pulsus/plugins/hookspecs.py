"""Define the hooks of plugins, as pluggy specifications (docs/plugins.md).

A hook takes no arguments and returns values, so it never gets the application. Pulsus implements
each hook too (`plugins/builtin.py`): the built-in path is the plugin path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pluggy

from pulsus.core.rankers.feature_protocol import Feature
from pulsus.core.validators.validator_protocol import Validator

if TYPE_CHECKING:
    from pulsus.commands.content_inspector import ContentInspector
    from pulsus.core.compose.model_protocol import MakeProvider
    from pulsus.kb.fact_sources import FactSource

hookspec = pluggy.HookspecMarker("pulsus")
hookimpl = pluggy.HookimplMarker("pulsus")


@hookspec
def pulsus_features() -> Iterable[Feature]:  # type: ignore[empty-body]
    """Return ranking features to add. Names must be unique. Their weight is 0 until configured."""


@hookspec
def pulsus_validators() -> Iterable[Validator]:  # type: ignore[empty-body]
    """Return validation steps to run after the static gate. A step that raises has failed."""


@hookspec
def pulsus_tool_sources() -> Iterable[Path]:  # type: ignore[empty-body]
    """Return folders like `workflows/`. They are read-only, and the project's own tools win."""


@hookspec
def pulsus_synonyms() -> Mapping[str, tuple[str, ...]]:  # type: ignore[empty-body]
    """Return a map from words of users to words of the catalogue, in lower case."""


@hookspec
def pulsus_model_providers() -> Mapping[str, MakeProvider]:  # type: ignore[empty-body]
    """Return makers of model providers by the name that `model.provider` selects."""


@hookspec
def pulsus_command_tables() -> Iterable[Path]:  # type: ignore[empty-body]
    """Return folders of tables (docs/commands.md), searched before the shipped ones."""


@hookspec
def pulsus_content_inspectors() -> Mapping[str, ContentInspector]:  # type: ignore[empty-body]
    """Return inspectors of the text inside a command's words, by the kind that tables name."""


@hookspec
def pulsus_fact_sources() -> Iterable[FactSource]:  # type: ignore[empty-body]
    """Return sources of facts for the knowledge base. Names must be unique."""
