"""Stopped containers and images: a real engine where one starts, else what it printed."""

import io
import json
import os
import shutil
import subprocess
import tarfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.catalogue.conftest import import_tool
from tests.changes import change
from tests.throwaway_root import in_throwaway_root

PRUNE = "containers/cleanup/prune_containers"
STOPPED = "containers/cleanup/stopped_containers"
IMAGES = "containers/images/image_sizes"


def engine(*words):
    done = subprocess.run(["podman", *words], capture_output=True, check=True, timeout=60)
    return done.stdout.decode("utf-8").strip()


def need_engine():
    """Start an engine of its own, without the network; skip if there is none that works."""
    if shutil.which("podman") is None:
        pytest.skip("no container engine starts here: podman is missing")
    Path("/etc/containers").mkdir(exist_ok=True)
    storage = '[storage]\ndriver = "vfs"\nrunroot = "/run/c"\ngraphroot = "/var/lib/c"\n'
    Path("/etc/containers/storage.conf").write_text(storage, encoding="utf-8")
    archive = Path("/run/image.tar")
    with tarfile.open(archive, "w") as tar:
        for name in ("bin/busybox", "bin/true"):
            program = shutil.which("busybox") or "/bin/true"
            tar.add(os.path.realpath(program), arcname=name)
        tar.addfile(tarfile.TarInfo("etc/hostname"), io.BytesIO())
    try:
        engine("import", str(archive), "tiny:1")
    except (OSError, subprocess.SubprocessError) as error:
        stderr = getattr(error, "stderr", b"") or b""
        pytest.skip(f"no container engine starts here: {stderr.decode()[-200:] or error}")


def prune_for_real():
    need_engine()
    old = engine("create", "--network=none", "--name", "job", "tiny:1", "/bin/true")
    subprocess.run(["podman", "start", "--attach", old], capture_output=True, check=False)
    if engine("inspect", "--format", "{{.State.Status}}", "job") != "exited":
        pytest.skip("no container engine starts here: a container does not start")
    engine("create", "--network=none", "--name", "new", "tiny:1", "/bin/true")
    shown = import_tool(PRUNE).run(0, "podman", dry_run=True)
    assert (shown["containers"], shown["removed"]) == (["job"], 0)
    assert import_tool(PRUNE).run(1, "podman")["containers"] == []
    change(PRUNE, older_than_hours=0, engine="podman")
    images = import_tool(IMAGES).run("podman")["rows"]
    return [engine("ps", "--all", "--format", "{{.Names}}"), [row["image"] for row in images]]


@pytest.mark.slow
def test_only_stopped_containers_are_removed_and_images_stay():
    names, images = in_throwaway_root(prune_for_real, real_root=True)
    assert names == "new"
    assert images == ["localhost/tiny:1"]


ANSWERS = """#!/bin/sh
echo "$*" >> "{folder}/asked"
case "$1" in
ps) [ -e "{folder}/gone" ] || echo aaaaaaaaaaaaaaaaaaaa; echo bbbbbbbbbbbbbbbbbbbb;;
inspect) cat "{folder}/inspect.json";;
rm) touch "{folder}/gone"; cp "{folder}/after.json" "{folder}/inspect.json";;
esac
"""


