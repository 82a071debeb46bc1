"""Hostile tools that claim to be reads change nothing when they run confined.

A person may approve such a tool by mistake (see `tests/blind_modules.py`)."""

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.types import ToolSpec
from pulsus.errors import PulsusError
from pulsus.execution.confinement.choose_confinement import RunLimits, plan_confinement
from pulsus.execution.confinement.kernel_support import find_support
from pulsus.execution.tool_process import run_tool
from tests.blind_modules import LOTS, modules
from tests.confined import need_confinement

PART = 40
PARTS = [
    pytest.param(lot, start, id=f"{lot}-{start}")
    for lot in LOTS
    for start in range(0, len(modules(lot)), PART)
]


@pytest.fixture
def work():
    """Return a folder outside every temporary folder, which a confined tool may not change."""
    folder = Path(tempfile.mkdtemp(prefix="pulsus-blind-", dir="/var/tmp"))
    yield folder
    shutil.rmtree(folder)


def state(folder):
    """Return the visible state of every file below a folder."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        status = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        seen = (status.st_mode, status.st_mtime_ns, status.st_nlink, status.st_uid)
        found[path] = (*seen, tuple(os.listxattr(path)), content)
    return found


def triggered(tool, outside):
    """Return the inputs of its first example, with values that trigger code in other arguments."""
    inputs = dict(tool.examples[0].inputs) if tool.examples else {}
    planted = {"str": str(outside / "planted"), "int": 99, "bool": True}
    for arg in tool.args:
        if arg.name not in inputs and arg.default is not None and arg.type_hint in planted:
            inputs[arg.name] = "deep" if arg.name == "mode" else planted[arg.type_hint]
    return inputs


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("lot", "start"), PARTS)
def test_a_hostile_read_tool_changes_nothing_outside_its_confinement(work, lot, start):
    need_confinement()
    for module in modules(lot)[start : start + PART]:
        if module.honest:
            continue
        folder = work / module.name
        outside = folder / "outside"
        (outside / "sub").mkdir(parents=True)
        (outside / "canary.txt").write_text("untouched", encoding="utf-8")
        places = {"OUTSIDE": outside, "REPO": folder, "HOME": folder, "TOKEN": "t0ken"}
        source = module.filled(places)
        path = folder / f"{module.name}.py"
        path.write_bytes(source)
        tool = read_tool(
            source,
            path=path,
            tool_id=f"blind/lot/{module.name}",
            domain="blind",
            action="lot",
            name=module.name,
            max_bytes=200_000,
        )
        if not isinstance(tool, ToolSpec) or tool.kind == "write" or not tool.kind_declared:
            continue
        inputs = triggered(tool, outside)
        before = state(outside)
        try:
            planned = plan_confinement([tool], inputs, RunLimits(), find_support(), reads=True)
            run_tool(tool, source, inputs, steps={}, timeout_s=15.0, planned=planned, python=None)
        except PulsusError:
            pass  # most end with a refusal of what they tried
        assert state(outside) == before, module.name
