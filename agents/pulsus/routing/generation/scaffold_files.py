"""A tool to be written by hand: module and test skeleton in `_tmp/` (spec §7). Effect: files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pulsus.core.compose.writing import caller_examples, scaffold
from pulsus.core.storage import candidate_store
from pulsus.core.telemetry import ids
from pulsus.core.telemetry.logging import Trace
from pulsus.core.types import Example, GenerationReport, RouteOutcome
from pulsus.errors import UsageError
from pulsus.routing.delivery import candidate_module
from pulsus.routing.delivery.deliver import digest
from pulsus.routing.delivery.project import Project


def write_scaffold(
    project: Project,
    trace: Trace,
    outcome: RouteOutcome,
    text: str,
    path: Path,
    given: Sequence[Example],
    *,
    anew: bool,
) -> RouteOutcome:
    """The outcome with a module and a test to be written by hand.

    Validation refuses the module until its body is written. Raises UsageError where a module of
    this request is there already, unless `anew`.
    """
    if path.is_file() and not anew:
        raise UsageError(
            f"{path.name} is there already",
            hint=f"go on with {path}, or --regenerate to write it anew",
        )
    source = scaffold.render_skeleton(text, given).encode("utf-8")
    test = path.with_name(f"test_{path.name}")
    candidate_module.write_candidate(path, source)
    candidate_module.write_candidate(
        test, scaffold.render_test(path.stem, path.name, given).encode("utf-8")
    )
    trace.event("generate", decision="template", sha256=digest(source))
    candidate = candidate_store.Candidate(
        module=path,
        request=text,
        route_id=outcome.decision.route_id,
        run_id=outcome.run_id,
        status="failed",
        reasons=(scaffold.UNWRITTEN,),
        created_at=ids.utc_now(),
        sha256=digest(source),
        made={"generator": "template", "sha256": digest(source)},
    )
    candidate_store.write(candidate, project.redactor)
    behaviours = caller_examples.count_behaviours(given)
    generation = GenerationReport("template", accepted=False, behaviours=behaviours, test=test)
    told = f"{scaffold.UNWRITTEN}; until it is, validation refuses it. Then `pulsus promote` it"
    notes = (*outcome.notes, told)
    return replace(outcome, module=path, generation=generation, notes=notes, failure=None)
