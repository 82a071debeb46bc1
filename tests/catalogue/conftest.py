"""Load a tool for catalogue tests: imported by path, in the test process."""

from __future__ import annotations

import importlib.util
import itertools
from pathlib import Path

import pytest

WORKFLOWS = Path(__file__).resolve().parents[2] / "workflows"
_numbers = itertools.count()


def module_of(tool_id):
    """Return the path of the tool of that id (`domain/action/name`, `shared/...`)."""
    domain, rest = tool_id.split("/", 1)
    folder = WORKFLOWS / ("shared_tools" if domain == "shared" else f"domains/{domain}")
    return folder / f"{rest}.py"


def import_tool(tool_id):
    """Import the tool of that id, and return its module."""
    path = module_of(tool_id)
    spec = importlib.util.spec_from_file_location(f"catalogue_tool_{next(_numbers)}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def load():
    """Return a function from a tool id to its module."""
    return import_tool
