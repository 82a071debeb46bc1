"""The protocol of one kind of request, and the result of carrying one out.

A requested plan is carried out by `routing/requests/plan_request.py`, a promotion by
`routing/requests/promotion_request.py`. Expiry and decisions are in `approvals/cards/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from pulsus.approvals.cards.approval_card import ApprovalSubject
from pulsus.approvals.cards.stored_requests import StoredRequest
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.approval_risk import ApprovalRisk

ReportAction = Callable[[int, int, str, bool | None], None]
"""Takes the index of an action, their number, the action, and how it ended; None at its start."""


@dataclass(frozen=True, slots=True)
class CarriedRequest:
    """The end of a request, with one of `lines` for each action.

    A line begins with OK, FAILED, SKIPPED, NOT STARTED, WAITING or IN DOUBT.
    """

    ok: bool
    lines: tuple[str, ...]
    fields: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class RequestRun:
    """The circumstances of one execution: who approved, and what watches."""

    approver: str
    report: ReportAction


class RequestCarrier(Protocol):
    """One kind of request. Each call sees the project as it is now."""

    def subject(self, request: StoredRequest) -> ApprovalSubject:
        """Return what an approval of the request is for. Raises PulsusError if it no longer holds.

        Another digest than before means that something moved.
        """
        ...

    def risk(self, request: StoredRequest) -> ApprovalRisk:
        """Return the risk of the request."""
        ...

    def carry_out(self, request: StoredRequest, run: RequestRun) -> CarriedRequest:
        """Carry the request out. Raises PulsusError."""
        ...
