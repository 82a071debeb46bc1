"""The answers of the command gate (verdict and ruling) that an agent session keeps.

The verdict is made in `commands/classify.py`, the ruling in `gates/command_policy.py`.

A cache of at most 64 answers.

An answer counts as long as the same hosts of the command have been said.
"""

from __future__ import annotations

from typing import Final, Protocol

from pulsus.agent.control.call_description import equivalent_command
from pulsus.agent.control.sent_words import hosts_named_before
from pulsus.agent.control.session_words import SessionWords
from pulsus.agent.loop.call_draft import CallDraft
from pulsus.commands.judge_context import JudgeContext
from pulsus.fast_dataclass import dataclass
from pulsus.gates.command_policy import CommandPolicy
from pulsus.gates.gate_answer import GateAnswer, answer_command

_MOST_ANSWERS: Final = 64


class ProjectGate(Protocol):
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


class KeptGateAnswers:
    """Answers for one session, whose words say which hosts are known."""

    def __init__(self, gate: ProjectGate, words: SessionWords) -> None:
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
        if known is not None and known.hosts == hosts_named_before(
            known.answer.verdict, self._words
        ):
            return known.answer
        policy = self.gate.policy
        verdict = policy.judge(command)
        hosts = hosts_named_before(verdict, self._words)
        answer = answer_command(policy, verdict, target, hosts)
        if len(self._answers) >= _MOST_ANSWERS:
            del self._answers[next(iter(self._answers))]
        self._answers[command, target] = _JudgedCommand(answer, hosts)
        return answer
