"""One run of a route: the request, the options of the caller, and what every stage needs.

The options are read and checked in `cli/route/route_command.py`. This module remembers how a run
ended, for the history of a tool (`core/memory/past_routes.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.core.memory.past_routes import Outcome, PastRoute
from pulsus.core.telemetry import ids
from pulsus.core.telemetry.logging import Trace
from pulsus.core.types import Example, GivenPlace, JsonValue, RouteOutcome
from pulsus.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pulsus.approvals.approver_protocol import Approver
    from pulsus.core.storage.candidate_store import Status, StoredCandidate
    from pulsus.routing.delivery.catalogue_promoter import CataloguePromoter
    from pulsus.routing.delivery.project_protocol import Project


def _silent(_: str) -> None:
    return None


def _announce_nothing(_outcome: RouteOutcome, _options: RouteOptions) -> None:
    return None


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """Options of a generation (spec §7).

    If `forced`, a module is written even if a tool fits. `rounds` None takes the setting. If
    `anew`, a candidate of an earlier run is not used again. `report_progress` receives lines.
    `example_words` are the examples as the caller typed them.
    """

    forced: bool = False
    examples: tuple[Example, ...] = ()
    domain: str | None = None
    action: str | None = None
    name: str | None = None
    rounds: int | None = None
    scaffold: bool = False
    anew: bool = False
    report_progress: Callable[[str], None] = _silent
    example_words: tuple[str, ...] = ()

    def given_place(self, redact: Callable[[str], str]) -> GivenPlace:
        """Return what the commands that follow repeat of these options.

        Examples with a secret are left out, because a command must neither show nor lack it.
        """
        plain = all(redact(text) == text for text in self.example_words)
        examples = self.example_words if plain else ()
        words = tuple(word for text in examples for word in ("--example", text))
        return GivenPlace(self.domain, self.action, self.name, words)


@dataclass(frozen=True, slots=True)
class RouteOptions:
    """The flags of spec §12. `inputs` are `k=v` texts; `wanted` is for the generator.

    Without `fill` no value is read from the request. `announce` is called with the decision before
    `run` asks for inputs and runs it, so that a person knows what a question is about.
    """

    plan: bool = False
    explain: bool = False
    dry_run: bool = False
    run: bool = False
    inputs: tuple[str, ...] = ()
    fill: bool = True
    wanted: GenerationRequest = GenerationRequest()
    announce: Callable[[RouteOutcome, RouteOptions], None] = _announce_nothing

    def inspects(self, *, non_interactive: bool) -> bool:
        """Return True for a route that changes nothing: `--plan`, or `--explain` alone (ADR 9)."""
        acts = self.dry_run or self.run or non_interactive
        return self.plan or (self.explain and not acts)


@dataclass(frozen=True, slots=True)
class RouteRun:
    """One run of a route. `person` is None if no person can be asked. `text` is the request."""

    project: Project
    person: Approver | None
    trace: Trace
    options: RouteOptions
    text: str
    route_id: str

    @property
    def inspects(self) -> bool:
        """True if the run changes nothing."""
        settings = self.project.settings
        return self.options.inspects(non_interactive=settings.non_interactive)

    def relative(self, path: Path) -> Path:
        """Return `path` as a command or hint names it: relative to the project if inside it."""
        project = self.project.project
        return path.relative_to(project) if path.is_relative_to(project) else path

    def redact(self, text: str) -> str:
        """Return `text` without the secrets that the redactor knows."""
        return self.project.redactor.redact(text)

    def promoter(self, made: Mapping[str, JsonValue] | None = None) -> CataloguePromoter:
        """Return the promotion on behalf of this run; `made` is how a generator made the module."""
        return self.project.promoter(self.trace.run_id, self.route_id, made)

    def write_note(
        self,
        module: Path,
        status: Status,
        reasons: tuple[str, ...],
        sha256: str,
        made: Mapping[str, JsonValue] | None = None,
    ) -> StoredCandidate:
        """Write the note of a candidate that this run made. Raises DiskFull, StorageUnwritable."""
        from pulsus.core.storage import candidate_store  # late: `--plan` writes none

        now, run_id = ids.utc_now(), self.trace.run_id
        candidate = candidate_store.StoredCandidate(
            module, self.text, self.route_id, run_id, status, reasons, now, sha256, made
        )
        candidate_store.write(candidate, self.project.redactor)
        return candidate

    def remember_answer(self, outcome: RouteOutcome) -> None:
        """Keep that the selected tools answered; as accepted only if a person agreed to them.

        A person agrees by an answer to the one question, or by the confirmation of a run that
        writes. A run alone says nothing: a wrong tool ends well too.
        """
        # Late: a route that only inspects runs nothing.
        from pulsus.core.validators.effects.observed_against_declared import DRY_RUN

        tools = outcome.decision.selected
        asked = outcome.clarification is not None and bool(outcome.clarification.answer)
        dry = outcome.inputs.get(DRY_RUN)
        writes = any(tool.kind == "write" for tool in tools) and not (dry and dry.value is True)
        agreed = self.person is not None and (asked or writes)
        self.remember((tool.id for tool in tools), "accepted" if agreed else "ran")

    def remember(self, tools: Iterable[str], outcome: Outcome) -> None:
        """Keep how the run ended for these tool ids: the history feature learns from it."""
        now, run_id = ids.utc_now(), self.trace.run_id
        route = PastRoute(now, run_id, self.route_id, self.text, tuple(tools), outcome)
        self.project.remember(route)
