"""The validation pipeline (spec §8): steps in order, the first failure ends it.

Static gate, plugins and ruff are quick and come first (`core/validators/steps/static_gate.py`,
`core/validators/steps/ruff.py`). mypy and the sandbox run in parallel (`stage_runner.py`). If mypy
refuses a module, its sandbox result is discarded. The time limits are the settings `validation.*`
and `sandbox.*` (`config/settings.py`). `proof.py` decides `behaviour` or `shape`.

Effect: runs checkers and sandboxes, writes logs. The pipeline checks, runs and accepts the bytes it
is given; it never opens the module's file.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pulsus.config.settings import SandboxConfig, ValidationConfig
from pulsus.core.system.fork_pool import map_in_processes
from pulsus.core.types import BrokenTool, ToolSpec, ValidatedModule, ValidationReport
from pulsus.core.validators.module_verdict import Artifacts, ModuleInput, ModuleRun
from pulsus.core.validators.validator_protocol import Finding, Steps, Subject, Validator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pulsus.core.sandbox.interpreter import Interpreter
    from pulsus.core.validators.steps.mypy import MypyProcess
    from pulsus.core.validators.steps.parallel_dry_runs import ReportProgress
    from pulsus.core.validators.steps.smoke_and_dry_run import Run

Proven = tuple[ValidationReport, ValidatedModule | None]
Network = Callable[[Path, ToolSpec, Iterable[str]], tuple[str, ...]]
"""The hosts that the dry run of the tool at a path may reach, given the ids of its steps."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Validates modules. There is no way to leave out a step or the sandbox.

    `clock` gives aware times. `redact` hides secrets in logs and messages. `extra_validators` run
    once the gate has passed a module. `mypy_cache` stores mypy's knowledge of libraries between
    runs, and `ready` gives a mypy that was started ahead. Only tests replace `run`. `python` is the
    interpreter of the tools; None is ours. `network` names the hosts a dry run may reach; None is
    no network.
    """

    validation: ValidationConfig
    sandbox: SandboxConfig
    log_dir: Path
    clock: Callable[[], datetime]
    redact: Callable[[str], str]
    extra_validators: Callable[[], Sequence[tuple[str, Validator]]] = tuple
    mypy_cache: Path | None = None
    run: Run | None = None
    ready: Callable[[], MypyProcess | None] | None = None
    python: Interpreter | None = None
    network: Network | None = None

    def validate(
        self,
        source: bytes,
        path: Path,
        tool: ToolSpec | BrokenTool,
        steps: Steps | None = None,
    ) -> Proven:
        """Return the report on these bytes, and the module to promote if it was accepted.

        `steps` are the pinned sources a composed module calls. Raises as `validate_all`.
        """
        (found,) = self.validate_all([ModuleInput(source, path, tool, steps or {})])
        return found

    def refusal(
        self, source: bytes, path: Path, tool: ToolSpec | BrokenTool
    ) -> ValidationReport | None:
        """Return the report if the gate refuses a module by itself; else do nothing."""
        module = ModuleInput(source, path, tool)
        composed = not isinstance(tool, BrokenTool) and tool.composed
        if composed or self._run_gate(module)[0].ok:
            return None
        return self.validate_all([module])[0][0]

    def validate_all(
        self,
        modules: Sequence[ModuleInput],
        *,
        jobs: int = 1,
        report_progress: ReportProgress | None = None,
    ) -> list[Proven]:
        """Validate many modules, in order: one ruff, one mypy, `jobs` sandboxes at a time.

        `report_progress` gets the number of modules run so far, and of all. Raises
        StorageUnwritable or DiskFull before anything runs if the logs cannot be written. Raises
        ConfigError for an invalid rule or flag.
        """
        if not modules:
            return []
        began = time.monotonic()
        artifacts = Artifacts.open(self.log_dir, self.clock(), modules[0].name, self.redact)
        works = [
            ModuleRun(module, artifacts, self.redact, name, self._allowed_hosts(module))
            for module, name in zip(modules, _choose_log_names(modules), strict=True)
        ]
        self._run_gates(works)
        proven: dict[int, ValidatedModule] = {}
        reports: dict[int, ValidationReport] = {}
        going = [work for work in works if work.going]
        if going:
            from pulsus.core.validators import stage_runner  # only for what the gate lets pass

            means = stage_runner.StageConfig(
                self.validation,
                self.sandbox,
                self.mypy_cache,
                run=self.run,
                ready=self.ready,
                python=self.python,
            )
            found = stage_runner.run_stages(means, going, jobs, report_progress)
            for work, evidence in zip(going, found, strict=True):
                report = work.report(_milliseconds_if_single(began, works), *evidence)
                reports[id(work)] = report
                if report.ok and work.subject:
                    tool = work.subject.tool
                    proven[id(work)] = ValidatedModule(work.module.source, tool, report)
        return [
            (
                reports.get(id(work))
                or work.report(_milliseconds_if_single(began, works), None, None),
                proven.get(id(work)),
            )
            for work in works
        ]

    def _allowed_hosts(self, module: ModuleInput) -> tuple[str, ...]:
        if self.network is None or isinstance(module.tool, BrokenTool):
            return ()
        return self.network(module.path, module.tool, module.steps)

    def _run_gate(self, module: ModuleInput) -> tuple[Finding, int]:
        began = time.monotonic()
        if module.objection:
            return Finding(ok=False, message=module.objection), 0
        from pulsus.core.validators.steps.static_gate import (
            run_static_gate,  # not for a cached verdict
        )

        finding = run_static_gate(
            module.source,
            module.tool,
            max_bytes=self.validation.max_module_bytes,
            steps=module.steps,
            python=self.python,
        )
        return finding, _milliseconds_since(began)

    def _run_gates(self, works: Sequence[ModuleRun]) -> None:
        found = map_in_processes(self._run_gate, [work.module for work in works])
        for work, (finding, took) in zip(works, found, strict=True):
            work.add("static", finding, took)
        for work in works:
            subject = work.subject
            if not work.going or subject is None:
                continue
            for name, validator in self.extra_validators():
                began = time.monotonic()
                work.add(name, _run_plugin(validator, subject), _milliseconds_since(began))
                if not work.going:
                    break


def _run_plugin(validator: Validator, subject: Subject) -> Finding:
    try:
        found = validator(subject.source, subject.tool)
    except Exception as error:  # noqa: BLE001 - third-party code; its failure is this step's
        return Finding(ok=False, message=f"the validator failed: {type(error).__name__}: {error}")
    return Finding(
        found.ok, found.message, found.output, unverified=found.unverified, line=found.line
    )


def _choose_log_names(modules: Sequence[ModuleInput]) -> list[str]:
    """Return the modules' names, with the beginning of the path's hash if several share one."""
    shared = Counter(module.name for module in modules)
    if len(shared) == len(modules):
        return [module.name for module in modules]
    from hashlib import sha256

    return [
        module.name
        if shared[module.name] == 1
        else f"{module.name[:60]}-{sha256(str(module.path).encode()).hexdigest()[:8]}"
        for module in modules
    ]


def _milliseconds_if_single(began: float, works: Sequence[ModuleRun]) -> int | None:
    return _milliseconds_since(began) if len(works) == 1 else None


def _milliseconds_since(began: float) -> int:
    return int((time.monotonic() - began) * 1000)
