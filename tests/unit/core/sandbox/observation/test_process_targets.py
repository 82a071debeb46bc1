"""Effects on processes, ports and files of others are seen (spec §8). Real sandboxes."""

import pytest

from pulsus.core.sandbox.observation import seccomp_notify
from tests.sandboxes import need_sandbox, sandboxed, trying

pytestmark = pytest.mark.sandbox

NATIVE = (
    "libc.connect(socket.socket(1, 2).fileno(), b'\\1\\0/run/systemd/{}'.ljust(110, b'\\0'), 110)"
)


@pytest.fixture(autouse=True)
def _watched():
    need_sandbox()
    if why := seccomp_notify.unavailable_reason():
        pytest.skip(f"system calls cannot be watched here: {why}")


def attempt(line):
    outcome = sandboxed(trying(line))
    assert outcome.status == "ok", outcome
    return outcome.observed


@pytest.mark.parametrize(
    ("line", "others"),
    [
        pytest.param("os.kill(42, 15)", "signals process 42", id="small number"),
        pytest.param("os.kill(9, 15)", "signals process 9", id="very small number"),
        pytest.param("os.pidfd_open(42)", "calls pidfd_open for process 42", id="pidfd"),
        pytest.param("os.killpg(17, 15)", "signals process group 17", id="group"),
        pytest.param(
            "fcntl.fcntl(0, fcntl.F_SETOWN, 42)", "signals process 42", id="owner of a descriptor"
        ),
        pytest.param(
            "fcntl.fcntl(0, fcntl.F_SETOWN, -42)", "signals process group 42", id="owning group"
        ),
        pytest.param(
            "fcntl.fcntl(0, 15, struct.pack('ii', 1, 1))", "signals process 1", id="F_SETOWN_EX"
        ),
        pytest.param(
            "fcntl.ioctl(socket.socket(), 0x8901, struct.pack('i', 42))",
            "signals process 42",
            id="FIOSETOWN",
        ),
        pytest.param("fcntl.fcntl(0, 10, 9)", "calls fcntl F_SETSIG", id="F_SETSIG"),
        pytest.param(
            "fcntl.fcntl(os.open('/usr', 0), 1026, 1)", "calls fcntl F_NOTIFY", id="F_NOTIFY"
        ),
        pytest.param(
            "os.setpriority(os.PRIO_PROCESS, 1, 19)", "calls setpriority for process 1", id="nice"
        ),
        pytest.param(
            "os.setpriority(os.PRIO_USER, 0, 19)",
            "calls setpriority for every process of a user",
            id="nice of a user",
        ),
        pytest.param(
            "libc.syscall(251, 1, 42, 0x6000)", "calls ioprio_set for process 42", id="ioprio"
        ),
        pytest.param(
            "resource.prlimit(1, resource.RLIMIT_NOFILE, (16, 16))",
            "calls prlimit64 for process 1",
            id="limits",
        ),
        pytest.param(
            "os.sched_setscheduler(42, os.SCHED_IDLE, os.sched_param(0))",
            "calls sched_setscheduler for process 42",
            id="scheduler",
        ),
        pytest.param(
            "os.sched_setaffinity(42, [0])", "calls sched_setaffinity for process 42", id="cores"
        ),
        pytest.param(
            "socket.socket().bind(('127.0.0.1', 8765))",
            "calls listen at 127.0.0.1:8765",
            id="known port",
        ),
        pytest.param(
            "s = socket.socket(); s.bind(('', 0)); s.listen()",
            "calls listen at 0.0.0.0",
            id="chosen port of every address",
        ),
        pytest.param(
            "s = socket.socket(socket.AF_INET6); s.listen()", "calls listen at [::]", id="unbound"
        ),
        pytest.param(
            "socket.socket(type=socket.SOCK_DGRAM).bind(('', 5353))",
            "calls listen at 0.0.0.0:5353",
            id="datagrams",
        ),
        pytest.param(
            "socket.socket(socket.AF_UNIX).bind('\\0door')",
            "calls listen at unix:@door",
            id="abstract socket",
        ),
        pytest.param(
            "fcntl.flock(os.open(os.__file__, 0), fcntl.LOCK_EX | fcntl.LOCK_NB)",
            "calls flock on ",
            id="lock on a file of the host",
        ),
        pytest.param(
            "fcntl.lockf(os.open(os.__file__, 0), fcntl.LOCK_SH)", "calls fcntl on ", id="lockf"
        ),
        pytest.param(
            "m, s = os.openpty(); fcntl.ioctl(s, 0x5412, b'x')", "calls ioctl TIOCSTI", id="typing"
        ),
        pytest.param(
            "libc.syscall(159, struct.pack('I204x', 1))", "calls adjtimex", id="clock adjusted"
        ),
        pytest.param("libc.syscall(250, 7, -3)", "calls keyctl", id="keyring cleared"),
        pytest.param("libc.syscall(304, -100, bytes(16), 0)", "calls open_by_handle_at", id="h"),
        pytest.param("libc.syscall(438, 3, 0, 0)", "calls pidfd_getfd", id="descriptor taken"),
        pytest.param("libc.unshare(0x10000000)", "calls unshare", id="namespace"),
    ],
)
def test_calls_that_reach_other_processes_are_reported(line, others):
    seen = attempt(line).others
    assert [item for item in seen if item.startswith(others)], seen


