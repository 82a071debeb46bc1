"""Chooses the modules of `pulsus validate`, and validates them once.

Hidden files and tests of candidates are left out; `--changed-since` compares with git
(`core/validators/git_changes.py`). The verdicts come from `core/validators/pipeline.py`, or its
cache `core/validators/verdict_cache.py`. The exit status is chosen here.
"""

from __future__ import annotations

import ast
import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.cli import console
from pulsus.cli.options import require_module_name
from pulsus.cli.validate.text_report import count_verdicts
from pulsus.core.system import regular_files
from pulsus.core.types import BrokenTool
from pulsus.core.validators.batch import Batch, Judges, Source
from pulsus.core.validators.validator_protocol import Steps
from pulsus.errors import Busy, PulsusError, UsageError, ValidationFailed

if TYPE_CHECKING:
    from pulsus.bootstrap import App
    from pulsus.cli.command_session import CommandSession
    from pulsus.core.validators.pipeline import Pipeline
    from pulsus.core.validators.steps.mypy import SharedPrestartedMypy
    from pulsus.core.validators.verdict_cache import Cache, CheckedModule

    News = Callable[[Sequence[CheckedModule]], Sequence[CheckedModule]]

File = tuple[Path, Source]

_MAX_READ_BYTES = 64 * 1024 * 1024
_BAR = 24


class Validation:
    """Validates modules for one session, as often as asked; `ahead` is a mypy already started."""

    def __init__(self, session: CommandSession, ahead: SharedPrestartedMypy | None = None) -> None:
        self._ahead = ahead
        self._session = session
        self._app = session.app

    def run(self, modules: Sequence[File], news: News | None = None) -> int:
        """Print the verdicts in the order of `modules`, and return the exit status.

        `news` says which of them to print; None prints all.
        """
        quiet = self._session.verbosity < 0
        told = None if quiet or not console.is_terminal(sys.stderr) else _bar
        found = self._warned(self._batch.check(modules, told))
        self._app.cache_settings()
        shown = found if news is None else news(found)
        if shown or not found:
            _print(shown, self._session)
        if len(shown) < len(found):
            console.result(f"all in all {count_verdicts(found)}\n")
        refused = [checked.report for checked in found if not checked.report.ok]
        if refused and all(report.busy for report in refused):
            return Busy.exit_status
        return ValidationFailed.exit_status if refused else 0

    def modules(self, paths: Iterable[Path], revision: str | None) -> list[File]:
        """Return every module below `paths` once, by path; with `revision`, the changed ones.

        One that was found in a folder and cannot be read stands beside the others, as refused.
        Raises UsageError for one that is named itself.
        """
        found = dict(_listed(paths, self._app, quiet=self._session.verbosity < 0))
        modules = [(path, found[path]) for path in sorted(found)]
        return self._changed(modules, revision) if revision is not None else modules

    def _changed(self, modules: Sequence[File], revision: str) -> list[File]:
        from pulsus.core.validators.git_changes import list_changed_since

        top, changed = list_changed_since(self._session.project, revision)
        for path, _ in modules:
            if not path.is_relative_to(top):
                raise UsageError(
                    f"{path} does not lie in the repository {top}",
                    hint="name its repository with --project, or leave out --changed-since",
                )
        # A module that git ignores differs from every revision: none has it.
        changed |= self._ignored([path for path, _ in modules]).keys()
        return [(p, code) for p, code in modules if p in changed or self._moved(code, changed)]

    def _warned(self, found: Sequence[CheckedModule]) -> list[CheckedModule]:
        """Return the verdicts, with a warning on each module that git ignores.

        Candidates have none: Pulsus itself keeps them out of git.
        """
        tmp = self._app.tmp_dir.resolve()
        paths = [checked.report.path for checked in found]
        ignored = self._ignored([path for path in paths if not path.is_relative_to(tmp)])
        if not ignored:
            return list(found)
        return [
            replace(one, report=replace(one.report, warnings=(*one.report.warnings, text)))
            if (text := ignored.get(one.report.path))
            else one
            for one in found
        ]

    def _ignored(self, paths: Sequence[Path]) -> dict[Path, str]:
        """Return why each module that git ignores is never committed."""
        from pulsus.core.validators.git_changes import list_ignored_modules

        said = (
            "git ignores this module ({}): it is never committed; "
            "`pulsus tools check` lists all such modules"
        )
        found = list_ignored_modules(self._session.project, paths)
        return {one.path: said.format(one.rule) for one in found}

    def _moved(self, source: Source, changed: frozenset[Path]) -> bool:
        """Return True if a step that the module calls changed, or cannot be had."""
        if isinstance(source, BrokenTool) or b"pulsus" not in source:
            return False
        try:
            steps = self._steps(source)
        except PulsusError:
            return True
        return any(tool.path.resolve() in changed for tool, _ in steps.values())

    def _steps(self, source: bytes) -> Steps:
        from pulsus.routing.delivery.candidate_module import (
            pinned_steps,  # only for what is composed
        )

        return pinned_steps(self._app, source)

    @functools.cached_property
    def _batch(self) -> Batch:
        app = self._app
        ready = self._ahead.take if self._ahead else None
        pipeline: Judges = replace(app.pipeline(), ready=ready)
        tmp = app.tmp_dir.resolve()
        if tmp.is_dir():
            from pulsus.routing.generation import (
                guardrail_scope,
            )  # only with candidates

            plain = replace(app.pipeline(), ready=ready)
            pipeline = guardrail_scope.GuardedBatchValidator(app, plain, self._strict)
        return Batch(pipeline, app.define, self._steps, app.project, self._cache(), tmp)

    def _strict(self) -> Pipeline:
        """Return the pipeline with the guardrails for a model's candidates."""
        from pulsus.routing.generation import acceptance  # only for those

        steps = acceptance.guardrail_steps(self._app.settings.generator)
        ready = self._ahead.take if self._ahead else None
        return replace(self._app.pipeline(steps), ready=ready)

    def _cache(self) -> Cache | None:
        app = self._app
        if not app.settings.cache_enabled or app.cache_token is None:
            return None
        from pulsus.core.validators.cache_key import compute_cache_key
        from pulsus.core.validators.verdict_cache import Cache

        rests_on = compute_cache_key(
            app.settings.validation, app.settings.sandbox, app.proving.validators, app.interpreter
        )
        folder = app.state_dir / "cache" / "validation"
        return Cache(folder, rests_on + app.cache_token, app.log_dir) if rests_on else None


