"""`-m "not further_row"`: the fast suite leaves out rows, and never a whole test."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest

@pytest.mark.parametrize("n", range(8))
def test_few(n): ...

@pytest.mark.parametrize("n", range(9))
def test_many(n): ...

@pytest.mark.sandbox
@pytest.mark.parametrize("n", range(9))
def test_confined(n): ...

def test_single(): ...
"""


def collected(folder, *options):
    (folder / "test_rows.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider"]
    place = ["-p", "tests.conftest", "-c", ROOT / "pyproject.toml", "--rootdir", folder]
    done = subprocess.run(
        [*command, *place, *options, folder / "test_rows.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    names = [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]
    return [name.removeprefix("test_").removesuffix("]").replace("[", " ") for name in names]


@pytest.mark.seconds
def test_some_rows_of_many_are_left_out_and_no_test_or_row_of_the_sandbox(tmp_path):
    every = collected(tmp_path)
    assert len(every) == 8 + 9 + 9 + 1
    left_out = {f"many {n}" for n in (1, 2, 3, 5, 6, 7)}
    assert collected(tmp_path, "-m", "not further_row") == [n for n in every if n not in left_out]
    assert collected(tmp_path, "-m", "further_row") == [n for n in every if n in left_out]
