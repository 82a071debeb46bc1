"""Compare the decision log with the witness of this user (ADR 31). Effect: reads files.

The witness is written in `core/storage/decision_log/user_witness.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pulsus.core.storage.decision_log import append_position, user_witness
from pulsus.core.storage.decision_log.user_witness import Witness
from pulsus.core.storage.record_status import record_status
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.routing.maintenance.audit_catalogue import AuditFinding, RecordedTools

_MOVED = (
    "put it back from a backup; or, once you know why, go on with what is there: "
    "pulsus audit --accept-break REASON"
)
_CHANGED = "restore metadata.jsonl from version control; it is not run until then"
_NAMED = 5


def audit_witness(
    folder: Path, found: RecordedTools, is_signed: Callable[[PromotionRecord], bool]
) -> Iterator[AuditFinding]:
    """Compare the log in `folder`, and the catalogue's records, with what this user saw.

    An unknown record that `is_signed` is no finding, because `pulsus run` takes it too.
    Raises UserStateInvalid, StorageUnwritable.
    """
    witness = Witness.of(folder)
    match = witness.match()
    if match in user_witness.MOVED:
        code = f"LOG_{match.upper()}"
        yield AuditFinding(code, "error", folder, None, None, user_witness.REASONS[match], _MOVED)
        return
    if match == "none":
        return
    accept = user_witness.how_to_accept(folder)
    if match == "unseen":
        reason = "this user never wrote to it on this machine: it approves nothing here"
        yield AuditFinding("LOG_UNSEEN", "warning", folder, None, None, reason, accept)
    elif match == "ahead":
        reason = "it goes on behind the last record that this user wrote: others wrote to it"
        yield AuditFinding("LOG_AHEAD", "info", folder, None, None, reason, "nothing")
    yield from _audit_records(witness, found, is_signed, accept)


def _audit_records(
    witness: Witness,
    found: RecordedTools,
    is_signed: Callable[[PromotionRecord], bool],
    accept: str,
) -> Iterator[AuditFinding]:
    """Yield the tools whose latest record this user did not approve; `accept` says what to do."""
    folder, approvals = witness.folder, witness.approvals()
    log = append_position.name_of(folder)
    unknown: dict[tuple[str, str], str] = {}
    older: dict[tuple[str, str], str] = {}
    for tool, records in sorted(found.records.items()):
        status = record_status(records, approvals, folder, log)
        which = (tool, records[-1].id)
        if status.status == "contradicted":
            yield AuditFinding(
                "RECORD_CHANGED", "error", folder, None, tool, status.reason, _CHANGED, (which,)
            )
        elif status.status == "unknown" and not is_signed(records[-1]):
            named = f"{tool} ({records[-1].id})"
            if status.is_older:
                older[which] = f"{named}: {status.reason}"
            else:
                unknown[which] = named
    later = f"restore the later record, if git or a merge took it away; or {accept}"
    for some, told, fix in (
        (unknown, "not approved by this user on this machine", accept),
        (older, "older than what you approved last", later),
    ):
        if some:
            reason = f"{told}: {_list_first([*some.values()])}"
            yield AuditFinding(
                "RECORD_UNKNOWN", "warning", folder, None, None, reason, fix, tuple(some)
            )


def _list_first(named: Sequence[str]) -> str:
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return f"{', '.join(named[:_NAMED])}{more}"


def put_log_first(findings: Sequence[AuditFinding], folder: Path) -> tuple[AuditFinding, ...]:
    """Return the findings; none offers to accept records while the log in `folder` has an error.

    Such records may be the ones that the log was changed for.
    """
    errors = ((f.code, f.path) for f in findings if f.level == "error")
    code = next((code for code, path in errors if path and path.is_relative_to(folder)), None)
    if code is None:
        return tuple(findings)
    first = f"first do what is said of {code}, then look again: pulsus audit"
    return tuple(replace(f, fix=first) if user_witness.ACCEPT in f.fix else f for f in findings)
