"""Verdicts of earlier runs over the same bytes (docs/ADRs/0022-validation-cache.md).

It decides which verdicts are cached and when the oldest are dropped; `cache_key.py` says when all
are stale, and `batch.py` asks for them. A kept verdict saves a check; it never makes a
`ValidatedModule`. No candidate can write here: it runs in the sandbox. What is damaged, or is not
about exactly these bytes, rules and tools, is as good as nothing: the module is checked. Effect:
reads and writes files below one folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pulsus.core.system import cache_file
from pulsus.core.system.cache_file import CacheFile
from pulsus.core.types import Effects, ObservedEffects, StepResult, ValidationReport
from pulsus.fast_dataclass import dataclass

KNOWN = ".known"
"""Ends the name of an empty file that says: there is a verdict on bytes of this SHA-256."""

_FORMAT = 3
_MOST = 20_000  # files kept; beyond it the oldest go
_KEPT = ("verdict", "sha256", "duration_ms", "summary", "proof", "warnings", "network")
"""Fields of a report that JSON holds as they are."""
_CERTAIN = ("static", "ruff", "mypy")  # these steps give the same verdict again


@dataclass(frozen=True, slots=True)
class CheckedModule:
    """A report, the declared effects, and the hashes of the called steps by id."""

    report: ValidationReport
    declared: Effects | None = None
    steps: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Cache:
    """Verdicts below `folder`, for one state of tools and settings (`basis`, a digest).

    `basis` ends with a secret of the user. The folder lies in the project, and a writer of the
    repository could otherwise bring verdicts.

    `log_dir` is where the logs lie that reports name. A folder that cannot be written to keeps
    nothing, and that is all.
    """

    folder: Path
    basis: str
    log_dir: Path

    def key(self, sha256: str, identity: str) -> str:
        """Return the key of the verdict on those bytes at that place."""
        text = "\0".join((str(_FORMAT), self.basis, sha256, identity))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def load(self, key: str, sha256: str, path: Path) -> CheckedModule | None:
        """Return the cached verdict, marked as cached and with `path`, or None."""

        def read(cached: CacheFile) -> CheckedModule | None:
            found = json.loads(zlib.decompress(cached.columns["verdict"]))
            return (
                self._module_from_json(found, path) if found["report"]["sha256"] == sha256 else None
            )

        # No warning: a damaged verdict only means that the module is checked again.
        return cache_file.load(self.folder / f"{key}.json", key, read, lambda _: None)

    def save(self, key: str, checked: CheckedModule) -> None:
        """Keep a verdict that would be the same again; never one that could not be reached."""
        if checked.steps is None or not _is_lasting(checked.report):
            return
        # Compressed, so that no text a candidate chose lies readable in the project.
        body = zlib.compress(json.dumps(self._module_to_json(checked)).encode("utf-8"), 1)
        data = cache_file.pack(key, None, {"verdict": body})
        if not cache_file.save(self.folder / f"{key}.json", data):
            with suppress(OSError):
                (self.folder / f"{checked.report.sha256}{KNOWN}").touch()

    def prune(self) -> None:
        """Let go of the oldest verdicts where there are too many."""
        with suppress(OSError):
            names = os.listdir(self.folder)  # noqa: PTH208 - thousands of names, no use for paths
            if len(names) > _MOST:
                files = sorted((self.folder / n for n in names), key=lambda p: p.stat().st_mtime)
                for old in files[: len(files) - _MOST // 2]:
                    old.unlink(missing_ok=True)

    def _module_to_json(self, checked: CheckedModule) -> dict[str, Any]:
        report = checked.report
        return {
            "report": {
                **{name: getattr(report, name) for name in _KEPT},
                "steps": [
                    [
                        s.step,
                        s.ok,
                        s.duration_ms,
                        s.message,
                        s.output,
                        self._relative_log(s.artifact),
                    ]
                    for s in report.steps
                ],
                "observed": _effects_to_lists(report.observed),
            },
            "declared": _effects_to_lists(checked.declared),
            "steps": dict(checked.steps or {}),
        }

    def _module_from_json(self, found: Mapping[str, Any], path: Path) -> CheckedModule:
        kept = found["report"]
        steps = tuple(
            StepResult(step, ok, took, message, output, self._find_log(log))
            for step, ok, took, message, output, log in kept["steps"]
        )
        passed = bool(steps) and all(step.ok for step in steps) and steps[-1].step == "dry-run"
        if kept["verdict"] != ("accepted" if passed else "refused"):
            raise ValueError("the verdict is not that of the steps")
        report = ValidationReport(
            **{name: kept[name] for name in _KEPT}
            | _lists_to_tuples({name: kept[name] for name in ("warnings", "network")}),
            ok=passed,
            path=path,
            steps=steps,
            artifacts=tuple(step.artifact for step in steps if step.artifact),
            observed=ObservedEffects(**_lists_to_tuples(kept["observed"]))
            if kept["observed"]
            else None,
            cached=True,
        )
        declared = Effects(**_lists_to_tuples(found["declared"])) if found["declared"] else None
        return CheckedModule(report, declared, dict(found["steps"]))

    def _relative_log(self, artifact: Path | None) -> str | None:
        if artifact is None or not artifact.is_relative_to(self.log_dir):
            return None
        return str(artifact.relative_to(self.log_dir))

    def _find_log(self, name: str | None) -> Path | None:
        """Return the log if it is still there."""
        if name is None or not (self.log_dir / name).is_file():
            return None
        return self.log_dir / name


def _is_lasting(report: ValidationReport) -> bool:
    """Return True if the same bytes would get the same verdict again.

    A run or a checker may have failed for lack of time.
    """
    last = report.steps[-1]
    if report.verdict == "accepted":
        # Another host may answer otherwise next time.
        return not (report.network and report.observed and report.observed.hosts)
    if report.verdict == "unverified" or last.step not in _CERTAIN:
        return False
    return last.step == "static" or last.message.split(":", 1)[0].endswith(".py")


def _effects_to_lists(effects: Effects | ObservedEffects | None) -> dict[str, list[str]] | None:
    if effects is None:
        return None
    names = ("paths", "hosts", "commands", "others")
    return {name: list(getattr(effects, name)) for name in names if hasattr(effects, name)}


def _lists_to_tuples(lists: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(values) for name, values in lists.items()}
