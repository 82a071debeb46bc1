"""`pulsus chat`: a conversation with the agent.

It needs a terminal. Transcripts, and `--resume`, are files of `agent/sessions/session_file.py`.
After `@` only names are completed that one resource alone has.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.agent.agent_command import level_option, turns_option
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.errors import PulsusError, UsageError

if TYPE_CHECKING:
    from pulsus.agent.agent_session import AgentSession, AskEnd
    from pulsus.agent.control.call_verdict import ControlLevel
    from pulsus.agent.sessions.session_file import SavedSession
    from pulsus.bootstrap import App

EPILOG = page_end(
    "pulsus chat",
    "pulsus chat --control-level controlled",
    "pulsus chat --resume last",
    exits={0: "ended by you", 2: "usage, settings, a broken session", 5: "no model is configured"},
    notes=(
        "\n".join(
            (
                "In the chat:",
                "  @name           mentions a host, service or container; Tab completes",
                "  /help           lists the commands, such as /facts, /why and /reset",
                "  Ctrl-C          stops the agent; Ctrl-D or /quit ends the chat",
                "  while it works  what you type reaches the agent with its next turn",
            )
        ),
    ),
)


@click.command(epilog=EPILOG)
@level_option
@turns_option
@click.option(
    "--resume",
    metavar="SESSION",
    help="Go on with a saved session, or with the last one.",
)
@common()
def command(
    session: CommandSession, level: ControlLevel | None, max_turns: int | None, resume: str | None
) -> None:
    """Talk with the agent: it remembers what was found, from one request to the next.

    It decides and asks for approval as `pulsus agent` does. The transcript is saved without
    secrets in .pulsus/sessions/. A resumed session knows what was said, and finds every resource
    anew.
    """
    from pulsus.bootstrap.build_agent_session import make_agent_session, require_agent_extra

    if session.output != "text":
        raise UsageError(
            "pulsus chat is for a person, and prints text only",
            hint='a program uses: pulsus agent "REQUEST" --output ndjson',
        )
    if not session.interactive:
        raise UsageError(
            "pulsus chat needs a terminal for its input and its output",
            hint='without one, use: pulsus agent "REQUEST"',
        )
    require_agent_extra("anyio", "psutil", "prompt_toolkit")
    from pulsus.agent.sessions.session_file import load_session, new_session
    from pulsus.cli.agent.chat_loop import ChatApprover
    from pulsus.core.telemetry import ids

    app = session.app
    app.model()  # a missing model is said before the first request
    approver = ChatApprover()
    agent = make_agent_session(app, approver, level)
    if resume:
        saved = load_session(resume, app.state_dir)
        agent.remember_earlier(saved.request_answer_pairs)
    else:
        saved = new_session(ids.utc_now(), os.urandom(3), agent.parts.control.level)
    _run(session, agent, approver, saved, max_turns)


def _run(
    session: CommandSession,
    agent: AgentSession,
    approver: Any,
    saved: SavedSession,
    max_turns: int | None,
) -> None:
    from pulsus.cli.agent.chat_loop import ChatLoop, ChatPorts
    from pulsus.cli.agent.chat_prompt import ChatCompleter, ChatPrompt
    from pulsus.cli.agent.event_view import LiveView
    from pulsus.core.system.state_dir import open_state

    app, keeper = session.app, _TranscriptKeeper(session.app, agent, saved)
    completer = ChatCompleter()
    completer.names = _unique_names(agent)
    history = open_state(app.state_dir).path / "chat_history" if app.writable else None
    prompt = ChatPrompt(completer, history, app.redactor)
    ports = ChatPorts(
        approver,
        prompt,
        completer,
        LiveView(quiet=session.verbosity < 0),
        keeper.keep,
        keeper.decisions,
        max_turns,
    )
    if session.verbosity >= 0:
        told = (
            f", {console.counted(len(saved.exchanges), 'request')} so far"
            if saved.exchanges
            else ""
        )
        console.note(f"{saved.session_id}, {agent.parts.control.level}{told}; /help, /quit")
    ChatLoop(agent, ports).run()


class _TranscriptKeeper:
    """Saves each exchange, and reads the decisions of the last run."""

    def __init__(self, app: App, agent: AgentSession, saved: SavedSession) -> None:
        self._app, self._agent, self._saved = app, agent, saved
        self._written = 0
        self._last_run = ""

    def keep(self, text: str, done: AskEnd) -> None:
        """Save one exchange. A failure is a warning: the chat itself goes on."""
        from pulsus.agent.sessions.session_file import Exchange, messages_to_json, save_session

        self._last_run = done.run_id
        transcript = self._agent.transcript
        messages = messages_to_json(transcript.all_messages) if transcript else ()
        end = done.end
        if len(messages) < self._written:  # `/reset` began a new transcript
            self._written = 0
        new, self._written = messages[self._written :], len(messages)
        self._saved = self._saved.with_exchange(
            Exchange(done.run_id, text, end.summary, end.confidence, end.exit_status, new)
        )
        try:
            save_session(self._saved, self._app.state_dir, self._app.redactor)
        except PulsusError as failure:
            console.warn(f"the transcript is not saved: {failure.message}")

    def decisions(self) -> list[Mapping[str, object]]:
        """Return the events in the trace of the last run."""
        if not self._last_run:
            return []
        path = self._app.log_dir / "runs" / self._last_run / "steps.log"
        lines = path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]


def _unique_names(agent: AgentSession) -> dict[str, str]:
    """Return the names of this machine's resources that stand for one each, with their ids."""
    machine = agent.parts.tools.system.machine
    entries = machine.list_resources(("host", "service", "docker_container")).entries
    names = [entry.resource.name for entry in entries]
    return {
        entry.resource.name: entry.resource.id
        for entry in entries
        if names.count(entry.resource.name) == 1
    }
