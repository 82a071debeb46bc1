"""Caches that all processes of one run of the suite share.

To read the libraries, mypy takes seconds, and hardly any test is about that. mypy replaces its
files whole, so processes can share them. If two processes start at the same time, both read the
libraries.
"""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

_NAME = "TESTS_SHARED_FOLDER"


def begin():
    """Make the folder, unless the process that started this one has made it; return it if new."""
    if _NAME in os.environ:
        return None
    os.environ[_NAME] = tempfile.mkdtemp(prefix="pulsus-tests-shared-")
    shared().mkdir()
    return os.environ[_NAME]


def folder():
    """Return the folder that all processes share."""
    return Path(os.environ[_NAME])


def shared():
    """Return the shared cache folder of mypy."""
    return folder() / "mypy"


def lend(target):
    """Fill the folder `target` with the shared cache of mypy."""
    shutil.copytree(shared(), target, copy_function=link, dirs_exist_ok=True)


def give(source):
    """Share the mypy cache in `source`, except for what is shared already."""
    taken = Path(tempfile.mkdtemp(prefix="new-", dir=folder()))
    try:
        shutil.copytree(source, taken, copy_function=link, dirs_exist_ok=True)
        for each in taken.iterdir():
            with contextlib.suppress(OSError):  # another process was quicker
                each.rename(shared() / each.name)
    finally:
        shutil.rmtree(taken, ignore_errors=True)


def link(source, target):
    """Give a file a second name. Use it for files that are replaced whole and never written to."""
    with contextlib.suppress(OSError):  # another file system
        return os.link(source, target)
    with contextlib.suppress(FileNotFoundError):  # deleted meanwhile: it belonged to one module
        return shutil.copy2(source, target)
    return None
