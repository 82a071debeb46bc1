"""The state of all gates of one session: FSM and resolved context, in a coherent reset (§5).

The command `/reset` of a chat (`cli/agent/slash_commands.py`) resets them. They are a part of
`agent/loop/session_state.py`.

The states are in `gates/workflow/workflow_state.py`.
"""

from __future__ import annotations

from dataclasses import field

from pulsus.fast_dataclass import dataclass
from pulsus.gates.resources.resolved_context import ResolvedContext
from pulsus.gates.workflow.pending_recovery import PendingRecoveries
from pulsus.gates.workflow.workflow_state import WorkflowState


@dataclass(frozen=True, slots=True)
class SessionGates:
    """The workflow, the resources and the open recoveries of one session.

    Workflow and resources are never reset apart: a READING session without resources could write to
    what it never saw.
    """

    workflow: WorkflowState = field(default_factory=WorkflowState)
    resources: ResolvedContext = field(default_factory=ResolvedContext)
    recoveries: PendingRecoveries = field(default_factory=PendingRecoveries)

    def reset(self, now: float, *, keep_pinned: bool) -> SessionGates:
        """Return the gates at the start of a new episode.

        With `keep_pinned` the pinned resources stay, and the workflow starts in READING if there
        are any. Else it starts in RESOLVING.
        """
        resources = self.resources.clear(keep_pinned=keep_pinned)
        return SessionGates(self.workflow.reset(keep_found=resources.has_resources(now)), resources)
