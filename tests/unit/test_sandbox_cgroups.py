"""Kernel limits over a whole sandbox (spec §17): real ones where this is root and has them."""

import os
from pathlib import Path

import pytest

from pulsus.core.sandbox import cgroups
from pulsus.core.sandbox.cgroups import NoGroups, Tree
from tests.sandboxes import LIMITS, sandboxed


def need_groups():
    try:
        return cgroups.tree()
    except NoGroups as why:
        pytest.skip(f"no control groups: {why}")


def ours():
    folders = set(need_groups().parents.values())
    return [path for folder in folders for path in folder.glob(f"pulsus-{os.getpid()}-*")]


def test_a_user_is_told_that_only_root_makes_groups(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(NoGroups, match="only root"):
        cgroups.tree()


def test_a_group_limits_memory_processes_and_cores_and_is_removed():
    found = need_groups()
    group = cgroups.create(LIMITS, min(os.sched_getaffinity(0)))
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


def test_what_a_killed_pulsus_left_is_removed(tmp_path):
    for name in ("pulsus-4999999-0", f"pulsus-{os.getpid()}-0", "other-1-1"):
        (tmp_path / name).mkdir()
    cgroups._sweep(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other-1-1", f"pulsus-{os.getpid()}-0"]


def test_version_2_gets_its_limits_without_swap(tmp_path, monkeypatch):
    monkeypatch.setattr(
        cgroups, "tree", lambda: Tree(2, dict.fromkeys(("memory", "pids"), tmp_path))
    )
    real = Path.mkdir

    def kernel(folder, *args, **kwargs):
        real(folder, *args, **kwargs)
        for name in ("memory.max", "memory.swap.max", "pids.max"):
            (folder / name).write_text("max", encoding="ascii")

    monkeypatch.setattr(Path, "mkdir", kernel)
    group = cgroups.create(LIMITS, 0)
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
    assert cgroups._delegating(inner) == inner.parent
    (inner.parent / "cgroup.subtree_control").write_text("cpu\n", encoding="ascii")
    assert cgroups._delegating(inner) is None


def test_a_group_that_cannot_be_made_says_why(tmp_path, monkeypatch):
    parents = dict.fromkeys(("memory", "pids"), tmp_path / "gone")
    monkeypatch.setattr(cgroups, "tree", lambda: Tree(2, parents))
    with pytest.raises(NoGroups, match="cannot be made"):
        cgroups.create(LIMITS, 0)
