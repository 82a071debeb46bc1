"""The module a decision is about: a tool's file, or a plan rendered to `_tmp/` (spec §6, §16).

Effect: reads tools, writes candidates.
"""

from __future__ import annotations

from pathlib import Path

from pulsus.approvals.protocol import Approver
from pulsus.core.compose.plans import module_source, pins
from pulsus.core.memory.past_routes import Outcome, PastRoute
from pulsus.core.storage import candidate_store
from pulsus.core.storage.records.target import MAX_NAME_CHARS, Target
from pulsus.core.system import atomic_write, regular_files
from pulsus.core.telemetry import ids
from pulsus.core.types import RouteOutcome, ToolSpec
from pulsus.errors import PulsusError, UsageError, storage_error
from pulsus.routing.delivery.deliver import CandidateModule, DeliveryResult, digest
from pulsus.routing.delivery.pending_candidates import is_edited
from pulsus.routing.delivery.project import Project

MAX_READ_BYTES = 64 * 1024 * 1024
"""Beyond this a file is not read at all; the static gate's own limit is far lower."""


def module_of_decision(
    project: Project, outcome: RouteOutcome, run_id: str, person: Approver | None
) -> CandidateModule:
    """What is to be proven: bytes read once, and the pinned bytes of every step they call."""
    if outcome.decision.plan:
        return _composed(project, outcome, run_id, person)
    tool = outcome.decision.selected[0]
    source = read_module(tool.path)
    return CandidateModule(
        path=tool.path,
        source=source,
        tool=tool if digest(source) == tool.sha256 else project.define(source, tool.path),
        target=Target(tool.domain, tool.action, tool.name),
        steps=pinned_steps(project, source),
    )


def step_module(project: Project, tool: ToolSpec, source: bytes) -> CandidateModule:
    """A pinned step as a module of its own, to be proven and promoted where it lies."""
    target = Target(tool.domain, tool.action, tool.name)
    return CandidateModule(tool.path, source, tool, target, pinned_steps(project, source))


def file_module(project: Project, path: Path, target: Target) -> CandidateModule:
    """The module file at `path`, to be proven and promoted to `target`.

    A candidate of an earlier route brings its note. Raises UsageError where it cannot be read.
    """
    source = read_module(path)
    return CandidateModule(
        path=path,
        source=source,
        tool=project.define(source, path),
        target=target,
        steps=pinned_steps(project, source),
        candidate=candidate_store.read(path) if path.parent == project.tmp_dir else None,
    )


def pinned_steps(project: Project, source: bytes) -> pins.PinnedTools:
    """Tool and pinned bytes of every step a module calls; the catalogue is read only for one."""
    return pins.collect_step_sources(source, lambda ref: project.catalogue.find(ref), read_module)


def read_module(path: Path) -> bytes:
    """A module's bytes. Raises UsageError naming the path."""
    try:
        return regular_files.read(path.resolve(), MAX_READ_BYTES)[0]
    except regular_files.UnreadableFile as failure:
        raise UsageError(
            f"cannot read {path}: {failure.reason}", hint="name a .py file that this user can read"
        ) from failure


def remember_route(
    project: Project, outcome: RouteOutcome, delivery: DeliveryResult, request: str
) -> None:
    """Keep how the route ended: the history feature learns from it.

    A tool that was merely looked up again was not accepted by anybody: it does not count.
    """
    ended: Outcome = "accepted"
    if delivery.discarded:
        ended = "rejected"
    elif delivery.report.verdict == "refused":
        ended = "failed"
    elif not outcome.ran and not (delivery.promotion and delivery.promotion.created):
        return
    route = PastRoute(
        ts=ids.utc_now(),
        run_id=outcome.run_id,
        route_id=outcome.decision.route_id,
        request=request,
        tools=tuple(tool.id for tool in outcome.decision.selected),
        outcome=ended,
    )
    project.remember(route)


def _composed(
    project: Project, outcome: RouteOutcome, run_id: str, person: Approver | None
) -> CandidateModule:
    decision = outcome.decision
    assert decision.plan is not None
    path = project.tmp_dir / module_source.name_module_file(decision.route_id)
    left = candidate_store.read(path) if path.is_file() else None
    made = module_source.render_module(decision.plan, decision.selected).encode("utf-8")
    source = _reused_bytes(left, person)
    if source is None:
        source = made
        write_candidate(path, made)
    rejected = left and not person and left.status == "rejected" and left.sha256 == digest(made)
    candidate = candidate_store.Candidate(
        module=path,
        request=outcome.intent.intent,
        route_id=decision.route_id,
        run_id=run_id,
        status="rejected" if rejected else "pending",
        reasons=left.reasons if left and rejected else (),
        created_at=ids.utc_now(),
        sha256=digest(made),
    )
    try:
        candidate_store.write(candidate, project.redactor)
    except PulsusError:
        if left is None:
            candidate_store.remove(path)  # a candidate without its note could not be offered again
        raise
    return CandidateModule(
        path=path,
        source=source,
        tool=project.define(source, path),
        target=_target(outcome),
        steps=pinned_steps(project, source),
        candidate=candidate,
        rendered=source == made,
    )


def _reused_bytes(left: candidate_store.Candidate | None, person: Approver | None) -> bytes | None:
    """The module an earlier run left, where the work goes on with it; None: make it anew.

    What somebody edited is never overwritten unasked.
    """
    if left is None:
        return None
    changed = is_edited(left)
    if person is None:
        return read_module(left.module) if changed else None
    offered = changed or left.status != "pending"
    return read_module(left.module) if offered and _reuse(person, left) else None


def _reuse(person: Approver, left: candidate_store.Candidate) -> bool:
    return person.reuse(left.module.name, left.status, left.reasons)


def write_candidate(path: Path, source: bytes) -> None:
    """Put a candidate into `_tmp/`. Raises DiskFull or StorageUnwritable."""
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as failure:
        raise storage_error(failure, path.parent) from failure
    atomic_write.write_bytes(path, source)


def _target(outcome: RouteOutcome) -> Target:
    """Where a composition goes: the parsed folder where it is known, else that of its last tool."""
    tools = outcome.decision.selected
    owner = next((t for t in reversed(tools) if t.domain), tools[-1])
    domain = outcome.intent.domain or owner.domain
    action = outcome.intent.action or owner.action
    name = "_then_".join(tool.name for tool in tools)[:MAX_NAME_CHARS].strip("_")
    try:
        return Target(domain, action, name)
    except PulsusError:
        return Target(owner.domain, owner.action, name)
