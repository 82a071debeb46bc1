"""`execute_migration`: a plan for a person to approve (tool calling §32.4). It never executes.

The plan is checked first, against the facts of now (`infra/migrations/check_migrations.py`), and a
person approves it at `pulsus serve` (`web/migration_cards.py`). Only a plan whose every step holds
becomes a card and suspends the agent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pulsus.agent.tool_protocol import CallContext, CallNeeds, CallOutcome, Suspension
from pulsus.agent.tools.cluster.schedule_ha_proposal import ReadFacts
from pulsus.agent.tools.local.tool_report import ToolReport
from pulsus.core.text.plurals import counted
from pulsus.core.types import JsonValue
from pulsus.errors import PlanInvalid, PulsusError
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.gates.tool_response import ToolResponse
from pulsus.infra.migrations.check_migrations import check_migrations
from pulsus.infra.migrations.migration_plan import plan_rows
from pulsus.placement.cluster import PlacementAction

EXECUTE_MIGRATION: Final = "execute_migration"
_SHOWN_FAULTS: Final = 5

ProposeMigration = Callable[[tuple[PlacementAction, ...], str], Suspension]
"""Makes the card of a checked plan with its reason. Raises TooManyApprovals."""


@dataclass(frozen=True, slots=True)
class ExecuteMigrationTool:
    """Proposes plans of one project. `propose` is None if no server takes cards here."""

    facts: ReadFacts
    report: ToolReport
    propose: ProposeMigration | None = None

    @property
    def descriptor(self) -> ToolDescriptor:
        """Return the tool's descriptor."""
        return built_in_tools()[EXECUTE_MIGRATION]

    def needs(self, args: Mapping[str, JsonValue]) -> CallNeeds:
        """Return what the call would do: it asks for a decision, and has no effect of its own."""
        return CallNeeds(EXECUTE_MIGRATION, only_proposes=True)

    def run(self, args: Mapping[str, JsonValue], context: CallContext) -> CallOutcome:
        """Check the plan, and make a card of it. A plan that does not hold makes none."""
        try:
            check = check_migrations(args.get("plan"), self.facts())
            if check.unknown:
                return CallOutcome(self._not_found(check.unknown))
            if not check.ok:
                return CallOutcome(self._breaks_rules(check.violations))
            if self.propose is None:
                return CallOutcome(self._needs_server(len(check.actions)))
            reason = self.report.redactor.redact(str(args.get("reason", "")))
            made = self.propose(check.actions, reason)
        except PlanInvalid as error:
            refused = self.report.blocked("INVALID_INPUT", error.message, auto_recoverable=True)
            return CallOutcome(refused)
        except PulsusError as error:
            text = f"{error.code}: {error.message}"
            failed = self.report.failed("EXECUTION_FAILED", text, recovery_hint=error.hint)
            return CallOutcome(failed)
        data: dict[str, JsonValue] = {
            "approval_id": made.approval_id,
            "plan": plan_rows(check.actions),
            "executed": 0,
        }
        return CallOutcome(self.report.success(data), suspended=made)

    def _not_found(self, unknown: tuple[str, ...]) -> ToolResponse:
        return self.report.blocked(
            "NOT_FOUND",
            f"no fresh fact knows {', '.join(unknown)}",
            recovery_hint="ask query_wam for the nodes, or for the host of a VM",
            auto_recoverable=True,
        )

    def _breaks_rules(self, violations: tuple[str, ...]) -> ToolResponse:
        shown: list[JsonValue] = [*violations[:_SHOWN_FAULTS]]
        return self.report.blocked(
            "INVALID_INPUT",
            f"the plan breaks a rule: {violations[0]}",
            violations=shown,
            recovery_hint="ask schedule_ha_proposal for a plan, and propose it unchanged",
            auto_recoverable=True,
        )

    def _needs_server(self, count: int) -> ToolResponse:
        return self.report.blocked(
            "APPROVAL_REQUIRED",
            f"the plan of {counted(count, 'action')} holds, and a person has to approve it at "
            "`pulsus serve`",
            recovery_hint="ask the agent on the page of pulsus serve",
            auto_recoverable=False,
        )
