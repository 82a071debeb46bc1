"""What Pulsus itself contributes through its hooks: the built-in path is the plugin path.

Name, doc and history are the scorer's own buckets and the checkers of spec §8 are the pipeline's
own steps, so the features and validators here are none; the vocabulary is a plugin like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.core.rankers.feature_protocol import Feature
from pulsus.core.validators.validator_protocol import Validator
from pulsus.plugins.hookspecs import hookimpl

if TYPE_CHECKING:
    from pulsus.commands.content import ContentInspector
    from pulsus.core.compose.proposer import MakeProvider, Provider, Setup


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
    from pulsus.routing.intent.synonyms import shipped_synonyms  # not where a module is validated

    return shipped_synonyms()


@hookimpl
def pulsus_model_providers() -> Mapping[str, MakeProvider]:
    """The two dialects most servers speak, over plain HTTP."""
    return {"openai": _openai, "anthropic": _anthropic}


@hookimpl
def pulsus_command_tables() -> Iterable[Path]:
    """None beyond those of the gate itself: whoever uses it alone has them too."""
    return ()


@hookimpl
def pulsus_content_inspectors() -> Mapping[str, ContentInspector]:
    """None beyond those of the gate itself."""
    return {}


def _openai(setup: Setup) -> Provider:
    from pulsus.llm.http.client import Server
    from pulsus.llm.http.openai_compat import OpenAi  # imported only where a model is asked

    return Server(setup, OpenAi())


def _anthropic(setup: Setup) -> Provider:
    from pulsus.llm.http.anthropic import Anthropic
    from pulsus.llm.http.client import Server

    return Server(setup, Anthropic())
