"""No decision is made on a damaged decision log (ADR 21). Effect: reads files.

It refuses a promotion if the log was tampered with. `verify_log.py` finds the damage, and
`accept_break.py` is the way on.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pulsus.core.storage.decision_log import append_position, decision_log
from pulsus.core.storage.decision_log.log_record import Head, LogRecord
from pulsus.core.storage.decision_log.verify_log import check_log


def require_whole_log(folder: Path, anchors: Iterable[Head | None] = ()) -> None:
    """Raise AuditTampered if the log is damaged, or lacks a record that the catalogue names.

    No decision is made on a damaged log (ADR 21). `anchors` are the heads that promotions name;
    those of other logs do not count. Sealed segments are compared with their seals, and the others
    are read. A log that is not the one that this user wrote to is damaged too. Raises
    StorageUnwritable, UserStateInvalid.
    """
    decision_log.require_seen(folder)
    named = [anchor for anchor in anchors if anchor]  # before the log, which only grows
    hashes = dict.fromkeys((anchor.seq for anchor in named), "")

    def note(record: LogRecord) -> None:
        if record.seq in hashes:
            hashes[record.seq] = record.hash

    found = check_log(folder, quick=True, each=note)
    if found.damages:
        damage = found.damages[0]
        where = f":{damage.line}" if damage.line else ""
        raise append_position.tampered_error(
            Path(f"{damage.path}{where}"), f"({damage.code}): {damage.reason}"
        )
    head = found.head
    mine = [anchor for anchor in named if head and anchor.log == head.log]
    least = max((anchor.seq for anchor in mine), default=0)
    if head and head.seq < least:
        reason = f"ends with record {head.seq}, and the catalogue names record {least} of it"
        raise append_position.tampered_error(folder, reason)
    # What is sealed was not read; what came before an acceptance was accepted with it.
    since = max(found.unread, *(each.record.seq for each in found.accepted), 0)
    other = [each.seq for each in mine if each.seq > since and hashes[each.seq] != each.hash]
    if other:
        reason = f"(LOG_CUT): its record {min(other)} is another than the catalogue names"
        raise append_position.tampered_error(folder, reason)