def test_calls_on_own_processes_are_not_effects():
    seen = attempt(
        """(
            os.nice(1), os.setpriority(os.PRIO_PROCESS, 0, 2),
            os.setpriority(os.PRIO_PROCESS, os.getpid(), 3),
            (p := subprocess.Popen(["sleep", "9"])), os.setpriority(os.PRIO_PROCESS, p.pid, 5),
            resource.prlimit(p.pid, resource.RLIMIT_NOFILE, (16, 16)), p.kill(), p.wait(),
            os.kill(p.pid, 0), os.kill(p.pid, 9)
        )"""
    )
    assert (seen.paths, seen.hosts, seen.others) == ((), (), ())


def test_locks_and_ports_of_its_own_are_no_effect():
    seen = attempt(
        """(
            (f := open("/tmp/scratch/x", "w")), fcntl.flock(f, fcntl.LOCK_EX), fcntl.lockf(f, 3),
            fcntl.fcntl(f, fcntl.F_SETOWN, os.getpid()), fcntl.fcntl(0, fcntl.F_GETFL),
            (s := socket.create_server(("127.0.0.1", 0))),
            socket.create_connection(s.getsockname()), os.sync(), os.fsync(f),
            libc.syscall(159, bytes(208))
        )"""
    )
    assert (seen.paths, seen.hosts, seen.others) == ((), (), ())


@pytest.mark.parametrize(
    ("line", "host"),
    [
        pytest.param(
            "socket.socket(1, 2).sendto(b'x', '/run/systemd/notify')",
            "unix:/run/systemd/notify",
            id="notification of systemd",
        ),
        pytest.param(
            NATIVE.format("journal/socket"),
            "unix:/run/systemd/journal/socket",
            id="journal",
        ),
        pytest.param(
            NATIVE.format("private"),
            "unix:/run/systemd/private",
            id="manager",
        ),
        pytest.param(
            NATIVE.format("resolve/../private"),
            "unix:/run/systemd/private",
            id="beside a look-up",
        ),
        pytest.param(
            "socket.socket(type=2).sendto(b'secret' * 9, ('127.0.0.1', 53))",
            "127.0.0.1:53",
            id="words sent to the resolver",
        ),
        pytest.param(
            "s = socket.socket(type=2); s.connect(('127.0.0.1', 53)); os.write(s.fileno(), b'x')",
            "127.0.0.1:53",
            id="words written to the resolver",
        ),
        pytest.param(
            "socket.create_connection(('127.0.0.1', 53))", "127.0.0.1:53", id="stream to it"
        ),
        pytest.param(
            "socket.socket(type=2).connect(('127.0.0.53', 53))", "127.0.0.53:53", id="another"
        ),
        pytest.param(
            "subprocess.run([sys.executable, '-c', "
            "'import socket; socket.gethostbyname(\"leak.example\")'], stderr=-3)",
            "leak.example",
            id="looked up for one kind of address",
        ),
    ],
)
def test_services_of_the_system_are_hosts(line, host):
    assert host in attempt(line).hosts


def test_look_ups_of_users_and_names_are_not_hosts():
    seen = attempt(
        "import pwd, grp; subprocess.run(['getent', 'passwd', 'nobody'], stdout=-3);"
        " subprocess.run(['id'], stdout=-3); " + NATIVE.format("userdb/io.x")
    )
    assert seen.hosts == ()


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        pytest.param(
            "from multiprocessing import resource_tracker as r, shared_memory as m;"
            "s = m.SharedMemory('psm_left', create=True, size=9);"
            "r.unregister('/psm_left', 'shared_memory'); s.close()",
            ("/dev/shm/psm_left",),
            id="left behind",
        ),
        pytest.param(
            "open('/dev/shm/psm_others', 'r+')", ("/dev/shm/psm_others",), id="of somebody else"
        ),
        pytest.param(
            "os.unlink('/dev/shm/sem.others')", ("/dev/shm/sem.others",), id="removed of others"
        ),
        pytest.param(
            "from multiprocessing import shared_memory as m;"
            "s = m.SharedMemory(create=True, size=9); b = m.SharedMemory(s.name); b.close();"
            "s.close(); s.unlink()",
            (),
            id="its own",
        ),
        pytest.param(
            "import multiprocessing as m; q = m.get_context('spawn').Queue(); q.put(1); q.get();"
            "m.Array('i', 3); m.Semaphore()",
            (),
            id="queues and locks",
        ),
    ],
)
def test_foreign_or_leftover_shared_memory_is_a_change(line, paths):
    assert attempt(line).paths == paths


def test_starting_processes_is_never_interrupted_by_the_look():
    outcome = sandboxed(
        """
        import os, signal
        def run():
            signal.signal(signal.SIGCHLD, lambda *given: None)
            for _ in range(150):
                if os.fork() == 0:
                    os._exit(0)
                while True:
                    try:
                        if os.waitpid(-1, os.WNOHANG) == (0, 0):
                            break
                    except ChildProcessError:
                        break
            return 1
        """
    )
    assert outcome.value == 1, outcome
