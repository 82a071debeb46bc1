"""Compare pending approvals with the case file of another project's approval store.

What a record is made for is one hash here; theirs are a command and a target. Organisations are
stores of their own. A row about an old record without a hash is contested: such a record allows
nothing here.
"""

import json
import os
from pathlib import Path

import pytest

from pulsus.agent.control.call_approvals import MOST_PENDING, CallApprovals
from pulsus.errors import PulsusError

FILE = Path(os.environ.get("PULSUS_CASES", "../shared/cases"), "pulse", "approval_store.jsonl")

pytestmark = [
    pytest.mark.cases,
    pytest.mark.skipif(not FILE.is_file(), reason="outside cases are not here; set PULSUS_CASES"),
]


class Replay:
    """One store, driven by the steps of a row."""

    def __init__(self, config):
        self.now = 0.0
        seconds = config.get("timeout_ms", 0) / 1000
        self.seconds = seconds if seconds > 0 else 300.0
        most = config.get("max_pending", 0)
        self.most = most if most > 0 else MOST_PENDING
        self.stores = {}
        self.store_of = {}

    def store(self, org):
        if org not in self.stores:
            self.stores[org] = CallApprovals(lambda: self.now, seconds=self.seconds, most=self.most)
        return self.stores[org]

    def step(self, step):
        """Return True if the step went as the row says."""
        try:
            agrees = self._step(step)
        except PulsusError:
            return step.get("error") is True
        return agrees and step.get("error") is not True

    def _step(self, step):
        org, name = step.get("org", ""), step.get("as") or step.get("ref", "")
        if step["op"] == "create":
            self.store_of[name] = self.store(org)
            expires = step.get("expires_in_ms")
            seconds = None if expires is None else expires / 1000
            self.store(org).create(name, made_for(step), step["command"], seconds=seconds)
        elif step["op"] == "approve":
            self.store_of[name].approve(name)
        elif step["op"] == "deny":
            self.store_of[name].deny(name, "denied")
        elif step["op"] == "consume":
            self.store_of[name].consume(name, made_for(step))
        elif step["op"] == "sleep_ms":
            self.now += step["ms"] / 1000
        elif step["op"] == "cleanup":
            return self.store(org).clean_up() == step["cleaned"]
        else:
            return self._expect(step, org, name)
        return True

    def _expect(self, step, org, name):
        if "pending" in step and len(self.store(org).pending()) != step["pending"]:
            return False
        if not name:
            return True
        status = self.store_of[name].get(name).status
        if "consumed" in step and (status == "consumed") != step["consumed"]:
            return False
        return status == step.get("status", status)


def made_for(step):
    return json.dumps([step["command"], step.get("target_type", ""), step.get("target_id", "")])


def rows():
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def test_pending_approvals_agree_with_the_cases():
    contested = [row for row in rows() if any(s["op"] == "forget_hash" for s in row["steps"])]
    asked = [row for row in rows() if row not in contested]
    wrong = []
    for row in asked:
        replay = Replay(row["config"])
        if not all(map(replay.step, row["steps"])):
            wrong.append(row["id"])
    assert not wrong
    assert len(contested) <= 1
