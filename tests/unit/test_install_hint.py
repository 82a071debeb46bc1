"""The command that adds an extra fits the place where Pulsus came from."""

import shutil
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from pulsus import install_hint
from pulsus.errors import ExtraMissing
from pulsus.install_hint import install_command


@pytest.fixture
def come_from(monkeypatch, tmp_path):
    """Let the installer have recorded this `direct_url.json`; pip is the one of this Python."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin/python"))
    monkeypatch.setattr(shutil, "which", {"pip": str(tmp_path / "bin/pip")}.get)
    monkeypatch.chdir(tmp_path)

    def record(text):
        class Recorded:
            def read_text(self, name):
                assert name == "direct_url.json"
                return text

        monkeypatch.setattr(install_hint, "distribution", lambda _: Recorded())

    return record


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        pytest.param(None, "pip install 'pulsus-workbench[agent]'", id="an index"),
        pytest.param(
            '{"url": "git+x", "vcs_info": 1, "archive_info": {}}',
            "pip install 'pulsus-workbench[agent] @ git+x'",
            id="an archive",
        ),
        pytest.param(
            '{"url": "https://git.example/p", "vcs_info": {"vcs": "git", "commit_id": "abc"}}',
            "pip install 'pulsus-workbench[agent] @ git+https://git.example/p@abc'",
            id="a repository",
        ),
        pytest.param(
            '{"url": "file:///srv/my%20clone", "dir_info": {}}',
            "pip install '/srv/my clone[agent]'",
            id="a clone elsewhere",
        ),
        pytest.param("not json", "pip install 'pulsus-workbench[agent]'", id="a damaged record"),
    ],
)
def test_the_hint_names_the_place_that_pulsus_was_installed_from(come_from, origin, command):
    come_from(origin)
    assert install_command("agent") == command


def test_in_a_clone_the_hint_needs_no_package_index(come_from, tmp_path):
    come_from(f'{{"url": "{tmp_path.as_uri()}", "dir_info": {{"editable": true}}}}')
    assert install_command("web,agent") == "pip install -e '.[web,agent]'"


def test_a_pip_of_another_python_is_not_offered(come_from, monkeypatch):
    come_from(None)
    monkeypatch.setattr(shutil, "which", {"pip": "/usr/bin/pip"}.get)
    assert install_command("web").startswith("./bin/python -m pip install ")


def test_an_environment_without_pip_uses_uv(come_from, monkeypatch):
    come_from(None)
    monkeypatch.setattr(shutil, "which", {"uv": "/usr/bin/uv"}.get)
    monkeypatch.setattr(install_hint, "find_spec", lambda _: None)
    command = install_command("plot")
    assert command == "uv pip install --python ./bin/python 'pulsus-workbench[plot]'"


def test_a_pulsus_that_is_not_installed_still_gets_a_hint(come_from, monkeypatch):
    come_from(None)

    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(install_hint, "distribution", missing)
    assert "pulsus-workbench[plot]" in install_command("plot")


def test_no_message_writes_its_own_install_command():
    package = Path(install_hint.__file__).parent
    tools = package.parents[1] / "workflows"
    files = [
        *package.rglob("*.py"),
        *(p for p in tools.rglob("*.py") if ".versions" not in p.parts),
    ]
    assert [p for p in files if "pulsus-workbench[" in p.read_text("utf-8")] == []


def test_an_error_of_a_missing_extra_has_the_one_hint():
    failure = ExtraMissing.of("the agent", ["psutil"], "agent")
    assert failure.hint == install_command("agent")


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        pytest.param(
            '{"url": "https://bob:s3cret@host/x.whl?X-Amz-Signature=abcd#sha256=1"}',
            "pip install 'pulsus-workbench[agent] @ https://host/x.whl'",
            id="a password and a signature",
        ),
        pytest.param(
            '{"url": "https://ghp_TOKEN@github.com/o/r.git", "vcs_info": {"vcs": "git"}}',
            "pip install 'pulsus-workbench[agent] @ git+https://github.com/o/r.git'",
            id="a token as the user",
        ),
        pytest.param(
            '{"url": "ssh://git@github.com/o/r.git", "vcs_info": {"vcs": "git"}}',
            "pip install 'pulsus-workbench[agent] @ git+ssh://git@github.com/o/r.git'",
            id="the user of every ssh address",
        ),
        pytest.param(
            '{"url": "https://[s3cret", "archive_info": {}}',
            "pip install 'pulsus-workbench[agent]'",
            id="no address",
        ),
    ],
)
def test_the_hint_prints_no_credentials_of_the_address(come_from, origin, command):
    come_from(origin)
    assert install_command("agent") == command


def test_the_hint_installs_from_the_folder_inside_a_repository(come_from):
    vcs = '"vcs_info": {"vcs": "git", "commit_id": "abc"}'
    come_from(f'{{"url": "https://git.example/p", {vcs}, "subdirectory": "tools/pulsus"}}')
    wanted = "'pulsus-workbench[web] @ git+https://git.example/p@abc#subdirectory=tools/pulsus'"
    assert install_command("web") == f"pip install {wanted}"
    come_from('{"url": "file:///srv/clone", "dir_info": {}, "subdirectory": "tools"}')
    assert install_command("web") == "pip install '/srv/clone/tools[web]'"