def _print(found: Sequence[CheckedModule], session: CommandSession) -> None:
    """Print the verdicts in the form that was asked for."""
    form = import_module(f"pulsus.cli.validate.{session.output}_report")
    details = {"detailed": session.verbosity > 0} if session.output == "text" else {}
    text = form.render(found, session.project, **details)
    columns = console.width() if session.output == "text" else None
    for line in text.split("\n")[:-1] if columns else []:
        console.echo(line, columns)
    console.result("" if columns else text)


def _listed(paths: Iterable[Path], app: App, *, quiet: bool) -> Iterator[File]:
    tmp, root = app.tmp_dir.resolve(), app.workflows_root.resolve()
    for path in paths:
        if not path.is_dir():
            require_module_name(path, hint="name the file of a module, or its folder")
            yield path.resolve(), _bytes(path)
            continue
        found = [p for p in path.rglob("*.py") if not _ignored(p.relative_to(path))]
        if not found:
            raise UsageError(f"{path} holds no module", hint="name a .py file or its folder")
        tests = {p for p in found if _is_test_of_candidate(p, tmp)}
        if tests and not quiet:
            count = console.counted(len(tests), "test")
            console.note(f"{path}: {count} left out, because a test is not a tool")
        yield from (_found_module(p, path, root) for p in found if p not in tests)


def _ignored(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def _is_test_of_candidate(path: Path, tmp: Path) -> bool:
    """Return True for a pytest file among the candidates. Pulsus writes them, and leaves them there
    when the module is promoted.

    A file with an entry point is a tool, as in the catalogue, and a tool is never left out. Outside
    the folder of the candidates nothing is left out.
    """
    if not path.name.startswith("test_") or not path.resolve().is_relative_to(tmp):
        return False
    from pulsus.core.contract.entry_point import defines_entry
    from pulsus.core.python_source.python_literals import parse_module

    source = _read_found(path)
    if isinstance(source, BrokenTool):
        return False
    tree = ast.Module(parse_module(source) or [], [])
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    has_test = any(isinstance(n, functions) and n.name.startswith("test") for n in ast.walk(tree))
    return has_test and not defines_entry(tree)


def _found_module(path: Path, folder: Path, root: Path) -> File:
    """Return a module of `folder` with its bytes; a link out is refused, as discovery does.

    The reader of the verdict would take the file behind the link for one of this folder. A link in
    the catalogue may lead to any place below its `root`. One that leads nowhere cannot be read.
    """
    link, real = path.parent.resolve() / path.name, Path(os.path.realpath(path))
    if not real.exists():
        return link, _read_found(path)
    inside = link.is_relative_to(root)
    if real.is_relative_to(root if inside else folder.resolve()):
        return real, _read_found(real)
    named = "the workflows folder" if inside else "the validated folder"
    return link, BrokenTool(link, "LINK_OUTSIDE", f"is a link out of {named}")


def _read_found(path: Path) -> Source:
    """Return the bytes of a module in a folder, or why they cannot be read."""
    try:
        return _read(path)
    except regular_files.UnreadableFile as failure:
        return BrokenTool(path, failure.code, failure.reason)


def _read(path: Path) -> bytes:
    real = regular_files.resolve_link(path) if path.is_symlink() else path.resolve()
    return regular_files.read_file(real, _MAX_READ_BYTES)[0]


def _bytes(path: Path) -> bytes:
    try:
        return _read(path)
    except regular_files.UnreadableFile as failure:
        raise UsageError(
            f"cannot read {path}: {failure.cause}", hint="name a .py file that this user can read"
        ) from failure


def _bar(done: int, count: int) -> None:
    """Show the progress on one line of the terminal, which is cleared at the end."""
    filled = _BAR * done // count
    line = f"\r[{'#' * filled}{'.' * (_BAR - filled)}] {done} of {count} modules run"
    sys.stderr.write(line if done < count else "\r\033[K")
    sys.stderr.flush()
