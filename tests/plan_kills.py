"""A plan that is killed at its first, second, third... point, and resumed until it has ended.

A point is a statement of the journal, a system call that makes a file, or the begin, the effect or
the end of a call. Each trial has a project of its own and tells whether a write was doubled, a
finished step was run again, or a write in doubt was passed over.
"""

import json
import os
import random
import signal
import threading
from pathlib import Path

from pulsus.core.types import Verification
from pulsus.execution.journal.journal import Journal
from tests.plan_hosts import FunctionHost, Project, in_child, step

WRITES = 19
STEPS = (
    step("a", inputs={"value": "{{ input.n }}"}),
    step("w0", "write_0"),
    step("b", items="{{ steps.a.outputs.value }}", inputs={"value": "{{ item }}"}),
    step("c", "read_again", attempts=2),
    step("wi", "write_i", items="{{ steps.b.outputs.value }}", inputs={"item": "{{ item }}"}),
    step("d", when="{{ false }}"),
    *(step(f"w{n}", f"write_{n}") for n in range(1, WRITES)),
    step("e", inputs={"value": "{{ steps.w1.outputs.value }}"}),
)
ITEMS = [10, 20, 30]
EFFECTS = sorted([*(f"w{n}" for n in range(WRITES)), *(f"wi.{n}" for n in range(len(ITEMS)))])
UNVERIFIABLE = {"w2", "w5"}
_COUNTED = ("open", "rename", "fsync", "unlink", "mkdir", "write", "ftruncate", "pwrite")


class Killer:
    """Kills this process at its point number `last`."""

    def __init__(self, last):
        self.last, self.count = last, 0
        self._lock = threading.Lock()

    def point(self, *_):
        with self._lock:
            self.count += 1
            if self.count == self.last:
                os.kill(os.getpid(), signal.SIGKILL)

    def arm(self):
        for name in _COUNTED:
            setattr(os, name, self._counted(getattr(os, name)))

    def _counted(self, real):
        def call(*arguments, **options):
            self.point()
            return real(*arguments, **options)

        return call


class _KilledHost(FunctionHost):
    """A host whose writes note their effect in a ledger, between points."""

    killer: Killer
    log: Path

    def note(self, text):
        with self.log.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")

    def _perform(self, step, item, key, inputs, cancellation):
        self.killer.point()
        self.note(f"run {key}")
        if self.is_write(step):
            self.effect(key)
            self.killer.point()
        return {"value": inputs.get("value", item)}

    def verify(self, step, inputs, result, cancellation):
        self.killer.point()
        self.note(f"verify {step.id}")
        if step.id in UNVERIFIABLE:
            return Verification(None, False, "it declares no `Verify:`")
        key = f"wi.{ITEMS.index(inputs['item'])}" if step.id == "wi" else step.id
        return super().verify(step, {"key": key}, result, cancellation)


class KilledProject(Project):
    """A project whose process is killed at one point."""

    def __init__(self, root, last):
        super().__init__(root)
        self.log = root / "log"
        self.killer = Killer(last)
        host = _KilledHost(root / "ledger", unverifiable=UNVERIFIABLE)
        host.killer, host.log = self.killer, self.log
        self.host, self.note = host, host.note

    def opened(self):
        journal = Journal(self.state, self.root, lambda: self.now)
        journal._db.set_trace_callback(self.killer.point)
        return journal

    def engine(self, journal):
        made = super().engine(journal)
        object.__setattr__(made, "progress", self.tell)
        return made

    def tell(self, event):
        if getattr(event, "step", "") and event.state == "done" and event.items is None:
            key = event.step if event.item is None else f"{event.step}.{event.item}"
            self.note(f"done {key}")

    def noted(self):
        return self.log.read_text("utf-8").splitlines() if self.log.exists() else []


def begin(root, last):
    """Start the plan in a process that is killed at point `last`. Return how it ended."""

    def act():
        project = KilledProject(root, last)
        project.killer.arm()
        end = project.run(*STEPS, inputs={"n": ITEMS})
        os._exit(0 if end.state == "done" else 3)

    return in_child(act)


def go_on(root, last, settled=None):
    """Resume in a process that is killed at point `last`. Return how it ended."""

    def act():
        project = KilledProject(root, last)
        project.killer.arm()
        end = project.resume(*STEPS, settled=settled)
        os._exit({"done": 0, "waiting": 4}.get(end.state, 3))

    return in_child(act)


def trial(root, last):
    """Kill a run at its point `last`, and often its resumes too, until it is done.

    Return (True if it was killed, what went wrong).
    """
    wrong = []
    rng = random.Random(last)
    code = begin(root, last)
    if code != -signal.SIGKILL:
        return False, [] if code == 0 else [f"it ended with {code}"]
    for attempt in range(12):
        project = KilledProject(root, 0)
        if not _has_run(project):
            wrong += [f"effect without a record: {e}" for e in project.host.effects()]
            code = begin(root, 0)
            break
        started = _doubtful(project)
        before = len(project.noted())
        again = rng.randrange(1, 120) if attempt < 4 and rng.random() < 0.5 else 0
        code = go_on(root, again)
        looked = {n.split()[1] for n in project.noted()[before:] if n.startswith("verify ")}
        if code in (0, 4):
            # A resume that came to its end asked about each write that it found started.
            wrong += [f"passed over: {each}" for each in started - looked]
        if code == 4:
            code = _settle(root, project, wrong)
        if code != -signal.SIGKILL:
            break
    if code != 0:
        wrong.append(f"it ended with {code}")
    return True, wrong + _faults(KilledProject(root, 0))


def _settle(root, project, wrong):
    """Do what a person does with writes in doubt: look at the effect, and say so."""
    code = 4
    for _ in range(len(EFFECTS)):
        doubtful = [s for s in project.record().steps if s.state == "in_doubt"]
        if not doubtful:
            wrong.append("it waits, and nothing is in doubt")
            return code
        keys = {s.step: s.step if s.item is None else f"{s.step}.{s.item}" for s in doubtful}
        there = project.host.effects()
        settled = {s: "done" if key in there else "again" for s, key in keys.items()}
        code = go_on(root, 0, settled)
        if code != 4:
            return code
    return code


def _has_run(project):
    journal = project.opened()
    try:
        return bool(journal.list_runs())
    finally:
        journal.close()


def _doubtful(project):
    return {
        s.step
        for s in project.record().steps
        if s.is_write and s.items is None and s.state in ("started", "in_doubt")
    }


def _faults(project):
    wrong = []
    found = sorted(project.host.effects())
    if found != EFFECTS:
        wrong.append(f"effects: {json.dumps(found)}")
    finished = set()
    for line in project.noted():
        what, key = line.split()
        if what == "done":
            finished.add(key)
        elif what == "run" and key in finished:
            wrong.append(f"forgotten: {key}")
    if project.record().state != "done":
        wrong.append(f"state {project.record().state}")
    return wrong
