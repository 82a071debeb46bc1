"""The lint step (spec §8.1). Effect: runs ruff on the bytes, reading no configuration."""

from __future__ import annotations

import re
import tempfile
from importlib.util import find_spec
from pathlib import Path

from pulsus.core.sandbox.child import run_module
from pulsus.core.validators.finding import Finding
from pulsus.errors import ConfigError

_RULE = re.compile(r"[A-Z]+[0-9]*")


def ruff(
    source: bytes, name: str, *, rules: tuple[str, ...], seconds: float, module: str = "ruff"
) -> Finding:
    """What ruff finds. Too late or crashed is a failure; not installed is unverified.

    Raises ConfigError for a rule that is not a ruff code.
    """
    for rule in rules:
        if not _RULE.fullmatch(rule):
            raise ConfigError(f"validation.ruff_rules: {rule!r} is not a ruff rule code")
    if find_spec(module) is None:
        return missing(module)
    args = [
        *("check", "--isolated", "--no-cache", "--no-fix", "--quiet", "--output-format=concise"),
        *(f"--select={','.join(rules)}", "--target-version=py311"),
        *(f"--stdin-filename={name}.py", "-"),
    ]
    with tempfile.TemporaryDirectory(prefix="pulsus-ruff-") as folder:
        done = run_module(module, args, stdin=source, seconds=seconds, cwd=Path(folder))
    match done.status:
        case 0:
            return Finding(ok=True, output=done.output)
        case None:
            return Finding(ok=False, message=f"took longer than {seconds:g} s and was killed")
        case 1 if f"No module named {module}" in done.output:
            return missing(module)
        case 1:
            return Finding(ok=False, message=first_line(done.output), output=done.output)
        case status:
            message = f"ruff itself failed with status {status}: {first_line(done.output)}"
            return Finding(ok=False, message=message, output=done.output)


def missing(module: str) -> Finding:
    """The answer where a checker is not installed: nothing is proven."""
    text = f"{module} is not installed for this Python (CHECKER_MISSING): pip install {module}"
    return Finding(ok=False, message=text, unverified=True)


def first_line(output: str) -> str:
    """The first thing a checker says, and how much more it says."""
    lines = [line for line in output.splitlines() if line.strip()]
    if not lines:
        return "it says nothing"
    return lines[0] + (f" (and {len(lines) - 1} more)" if len(lines) > 1 else "")
