"""The lint step (spec §8.1). Effect: runs ruff on copies, reading no configuration.

Its rules are `validation.ruff_rules` (`config/settings.py`), and its timeout is applied in
`checker_process.py`. The type step is `mypy.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.validators.steps.checker_process import (
    CheckedSource,
    Checker,
    CheckerResult,
    check_by_halves,
    make_working_folder,
    report_failure,
    report_missing,
    summarize_output,
)
from pulsus.core.validators.validator_protocol import Finding
from pulsus.errors import ConfigError
from pulsus.late_pattern import late_pattern

_RULE = late_pattern(r"[A-Z]+[0-9]*")
_AT_ONCE = 2000  # files a call, so that its command line stays short
_MORE = 50  # modules that a call may take its time once more for
_LINE_CHARS = 500


def run_ruff(
    texts: Sequence[CheckedSource], *, rules: tuple[str, ...], seconds: float, module: str = "ruff"
) -> list[Finding]:
    """Return a finding for each. Too late or crashed is a failure; not installed is unverified.

    `seconds` of processor time are for one module; many share what they need. Raises ConfigError
    for a rule that is not a ruff code.
    """
    for rule in rules:
        if not _RULE.fullmatch(rule):
            raise ConfigError(f"validation.ruff_rules: {rule!r} is not a ruff rule code")
    program = find_ruff(module)
    if program is None:
        return [report_missing(module)] * len(texts)
    found: list[Finding] = []
    for start in range(0, len(texts), _AT_ONCE):
        found += _check_together(texts[start : start + _AT_ONCE], program, rules, seconds)
    return found


def remove_unused_imports(source: bytes, *, seconds: float) -> bytes:
    """Return `source` without unused imports, or as it is if ruff gives no answer in time.

    Small models write unused imports all the time. Removing one changes nothing but the imports,
    which the gates check afterwards. The lint step judges the result.
    """
    program = find_ruff("ruff")
    if program is None:
        return source
    text = CheckedSource("candidate", source)
    with _run_on_copies(program, ("--fix-only", "--select=F401"), {text.file: text}, seconds) as (
        done,
        folder,
    ):
        return (folder / text.file).read_bytes() if done.status == 0 else source


def _check_together(
    texts: Sequence[CheckedSource], program: Path, rules: tuple[str, ...], seconds: float
) -> list[Finding]:
    options = ("--no-fix", "--output-format=json", f"--select={','.join(rules)}")
    files = {f"{number}/{text.file}": text for number, text in enumerate(texts)}
    with _run_on_copies(program, options, files, seconds * (1 + len(texts) // _MORE)) as (done, _):
        pass
    if done.status in (0, 1) and (found := _parse_findings(done.output, texts)) is not None:
        return found
    if len(texts) > 1:
        return check_by_halves(texts, lambda half: _check_together(half, program, rules, seconds))
    return [report_failure("ruff", done, done.errors or one_line(done.output), seconds)]


@contextmanager
def _run_on_copies(
    program: Path, options: Sequence[str], files: Mapping[str, CheckedSource], seconds: float
) -> Iterator[tuple[CheckerResult, Path]]:
    """Run ruff on copies, and give a block its result and the folder of the copies."""
    argv = [str(program), "check", "--isolated", "--no-cache", "--quiet", "--target-version=py311"]
    with make_working_folder("ruff") as folder:
        for file, text in files.items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_bytes(text.source)
        checker = Checker([*argv, *options, "--", *files], folder)
        try:
            yield checker.result(seconds), folder
        finally:
            checker.end()


def _parse_findings(output: str, texts: Sequence[CheckedSource]) -> list[Finding] | None:
    """Return a finding for each module, or None if the output is not that of ruff.

    Read from JSON: a message may quote the module, and must not look like one about another.
    """
    lines: list[list[str]] = [[] for _ in texts]
    try:
        for entry in json.loads(output):
            number = int(Path(entry["filename"]).parent.name)
            lines[number].append(_render_entry(entry, texts[number].file))
    except (ValueError, KeyError, TypeError, IndexError):
        return None
    return [_build_finding(found) for found in lines]


def _render_entry(entry: dict[str, Any], file: str) -> str:
    at = entry["location"]
    code = entry.get("code") or "invalid-syntax"
    text = one_line(entry["message"], _LINE_CHARS)
    return f"{file}:{int(at['row'])}:{int(at['column'])}: {code} {text}"


def _build_finding(lines: list[str]) -> Finding:
    output = "\n".join(lines)
    return Finding(not lines, summarize_output(output) if lines else "", output)


def find_ruff(module: str) -> Path | None:
    """Return the program of the installed package, never one of PATH, which anybody may set."""
    if find_spec(module) is None:
        return None
    from ruff.__main__ import find_ruff_bin

    try:
        return Path(find_ruff_bin())
    except FileNotFoundError:
        return None
