"""A chat at the terminal: one request after the other, and messages to the agent meanwhile.

The agent works in a thread of its own, and the person's input line stays in the main thread. An
approval leaves the input line, is asked there, and goes back to the agent.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.patch_stdout import patch_stdout

from pulsus.agent.agent_session import AgentSession, AskEnd, AskOptions
from pulsus.agent.answers.run_facts import told_in_short
from pulsus.agent.control.call_question import CallQuestion
from pulsus.agent.control.person_asker import CallDecision
from pulsus.agent.mentions.mention_parser import parse_mentions
from pulsus.cli import console
from pulsus.cli.agent.chat_prompt import ChatCompleter, ChatPrompt, PromptWoken
from pulsus.cli.agent.event_view import answer_text
from pulsus.cli.agent.slash_commands import answer_command
from pulsus.cli.agent.terminal_approver import decide_with
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.errors import PulsusError
from pulsus.execution.cancellation import Cancellation
from pulsus.fast_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pulsus.agent.agent_events import EmitEvent

_IDLE = "pulsus> "
_WORKING = "… "


@dataclass(frozen=True)
class _ChatQuestion:
    """An approval that the agent waits for."""

    request: CallQuestion
    answer: queue.SimpleQueue[CallDecision]


class ChatApprover:
    """Passes approvals from the agent's thread to the input line."""

    def __init__(self) -> None:
        self.questions: queue.SimpleQueue[_ChatQuestion] = queue.SimpleQueue()
        self.wake: Callable[[], None] = lambda: None

    def decide_call(self, request: CallQuestion) -> CallDecision:
        """Return the person's choice. Blocks until there is one."""
        question = _ChatQuestion(request, queue.SimpleQueue())
        self.questions.put(question)
        self.wake()
        return question.answer.get()


@dataclass(frozen=True)
class ChatPorts:
    """The parts of a chat. `keep` saves an exchange; `decisions` are those of the last run."""

    approver: ChatApprover
    prompt: ChatPrompt
    completer: ChatCompleter
    show: EmitEvent
    keep: Callable[[str, AskEnd], None]
    decisions: Callable[[], Sequence[Mapping[str, object]]]
    max_turns: int | None


class ChatLoop:
    """Reads lines until the person ends the chat."""

    def __init__(self, session: AgentSession, ports: ChatPorts) -> None:
        self._session, self._ports = session, ports
        ports.approver.wake = ports.prompt.wake

    def run(self) -> None:
        """Run the chat. A failure of one request is shown, and the chat goes on."""
        while True:
            try:
                line = self._ports.prompt.ask(_IDLE).strip()
            except KeyboardInterrupt:
                console.note("Ctrl-D or /quit ends the chat")
                continue
            except PromptWoken:
                continue
            except EOFError:
                return
            if line == "/quit":
                return
            if line.startswith("/"):
                decisions = self._ports.decisions()
                for text in answer_command(line, self._session, decisions):
                    console.note(strip_controls(text))
            elif line:
                self._ask(line)

    def _ask(self, text: str) -> None:
        """Run one request in a thread, and take what the person types meanwhile."""
        run = _AgentThread(self._session, text, self._ports)
        run.start()
        while not run.finished.is_set():
            # Its end waits until all text is on the terminal: a question comes below what it shows.
            with patch_stdout(raw=True):
                self._take_input(run)
            self._answer_questions(run)
        run.join()
        self._ports.prompt.settle()
        run.cancellation.close()
        if run.failure is not None:
            console.fail(run.failure, as_json=False)
        if run.bug is not None:
            raise run.bug
        if run.done is not None:
            self._end(text, run.done)

    def _take_input(self, run: _AgentThread) -> None:
        try:
            said = self._ports.prompt.ask(_WORKING).strip()
        except PromptWoken:
            self._ports.prompt.settle()
            return
        except (KeyboardInterrupt, EOFError):
            run.cancellation.cancel("SIGINT")
            console.note("stopping; what has begun is waited for")
            run.join()
            return
        if said:
            run.messages.put(said)
            console.note("the agent gets this with its next turn")

    def _answer_questions(self, run: _AgentThread) -> None:
        while not self._ports.approver.questions.empty():
            question = self._ports.approver.questions.get()
            try:
                decision = decide_with(self._ports.prompt.ask_plainly, question.request)
            except KeyboardInterrupt:
                run.cancellation.cancel("SIGINT")
                decision = CallDecision("no", "the person stopped the run")
            question.answer.put(decision)

    def _end(self, text: str, done: AskEnd) -> None:
        end = done.end
        if end.summary:
            console.result(answer_text(end.summary, end.note))
        for name in done.prefetched.unresolved:
            console.warn(f"{name} was not found on this machine")
        for each in end.suggested:
            args = each["args"] if isinstance(each["args"], dict) else {}
            said = " ".join(f"{name}={value}" for name, value in args.items())
            console.note(strip_controls(f"suggested, risk {each['risk']}: {each['tool']} {said}"))
        deeds = told_in_short(end.facts.to_json())
        console.note(f"confidence {end.confidence}, {deeds}, {done.run_id}")
        self._ports.keep(text, done)


class _AgentThread(threading.Thread):
    """Runs one request. `done` is its end, or None with the reason in `failure`."""

    def __init__(self, session: AgentSession, text: str, ports: ChatPorts) -> None:
        super().__init__(name="agent", daemon=True)
        self._session, self._text, self._ports = session, text, ports
        self.cancellation = Cancellation()
        self.messages: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.done: AskEnd | None = None
        self.failure: PulsusError | None = None
        self.bug: BaseException | None = None
        self.finished = threading.Event()

    def run(self) -> None:
        """Run the request, and leave the input line at its end."""
        import anyio

        mentions = self._ports.completer.structured(parse_mentions(self._text))
        options = AskOptions(
            self._ports.show,
            self.cancellation,
            mentions,
            self._ports.max_turns,
            self._steer,
        )
        try:
            self.done = anyio.run(self._session.ask, self._text, options)
        except PulsusError as error:
            self.failure = error
        except BaseException as error:  # noqa: BLE001 - raised again in the main thread
            self.bug = error
        self.finished.set()
        self._ports.prompt.wake()

    def _steer(self) -> list[str]:
        said = []
        while not self.messages.empty():
            said.append(self.messages.get())
        return said
