"""Build the question to a person about a call: its risk, its hash, the text to type.

Here it is decided which calls always need a person (migrations, promotions, `apply`), which name an
approver has to type, and if "for this session" is offered: only if nothing of the call can change
unseen. The risk of a command alone is `gates/approval_risk.py`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Final

from pulsus.agent.control.call_description import ReadFile, command_line, describe_call
from pulsus.agent.control.call_question import CallQuestion, plan_hash
from pulsus.agent.control.kept_gate_answers import KeptGateAnswers
from pulsus.agent.control.sent_words import find_unsaid_words
from pulsus.agent.control.session_grants import grant_key
from pulsus.agent.control.session_words import SessionWords
from pulsus.agent.loop.call_draft import CallDraft
from pulsus.commands.shell.script_parser import parse_command
from pulsus.commands.shell.words import Unreadable
from pulsus.commands.shell.wrappers import program_name, unwrap
from pulsus.core.types import ToolSpec
from pulsus.fast_dataclass import dataclass
from pulsus.gates.approval_risk import ApprovalRisk, approval_risk
from pulsus.gates.command_policy import EGRESS
from pulsus.gates.repeated_commands import may_be_repeated

_MIGRATIONS: Final = frozenset({"migrate", "relocate", "evacuate", "live-migrate"})
_ALWAYS_ASKED: Final = _MIGRATIONS | {"promote", "apply", "execute_migration"}
"""Actions that need a person at every control level."""
_MIGRATING: Final = frozenset({"qm", "pct", "virsh", "ha-manager", "pvesh", "xl", "lxc", "incus"})


@dataclass(frozen=True, slots=True)
class ControlPorts:
    """Everything outside that the rules use.

    `catalogue` are the contracts of catalogue tools by the agent's name of them, and `tool_digest`
    gives the digest of such a tool's file as it is now. `new_id` makes an id for an approval.
    `own_names` are the names of this machine.
    """

    catalogue: Mapping[str, ToolSpec] = field(default_factory=dict)
    tool_digest: Callable[[ToolSpec], str] = field(default=lambda spec: spec.sha256)
    read_file: ReadFile = field(default=lambda path: None)
    new_id: Callable[[], str] = field(default=lambda: f"apr-{secrets.token_hex(8)}")
    own_names: tuple[str, ...] = ()


class CallQuestionBuilder:
    """Makes the requests of one session. `seconds` is the time that a person has to answer."""

    def __init__(
        self, ports: ControlPorts, answers: KeptGateAnswers, words: SessionWords, seconds: float
    ) -> None:
        self._ports, self._answers, self._words, self._seconds = ports, answers, words, seconds

    def hash_of(self, draft: CallDraft) -> str:
        """Return the hash of the call as it is now, with the tool's file as it is now."""
        spec = self.spec(draft)
        ids = [resource.id for resource in draft.resources] or [*draft.needs.targets]
        sha256 = self._ports.tool_digest(spec) if spec is not None else ""
        return plan_hash(
            draft.call.tool, draft.call.args, ids, self._answers.gate.policy.version, sha256
        )

    def make(self, draft: CallDraft, reason: str) -> CallQuestion:
        """Return the request for a call; `reason` says why a person is asked.

        Raises EditNotShown for an edit that a person could not read.
        """
        spec, risk = self.spec(draft), self.risk(draft)
        digest = self.hash_of(draft)
        ids = tuple(resource.id for resource in draft.resources) or draft.needs.targets
        approver = spec is not None and spec.approval == "approver"
        typed = _words_to_type(draft, spec) if approver and spec is not None else ""
        key = ""
        if not typed and self._may_be_granted(draft, risk):
            version = f"{self._answers.gate.policy.version} {self._tool_version(spec)}"
            key = grant_key(draft.call.tool, draft.call.args, ids, risk, version)
        return CallQuestion(
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
        if risk == "high" or is_always_asked(draft):
            return False
        answer = self._answers.answer(draft)
        if answer is None:
            return True
        if not may_be_repeated(draft.needs.command, reads=answer.verdict.allow):
            return False
        away = any(each.dynamic for each in answer.verdict.destinations)
        unknown = answer.ruling.rule == EGRESS or away
        return not unknown and not find_unsaid_words(answer.verdict, self._words)

    def risk(self, draft: CallDraft) -> ApprovalRisk:
        """Return the risk that a person is shown."""
        spec = self.spec(draft)
        if spec is not None:
            return "high" if spec.approval == "approver" else "medium"
        if is_always_asked(draft):
            return "high"
        if draft.call.tool == "pulsus_file_edit":
            return "medium"
        answer = self._answers.equivalent(draft)
        if answer is None:
            return "medium"
        return approval_risk(answer.verdict.command, answer.verdict)

    def spec(self, draft: CallDraft) -> ToolSpec | None:
        """Return the contract of a catalogue tool, or None for a built-in one."""
        return self._ports.catalogue.get(draft.call.tool)


def is_always_asked(draft: CallDraft) -> bool:
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
