"""Clean the package cache of a real apt in a throw-away root; dnf and apk by their commands."""

import os
import shutil
from pathlib import Path

import pytest

from tests.catalogue.conftest import import_tool
from tests.changes import change
from tests.throwaway_root import in_throwaway_root

CLEAN = "system/packages/clean_package_cache"
MEASURE = "system/packages/package_cache"


def fill(root):
    folder = Path(root, "var/cache/apt/archives")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.deb"):
        old.unlink()
    for name, size in (("tree_2.1.0-1_amd64.deb", 1000), ("bash_5.2-1_amd64.deb", 500)):
        (folder / name).write_bytes(b"x" * size)
    return folder


def clean(root):
    if shutil.which("apt-get") is None:
        pytest.skip("apt is not here")
    folder = fill(root)
    kept = Path("/var/lib/dpkg/status").read_bytes()
    inputs = {"manager": "apt", "root": root}
    shown = import_tool(CLEAN).run(**inputs, dry_run=True)
    assert (shown["files"], shown["freed_bytes"], shown["changed"]) == (2, 1500, False)
    found = import_tool(MEASURE).run(**inputs)
    assert (found["files"], found["bytes"]) == (2, 1500)
    assert [Path(row["path"]).name.partition("_")[0] for row in found["rows"]] == ["tree", "bash"]
    result = change(CLEAN, **inputs)
    assert (result["files"], result["freed_bytes"], result["changed"]) == (2, 1500, True)
    assert result["argv"] == shown["argv"]
    assert not list(folder.glob("*.deb"))
    assert Path("/var/lib/dpkg/status").read_bytes() == kept
    return result["argv"]


@pytest.mark.seconds
def test_apt_deletes_downloaded_packages_and_keeps_installed_ones():
    assert in_throwaway_root(clean, "/", real_root=True) == ["apt-get", "clean"]


@pytest.mark.seconds
def test_the_cache_of_a_mounted_image_is_cleaned_and_the_own_one_stays():
    argv = in_throwaway_root(clean_image, real_root=True)
    assert argv == ["apt-get", "-o", "Dir=/srv/image", "clean"]


def clean_image():
    own = fill("/")
    argv = clean("/srv/image")
    assert len(list(own.glob("*.deb"))) == 2
    return argv


@pytest.mark.parametrize(
    ("manager", "argv"),
    [("dnf", ["dnf", "clean", "packages"]), ("apk", ["apk", "cache", "purge"])],
)
def test_each_package_manager_has_its_own_command(load, manager, argv):
    assert load(CLEAN).run(manager, dry_run=True)["argv"] == argv


def test_a_manager_that_fails_is_an_error(load, monkeypatch, tmp_path):
    fake = tmp_path / "dnf"
    fake.write_text("#!/bin/sh\necho 'cache is locked' >&2\nexit 3\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin:/bin")
    with pytest.raises(
        RuntimeError, match=r"dnf clean packages failed with status 3: cache is loc"
    ):
        load(CLEAN).run("dnf")


@pytest.mark.parametrize("tool", [CLEAN, MEASURE])
def test_an_unknown_manager_or_root_is_refused(load, tool, monkeypatch, tmp_path):
    with pytest.raises(ValueError, match="manager 'brew' is not known"):
        load(tool).run("brew")
    with pytest.raises(ValueError, match=r"root '.*' is no root folder of a system"):
        load(tool).run("apt", root=str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="'auto' finds none of apt, dnf, apk"):
        load(tool).run()
