"""The effect of feedback: predict how a request is decided after it (ADR 16).

`routing/record_feedback.py` makes the row that keeps the feedback.
`core/memory/feedback_weights.py` decides how much it weighs.

Feedback does not decide alone: an anti-intent, a filter or τ may outweigh it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.core.types import Policy
from pulsus.fast_dataclass import dataclass
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.search import why_not
from pulsus.routing.search.search_result import SearchResult
from pulsus.routing.search.searcher import Searcher
from pulsus.routing.search.why_not import WhyNot


@dataclass(frozen=True, slots=True)
class FeedbackEffect:
    """The decision to come. `p` is that of the weakest tool selected, or of the best that was not.

    `missed` says why each tool that is right is not selected; `still_selected` are selected though
    nothing fits.
    """

    policy: Policy
    selected: tuple[str, ...]
    p: float | None
    tau: float
    reason: str
    missed: tuple[WhyNot, ...]
    still_selected: tuple[str, ...]

    @property
    def as_told(self) -> bool:
        """True if the next route follows the feedback."""
        return not (self.missed or self.still_selected)


def feedback_effect(project: Project, request: str, right: Sequence[str]) -> FeedbackEffect:
    """Return the decision that `request` leads to now; `right` are the ids it should lead to.

    `right` is empty if nothing fits. Open `project` after the feedback was saved. Raises
    ToolNotFound.
    """
    reading = project.parser().read(request)
    searcher = project.searcher()
    found = searcher.search(reading.intent, hinted=reading.hinted, include=right)
    choice = found.choice
    selected = tuple(ranked.tool.id for ranked in choice.chosen)
    weighed = choice.chosen or found.candidates[:1]
    return FeedbackEffect(
        policy=choice.policy,
        selected=selected,
        p=min((ranked.p for ranked in weighed), default=None),
        tau=project.settings.ranker.threshold,
        reason=choice.reason,
        missed=tuple(
            _why_missed(project, searcher, found, t, request) for t in right if t not in selected
        ),
        still_selected=() if right else selected,
    )


def _why_missed(
    project: Project, searcher: Searcher, found: SearchResult, tool_id: str, request: str
) -> WhyNot:
    (tool,) = project.catalogue.find(tool_id)
    access = searcher.ranking.access
    refusal = access.refusal(tool) if access else None
    if refusal:
        return why_not.because_filtered(tool, refusal)
    return why_not.why_not(
        tool,
        found,
        project.catalogue,
        searcher.ranking.index.calibration,
        tau=project.settings.ranker.threshold,
        subintents=found.subintents,
        request=request,
    )
