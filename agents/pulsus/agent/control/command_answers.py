"""The gate's answers to the commands of an agent's calls, kept for the session.

An answer counts as long as the same hosts of the command have been said.
"""

from __future__ import annotations

from typing import Final, Protocol

from pulsus.agent.control.call_description import equivalent_command
from pulsus.agent.control.sent_words import said_hosts
from pulsus.agent.control.session_words import SessionWords
from pulsus.agent.loop.call_draft import CallDraft
from pulsus.commands.judge_context import JudgeContext
from pulsus.fast_dataclass import dataclass
from pulsus.gates.command_decision import GateAnswer, answer_command
from pulsus.gates.command_policy import CommandPolicy

_MOST_ANSWERS: Final = 64


class CommandRulings(Protocol):
    """The command gate of a project: its policy and its tables."""

    @property
    def policy(self) -> CommandPolicy:
        """Return the policy of the settings."""
        ...

    @property
    def context(self) -> JudgeContext:
        """Return the tables to judge with."""
        ...


@dataclass(frozen=True, slots=True)
class _JudgedCommand:
    """The answer to a command, and those of its hosts that had been said by then."""

    answer: GateAnswer
    hosts: tuple[str, ...]


class CommandAnswers:
    """Answers for one session, whose words say which hosts are known."""

    def __init__(self, gate: CommandRulings, words: SessionWords) -> None:
        self.gate, self._words = gate, words
        self._answers: dict[tuple[str, str | None], _JudgedCommand] = {}

    def answer(self, draft: CallDraft) -> GateAnswer | None:
        """Return the gate's answer to the command of a call, or None without a command."""
        return self._judge(draft.needs.command, draft) if draft.needs.command else None

    def equivalent(self, draft: CallDraft) -> GateAnswer | None:
        """Return the gate's answer to the command that does what the call would do, or None."""
        command = equivalent_command(draft)
        return self._judge(command, draft) if command else None

    def _judge(self, command: str, draft: CallDraft) -> GateAnswer:
        target = draft.resources[0].name if draft.resources else None
        known = self._answers.get((command, target))
        if known is not None and known.hosts == said_hosts(known.answer.verdict, self._words):
            return known.answer
        policy = self.gate.policy
        verdict = policy.judge(command)
        hosts = said_hosts(verdict, self._words)
        answer = answer_command(policy, verdict, target, hosts)
        if len(self._answers) >= _MOST_ANSWERS:
            del self._answers[next(iter(self._answers))]
        self._answers[command, target] = _JudgedCommand(answer, hosts)
        return answer
