"""A candidate reaches nothing outside its boundary (spec §17). Each test uses a real sandbox."""

import os
import socket
import sys
from pathlib import Path

import pytest

from tests.sandboxes import sandboxed

pytestmark = pytest.mark.sandbox


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/etc/shadow", id="password hashes"),
        pytest.param("/root/.ssh", id="root's keys"),
        pytest.param(str(Path.home() / ".bashrc"), id="home"),
        pytest.param(__file__, id="repository"),
        pytest.param("/proc/1/root/etc/shadow", id="through proc"),
        pytest.param("/sys/kernel", id="sysfs"),
        pytest.param("/var/log", id="logs"),
        pytest.param("/run", id="sockets"),
    ],
)
def test_a_candidate_cannot_see(path):
    outcome = sandboxed(f"import os\ndef run():\n    return os.path.exists({path!r})")
    assert outcome.value is False, outcome


def test_a_folder_beside_the_repository_is_not_there(tmp_path):
    (tmp_path / "canary").write_text("secret", encoding="utf-8")
    outcome = sandboxed(f"def run():\n    return open({str(tmp_path / 'canary')!r}).read()")
    assert (outcome.status, outcome.stage) == ("failed", "run")
    assert "FileNotFoundError" in outcome.message


def test_the_environment_is_not_handed_over(monkeypatch):
    monkeypatch.setenv("PULSUS_LLM_API_KEY", "very-secret")
    outcome = sandboxed("import os\ndef run():\n    return dict(os.environ)")
    assert "very-secret" not in str(outcome.value)
    assert outcome.value["HOME"] == "/tmp/home"


def test_a_local_service_of_the_host_cannot_be_reached():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.setblocking(False)
        port = server.getsockname()[1]
        outcome = sandboxed(
            f"""
            import socket
            def run():
                return socket.create_connection(("127.0.0.1", {port}), timeout=2) is not None
            """
        )
        with pytest.raises(BlockingIOError):
            server.accept()
    assert "ConnectionRefusedError" in outcome.message


def test_an_abstract_socket_of_the_host_cannot_be_reached():
    name = f"\0pulsus-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        outcome = sandboxed(
            f"""
            import socket
            def run():
                socket.socket(socket.AF_UNIX).connect({name!r})
            """
        )
    assert "ConnectionRefusedError" in outcome.message


def test_the_system_and_the_interpreter_cannot_be_written():
    outcome = sandboxed(
        f"""
        import errno, os
        def run():
            said = {{}}
            for folder in ("/", "/usr/lib", "/dev", "/etc", {sys.prefix + "/lib"!r}):
                try:
                    open(os.path.join(folder, "planted"), "w").close()
                    said[folder] = "written"
                except OSError as error:
                    said[folder] = errno.errorcode[error.errno]
            return sorted(set(said.values()))
        """
    )
    assert outcome.value in (["EROFS"], ["EACCES", "EROFS"]), outcome


def test_kernel_settings_cannot_be_written_even_when_started_by_root():
    outcome = sandboxed(
        """
        def run():
            for name in ("core_pattern", "hostname", "modprobe"):
                try:
                    open(f"/proc/sys/kernel/{name}", "w").close()
                    return name
                except OSError:
                    continue
        """
    )
    assert (outcome.status, outcome.value) == ("ok", None)


def test_no_descriptor_of_the_host_is_inherited(tmp_path):
    leaked = os.open(tmp_path / "leak", os.O_RDWR | os.O_CREAT)
    os.set_inheritable(leaked, True)
    try:
        outcome = sandboxed(
            """
            import os
            def run():
                return {fd: os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
                        if os.path.lexists(f"/proc/self/fd/{fd}")}
            """
        )
    finally:
        os.close(leaked)
    kinds = sorted(target.split(":")[0] for target in outcome.value.values())
    assert kinds == ["/dev/null", "pipe", "pipe", "pipe", "pipe"]


