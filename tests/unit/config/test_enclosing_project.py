"""The project of a folder is itself, or one above it that no other user could put there."""

import os
import subprocess
import sys

import pytest

from pulsus.config.enclosing_project import find_project

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes folders of other users")


@pytest.fixture
def repository(tmp_path):
    """A work tree with settings at its root, and folders below it."""
    root = tmp_path / "repository"
    (root / "a/b").mkdir(parents=True)
    (root / ".git").mkdir()
    make_project(root)
    return root


def make_project(folder):
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config/pulsus.toml").write_text("", encoding="utf-8")


def test_a_project_is_its_own(repository):
    assert find_project(repository) == repository


def test_a_folder_below_belongs_to_the_root_of_its_work_tree(repository):
    assert find_project(repository / "a/b") == repository
    assert find_project(repository / "a") == repository


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("pyproject.toml", "[tool.pulsus]\n"),
        ("config/commands/x.yaml", ""),
        ("workflows/domains/x.md", ""),
        ("workflows/shared_tools/x.md", ""),
    ],
)
def test_settings_tables_and_tools_make_a_project_and_the_nearest_one_counts(
    place, text, repository
):
    path = repository / "a" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    assert find_project(repository / "a/b") == repository / "a"


def test_a_work_tree_without_a_project_changes_nothing(repository):
    (repository / "config/pulsus.toml").unlink()
    assert find_project(repository / "a/b") == repository / "a/b"


def test_a_project_above_the_work_tree_is_not_used(tmp_path, repository):
    make_project(tmp_path)
    (tmp_path / ".git").mkdir()
    (repository / "config/pulsus.toml").unlink()
    assert find_project(repository / "a/b") == repository / "a/b"
    assert find_project(repository) == repository


def test_a_project_without_a_work_tree_is_not_used(repository):
    (repository / ".git").rmdir()
    assert find_project(repository / "a/b") == repository / "a/b"


def test_a_submodule_and_a_linked_work_tree_end_the_search(repository):
    (repository / "a/.git").write_text("gitdir: ../.git/modules/a\n", encoding="utf-8")
    assert find_project(repository / "a/b") == repository / "a/b"
    make_project(repository / "a")
    assert find_project(repository / "a/b") == repository / "a"


def test_a_git_folder_that_is_a_link_is_no_work_tree(tmp_path, repository):
    (repository / ".git").rename(tmp_path / "git")
    (repository / ".git").symlink_to(tmp_path / "git")
    assert find_project(repository / "a/b") == repository / "a/b"


@pytest.mark.parametrize("open_folder", [".", "a", "a/b"])
def test_a_folder_that_everybody_writes_to_ends_the_search(open_folder, repository):
    (repository / open_folder).chmod(0o777)
    assert find_project(repository / "a/b") == repository / "a/b"
    (repository / open_folder).chmod(0o1777)
    assert find_project(repository / "a/b") == repository / "a/b"


@needs_root
@pytest.mark.parametrize("foreign", [".", "a", "a/b", ".git"])
def test_a_folder_of_another_user_ends_the_search(foreign, repository):
    os.chown(repository / foreign, 65534, 65534)
    assert find_project(repository / "a/b") == repository / "a/b"


def test_a_folder_that_is_gone_is_its_own_project(repository):
    gone = repository / "a/gone"
    assert find_project(gone) == gone


@needs_root
@pytest.mark.skipif(sys.platform != "linux", reason="needs a mount")
def test_a_mount_ends_the_search(repository):
    place = repository / "a"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "none", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        (place / "b").mkdir(parents=True)
        place.chmod(0o755)
        assert find_project(place / "b") == place / "b"
        make_project(place)
        (place / ".git").mkdir()
        assert find_project(place / "b") == place
    finally:
        subprocess.run(["umount", str(place)], check=True)
