"""Names that lead to files of Pulsus without naming its folders, on real files."""

import os
from pathlib import Path

import pytest

from pulsus.agent.control.protection.files import linked_files
from pulsus.agent.control.protection.files.linked_files import (
    LinkedFiles,
    TooManyNames,
    linked_names,
    links_below,
)
from pulsus.agent.control.protection.files.protected_places import ProtectedPlaces
from pulsus.agent.control.protection.files.real_paths import real_path
from tests.call_verdicts import Clock


@pytest.fixture
def app(tmp_path):
    """A project with a state folder, and a folder `out` with links of every sort into it."""
    (tmp_path / "app" / ".pulsus").mkdir(parents=True)
    state = tmp_path / "app" / ".pulsus" / "state.db"
    state.write_text("s", encoding="utf-8")
    out = tmp_path / "out"
    (out / "deep").mkdir(parents=True)
    (out / "plain.txt").write_text("p", encoding="utf-8")
    (out / "hard.db").hardlink_to(state)
    (out / "deep" / "link").symlink_to(state.parent)
    return tmp_path


def places(app) -> ProtectedPlaces:
    root = app / "app"
    return ProtectedPlaces([root / ".pulsus"], folder=root, project=root)


def test_a_hard_link_of_a_protected_file_is_found_by_its_number(app):
    assert places(app).find(f"{app}/out/hard.db") == "inside"
    assert places(app).find(f"{app}/out/plain.txt") is None


@pytest.mark.parametrize("pattern", ["out/h*.db", "out/*/link", "out/d*/l*/state.db", "*/hard.db"])
def test_a_pattern_that_fits_a_link_is_followed(app, pattern):
    assert places(app).find(f"{app}/{pattern}", wild=True) == "inside"


def test_a_pattern_without_links_passes(app):
    assert places(app).find(f"{app}/out/pl*.txt", wild=True) is None


def test_a_link_below_a_folder_is_found_through_another_link(app):
    assert places(app).has_links_inside(f"{app}/out")
    (app / "far").mkdir()
    (app / "far" / "out").symlink_to(app / "out")
    assert places(app).has_links_inside(f"{app}/far")
    (app / "out" / "deep" / "link").unlink()
    assert not places(app).has_links_inside(f"{app}/out")


def test_links_in_a_circle_end_the_search(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path)
    assert list(links_below(str(tmp_path))) == [str(tmp_path)]


def test_a_search_among_too_many_names_is_no_answer(app, monkeypatch):
    monkeypatch.setattr(linked_files, "_MOST_NAMES", 2)
    with pytest.raises(TooManyNames):
        list(linked_names(f"{app}/out/*"))
    with pytest.raises(TooManyNames):
        list(links_below(str(app)))


def test_a_folder_that_may_not_be_entered_does_not_end_the_check(tmp_path, monkeypatch):
    def denied(path):
        raise PermissionError(13, "no", path)

    monkeypatch.setattr(os.path, "realpath", denied)
    assert real_path(f"{tmp_path}/a/../b") == f"{tmp_path}/b"


def test_the_history_of_a_work_tree_around_the_project_counts(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "shop").mkdir()
    (tmp_path / "docs").mkdir()
    inside = ProtectedPlaces([], folder=tmp_path / "shop", project=tmp_path / "shop")
    assert inside.is_in_project(str(tmp_path / "docs"))
    assert not inside.is_in_project(str(Path("/usr")))


def test_a_hard_link_below_a_folder_is_found_before_and_after_the_places_were_listed(app):
    known = LinkedFiles([f"{app}/app/.pulsus"])
    for _ in range(2):
        assert known.has_hard_link_below(f"{app}/out")
        assert not known.has_hard_link_below(f"{app}/out/deep")


def test_a_hard_link_to_a_new_file_of_a_known_folder_is_found(app):
    clock = Clock()
    known = LinkedFiles([f"{app}/app/.pulsus"], clock)
    state = app / "app" / ".pulsus"
    os.utime(state, (1, 1))
    assert known.is_same_file(f"{app}/out/hard.db")
    (state / "new.db").write_text("n", encoding="utf-8")
    (app / "out" / "new.db").hardlink_to(state / "new.db")
    os.utime(state, (1, 1))
    clock.now += 31
    assert known.is_same_file(f"{app}/out/new.db")
    assert known.has_hard_link_below(f"{app}/out")


def test_a_big_folder_passes_only_if_no_file_of_the_places_has_a_second_name(app, monkeypatch):
    monkeypatch.setattr(linked_files, "_MOST_NAMES", 1)
    known = LinkedFiles([f"{app}/app/.pulsus"])
    for name in "abc":
        (app / "out" / "deep" / name).touch()
    with pytest.raises(TooManyNames):
        known.has_hard_link_below(f"{app}/out/deep")
    (app / "out" / "hard.db").unlink()
    assert not known.has_hard_link_below(f"{app}/out/deep")


def test_places_are_not_listed_for_a_folder_without_second_names(app, monkeypatch):
    known = LinkedFiles([f"{app}/app/.pulsus"])
    (app / "plain").mkdir()
    (app / "plain" / "a").touch()
    assert not known.has_hard_link_below(f"{app}/plain")
    assert not known._files.are_fresh


@pytest.mark.parametrize(
    "layer",
    [
        *("/var/lib/docker/overlay2/3f/merged", "/var/lib/docker/overlay2/3f/diff"),
        *("/var/lib/containers/storage/overlay/3f/merged", "/var/lib/lxc/web/rootfs"),
    ],
)
def test_the_root_of_a_container_may_have_the_files_of_pulsus(app, layer):
    assert places(app).find(f"{layer}{app}/app/.pulsus/state.db") == "inside"
    assert places(app).find(f"{layer}/srv/other") is None


def test_the_home_of_another_user_is_that_of_the_list_of_users(app):
    up = "/".join([".."] * 8)
    inside = ProtectedPlaces(
        [app / "app" / ".pulsus"], folder=app, project=app / "app", home=app / "home"
    )
    assert inside.find(f"~root/{up}{app}/app/.pulsus/state.db") == "inside"
    assert inside.find("~root/.pulsus/state.db") is None
