"""Everything that one server shares between its requests; the one-time link of the first user."""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from pulsus.approvals.cards.interrupted_approvals import InterruptedApprovals
from pulsus.approvals.cards.waiting_approvals import WaitingApprovals
from pulsus.core.storage.state_db.shared_connection import SharedConnection
from pulsus.web.accounts.bearer_tokens import BearerTokens
from pulsus.web.accounts.user_accounts import UserAccounts
from pulsus.web.accounts.web_sessions import WebSessions
from pulsus.web.agent_runs import AgentRuns
from pulsus.web.events.event_broker import EventBroker
from pulsus.web.events.stream_pulse import StreamPulse
from pulsus.web.migration_cards import MigrationCards
from pulsus.web.notices.card_notifier import CardNotifier
from pulsus.web.project_reader import Fields, ProjectReader
from pulsus.web.protection.rate_limit import RateLimit
from pulsus.web.request_cards import RequestCards
from pulsus.web.timed_cache import TimedCache


class SetupLink:
    """The one-time link by which the first user is made. It ends with its use, or with the server.

    `code` is None once it was used, or if there were users from the start.
    """

    def __init__(self, *, needed: bool) -> None:
        self._code = secrets.token_urlsafe(24) if needed else None
        self._lock = threading.Lock()

    @property
    def code(self) -> str | None:
        """Return the code, for the terminal of the server only."""
        return self._code

    def fits(self, code: str) -> bool:
        """Return True for the right code. It stays valid."""
        known = self._code
        return known is not None and hmac.compare_digest(known.encode(), code.encode())

    def use(self, code: str, make: Callable[[], object]) -> bool:
        """Call `make` for the right code, and end the link. Return False for any other code.

        If `make` raises an error, the link stays.
        """
        with self._lock:
            if not self.fits(code):
                return False
            make()
            self._code = None
            return True


@dataclass
class ServerState:
    """The parts of one server. `project` is the name that its pages show."""

    project: str
    approvals: WaitingApprovals
    broker: EventBroker
    pulse: StreamPulse
    accounts: UserAccounts
    tokens: BearerTokens
    sessions: WebSessions
    runs: AgentRuns
    migrations: MigrationCards
    requests: RequestCards
    unfinished: InterruptedApprovals
    mentions: TimedCache[Fields]
    catalogue_health: TimedCache[Fields]
    cluster_state: TimedCache[Fields]
    setup: SetupLink
    sign_ins: RateLimit
    changes: RateLimit
    reader: ProjectReader
    notifier: CardNotifier
    database: SharedConnection
    prometheus_text: Callable[[], str]
    secure_cookies: bool = False
    closing: threading.Event = field(default_factory=threading.Event)
