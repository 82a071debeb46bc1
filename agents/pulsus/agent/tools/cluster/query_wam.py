"""`query_wam`: one goal to the knowledge base (tool calling chapter §32.1.2). It only reads.

Unknown names get the nearest known ones. The limits of a query are in `kb/query_limits.py`.

The goal is parsed into typed values; no text of a model is put into another goal. A name that no
fact knows is NOT_FOUND and never `unknown` (ADR 50).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Final

from pulsus.agent.tool_protocol import CallContext, CallNeeds, CallOutcome
from pulsus.agent.tools.local.tool_report import ToolReport
from pulsus.core.types import JsonValue
from pulsus.errors import GoalInvalid, GoalRefused, PulsusError
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.kb.goal_engine import GoalAnswers

QUERY_WAM: Final = "query_wam"
_MOST_NEAR: Final = 3


@dataclass(frozen=True, slots=True)
class KnowledgeAnswer:
    """The answers to a goal, and the names of all nodes that fresh facts know."""

    found: GoalAnswers
    nodes: tuple[str, ...]


AskGoal = Callable[[str], KnowledgeAnswer]
"""Answers a goal now. Raises GoalInvalid, GoalRefused, KnowledgeTimeout, FactsInvalid."""


@dataclass(frozen=True, slots=True)
class QueryWamTool:
    """Asks the knowledge base of one project."""

    ask: AskGoal
    report: ToolReport

    @property
    def descriptor(self) -> ToolDescriptor:
        """Return the tool's descriptor."""
        return built_in_tools()[QUERY_WAM]

    def needs(self, args: Mapping[str, JsonValue]) -> CallNeeds:
        """Return what the call would do: it acts on no resource."""
        return CallNeeds("query")

    def run(self, args: Mapping[str, JsonValue], context: CallContext) -> CallOutcome:
        """Return the answers, each with the values of the variables."""
        try:
            answer = self.ask(str(args["goal"]))
        except (GoalInvalid, GoalRefused) as error:
            refused = self.report.blocked(
                "INVALID_INPUT", error.message, recovery_hint=error.hint, auto_recoverable=True
            )
            return CallOutcome(refused)
        except PulsusError as error:
            failed = self.report.failed("EXECUTION_FAILED", error.message, recovery_hint=error.hint)
            return CallOutcome(failed)
        found = answer.found
        if found.unknown:
            return CallOutcome(
                self.report.failed(
                    "NOT_FOUND",
                    f"no fresh fact knows {', '.join(found.unknown)}",
                    recovery_hint="ask known_node(Node) for the nodes",
                    suggestions=_near(found.unknown, answer.nodes),
                )
            )
        rows: list[JsonValue] = [
            {name: [*value] if isinstance(value, tuple) else value for name, value in each.items()}
            for each in found.answers
        ]
        data: JsonValue = {"goal": found.goal, "answers": rows, "truncated": found.truncated}
        return CallOutcome(self.report.success(data))


def _near(unknown: tuple[str, ...], nodes: tuple[str, ...]) -> list[JsonValue]:
    near = (difflib.get_close_matches(name, nodes, _MOST_NEAR) for name in unknown)
    return list(dict.fromkeys(name for names in near for name in names))
