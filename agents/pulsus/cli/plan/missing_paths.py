"""Warn of a path that a saved plan reads and that does not exist now. Effect: looks for files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pulsus.bootstrap.app import App
from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.text.similar_names import similar_path
from pulsus.core.types import Constant, JsonValue, ParamRef, PlanStep
from pulsus.execution.confinement.declared_effects import named_paths

_MOST_SHOWN = 200
_PATTERN = ("*", "?", "[")


def missing_path_notes(app: App, saved: SavedPlan) -> Iterator[str]:
    """Yield a note for each path that a read of the plan needs and that does not exist.

    A path that an earlier write of the plan has as an input too may come into being before the
    read.
    """
    defaults = {name for name, each in saved.inputs.items() if each.source == "default"}
    written: set[str] = set()
    for step in saved.plan.steps:
        tool = app.catalogue.get(step.tool)
        values = _values(saved, step, defaults)
        if step.id in saved.writes:
            written.update(value for value in values.values() if isinstance(value, str))
            continue
        for name, path in named_paths(tool, values) if tool else ():
            if path not in written and _is_missing(path):
                near = similar_path(path)
                fix = (
                    f"did you mean {one_line(near, _MOST_SHOWN)}?"
                    if near
                    else "correct it, or make it first"
                )
                yield (
                    f"{step.id} reads {name}={one_line(path, _MOST_SHOWN)!r}, which does not "
                    f"exist now: {fix}"
                )


def _values(saved: SavedPlan, step: PlanStep, defaults: set[str]) -> dict[str, JsonValue]:
    """Return the inputs of the step that a person or the request gave."""
    found: dict[str, JsonValue] = {}
    for name, value in step.inputs.items():
        if isinstance(value, Constant):
            found[name] = value.value
        elif isinstance(value, ParamRef) and value.name in saved.inputs.keys() - defaults:
            found[name] = saved.inputs[value.name].value
    return found


def _is_missing(path: str) -> bool:
    """Return True if nothing has this path. One that may not be looked at is not missing."""
    if any(mark in path for mark in _PATTERN):
        return False
    try:
        Path(path).expanduser().stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, RuntimeError, ValueError):
        return False
    return False
