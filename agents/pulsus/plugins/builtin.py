"""Implement the hooks for Pulsus itself: the built-in path is the plugin path.

Here the model providers openai, anthropic and ollama get their names. Name, doc and history belong
to the scorer, and the checkers of spec §8 to the pipeline. So this plugin has no features and
validators, but it has the vocabulary and the model providers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.core.rankers.feature_protocol import Feature
from pulsus.core.validators.validator_protocol import Validator
from pulsus.plugins.hookspecs import hookimpl

if TYPE_CHECKING:
    from pulsus.commands.content_inspector import ContentInspector
    from pulsus.core.compose.model_protocol import MakeProvider, Provider, Setup
    from pulsus.kb.fact_sources import FactSource


@hookimpl
def pulsus_features() -> Iterable[Feature]:
    """Return none: name, doc and history are the scorer's."""
    return ()


@hookimpl
def pulsus_validators() -> Iterable[Validator]:
    """Return none: the steps of spec §8 are the pipeline's."""
    return ()


@hookimpl
def pulsus_tool_sources() -> Iterable[Path]:
    """Return none: the project has its own workflows."""
    return ()


@hookimpl
def pulsus_synonyms() -> Mapping[str, tuple[str, ...]]:
    """Return the general infrastructure vocabulary."""
    from pulsus.routing.intent.synonyms import shipped_synonyms  # not where a module is validated

    return shipped_synonyms()


@hookimpl
def pulsus_model_providers() -> Mapping[str, MakeProvider]:
    """Return the dialects that most servers speak, over plain HTTP."""
    return {"openai": _openai, "anthropic": _anthropic, "ollama": _ollama}


@hookimpl
def pulsus_command_tables() -> Iterable[Path]:
    """Return none: the gate has its own tables, also without plugins."""
    return ()


@hookimpl
def pulsus_content_inspectors() -> Mapping[str, ContentInspector]:
    """Return none: the gate has its own inspectors."""
    return {}


@hookimpl
def pulsus_fact_sources() -> Iterable[FactSource]:
    """Return the facts about this machine."""
    from pulsus.infra.local_facts import LocalFacts  # imported only where facts are asked for

    return (LocalFacts(),)


def _openai(setup: Setup) -> Provider:
    from pulsus.llm.http.model_server import Server
    from pulsus.llm.http.openai_compat import OpenAi  # imported only where a model is asked

    return Server(setup, OpenAi())


def _anthropic(setup: Setup) -> Provider:
    from pulsus.llm.http.anthropic import Anthropic
    from pulsus.llm.http.model_server import Server

    return Server(setup, Anthropic())


def _ollama(setup: Setup) -> Provider:
    from pulsus.llm.http.model_server import Server
    from pulsus.llm.http.ollama import Ollama

    return Server(setup, Ollama())
