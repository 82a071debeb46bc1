"""Everything outside that the waiting approvals use: records, events, clocks and random tokens.

`waiting_approvals.py` uses these ports, and `web/server_setup.py` fills them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import field
from typing import Protocol

from pulsus.approvals.cards.approval_card import ApprovalCard
from pulsus.approvals.cards.card_events import EmitCardEvent
from pulsus.approvals.cards.one_time_token import RandomToken
from pulsus.core.telemetry.ids import Clock, utc_now
from pulsus.fast_dataclass import dataclass


class DecisionRecord(Protocol):
    """Records decisions before anything runs: `record_card_decisions.py`, or the ledger alone."""

    def approved(self, card: ApprovalCard) -> None:
        """Keep an approval. An error means that nothing runs."""
        ...

    def denied(self, card: ApprovalCard) -> None:
        """Keep a denial."""
        ...

    def started(self, card: ApprovalCard) -> None:
        """Keep that the execution starts. Raises an error if it was started before."""
        ...

    def ended(self, card: ApprovalCard) -> None:
        """Keep how the execution ended."""
        ...


@dataclass(frozen=True, slots=True)
class CardPorts:
    """Everything outside that waiting approvals use.

    `seconds` is a monotonic clock, by which cards expire: setting the time of day back revives
    none. `approvers` returns the number of people who may approve: with one, that person may
    approve an own request.
    """

    decisions: DecisionRecord
    emit: EmitCardEvent
    seconds: Callable[[], float]
    approvers: Callable[[], int] = lambda: 1
    now: Clock = utc_now
    random: RandomToken = field(default=secrets.token_hex)
