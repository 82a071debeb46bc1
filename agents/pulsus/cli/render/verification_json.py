"""The result of the verification of a write, as JSON (docs/json.md). Pure.

The verification is made in `routing/plans/verify_write.py`.
"""

from __future__ import annotations

from typing import Any

from pulsus.core.types import Verification


def verification_json(found: Verification | None) -> dict[str, Any]:
    """Return `verified` and `verification`; both are null if the run changed nothing."""
    if found is None:
        return {"verified": None, "verification": None}
    told = {"tool": found.tool, "ok": found.ok, "reason": found.reason}
    return {"verified": found.ok, "verification": told}
