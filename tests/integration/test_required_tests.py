"""A skip of what CI must run fails there, and only there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE = """
import pytest
{top}
def test_one():
    pytest.skip({reason!r})
"""


def outcome(folder, reason, top="", **env):
    """Run one test that skips itself; return pytest's exit status and its output."""
    file = folder / "test_skipping.py"
    file.write_text(FILE.format(top=top, reason=reason), encoding="utf-8")
    options = ["-q", "-p", "no:cacheprovider", "-p", "tests.conftest", "--rootdir", str(folder)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(file)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PULSUS_FORBID_SKIPS": "", **env},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return done.returncode, done.stdout


SANDBOX = "no sandbox here: bubblewrap failed"


def test_a_broken_sandbox_is_a_skip_on_a_machine_without_one(tmp_path):
    assert outcome(tmp_path, SANDBOX)[0] == 0


def test_a_broken_sandbox_fails_ci_instead_of_skipping_its_tests(tmp_path):
    status, shown = outcome(tmp_path, SANDBOX, PULSUS_FORBID_SKIPS="1")
    assert status == 1
    assert "no sandbox here: bubblewrap failed: this test must run" in shown


def test_a_file_skipped_as_a_whole_fails_ci_too(tmp_path):
    top = "pytest.skip('the extra `embeddings` is not installed', allow_module_level=True)"
    assert outcome(tmp_path, "", top)[0] == 5  # pytest found no test
    assert outcome(tmp_path, "", top, PULSUS_FORBID_SKIPS="1")[0] == 2


@pytest.mark.parametrize("reason", ["root may read everything", "no cases in /nowhere"])
def test_what_a_machine_of_ci_need_not_have_may_be_skipped(tmp_path, reason):
    assert outcome(tmp_path, reason, PULSUS_FORBID_SKIPS="1")[0] == 0
