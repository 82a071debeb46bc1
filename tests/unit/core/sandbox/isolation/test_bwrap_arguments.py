"""Mounts and limits of a sandbox follow from the settings (spec §17)."""

import sys
from itertools import pairwise
from pathlib import Path

from pulsus.config.settings import SandboxConfig
from pulsus.core.sandbox.isolation.bwrap_arguments import (
    Descriptors,
    bwrap_arguments,
)
from pulsus.core.sandbox.isolation.mount_plan import (
    MountPlan,
    _follow_links,
    mount_plan,
    reachable_by_others,
)
from pulsus.core.sandbox.sandbox_limits import SandboxLimits

FDS = Descriptors(10, 11, 12, ((13, Path("/etc/passwd")),))
LIMITS = SandboxLimits.of(SandboxConfig(), import_seconds=3.0)


def arguments(shown):
    return bwrap_arguments(shown, LIMITS, FDS, str)


def test_the_defaults_are_those_of_the_specification():
    assert (LIMITS.run_seconds, LIMITS.import_seconds) == (30.0, 3.0)
    assert LIMITS.memory_bytes == 512 << 20


def test_every_namespace_is_new_and_nothing_is_bound_writable():
    args = arguments(mount_plan())
    for name in ("user", "pid", "net", "ipc", "uts"):
        assert f"--unshare-{name}" in args
    assert not {"--bind", "--dev-bind", "--share-net", "--bind-try"} & set(args)
    assert args[args.index("--cap-drop") + 1] == "ALL"


def test_an_interpreter_below_tmp_is_bound_after_tmp_is_made():
    shown = MountPlan((Path("/usr"), Path("/tmp/env/lib")), (), Path("/tmp/env/bin/python"))
    args = arguments(shown)
    made = next(n for n, pair in enumerate(pairwise(args)) if pair == ("--tmpfs", "/tmp"))
    assert made < args.index("/tmp/env/lib")


def test_a_virtual_environment_does_not_show_the_repository_around_it():
    home = Path.home()
    for path in mount_plan().binds:
        assert not home.is_relative_to(path), path
        assert not Path(__file__).is_relative_to(path), path


def test_an_environment_that_is_the_repository_shows_its_libraries_only(tmp_path, monkeypatch):
    for name in ("bin", "lib", "src"):
        (tmp_path / name).mkdir()
    (tmp_path / ".env").write_text("SECRET=1", encoding="utf-8")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    shown = [path for path in mount_plan().binds if path.is_relative_to(tmp_path)]
    assert shown == [tmp_path / "bin", tmp_path / "lib"]


def test_every_link_an_interpreter_is_reached_by_is_followed(tmp_path):
    real = tmp_path / "real" / "bin" / "python"
    real.parent.mkdir(parents=True)
    real.write_bytes(b"")
    (tmp_path / "alias").symlink_to("real")
    link = tmp_path / "env" / "bin" / "python"
    link.parent.mkdir(parents=True)
    link.symlink_to("../../alias/bin/python")
    assert _follow_links(link) == [link, tmp_path / "alias" / "bin" / "python"]


def test_folders_that_others_cannot_enter_are_not_reachable(tmp_path):
    inner = tmp_path / "closed" / "lib"
    inner.mkdir(parents=True)
    (tmp_path / "closed").chmod(0o700)
    assert not reachable_by_others(inner)
    assert reachable_by_others(Path("/usr"))
