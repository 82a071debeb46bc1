"""The module a decision is about: a tool's file, or a plan rendered to `_tmp/` (spec §6, §16).

Size limit: of a module at most 64 MiB are read. The source file of a candidate is written here, and
its note (`NAME.json`) by `core/storage/candidate_store.py`; `core/storage/retention.py` deletes old
ones. The folder of a new composition is chosen here, and how a route ended is given to the history
(`core/memory/past_routes.py`).

Effect: reads tools, writes candidates.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulsus.approvals.approver_protocol import Approver
from pulsus.core.compose.plans import module_source, pins
from pulsus.core.memory.past_routes import Outcome
from pulsus.core.storage import candidate_store
from pulsus.core.storage.records.promotion_target import MAX_NAME_CHARS, Target
from pulsus.core.system import atomic_write, regular_files
from pulsus.core.types import RouteOutcome, ToolSpec
from pulsus.errors import PulsusError, UsageError, storage_errors
from pulsus.routing.delivery.deliver import (
    CandidateModule,
    DeliveryPipeline,
    DeliveryResult,
    ModuleValidator,
    digest,
)
from pulsus.routing.delivery.pending_candidates import is_edited
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.delivery.route_run import RouteRun

if TYPE_CHECKING:
    from pulsus.routing.delivery.catalogue_promoter import CataloguePromoter

MAX_READ_BYTES = 64 * 1024 * 1024
"""Beyond this a file is not read at all; the static gate's own limit is far lower."""


def module_of_decision(run: RouteRun, outcome: RouteOutcome) -> CandidateModule:
    """Return the module to be proven: bytes read once, and the pinned bytes of each step."""
    project = run.project
    if outcome.decision.plan:
        return _write_composition(run, outcome)
    tool = outcome.decision.selected[0]
    source = read_module(tool.path)
    return CandidateModule(
        path=tool.path,
        source=source,
        tool=tool if digest(source) == tool.sha256 else project.define(source, tool.path),
        target=Target(tool.domain, tool.action, tool.name),
        steps=pinned_steps(project, source),
    )


def module_of_bytes(
    project: Project, path: Path, source: bytes, target: Target, **more: Any
) -> CandidateModule:
    """Return these bytes at `path` as a module to be proven and promoted to `target`."""
    tool = project.define(source, path)
    return CandidateModule(path, source, tool, target, pinned_steps(project, source), **more)


def step_module(project: Project, tool: ToolSpec, source: bytes) -> CandidateModule:
    """Return a pinned step as a module of its own, to be proven and promoted where it lies."""
    target = Target(tool.domain, tool.action, tool.name)
    return CandidateModule(tool.path, source, tool, target, pinned_steps(project, source))


def file_module(project: Project, path: Path, target: Target) -> CandidateModule:
    """Return the module file at `path`, to be proven and promoted to `target`.

    A candidate of an earlier route brings its note. Raises UsageError if it cannot be read.
    """
    source = read_module(path)
    candidate = candidate_store.read_candidate(path) if path.parent == project.tmp_dir else None
    return module_of_bytes(project, path, source, target, candidate=candidate)


def pinned_steps(project: Project, source: bytes) -> pins.PinnedTools:
    """Return tool and pinned bytes of every step a module calls.

    The catalogue is read only for a module with steps. A module that the gate refuses for its size
    has none: Python would parse 50 MB for a minute.
    """
    if len(source) > project.settings.validation.max_module_bytes:
        return {}
    return pins.collect_step_sources(source, lambda ref: project.catalogue.find(ref), read_module)


def read_module(path: Path) -> bytes:
    """Return a module's bytes. Raises UsageError naming the path."""
    try:
        return regular_files.read_file(path.resolve(), MAX_READ_BYTES)[0]
    except regular_files.UnreadableFile as failure:
        raise UsageError(
            f"cannot read {path}: {failure.cause}", hint="name a .py file that this user can read"
        ) from failure


def delivery_pipeline(
    project: Project, prover: ModuleValidator, promoter: CataloguePromoter, person: Approver | None
) -> DeliveryPipeline:
    """Return the delivery of this project's modules; `person` is None if no person can be asked."""
    return DeliveryPipeline(
        prover=prover,
        promoter=promoter,
        read=project.define,
        person=person,
        redactor=project.redactor,
        root=project.project,
        find=lambda tool_id: project.catalogue.get(tool_id),
    )


def remember_route(run: RouteRun, outcome: RouteOutcome, delivery: DeliveryResult) -> None:
    """Keep how the route ended: the history feature learns from it.

    A promotion counts as accepted, because a person approved it, or the rules for unattended
    promotion did. A tool that was only looked up again does not count.
    """
    ended: Outcome = "accepted"
    if delivery.discarded:
        ended = "rejected"
    elif delivery.report.verdict == "refused":
        ended = "failed"
    elif not (delivery.promotion and delivery.promotion.created):
        if outcome.ran and not outcome.failure:
            run.remember_answer(outcome)
        return
    run.remember((tool.id for tool in outcome.decision.selected), ended)


def _write_composition(run: RouteRun, outcome: RouteOutcome) -> CandidateModule:
    project, decision = run.project, outcome.decision
    assert decision.plan is not None
    path = project.tmp_dir / module_source.name_module_file(decision.route_id)
    stored = candidate_store.read_candidate(path) if path.is_file() else None
    made = module_source.render_module(decision.plan, decision.selected).encode("utf-8")
    source = _reused_bytes(stored, run.person)
    if source is None:
        source = made
        write_candidate(path, made)
    known = stored if stored and not run.person and stored.sha256 == digest(made) else None
    rejected = known is not None and known.status == "rejected"
    try:
        candidate = run.write_note(
            path,
            status="rejected" if rejected else "pending",
            reasons=known.reasons if known and rejected else (),
            sha256=digest(made),
        )
    except PulsusError:
        if stored is None:
            candidate_store.remove(path)  # a candidate without its note could not be offered again
        raise
    rendered = source == made
    return module_of_bytes(
        project, path, source, _composition_target(outcome), candidate=candidate, rendered=rendered
    )


def _reused_bytes(
    left: candidate_store.StoredCandidate | None, person: Approver | None
) -> bytes | None:
    """Return the candidate of an earlier run, if it is used again; None to render it anew.

    An edited candidate is never overwritten without a question.
    """
    if left is None:
        return None
    changed = is_edited(left)
    if person is None:
        return read_module(left.module) if changed else None
    offered = changed or left.status != "pending"
    reused = offered and person.reuse(left.module.name, left.status, left.reasons)
    return read_module(left.module) if reused else None


def write_candidate(path: Path, source: bytes) -> None:
    """Put a candidate into `_tmp/`. Raises DiskFull or StorageUnwritable."""
    with storage_errors(path.parent):
        path.parent.mkdir(exist_ok=True)
    atomic_write.write_bytes(path, source)


def _composition_target(outcome: RouteOutcome) -> Target:
    """Return the target of a composition: the parsed folder, or else that of its last tool."""
    tools = outcome.decision.selected
    owner = next((t for t in reversed(tools) if t.domain), tools[-1])
    domain = outcome.intent.domain or owner.domain
    action = outcome.intent.action or owner.action
    name = "_then_".join(tool.name for tool in tools)[:MAX_NAME_CHARS].strip("_")
    try:
        return Target(domain, action, name)
    except PulsusError:
        return Target(owner.domain, owner.action, name)
