"""Everything that the views of a saved plan show. Pure.

The next command is chosen here; the text is written by `cli/render/plan_views/saved_plan_text.py`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import field

from pulsus.cli.console import in_given_places
from pulsus.core.compose.saved_plans.plan_graph import PlanGraph
from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.fast_dataclass import dataclass
from pulsus.routing.inputs.missing_words import other_notes, proposed_options, read_proposals


@dataclass(frozen=True, slots=True)
class PlanPage:
    """A saved plan as it stands in the project.

    `file` is its name as given, or empty if it is in no file yet. `hash` is its hash. `moved` has a
    sentence for each part that is no longer as reviewed, and `catalogue_note` says if the catalogue
    has another digest. `writers` are the alternatives that may write. `types` has the type of each
    parameter that is known.
    """

    saved: SavedPlan
    file: str
    hash: str
    graph: PlanGraph
    moved: tuple[str, ...] = ()
    catalogue_note: str = ""
    writers: frozenset[str] = frozenset()
    types: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the parameters of the plan that have no value yet."""
        return self.saved.missing

    @property
    def notes(self) -> list[str]:
        """Return the notes of the plan that its inputs, which a view shows, do not say."""
        return other_notes(self.saved.notes, self.missing)

    @property
    def next_command(self) -> str:
        """Return the command that comes next.

        A plan that moved is made again. A plan with tools that are not promoted cannot be applied.
        """
        if not self.file:
            return "add -o plan.yaml, to keep the plan for review and to apply it"
        file = shlex.quote(self.file)
        if self.moved:
            return in_given_places(f"pulsus plan --file {file} -o new.yaml")
        if any(step.version is None for step in self.saved.plan.steps):
            return in_given_places("pulsus tools check")
        options = proposed_options(
            {name: self.types.get(name) for name in self.missing},
            read_proposals(self.saved.notes),
        )
        return in_given_places(f"pulsus apply {file} {options}".rstrip())
