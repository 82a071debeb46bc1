"""Threads that write at the same time share a write, and each hears of its own."""

import threading
import time

import pytest

from pulsus.core.storage.group_commit import GroupCommit


def run(*calls):
    """Start a thread for each call, and return them."""
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    return threads


def wait_for(commit, count):
    """Wait until so many items wait for a write."""
    end = time.monotonic() + 60
    while len(commit._waiting) < count and time.monotonic() < end:
        time.sleep(0.001)


class Gate:
    """A write that waits until it is let through, and notes what it got."""

    def __init__(self):
        self.groups: list[list[int]] = []
        self.begun, self.let = threading.Event(), threading.Event()
        self.error: Exception | None = None

    def write(self, items):
        self.groups.append(list(items))
        self.begun.set()
        assert self.let.wait(60)
        if self.error:
            raise self.error


def fill(commit, gate, items):
    """Add one item, and the others while it is written. Return the threads."""
    first = run(lambda: commit.add(0))
    assert gate.begun.wait(60)
    others = run(*(lambda n=n: commit.add(n) for n in items))
    wait_for(commit, len(items))
    return first + others


def test_what_comes_during_a_write_shares_the_next_one():
    gate = Gate()
    commit = GroupCommit(gate.write, 10)
    threads = fill(commit, gate, [1, 2, 3])
    gate.let.set()
    for thread in threads:
        thread.join(60)
    assert [sorted(group) for group in gate.groups] == [[0], [1, 2, 3]]


def test_a_write_gets_no_more_items_than_it_can_hold():
    gate = Gate()
    commit = GroupCommit(gate.write, 2)
    threads = fill(commit, gate, [1, 2, 3])
    gate.let.set()
    for thread in threads:
        thread.join(60)
    assert [len(group) for group in gate.groups] == [1, 2, 1]
    assert sorted(item for group in gate.groups for item in group) == [0, 1, 2, 3]


def test_a_failed_write_is_an_error_for_each_caller_and_the_next_write_is_not():
    gate, failures = Gate(), []
    commit = GroupCommit(gate.write, 10)

    def add(item):
        try:
            commit.add(item)
        except OSError:
            failures.append(item)

    first = run(lambda: add(0))
    assert gate.begun.wait(60)
    gate.error = OSError("full")
    others = run(lambda: add(1), lambda: add(2))
    wait_for(commit, 2)
    gate.let.set()
    for thread in first + others:
        thread.join(60)
    assert sorted(failures) == [0, 1, 2]
    gate.error = None
    commit.add(3)
    gate.error = OSError("full")
    with pytest.raises(OSError, match="full"):
        commit.add(4)
