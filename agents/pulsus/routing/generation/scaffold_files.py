"""Write the scaffold of a tool and its test to `_tmp/`, to complete by hand (spec §7).

It overwrites no file: a name that exists already is refused. The text comes from
`core/compose/writing/scaffold.py`.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pulsus.core.compose.writing import caller_examples, scaffold
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.telemetry.redaction import MARK
from pulsus.core.types import Example, GenerationReport, RouteOutcome
from pulsus.errors import UsageError
from pulsus.routing.delivery import candidate_module
from pulsus.routing.delivery.deliver import digest
from pulsus.routing.delivery.route_run import RouteRun


def write_scaffold(run: RouteRun, outcome: RouteOutcome, given: Sequence[Example]) -> RouteOutcome:
    """Write a module and a test to complete by hand, and return the outcome that names them.

    The files are named after the tool. Validation refuses the module until its body is written.
    Raises UsageError if the files exist already: those of this request are only written anew if
    that is asked for, those of another request never. Raises TargetRefused for an invalid name.
    """
    path = run.project.tmp_dir / f"{_tool_name(run)}.py"
    _require_free(run, outcome, path)
    text = run.redact(run.text)
    source = scaffold.render_skeleton(text, given).encode("utf-8")
    test = _test_of(path)
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
    notes = (*outcome.notes, told, *_folder_notes(run), f"then: {_promote_command(run, path)}")
    return replace(outcome, module=path, generation=generation, notes=notes, failure=None)


def _tool_name(run: RouteRun) -> str:
    """Return the name that the caller gave, or one made from the request. Raises TargetRefused."""
    wanted = run.options.wanted
    name = wanted.name or scaffold.derive_name(run.redact(run.text).replace(MARK, " "))
    return Target(wanted.domain, wanted.action or "generated", name).name


def _require_free(run: RouteRun, outcome: RouteOutcome, path: Path) -> None:
    """Raise UsageError if these files may not be written."""
    test = _test_of(path)
    if not path.is_file() and not test.is_file():
        return
    there = path if path.is_file() else test
    if path not in [pending.module for pending in outcome.pending]:
        raise UsageError(
            f"{there.name} exists already, and is not of this request",
            hint="give the new tool another name: --name NAME",
        )
    if not run.options.wanted.anew:
        raise UsageError(
            f"{there.name} exists already",
            hint=f"go on with {run.relative(there)}, or give --regenerate to write it anew",
        )


def _test_of(path: Path) -> Path:
    return path.with_name(f"test_{path.name}")


def _folder_notes(run: RouteRun) -> tuple[str, ...]:
    """Say that the domain or the action above is a guess, unless the caller gave both."""
    wanted = run.options.wanted
    match bool(wanted.domain), bool(wanted.action):
        case True, True:
            return ()
        case True, False:
            what = "action above is a guess"
        case False, True:
            what = "domain above is a guess"
        case _:
            what = "domain and action above are a guess"
    return (f"the {what}: choose your own in the next command",)


def _promote_command(run: RouteRun, path: Path) -> str:
    """Return the command that promotes the written module; capitals are for the user to replace.

    The folder is not guessed: a guess for a tool that does not exist yet is rarely right.
    """
    wanted = run.options.wanted
    to = {"--domain": wanted.domain or "DOMAIN", "--action": wanted.action or "ACTION"}
    options = [word for pair in {**to, "--name": _tool_name(run)}.items() for word in pair]
    return shlex.join(["pulsus", "promote", str(run.relative(path)), *options])
