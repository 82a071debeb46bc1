"""Turn a script into a candidate in `_tmp/` (`pulsus tools adopt`). Effect: writes files.

Refused here: a file that is a tool already, no UTF-8 text or no script, and a name that exists
already without `--replace`. A script of more than 100,000 bytes for a shell is refused in
`adoption/shell/shell_script.py`, and at most 64 MiB are read
(`routing/delivery/candidate_module.py`). `adoption/script_effects/shell_effects.py` and
`adoption/script_effects/python_summary.py` decide if a script only reads. The module with its
docstring (contract) is written in `adoption/tool_module.py`; arguments (options) are read in
`adoption/argparse_and_click.py` and `adoption/shell/shell_script.py`. A syntax error of a shell
script is found in `adoption/shell/shell_syntax.py`.

The script is read, never run. What it does is proven like any other module: in the sandbox.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pulsus.adoption import (
    python_script,
    sibling_test,
    tool_module,
)
from pulsus.adoption.parsed_script import NotAdoptable, ParsedScript, ToolParameter, UnusableTest
from pulsus.adoption.shell import shell_script, shell_syntax
from pulsus.adoption.sibling_test import BroughtTests
from pulsus.core.compose.writing import scaffold
from pulsus.core.storage import candidate_store
from pulsus.core.storage.records.promotion_target import MAX_NAME_CHARS, Target
from pulsus.core.telemetry import ids
from pulsus.core.types import BrokenTool, ToolSpec, ValidationReport
from pulsus.errors import UsageError
from pulsus.routing.delivery import candidate_module
from pulsus.routing.delivery.deliver import digest
from pulsus.routing.delivery.project_protocol import Project

_PYTHON = (".py", ".pyw")
_SHELL = (".sh", ".bash", ".dash", ".ksh")


@dataclass(frozen=True, slots=True)
class Adopted:
    """An adopted script. `notes` list what was not converted, and what a person has to check.

    `tests` are those of the script that were brought along.
    """

    target: Target
    module: Path
    test: Path
    script: ParsedScript
    parameters: tuple[ToolParameter, ...]
    report: ValidationReport
    tool: ToolSpec | BrokenTool
    tests: BroughtTests

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the script's notes, with those on a script that may change something."""
        notes = self.script.notes
        silent = [each.name for each in self.script.parameters if not each.text.strip()]
        if silent:
            notes += (f"no text of the script describes {', '.join(silent)}: complete Args:",)
        if tool_module.DRY_RUN in self.parameters:
            notes += ("with dry_run the script is not run: examples with dry_run: false prove it",)
        if self.script.kind == "write":
            notes += ("add `Verify:` with a read that shows the change: promotion asks for it",)
        return notes


def adopt(
    project: Project,
    file: Path,
    *,
    domain: str | None,
    action: str | None,
    name: str | None,
    overwrite: bool = False,
) -> Adopted:
    """Write the script as a module and a test in `_tmp/`, and validate the module.

    The test is that of the script if it can be brought along, otherwise a skeleton.

    Raises UsageError for a script that cannot be adopted, for a file that is a tool already, and
    for an existing candidate of that name unless `overwrite`. Raises TargetRefused for an invalid
    place in the catalogue.
    """
    source = candidate_module.read_module(file)
    target = Target(domain, action or "run", name or _tool_name(file))
    _refuse_tool(project.define(source, file.resolve()), file, promotion_place(domain, action))
    script = _parse_script(source, file, target.name)
    path = project.tmp_dir / f"{target.name}.py"
    if path.exists() and not overwrite:
        shown = path.relative_to(project.project) if path.is_relative_to(project.project) else path
        raise UsageError(f"{shown} exists already", hint="--replace it, or give a --name")
    tests = sibling_test.bring_tests(script, file, target.name, project.project)
    test = path.with_name(f"test_{path.name}")
    if overwrite or not test.exists():
        code = tests.code or scaffold.render_test(path.stem, path.name, ())
        candidate_module.write_candidate(test, code.encode("utf-8"))

    def write(given: BroughtTests) -> tuple[bytes, ToolSpec | BrokenTool]:
        text = tool_module.render_module(script, target.name, file.name, given.examples)
        candidate_module.write_candidate(path, text.encode("utf-8"))
        return text.encode("utf-8"), project.define(text.encode("utf-8"), path)

    module_source, tool = write(tests)
    report, validated = project.pipeline().validate(module_source, path, tool, {})
    if tests.examples and report.verdict == "refused":
        # A test may need what the sandbox does not have: the tool is then adopted without it.
        tests = _without_examples(tests, report)
        module_source, tool = write(tests)
        report, validated = project.pipeline().validate(module_source, path, tool, {})
    note = candidate_store.StoredCandidate(
        module=path,
        request=f"adopt {file.name}",
        route_id=None,
        run_id=project.new_run_id(),
        status="pending" if validated else "failed",
        reasons=() if validated else (report.summary,),
        created_at=ids.utc_now(),
        sha256=digest(module_source),
        made={"generator": "adopt", "sha256": digest(module_source), "origin": file.name},
    )
    candidate_store.write(note, project.redactor)
    parameters = tuple(tool_module.tool_parameters(script))
    return Adopted(target, path, test, script, parameters, report, tool, tests)


