"""Decide if a call of the agent runs, is refused or needs approval (control levels; §2.6, §32).

Rules refuse in a fixed order: Pulsus itself (`agent/control/protection/self_protection.py`),
secrets (`commands/risk/secret_paths.py`), commands that are no reads (`commands/classify.py`),
reads sent to the tool that writes, the policy (`gates/command_policy.py`), made-up targets
(`target_grounding.py`). Only then the setting `agent.control_level` (`read_only`, `controlled`,
`autonomous`) decides. Reads that would leak data need approval (`sent_words.py`).

`build_call_question.py` builds the question to a person, `person_asker.py` asks it,
`call_approvals.py` keeps the answer, and `session_grants.py` "for this session". Repeated, excess
and unknown calls are refused before, in `agent/loop/check_calls.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, Literal

from pulsus.agent.control.build_call_question import (
    CallQuestionBuilder,
    ControlPorts,
    is_always_asked,
)
from pulsus.agent.control.call_paths import paths_in_arguments
from pulsus.agent.control.connecting_arguments import connecting_arguments
from pulsus.agent.control.invented_inputs import NamedValues, find_invented
from pulsus.agent.control.kept_gate_answers import KeptGateAnswers, ProjectGate
from pulsus.agent.control.protection.self_protection import SelfProtection
from pulsus.agent.control.sent_words import (
    SentArguments,
    SentNumbers,
    SentTexts,
    find_unsaid_words,
)
from pulsus.agent.control.session_grants import SessionGrants
from pulsus.agent.control.session_words import SessionWords
from pulsus.agent.control.target_grounding import refuse_ungrounded
from pulsus.agent.loop.call_draft import AskPerson, CallDraft, RefusedCall, RunCall
from pulsus.agent.tool_protocol import CallOutcome
from pulsus.approvals.cards.file_difference import EditNotShown
from pulsus.commands.command_verdict import CommandVerdict
from pulsus.commands.risk.secret_paths import is_secret
from pulsus.core.types import JsonValue
from pulsus.gates.gate_answer import GateAnswer, describe_ruling
from pulsus.gates.tool_response import ToolErrorCode, ToolResponse, tool_blocked

ControlLevel = Literal["read_only", "controlled", "autonomous"]

_READ_TOOL: Final = "pulsus_read"


class AgentControl:
    """The rules of one session. It satisfies the protocol of the loop."""

    def __init__(
        self,
        level: ControlLevel,
        gate: ProjectGate,
        protection: SelfProtection,
        words: SessionWords,
        grants: SessionGrants,
        *,
        approval_seconds: float,
        ports: ControlPorts | None = None,
    ) -> None:
        self.level, self._gate, self._protection = level, gate, protection
        self.words, self.grants = words, grants
        self._answers = KeptGateAnswers(gate, words)
        self._sent, self._numbers = SentArguments(words), SentNumbers(words)
        self._texts = SentTexts(words)
        ports = ports or ControlPorts()
        self._requests = CallQuestionBuilder(ports, self._answers, words, approval_seconds)
        self._own_names = ports.own_names
        self._asked: list[str] = []

    def refuse(self, draft: CallDraft) -> ToolResponse | None:
        """Return why the call may not run at any control level, or None."""
        return (
            self._refuse_own(draft)
            or _refuse_secret(draft, self._answers.answer(draft))
            or self._refuse_command(draft)
            or self._refuse_by_policy(draft)
            or self._refuse_ungrounded(draft)
        )

    def rewrite(self, draft: CallDraft) -> str | None:
        """Return a command to run in place of the refused one of a read, or None."""
        answer = self._answers.answer(draft)
        return answer.rewrite if answer is not None and draft.kind != "write" else None

    def invented(self, draft: CallDraft) -> Sequence[str]:
        """Return the optional inputs of a failed read that nothing named, if it may run again."""
        spec = self._requests.spec(draft)
        if spec is None or draft.kind != "read":
            return ()
        named = NamedValues(self.words, self._asked, self._own_names)
        return find_invented(spec, draft.tool.descriptor.parameters, draft.call.args, named)

    def decide(self, draft: CallDraft) -> RunCall | AskPerson | RefusedCall:
        """Return what is done with a call that no rule refused."""
        if draft.kind != "write":
            reason = self._reason_to_ask(draft)
            # The rules know every word of the session, and the tool only those of its start.
            return self._ask(draft, reason) if reason else RunCall(replace(draft, consent="yes"))
        if self.level == "read_only":
            return self._suggest(draft)
        if draft.needs.only_proposes:  # its request is what a person decides
            return RunCall(draft, grant="proposal")
        if self.level == "autonomous" and not self._policy_asks(draft):
            return RunCall(draft, grant="autonomous")
        return self._ask(draft, f"{draft.call.tool} may change things")

    def hear(self, texts: Iterable[str]) -> None:
        """Take note of what the user said: its names may be acted on, and sent."""
        said = [*texts]
        if said:
            self._texts.begin_message()
        self._asked += said
        self.words.add_said(*said)

    def begin_request(self, text: str) -> None:
        """Take note of a new request of the user."""
        self._asked.clear()
        self.hear([text])

    def learn(self, outcome: CallOutcome) -> None:
        """Take note of a result: its names may be acted on. Discovered names may be sent too."""
        self.words.add_said(*(name for each in outcome.found for name in each.names))
        if outcome.response.ok:
            self.words.add_seen(outcome.response.data)

    def hash_of(self, draft: CallDraft) -> str:
        """Return the hash of the call as it is now, with the tool's file as it is now."""
        return self._requests.hash_of(draft)

    def _refuse_own(self, draft: CallDraft) -> ToolResponse | None:
        """Return the refusal of a call on Pulsus itself, or None."""
        paths = [*draft.needs.paths, *paths_in_arguments(draft)]
        content = str(draft.needs.written.get("content", ""))
        refusal = self._protection.refuse_paths(dict.fromkeys(paths), draft.kind, content)
        spec = self._requests.spec(draft)
        if refusal is None and spec is not None:
            refusal = self._protection.refuse_connection(connecting_arguments(draft, spec))
        answer = self._answers.answer(draft)
        if refusal is None and answer is not None:
            command = draft.needs.command
            refusal = self._protection.refuse_command(command, draft.kind, answer.verdict)
        if refusal is None and draft.kind == "write":
            refusal = self._protection.refuse_names(
                name for resource in draft.resources for name in resource.names
            )
        return refusal

    def _refuse_command(self, draft: CallDraft) -> ToolResponse | None:
        """Return the refusal of a command that was sent to the wrong tool, or None."""
        answer = self._answers.answer(draft)
        if answer is None:
            return None
        if draft.kind == "write":
            return _refuse_read_as_write(draft) if answer.verdict.allow else None
        if answer.verdict.allow and answer.ruling.decision != "block":
            return None
        blocked = answer.ruling.decision == "block"
        details: dict[str, JsonValue] = {"command": draft.needs.command}
        if answer.rewrite:
            details["suggested_rewrite"] = answer.rewrite
            details["recovery_hint"] = f"Run this instead: {answer.rewrite}"
        elif not blocked:
            details["recovery_hint"] = (
                answer.verdict.reason.instead
                or "Use a command that only reads, or pulsus_control type=command for a change"
            )
        code: ToolErrorCode = "POLICY_BLOCKED" if blocked else "ACTION_NOT_ALLOWED"
        reason = describe_ruling(answer.ruling) if blocked else answer.reason
        details["auto_recoverable"] = bool(answer.rewrite)
        return tool_blocked(code, f"{draft.needs.command}: {reason}", **details)

    def _refuse_by_policy(self, draft: CallDraft) -> ToolResponse | None:
        """Return the refusal of a write that the policy blocks, or None."""
        if draft.kind != "write":
            return None
        answer = self._answers.equivalent(draft)
        if answer is None or answer.ruling.decision != "block":
            return None
        command = answer.verdict.command
        return tool_blocked(
            "POLICY_BLOCKED",
            f"{command}: {describe_ruling(answer.ruling)}",
            command=command,
            auto_recoverable=False,
        )

    def _refuse_ungrounded(self, draft: CallDraft) -> ToolResponse | None:
        if draft.kind != "write":
            return None
        spec = self._requests.spec(draft)
        names = spec.target if spec is not None else ()
        inputs = [draft.call.args[name] for name in names if name in draft.call.args]
        tables = self._gate.context.tables
        return refuse_ungrounded(draft.needs, draft.resources, inputs, self.words, tables)

    def _reason_to_ask(self, draft: CallDraft) -> str:
        """Return why a person has to approve a read, or an empty text."""
        answer = self._answers.answer(draft)
        if answer is not None:
            if not answer.ruling.lets_read:
                return describe_ruling(answer.ruling)
            unsaid = self._find_unsaid(answer.verdict)
            if unsaid:
                return f"{unsaid}, and the user did not say that"
        spec = self._requests.spec(draft)
        if spec is not None and spec.effects is not None and spec.effects.hosts:
            args = draft.call.args
            many = self._texts.find_many_arguments(draft.call.tool, args)
            unsaid = many or self._sent.find_unsaid(args)
            if unsaid:
                return f"it connects to other hosts, and the user did not say {unsaid}"
        return ""

    def _policy_asks(self, draft: CallDraft) -> bool:
        """Return True if a person has to approve a write in autonomous mode too."""
        if is_always_asked(draft):
            return True
        spec = self._requests.spec(draft)
        if spec is not None:
            return spec.approval == "approver"
        answer = self._answers.equivalent(draft)
        if answer is None or answer.ruling.decision != "allow":
            return True
        return bool(self._find_unsaid(answer.verdict))

    def _find_unsaid(self, verdict: CommandVerdict) -> str:
        """Return what a command, or the commands of the session together, would send unsaid."""
        return (
            find_unsaid_words(verdict, self.words)
            or self._texts.find_many(verdict)
            or self._numbers.find_many(verdict)
        )

    def _ask(self, draft: CallDraft, reason: str) -> RunCall | AskPerson | RefusedCall:
        """Return the question to a person, or the call if a grant of the session covers it."""
        try:
            request = self._requests.make(draft, reason)
        except EditNotShown as unread:
            response = tool_blocked(
                "INVALID_INPUT",
                str(unread),
                recovery_hint="Make several smaller edits, or ask the user to replace the file",
                auto_recoverable=True,
            )
            return RefusedCall(draft.call, draft.kind, response)
        grant = self.grants.find(request.grant_key, request.risk_level)
        if grant is None:
            return AskPerson(draft, request)
        return RunCall(replace(draft, consent="asked"), grant=grant.grant_id)

    def _suggest(self, draft: CallDraft) -> RefusedCall:
        """Return the refusal of a write in read_only, with the call as a suggestion."""
        suggestion: dict[str, JsonValue] = {
            "tool": draft.call.tool,
            "args": dict(draft.call.args),
            "risk": self._requests.risk(draft),
            "plan_hash": self.hash_of(draft),
        }
        response = tool_blocked(
            "ACTION_NOT_ALLOWED",
            f"{draft.call.tool} may change things, and the control level is read_only: "
            "it is suggested to the user",
            action=draft.needs.action,
            auto_recoverable=False,
        )
        return RefusedCall(draft.call, draft.kind, response, suggestion)


def _refuse_secret(draft: CallDraft, answer: GateAnswer | None) -> ToolResponse | None:
    """Return the refusal SENSITIVE_PATH of a call that names a secret, or None."""
    secret = next((path for path in draft.needs.paths if is_secret(path)), None)
    if secret is not None:
        return tool_blocked(
            "SENSITIVE_PATH", f"{secret}: secrets are kept there", auto_recoverable=False
        )
    if answer is not None and answer.verdict.sensitive:
        return tool_blocked("SENSITIVE_PATH", str(answer.verdict.reason), auto_recoverable=False)
    return None


def _refuse_read_as_write(draft: CallDraft) -> ToolResponse:
    command = draft.needs.command
    return tool_blocked(
        "ACTION_NOT_ALLOWED",
        f"{command} only reads, and {draft.call.tool} is for changes",
        command=command,
        recovery_hint=f"Use {_READ_TOOL} action=exec with the same command",
        auto_recoverable=True,
    )
