"""The sandbox's first process is out of the candidate's reach (spec §17). Real sandboxes."""

import pytest

from pulsus.core.sandbox import runner
from pulsus.core.sandbox.harness import first_process
from pulsus.core.sandbox.harness.first_process import way_for
from tests.sandboxes import need_sandbox, sandboxed

REACH = """
    import ctypes, os
    libc = ctypes.CDLL(None, use_errno=True)
    def opened(path, flags):
        try:
            os.close(os.open(path, flags))
        except OSError:
            return False
        return True
    def run():
        found = [path for path in ("mem", "maps", "environ", "auxv", "fd/0") if opened(
            "/proc/1/" + path, os.O_RDWR if path == "mem" else 0)]
        found += ["root"] if opened("/proc/self/root/proc/1/mem", os.O_RDWR) else []
        for path in ("root", "cwd", "exe", "fd/0", "fd/1", "fd/2", "fd/4"):
            try:
                found.append(os.readlink("/proc/1/" + path))
            except OSError:
                pass
        os.makedirs("/tmp/a/b")
        open("/tmp/a/x", "w").close()
        os.rename("/tmp/a/x", "/tmp/a/b/x")
        os.link("/tmp/a/b/x", "/tmp/a/y")
        return found, os.getpid()
"""


@pytest.mark.sandbox
@pytest.mark.parametrize("way", ["scope", "refer", "parent"])
def test_no_code_can_be_put_into_the_first_process(way, monkeypatch):
    need_sandbox()
    monkeypatch.setattr(runner, "way_for", lambda abi: way)
    outcome = sandboxed(REACH)
    assert outcome.value == [[], 2], outcome


def test_a_writable_first_process_is_refused(monkeypatch):
    monkeypatch.setattr(first_process, "_enter_domain", lambda way: None)
    monkeypatch.setattr(first_process, "MEMORY", "/proc/self/mem")
    with pytest.raises(first_process.FirstProcessOpen, match="process 1 can be written"):
        first_process.shut_off("scope")


@pytest.mark.parametrize(
    ("abi", "way"),
    [(7, "scope"), (6, "scope"), (5, "refer"), (2, "refer"), (1, "parent"), (0, "parent")],
)
def test_an_old_kernel_gets_a_way_that_works_there(abi, way):
    assert way_for(abi) == way


@pytest.mark.sandbox
def test_the_handed_in_files_cannot_be_changed():
    outcome = sandboxed(
        """
        import os
        def run():
            names = [f"/proc/1/fd/{n}" for n in range(64)]
            names += [f"/proc/self/fd/{n}" for n in os.listdir("/proc/self/fd")]
            return [n for n in names if "memfd" in (os.path.exists(n) and os.readlink(n) or "")]
        """
    )
    assert outcome.value == []
