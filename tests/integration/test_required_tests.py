"""CI fails if a test that it must run is skipped. Other machines skip the test."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEST = """
import pytest

def test_one():
    pytest.skip({reason!r})
"""
WHOLE_FILE = """
import pytest

pytest.skip({reason!r}, allow_module_level=True)
"""
SKIPPED = {
    "sandbox": (TEST, "no sandbox here: bubblewrap failed"),
    "extra": (WHOLE_FILE, "the extra `embeddings` is not installed"),
    "throwaway": (TEST, "no throw-away root here: no overlay of /etc"),
    "root": (TEST, "root may read everything"),
    "user": (TEST, "this user gets no throw-away root: cannot bind /sys"),
    "cases": (TEST, "outside cases are not here; set PULSUS_CASES"),
}
"""Files that skip themselves, with the reason."""


def outcomes(folder, forbid):
    """Run the files above; return the summary's lines of each file, the output and the status."""
    for name, (text, reason) in SKIPPED.items():
        (folder / f"test_{name}.py").write_text(text.format(reason=reason), encoding="utf-8")
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.conftest",
        "--rootdir",
        str(folder),
        "-rA",
    ]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            *options,
            "--continue-on-collection-errors",
            "--rootdir",
            folder,
            folder,
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PULSUS_FORBID_SKIPS": forbid},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    summary = done.stdout.partition("short test summary info")[2].splitlines()
    found = {name: [line for line in summary if f"test_{name}.py" in line] for name in SKIPPED}
    return found, done.stdout, done.returncode


@pytest.fixture(scope="module")
def in_ci(tmp_path_factory):
    """The outcomes if skips are forbidden, as in CI."""
    return outcomes(tmp_path_factory.mktemp("ci"), "1")


@pytest.mark.seconds
def test_a_missing_component_is_a_skip_on_a_machine_without_one(tmp_path):
    found, _, status = outcomes(tmp_path, "")
    assert status == 0
    assert all(line.startswith("SKIPPED") for lines in found.values() for line in lines)
    assert all(found.values())


@pytest.mark.seconds
def test_a_broken_sandbox_fails_ci_instead_of_skipping_its_tests(in_ci):
    found, shown, status = in_ci
    (line,) = found["sandbox"]
    assert status == 1
    assert line.startswith("FAILED")
    assert "no sandbox here: bubblewrap failed: this test must run" in shown


def test_changing_tools_that_root_cannot_try_fail_ci_instead_of_skipping(in_ci):
    (line,) = in_ci[0]["throwaway"]
    assert line.startswith("FAILED")


def test_a_file_skipped_as_a_whole_fails_ci_too(in_ci):
    (line,) = in_ci[0]["extra"]
    assert line.startswith("ERROR")


@pytest.mark.parametrize("name", ["root", "user", "cases"])
def test_what_a_machine_of_ci_need_not_have_may_be_skipped(in_ci, name):
    (line,) = in_ci[0][name]
    assert line.startswith("SKIPPED")
