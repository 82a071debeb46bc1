"""Run small tools confined, as this user and as the user `nobody`."""

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pulsus.execution.confinement.choose_confinement import RunLimits, plan_confinement
from pulsus.execution.confinement.kernel_support import find_support
from pulsus.execution.tool_process import run_tool
from tests.compositions import module

USERS = ("same", "nobody")
_NOBODY = "65534"


def need_confinement():
    """Skip the test, with the reason, if this machine cannot confine tools."""
    if find_support().files == "none":
        pytest.skip(f"no confinement here: {'; '.join(find_support().why)}")


@functools.cache
def _reachable_python():
    """Return an interpreter that the user `nobody` can start."""
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        words = ["setpriv", "--reuid", _NOBODY, "--regid", _NOBODY, "--clear-groups", python]
        check = "import sys; sys.exit(sys.version_info < (3, 11))"
        if shutil.which("setpriv") and Path(python).exists():
            done = subprocess.run([*words, "-I", "-c", check], capture_output=True, check=False)
            if done.returncode == 0:
                return python
    return None


def interpreter(user, folder):
    """The interpreter for that user: a script that drops root first, in `folder`."""
    if user == "same":
        return None
    if os.geteuid() != 0:
        pytest.skip("only root can run a tool as another user")
    python = _reachable_python()
    if python is None:
        pytest.skip("needs setpriv, and a Python that nobody may start")
    script = folder / "as-nobody"
    drop = f"setpriv --reuid {_NOBODY} --regid {_NOBODY} --clear-groups"
    script.write_text(f'#!/bin/sh\nexec {drop} {python} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return script


def confined(
    text, *, user="same", folder=None, reads=True, limits=None, timeout_s=30.0, here=None, **inputs
):
    """The RunResult of the tool in `text`, run as `pulsus run` would.

    `here` stands for a machine that has less than this one.
    """
    need_confinement()
    tool, source = module("a/b/tool", text)
    planned = plan_confinement(
        [tool], inputs, limits or RunLimits(), here or find_support(), reads=reads
    )
    python = interpreter(user, folder) if folder else None
    return run_tool(
        tool, source, inputs, steps={}, timeout_s=timeout_s, planned=planned, python=python
    )
