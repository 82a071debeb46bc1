"""The modules that differ from a revision are found, with the real git."""

import shutil
import subprocess

import pytest

from pulsus.core.validators.git_changes import list_changed_since
from pulsus.errors import UsageError

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git")


@pytest.fixture
def repo(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for name in ("same.py", "edited.py", "gone.py", "old name.py"):
        (folder / name).write_text(f"# {name}\nx = 1\ny = 2\nz = 3\n", encoding="utf-8")
    (folder / ".gitignore").write_text("ignored.py\n", encoding="utf-8")
    git(folder, "add", ".")
    commit(folder)
    return folder


def git(folder, *args):
    subprocess.run(["git", "-C", folder, *args], check=True, capture_output=True, timeout=30)


def commit(folder):
    who = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
    git(folder, *who, "commit", "-qm", "work", "--allow-empty")


def names(folder, revision="HEAD"):
    top, found = list_changed_since(folder, revision)
    assert top == folder.resolve()
    return sorted(path.name for path in found)


def test_nothing_changed_is_nothing(repo):
    assert names(repo) == []


def test_edited_new_and_renamed_files_count_and_gone_and_ignored_ones_do_not(repo):
    (repo / "edited.py").write_text("x = 2\n", encoding="utf-8")
    (repo / "gone.py").unlink()
    (repo / "old name.py").rename(repo / "new\nname.py")
    (repo / "ignored.py").write_text("", encoding="utf-8")
    (repo / "sub").mkdir()
    (repo / "sub" / "untracked ü.py").write_text("", encoding="utf-8")
    expected = ["edited.py", "new\nname.py", "untracked ü.py"]
    assert names(repo) == expected
    git(repo, "add", ".")
    assert names(repo) == expected
    commit(repo)
    assert names(repo) == []
    assert names(repo, "HEAD~1") == expected


def test_a_folder_inside_the_repository_will_do(repo):
    (repo / "deep").mkdir()
    (repo / "edited.py").write_text("x = 2\n", encoding="utf-8")
    top, found = list_changed_since(repo / "deep", "main")
    assert top == repo.resolve()
    assert found == {top / "edited.py"}


@pytest.mark.parametrize("revision", ["nope", "", "--output=/tmp/x", "HEAD:same.py"])
def test_an_unknown_revision_is_a_usage_error(repo, revision):
    with pytest.raises(UsageError, match="knows no revision") as caught:
        list_changed_since(repo, revision)
    assert "HEAD~1" in caught.value.hint


def test_no_repository_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="finds no repository"):
        list_changed_since(tmp_path, "HEAD")


def test_no_git_is_a_usage_error(repo, monkeypatch):
    monkeypatch.setenv("PATH", str(repo))
    with pytest.raises(UsageError, match="git is not installed"):
        list_changed_since(repo, "HEAD")


def test_nothing_that_the_repository_configures_is_run(repo, tmp_path):
    mark = tmp_path / "ran"
    evil = tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {mark}\n", encoding="utf-8")
    evil.chmod(0o755)
    git(repo, "config", "core.fsmonitor", str(evil))
    git(repo, "config", "diff.external", str(evil))
    git(repo, "config", "diff.x.textconv", str(evil))
    (repo / ".gitattributes").write_text("*.py diff=x\n", encoding="utf-8")
    mark.unlink(missing_ok=True)
    (repo / "edited.py").write_text("x = 2\n", encoding="utf-8")
    assert names(repo) == [".gitattributes", "edited.py"]
    assert not mark.exists()
