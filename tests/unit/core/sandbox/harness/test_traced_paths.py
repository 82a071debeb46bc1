"""Every spelling of a path is seen as the file that it leads to (spec §8). Real sandboxes."""

import pytest

from pulsus.core.sandbox.harness.traced_paths import resolve
from pulsus.core.sandbox.observation import seccomp_notify
from pulsus.core.types import InlineFile
from tests.sandboxes import need_sandbox, sandboxed

TREE = {
    "/proc/self": "7",
    "/proc/7/root": "/",
    "/proc/7/cwd": "/tmp",
    "/proc/7/fd/1": "pipe:[12]",
    "/proc/7/fd/3": "/tmp/data",
    "/proc/net": "self/net",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/fd": "/proc/self/fd",
    "/tmp/up": "..",
    "/tmp/loop": "loop",
    "/tmp/in": "/etc",
}


@pytest.mark.parametrize(
    ("path", "follow", "found"),
    [
        ("/proc/self/root/tmp/data", True, "/tmp/data"),
        ("/proc/self/root/proc/self/cwd/data", True, "/tmp/data"),
        ("/proc/7/fd/3", True, "/tmp/data"),
        ("/dev/fd/3", True, "/tmp/data"),
        ("/dev/fd/3", False, "/proc/7/fd/3"),
        ("/dev/stdout", True, ""),
        ("/dev/fd/1/x", True, ""),
        ("/proc/net/tcp", True, "/proc/7/net/tcp"),
        ("/tmp/up/tmp/up/etc/../x", True, "/x"),
        ("/../../tmp//./x", True, "/tmp/x"),
        ("/tmp/loop", True, "/tmp/loop"),
    ],
)
def test_a_link_of_a_process_hides_no_file(path, follow, found):
    assert resolve(path, lambda at: TREE.get(at, ""), follow=follow) == found


def test_a_path_that_counts_from_another_root_stays_below_it():
    found = resolve("/../in/x", lambda at: TREE.get(at, ""), follow=True, root="/tmp")
    assert found == "/tmp/etc/x"


SPELLINGS = """
    import ctypes, os, struct, sys, threading
    from contextlib import suppress
    libc = ctypes.CDLL(None, use_errno=True)
    AT = -100
    def write(path, **more):
        os.close(os.open(path, os.O_WRONLY, **more))
    def bare(number, *args):
        assert libc.syscall(number, *args) >= 0, (number, os.strerror(ctypes.get_errno()))
    def self_root(p): write("/proc/self/root" + p)
    def thread_root(p): write("/proc/thread-self/root" + p)
    def numbered_root(p): write(f"/proc/{os.getpid()}/root" + p)
    def twice(p): write("/proc/self/root/proc/self/root" + p)
    def self_cwd(p): write("/proc/self/cwd/" + os.path.basename(p))
    def thread_cwd(p): write("/proc/thread-self/cwd/" + os.path.basename(p))
    def task(p): write(f"/proc/self/task/{os.getpid()}/root{p}")
    def self_fd(p): write(f"/proc/self/fd/{os.open(p, 0)}")
    def thread_fd(p): write(f"/proc/thread-self/fd/{os.open(p, 0)}")
    def dev_fd(p): write(f"/dev/fd/{os.open(p, 0)}")
    def numbered_fd(p): write(f"/proc/{os.getpid()}/fd/{os.open(p, 0)}")
    def only_a_path(p): write(f"/proc/self/fd/{os.open(p, os.O_PATH)}")
    def parents_fd(p):
        fd = os.open(p, 0)
        if (pid := os.fork()) == 0:
            write(f"/proc/{os.getppid()}/fd/{fd}")
            os._exit(0)
        os.waitpid(pid, 0)
    def stdout(p):
        kept = os.dup(1)
        os.dup2(os.open(p, 0), 1)
        write("/dev/stdout")
        os.dup2(kept, 1)
    def stdin(p):
        os.dup2(os.open(p, 0), 0)
        write("/dev/stdin")
    def beside(p): write(os.path.basename(p), dir_fd=os.open("/tmp", os.O_PATH))
    def beside_root(p): write("root" + p, dir_fd=os.open("/proc/self", 0))
    def chain(p):
        os.symlink("/proc/self/root", "/tmp/scratch/a")
        os.symlink("a" + p, "/tmp/scratch/b")
        write("/tmp/scratch/b")
    def in_a_thread(p):
        t = threading.Thread(target=write, args=("/proc/thread-self/root" + p,))
        t.start(); t.join()
    def bare_open(p): bare(257, AT, b"/proc/self/root" + p.encode(), 1, 0)
    def in_root(p):
        how = struct.pack("=QQQ", 1, 0, 0x10)
        os.makedirs("/tmp/w/tmp/scratch")
        os.rename(p, "/tmp/w/tmp/scratch/" + os.path.basename(p))
        top = os.open("/tmp/w", os.O_PATH)
        bare(437, top, b"/tmp/scratch/" + os.path.basename(p).encode(), how, 24)
    def mode(p): os.chmod(f"/proc/self/fd/{os.open(p, 0)}", 0o600)
    def mode_of_a_path(p): bare(452, os.open(p, os.O_PATH), b"", 0o600, 0x1000)
    def times(p): os.utime(f"/proc/self/root{p}")
    def second_name(p): os.link(p, "/tmp/scratch/n"); write("/tmp/scratch/n")
    def second_name_of_a_descriptor(p):
        name = f"/proc/self/fd/{os.open(p, 0)}".encode()
        bare(265, AT, name, AT, b"/tmp/scratch/m", 0x400)
    def moved_in(p): os.rename("/proc/self/root" + p, "/tmp/scratch/k")
    def renamed_folder(p):
        os.rename("/tmp/scratch", "/tmp/scratch2")
        os.rename("/tmp/scratch2", "/tmp/scratch")
        write(p)
    def run():
        os.chdir("/tmp")
        failed = []
        for name in sys.argv_names:
            try:
                globals()[name](f"/tmp/{name}.txt")
            except (OSError, AssertionError) as error:
                failed.append((name, str(error)))
        return failed
"""
NAMES = [line.split("(")[0].split()[1] for line in SPELLINGS.splitlines() if "(p):" in line]


