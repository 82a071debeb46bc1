"""The question to a person: approve this one call? With the hash that names exactly this call.

`plan_hash` is the sha256 that binds an approval to this one call; the hash of a saved plan is in
`core/compose/saved_plans/saved_plan_mapping.py`. `build_call_question.py` makes the question,
`person_asker.py` asks it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.approval_risk import ApprovalRisk

_ENCODER: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=True, separators=(",", ":"))

GrantScope = Literal["", "session"]


@dataclass(frozen=True, slots=True)
class CallQuestion:
    """The question to a person (contracts, APPROVAL_REQUIRED).

    `command` is one line, `description` the lines that explain it: the target, the risk and the
    difference that a file edit makes. `expires_in` is in seconds. `typed` is a text that an
    approver has to type, or empty. `grant_key` names what a grant for the session would cover; it
    is empty if none may be given.
    """

    approval_id: str
    tool: str
    command: str
    risk_level: ApprovalRisk
    description: str
    plan_hash: str
    expires_in: int
    targets: tuple[str, ...] = ()
    typed: str = ""
    grant_key: str = ""

    def to_fields(self) -> dict[str, JsonValue]:
        """Return the fields of the event `approval_needed` and of APPROVAL_REQUIRED."""
        return {
            "approval_id": self.approval_id,
            "command": self.command,
            "risk_level": self.risk_level,
            "description": self.description,
            "plan_hash": self.plan_hash,
            "expires_in": self.expires_in,
        }


def plan_hash(
    tool: str,
    args: Mapping[str, JsonValue],
    resource_ids: Sequence[str],
    policy_version: str,
    tool_sha256: str = "",
) -> str:
    """Return the SHA-256 of one call: of its tool, arguments, targets and rules, byte by byte.

    `tool_sha256` is the digest of a catalogue tool's file: a tool that changed is another call.
    """
    call = [tool, dict(args), list(resource_ids), policy_version, tool_sha256]
    plain = _ENCODER.encode(call)
    return hashlib.sha256(plain.encode()).hexdigest()
