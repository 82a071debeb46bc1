"""Check if this user approved a promotion record (ADR 31). Effect: reads files.

A record that a pull or a merge brought is unknown, and one that the decision log contradicts is
refused. `routing/delivery/approved_records_check.py` asks before a tool runs, and trusted
signatures are looked up there; `routing/runs/run_checks.py` compares the hash of the file. `pulsus
audit --accept-records` is in `routing/maintenance/accept_records.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pulsus.core.storage.decision_log import log_reader, log_record
from pulsus.core.storage.decision_log.user_witness import RecordApprovals
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.storage.records.record_key import decision_key

Status = Literal["approved", "unknown", "contradicted"]


@dataclass(frozen=True, slots=True)
class RecordStatus:
    """The status of a tool's latest record, and why in one clause.

    unknown: the record came from elsewhere, or a later one that was approved is missing.
    contradicted: the log says something else of the same decision, or of the tool.
    `is_older`: a later record of the tool was approved, as before a rollback that git took back.
    """

    status: Status
    reason: str = ""
    is_older: bool = False


_APPROVED = RecordStatus("approved")


def record_status(
    records: Sequence[PromotionRecord], approvals: RecordApprovals, folder: Path, log: str | None
) -> RecordStatus:
    """Judge the last of a tool's `records`, which are all that the catalogue has, oldest first.

    `folder` holds the decision log, and `log` is its name. Raises StorageUnwritable.
    """
    latest = records[-1]
    tool, key = latest.tool_id, decision_key(latest)
    keys = [decision_key(record) for record in records]
    last = approvals.latest(tool)
    known = approvals.knows(tool, key)
    if known and (last is None or last == key or last in keys):
        return _APPROVED
    if known:
        reason = f"the later {_revision_of_key(last)} that you approved is missing"
        return RecordStatus("unknown", reason, is_older=True)
    same = [k for k in approvals.tools.get(tool, ()) if _revision_of_key(k) == latest.id]
    if same:
        return RecordStatus("contradicted", f"{latest.id} is not as it was logged")
    if last is not None and last not in keys:
        gone = f"{_revision_of_key(last)}, which you approved last, is missing"
        return RecordStatus(
            "contradicted", f"{latest.id} takes the place of another record: {gone}"
        )
    head = log_record.parse_anchor(latest.log)
    if head and head.log == log and key not in log_reader.keys_starting(folder, key):
        return RecordStatus(
            "contradicted", f"{latest.id} names the decision log, which has not got it"
        )
    return RecordStatus("unknown", f"{latest.id} is not in your decision log")


def _revision_of_key(key: str | None) -> str:
    return (key or "").partition(":")[0]
