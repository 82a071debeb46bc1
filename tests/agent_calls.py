"""Make the agent's tools for a small project, and call them as an allowed call would be."""

import os
from datetime import UTC, datetime

from pulsus.agent.tool_protocol import CallContext
from pulsus.agent.tools.all_tools import agent_tools
from pulsus.bootstrap import build
from pulsus.bootstrap.build_agent_session import _ask_knowledge
from pulsus.execution.cancellation import Cancellation

NOW = datetime(2026, 7, 1, 12, 30, tzinfo=UTC)


def tools_in(project, **environ):
    """Return the tools of a session in `project`; `environ` is added to the environment."""
    app = build(project, {})
    return agent_tools(
        app,
        app.commands,
        environ={**os.environ, **environ},
        now=lambda: NOW,
        ask=lambda goal: _ask_knowledge(app, goal),
        facts=app.knowledge.view,
    )


def call(tools, name, args, *, consent=None, on=(), seconds=30.0, cancelled=False):
    """Run one call. `on` are its resolved targets."""
    cancellation = Cancellation()
    try:
        if cancelled:
            cancellation.cancel("test")
        context = CallContext(tuple(on), cancellation, seconds, consent)
        return tools.by_name[name].run(args, context)
    finally:
        cancellation.close()


def data(outcome):
    """Return the data of a call that has to have worked."""
    assert outcome.response.ok, outcome.response.to_json()
    return outcome.response.data


def code(outcome):
    """Return the code of a call that has to have failed."""
    assert not outcome.response.ok, outcome.response.to_json()
    return outcome.response.error.code
