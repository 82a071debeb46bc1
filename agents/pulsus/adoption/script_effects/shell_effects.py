"""Hold the effects that a shell script's text shows, and the doubts about them. Pure.

A script without doubts and changes gets the kind `read`, any other `write`. Python scripts are
judged in `adoption/script_effects/python_summary.py`.

Never less is said than is there: whatever only shows when the script runs is a doubt, with its
line, and a script with a doubt, or a program that may change something, does not count as one that
only reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.types import Effects, Kind

UNKNOWN = "unknown: read the script"

Where = Literal["paths", "hosts", "all"]


@dataclass(slots=True)
class ScriptFacts:
    """The effects that a script's text names: programs, files written to, hosts. `doubts` are
    (line, what, of
    which effects) that only show when it runs, `changes` (line, what may change something).
    """

    shell: str
    commands: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)
    doubts: set[tuple[int, str, Where]] = field(default_factory=set)
    changes: set[tuple[int, str]] = field(default_factory=set)

    @property
    def kind(self) -> Kind:
        """Return `read` if the text proves that the script changes nothing."""
        return "write" if self.doubts or self.changes else "read"

    @property
    def effects(self) -> Effects:
        """Return the effects of the tool that runs the script."""
        names = (self.shell, *sorted(self.commands - {self.shell}))
        if self.kind == "read":
            return Effects(("what its programs read",), (), names)
        return Effects(
            (
                *sorted(self.paths),
                "what its programs touch",
                *self._unknown_effects("paths", "all"),
            ),
            (
                *sorted(self.hosts),
                "what its programs reach",
                *self._unknown_effects("hosts", "all"),
            ),
            (*names, *self._unknown_effects("all")),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Return a note for each line whose effects are unknown before the script runs."""
        return tuple(
            f"line {line}: {one_line(what, 160)}: read the script"
            for line, what, _ in sorted(self.doubts)
        )

    def _unknown_effects(self, *of: Where) -> list[str]:
        return [UNKNOWN] if any(where in of for _, _, where in self.doubts) else []
