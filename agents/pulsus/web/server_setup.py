"""A project → the state of its server: cards, users, agent runs and events.

Here are the limits of sign-ins, decisions and agent runs in a minute (`protection/rate_limit.py`
counts), and how long values for pages are cached. Port, address and TLS are decided in
`cli/serve/serve_command.py`. The one-time setup link of the first user is in `server_state.py`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio

from pulsus.agent.agent_events import AgentEvent
from pulsus.agent.agent_session import AgentSession, AskOptions
from pulsus.agent.mentions.mention_parser import Mention
from pulsus.approvals.cards.card_ports import CardPorts
from pulsus.approvals.cards.stored_requests import RequestKind, StoredRequests
from pulsus.approvals.cards.waiting_approvals import WaitingApprovals
from pulsus.bootstrap.approval_setup import card_decisions, interrupted_approvals
from pulsus.bootstrap.build_agent_session import make_agent_session
from pulsus.core.storage.state_db.shared_connection import SharedConnection
from pulsus.core.system.state_dir import open_state
from pulsus.core.types import JsonValue
from pulsus.execution.cancellation import Cancellation
from pulsus.fast_dataclass import dataclass
from pulsus.infra.local_command import LocalCommands
from pulsus.infra.local_machine import LocalMachine
from pulsus.infra.migrations.proxmox_executor import DryRunExecutor, ProxmoxExecutor
from pulsus.routing.requests.carried_request import RequestCarrier
from pulsus.routing.requests.plan_request import PlanCarrier
from pulsus.routing.requests.promotion_request import PromotionCarrier
from pulsus.web.accounts.bearer_tokens import BearerTokens
from pulsus.web.accounts.user_accounts import UserAccounts
from pulsus.web.accounts.web_sessions import WebSessions
from pulsus.web.agent_runs import AgentRuns, RunRequest, StartAgent
from pulsus.web.card_approver import CardApprover
from pulsus.web.events.event_broker import EventBroker
from pulsus.web.events.stream_pulse import StreamPulse
from pulsus.web.mention_names import mention_names
from pulsus.web.migration_cards import DRY_RUN, MigrationCards, MigrationRules
from pulsus.web.notices.card_notice import CardNotice
from pulsus.web.notices.card_notifier import CardNotifier, FailedDelivery
from pulsus.web.notices.notice_delivery import MailRoute, deliver
from pulsus.web.project_reader import ProjectReader
from pulsus.web.prometheus_metrics import prometheus_text
from pulsus.web.protection.rate_limit import RateLimit
from pulsus.web.request_cards import RequestCards
from pulsus.web.server_state import ServerState, SetupLink
from pulsus.web.timed_cache import TimedCache

if TYPE_CHECKING:
    from pulsus.bootstrap.app import App

_SIGN_INS: Final = 10
"""Sign-ins in a minute, for each address and for each name."""

_CHANGES: Final = 240
"""Decisions and agent runs in a minute, for each user."""

_MENTIONS_SECONDS: Final = 10.0
_OVERVIEW_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The port that a server listens at, and the address that people use."""

    port: int
    url: str


def make_server_state(
    app: App,
    address: ServerAddress,
    reader: ProjectReader,
    tell: Callable[[FailedDelivery], None],
    warn: Callable[[str], None],
) -> ServerState:
    """Return the state of a server. `tell` shows a failed notice in its terminal, `warn` a text.

    Raises StateCorrupt, StorageUnwritable.
    """
    state_dir = open_state(app.state_dir).path
    accounts, broker = UserAccounts(state_dir), EventBroker()
    notifier = _notifier(app, address, broker, tell)

    def emit(name: str, fields: Mapping[str, JsonValue]) -> None:
        broker.emit(name, fields)
        notifier.hear(name, fields)

    database = SharedConnection(state_dir, app.project)
    decisions = card_decisions(app, database)
    approvals = WaitingApprovals(CardPorts(decisions, emit, time.monotonic, accounts.approvers))
    machine = LocalMachine(os.environ)
    notifier.get_card = approvals.get
    migrations = MigrationCards(approvals, emit, _migration_rules(app))
    carriers: dict[RequestKind, RequestCarrier] = {
        "plan": PlanCarrier(lambda: replace(app)),
        "promotion": PromotionCarrier(lambda: replace(app)),
    }
    requests = RequestCards(approvals, StoredRequests(state_dir, app.project), carriers, emit, warn)
    requests.start()
    return ServerState(
        project=app.project.name,
        approvals=approvals,
        broker=broker,
        pulse=StreamPulse(broker),
        accounts=accounts,
        tokens=BearerTokens(state_dir),
        sessions=WebSessions(time.time),
        runs=AgentRuns(
            _agent_starter(app, approvals, migrations, address.port), app.new_run_id, broker.emit
        ),
        migrations=migrations,
        requests=requests,
        unfinished=interrupted_approvals(app),
        mentions=TimedCache(partial(mention_names, machine), _MENTIONS_SECONDS, time.monotonic),
        catalogue_health=TimedCache(reader.catalogue_health, _OVERVIEW_SECONDS, time.monotonic),
        cluster_state=TimedCache(reader.cluster_state, _OVERVIEW_SECONDS, time.monotonic),
        reader=reader,
        setup=SetupLink(needed=not accounts.users()),
        sign_ins=RateLimit(_SIGN_INS, 60.0, time.monotonic),
        changes=RateLimit(_CHANGES, 60.0, time.monotonic),
        prometheus_text=lambda: prometheus_text(app.log_dir),
        notifier=notifier,
        database=database,
        secure_cookies=address.url.startswith("https:"),
    )


def _migration_rules(app: App) -> MigrationRules:
    """Return the rules of the settings: without Proxmox a migration is a dry run."""
    config = app.settings.migrations
    dry = config.executor == DRY_RUN
    return MigrationRules(
        app.knowledge.view,
        DryRunExecutor() if dry else ProxmoxExecutor(LocalCommands(os.environ), config.network),
        config.approval_minutes * 60,
        config.stop_on_failure,
        config.executor,
    )


def _notifier(
    app: App, address: ServerAddress, broker: EventBroker, tell: Callable[[FailedDelivery], None]
) -> CardNotifier:
    settings = app.settings.approvals
    mail = MailRoute(settings.mail_server, settings.mail_sender)

    def send(notice: CardNotice, target: str) -> None:
        deliver(notice, target, mail, settings.notify_seconds)

    def show(failure: FailedDelivery) -> None:
        fields = {"id": failure.card_id, "target": failure.target, "reason": failure.reason}
        broker.emit("notice_failed", fields)
        tell(failure)

    return CardNotifier(settings.notify, send, address.url, show)


def _agent_starter(
    app: App, approvals: WaitingApprovals, migrations: MigrationCards, port: int
) -> StartAgent:
    def start(
        run_id: str,
        request: RunRequest,
        emit: Callable[[AgentEvent], None],
        cancellation: Cancellation,
    ) -> None:
        approver = CardApprover(approvals, request.user, cancellation)
        made = make_agent_session(
            app,
            approver,
            own_ports=(port,),
            propose=lambda actions, reason: migrations.propose(request.user, actions, reason),
        )
        session = AgentSession(replace(made.parts, new_run_id=lambda: run_id))
        session.remember_earlier(request.earlier)

        def hear(event: AgentEvent) -> None:
            approver.hear(event)
            emit(event)

        options = AskOptions(hear, cancellation, _mentions(request.mentions))
        try:
            anyio.run(session.ask, request.question, options)
        finally:
            approver.close()

    return start


def _mentions(found: Sequence[Mapping[str, JsonValue]]) -> tuple[Mention, ...]:
    return tuple(
        Mention("structured", str(each["name"]), str(each.get("resource_id", "")))
        if each.get("resource_id")
        else Mention("at", str(each["name"]))
        for each in found
    )
