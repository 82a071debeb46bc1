"""What a ranking signal is (spec §4)."""

from __future__ import annotations

from typing import Protocol

from pulsus.core.types import ParsedIntent, ToolSpec


class Feature(Protocol):
    """One ranking signal. Pure: same intent and tool, same number.

    Its value is clamped to [0, 1]. A feature whose name has no weight in the settings weighs 0:
    it is shown and decides nothing.
    """

    @property
    def name(self) -> str:
        """Unique; the key in `features` and `weights`."""
        ...

    def __call__(self, intent: ParsedIntent, tool: ToolSpec) -> float:
        """How well the tool fits, 0 (not at all) to 1."""
        ...
