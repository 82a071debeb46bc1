"""Facts about this machine: they are a valid facts document, and expire."""

import platform

import pytest

from pulsus.infra.local_facts import LocalFacts, health_of
from pulsus.kb.fact_sources import gather_facts
from tests.knowledge import DEFAULTS, NOW


def test_this_machine_gives_a_valid_document_that_expires():
    found = gather_facts([LocalFacts()], frozenset(), NOW, DEFAULTS, 30.0)
    assert found.failures == ()
    kinds = [fact.kind for fact in found.facts]
    assert kinds == ["node", "health", "metric", "metric", "metric"]
    assert found.facts[0].key == platform.node()
    assert {fact.provenance.ttl_seconds for fact in found.facts} == {60}


@pytest.mark.parametrize(
    ("figures", "health"),
    [
        ({"memory_percent": 89.9, "disk_percent": 1.0, "load_per_core": 1.9}, "nominal"),
        ({"memory_percent": 90.0, "disk_percent": 1.0, "load_per_core": 0.0}, "degraded"),
        ({"memory_percent": 1.0, "disk_percent": 95.0, "load_per_core": 2.0}, "critical"),
        ({"memory_percent": 1.0, "disk_percent": 1.0, "load_per_core": 4.0}, "critical"),
    ],
)
def test_the_worst_figure_decides_the_health(figures, health):
    assert health_of(figures) == health
