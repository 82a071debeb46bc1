"""No decision is made on a decision log that is not whole (ADR 21). Effect: reads files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pulsus.core.storage import chain, chain_check
from pulsus.core.storage.chain_record import Head


def require_whole(folder: Path, anchors: Iterable[Head | None] = ()) -> None:
    """Raise AuditTampered where the log has a damage, or ends before a record that is named.

    `anchors` are the heads that promotions name; those of other logs do not count. Sealed segments
    are compared with their seals, and the others read. Raises StorageUnwritable.
    """
    found = chain_check.check(folder, quick=True)
    if found.damages:
        damage = found.damages[0]
        where = f":{damage.line}" if damage.line else ""
        raise chain.tampered(Path(f"{damage.path}{where}"), f"({damage.code}): {damage.reason}")
    head = found.head
    least = max((a.seq for a in anchors if a and head and a.log == head.log), default=0)
    if head and head.seq < least:
        reason = f"ends with record {head.seq}, and the catalogue names record {least} of it"
        raise chain.tampered(folder, reason)
