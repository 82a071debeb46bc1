"""Measure the time that confinement adds to a run (docs/benchmarks.md). No time is asserted.

Runs are made turn by turn, so that both meet the same machine. Compare the least times: beside
other work the medians say how busy the machine was.
"""

import resource
import statistics
import time

import pytest

from pulsus.execution.confinement.choose_confinement import RunLimits, plan_confinement
from pulsus.execution.confinement.kernel_support import find_support
from pulsus.execution.tool_process import UNCONFINED, run_tool
from tests.compositions import module
from tests.confined import need_confinement

pytestmark = pytest.mark.bench

ROUNDS = 60
TEXT = (
    '"""Give.\n\nKind: read\n\nEffects:\n    paths: {}\n    hosts: none\n    commands: none\n"""\n'
)
BODY = "\n\ndef run():\n    return 1\n"


def spent():
    """Processor time of ended children, in seconds."""
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


@pytest.mark.parametrize("paths", ["none", "/proc"], ids=["landlock", "supervised"])
def test_what_confinement_adds_to_a_run(paths, capsys):
    need_confinement()
    tool, source = module("a/b/tool", TEXT.format(paths) + BODY)
    walls: dict[bool, list[float]] = {True: [], False: []}
    works: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(ROUNDS):
        for confined in (True, False):
            began, before = time.perf_counter(), spent()
            planned = plan_confinement([tool], {}, RunLimits(), find_support(), reads=True)
            how = planned if confined else UNCONFINED
            run_tool(tool, source, {}, steps={}, timeout_s=20.0, planned=how)
            walls[confined].append((time.perf_counter() - began) * 1000)
            works[confined].append((spent() - before) * 1000)
    with capsys.disabled():
        for name, times in (("wall", walls), ("processor", works)):
            least, middle = (
                {confined: how(times[confined]) for confined in (True, False)}
                for how in (min, statistics.median)
            )
            print(
                f"\n| {paths}, {name} | least {least[True]:.1f} ms against {least[False]:.1f} "
                f"(+{least[True] - least[False]:.1f}) | median {middle[True]:.1f} against "
                f"{middle[False]:.1f} |",
                end="",
            )
