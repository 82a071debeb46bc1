"""A check looks at a file once. The next check looks again."""

import os

import pytest

from pulsus.agent.control.protection.files.file_looks import FileLooks, current_looks, one_check
from pulsus.agent.control.protection.files.linked_files import LinkedFiles, links_below
from pulsus.agent.control.protection.files.protected_places import ProtectedPlaces
from pulsus.agent.control.protection.files.real_paths import programs_on_path, real_path


@pytest.fixture
def project(tmp_path):
    (tmp_path / "app" / ".pulsus").mkdir(parents=True)
    (tmp_path / "app" / ".pulsus" / "state.db").write_text("s", encoding="utf-8")
    (tmp_path / "site" / "deep").mkdir(parents=True)
    return tmp_path


def places(project):
    return ProtectedPlaces(
        [project / "app" / ".pulsus"], folder=project / "app", project=project / "app"
    )


def counted_looks(monkeypatch):
    """Return a list that every look at a file's facts is added to."""
    looks, lstat = [], os.lstat

    def looking(path):
        looks.append(path)
        return lstat(path)

    monkeypatch.setattr(os, "lstat", looking)
    return looks


def test_a_link_made_between_two_checks_is_followed_by_the_second(project):
    found, path = places(project), f"{project}/site/new/state.db"
    with one_check():
        assert found.find(path) is None
    (project / "site" / "new").symlink_to(project / "app" / ".pulsus")
    with one_check():
        assert found.find(path) == "inside"


def test_a_link_below_a_folder_made_between_two_checks_is_found_by_the_second(project):
    found = places(project)
    with one_check():
        assert not found.has_links_inside(f"{project}/site")
        assert not found.has_hard_links_inside(f"{project}/site")
    (project / "site" / "deep" / "a").symlink_to(project / "app" / ".pulsus")
    (project / "site" / "deep" / "b").hardlink_to(project / "app" / ".pulsus" / "state.db")
    with one_check():
        assert found.has_links_inside(f"{project}/site")
        assert found.has_hard_links_inside(f"{project}/site")


def test_a_program_put_on_the_path_between_two_checks_is_seen_by_the_second(project, monkeypatch):
    monkeypatch.setenv("PATH", f"{project}/site")
    with one_check():
        assert [*programs_on_path("tool")] == []
    (project / "site" / "tool").touch()
    with one_check():
        assert [*programs_on_path("tool")] == [f"{project}/site/tool"]


def test_nothing_is_kept_outside_a_check(project):
    path = f"{project}/site/a"
    assert real_path(path) == path
    (project / "site" / "a").symlink_to(project / "app")
    assert real_path(path) == str(project / "app")
    assert current_looks() is not current_looks()


def test_a_check_that_failed_leaves_nothing_behind():
    def fail():
        with one_check():
            raise ValueError("a rule that fails")

    with pytest.raises(ValueError, match="fails"):
        fail()
    assert current_looks() is not current_looks()


def test_a_check_within_a_check_sees_what_the_outer_one_saw():
    with one_check():
        outer = current_looks()
        with one_check():
            assert current_looks() is outer
        assert current_looks() is outer


def test_a_path_of_two_rules_is_looked_at_once(project, monkeypatch):
    first, second = places(project), places(project)
    with one_check():
        first.find(f"{project}/site/deep")
        looks = counted_looks(monkeypatch)
        second.find(f"{project}/site/deep")
        real_path(f"{project}/site/deep")
        assert looks == []


def test_what_a_folder_of_one_rule_holds_is_listed_once(project, monkeypatch):
    listed, scandir = [], os.scandir

    def listing(path):
        listed.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", listing)
    with one_check():
        assert [*links_below(f"{project}/site")] == []
        LinkedFiles([]).has_hard_link_below(f"{project}/site")
        assert listed == [f"{project}/site", f"{project}/site/deep"]


def test_the_answers_of_two_sets_of_places_are_told_apart(project):
    (project / "site" / "b").hardlink_to(project / "app" / ".pulsus" / "state.db")
    with one_check():
        assert not LinkedFiles([]).has_hard_link_below(f"{project}/site")
        assert LinkedFiles([f"{project}/app"]).has_hard_link_below(f"{project}/site")


def test_names_below_a_file_that_is_not_there_are_not_looked_for(project):
    known, facts = FileLooks().identities(f"{project}/none/of/these")
    status = project.stat()
    assert (status.st_dev, status.st_ino) in known
    assert facts is None


@pytest.mark.parametrize("most", [0, 1])
def test_a_folder_with_more_names_than_allowed_is_no_answer(project, most):
    looks, folder = FileLooks(), str(project / "app")
    assert (looks.names(folder, most) is None) == (most == 0)
    assert looks.names(folder, 5) is not None
    assert (looks.names(folder, most) is None) == (most == 0)