def _refuse_tool(found: ToolSpec | BrokenTool, file: Path, place: Sequence[str]) -> None:
    """Raise UsageError for a tool: adopted, its `run` would be a part of a script without inputs.

    A script may have a `run` too, but no contract in its docstring.
    """
    if file.suffix != ".py" or not isinstance(found, ToolSpec) or found.entry != "run":
        return
    if found.kind_declared or "Returns" not in found.missing_sections:
        words = ["pulsus", "promote", str(file), *place]
        raise UsageError(f"{file} is a tool already", hint=shlex.join(words))


def promotion_place(domain: str | None, action: str | None) -> tuple[str, ...]:
    """Return the options that place the tool, with a word to fill in for each open choice.

    Without a chosen place, the defaults would make it a shared tool with the action `run`.
    """
    if domain:
        return "--domain", domain, "--action", action or "ACTION"
    return ("--action", action) if action else ("--domain", "DOMAIN", "--action", "ACTION")


def _without_examples(tests: BroughtTests, report: ValidationReport) -> BroughtTests:
    """Return the tests without their examples, which the sandbox refused."""
    reason = f"they do not hold in the sandbox: {report.summary}"
    unusable = tuple(UnusableTest(example.title, reason) for example in tests.examples)
    return replace(tests, count=0, examples=(), unusable=(*unusable, *tests.unusable))


def _parse_script(source: bytes, file: Path, name: str) -> ParsedScript:
    try:
        code = source.decode("utf-8-sig")
        if _is_python(file, code):
            return python_script.parse_python_script(code)
        if file.suffix.lower() not in _SHELL and not code.startswith("#!"):
            raise UsageError(
                f"{file} is no shell or Python script: it has no `#!` line, and its suffix is none "
                f"of {', '.join((*_SHELL, *_PYTHON))}",
                hint="if it is a script, write its `#!` line, such as #!/bin/bash",
            )
        if all(line.lstrip()[:1] in ("", "#") for line in code.splitlines()):
            raise NotAdoptable("there is no code in it")
        script = shell_script.parse_shell_script(code, name)
        if problem := shell_syntax.find_syntax_error(code, shell_script.name_shell(code)):
            raise NotAdoptable(f"it cannot be parsed: {problem}")
        return script
    except UnicodeDecodeError:
        raise UsageError(f"cannot adopt {file}: it is not UTF-8 text", hint="save it so") from None
    except NotAdoptable as error:
        raise UsageError(
            f"cannot adopt {file}: {error}", hint="change the script, or write the tool by hand"
        ) from None


def _is_python(file: Path, code: str) -> bool:
    if file.suffix.lower() in _PYTHON:
        return True
    first = code.partition("\n")[0]
    return first.startswith("#!") and "python" in first


def _tool_name(file: Path) -> str:
    name = re.sub(r"\W+", "_", file.name.partition(".")[0].lower()).strip("_")
    return (name or "adopted")[:MAX_NAME_CHARS].strip("_")
