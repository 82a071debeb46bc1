"""The verdict of policy, control level and self-protection on a call (architecture §2.6, §6; §32).

Rules refuse in a fixed order: Pulsus itself, secrets, commands that are no reads, reads sent to the
tool that writes, the policy, targets that were not named. Only then the control level decides.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import Final, Literal, Protocol

from pulsus.agent.control.approval_request import ApprovalRequest, plan_hash
from pulsus.agent.control.call_description import (
    ReadFile,
    command_line,
    describe_call,
    equivalent_command,
)
from pulsus.agent.control.call_paths import paths_in_arguments
from pulsus.agent.control.grounding import refuse_ungrounded
from pulsus.agent.control.protection.self_protection import SelfProtection
from pulsus.agent.control.sent_words import find_unsaid_words, said_hosts
from pulsus.agent.control.session_grants import SessionGrants, grant_key
from pulsus.agent.control.session_words import SessionWords
from pulsus.agent.loop.call_draft import AskPerson, CallDraft, RefusedCall, RunCall
from pulsus.agent.tool_protocol import CallOutcome
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.risk.secret_paths import is_secret
from pulsus.commands.shell.script_parser import parse_command
from pulsus.commands.shell.words import Unreadable
from pulsus.commands.shell.wrappers import program_name, unwrap
from pulsus.core.types import JsonValue, ToolSpec
from pulsus.fast_dataclass import dataclass
from pulsus.gates.approval_risk import ApprovalRisk, approval_risk
from pulsus.gates.command_decision import GateAnswer, answer_command, describe_ruling
from pulsus.gates.command_policy import EGRESS, CommandPolicy
from pulsus.gates.tool_response import ToolErrorCode, ToolResponse, tool_blocked

ControlLevel = Literal["read_only", "controlled", "autonomous"]

_READ_TOOL: Final = "pulsus_read"
_MIGRATIONS: Final = frozenset({"migrate", "relocate", "evacuate", "live-migrate"})
_ALWAYS_ASKED: Final = _MIGRATIONS | {"promote", "apply", "execute_migration"}
"""Actions that need a person at every control level."""
_MIGRATING: Final = frozenset({"qm", "pct", "virsh", "ha-manager", "pvesh", "xl", "lxc", "incus"})
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
class ControlPorts:
    """Everything outside that the rules use.

    `catalogue` are the contracts of catalogue tools by the agent's name of them, and `tool_digest`
    gives the digest of such a tool's file as it is now. `new_id` makes an id for an approval.
    """

    catalogue: Mapping[str, ToolSpec] = field(default_factory=dict)
    tool_digest: Callable[[ToolSpec], str] = field(default=lambda spec: spec.sha256)
    read_file: ReadFile = field(default=lambda path: None)
    new_id: Callable[[], str] = field(default=lambda: f"apr-{secrets.token_hex(8)}")


@dataclass(frozen=True, slots=True)
class _JudgedCommand:
    """The answer to a command, and those of its hosts that had been said by then."""

    answer: GateAnswer
    hosts: tuple[str, ...]


class AgentControl:
    """The rules of one session. It satisfies the protocol of the loop."""

    def __init__(
        self,
        level: ControlLevel,
        gate: CommandRulings,
        protection: SelfProtection,
        words: SessionWords,
        grants: SessionGrants,
        *,
        approval_seconds: float,
        ports: ControlPorts | None = None,
    ) -> None:
        self.level, self._gate, self._protection = level, gate, protection
        self.words, self.grants = words, grants
        self._seconds, self._ports = approval_seconds, ports or ControlPorts()
        self._answers: dict[tuple[str, str | None], _JudgedCommand] = {}

    def refuse(self, draft: CallDraft) -> ToolResponse | None:
        """Return why the call may not run at any control level, or None."""
        return (
            self._refuse_own(draft)
            or _refuse_secret(draft, self._answer(draft))
            or self._refuse_command(draft)
            or self._refuse_by_policy(draft)
            or self._refuse_ungrounded(draft)
        )

    def rewrite(self, draft: CallDraft) -> str | None:
        """Return a command to run in place of the refused one of a read, or None."""
        answer = self._answer(draft)
        return answer.rewrite if answer is not None and draft.kind != "write" else None

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
        self.words.add_said(*texts)

    def learn(self, outcome: CallOutcome) -> None:
        """Take note of a result: its names may be acted on. Discovered names may be sent too."""
        self.words.add_said(*(name for each in outcome.found for name in each.names))
        if outcome.response.ok:
            self.words.add_seen(outcome.response.data)

    def hash_of(self, draft: CallDraft) -> str:
        """Return the hash of the call as it is now, with the tool's file as it is now."""
        spec = self._spec(draft)
        ids = [resource.id for resource in draft.resources] or [*draft.needs.targets]
        sha256 = self._ports.tool_digest(spec) if spec is not None else ""
        return plan_hash(draft.call.tool, draft.call.args, ids, self._gate.policy.version, sha256)

    def _answer(self, draft: CallDraft) -> GateAnswer | None:
        """Return the gate's answer to the command of a call, or None without a command."""
        return self._judge(draft.needs.command, draft) if draft.needs.command else None

    def _equivalent(self, draft: CallDraft) -> GateAnswer | None:
        """Return the gate's answer to the command that does what the call would do, or None."""
        command = equivalent_command(draft)
        return self._judge(command, draft) if command else None

    def _judge(self, command: str, draft: CallDraft) -> GateAnswer:
        target = draft.resources[0].name if draft.resources else None
        known = self._answers.get((command, target))
        if known is not None and known.hosts == said_hosts(known.answer.verdict, self.words):
            return known.answer
        policy = self._gate.policy
        verdict = policy.judge(command)
        hosts = said_hosts(verdict, self.words)
        answer = answer_command(policy, verdict, target, hosts)
        if len(self._answers) >= _MOST_ANSWERS:
            del self._answers[next(iter(self._answers))]
        self._answers[command, target] = _JudgedCommand(answer, hosts)
        return answer

    def _refuse_own(self, draft: CallDraft) -> ToolResponse | None:
        """Return the refusal of a call on Pulsus itself, or None."""
        paths = [*draft.needs.paths, *paths_in_arguments(draft)]
        refusal = self._protection.refuse_paths(dict.fromkeys(paths), draft.kind)
        answer = self._answer(draft)
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
        answer = self._answer(draft)
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
        answer = self._equivalent(draft)
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
        spec = self._spec(draft)
        names = spec.target if spec is not None else ()
        inputs = [draft.call.args[name] for name in names if name in draft.call.args]
        tables = self._gate.context.tables
        return refuse_ungrounded(draft.needs, draft.resources, inputs, self.words, tables)

    def _reason_to_ask(self, draft: CallDraft) -> str:
        """Return why a person has to approve a read, or an empty text."""
        answer = self._answer(draft)
        if answer is not None:
            if not answer.ruling.lets_read:
                return describe_ruling(answer.ruling)
            unsaid = find_unsaid_words(answer.verdict, self.words)
            if unsaid:
                return f"{unsaid}, and the user did not say that"
        spec = self._spec(draft)
        if spec is not None and spec.effects is not None and spec.effects.hosts:
            for value in draft.call.args.values():
                unsaid_pieces = self.words.unsaid_pieces(value) if isinstance(value, str) else []
                if unsaid_pieces:
                    return (
                        f"it connects to other hosts, and the user did not say {unsaid_pieces[0]!r}"
                    )
        return ""

    def _policy_asks(self, draft: CallDraft) -> bool:
        """Return True if a person has to approve a write in autonomous mode too."""
        if _is_always_asked(draft):
            return True
        spec = self._spec(draft)
        if spec is not None:
            return spec.approval == "approver"
        answer = self._equivalent(draft)
        if answer is None or answer.ruling.decision != "allow":
            return True
        return bool(find_unsaid_words(answer.verdict, self.words))

    def _ask(self, draft: CallDraft, reason: str) -> RunCall | AskPerson:
        """Return the question to a person, or the call if a grant of the session covers it."""
        request = self._request(draft, reason)
        grant = self.grants.find(request.grant_key, request.risk_level)
        if grant is None:
            return AskPerson(draft, request)
        return RunCall(replace(draft, consent="asked"), grant=grant.grant_id)

    def _suggest(self, draft: CallDraft) -> RefusedCall:
        """Return the refusal of a write in read_only, with the call as a suggestion."""
        suggestion: dict[str, JsonValue] = {
            "tool": draft.call.tool,
            "args": dict(draft.call.args),
            "risk": self._risk(draft),
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

    def _request(self, draft: CallDraft, reason: str) -> ApprovalRequest:
        spec, risk = self._spec(draft), self._risk(draft)
        digest = self.hash_of(draft)
        ids = tuple(resource.id for resource in draft.resources) or draft.needs.targets
        approver = spec is not None and spec.approval == "approver"
        typed = _words_to_type(draft, spec) if approver and spec is not None else ""
        key = ""
        if not typed and self._may_be_granted(draft, risk):
            version = f"{self._gate.policy.version} {self._tool_version(spec)}"
            key = grant_key(draft.call.tool, draft.call.args, ids, risk, version)
        return ApprovalRequest(
            approval_id=self._ports.new_id(),
            tool=draft.call.tool,
            command=command_line(draft),
            risk_level=risk,
            description=describe_call(draft, reason, spec, self._ports.read_file),
            plan_hash=digest,
            expires_in=round(self._seconds),
            targets=ids,
            typed=typed,
            grant_key=key,
        )

    def _tool_version(self, spec: ToolSpec | None) -> str:
        return self._ports.tool_digest(spec) if spec is not None else ""

    def _may_be_granted(self, draft: CallDraft, risk: ApprovalRisk) -> bool:
        """Return True if the call may be allowed for the whole session."""
        if risk == "high" or _is_always_asked(draft):
            return False
        answer = self._answer(draft)
        if answer is None:
            return True
        away = any(each.dynamic for each in answer.verdict.destinations)
        unknown = answer.ruling.rule == EGRESS or away
        return not unknown and not find_unsaid_words(answer.verdict, self.words)

    def _risk(self, draft: CallDraft) -> ApprovalRisk:
        """Return the risk that a person is shown."""
        spec = self._spec(draft)
        if spec is not None:
            return "high" if spec.approval == "approver" else "medium"
        if _is_always_asked(draft):
            return "high"
        if draft.call.tool == "pulsus_file_edit":
            return "medium"
        answer = self._equivalent(draft)
        if answer is None:
            return "medium"
        return approval_risk(answer.verdict.command, answer.verdict)

    def _spec(self, draft: CallDraft) -> ToolSpec | None:
        return self._ports.catalogue.get(draft.call.tool)


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


def _is_always_asked(draft: CallDraft) -> bool:
    """Return True for a migration, a promotion, or a plan that is applied."""
    if draft.needs.action in _ALWAYS_ASKED or draft.call.tool in _ALWAYS_ASKED:
        return True
    try:
        script = parse_command(draft.needs.command) if draft.needs.command else None
    except Unreadable:
        return True
    for stage in script.stages if script is not None else ():
        inner = unwrap(stage.words)
        if program_name(inner).casefold() in _MIGRATING and any(
            part in _MIGRATIONS for word in inner[1:] for part in word.text.split("/")
        ):
            return True
    return False


def _words_to_type(draft: CallDraft, spec: ToolSpec) -> str:
    """Return the text that an approver types: the values of `Target:`, or the tool's name."""
    values = [draft.call.args[name] for name in spec.target if name in draft.call.args]
    return " ".join(" ".join(str(each).split()) for each in values) or spec.name
