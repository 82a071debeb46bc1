"""The user's state folder outside every project."""

import multiprocessing
import os
import stat

import pytest

from pulsus.config.user_state import MOST_BYTES, UserState, state_folder
from pulsus.errors import Busy, StorageUnwritable, UserStateInvalid

NOBODY = 65534

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")


@pytest.fixture
def state(tmp_path, monkeypatch):
    home = tmp_path / "state"
    home.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    (tmp_path / "project").mkdir()
    return UserState.of(tmp_path / "project")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_written_readable_by_its_user_only_in_a_folder_of_its_user_only(state):
    before = os.umask(0)
    try:
        state.write("trust.json", b"one")
        state.write("heads/abc.json", b"two")
    finally:
        os.umask(before)
    assert state.read("trust.json") == b"one"
    assert state.read("heads/abc.json") == b"two"
    assert mode(state.folder) == mode(state.folder / "heads") == 0o700
    assert mode(state.folder / "trust.json") == mode(state.folder / "heads/abc.json") == 0o600
    assert sorted(p.name for p in state.folder.iterdir()) == ["heads", "trust.json"]


def test_a_missing_file_or_folder_is_nothing_recorded(state):
    assert state.read("trust.json") is None
    assert state.read("heads/abc.json") is None
    assert not state.folder.exists()
    state.remove("trust.json")


def test_the_default_place_is_below_home(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_STATE_HOME")
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert UserState.of(tmp_path / "p").folder == tmp_path / "home/.local/state/pulsus"


def test_a_relative_state_home_is_ignored(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", "project/state")
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert UserState.of(tmp_path / "p").folder == tmp_path / "home/.local/state/pulsus"


@pytest.mark.parametrize("home", [None, "", "relative"])
def test_without_a_home_the_error_names_the_variable(monkeypatch, tmp_path, home):
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME")
    if home is not None:
        monkeypatch.setenv("HOME", home)
    with pytest.raises(UserStateInvalid, match="HOME is"):
        UserState.of(tmp_path)


def test_a_home_that_does_not_exist_is_not_made(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "nonexistent"))
    with pytest.raises(UserStateInvalid, match=r"nonexistent', which is no folder here") as failure:
        UserState.of(tmp_path / "project")
    assert "XDG_STATE_HOME" in failure.value.hint
    assert not (tmp_path / "nonexistent").exists()


def test_a_home_that_is_a_file_is_named(monkeypatch, tmp_path):
    (tmp_path / "home").write_text("")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with pytest.raises(UserStateInvalid, match=r"HOME is .*, which is no folder here"):
        UserState.of(tmp_path / "project")


@pytest.mark.parametrize("at", ["", "state", "state/deep"])
def test_a_state_folder_that_the_repository_can_fill_is_refused(monkeypatch, tmp_path, at):
    project = tmp_path / "repository" / "tools"
    project.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    for root in (project, tmp_path / "repository"):
        monkeypatch.setenv("XDG_STATE_HOME", str(root / at))
        with pytest.raises(UserStateInvalid, match="lies in the project"):
            UserState.of(project)


def test_a_link_to_a_folder_of_the_project_is_refused(monkeypatch, tmp_path):
    (tmp_path / "project" / "kept").mkdir(parents=True)
    (tmp_path / "elsewhere").symlink_to(tmp_path / "project" / "kept")
    (tmp_path / "same").symlink_to(tmp_path / "project")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    with pytest.raises(UserStateInvalid, match="lies in the project"):
        UserState.of(tmp_path / "same")


@pytest.mark.parametrize("bits", [0o666, 0o620, 0o602])
def test_a_file_that_others_can_write_is_refused(state, bits):
    state.write("trust.json", b"{}")
    (state.folder / "trust.json").chmod(bits)
    with pytest.raises(UserStateInvalid, match=r"other users can write to .*trust\.json"):
        state.read("trust.json")


@pytest.mark.parametrize("bits", [0o777, 0o770, 0o1777])
def test_a_folder_that_others_can_write_is_refused(state, bits):
    state.write("trust.json", b"{}")
    state.folder.chmod(bits)
    for use in (state.read, state.remove, lambda name: state.write(name, b"x")):
        with pytest.raises(UserStateInvalid, match="other users can write to"):
            use("trust.json")


def test_a_folder_above_that_anyone_can_rename_in_is_refused(state):
    state.write("trust.json", b"{}")
    state.folder.parent.chmod(0o777)
    with pytest.raises(UserStateInvalid, match="other users can write to"):
        state.read("trust.json")


@as_root
@pytest.mark.parametrize("whose", ["pulsus/trust.json", "pulsus", "."])
def test_what_another_user_owns_is_refused_by_root_too(state, whose):
    state.write("trust.json", b"{}")
    os.chown(state.folder.parent / whose, NOBODY, NOBODY)
    with pytest.raises(UserStateInvalid, match=f"belongs to user {NOBODY}"):
        state.read("trust.json")


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_only_a_regular_file_is_read(state, kind, tmp_path):
    state.write("other", b"{}")
    path = state.folder / "trust.json"
    match kind:
        case "link":
            path.symlink_to(state.folder / "other")
        case "fifo":
            os.mkfifo(path, 0o600)
        case _:
            path.mkdir(mode=0o700)
    with pytest.raises(UserStateInvalid, match=r"trust\.json"):
        state.read("trust.json")


def test_a_file_in_the_place_of_the_folder_is_an_error(state):
    state.folder.write_text("")
    with pytest.raises(UserStateInvalid, match="cannot read"):
        state.read("trust.json")
    with pytest.raises((UserStateInvalid, StorageUnwritable)):
        state.write("trust.json", b"")


def test_an_endless_file_is_not_read_whole(state):
    state.write("trust.json", b"")
    os.truncate(state.folder / "trust.json", MOST_BYTES + 1)
    with pytest.raises(UserStateInvalid, match="larger than"):
        state.read("trust.json")


@pytest.mark.parametrize("name", ["", "../x", "/etc/x", ".hidden", "a/b/c", "a//b", "a\nb"])
def test_a_name_never_leads_out_of_the_folder(state, name):
    with pytest.raises(ValueError, match="is not NAME"):
        state.read(name)


def test_a_failed_write_leaves_the_old_content(state, monkeypatch):
    state.write("trust.json", b"old")
    monkeypatch.setattr(os, "rename", lambda *a, **k: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(Exception, match=r"cannot write .*trust\.json"):
        state.write("trust.json", b"new")
    monkeypatch.undo()
    assert [p.name for p in state.folder.iterdir()] == ["trust.json"]
    assert (state.folder / "trust.json").read_bytes() == b"old"


def test_two_writers_wait_for_each_other(state):
    with (
        state.locked("trust.json"),
        pytest.raises(Busy, match=r"trust\.json"),
        state.locked("trust.json", seconds=0.05),
    ):
        pass
    with state.locked("trust.json", seconds=0.05):
        pass


def _add_ten(state):
    for _ in range(10):
        with state.locked("count"):
            state.write("count", b"%d" % (int(state.read("count") or b"0") + 1))


def test_no_update_of_parallel_writers_is_lost(state):
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_add_ten, args=(state,)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(30)
    assert state.read("count") == b"30"


def test_a_home_that_cannot_be_looked_at_is_no_crash(monkeypatch):
    """A path that is too long fails like a folder that may not be searched, also for root."""
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/" + "x" * 300)
    with pytest.raises(UserStateInvalid, match="may not be looked at"):
        state_folder()
