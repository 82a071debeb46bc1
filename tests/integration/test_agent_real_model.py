"""A real small model is asked for a call in both ways, as `doctor --model` does.

A model of 0.5 billion parameters often misses both. So its answers only have to be read without an
error, and the protocol has to follow from them.
"""

import pytest

from pulsus.agent.model.protocol_probe import probe_protocols
from pulsus.bootstrap.language_model import turn_model
from pulsus.config.settings import AgentConfig, ModelConfig
from pulsus.core.compose.model_protocol import Setup
from pulsus.core.telemetry.redaction import redact
from pulsus.llm.budgeted_model import BudgetedModel
from pulsus.llm.http.model_server import Server
from pulsus.llm.http.openai_compat import OpenAi
from tests.local_model import local_model

pytestmark = [pytest.mark.real_llm, pytest.mark.slow, pytest.mark.timeout(1800)]


def test_a_small_model_answers_both_ways_in_the_form_that_was_asked_for():
    config = AgentConfig(temperature=0.0)
    with local_model() as url:
        setup = Setup(ModelConfig(base_url=url, name="local"), "", redact)
        by_json, natively, protocol = probe_protocols(
            turn_model(config, BudgetedModel(Server(setup, OpenAi()), setup), "json"),
            turn_model(config, BudgetedModel(Server(setup, OpenAi()), setup), "native"),
            "json",
            lambda question: None,
        )
    assert "MODEL_" not in by_json.found + natively.found
    assert "{" in by_json.found or by_json.ok
    expected = "native" if natively.ok else "json" if by_json.ok else None
    assert protocol.protocol == expected, (by_json.found, natively.found)
