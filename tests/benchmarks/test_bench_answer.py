"""One line of words to an answer, beside a run of the tool by name, for docs/benchmarks.md.

The two commands run by turns, so that both meet the same machine. Nothing here asserts a time.
"""

import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.bench

PULSUS = str(Path(sys.executable).with_name("pulsus"))
ROUNDS = 15
PAIRS = (
    ("how full are the disks", ("storage/usage/disk_usage",)),
    ("five biggest files in {here}", ("biggest_files", "--input", "folder={here}")),
)


def cost(project: Path, *args: str) -> tuple[float, float]:
    """Return the seconds of the clock and of the processor of one command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run((PULSUS, *args), cwd=project, check=True, capture_output=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, sum(getattr(after, n) - getattr(before, n) for n in ("ru_utime", "ru_stime"))


@pytest.mark.parametrize(("request_text", "by_name"), PAIRS, ids=["no value", "two values"])
def test_words_to_an_answer_beside_a_run_by_name(tmp_path, request_text, by_name):
    project = tmp_path / "project"
    subprocess.run((PULSUS, "init", str(project)), check=True, capture_output=True)
    (tmp_path / "a.log").write_text("x" * 1000)
    request_text = request_text.format(here=tmp_path)
    name = tuple(part.format(here=tmp_path) for part in by_name)
    words, named = [], []
    for _ in range(ROUNDS + 1):
        words.append(cost(project, "route", request_text, "--run", "-q"))
        named.append(cost(project, "run", *name, "-q"))
    for place, clock in enumerate(("clock", "processor")):
        ours = statistics.median(pair[place] for pair in words[1:])
        peer = statistics.median(pair[place] for pair in named[1:])
        print(f"{clock}: words {ours:.3f} s, by name {peer:.3f} s, ratio {ours / peer:.2f}")
    assert len(words) == ROUNDS + 1
