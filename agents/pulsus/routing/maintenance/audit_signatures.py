"""Tell which records a listed key signed, as a run does (ADR 31). Effect: asks git.

The signature is verified in `routing/delivery/approved_records_check.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.storage.records.record_key import decision_key
from pulsus.routing.delivery.approved_records_check import SignedRecords
from pulsus.routing.maintenance.audit_catalogue import record_path


@dataclass(frozen=True, slots=True)
class SignedRecordLookup:
    """Judges each record once, because git reads history and a program verifies a signature."""

    signatures: SignedRecords
    _known: dict[str, bool] = field(default_factory=dict)

    def __call__(self, record: PromotionRecord) -> bool:
        """Return True if the commit that brought the record makes it count without an approval."""
        key = decision_key(record)
        if key not in self._known:
            path = record_path(record, self.signatures.workflows_root)
            self._known[key] = self.signatures.signed(record, path)
        return self._known[key]
