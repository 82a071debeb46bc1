"""Extension points. Each is documented in docs/plugins.md; a test checks it.

A hook receives nothing and returns values: it is never handed the application. Pulsus implements
each hook itself (`plugins/builtin.py`), so the built-in path is the plugin path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pluggy

from pulsus.core.rankers.feature_protocol import Feature
from pulsus.core.validators.validator_protocol import Validator

if TYPE_CHECKING:
    from pulsus.commands.content import ContentInspector
    from pulsus.core.compose.proposer import MakeProvider

hookspec = pluggy.HookspecMarker("pulsus")
hookimpl = pluggy.HookimplMarker("pulsus")


@hookspec
def pulsus_features() -> Iterable[Feature]:  # type: ignore[empty-body]
    """Ranking features to add. Names must be unique; weight 0 until configured."""


@hookspec
def pulsus_validators() -> Iterable[Validator]:  # type: ignore[empty-body]
    """Validation steps to run after the static gate. A step that raises has failed."""


@hookspec
def pulsus_tool_sources() -> Iterable[Path]:  # type: ignore[empty-body]
    """More folders laid out like `workflows/`, read-only, below the project's own in precedence."""


@hookspec
def pulsus_synonyms() -> Mapping[str, tuple[str, ...]]:  # type: ignore[empty-body]
    """Words people use → words the catalogue uses, lower case."""


@hookspec
def pulsus_model_providers() -> Mapping[str, MakeProvider]:  # type: ignore[empty-body]
    """Ways to reach a language model, by the name that `model.provider` selects one by."""


@hookspec
def pulsus_command_tables() -> Iterable[Path]:  # type: ignore[empty-body]
    """Folders of tables (`NAME.yaml`, docs/commands.md), searched before those that ship."""


@hookspec
def pulsus_content_inspectors() -> Mapping[str, ContentInspector]:  # type: ignore[empty-body]
    """Judges of what stands inside a command's words, by the kind that tables name."""
