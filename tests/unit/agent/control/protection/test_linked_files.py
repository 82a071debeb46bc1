"""Names that lead to files of Pulsus without naming its folders, on real files."""

import os
from pathlib import Path

import pytest

from pulsus.agent.control.protection import linked_files
from pulsus.agent.control.protection.linked_files import (
    TooManyNames,
    linked_names,
    links_below,
)
from pulsus.agent.control.protection.protected_places import ProtectedPlaces
from pulsus.agent.control.protection.real_paths import real_path


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
