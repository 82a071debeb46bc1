"""Run small candidates in a real sandbox."""

import re
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from pulsus.config.settings import SandboxConfig
from pulsus.core.sandbox.job import Job
from pulsus.core.sandbox.sandbox_limits import SandboxLimits
from pulsus.core.sandbox.sandbox_probe import probe, run_sandboxed

TRYING = """
{imports}
from contextlib import suppress
def shell(text):
    subprocess.run(["sh", "-c", text], stdout=-3, stderr=-3)
def run():
    with suppress({errors}):
        {line}
    return 1
"""
MODULES = {
    **{
        name: rf"\b{name}\."
        for name in (
            *("fcntl", "os", "pathlib", "resource", "shutil", "signal", "socket", "sqlite3"),
            *("struct", "sys", "tempfile", "threading", "time"),
        )
    },
    "ctypes": r"\blibc\.|\bctypes\.",
    "subprocess": r"\bsubprocess\.|\bshell\(",
    "http.server": r"\bhttp\.",
    "urllib.request": r"\burllib\.",
}
"""By module, what a line that needs it contains. To import all takes longer than the sandbox."""

LIMITS = SandboxLimits.of(SandboxConfig(max_seconds=10.0), import_seconds=5.0)


def need_sandbox():
    """Skip the test, with the reason, if no sandbox works."""
    status = probe()
    if not status.works:
        pytest.skip(f"no sandbox here: {status.reason}: {status.hint}")


def sandboxed(source: str, limits: SandboxLimits = LIMITS, **job: Any) -> Any:
    """Return the `Outcome` of `run()` in this source."""
    need_sandbox()
    caps = {name: job.pop(name) for name in list(job) if name in SandboxLimits.__dataclass_fields__}
    text = dedent(source).encode()
    given = {"name": "candidate", "entry": "run", "inputs": {}, **job}
    return run_sandboxed(Job(text, **given), replace(limits, **caps))


def trying(line: str) -> str:
    """Return a module whose `run()` tries this line, and imports no more than the line needs."""
    imports = [f"import {name}" for name, used in MODULES.items() if re.search(used, line)]
    if "libc." in line:
        imports.append("libc = ctypes.CDLL(None, use_errno=True)")
    errors = ["OSError"]
    if "sqlite3." in line:
        errors.append("sqlite3.Error")
    if "subprocess" in " ".join(imports):
        errors.append("subprocess.SubprocessError")
    return TRYING.format(imports="\n".join(imports), errors=", ".join(errors), line=line)


def processes_with(token: str) -> list[int]:
    """Return the processes of this machine whose command line contains `token`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            data = path.read_bytes()
        except OSError:
            continue
        if token.encode() in data:
            found.append(int(path.parent.name))
    return found
