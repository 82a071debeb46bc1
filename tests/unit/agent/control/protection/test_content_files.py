"""Files that decide what a call changes, and that name a place of Pulsus."""

import pytest

from pulsus.agent.control.protection.content_files import find_in_content
from pulsus.agent.control.protection.files.protected_places import ProtectedPlaces
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.risk.file_uses import find_uses
from pulsus.commands.shell.script_parser import parse_command


def find(command, root):
    places = ProtectedPlaces([root / "app" / ".pulsus"], folder=root, project=root / "app")
    uses = find_uses(parse_command(command), Tables())
    return next(filter(None, (find_in_content(use, places) for use in uses)), "")


@pytest.fixture
def root(tmp_path):
    state = tmp_path / "app" / ".pulsus" / "state.db"
    state.parent.mkdir(parents=True)
    (tmp_path / "bad").write_text(f"a: b\n\trm {state}\n", encoding="utf-8")
    (tmp_path / "list0").write_text(f"/srv/a\0{state}\0", encoding="utf-8")
    (tmp_path / "good").write_text("rm /srv/old.log\n", encoding="utf-8")
    (tmp_path / "make").mkdir()
    (tmp_path / "make" / "Makefile").write_text(f"x:\n\trm -f {state}\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        *("bash bad", "sudo sh ./bad", "make -f bad", "make -C make", "cd make && make clean"),
        *("rm --files0-from=list0", "xargs -a bad rm", "sed -f bad -i x", "wget -i bad"),
        *("git apply bad", "ansible-playbook bad", "sqlite3 x.db '.read bad'", "python3 bad"),
        *("rsync --files-from=list0 / /srv", "tar -xf good.tar -T bad", "patch -i bad"),
    ],
)
def test_a_file_that_decides_and_names_a_protected_place_is_found(command, root):
    assert "state.db" in find(command, root)


@pytest.mark.parametrize(
    "command", ["bash good", "make -f good", "bash missing", "rm bad", "ls bad"]
)
def test_a_file_that_names_no_protected_place_passes(command, root):
    assert find(command, root) == ""
