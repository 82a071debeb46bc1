"""Two questions about this machine to a real 0.5B model, through the whole agent.

So small a model answers some questions wrongly: `make bench` measures that with a larger one. What
has to hold for any model: it looked before it answered, each answer has figures of results only or
was sent back, and nothing was written.
"""

import anyio
import pytest

from pulsus.agent.agent_events import AgentEvent
from pulsus.agent.agent_session import AgentSession, AskOptions
from pulsus.bootstrap import build
from pulsus.bootstrap.build_agent_session import make_agent_session
from pulsus.execution.cancellation import Cancellation
from tests.local_model import local_model
from tests.project import pulsus

pytestmark = [pytest.mark.real_llm, pytest.mark.slow, pytest.mark.timeout(1800)]

QUESTIONS = (
    "How long has this machine been running?",
    "How full is the root file system?",
)
SETTINGS = {"name": "local", "read_seconds": 600.0, "total_seconds": 1200.0}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small") / "project"
    pulsus(folder.parent, "init", str(folder))
    with local_model() as url:
        flags = {
            "model": {**SETTINGS, "base_url": url},
            "agent": {"temperature": 0.0, "run_seconds": 1200.0},
        }
        yield make_agent_session(build(folder, flags), None)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_small_model_looks_before_it_answers(session, question):
    events: list[AgentEvent] = []
    cancellation = Cancellation()
    try:
        asked = AgentSession(session.parts)
        end = anyio.run(asked.ask, question, AskOptions(events.append, cancellation)).end
    finally:
        cancellation.close()
    results = [each.fields for each in events if each.name == "agent_tool_result"]
    assert any(one["ok"] for one in results), end.summary
    assert end.exit_status == 0
    assert end.state.gates.workflow.unverified == ()
