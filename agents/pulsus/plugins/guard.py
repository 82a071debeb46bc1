"""What a plugin contributes, called so that its failure stays its own. Calls plugin code."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pulsus.core.rankers.base import Feature
from pulsus.core.types import ParsedIntent, StepResult, ToolSpec
from pulsus.core.validators.finding import Validator


class PluginExit(Exception):
    """Plugin code tried to end the process."""


@contextlib.contextmanager
def contained() -> Iterator[None]:
    """A block that runs plugin code: what it prints goes to stderr, and it cannot end Pulsus.

    Raises PluginExit in the place of SystemExit.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except SystemExit as leaving:
        raise PluginExit(f"it called exit({leaving.code!r})") from None


@dataclass(slots=True)
class GuardedFeature:
    """A plugin's ranking signal. Once it has raised it is 0 for every tool, and told of once."""

    feature: Feature
    failed: Callable[[Exception], None]
    broken: bool = field(default=False, init=False)

    @property
    def name(self) -> str:
        """The plugin's own name for it."""
        return self.feature.name

    def __call__(self, intent: ParsedIntent, tool: ToolSpec) -> float:
        """The plugin's number, or 0 where it gives none."""
        if self.broken:
            return 0.0
        try:
            with contained():
                return float(self.feature(intent, tool))
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            self.broken = True
            self.failed(error)
            return 0.0


@dataclass(frozen=True, slots=True)
class GuardedValidator:
    """A plugin's check. One that answers anything but a step result raises TypeError."""

    validator: Validator

    def __call__(self, source: bytes, tool: ToolSpec) -> StepResult:
        """The plugin's verdict. Raises what the plugin raises."""
        with contained():
            found: Any = self.validator(source, tool)
        if not isinstance(found, StepResult) or not isinstance(found.ok, bool):
            raise TypeError(f"it answered {found!r:.80}, not a StepResult")
        return found
