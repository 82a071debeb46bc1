"""Compare the files that a run wrote with what they hold now: an undo takes later edits back too.

The edits are found by checksum (sha256) and ctime. `routing/plans/apply_plan.py` refuses an undo
whose reviewer did not know of them.

A write that returns `path` names its file, and with `sha256` also how it left it. The state after
other writes is unknown. A relative path counts from the folder in which the run began. Effect:
reads results of the run and these files.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.core.telemetry.sanitize import one_line
from pulsus.errors import PulsusError
from pulsus.execution.journal.run_records import RunRecord, StepRecord
from pulsus.late_pattern import late_pattern
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.plans.run_results import load_result
from pulsus.routing.plans.save_plan import hash_file
from pulsus.routing.runs.working_folder import FOLDER, require_folder, texts_in

UNDO = late_pattern(r"Undo (run-\S+)")
"""The description of an undo. It proves nothing: a plan written by hand may say it too."""


def undone_run(saved: SavedPlan) -> str | None:
    """Return the id of the run that the plan undoes; None for another plan."""
    found = UNDO.fullmatch(saved.plan.description)
    return found[1] if found else None


def list_later_edits(project: Project, record: RunRecord, saved: SavedPlan) -> Iterator[str]:
    """Yield a note for each file that was changed after the run, and for each unknown state.

    `saved` is the plan of the run. The note has the present checksum, so that another edit gives
    another note. Only the last write of a file counts. Raises StateCorrupt, and UsageError if a
    path is relative to another folder than this command: its undo would change another file.
    """
    folder = _folder_of(project, record)
    tools = {step.id: step.tool for step in saved.plan.steps}
    seen: set[Path] = set()
    touched: dict[str, StepRecord] = {}  # the last write of the run that names each path
    for each in sorted(record.steps, key=lambda one: one.seq, reverse=True):
        if not each.is_write or each.items is not None or each.state != "done":
            continue
        tool = project.catalogue.get(tools[each.step])
        result = load_result(project.state_dir, record.run_id, each)
        for text in texts_in([dict(each.inputs or {}), result]):
            if "\0" not in text:
                touched.setdefault(os.path.realpath(folder / text), each)
        if tool is None or tool.undo is None:
            continue
        require_folder(record, ((tool, each.inputs or {}), (None, {"result": result})))
        found = result if isinstance(result, dict) else {}
        named = found.get("path")
        path = folder / named if named and isinstance(named, str) else None
        if path is None:
            yield (
                f"{each.step}: {tool.id} names no file to compare; a change that was made after "
                f"{record.run_id} is not noticed, and may be lost"
            )
        elif path not in seen:
            seen.add(path)
            now = _hash_now(path)
            if now != found.get("sha256") and _is_later(
                path, touched.get(os.path.realpath(path), each)
            ):
                yield (
                    f"{each.step}: {one_line(str(path), 500)} was changed after {record.run_id} "
                    f"(sha256 {now}); the undo takes that change back too"
                )


def _folder_of(project: Project, record: RunRecord) -> Path:
    """Return the working folder of the run. An older journal does not name it: the project's."""
    return Path(str(record.facts.get(FOLDER, project.project)))


def _is_later(path: Path, written: StepRecord) -> bool:
    """Return True unless the file system says that nothing touched the file after the write.

    The time of the last change of the inode counts, because a copy can keep the other one.
    """
    if written.ended_at is None:
        return True
    try:
        changed = datetime.fromtimestamp(path.stat().st_ctime, UTC)
    except OSError:
        return True
    return changed > datetime.fromisoformat(written.ended_at)


def _hash_now(path: Path) -> str:
    """Return the checksum of a file, or a word for a file that cannot be read."""
    try:
        return hash_file(path)
    except PulsusError:
        return "unreadable"
