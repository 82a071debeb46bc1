"""What mypy knows of libraries, for all processes of one run of the suite.

Reading them takes seconds, and hardly any test is about that. mypy replaces its files whole, so
that processes may share them; who is first reads them, who comes at the same time does so too.
"""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

_NAME = "TESTS_MYPY_CACHE"


def begin():
    """Make the folder, unless the process that started this one has; return it if it is ours."""
    if _NAME in os.environ:
        return None
    os.environ[_NAME] = tempfile.mkdtemp(prefix="pulsus-tests-mypy-")
    return os.environ[_NAME]


def shared():
    """The folder, as mypy is told it."""
    return Path(os.environ[_NAME])


def lend(folder):
    """Let `folder` begin with what is known so far."""
    shutil.copytree(shared(), folder, copy_function=link, dirs_exist_ok=True)


def give(folder):
    """Let others begin with what `folder` holds, where nothing is known yet."""
    taken = Path(tempfile.mkdtemp(prefix="new-", dir=shared().parent))
    try:
        shutil.copytree(folder, taken, copy_function=link, dirs_exist_ok=True)
        for each in taken.iterdir():
            with contextlib.suppress(OSError):  # another process was quicker
                each.rename(shared() / each.name)
    finally:
        shutil.rmtree(taken, ignore_errors=True)


def link(source, target):
    """A second name, for files that are replaced whole and never written to."""
    with contextlib.suppress(OSError):  # another file system
        return os.link(source, target)
    with contextlib.suppress(FileNotFoundError):  # forgotten meanwhile: it was of one module
        return shutil.copy2(source, target)
    return None
