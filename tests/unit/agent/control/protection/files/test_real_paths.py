"""A path, and the files that a name may start, are looked up anew for each call."""

import os

import pytest

from pulsus.agent.control.protection.files.real_paths import programs_on_path, real_path
from pulsus.agent.control.protection.processes.own_process import OwnProcess, calls_of
from pulsus.commands import classify
from pulsus.commands.shell.script_parser import parse_command


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A package, and two folders of PATH: `one` before `two`."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "main").write_text("", encoding="utf-8")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/one{os.pathsep}{tmp_path}/two")
    return tmp_path


def starts(folders, command):
    own = OwnProcess([f"{folders}/package"])
    script = parse_command(command)
    return own.find_start(script, calls_of(script, classify(command)), writes=False)


@pytest.mark.parametrize(
    "path",
    [
        "", ".", "/", "//", "/usr/bin/env", "/usr//bin/./env/", "/no/such/file", "/etc/passwd/x",
        "/bin/../etc", "relative/name", "/a\0b", "/proc/self/exe", "/proc/self/cwd/x", "~/x",
    ],
)  # fmt: skip
def test_a_real_path_is_that_of_the_library(path):
    try:
        expected = os.path.realpath(path)
    except ValueError:
        expected = os.path.normpath(path)
    assert real_path(path) == expected


def test_a_link_in_any_part_of_a_path_is_followed(folders):
    (folders / "link").symlink_to(folders / "package")
    (folders / "package" / "more").symlink_to("main")
    assert real_path(f"{folders}/link/more") == os.path.realpath(f"{folders}/package/main")
    assert real_path(f"{folders}/link/none") == os.path.realpath(f"{folders}/package/none")


def test_a_program_that_becomes_a_link_to_pulsus_is_noticed_at_the_next_check(folders):
    tool = folders / "two" / "tool"
    tool.write_text("", encoding="utf-8")
    assert not starts(folders, "tool")
    tool.unlink()
    tool.symlink_to(folders / "package" / "main")
    assert starts(folders, "tool") == "tool"


def test_a_target_behind_two_links_that_moves_is_noticed_at_the_next_check(folders):
    (folders / "other").write_text("", encoding="utf-8")
    (folders / "alternative").symlink_to(folders / "other")
    (folders / "one" / "tool").symlink_to(folders / "alternative")
    assert not starts(folders, "tool")
    (folders / "alternative").unlink()
    (folders / "alternative").symlink_to(folders / "package" / "main")
    assert starts(folders, "tool") == "tool"


def test_a_program_further_back_on_the_path_counts_too(folders):
    """The one in front may be gone, or not executable, by the time the shell looks."""
    (folders / "one" / "tool").write_text("", encoding="utf-8")
    (folders / "two" / "tool").symlink_to(folders / "package" / "main")
    assert starts(folders, "tool") == "tool"


def test_a_file_that_two_folders_have_comes_once(folders, monkeypatch):
    (folders / "one" / "tool").write_text("", encoding="utf-8")
    (folders / "same").symlink_to(folders / "one")
    monkeypatch.setenv("PATH", f"{folders}/one{os.pathsep}{folders}/same")
    assert [*programs_on_path("tool")] == [f"{folders}/one/tool"]


def test_links_that_are_one_file_are_both_followed(folders):
    """A relative link leads elsewhere from another folder."""
    (folders / "one" / "tool").symlink_to("../package/main")
    os.link(folders / "one" / "tool", folders / "two" / "tool", follow_symlinks=False)
    assert len([*programs_on_path("tool")]) == 2
