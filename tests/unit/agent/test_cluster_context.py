"""The cluster in an agent's prompt: late or failing facts never stop a run."""

import threading
import time

import anyio
import pytest

from pulsus.agent.cluster_context import ClusterContext, join_contexts
from pulsus.errors import FactsInvalid
from pulsus.kb.rag_context import UNAVAILABLE


def fetch(read, seconds=5.0):
    return anyio.run(ClusterContext(read, seconds).fetch, "is pve1 well?")


def test_the_context_is_read_for_the_request():
    assert fetch(lambda request: f"## RAG Context\n{request}") == "## RAG Context\nis pve1 well?"


@pytest.mark.parametrize("error", [FactsInvalid("facts.yaml:3: broken"), OSError("disk")])
def test_a_failure_makes_it_unavailable(error, caplog):
    def read(request):
        raise error

    assert fetch(read) == UNAVAILABLE == "## RAG Context\n*Unavailable.*"
    assert str(error) in caplog.text


def test_a_context_that_comes_too_late_is_not_waited_for(caplog):
    release = threading.Event()
    began = time.monotonic()

    async def run():
        found = await ClusterContext(lambda _: str(release.wait(20)), 0.05).fetch("x")
        waited = time.monotonic() - began
        release.set()
        return found, waited

    found, waited = anyio.run(run)
    assert found == UNAVAILABLE
    assert waited < 10
    assert "longer than 0.05 s" in caplog.text


def test_empty_parts_leave_no_empty_lines():
    assert join_contexts("", "a", " ", "b") == "a\n\nb"
    assert join_contexts("", "") == ""
