"""Sixteen approvers decide one card at once, again and again: it is executed once (ADR 49).

    python -m tests.benchmarks.approval_races --races 10000

Each race has a card, a token for each approver, and the real ledger on the disk. Every approver
tries to approve and to start it. Prints one JSON document, and exits with 1 if there is a fault.
"""

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

from pulsus.approvals.cards.execution_ledger import ExecutionLedger
from pulsus.core.storage.state_db.shared_connection import SharedConnection
from pulsus.errors import ApprovalUnknown
from tests.approval_cards import SUBJECT, ApprovalsOfTest, RecordedDecisions

APPROVERS = 16
PATIENCE_SECONDS = 120


class _Race:
    """The approvers of all races, each in a thread of its own, and what they started."""

    def __init__(self, made, races):
        self.made, self.races = made, races
        self.begin = threading.Barrier(APPROVERS + 1)
        self.end = threading.Barrier(APPROVERS + 1)
        self.card, self.tokens, self.started, self.other = made.propose(), [], [], []
        self.threads = [
            threading.Thread(target=self._approve, args=(number,), daemon=True)
            for number in range(APPROVERS)
        ]

    def _approve(self, number):
        for _ in range(self.races):
            self.begin.wait(PATIENCE_SECONDS)
            try:
                self.made.approve(self.tokens[number], f"p{number}")
                self.made.approvals.start(self.card.id)
                self.started.append(number)
            except ApprovalUnknown:
                pass
            except Exception as fault:  # noqa: BLE001 - a thread reports each fault
                self.other.append(repr(fault))
            self.end.wait(PATIENCE_SECONDS)

    def run(self):
        """Return the faults, by the number of the race."""
        faults = {}
        for thread in self.threads:
            thread.start()
        for number in range(self.races):
            self.started, self.other = [], []
            self.card = self.made.propose(replace(SUBJECT, requester="someone"))
            self.tokens = [self.made.token(self.card, f"p{n}") for n in range(APPROVERS)]
            self.begin.wait(PATIENCE_SECONDS)
            self.end.wait(PATIENCE_SECONDS)
            if len(self.started) != 1 or self.other:
                faults[number] = [f"{len(self.started)} executions", *self.other]
                continue
            self.made.approvals.finish(self.card.id, ("OK",), ok=True)
            faults |= {number: wrong} if (wrong := self._record_fault()) else {}
        return faults

    def _record_fault(self):
        """Return the faults of what was kept of the race."""
        decisions, card = self.made.decisions, self.card.id
        if isinstance(decisions, RecordedDecisions):
            kept = [what for what, of in decisions.rows if of == card]
            decisions.rows.clear()
            return [] if kept == ["approved", "started", "ended"] else [f"on record: {kept}"]
        row = decisions.row(card)
        right = (row.state, row.approver) == ("done", f"p{self.started[0]}")
        return [] if right else [f"on record as {row.state} by {row.approver}"]


def raced(races):
    """Run so many races without a disk. Return the faults."""
    return _Race(ApprovalsOfTest(approvers=APPROVERS), races).run()


def raced_on_disk(root, races):
    """Run so many races with a ledger in `root`, kept open as by a server. Return the faults."""
    state = root / ".pulsus"
    state.mkdir()
    ledger = ExecutionLedger(state, root, shared=SharedConnection(state, root))
    return _Race(ApprovalsOfTest(approvers=APPROVERS, decisions=ledger), races).run()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--races", type=int, default=10_000)
    options = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = f"{folder}/user"
        project = Path(folder, "project")
        project.mkdir()
        faults = raced_on_disk(project, options.races)
    report = {
        "races": options.races,
        "approvers": APPROVERS,
        "seconds": round(time.perf_counter() - began, 1),
        "faults": faults,
    }
    print(json.dumps(report, indent=2))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
