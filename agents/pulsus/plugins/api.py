"""The names that a plugin imports (docs/plugins.md). Other modules of Pulsus may change anywhere.

Nothing in Pulsus imports this module, because it loads more than a warm route needs. It has no
version number; unknown hooks of a plugin are refused in `load_plugins.py`.
"""

from pulsus.commands.content_inspector import ContentInspector, Opinion
from pulsus.core.compose.model_protocol import (
    Completion,
    MakeProvider,
    Message,
    OnText,
    Provider,
    ServedModel,
    Setup,
    Usage,
)
from pulsus.core.rankers.feature_protocol import Feature
from pulsus.core.types import ArgSpec, JsonValue, ParsedIntent, StepResult, ToolSpec
from pulsus.core.validators.validator_protocol import Validator
from pulsus.errors import ModelBusy, ModelError, ModelUnreachable
from pulsus.kb.fact_sources import FactSource
from pulsus.plugins.hookspecs import hookimpl

__all__ = [
    "ArgSpec",
    "Completion",
    "ContentInspector",
    "FactSource",
    "Feature",
    "JsonValue",
    "MakeProvider",
    "Message",
    "ModelBusy",
    "ModelError",
    "ModelUnreachable",
    "OnText",
    "Opinion",
    "ParsedIntent",
    "Provider",
    "ServedModel",
    "Setup",
    "StepResult",
    "ToolSpec",
    "Usage",
    "Validator",
    "hookimpl",
]
