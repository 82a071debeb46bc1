"""What Pulsus itself contributes through its hooks: the built-in path is the plugin path.

Name, doc and history are the scorer's own buckets and the checkers of spec §8 are the pipeline's
own steps, so the features and validators here are none; the vocabulary is a plugin like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pulsus.core.rankers.base import Feature
from pulsus.core.validators.finding import Validator
from pulsus.plugins.hookspecs import hookimpl
from pulsus.routing.synonyms import shipped_synonyms


@hookimpl
def pulsus_features() -> Iterable[Feature]:
    """None beyond name, doc and history."""
    return ()


@hookimpl
def pulsus_validators() -> Iterable[Validator]:
    """None beyond the steps of spec §8."""
    return ()


@hookimpl
def pulsus_tool_sources() -> Iterable[Path]:
    """None beyond the project's own workflows."""
    return ()


@hookimpl
def pulsus_synonyms() -> Mapping[str, tuple[str, ...]]:
    """The general infrastructure vocabulary."""
    return shipped_synonyms()
