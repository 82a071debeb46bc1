"""A time limit counts neither what other work took, nor spares what a module took itself."""

from typing import Any

import pytest

from pulsus.core.sandbox.run_clock import RunClock


class Machine:
    """A watched sandbox: what it used, what its main process waited for a core, and the time."""

    def __init__(self) -> None:
        self.used = self.waited = 0.0
        self.time = 100.0
        watch: Any = self
        self.clock = RunClock(3.0, watch, lambda: self.time)

    def used_seconds(self):
        return self.used

    def waited_seconds(self, number):
        return self.waited

    def after(self, seconds, *, used=0.0, waited=0.0):
        self.time, self.used, self.waited = 100.0 + seconds, used, waited
        return self.clock


@pytest.fixture
def machine():
    return Machine()


def test_a_run_on_a_free_machine_ends_at_its_limit(machine):
    assert not machine.after(2.9, used=2.9).ended()
    clock = machine.after(3.1, used=3.1)
    assert (clock.ended(), clock.starved()) == (True, False)


def test_time_that_other_work_took_does_not_count(machine):
    assert not machine.after(8.0, used=2.0, waited=6.0).ended()
    clock = machine.after(9.5, used=3.2, waited=6.0)
    assert (clock.ended(), clock.starved()) == (True, False)


def test_sleeping_does_not_prolong_a_run(machine):
    assert machine.after(3.1, used=0.1, waited=0.05).ended()


def test_load_of_its_own_does_not_prolong_a_run(machine):
    clock = machine.after(3.1, used=3.05, waited=2.8)
    assert (clock.ended(), clock.starved()) == (True, False)


def test_a_machine_that_never_has_a_core_ends_the_run_without_a_verdict(machine):
    assert not machine.after(11.9, used=0.1, waited=11.5).ended()
    clock = machine.after(12.1, used=0.1, waited=11.9)
    assert (clock.ended(), clock.starved()) == (True, True)


def test_leftover_processes_get_their_seconds_by_the_clock(machine):
    clock = machine.after(1.0, used=0.5)
    clock.cut(2.0)
    assert not machine.after(2.9).ended()
    assert machine.after(3.1, waited=2.0).ended()


def test_late_work_gets_its_own_seconds_without_those_that_the_machine_took(machine):
    machine.after(2.0, used=0.5, waited=1.5).shorten(1.0)
    assert not machine.after(4.0, used=0.5, waited=3.0).ended()
    assert machine.after(4.6, used=1.6, waited=3.0).ended()


def test_late_work_does_not_prolong_the_run(machine):
    machine.after(2.9, used=2.9).shorten(10.0)
    assert machine.after(3.1, used=3.1).ended()
