"""Validates many modules, and reuses cached verdicts (spec §8).

`verdict_cache.py` decides if a verdict may be kept, `cache_key.py` when it is stale. Effect: reads
and writes the cache; runs the pipeline.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pulsus.core.system.fork_pool import map_in_processes
from pulsus.core.system.machine_slots import cores
from pulsus.core.types import BrokenTool, ToolSpec
from pulsus.core.validators.module_verdict import ModuleInput
from pulsus.core.validators.validator_protocol import Steps
from pulsus.core.validators.verdict_cache import Cache, CheckedModule
from pulsus.errors import PulsusError
from pulsus.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pulsus.core.validators.pipeline import Network, Proven
    from pulsus.core.validators.steps.parallel_dry_runs import ReportProgress

Define = Callable[[bytes, Path], ToolSpec | BrokenTool]
"""The tool that bytes are at a path."""

Source = bytes | BrokenTool
"""The bytes of a module, or why they cannot be read."""

StepsOf = Callable[[bytes], Steps]
"""The pinned steps of a composed module. Raises PulsusError where they cannot be had."""


class Judges(Protocol):
    """A pipeline, or several pipelines that share the modules among them."""

    @property
    def network(self) -> Network | None:
        """Return the hosts that a dry run may reach, or None for no network."""
        ...

    def validate_all(
        self,
        modules: Sequence[ModuleInput],
        *,
        jobs: int = 1,
        report_progress: ReportProgress | None = None,
    ) -> list[Proven]:
        """As `Pipeline.validate_all`."""
        ...


@dataclass(frozen=True, slots=True)
class Batch:
    """Checks modules by path and bytes. `cache` None neither reads nor writes verdicts.

    Verdicts below `uncached` are not cached: there more than the bytes decides.
    """

    pipeline: Judges
    define: Define
    steps_of: StepsOf
    project: Path
    cache: Cache | None = None
    uncached: Path | None = None

    def check(
        self, files: Sequence[tuple[Path, Source]], report_progress: ReportProgress | None = None
    ) -> list[CheckedModule]:
        """Return a verdict on each file, in order. Raises as `Pipeline.validate_all`.

        A file that cannot be read is refused, and that verdict is not cached. `report_progress`
        gets the number of modules run so far, and of all to run.
        """
        found: dict[int, CheckedModule] = {}
        for number, (path, source) in enumerate(files):
            if cached := self._load_cached(path, source):
                found[number] = cached
        new = [number for number in range(len(files)) if number not in found]
        for number, checked in zip(
            new, self._validate_files([files[n] for n in new], report_progress), strict=True
        ):
            found[number] = checked
            path, source = files[number]
            if self.cache and isinstance(source, bytes) and self.uncached not in path.parents:
                self.cache.save(self._cache_key(path, source), checked)
        if self.cache and new:
            self.cache.prune()
        return [found[number] for number in range(len(files))]

    def _validate_files(
        self, files: Sequence[tuple[Path, Source]], report_progress: ReportProgress | None
    ) -> Iterable[CheckedModule]:
        tools = map_in_processes(lambda file: self._define(*file), files)
        given = [
            self._prepare_input(path, source, tool)
            for (path, source), tool in zip(files, tools, strict=True)
        ]
        # Starting a sandbox is waiting for the most part: two for each core keep the cores busy.
        reports = self.pipeline.validate_all(
            given, jobs=2 * cores(), report_progress=report_progress
        )
        for one, (report, _) in zip(given, reports, strict=True):
            declared = None if isinstance(one.tool, BrokenTool) else one.tool.effects
            steps = None if one.objection else _step_hashes(one.steps)
            yield CheckedModule(report, declared, steps)

    def _define(self, path: Path, source: Source) -> ToolSpec | BrokenTool:
        return source if isinstance(source, BrokenTool) else self.define(source, path)

    def _prepare_input(
        self, path: Path, source: Source, tool: ToolSpec | BrokenTool
    ) -> ModuleInput:
        if isinstance(source, BrokenTool):
            return ModuleInput(b"", path, source)
        if isinstance(tool, BrokenTool) or not tool.composed:
            return ModuleInput(source, path, tool)
        try:
            return ModuleInput(source, path, tool, self.steps_of(source))
        except PulsusError as failure:
            return ModuleInput(source, path, tool, objection=f"{failure.message} ({failure.code})")

    def _load_cached(self, path: Path, source: Source) -> CheckedModule | None:
        if self.cache is None or isinstance(source, BrokenTool) or self.uncached in path.parents:
            return None
        sha256 = hashlib.sha256(source).hexdigest()
        found = self.cache.load(self._cache_key(path, source), sha256, path)
        if found is None or not self._has_same_network(path, source, found):
            return None
        if not found.steps:
            return found
        try:
            now = _step_hashes(self.steps_of(source))
        except PulsusError:
            return None
        return found if now == found.steps else None

    def _has_same_network(self, path: Path, source: bytes, cached: CheckedModule) -> bool:
        """Return True if the module may reach the same hosts as when it was checked."""
        network = self.pipeline.network
        if network is None:
            return not cached.report.network
        tool = self.define(source, path)
        if isinstance(tool, BrokenTool):
            return not cached.report.network
        return network(path, tool, cached.steps or ()) == cached.report.network

    def _cache_key(self, path: Path, source: bytes) -> str:
        assert self.cache
        inside = path.is_relative_to(self.project)
        identity = str(path.relative_to(self.project) if inside else path)
        return self.cache.key(hashlib.sha256(source).hexdigest(), identity)


def _step_hashes(steps: Steps) -> Mapping[str, str]:
    return {tool_id: tool.sha256 for tool_id, (tool, _) in steps.items()}
