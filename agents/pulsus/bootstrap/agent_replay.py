"""Replay a recorded agent run of a project, by the rules of now. Effect: reads its trace.

The verdicts are made again in `agent/trace_replay.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.agent.loop.check_calls import CallRules
from pulsus.agent.trace_replay import (
    VERDICT,
    NoControl,
    ReplayedVerdict,
    replay_key,
    replay_trace,
)
from pulsus.bootstrap.build_agent_session import make_agent_tools
from pulsus.errors import StateCorrupt

if TYPE_CHECKING:
    from pulsus.bootstrap.app import App


def replay_agent_run(app: App, run_id: str) -> tuple[ReplayedVerdict, ...] | None:
    """Return the verdicts of a recorded run beside those of now; None if no agent made that run.

    An agent's run that ended before its first call has no verdicts.

    Raises ExtraMissing, and StateCorrupt for a trace that cannot be read.
    """
    if Path(run_id).name != run_id:
        return None
    path = app.log_dir / "runs" / run_id / "steps.log"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    try:
        events = [json.loads(line) for line in lines]
        if not any(each.get("phase") == VERDICT for each in events):
            # The first event of an agent's run: it may end before its first call.
            asked = any(each.get("phase") == "request" and "mentioned" in each for each in events)
            return () if asked else None
        config, tools = app.settings.agent, make_agent_tools(app)
        rules = CallRules(
            tools.by_name,
            tools.table,
            NoControl(),
            config.strict_resolution,
            config.compaction_keep_turns,
            config.compaction_min_chars,
        )
        key = replay_key(app.state_dir)
        return replay_trace(events, rules, app.commands.answer, key)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StateCorrupt(
            f"{path} is no trace of an agent's run: {error}",
            hint="replay another run",
        ) from None
