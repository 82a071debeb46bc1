"""Decide which modules the guardrails apply to (spec §7, §8).

Effect: reads notes of candidates and the decision log. A note or a log entry identifies a module of
a model in `_tmp/`. The guardrails also apply to a module without either.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.core.storage import candidate_store
from pulsus.core.storage.decision_log import log_reader
from pulsus.core.types import BrokenTool, ToolSpec
from pulsus.core.validators.module_verdict import ModuleInput
from pulsus.routing.delivery.project_protocol import Project

if TYPE_CHECKING:
    from pulsus.core.validators.pipeline import Network, Pipeline, Proven
    from pulsus.core.validators.steps.parallel_dry_runs import ReportProgress


def guardrails_apply(
    project: Project, path: Path, source: bytes, tool: ToolSpec | BrokenTool
) -> bool:
    """Return True if a model wrote the module at `path`, or if its origin is unknown."""
    if project.tmp_dir.resolve() not in path.resolve().parents:
        return False
    known = candidate_store.read_candidate(path)
    generator = (known.made or {}).get("generator") if known else None
    if generator in ("template", "adopt") or (isinstance(tool, ToolSpec) and tool.composed):
        return _written_by_a_model(project.state_dir / "audit", path, source)
    return True


def _written_by_a_model(log: Path, path: Path, source: bytes) -> bool:
    """Return True if the decision log names a model's answer of that file name or those bytes."""
    sha256 = hashlib.sha256(source).hexdigest()
    for record in log_reader.search_records(log, b'"generate"'):
        if record.kind == "generate":
            route = record.data.get("route_id")
            if record.data.get("sha256") == sha256:
                return True
            if isinstance(route, str) and route.replace("-", "_") == path.stem:
                return True
    return False


@dataclass(frozen=True, slots=True)
class GuardedBatchValidator:
    """Validates many modules, those that are held to the guardrails by `strict`."""

    project: Project
    plain: Pipeline
    strict: Callable[[], Pipeline]

    @property
    def network(self) -> Network | None:
        """Return which hosts a dry run may reach: the same for both."""
        return self.plain.network

    def validate_all(
        self,
        modules: Sequence[ModuleInput],
        *,
        jobs: int = 1,
        report_progress: ReportProgress | None = None,
    ) -> list[Proven]:
        """As `Pipeline.validate_all`."""
        tmp = self.project.tmp_dir.resolve()
        strict = {
            n
            for n, m in enumerate(modules)
            if tmp in m.path.parents and guardrails_apply(self.project, m.path, m.source, m.tool)
        }
        if not strict:
            return self.plain.validate_all(modules, jobs=jobs, report_progress=report_progress)
        found: dict[int, Proven] = {}
        for pipeline, of in (
            (self.strict(), sorted(strict)),
            (self.plain, [n for n in range(len(modules)) if n not in strict]),
        ):
            proven = pipeline.validate_all(
                [modules[n] for n in of], jobs=jobs, report_progress=report_progress
            )
            found |= dict(zip(of, proven, strict=True))
        return [found[n] for n in range(len(modules))]
