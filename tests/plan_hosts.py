"""A host of the engine whose steps are Python functions, and plans for it."""

import json
import os
import signal
import threading
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pulsus.core.compose.plans.dsl.plan_values import parse_expression, parse_value
from pulsus.core.types import ForEach, Plan, PlanStep, Retry, Verification
from pulsus.errors import Aborted, ApprovalNeeded, PulsusError, ToolFailed
from pulsus.execution.engine.engine import EngineLimits, PlanEngine
from pulsus.execution.engine.step_host import StepOutcome
from pulsus.execution.journal.journal import Journal
from pulsus.execution.journal.run_records import NewRun

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def step(step_id, tool="read", *, outputs=("value",), items=None, limit=10_000, **fields):
    """A step that runs `tool`: `read`, `write`, or a name that the host knows."""
    inputs = {k: parse_value(v, k) for k, v in fields.pop("inputs", {}).items()}
    if items is not None:
        fields["for_each"] = ForEach(parse_value(items, "items"), limit)
    if "when" in fields:
        fields["when"] = parse_expression(fields["when"], "when")
    if "attempts" in fields:
        fields["retry"] = Retry(fields.pop("attempts"), fields.pop("delay_s", 0.0))
    return PlanStep(step_id, tool, inputs, {name: name for name in outputs}, **fields)


def plan(*steps):
    return Plan("a plan of tests", steps)


@dataclass
class FunctionHost:
    """Runs functions. `ledger` is a file with a line for each effect of a write.

    `tools` map a name to a function of (inputs, item). Tools whose name begins with `write` write.
    Their verification asks the ledger; that of steps in `unverifiable` is not declared.
    """

    ledger: Path
    tools: dict = field(default_factory=dict)
    idempotent: bool = False
    consents: list = field(default_factory=list)
    refuse: set = field(default_factory=set)
    unverifiable: set = field(default_factory=set)
    calls: list = field(default_factory=list)
    running: set = field(default_factory=set)
    together: int = 0
    overlaps: list = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def is_write(self, step):
        return step.tool.startswith("write")

    def is_idempotent(self, step):
        return self.idempotent

    def consent(self, step, inputs):
        if step.id in self.refuse:
            raise ApprovalNeeded(f"{step.tool} needs an approval", hint="ask")
        self.consents.append(step.id)

    def run(self, step, item, inputs, timeout_s, cancellation):
        key = step.id if item is None else f"{step.id}.{item}"
        with self._lock:
            writes = [each for each in self.running if each[1]]
            if writes or (self.is_write(step) and self.running):
                self.overlaps.append((key, set(self.running)))
            self.running.add((key, self.is_write(step)))
            self.together = max(self.together, len(self.running))
            self.calls.append(key)
        try:
            return StepOutcome(self._perform(step, item, key, inputs, cancellation), 1)
        finally:
            with self._lock:
                self.running.discard((key, self.is_write(step)))

    def _perform(self, step, item, key, inputs, cancellation):
        if step.tool in self.tools:
            return self.tools[step.tool](inputs, item, cancellation)
        if self.is_write(step):
            self.effect(key)
        return {"value": inputs.get("value", item)}

    def effect(self, key):
        with self.ledger.open("a", encoding="utf-8") as file:
            file.write(f"{key}\n")

    def effects(self):
        with suppress(FileNotFoundError):
            return self.ledger.read_text("utf-8").split()
        return []

    def verify(self, step, inputs, result, cancellation):
        if step.id in self.unverifiable:
            return Verification(None, False, f"{step.tool} declares no `Verify:`")
        key = inputs.get("key", step.id)
        ok = key in self.effects()
        return Verification("verify", ok, "it is there" if ok else f"{key} is not there")


def wait_for_cancellation(inputs, item, cancellation):
    """A tool that runs until it is cancelled."""
    until = time.monotonic() + 20
    while not cancellation.is_cancelled and time.monotonic() < until:
        time.sleep(0.005)
    raise Aborted("it was cancelled", hint="run it again")


def fail(inputs, item, cancellation):
    """A tool that fails and says so."""
    raise ToolFailed("it broke", hint="look", stage="run")


def time_out(inputs, item, cancellation):
    """A tool that was ended by its time limit."""
    raise ToolFailed("it took too long", hint="wait", timed_out=True)


class Project:
    """A folder with a journal, and an engine for its plans."""

    def __init__(self, root):
        self.state = root / ".pulsus"
        self.state.mkdir(exist_ok=True)
        self.root = root
        self.events = []
        self.now = NOON
        self.host = FunctionHost(root / "ledger")
        self.limits = EngineLimits()

    def opened(self):
        return Journal(self.state, self.root, lambda: self.now)

    def engine(self, journal):
        return PlanEngine(journal, self.host, self.events.append, lambda: self.now, self.limits)

    def run(self, *steps, inputs=None, run_id="run-1"):
        journal = self.opened()
        try:
            new = NewRun(run_id, json.dumps([s.id for s in steps]), inputs or {})
            return self.engine(journal).run(plan(*steps), new)
        finally:
            journal.close()

    def resume(self, *steps, run_id="run-1", settled=None):
        journal = self.opened()
        try:
            return self.engine(journal).resume(plan(*steps), run_id, settled)
        finally:
            journal.close()

    def record(self, run_id="run-1"):
        journal = self.opened()
        try:
            return journal.read_run(run_id)
        finally:
            journal.close()

    def states(self, run_id="run-1"):
        return {
            (s.step if s.item is None else f"{s.step}.{s.item}"): s.state
            for s in self.record(run_id).steps
        }

    def result(self, name, run_id="run-1"):
        return json.loads((self.state / "runs" / run_id / name).read_text("utf-8"))


def failed_with(error):
    """Return a tool that raises `error`."""

    def tool(inputs, item, cancellation):
        assert isinstance(error, PulsusError)
        raise error

    return tool


def in_child(act):
    """Do `act` in a forked process. Return how that ended, negative for a signal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads: the child takes no lock
        child = os.fork()
    if not child:
        try:
            act()
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def die(*_):
    """Kill this process."""
    os.kill(os.getpid(), signal.SIGKILL)
