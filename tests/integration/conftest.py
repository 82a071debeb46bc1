"""Set-up for tests of whole commands."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def _loaded_mypy(loaded_mypy):
    """Let commands in this process fork a mypy that is loaded already."""
