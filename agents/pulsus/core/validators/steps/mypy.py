"""The type step (spec §8.2). Effect: runs mypy on copies, with our own configuration.

Its timeout and memory limit are applied in `checker_process.py`, its flags are
`validation.mypy_flags` (`config/settings.py`); a flag that is no checking option is refused here.
mypy never reads a configuration of the validated tree: a `plugins=` line there runs code. The name
of a copy is a hash of its bytes. mypy takes a file of the same name, size and second for the same
file, so two candidates must never share a name.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pulsus.core.system.machine_slots import NoSlot, Slot, cores, take, try_take
from pulsus.core.system.private_folders import Scratch
from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.validators.steps.checker_process import (
    CheckedSource,
    Checker,
    CheckerResult,
    check_by_halves,
    raise_storage_errors,
    report_failure,
    report_missing,
    report_no_slot,
    report_too_late,
    summarize_output,
)
from pulsus.core.validators.steps.mypy_cache import NOWHERE, prepare_cache, remove_entries
from pulsus.core.validators.steps.mypy_prestart import CHECKER, PrestartedMypy
from pulsus.core.validators.validator_protocol import Finding
from pulsus.errors import ConfigError
from pulsus.late_pattern import late_pattern

CONFIG = Path(__file__).with_name("mypy.ini")
_FLAG = late_pattern(
    r"--(strict|extra-checks|check-untyped-defs|local-partial-types"
    r"|strict-[a-z-]+|(no-)?(warn|disallow|allow|implicit)-[a-z-]+"
    r"|(enable|disable)-error-code=[a-z-]+)"
)
_MORE = 100  # modules that a call may take its time once more for
_LINE_CHARS = 500


class MypyProcess:
    """A mypy without an order: `early`, or a new one with `slot`. Call `end` in any case."""

    def __init__(self, early: PrestartedMypy | None = None, slot: Slot | None = None) -> None:
        self._slot = early.slot if early else slot
        with raise_storage_errors():
            self._scratch = early.scratch if early else Scratch("mypy")
            self.folder = Path(self._scratch.path)
            try:
                self.checker = Checker.of(early or PrestartedMypy(self._scratch, slot or Slot(-1)))
            except OSError:
                self._scratch.remove()
                raise

    def end(self) -> None:
        """Kill it, remove its copies and release its slot."""
        self.checker.end()
        self._scratch.remove()
        if self._slot:
            self._slot.release()


class SharedPrestartedMypy:
    """A mypy started before anything else, for the first caller. Call `end` in any case.

    If `early` is None, each caller starts its own.
    """

    def __init__(self, early: PrestartedMypy | None) -> None:
        self._waiting = MypyProcess(early) if early else None

    def take(self) -> MypyProcess | None:
        """Return the one that was started; None if it was taken."""
        waiting, self._waiting = self._waiting, None
        return waiting

    def end(self) -> None:
        """Kill it if no caller took it."""
        if self._waiting:
            self._waiting.end()


class Mypy:
    """Checks any number of modules, as often as asked. Call `end` in any case.

    `seconds` of processor time are for one module. `wait_seconds` limits the wait for a free core.
    `cache_dir` stores knowledge of libraries; without it mypy is much slower. `ready` gives a mypy
    that was started ahead. `version` is that of the Python to check for; None is ours. Raises
    ConfigError for a flag that is not about checking: others name files and programs.
    """

    def __init__(
        self,
        *,
        flags: tuple[str, ...],
        seconds: float,
        cache_dir: Path | None,
        module: str = "mypy",
        version: tuple[int, int] | None = None,
        ready: Callable[[], MypyProcess | None] = lambda: None,
        wait_seconds: float = 600.0,
    ) -> None:
        for flag in flags:
            if not _FLAG.fullmatch(flag):
                raise ConfigError(f"validation.mypy_flags: {flag!r} is not a flag about checking")
        self._flags, self._seconds, self._module = flags, seconds, module
        self._version = [f"--python-version={version[0]}.{version[1]}"] if version else []
        spec = find_spec(module)
        self.installed = spec is not None
        self._cache = NOWHERE
        if spec is not None and spec.origin is not None:
            settings = f"{flags}{version}{CONFIG.read_text(encoding='utf-8')}"
            self._cache = prepare_cache(cache_dir, Path(spec.origin).parents[1], settings)
        self._ready, self._wait_seconds = ready, wait_seconds
        self._waiting: MypyProcess | None = None

    def start(self) -> None:
        """Let it load while other work is done, if a core is free for it."""
        if self.installed and self._waiting is None:
            self._waiting = self._ready()
            if self._waiting is None and (slot := try_take(CHECKER, cores())):
                self._waiting = MypyProcess(slot=slot)

    def end(self) -> None:
        """Kill it and remove its copies."""
        waiting, self._waiting = self._waiting, None
        if waiting:
            waiting.end()

    def check(self, texts: Sequence[CheckedSource]) -> list[Finding]:
        """Return a finding for each module. Too late or crashed is a failure.

        Not installed is unverified, and so is a machine that had no core for it (`BUSY`).
        """
        if not self.installed:
            return [report_missing(self._module)] * len(texts)
        try:
            return self._check_together(texts)
        except NoSlot:
            return [report_no_slot(self._wait_seconds)] * len(texts)

    def _check_together(self, texts: Sequence[CheckedSource]) -> list[Finding]:
        """Check all texts in one run. If mypy itself fails, check each half again."""
        if not texts:
            return []
        began = time.monotonic()
        seconds = self._seconds * (1 + len(texts) // _MORE)
        done = self._run_mypy(texts, self._cache, seconds)
        if (found := _parse_findings(done, texts)) is not None:
            return found
        if done.starved:
            return [report_too_late(done, seconds)] * len(texts)
        if len(texts) > 1:
            return check_by_halves(texts, self._check_together)
        if done.status is not None and self._cache != NOWHERE:
            # A damaged cache, or a full disk below it, must not be held against the module.
            remaining = max(1.0, seconds - (time.monotonic() - began))
            done = self._run_mypy(texts, NOWHERE, remaining)
            if (found := _parse_findings(done, texts)) is not None:
                remove_entries(self._cache)
                return found
        return [_build_failure(done, texts[0], self._seconds)]

    def _run_mypy(
        self, texts: Sequence[CheckedSource], cache: Path, seconds: float
    ) -> CheckerResult:
        self.start()
        if self._waiting is None:
            self._waiting = MypyProcess(slot=take(CHECKER, cores(), self._wait_seconds))
        files = {_file_stem(text): text for text in texts}
        with raise_storage_errors():
            for stem, text in files.items():
                (self._waiting.folder / f"{stem}.py").write_bytes(text.source)
        args = [
            *self._flags,
            *(f"--config-file={CONFIG}", f"--cache-dir={cache}", "--no-sqlite-cache"),
            *(*self._version, "--output=json", f"--python-executable={sys.executable}"),
            *("--", *(f"{stem}.py" for stem in files)),
        ]
        try:
            return self._waiting.checker.result(seconds, json.dumps(args).encode("ascii") + b"\n")
        finally:
            self.end()
            remove_entries(cache, files)


def _file_stem(text: CheckedSource) -> str:
    return f"m_{hashlib.sha256(text.source).hexdigest()[:40]}"


def _parse_findings(done: CheckerResult, texts: Sequence[CheckedSource]) -> list[Finding] | None:
    """Return a finding for each module, or None if mypy did not answer for all of them.

    Read from JSON: a message may quote the module, and must not look like one about another.
    """
    if done.status not in (0, 1):
        return None
    entries: dict[str, list[dict[str, Any]]] = {_file_stem(text): [] for text in texts}
    refused: set[str] = set()
    try:
        for entry in map(json.loads, done.output.splitlines()):
            stem = str(entry["file"]).removesuffix(".py")
            entries[stem].append(entry)
            if entry["severity"] == "error":
                refused.add(stem)
        if (done.status == 1) != bool(refused):
            return None
        return [
            _build_finding(text, entries[_file_stem(text)], _file_stem(text) in refused)
            for text in texts
        ]
    except (ValueError, KeyError, TypeError):
        return None


def _build_finding(
    text: CheckedSource, entries: Iterable[dict[str, Any]], refused: bool
) -> Finding:
    lines = [line for entry in entries for line in _render_entry(entry, text)]
    return Finding(
        not refused, summarize_output("\n".join(lines)) if refused else "", "\n".join(lines)
    )


def _render_entry(entry: dict[str, Any], text: CheckedSource) -> Iterable[str]:
    stem = _file_stem(text)
    at = f"{text.file}:{int(entry['line'])}:{int(entry['column']) + 1}"
    shown = text.file.removesuffix(".py")
    message = one_line(entry["message"].replace(stem, shown), _LINE_CHARS)
    code = f"  [{entry['code']}]" if entry["code"] and entry["severity"] == "error" else ""
    yield f"{at}: {entry['severity']}: {message}{code}"
    for hint in (entry["hint"] or "").splitlines():
        yield f"{at}: note: {one_line(hint.replace(stem, shown), _LINE_CHARS)}"


def _build_failure(done: CheckerResult, text: CheckedSource, seconds: float) -> Finding:
    errors = done.errors
    with suppress(ValueError, KeyError, TypeError):  # mypy reports what stops it as a finding too
        entries = [json.loads(line) for line in done.output.splitlines()]
        errors = "\n".join(line for e in entries for line in _render_entry(e, text)) or errors
    return report_failure("mypy", done, errors, seconds)
