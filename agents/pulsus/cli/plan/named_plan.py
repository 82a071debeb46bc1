"""The saved plan that a user names, and an answer for one who names a tool. Effect: reads it.

The file is read and checked by `core/compose/saved_plans/saved_plan_file.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.errors import PulsusError, UsageError

if TYPE_CHECKING:
    from pulsus.cli.command_session import CommandSession
    from pulsus.core.compose.saved_plans.saved_plan import SavedPlan


def load_named_plan(session: CommandSession, plan: Path, *, for_tool: str) -> SavedPlan:
    """Return the plan in the file. `for_tool` is the command that does the same with a tool.

    Raises what `load_saved_plan` does. The error names `for_tool` if there is no such file, and the
    word is a tool.
    """
    from pulsus.core.compose.saved_plans.saved_plan_file import load_saved_plan

    try:
        return load_saved_plan(plan)
    except UsageError as missing:
        try:
            tool = session.app.tool(str(plan)).id
        except PulsusError:
            raise missing from None
        hint = f"for the tool of this name: pulsus {for_tool} {tool}"
        raise UsageError(missing.message, hint=hint, **missing.details) from missing
