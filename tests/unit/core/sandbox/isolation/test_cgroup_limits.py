"""Kernel limits over a whole sandbox (spec §17): real ones where this is root and has them."""

import os
import time
from pathlib import Path

import pytest

from pulsus.core.sandbox.isolation import cgroup_limits
from pulsus.core.sandbox.isolation.cgroup_limits import NoGroups, Tree
from tests.sandboxes import LIMITS, sandboxed


def need_groups():
    try:
        return cgroup_limits.find_tree()
    except NoGroups as why:
        pytest.skip(f"no control groups: {why}")


def ours():
    folders = set(need_groups().parents.values())
    return [path for folder in folders for path in folder.glob(f"pulsus-{os.getpid()}-*")]


def as_nobody(group_of, work):
    """Run `work` in a forked process, in these groups and as the user `nobody`. Return its text."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            for folder in group_of:
                (folder / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
            os.write(write, str(work()).encode())
        except BaseException as error:  # noqa: BLE001 - told to the parent
            os.write(write, repr(error).encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    text = os.read(read, 4096).decode()
    os.close(read)
    return text


def test_a_user_without_a_delegated_group_gets_the_reason():
    need_groups()

    def work():
        try:
            cgroup_limits.find_tree()
        except NoGroups as why:
            return why

    assert "cannot be written" in as_nobody((), work) or "offers" in as_nobody((), work)


def test_a_user_with_a_delegated_group_gets_its_limits():
    if os.geteuid() != 0:
        pytest.skip("only root can delegate a group here")
    found = need_groups()
    made = [path / f"delegated-{os.getpid()}" for path in dict.fromkeys(found.parents.values())]
    for folder in made:
        folder.mkdir()
        for path in (folder, *folder.iterdir()):
            os.chown(path, 65534, 65534)

    def work():
        group = cgroup_limits.create_group(LIMITS)
        held = os.fork()
        if held == 0:
            time.sleep(60)
        try:
            group.hold(held)
            below = all(folder.parent in made for folder in group.folders)
            limit = group.events.parent / "memory.limit_in_bytes"
            return below, int(limit.read_text(encoding="ascii")) >> 20
        finally:
            os.kill(held, 9)
            os.waitpid(held, 0)
            group.close()

    try:
        if found.version == 2:
            pytest.skip("a group of version 2 with processes of its own delegates none")
        assert as_nobody(made, work) == "(True, 512)"
        assert not [each for folder in made for each in folder.glob("pulsus-*")]
    finally:
        for folder in made:
            folder.rmdir()


def test_a_group_limits_memory_and_processes_and_is_removed():
    found = need_groups()
    group = cgroup_limits.create_group(LIMITS)
    try:
        where = found.parents["memory"] / group.folders[0].name
        file = "memory.limit_in_bytes" if found.version == 1 else "memory.max"
        assert int((where / file).read_text(encoding="ascii")) == 512 << 20
        pids = found.parents["pids"] / where.name / "pids.max"
        assert int(pids.read_text(encoding="ascii")) == LIMITS.processes + 2
        assert not group.out_of_memory()
    finally:
        group.close()
    assert not any(folder.exists() for folder in group.folders)


@pytest.mark.sandbox
def test_a_sandbox_runs_in_its_group_and_leaves_none():
    need_groups()
    outcome = sandboxed("def run():\n    return open('/proc/self/cgroup').read().split()")
    assert outcome.status == "ok"
    assert sum(f"pulsus-{os.getpid()}-" in line for line in outcome.value) >= 1
    assert ours() == []


@pytest.mark.sandbox
def test_a_child_that_the_kernel_ends_for_memory_fails_the_run():
    need_groups()
    outcome = sandboxed(
        """
        import os
        def run():
            for _ in range(3):
                if os.fork() == 0:
                    held = [bytearray(b"x" * (1 << 20)) for _ in range(400)]
                    os._exit(0)
            for _ in range(3):
                os.wait()
            return 1
        """
    )
    assert outcome.status == "failed"
    assert "more than 512 MB of memory" in outcome.message
    assert ours() == []


def test_groups_of_a_killed_pulsus_are_removed(tmp_path):
    for name in ("pulsus-4999999-0", f"pulsus-{os.getpid()}-0", "other-1-1"):
        (tmp_path / name).mkdir()
    cgroup_limits._sweep_leftovers(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other-1-1", f"pulsus-{os.getpid()}-0"]


def test_version_2_gets_its_limits_without_swap(tmp_path, monkeypatch):
    monkeypatch.setattr(
        cgroup_limits, "find_tree", lambda: Tree(2, dict.fromkeys(("memory", "pids"), tmp_path))
    )
    real = Path.mkdir

    def kernel(folder, *args, **kwargs):
        real(folder, *args, **kwargs)
        for name in ("memory.max", "memory.swap.max", "pids.max"):
            (folder / name).write_text("max", encoding="ascii")

    monkeypatch.setattr(Path, "mkdir", kernel)
    group = cgroup_limits.create_group(LIMITS)
    folder = group.folders[0]
    read = {p.name: p.read_text(encoding="ascii") for p in folder.iterdir()}
    assert (read["memory.max"], read["memory.swap.max"]) == (str(512 << 20), "0")
    assert len(group.folders) == 1
    (folder / "memory.events").write_text("oom 3\noom_kill 2\n", encoding="ascii")
    assert group.out_of_memory()
    for file in folder.iterdir():
        file.unlink()
    group.close()


def test_the_nearest_folder_that_delegates_memory_and_processes_is_taken(tmp_path):
    inner = tmp_path / "slice" / "service"
    inner.mkdir(parents=True)
    (inner / "cgroup.subtree_control").write_text("\n", encoding="ascii")
    (inner.parent / "cgroup.subtree_control").write_text("cpu memory pids\n", encoding="ascii")
    assert (
        cgroup_limits._find_delegated_folder(inner) is None
    )  # no process could be moved from there
    (inner.parent / "cgroup.procs").touch()
    assert cgroup_limits._find_delegated_folder(inner) == inner.parent
    (inner.parent / "cgroup.subtree_control").write_text("cpu\n", encoding="ascii")
    assert cgroup_limits._find_delegated_folder(inner) is None


def test_a_group_that_cannot_be_made_says_why(tmp_path, monkeypatch):
    parents = dict.fromkeys(("memory", "pids"), tmp_path / "gone")
    monkeypatch.setattr(cgroup_limits, "find_tree", lambda: Tree(2, parents))
    with pytest.raises(NoGroups, match="cannot be made"):
        cgroup_limits.create_group(LIMITS)
