"""One approval card, which asks a person for one decision, and the hash of what it allows.

An approval is bound to the exact plan that the card shows: another plan, target, tool file, policy
or requester is another subject (tool calling §32.5, contracts). `waiting_approvals.py` holds all
cards, and refuses an approval if the hash has changed. Pure.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal

from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.approval_risk import ApprovalRisk

CardKind = Literal["command", "migration", "plan", "promotion"]
CardStatus = Literal[
    "pending", "approved", "denied", "expired", "started", "done", "failed", "unknown"
]

ENDED: Final[frozenset[CardStatus]] = frozenset({"denied", "expired", "done", "failed", "unknown"})


@dataclass(frozen=True, slots=True)
class ApprovalSubject:
    """Everything that an approval is bound to.

    `plan` is the canonical plan, `tool_hashes` the SHA-256 of each tool's file by tool id.
    `requester` is the user who asked, never the agent. `executor` names what carries a migration
    out: "dry-run" moves nothing.
    """

    kind: CardKind
    plan: JsonValue
    requester: str
    targets: tuple[str, ...] = ()
    tool_hashes: Mapping[str, str] = field(default_factory=dict)
    policy_version: str = ""
    executor: str = ""

    @property
    def digest(self) -> str:
        """Return the SHA-256 of all parts, byte by byte."""
        parts: list[JsonValue] = [
            self.kind,
            self.plan,
            self.requester,
            list(self.targets),
            dict(self.tool_hashes),
            self.policy_version,
            self.executor,
        ]
        plain = json.dumps(parts, sort_keys=True, allow_nan=False, separators=(",", ":"))
        return hashlib.sha256(plain.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ApprovalCard:
    """One request for a decision. Times are ISO 8601 in UTC.

    `decided_by`, `decided_at` and `note` say who decided, when and why. `results` has one row
    for each action that was executed. A card in state "unknown" was started, and its process died
    before the end.
    """

    id: str
    subject: ApprovalSubject
    risk_level: ApprovalRisk
    reason: str
    created_at: str
    expires_at: str
    status: CardStatus = "pending"
    decided_by: str = ""
    decided_at: str = ""
    note: str = ""
    results: tuple[JsonValue, ...] = ()

    def to_json(self) -> dict[str, JsonValue]:
        """Return the fields of `GET /api/v1/approvals`. No token is part of a card."""
        return {
            "id": self.id,
            "kind": self.subject.kind,
            "risk_level": self.risk_level,
            "reason": self.reason,
            "requester": self.subject.requester,
            "targets": [*self.subject.targets],
            "plan": self.subject.plan,
            "plan_hash": self.subject.digest,
            "executor": self.subject.executor,
            "created_at": self.created_at,
            "expires_at": self.expires_at,
            "status": self.status,
            "decided_by": self.decided_by,
            "decided_at": self.decided_at,
            "note": self.note,
            "results": [*self.results],
        }