@pytest.mark.sandbox
def test_no_spelling_of_a_path_hides_that_a_file_is_changed():
    need_sandbox()
    if why := seccomp_notify.unavailable_reason():
        pytest.skip(f"system calls cannot be watched here: {why}")
    files = tuple(InlineFile(f"/tmp/{name}.txt", b"x", None) for name in NAMES)
    outcome = sandboxed(SPELLINGS.replace("sys.argv_names", repr(NAMES)), files=files)
    assert (outcome.status, outcome.value) == ("ok", []), outcome
    seen = [name for name in NAMES if f"/tmp/{name}.txt" in outcome.observed.paths]
    assert set(NAMES) - set(seen) == set()
    assert "/tmp/w/tmp/scratch/in_root.txt" in outcome.observed.paths


@pytest.mark.sandbox
@pytest.mark.parametrize("watched", [True, False], ids=["by calls", "by events"])
def test_paths_in_python_events_are_resolved_as_the_kernel_does(watched, monkeypatch):
    if not watched:
        monkeypatch.setattr(seccomp_notify, "_refused", ["not now"])
    outcome = sandboxed(
        """
        import os
        def run():
            os.chdir("/tmp")
            open("/proc/self/root/tmp/a", "w").close()
            open(f"/proc/self/fd/{os.open('/tmp/b', 0)}", "w").close()
            os.dup2(os.open("/tmp/c", 0), 1)
            open("/dev/stdout", "w").close()
            open("/proc/thread-self/cwd/d", "w").close()
            open("/dev/stderr", "w").close()
            return 1
        """,
        files=tuple(InlineFile(f"/tmp/{name}", b"", None) for name in "bc"),
    )
    assert outcome.value == 1, outcome
    assert outcome.observed.paths == ("/tmp/a", "/tmp/b", "/tmp/c", "/tmp/d")


@pytest.mark.sandbox
def test_settings_of_processes_are_no_streams():
    outcome = sandboxed(
        """
        def run():
            for name in ("self/comm", "1/oom_score_adj", "self/oom_score_adj"):
                try:
                    open("/proc/" + name, "r+").close()
                except OSError:
                    pass
            return 1
        """
    )
    expected = ("/proc/1/oom_score_adj", "/proc/self/comm", "/proc/self/oom_score_adj")
    assert outcome.observed.paths == expected
