"""Compare a saved plan with the project as it is now: `apply` refuses what moved (contracts).

`runs resume` refuses it too, and so only the exact plan that was approved is run. A saved plan is
stale if a tool's hash, a trusted setting or an input file changed: the error is `PLAN_MOVED`.

Effect: reads the catalogue, the records and the files that inputs name.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from pulsus.core.compose.saved_plans.saved_plan import SavedPlan, review_step
from pulsus.core.telemetry.redaction import is_secret_name
from pulsus.core.types import Catalogue
from pulsus.errors import PlanMoved, PulsusError
from pulsus.routing.delivery.candidate_module import read_module
from pulsus.routing.delivery.deliver import digest
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.plans.save_plan import hash_file, promoted_version
from pulsus.routing.plans.trusted_settings import trusted_settings


def require_unmoved(project: Project, saved: SavedPlan, pairs: Sequence[str]) -> None:
    """Raise PlanMoved, naming each part, if the plan is not what would run now.

    Parts are the bytes, contract and recorded kind of each step's tool, the trusted settings, and
    the inputs. `pairs` are `--input` texts, which may add values but change none.
    """
    changed = _list_changed_inputs(saved, pairs)
    moved = (
        *find_moved_parts(project, saved),
        *(f"--input {name} would change a value that was reviewed" for name in changed),
    )
    if moved:
        given = "".join(f" --input {shlex.quote(pair)}" for pair in changed.values())
        error = PlanMoved(
            "the plan is not applied, because it is no longer what was reviewed: "
            + "; ".join(moved),
            moved=list(moved),
        )
        error.offer_new_plan(given)
        raise error


def find_moved_parts(project: Project, saved: SavedPlan) -> tuple[str, ...]:
    """Return one sentence for each part that moved since the plan was made."""
    found = [*_find_moved_tools(project, saved)]
    now = trusted_settings(project)
    for key in sorted({*now, *saved.settings}):
        if now.get(key) != saved.settings.get(key):
            was, is_now = (values.get(key, "its default") for values in (saved.settings, now))
            found.append(f"the setting {key} is {is_now} now, and was {was}")
    for name, given in saved.inputs.items():
        if given.file is not None:
            found += _check_file(name, given.file, given.sha256)
    return tuple(found)


def catalogue_note(catalogue: Catalogue, saved: SavedPlan) -> str:
    """Return a note if the catalogue has another digest, else an empty text.

    Other tools may have changed: that is no reason to refuse the plan.
    """
    if catalogue.digest == saved.catalogue:
        return ""
    return "the catalogue changed since the plan was made; the tools of its steps did not"


def _find_moved_tools(project: Project, saved: SavedPlan) -> Iterator[str]:
    for step, review in zip(saved.plan.steps, saved.review, strict=True):
        tool = project.catalogue.get(step.tool)
        if tool is None:
            yield f"{step.id}: {step.tool} no longer exists"
            continue
        actual = digest(read_module(tool.path))
        if actual != step.sha256 or tool.sha256 != step.sha256:
            pinned = (step.sha256 or "no hash")[:12]
            yield f"{step.id}: {step.tool} is {actual[:12]}… now, the plan is pinned to {pinned}…"
            continue
        version, recorded = promoted_version(project, tool)
        if version != step.version:
            yield f"{step.id}: {step.tool} is version {version} now, and was {step.version}"
        elif review_step(step.id, recorded) != review:
            yield f"{step.id}: what {step.tool} may do is not what the plan says"


def _check_file(name: str, file: str, sha256: str | None) -> Iterator[str]:
    try:
        if hash_file(Path(file)) != sha256:
            yield f"the file {file} of the input {name!r} changed"
    except PulsusError as failure:
        yield failure.message


def _list_changed_inputs(saved: SavedPlan, pairs: Sequence[str]) -> dict[str, str]:
    """Return the `--input` texts for inputs that have a value, by name; secrets are left open."""
    found: dict[str, str] = {}
    for pair in pairs:
        name = pair.partition("=")[0].rstrip(":")
        if name in saved.inputs:
            found[name] = f"{name}=…" if is_secret_name(name) else pair
    return found
