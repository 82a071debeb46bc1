"""Find what a call changes or shows inside a machine, for the read that verifies it. Pure.

The words of a command are read in `gates/subjects/command_subjects.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pulsus.agent.loop.call_draft import CallDraft
from pulsus.agent.tool_protocol import CallOutcome
from pulsus.core.types import JsonValue
from pulsus.gates.resources.resolved_resource import MACHINE_KINDS, ResolvedResource
from pulsus.gates.subjects.command_subjects import file_subjects, shown_subjects, written_subjects

_NO_SUBJECTS: Final = frozenset({"command", "action", "type", "target_resource_id", "target_host"})
_LISTING_ACTION: Final = "find"
_REAL_PATH: Final = "real_path"


def subjects_of_write(draft: CallDraft) -> tuple[str, ...]:
    """Return the names of what a write changes, the one to read first; empty if unknown.

    A write to anything but a machine is verified by a read of that resource alone.
    """
    if not draft.resources or any(one.kind not in MACHINE_KINDS for one in draft.resources):
        return ()
    needs = draft.needs
    command = written_subjects(needs.command) if needs.command else ()
    return tuple(dict.fromkeys((*needs.subjects, *file_subjects(needs.paths), *command)))


def subjects_of_read(draft: CallDraft, outcome: CallOutcome) -> frozenset[str]:
    """Return the names of what a read showed: its words, and those of a resource in a machine.

    A command that printed nothing showed nothing.
    """
    needs, data = draft.needs, outcome.response.data
    if needs.command and isinstance(data, dict) and not str(data.get("output", "-")).strip():
        return frozenset()
    args = [value for name, value in draft.call.args.items() if name not in _NO_SUBJECTS]
    values = [*needs.subjects, *_texts(args)]
    for one in (*draft.resources, *outcome.found):
        if one.id in outcome.read and one.kind not in MACHINE_KINDS:
            values += [one.name, *one.aliases]
    real = data.get(_REAL_PATH) if isinstance(data, dict) else None
    paths = (*needs.paths, *([real] if isinstance(real, str) else []))
    lists = needs.action == _LISTING_ACTION
    return shown_subjects(needs.command, paths, values, lists=lists)


def machines_of_read(
    draft: CallDraft, outcome: CallOutcome, written: Iterable[ResolvedResource]
) -> tuple[str, ...]:
    """Return the ids of those written machines that contain a resource that a read showed."""
    shown = [one for one in (*draft.resources, *outcome.found) if one.id in outcome.read]
    inside = {name for one in shown for name in (one.parent, one.host) if name}
    return tuple(one.id for one in written if not inside.isdisjoint((one.id, one.name)))


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)