@pytest.fixture
def docker(tmp_path, monkeypatch):
    """A program named docker that knows two stopped containers, and notes what it is asked."""

    def stopped(letter, name, hours):
        at = datetime.now(UTC) - timedelta(hours=hours)
        state = {"Status": "exited", "ExitCode": 0, "FinishedAt": f"{at:%Y-%m-%dT%H:%M:%S}.5Z"}
        return {"Id": letter * 20, "Name": f"/{name}", "Config": {"Image": "job:2"}, "State": state}

    found = [stopped("a", "old", 100.0), stopped("b", "young", 2.0)]
    (tmp_path / "inspect.json").write_text(json.dumps(found), encoding="utf-8")
    (tmp_path / "after.json").write_text(json.dumps(found[1:]), encoding="utf-8")
    program = tmp_path / "docker"
    program.write_text(ANSWERS.format(folder=tmp_path), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin:/bin")
    return tmp_path


def test_a_young_container_is_not_pruned_and_none_is_forced(load, docker):
    shown = load(PRUNE).run(48, dry_run=True)
    assert (shown["containers"], shown["argv"]) == (["old"], ["docker", "rm", "aaaaaaaaaaaa"])
    assert not (docker / "gone").exists()
    result = change(PRUNE, older_than_hours=48.0)
    assert (result["removed"], result["engine"]) == (1, "docker")
    asked = (docker / "asked").read_text(encoding="utf-8")
    assert "rm aaaaaaaaaaaa\n" in asked
    assert "--force" not in asked
    again = load(PRUNE).run(48)
    assert (again["argv"], again["removed"]) == ([], 0)


def test_stopped_containers_come_oldest_first(load, docker):
    rows = load(STOPPED).run()["rows"]
    assert [row["name"] for row in rows] == ["old", "young"]
    assert rows[0]["hours"] == pytest.approx(100, abs=0.2)


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("2024-01-02T03:04:05.123456789Z", "2024-01-02T03:04:05+00:00"),
        ("2024-01-02T03:04:05.1+01:00", "2024-01-02T02:04:05+00:00"),
        ("2024-01-02 03:04:05.123456 +0100 CET", "2024-01-02T02:04:05+00:00"),
    ],
)
def test_every_form_of_a_time_is_read(load, tmp_path, time, expected):
    saved = tmp_path / "inspect.json"
    state = {"Status": "exited", "ExitCode": 0, "FinishedAt": time}
    saved.write_text(json.dumps([{"Id": "a" * 20, "State": state}]), encoding="utf-8")
    for tool in (STOPPED, PRUNE):
        module = load(tool)
        assert (
            module._row(json.loads(saved.read_text(encoding="utf-8"))[0])["stopped_at"] == expected
        )


@pytest.mark.parametrize(
    ("tool", "inputs", "reason"),
    [
        (PRUNE, {"older_than_hours": -1}, "older_than_hours -1 is negative"),
        (PRUNE, {"engine": "lxc"}, "engine 'lxc' is not known"),
        (PRUNE, {"engine": "docker", "inspected": "/x"}, "'/x' is for a dry run only"),
        (STOPPED, {"older_than_hours": -1}, "older_than_hours -1 is negative"),
        (STOPPED, {"engine": "lxc"}, "engine 'lxc' is not known"),
        (IMAGES, {"engine": "lxc"}, "engine 'lxc' is not known"),
        (IMAGES, {"limit": 0}, "limit 0 asks for no image"),
    ],
)
def test_inputs_that_make_no_sense_are_refused(load, tool, inputs, reason):
    with pytest.raises(ValueError, match=reason):
        load(tool).run(**inputs)


@pytest.mark.parametrize("tool", [PRUNE, STOPPED, IMAGES])
def test_a_machine_without_an_engine_says_so(load, tool, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="finds neither docker nor podman"):
        load(tool).run()


@pytest.mark.parametrize("tool", [PRUNE, STOPPED, IMAGES])
def test_an_engine_that_fails_is_an_error(load, tool, monkeypatch, tmp_path):
    fake = tmp_path / "docker"
    fake.write_text("#!/bin/sh\necho 'no daemon' >&2\nexit 1\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin:/bin")
    with pytest.raises(RuntimeError, match=r"docker .* failed with status 1: no daemon"):
        load(tool).run()


def test_image_sizes_sorts_by_bytes_and_not_by_text(load, tmp_path):
    saved = tmp_path / "images.json"
    sizes = {"a": "900kB", "b": "1.2GB", "c": "85.1MB", "d": "0B"}
    lines = [
        json.dumps({"Repository": k, "Tag": "1", "ID": k, "Size": v}) for k, v in sizes.items()
    ]
    saved.write_text("\n".join(lines), encoding="utf-8")
    result = load(IMAGES).run(path=str(saved), limit=3)
    assert [row["bytes"] for row in result["rows"]] == [1_200_000_000, 85_100_000, 900_000]
    assert (result["total"], result["untagged"]) == (4, 0)
    assert load(IMAGES).run(path=str(saved), name="C")["total"] == 1
    for text in ("REPOSITORY TAG\n", '{"Size": "big"}', "[1]"):
        saved.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=r"gives no list of images"):
            load(IMAGES).run(path=str(saved))
