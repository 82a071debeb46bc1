"""Let each worker import other test files first.

In a fresh clone no file is compiled, and pytest rewrites the asserts of each test file. If all
workers began with the same file, each would compile all of them. So each begins with files of its
own, and finds the others compiled.
"""

import contextlib
import importlib
from pathlib import Path

import pytest

FEWEST = 100
"""With fewer files there is little to share."""


def import_own_files(config):
    """In a worker, import its share of the test files below the folders that were asked for."""
    given = getattr(config, "workerinput", None)
    if given is None:
        return
    folders = [config.invocation_params.dir / each for each in config.args]
    files = sorted(file for folder in folders for file in folder.rglob("test_*.py"))
    if len(files) < FEWEST:
        return
    first = int(given["workerid"].removeprefix("gw"))
    for file in files[first :: given["workercount"]]:
        _import(file, config.rootpath)


def _import(file: Path, root: Path):
    name = ".".join(file.relative_to(root).with_suffix("").parts)
    # Collection imports it again, and reports what is wrong with it.
    with contextlib.suppress(Exception, pytest.skip.Exception):
        importlib.import_module(name)