def test_a_child_does_not_get_the_result_channel():
    outcome = sandboxed(
        """
        import subprocess, sys
        def run():
            code = "import os; print(sorted(int(fd) for fd in os.listdir('/proc/self/fd')))"
            call = [sys.executable, "-c", code]
            return subprocess.run(call, capture_output=True, text=True, close_fds=False).stdout
        """
    )
    assert outcome.value == "[0, 1, 2, 3]\n"  # 3 is the folder being listed


def test_reading_stdin_ends_at_once():
    assert sandboxed("import sys\ndef run():\n    return sys.stdin.read()").value == ""


def test_only_its_own_processes_are_visible():
    outcome = sandboxed(
        "import os\ndef run():\n    return [int(p) for p in os.listdir('/proc') if p.isdigit()]"
    )
    assert outcome.value == [1, 2]


def test_it_is_nobody_without_a_name_or_a_capability():
    outcome = sandboxed(
        """
        import os, pwd, socket
        def run():
            status = open("/proc/self/status").read()
            caps = {line.split()[1] for line in status.splitlines() if line.startswith("Cap")}
            return [os.getuid(), pwd.getpwuid(os.getuid()).pw_name, socket.gethostname(), len(caps)]
        """
    )
    assert outcome.value == [65534, "nobody", "sandbox", 1]


@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param("libc.unshare(0x10000000)", id="new user namespace"),
        pytest.param("libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)", id="mount"),
        pytest.param("libc.ptrace(0, 0, 0, 0)", id="ptrace"),
        pytest.param("libc.memfd_create(b'x', 0)", id="memory outside processes"),
        pytest.param("libc.shmget(0, 4096, 0o1600)", id="SysV memory"),
        pytest.param("libc.socket(40, 1, 0)", id="AF_VSOCK to the hypervisor"),
        pytest.param("libc.socket(17, 3, 0)", id="packet socket"),
        pytest.param("libc.personality(0)", id="personality"),
        pytest.param("libc.prctl(1, 0, 0, 0, 0)", id="outliving the parent"),
        pytest.param("libc.sched_setaffinity(0, 8, b'\\xff' * 8)", id="more than one core"),
    ],
)
def test_the_kernel_refuses(attempt):
    outcome = sandboxed(
        f"""
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        def run():
            return [{attempt}, ctypes.get_errno()]
        """
    )
    assert outcome.value == [-1, 1], outcome


@pytest.mark.parametrize("where", ["-1", "os.open('/dev/zero', os.O_RDWR)"])
def test_memory_that_outlives_the_process_that_touched_it_cannot_be_had(where):
    outcome = sandboxed(f"import mmap, os\ndef run():\n    mmap.mmap({where}, 1 << 20)")
    assert "Error" in outcome.message


def test_the_first_process_is_filtered_too():
    outcome = sandboxed("def run():\n    return open('/proc/1/status').read()")
    assert "Seccomp:\t2" in outcome.value
    assert "CapEff:\t0000000000000000" in outcome.value


def test_it_runs_on_one_core():
    outcome = sandboxed("import os\ndef run():\n    return len(os.sched_getaffinity(0))")
    assert outcome.value == 1


def test_our_own_cores_are_as_before():
    before = os.sched_getaffinity(0)
    sandboxed("def run():\n    return 1")
    assert os.sched_getaffinity(0) == before


def test_no_mount_is_left_on_the_host():
    before = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    sandboxed("def run():\n    return 1")
    assert Path("/proc/self/mountinfo").read_text(encoding="utf-8") == before


def test_ordinary_work_still_works():
    outcome = sandboxed(
        """
        import asyncio, concurrent.futures, csv, ssl, subprocess, sys, tempfile, zoneinfo
        from pathlib import Path
        import psutil

        async def answer():
            return 42

        def run():
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "a.txt").write_text("hello", encoding="utf-8")
                size = Path(folder, "a.txt").stat().st_size
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                squares = list(pool.map(lambda n: n * n, range(4)))
            said = subprocess.run(["sh", "-c", "echo hi"], capture_output=True, text=True).stdout
            return [size, squares, said, asyncio.run(answer()), psutil.virtual_memory().total > 0]
        """
    )
    assert outcome.value == [5, [0, 1, 4, 9], "hi\n", 42, True], outcome
