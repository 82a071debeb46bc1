"""The folder from which the relative paths of a run count: the one in which it began.

A run is resumed and undone there only, and a requested plan is carried out in the folder of the
project. Elsewhere the same words name other files. Effect: looks which files exist.
"""

from __future__ import annotations

import os.path
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.types import Catalogue, Constant, JsonValue, ParamRef, PlanStep, ToolSpec
from pulsus.errors import UsageError
from pulsus.execution.confinement.declared_effects import named_paths
from pulsus.execution.journal.run_records import RunRecord

FOLDER = "folder"
"""The fact of a run that names its working folder."""

Call = tuple[ToolSpec | None, Mapping[str, JsonValue]]
"""A tool with values of its call. Without a tool, only the files that exist tell a path."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_MOST_SHOWN = 500


def require_folder(record: RunRecord, calls: Iterable[Call]) -> None:
    """Raise UsageError if this is another folder than that of the run, and a path is relative."""
    folder = record.facts.get(FOLDER)
    if folder is None or Path.cwd() == Path(str(folder)):  # an older journal does not name it
        return
    path = find_relative_path(calls, Path(str(folder)))
    if path is not None:
        shown = one_line(path, _MOST_SHOWN)
        raise UsageError(
            f"{record.run_id} began in {folder}, and {shown} would be another file in this folder",
            hint=f"run the command in that folder: cd {shlex.quote(str(folder))}",
            run_id=record.run_id,
        )


def require_project_folder(project: Path, calls: Iterable[Call]) -> None:
    """Raise UsageError if this is not the folder of the project, and a path is relative."""
    if Path.cwd() == project.resolve():
        return
    path = find_relative_path(calls, Path.cwd(), project)
    if path is not None:
        raise UsageError(
            f"a requested plan runs in {project}, and {one_line(path, _MOST_SHOWN)} would be "
            f"another file in this folder, {Path.cwd()}",
            hint="give absolute paths in the plan; or ask, and start `pulsus serve`, in the folder "
            f"of the project: cd {shlex.quote(str(project))}",
        )


def list_calls(
    catalogue: Catalogue, steps: Iterable[PlanStep], inputs: Mapping[str, JsonValue]
) -> Iterator[Call]:
    """Yield the call of each step, with the values that are known before the run."""
    for step in steps:
        values: dict[str, JsonValue] = {}
        for name, value in step.inputs.items():
            if isinstance(value, Constant):
                values[name] = value.value
            elif isinstance(value, ParamRef) and value.name in inputs:
                values[name] = inputs[value.name]
        yield catalogue.get(step.tool), values


def find_relative_path(calls: Iterable[Call], *folders: Path) -> str | None:
    """Return a relative path among the values, or None.

    It is one that the declared effects of the tool name, or the path of something in a folder.
    """
    for tool, values in calls:
        named = set(_declared_texts(tool, values)) if tool else set()
        for text in texts_in(list(values.values())):
            is_absolute = text.startswith(("/", "~")) or not text
            exists = any(os.path.lexists(folder / text) for folder in folders)
            if not is_absolute and (text in named or exists):
                return text
    return None


def _declared_texts(tool: ToolSpec, values: Mapping[str, JsonValue]) -> Iterator[str]:
    yield from (text for _, text in named_paths(tool, values))
    for item in tool.effects.paths if tool.effects else ():
        for name in _PLACEHOLDER.findall(item):
            yield from texts_in(values.get(name))


def texts_in(value: JsonValue) -> Iterator[str]:
    """Yield the texts in a value, also those in lists and objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)
    elif isinstance(value, dict):
        yield from texts_in(list(value.values()))
