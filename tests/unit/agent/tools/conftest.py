import pytest

from tests import project as projects
from tests.agent_calls import tools_in


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """The tools of a session in a project of their own."""
    return tools_in(projects.make(tmp_path_factory.mktemp("agent") / "project", warm=False))
