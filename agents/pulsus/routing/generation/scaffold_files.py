"""Write the skeleton of a tool and its test to `_tmp/`, to complete by hand (spec §7)."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pulsus.core.compose.writing import caller_examples, scaffold
from pulsus.core.telemetry.redaction import MARK
from pulsus.core.types import Example, GenerationReport, RouteOutcome
from pulsus.errors import UsageError
from pulsus.routing.delivery import candidate_module
from pulsus.routing.delivery.deliver import digest
from pulsus.routing.delivery.route_run import RouteRun


def write_scaffold(
    run: RouteRun, outcome: RouteOutcome, path: Path, given: Sequence[Example]
) -> RouteOutcome:
    """Write a module and a test to complete by hand, and return the outcome that names them.

    Validation refuses the module until its body is written. Raises UsageError if a module of this
    request exists already and is not to be written anew.
    """
    if path.is_file() and not run.options.wanted.anew:
        raise UsageError(
            f"{path.name} exists already",
            hint=f"go on with {path}, or give --regenerate to write it anew",
        )
    text = run.redact(run.text)
    source = scaffold.render_skeleton(text, given).encode("utf-8")
    test = path.with_name(f"test_{path.name}")
    candidate_module.write_candidate(path, source)
    candidate_module.write_candidate(
        test, scaffold.render_test(path.stem, path.name, given).encode("utf-8")
    )
    sha256 = digest(source)
    run.trace.event("generate", decision="template", sha256=sha256)
    made = {"generator": "template", "sha256": sha256}
    run.write_note(path, "failed", (scaffold.UNWRITTEN,), sha256, made)
    behaviours = caller_examples.count_behaviours(given)
    generation = GenerationReport("template", accepted=False, behaviours=behaviours, test=test)
    told = f"{scaffold.UNWRITTEN}; until it is, validation refuses it"
    notes = (*outcome.notes, told, f"then: {_promote_command(run, path)}")
    return replace(outcome, module=path, generation=generation, notes=notes, failure=None)


def _promote_command(run: RouteRun, path: Path) -> str:
    """Return the command that promotes the written module; capitals are for the user to replace.

    The folder is not guessed: a guess for a tool that does not exist yet is rarely right.
    """
    wanted, project = run.options.wanted, run.project.project
    file = path.relative_to(project) if path.is_relative_to(project) else path
    name = wanted.name or scaffold.derive_name(run.redact(run.text).replace(MARK, " "))
    to = {"--domain": wanted.domain or "DOMAIN", "--action": wanted.action or "ACTION"}
    options = [word for pair in {**to, "--name": name}.items() for word in pair]
    return shlex.join(["pulsus", "promote", str(file), *options])
