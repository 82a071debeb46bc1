"""No copy and no change of a folder reaches Pulsus through a link in that folder."""

import pytest

from pulsus.agent.control.protection.files import linked_files
from pulsus.agent.control.protection.files.destination_links import (
    copied_names,
    searched_folders,
    written_texts,
)
from pulsus.agent.control.protection.files.linked_files import TooManyNames
from pulsus.agent.control.protection.files.protected_places import ProtectedPlaces
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.risk.file_uses import find_uses
from pulsus.commands.shell.script_parser import parse_command

TABLES = Tables()


def use_of(command):
    return next(iter(find_uses(parse_command(command), TABLES)))


@pytest.fixture
def places(tmp_path):
    state = tmp_path / "app" / ".pulsus"
    state.mkdir(parents=True)
    (state / "state.db").write_text("x", encoding="utf-8")
    (tmp_path / "site" / "deep").mkdir(parents=True)
    return ProtectedPlaces([state], folder=tmp_path / "app", project=tmp_path / "app")


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("cp /a/x /b", ["/b", "/b/x"]),
        ("cp -t /b /a/x /a/y", ["/b", "/b/x", "/b/y"]),
        ("install -m 644 /a/x /b", ["/b", "/b/x"]),
        ("cp -r /a/x/. /b", ["/b"]),
        ("cp -rT /a/x /b", ["/b"]),
        ("mv /a/x /b", ["/b", "/b/x", "/a/x"]),
    ],
)
def test_a_copy_is_judged_by_the_names_that_it_writes(command, names):
    assert [text for text, _ in copied_names(use_of(command)) or ()] == names


@pytest.mark.parametrize(
    "command",
    [
        "cp -r /a/. /b",
        "rsync -a /a/ /b",
        "tar -xf a.tar -C /b",
        "unzip a.zip -d /b",
        "7z x a.7z -o/b",
    ],
)
def test_programs_that_go_on_through_links_are_known(command):
    assert ("/b", True) in [*searched_folders(use_of(command))]


@pytest.mark.parametrize("command", ["rm -rf /b", "mkdir /b/x", "mv /a /b", "systemctl restart b"])
def test_programs_that_change_nothing_below_a_folder_are_not_searched(command):
    assert [*searched_folders(use_of(command))] == []


def test_the_source_of_a_copy_is_not_taken_to_be_written():
    assert "/a/x" not in [text for text, _ in written_texts(use_of("cp /a/x /b/y"))]


def test_a_hard_link_deep_below_a_folder_is_found(places, tmp_path):
    folder = tmp_path / "site"
    assert not places.has_hard_links_inside(str(folder))
    places = ProtectedPlaces(
        [tmp_path / "app" / ".pulsus"], folder=tmp_path / "app", project=tmp_path / "app"
    )
    (folder / "deep" / "x.db").hardlink_to(tmp_path / "app" / ".pulsus" / "state.db")
    assert places.has_hard_links_inside(str(folder))


def test_a_folder_with_more_names_than_are_looked_at_is_refused(places, tmp_path, monkeypatch):
    monkeypatch.setattr(linked_files, "_MOST_NAMES", 3)
    (tmp_path / "other.db").hardlink_to(tmp_path / "app" / ".pulsus" / "state.db")
    for name in "abcde":
        (tmp_path / "site" / name).touch()
    with pytest.raises(TooManyNames, match="more than"):
        places.has_hard_links_inside(str(tmp_path / "site"))


def test_a_search_for_hard_links_costs_nothing_if_no_own_file_has_a_second_name(
    places, tmp_path, monkeypatch
):
    monkeypatch.setattr(linked_files, "_MOST_NAMES", 0)
    assert not places.has_hard_links_inside(str(tmp_path / "site"))
