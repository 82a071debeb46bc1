"""Further ways out of the sandbox, one a test (spec §17). Each runs in a real one.

Nothing may get through: the call is refused, or the run fails, and no process is left.
"""

import platform
import secrets
import socket

import pytest

from pulsus.core.sandbox import sandbox_session
from tests.sandboxes import processes_with, sandboxed

pytestmark = [pytest.mark.sandbox, pytest.mark.seconds]
on_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers are of x86_64")

CALL = """
    import ctypes, errno
    libc = ctypes.CDLL(None, use_errno=True)
    def run():
        got = libc.syscall({})
        return got if got >= 0 else errno.errorcode[ctypes.get_errno()]
"""


@on_x86
@pytest.mark.parametrize(
    ("call", "said"),
    [
        pytest.param("425, 8, ctypes.create_string_buffer(120)", "EPERM", id="io_uring"),
        pytest.param("323, 0", "EPERM", id="userfaultfd"),
        pytest.param("435, ctypes.create_string_buffer(88), 88", "ENOSYS", id="clone3"),
        pytest.param("56, 0x10000000 | 17, 0, 0, 0, 0", "EPERM", id="clone with a namespace"),
        pytest.param("321, 0, 0, 0", "EPERM", id="bpf"),
        pytest.param("298, 0, 0, 0, 0, 0", "EPERM", id="perf_event_open"),
        pytest.param("250, 0, 0, 0", "EPERM", id="keyctl"),
        pytest.param("438, 3, 0, 0", "EPERM", id="pidfd_getfd"),
        pytest.param("428, -100, b'/', 0", "EPERM", id="open_tree"),
        pytest.param("430, b'tmpfs', 0", "EPERM", id="fsopen"),
        pytest.param("240, b'/queue', 0o102, 0o600, 0", "EPERM", id="message queue"),
        pytest.param("68, 0, 0o1600", "EPERM", id="SysV messages"),
        pytest.param("64, 0, 1, 0o1600", "EPERM", id="SysV semaphores"),
        pytest.param("304, -100, 0, 0", "EPERM", id="open by handle"),
        pytest.param("447, 0", "EPERM", id="memfd_secret"),
        pytest.param("227, 0, 0", "EPERM", id="clock_settime"),
        pytest.param("320, 0, 0, 0, 0, 0", "EPERM", id="kexec"),
        pytest.param("41, 38, 5, 0", "EPERM", id="AF_ALG"),
        pytest.param("41, 2, 3, 1", "EPERM", id="raw socket"),
    ],
)
def test_the_kernel_refuses_the_call(call, said):
    assert sandboxed(CALL.format(call)).value == said


@on_x86
def test_openat2_writes_no_more_than_open_does():
    how = "(ctypes.c_uint64 * 3)(0o101, 0o600, 0)"
    assert sandboxed(CALL.format(f"437, -100, b'/usr/made', {how}, 24")).value == "EROFS"


