"""The address of a real small model on this machine, or a skip with the reason.

`PULSUS_LLM_BASE_URL` names a server that runs already; otherwise `PULSUS_LLM_SCRIPT`, by default
`../shared/llm/start-local-model.sh`, is asked to start one (and to stop it, if it was not running).
"""

import os
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock

SCRIPT = Path(__file__).parents[2] / "shared/llm/start-local-model.sh"
START_SECONDS = 600


@contextmanager
def local_model():
    """The base URL of a running model."""
    if url := os.environ.get("PULSUS_LLM_BASE_URL"):
        yield url
        return
    script = Path(os.environ.get("PULSUS_LLM_SCRIPT") or SCRIPT)
    if not script.is_file():
        pytest.skip(f"no local model: {script} is not there (PULSUS_LLM_SCRIPT names another)")
    # One process at a time: none stops the server that another is asking.
    with FileLock(Path(tempfile.gettempdir()) / f"pulsus-local-model-{os.getuid()}.lock"):
        yield from _started(script)


def _started(script):
    ran_before = _run(script, "status").returncode == 0
    started = _run(script, "start")
    url = started.stdout.strip().rpartition("\n")[2]
    if started.returncode or not url.startswith("http"):
        pytest.skip(f"no local model: {script.name} start failed: {started.stderr.strip()[-300:]}")
    try:
        yield url
    finally:
        if not ran_before:
            _run(script, "stop")


def _run(script, command):
    return subprocess.run(
        ["bash", script, command],
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )
