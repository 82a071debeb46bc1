"""`pulsus init`: a catalogue in any folder, nothing overwritten, from a plain install too."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pulsus.routing.starter_catalogue import install_starter
from tests.namespaces import read_only
from tests.project import PULSUS, pulsus_here
from tests.promotions import tree

pytestmark = pytest.mark.seconds

ROOT = Path(__file__).parents[2]


def test_a_file_in_place_of_a_folder_is_not_called_a_directory(tmp_path):
    (tmp_path / "a.yaml").write_text("")
    done = pulsus_here(tmp_path, "init", "a.yaml")
    assert done.code == 2
    assert "'a.yaml' is a file, and a folder is expected." in done.err
    assert "Directory" not in done.err


def test_an_empty_folder_becomes_a_catalogue(tmp_path):
    done = pulsus_here(tmp_path, "init")
    assert (done.code, done.err) == (0, "")
    listed = pulsus_here(tmp_path, "tools", "list", "--output", "json")
    assert len(listed.json["tools"]) >= 40
    assert listed.err == ""
    assert (tmp_path / "config/pulsus.toml").is_file()
    ignored = (tmp_path / ".gitignore").read_text("utf-8").splitlines()
    assert ignored == [".pulsus/", "/logs/", "workflows/_tmp/", ".venv/"]
    assert not [name for name in tree(tmp_path) if "__pycache__" in name or "_tmp" in name]


@pytest.mark.parametrize("options", [(), ("--empty",)], ids=["starter", "empty"])
def test_init_of_a_new_folder_names_a_next_command_that_works_in_it(tmp_path, options):
    done = pulsus_here(tmp_path, "init", "new tools", *options)
    assert "cd 'new tools' && pulsus " in done.out
    assert "cd " not in pulsus_here(tmp_path / "new tools", "init", *options).out


def test_a_second_init_changes_nothing(tmp_path):
    pulsus_here(tmp_path, "init")
    before = tree(tmp_path)
    done = pulsus_here(tmp_path, "init", "--output", "json")
    assert done.json["created"] == []
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert done.json["kept"] == len([p for p in files if tmp_path / ".pulsus" not in p.parents])
    assert tree(tmp_path) == before


def test_init_says_which_rules_it_added_to_an_existing_gitignore(tmp_path):
    new = pulsus_here(tmp_path, "init", "--empty", "--output", "json").json
    assert (new["created"][-1], new["ignore_rules"][-1]) == (".gitignore", ".venv/")
    ignore = tmp_path / ".gitignore"
    for options in ((), ("--output", "json")):
        ignore.write_text(".pulsus/\n/logs/\nworkflows/_tmp/\n", encoding="utf-8")
        done = pulsus_here(tmp_path, "init", "--empty", *options)
        assert ignore.read_text("utf-8").endswith("workflows/_tmp/\n.venv/\n")
        if options:
            assert (done.json["created"], done.json["ignore_rules"]) == ([], [".venv/"])
        else:
            assert "0 files created, 2 kept\nadded to .gitignore: .venv/\n" in done.out
    assert ".gitignore" not in pulsus_here(tmp_path, "init", "--empty").out


def test_an_interrupted_init_is_completed_by_the_next_one(tmp_path):
    """The second init said that all was set up, and each run warned that no log was begun."""
    install_starter(tmp_path, empty=False)  # as if it was ended before it began the log
    assert pulsus_here(tmp_path, "init").code == 0
    ran = pulsus_here(tmp_path, "run", "memory_summary", "--output", "json")
    assert (ran.code, ran.err) == (0, "")


def test_an_init_approves_no_record_that_is_not_the_starters(tmp_path):
    install_starter(tmp_path, empty=False)
    records = tmp_path / "workflows/domains/system/load/metadata.jsonl"
    records.write_text(records.read_text("utf-8").replace("1.0.0", "1.0.1"), encoding="utf-8")
    assert pulsus_here(tmp_path, "init").code == 0
    found = [row for row in pulsus_here(tmp_path, "audit").out.splitlines() if "UNKNOWN" in row]
    assert "not approved by this user on this machine: system/load/load_average (" in found[0]
    assert len(found[0].split("machine: ")[1].split(", ")) == 1


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_git_commits_every_starter_tool_of_a_new_project(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True, timeout=30)
    assert pulsus_here(tmp_path, "init").code == 0
    asked = ["git", "-C", str(tmp_path), "status", "--porcelain", "--ignored", "-uall"]
    listed = subprocess.run(asked, check=True, timeout=30, capture_output=True, text=True).stdout
    assert "?? workflows/domains/logs/" in listed
    assert [line for line in listed.splitlines() if line.startswith("!! workflows")] == []
    checks = pulsus_here(tmp_path, "doctor", "--output", "json").json["checks"]
    assert [check for check in checks if check["name"] == "git"] == []


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_tools_hidden_by_an_older_ignore_file_are_named_and_still_validated(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True, timeout=30)
    (tmp_path / ".gitignore").write_text("logs/\n", encoding="utf-8")
    assert pulsus_here(tmp_path, "init").code == 0
    who = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
    subprocess.run(["git", "-C", tmp_path, "add", "."], check=True, timeout=30)
    subprocess.run(["git", "-C", tmp_path, *who, "commit", "-qm", "x"], check=True, timeout=30)
    done = pulsus_here(tmp_path, "tools", "check", "--output", "json")
    hidden = [f for f in done.json["findings"] if f["code"] == "GIT_IGNORED"]
    assert done.code == 3
    assert all("/logs/" in finding["path"] for finding in hidden)
    assert hidden
    checks = pulsus_here(tmp_path, "doctor", "--output", "json").json["checks"]
    (check,) = [check for check in checks if check["name"] == "git"]
    assert not check["ok"]
    tool = next(f["path"] for f in hidden if f["path"].endswith(".py"))
    since = pulsus_here(tmp_path, "validate", tool, "--changed-since", "HEAD", "--output", "github")
    assert f"::warning file={tool}" in since.out
    assert (
        "git ignores this module (.gitignore:1: logs/): it is never committed; "
        "`pulsus tools check` lists all such modules"
    ) in since.out


def test_init_keeps_existing_files(tmp_path):
    mine = {
        "config/pulsus.toml": "[ranker]\nthreshold = 0.7\n",
        "workflows/domains/storage/usage/disk_usage.py": '"""Mine."""\n',
        "README.md": "mine",
        ".gitignore": "*.pyc\nlogs/",
    }
    for name, text in mine.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "workflows/domains/memory").symlink_to("/nowhere")
    done = pulsus_here(tmp_path, "init", "--empty", "--output", "json")
    assert done.code == 0, done.err
    done = pulsus_here(tmp_path, "init")
    assert done.code == 2, "memory/ is a link to nothing: no folder can be made there"
    (tmp_path / "workflows/domains/memory").unlink()
    assert pulsus_here(tmp_path, "init").code == 0
    for name, text in mine.items():
        now = (tmp_path / name).read_text("utf-8")
        assert now == text if name != ".gitignore" else now.startswith(text + "\n")
    ignored = (tmp_path / ".gitignore").read_text("utf-8").splitlines()
    assert ignored == ["*.pyc", "logs/", ".pulsus/", "workflows/_tmp/", ".venv/"]


def test_a_link_where_a_file_belongs_is_neither_followed_nor_replaced(tmp_path):
    (tmp_path / "config").mkdir()
    (tmp_path / "config/pulsus.toml").symlink_to(tmp_path / "outside.toml")
    assert pulsus_here(tmp_path, "init", "--empty").code == 0
    assert not (tmp_path / "outside.toml").exists()
    assert (tmp_path / "config/pulsus.toml").is_symlink()


def test_init_creates_the_given_folder(tmp_path):
    done = pulsus_here(tmp_path, "init", "new/place", "--empty", "--output", "json")
    assert done.json["created"] == ["config/pulsus.toml", ".gitignore"]
    assert (tmp_path / "new/place/workflows/domains").is_dir()
    assert (
        pulsus_here(tmp_path, "init", "other", "--project", tmp_path / "new", "--empty").code == 0
    )
    assert (tmp_path / "new/other/workflows/shared_tools").is_dir()


def test_logs_that_are_ignored_but_for_a_readme_are_not_ignored_twice(tmp_path):
    (tmp_path / ".gitignore").write_text("/logs/*\n!/logs/README.md\n", encoding="utf-8")
    assert pulsus_here(tmp_path, "init", "--empty").code == 0
    assert "/logs/" not in (tmp_path / ".gitignore").read_text("utf-8").splitlines()


def test_a_gitignore_that_is_not_utf8_is_kept_as_it_is(tmp_path):
    (tmp_path / ".gitignore").write_bytes(b"caf\xe9\r\n")
    assert pulsus_here(tmp_path, "init", "--empty").code == 0
    assert (tmp_path / ".gitignore").read_bytes().startswith(b"caf\xe9\r\n.pulsus/\n")


def test_a_file_in_the_way_is_named(tmp_path):
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows/domains").write_text("mine")
    done = pulsus_here(tmp_path, "init")
    assert done.code == 2
    assert "error[STORAGE_UNWRITABLE]" in done.err
    assert f"{tmp_path / 'workflows/domains'} is not a folder" in done.err
    assert pulsus_here(tmp_path, "init", "workflows/domains").code == 2


def test_a_read_only_folder_is_one_error(tmp_path):
    done = read_only(tmp_path, (PULSUS, "init"))
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"error[STORAGE_UNWRITABLE]: cannot write {tmp_path}/config")
    assert len(done.stderr.splitlines()) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_plain_install_carries_the_starter_catalogue(tmp_path):
    """The unpacked wheel works without this checkout on the path."""
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path]
    done = subprocess.run([*build, ROOT], capture_output=True, text=True, check=False)
    if "No module named build" in done.stderr:
        pytest.skip("needs the package `build`")
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    site, home = tmp_path / "site", tmp_path / "home"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(site)
    assert not [n for n in names if n.startswith(("agents/", "tests/")) or "_tmp/" in n]
    home.mkdir()
    env = {k: v for k, v in os.environ.items() if not k.startswith("PULSUS_")}
    env |= {"PYTHONPATH": str(site), "NO_COLOR": "1"}

    def installed(*args):
        boot = "import pulsus, sys; assert 'site' in pulsus.__file__, pulsus.__file__; "
        boot += "from pulsus.cli.main import main; main(sys.argv[1:])"
        command = [sys.executable, "-c", boot, *args]
        return subprocess.run(
            command, cwd=home, env=env, capture_output=True, text=True, timeout=120, check=False
        )

    assert installed("init").returncode == 0
    listed = installed("tools", "check")
    assert listed.returncode == 0, listed.stdout
    ours = {n for n in tree(ROOT / "workflows/domains") if n.endswith((".py", ".yaml", ".toml"))}
    assert ours == {
        n for n in tree(home / "workflows/domains") if n.endswith((".py", ".yaml", ".toml"))
    }
    planned = installed("how full are the disks", "--plan")
    assert planned.returncode == 0, planned.stderr
    assert "storage/usage" in planned.stdout


def test_an_empty_catalogue_differs_from_one_where_nothing_fits(tmp_path):
    made = pulsus_here(tmp_path, "init", "--empty")
    assert "how full" not in made.out
    assert "next: write a tool" in made.out
    done = pulsus_here(tmp_path, "route", "how full are my disks")
    assert "the catalogue is empty" in done.out
    assert "shares a word" not in done.out + done.err


def test_a_list_of_no_tools_has_no_header_and_a_denied_tool_says_so(tmp_path):
    pulsus_here(tmp_path, "init")
    assert pulsus_here(tmp_path, "tools", "list", "nowhere/").out == ""
    env = {"PULSUS_ACCESS__DENY": '["storage/usage/disk_usage"]'}
    listed = pulsus_here(tmp_path, "tools", "list", "storage/usage", env=env).out
    assert [line.count("[denied]") for line in listed.splitlines() if "disk_usage" in line] == [1]
    shown = pulsus_here(tmp_path, "tools", "show", "disk_usage", env=env)
    assert "not routed to: not allowed by access.deny pattern" in " ".join(shown.err.split())


def test_an_empty_catalogue_is_told_with_the_command_that_fills_it(tmp_path):
    pulsus_here(tmp_path, "init", "--empty")
    for words in (("tools", "list"), ("tools", "list", "storage/")):
        done = pulsus_here(tmp_path, *words)
        assert (done.code, done.out) == (0, "")
        assert "the catalogue is empty: `pulsus init` copies the starter tools" in done.err
    assert pulsus_here(tmp_path, "tools", "list", "-q").err == ""


def test_a_folder_that_takes_no_files_is_answered_with_another_folder(tmp_path):
    (tmp_path / "closed").mkdir()
    done = read_only(tmp_path / "closed", (PULSUS, "init", "nn"))
    assert "or name another folder" in " ".join(done.stderr.split())
    assert "in the settings" not in done.stderr


@pytest.mark.parametrize("args", [("run", "disk_usage"), ("tools", "show", "disk_usage")])
def test_an_empty_catalogue_is_not_told_to_list_its_tools(tmp_path, args):
    assert pulsus_here(tmp_path, "init", "--empty").code == 0
    done = pulsus_here(tmp_path, *args)
    assert "hint: the catalogue is empty: `pulsus init` copies the starter tools\n" in done.err
    assert "shows every id" not in done.err


def test_a_decision_that_lacks_an_input_says_in_a_pipe_how_to_run_it(tmp_path):
    assert pulsus_here(tmp_path, "init").code == 0
    done = pulsus_here(tmp_path, "route", "biggest files")
    assert done.code == 0
    assert "nothing ran: in a pipe or a script a request is only decided; " in done.err
    assert "add --run --input folder=… to run it\n" in done.err
    given = pulsus_here(tmp_path, "route", "biggest files", "--input", "folder=.")
    assert "nothing ran" not in given.err


@pytest.mark.parametrize("options", [(), ("--empty",)], ids=["starter", "empty"])
def test_init_writes_nothing_beside_settings_that_cannot_be_read(tmp_path, options):
    settings = tmp_path / "config/pulsus.toml"
    settings.parent.mkdir()
    settings.write_text("x = [", encoding="utf-8")
    done = pulsus_here(tmp_path, "init", *options)
    assert done.code == 2
    assert done.err.startswith("error[CONFIG_INVALID]: cannot read config/pulsus.toml: ")
    assert list(tmp_path.rglob("*")) == [settings.parent, settings]
