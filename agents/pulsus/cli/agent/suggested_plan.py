"""The changes that a read-only run suggests, as a plan for `pulsus apply`. Effect: a file.

Tools that are built into the agent are left out. A file that is no plan is not overwritten
(`core/compose/saved_plans/saved_plan_file.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.agent.tools.catalogue.catalogue_tool import CatalogueTool
from pulsus.core.compose.saved_plans.saved_plan_file import write_saved_plan
from pulsus.core.types import Constant, JsonValue, Plan, PlanStep
from pulsus.errors import NothingFits
from pulsus.routing.plans.save_plan import save_plan

if TYPE_CHECKING:
    from pulsus.agent.tool_protocol import AgentTool
    from pulsus.bootstrap import App


def save_suggestions(
    app: App,
    tools: Mapping[str, AgentTool],
    request: str,
    suggested: Sequence[Mapping[str, JsonValue]],
    target: Path,
) -> tuple[int, list[str]]:
    """Write the suggested calls of catalogue tools to `target`, pinned to the tools as they are.

    Returns how many steps it has, and the tools of the suggestions that a plan cannot hold: those
    built into the agent. Raises NothingFits if none is left, and what pinning a plan raises.
    """
    steps: list[PlanStep] = []
    left_out: list[str] = []
    for each in suggested:
        tool = tools.get(str(each["tool"]))
        if not isinstance(tool, CatalogueTool):
            left_out.append(str(each["tool"]))
            continue
        args = each["args"] if isinstance(each["args"], dict) else {}
        inputs = {name: Constant(value) for name, value in args.items()}
        before = (steps[-1].id,) if steps else ()
        steps.append(PlanStep(f"s{len(steps) + 1}", tool.tool.id, inputs, {}, needs=before))
    if not steps:
        named = f": {', '.join(left_out)} is built into the agent" if left_out else ""
        raise NothingFits(
            f"no plan is written to {target}: no tool of the catalogue was suggested{named}",
            hint="a plan holds tools of the catalogue; to make such a change with the agent, use "
            "--control-level controlled",
        )
    saved = save_plan(app, Plan(request[:300], tuple(steps)), {}, (), request=request)
    write_saved_plan(saved, target)
    return len(steps), left_out
