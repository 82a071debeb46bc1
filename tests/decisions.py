"""Decision logs for tests of the audit."""

import contextlib
import shutil
from datetime import UTC, datetime, timedelta

from pulsus.core.storage.decision_log import (
    append_position,
    decision_log,
    log_record,
    log_rotation,
    user_witness,
    verify_log,
)
from pulsus.core.telemetry.redaction import Redactor
from pulsus.errors import Busy

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = NOON + timedelta(days=1)


def noon():
    return NOON


def append(state_dir, kind="approve", data=None, *, key=None, **options):
    """One record more; the head."""
    return decision_log.append(
        state_dir,
        kind,
        {"tool": "a/b/c"} if data is None else data,
        clock=noon,
        redactor=Redactor(("hunter2-hunter2",)),
        key=key,
        **options,
    )


def logged(state_dir, count, *, seal_after=()):
    """A log of `count` records, closed after the numbered ones; its folder."""
    for number in range(1, count):
        append(state_dir, data={"number": number})
        if number in seal_after:
            log_rotation.seal_segment(state_dir, before=LATER, clock=noon)
    return state_dir / "audit"


def parsed(line):
    """The record of a line with its newline."""
    record = log_record.parse_valid(line[:-1])
    assert record
    return record


def head(folder):
    """Return the content of the head file."""
    found = append_position.read_head(folder)
    assert found
    return found


def each(folder):
    """Every record that is whole, in order."""
    found: list[log_record.LogRecord] = []
    verify_log.check_log(folder, each=found.append)
    return found


def damages(folder, **options):
    """The codes of everything that is wrong, with file and line."""
    found = verify_log.check_log(folder, **options)
    return [(d.code, d.path.name, d.line) for d in found.damages]


def append_in_child(state_dir, name, count, queue):
    """Target of a spawned process. Puts the keys that it appended; the first refusal ends it."""
    from pathlib import Path

    keys = []
    with contextlib.suppress(Busy):  # the machine was stalled for the whole time of a wait
        for number in range(count):
            key = f"{name}-{number}"
            append(Path(state_dir), data={"by": name, "number": number}, key=key)
            keys.append(key)
    queue.put(keys)


def decided(project):
    """The key of every decision in the log, each of which must be whole."""
    found: list[log_record.LogRecord] = []
    checked = verify_log.check_log(project / ".pulsus/audit", each=found.append)
    assert checked.damages == ()
    return sorted(r.key for r in found if r.key)


def forget(project):
    """Remove what this user saw of the project's log, as on a machine that never saw it."""
    forget_log(project / ".pulsus/audit")


def forget_log(folder):
    """Remove what this user saw of the log in `folder`."""
    witness = user_witness.Witness.of(folder)
    assert witness.user_files
    for suffix in ("json", "records.json", "expected.json"):
        witness.user_files.remove(f"logs/{witness.name}.{suffix}")


def as_in_a_clone(project):
    """Remove the state folder, and what this user saw of its log: a clone has neither."""
    forget(project)
    shutil.rmtree(project / ".pulsus")