@on_x86
def test_code_in_memory_alone_cannot_be_executed():
    assert sandboxed(CALL.format("319, b'code', 1")).value == "EPERM"
    assert sandboxed(CALL.format("322, 0, b'', 0, 0, 0x1000")).value != 0


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("open('/proc/sys/kernel/core_pattern', 'w')", id="core_pattern"),
        pytest.param("write('/proc/self/oom_score_adj', b'-1000')", id="oom score"),
        pytest.param("open('/proc/sysrq-trigger', 'w')", id="sysrq"),
        pytest.param("write('/proc/self/uid_map', b'0 0 1')", id="user map"),
        pytest.param("os.mknod('/tmp/disk', 0o60600, os.makedev(8, 0))", id="a disk"),
        pytest.param("os.setuid(0)", id="root"),
        pytest.param("resource.setrlimit(resource.RLIMIT_NPROC, (999, 999))", id="own limits"),
        pytest.param("os.sched_setaffinity(0, range(64))", id="cores"),
        pytest.param("os.nice(-5)", id="priority"),
        pytest.param("os.chmod('/usr/bin/env', 0o4755)", id="set-uid program"),
        pytest.param("os.link('/usr/bin/env', '/tmp/env')", id="hard link out"),
        pytest.param("subprocess.run(['mount', '-t', 'tmpfs', 'x', '/tmp'], check=True)", id="su"),
        pytest.param("subprocess.run(['true', 'x' * 4_000_000])", id="huge argument"),
        pytest.param("os.truncate('/tmp/big', 1 << 40)", id="huge file"),
        pytest.param("os.open('/proc/1/root/../../etc/shadow', 0)", id="up from the root"),
    ],
)
def test_it_fails(line):
    outcome = sandboxed(
        f"""
        import os, resource, subprocess
        def write(path, data):
            os.write(os.open(path, os.O_WRONLY), data)
        def run():
            open("/tmp/big", "w").close()
            {line}
        """
    )
    assert (outcome.status, outcome.stage) == ("failed", "run"), outcome
    assert "Error" in outcome.message


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("[os.write(f, b'x done {}\\n') for f in range(3, 256) if ok(f)]", id="writes"),
        pytest.param("os.closerange(3, 256)", id="closes every channel"),
        pytest.param('print(\'{"phase": "done"}\', flush=True); os._exit(0)', id="prints one"),
        pytest.param("os.kill(-1, 9)\n    os.kill(os.getpid(), 9)", id="kills everybody"),
        pytest.param("signal.setitimer(signal.ITIMER_REAL, 0.05); time.sleep(9)", id="its alarm"),
        pytest.param("ctypes.string_at(0)", id="segmentation fault"),
        pytest.param("sys.setrecursionlimit(1 << 30); (f := lambda: f())()", id="deep recursion"),
        pytest.param("os.execv('/bin/true', ['true'])", id="becomes another program"),
        pytest.param(
            "os.dup2(os.open('/dev/null', 1), 3); os.closerange(4, 99)",
            id="replaces it",
            marks=pytest.mark.seconds,
        ),
    ],
)
def test_there_is_no_result_without_the_harness(body):
    outcome = sandboxed(
        f"""
import ctypes, os, signal, stat, sys, time
def ok(fd):
    try:
        return stat.S_ISFIFO(os.fstat(fd).st_mode)
    except OSError:
        return False
def run():
    {body}
    return 1
"""
    )
    assert (outcome.status, outcome.value) == ("failed", None), outcome


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            "atexit.register(lambda: [spawn() for _ in range(3)])\n    return 1", id="at exit"
        ),
        pytest.param("[spawn() for _ in range(500)]", id="zombies"),
        pytest.param(
            "signal.signal(15, 1)\n    os.setsid() if not os.fork() else 0\n    spawn()\n"
            "    time.sleep(60)",
            id="deaf",
        ),
        pytest.param("os.kill(os.getpid(), 19)", id="stops itself"),
        pytest.param("os.kill(1, 19)\n    spawn()\n    time.sleep(60)", id="stops the first"),
    ],
)
def test_no_process_is_left(body):
    token = f"left{secrets.token_hex(8)}"
    outcome = sandboxed(
        f"""
import atexit, os, signal, subprocess, time
def spawn():
    subprocess.Popen(["sh", "-c", "sleep 60; :", "{token}"], start_new_session=True)
def run():
    {body}
""",
        run_seconds=1.5,
    )
    assert outcome.status in ("ok", "failed")
    assert not processes_with(token)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("while True: held.append(os.open('/dev/ptmx', 2))", id="terminals"),
        pytest.param(
            "while not held or held[-1] >= 0: held.append(libc.inotify_init())\n    raise OSError",
            id="inotify",
        ),
        pytest.param("while True: held.append(os.pipe())", id="pipes"),
        pytest.param("while True: held.append(socket.socketpair())", id="socket pairs"),
        pytest.param(
            "while not held or held[-1] >= 0: held.append(libc.timerfd_create(1, 0))\n"
            "    raise OSError",
            id="timers",
        ),
        pytest.param(
            "while True: held.append(threading.Thread(target=sleep).start())", id="threads"
        ),
        pytest.param("while True: os.mkdir(f'/tmp/{len(held)}'); held.append(0)", id="folders"),
    ],
)
def test_a_flood_ends_at_a_limit(body):
    outcome = sandboxed(
        f"""
import ctypes, os, socket, threading, time
libc = ctypes.CDLL(None)
held = []
def sleep():
    time.sleep(60)
def run():
    {body}
""",
        run_seconds=2.0,
    )
    assert outcome.status == "failed", outcome
    assert outcome.peak_bytes < 600 << 20


def test_the_network_it_sees_is_empty():
    outcome = sandboxed("import socket\ndef run():\n    return socket.if_nameindex()")
    assert outcome.value == [[1, "lo"]]


def test_a_servers_port_of_its_own_is_not_ours():
    with socket.socket() as ours:
        ours.bind(("127.0.0.1", 0))
        port = ours.getsockname()[1]
        outcome = sandboxed(
            f"""
            import socket
            def run():
                with socket.socket() as server:
                    server.bind(("127.0.0.1", {port}))
                    return server.getsockname()[1]
            """
        )
    assert outcome.value == port


def test_a_verdict_cannot_be_had_from_a_childs_exit():
    outcome = sandboxed(
        """
        import os
        def run():
            if os.fork() == 0:
                return {"from": "child"}
            os.wait()
            os.abort()
        """
    )
    assert outcome.status in ("ok", "failed")
    assert outcome.value in (None, {"from": "child"})  # its own lie about its own value, no more


def test_output_beyond_its_limit_is_noticed_also_between_two_looks_at_the_limits(monkeypatch):
    monkeypatch.setattr(sandbox_session, "TICK_SECONDS", 30.0)
    printed = """
        import sys
        def run():
            for _ in range({}):
                sys.stdout.write("x" * 65536)
            sys.stdout.flush()
            return 1
    """
    outcome = sandboxed(printed.format(160))  # 10 MiB
    assert (outcome.status, outcome.value) == ("failed", None)
    assert "printed more than 8 MiB" in outcome.message
    assert sandboxed(printed.format(32)).status == "ok"
