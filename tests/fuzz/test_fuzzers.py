"""Each fuzzer looks for inputs that break it, for `FUZZ_SECONDS`, from the kept ones on."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz import CORPUS, NAMES
from tests.fuzz.seeds import made

SECONDS = int(os.environ.get("FUZZ_SECONDS", "10"))
FOUND = Path(__file__).parents[2] / "logs/fuzz"
LONGEST = 30  # seconds for one input, on a busy machine
OPTIONS = (
    f"-max_total_time={SECONDS}",
    f"-timeout={LONGEST}",
    "-rss_limit_mb=1024",
    "-max_len=8192",
)


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.timeout(SECONDS + 4 * LONGEST)
@pytest.mark.parametrize("name", NAMES)
def test_no_new_input_breaks_it(name, tmp_path):
    if importlib.util.find_spec("atheris") is None:
        pytest.skip("atheris is not installed: there is no wheel for this machine")
    new, seeds, broken = tmp_path / "new", tmp_path / "seeds", FOUND / name
    shutil.rmtree(broken, ignore_errors=True)
    for folder in (new, seeds, broken):
        folder.mkdir(parents=True)
    for number, data in enumerate(made(name)):
        (seeds / str(number)).write_bytes(data)
    command = [sys.executable, "-m", "tests.fuzz", name, *OPTIONS, f"-artifact_prefix={broken}/"]
    ran = subprocess.run(
        [*command, new, CORPUS / name, seeds],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    log = [line for line in ran.stderr.splitlines() if "INFO: " not in line]
    said = "\n".join((ran.stdout[-4000:], *log[-20:]))
    assert ran.returncode == 0, f"the input is in {broken}:\n{said}"
    assert re.search(r"^Done [1-9]\d* runs", ran.stderr, re.M), said
    shutil.rmtree(broken)
