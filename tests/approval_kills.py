"""An approval that is killed at its first, second, third... point, and looked at after the crash.

A point is a statement of the database, a system call that makes or syncs a file, or a moment beside
the effect. After the crash an approval that was acknowledged must be on record, one that never
started is executed, and one that may have taken effect must wait for a person.

Cards are decided one after the other with the ledger alone, or at once as a server does: with the
decision log, and a database that is kept open. Then several share one write.
"""

import os
import signal
import threading

from pulsus.approvals.cards.approval_card import ApprovalCard
from pulsus.approvals.cards.execution_ledger import ExecutionLedger
from pulsus.approvals.cards.record_card_decisions import CardDecisions
from pulsus.core.storage.decision_log import verify_log
from pulsus.core.storage.decision_log.log_record import LogRecord
from pulsus.core.storage.state_db import state_db
from pulsus.core.storage.state_db.shared_connection import SharedConnection
from pulsus.core.telemetry.redaction import Redactor
from pulsus.errors import ApprovalUnknown
from tests.approval_cards import SUBJECT, ApprovalsOfTest
from tests.plan_hosts import in_child
from tests.plan_kills import Killer

CARDS = 3
CARDS_AT_ONCE = 4


class _Places:
    """The files of one trial: what was acknowledged, and which effects took place."""

    def __init__(self, root):
        self.root, self.state = root, root / ".pulsus"
        self.state.mkdir(exist_ok=True)
        self.acknowledged, self.effects = root / "acknowledged", root / "effects"

    def ledger(self):
        return ExecutionLedger(self.state, self.root)

    def decisions(self):
        ledger = ExecutionLedger(
            self.state, self.root, shared=SharedConnection(self.state, self.root)
        )
        return CardDecisions(ledger, self.state, Redactor(()), self.root / "workflows")

    def read(self, path):
        return path.read_text("utf-8").split() if path.exists() else []


def _note(path, text):
    """Append one word with a single system call that no point interrupts."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    _real_write(file, f"{text}\n".encode())
    os.close(file)


_real_write = os.write


def _approve_and_execute(places, killer, at_once):
    """Approve each card, and execute it: the effect is a line in a file."""
    real = state_db.open_state_db

    def traced(*arguments, **options):
        database = real(*arguments, **options)
        database.set_trace_callback(killer.point)
        return database

    state_db.open_state_db = traced
    killer.arm()
    made = ApprovalsOfTest(decisions=places.decisions() if at_once else places.ledger())

    def act():
        card = made.propose()
        token = made.token(card)
        killer.point()
        made.approve(token)
        _note(places.acknowledged, card.id)
        killer.point()
        made.approvals.start(card.id)
        killer.point()
        _note(places.effects, card.id)
        killer.point()
        made.approvals.finish(card.id, ("OK",), ok=True)

    if at_once:
        threads = [threading.Thread(target=act) for _ in range(CARDS_AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    else:
        for _ in range(CARDS):
            act()


def trial(root, last, *, at_once=False):
    """Kill at point `last`, then do what a restart does. Return (was killed, what went wrong)."""
    places = _Places(root)
    places.ledger().unfinished()  # the database is made by an earlier start

    def act():
        _approve_and_execute(places, Killer(last), at_once)
        os._exit(0)

    code = in_child(act)
    wrong = [] if code in (0, -signal.SIGKILL) else [f"it ended with {code}"]
    ledger = places.ledger()
    rows = {row.card: row for row in ledger.unfinished()}
    before = places.read(places.effects)
    for card in places.read(places.acknowledged):
        try:
            ledger.row(card)
        except ApprovalUnknown:
            wrong.append(f"lost: {card} was acknowledged and has no record")
    wrong += [
        f"{card} took effect and is not on record as started"
        for card in before
        if card in rows and rows[card].state == "approved"
    ]
    for card, row in rows.items():
        wrong += _after_crash(places, ledger, card, row.state)
    effects = places.read(places.effects)
    wrong += [f"doubled: {card}" for card in {*effects} if effects.count(card) > 1]
    if at_once:
        wrong += _log_faults(places)
    if ledger.unfinished():
        wrong.append("an approval is left without an end")
    return code == -signal.SIGKILL, wrong


def _log_faults(places):
    """Return the faults of the decision log after the crash, and after a further decision."""
    folder = places.state / "audit"
    records: list[LogRecord] = []
    wrong = [
        f"the log: {found}" for found in verify_log.check_log(folder, each=records.append).damages
    ]
    recorded = {record.key for record in records}
    wrong += [
        f"lost: {card} was acknowledged and is not in the log"
        for card in places.read(places.acknowledged)
        if f"{card}:approved" not in recorded
    ]
    places.decisions().approved(_done("apr-later"))
    after = verify_log.check_log(folder)
    wrong += [f"the log goes on with {found}" for found in (*after.damages, *after.notes)]
    places.ledger().void("apr-later", "ada")
    return wrong


def _after_crash(places, ledger, card, state):
    """Execute what never started; ask a person about what did."""
    if state == "approved":
        ledger.start(card)
        _note(places.effects, card)
        ledger.ended(_done(card))
        return []
    try:
        ledger.start(card)
    except ApprovalUnknown:
        ledger.settle(card, "ada", took_effect=card in places.read(places.effects))
        return []
    return [f"{card} was started a second time"]


def _done(card):
    return ApprovalCard(card, SUBJECT, "high", "", "", "", status="done")
