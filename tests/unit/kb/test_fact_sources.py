"""Sources of facts: one that fails, hangs or lies is left out and named, the others count."""

import sys
import threading
import time

import pytest

from pulsus.kb.fact_sources import gather_facts
from tests.knowledge import DEFAULTS, NOW, ago, links, nodes


class Source:
    """A source that gives this document, or does this."""

    def __init__(self, name, document=None, act=None):
        self.name, self._document, self._act = name, document, act

    def read(self):
        return self._act() if self._act else self._document


def gather(*sources, known=(), seconds=5.0):
    return gather_facts(sources, frozenset(known), NOW, DEFAULTS, seconds)


def test_a_document_without_a_time_was_observed_now_and_expires():
    found = gather(Source("a", {"nodes": nodes("n1")}), Source("b", {"observed_at": ago(9)}))
    origins = {(f.kind, f.provenance.source, f.provenance.ttl_seconds) for f in found.facts}
    assert origins == {("node", "a", 86_400), ("health", "a", 300)}
    assert found.facts[0].provenance.observed_at == NOW
    assert found.failures == ()


def fail():
    raise OSError("no connection")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (Source("bad", act=fail), "no connection"),
        (Source("bad", act=sys.exit), "SystemExit"),
        (Source("bad", None), "it gave nothing"),
        (Source("bad", [1]), "no facts document"),
        (Source("bad", {"nodes": [{"name": "a", "x": 1}]}), "there is no such key"),
        (Source("bad", {"links": links(("n1", "n9", 1))}), "no node has this name"),
    ],
)
def test_a_source_with_a_fault_gives_nothing_and_is_named(bad, reason):
    found = gather(bad, Source("good", {"nodes": nodes("n1")}))
    assert [fact.kind for fact in found.facts] == ["node", "health"]
    (failure,) = found.failures
    assert failure.name == "bad"
    assert reason in failure.reason


def test_a_source_that_hangs_is_left_out_after_the_limit():
    release = threading.Event()
    began = time.monotonic()
    hanging = [Source(f"h{n}", act=release.wait) for n in range(3)]
    found = gather(*hanging, Source("good", {"nodes": nodes("n1")}), seconds=0.2)
    release.set()
    assert time.monotonic() - began < 5
    assert [failure.reason for failure in found.failures] == ["it took longer than 0.2 s"] * 3
    assert len(found.facts) == 2


def test_a_source_may_name_nodes_of_others_until_they_are_dropped():
    first = Source("first", {"links": links(("n1", "n2", 1))})
    second = Source("second", {"nodes": nodes("n2"), "vms": [{"vmid": 1, "host": "n9"}]})
    found = gather(first, second, known=["n1"])
    assert [failure.name for failure in found.failures] == ["second", "first"]
    assert found.facts == ()
