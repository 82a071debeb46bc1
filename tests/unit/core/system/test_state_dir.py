"""The versioned state folder."""

import pytest

from pulsus.core.system.state_dir import VERSION, open_state
from pulsus.errors import StateCorrupt, StorageUnwritable
from tests.promotions import tree


def test_a_new_state_folder_is_versioned_and_ignored_by_git(tmp_path):
    state = open_state(tmp_path / "a" / ".pulsus")
    assert state.exists
    assert tree(state.path) == {
        ".gitignore": b"*\n",
        "version": f"{VERSION}\n".encode(),
        "locks": None,
    }


def test_opening_again_changes_nothing(tmp_path):
    open_state(tmp_path)
    before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")}
    assert open_state(tmp_path).version == VERSION
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")} == before


def test_a_reader_never_makes_a_state_folder(tmp_path):
    state = open_state(tmp_path / ".pulsus", create=False)
    assert not state.exists
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "version is empty"),
        (b"\n", "version is empty"),
        (b"one\n", "holds 'one', not a version number"),
        (b"-1", "not a version number"),
        (b"0", "not a version number"),
        (b"1.0", "not a version number"),
        (b"\xff", "holds '\ufffd', not a version number"),
        (b"1" * 1000, "not a version number"),
    ],
)
def test_a_corrupt_version_is_refused_with_the_fix(tmp_path, text, says, create):
    (tmp_path / "version").write_bytes(text)
    with pytest.raises(StateCorrupt, match=says) as caught:
        open_state(tmp_path, create=create)
    # Without the folder the decision log is missing, and every promotion is refused.
    assert caught.value.hint == f"write {VERSION} into {tmp_path / 'version'}"
    assert tree(tmp_path) == {"version": text}


@pytest.mark.parametrize("create", [True, False])
def test_a_newer_state_is_refused_untouched(tmp_path, create):
    (tmp_path / "version").write_text(f"{VERSION + 1}\n", encoding="utf-8")
    with pytest.raises(StateCorrupt, match="newer Pulsus") as caught:
        open_state(tmp_path, create=create)
    assert "upgrade" in caught.value.hint


def test_a_file_where_the_folder_should_be_is_refused(tmp_path):
    (tmp_path / ".pulsus").touch()
    with pytest.raises(StateCorrupt, match="cannot read"):
        open_state(tmp_path / ".pulsus")


def test_a_version_that_is_a_folder_is_refused(tmp_path):
    (tmp_path / "version").mkdir()
    with pytest.raises(StateCorrupt, match="cannot read"):
        open_state(tmp_path, create=False)


def test_an_unwritable_place_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises((StorageUnwritable, StateCorrupt)):
        open_state(tmp_path / "file" / ".pulsus")
