"""Effects are seen in system calls of a candidate and its children (spec §8). Real sandboxes."""

import inspect
import time
from pathlib import Path

import pytest

from pulsus.core.sandbox.job import SandboxOutcome
from pulsus.core.sandbox.observation import seccomp_notify
from pulsus.core.sandbox.observation.network_effects import parse_dns_question
from pulsus.core.sandbox.observation.observed_effects import add_syscall_effects
from pulsus.core.sandbox.observation.traced_syscalls import names
from pulsus.core.types import ObservedEffects
from tests.patience import PATIENCE_SECONDS
from tests.sandboxes import need_sandbox, sandboxed, trying

pytestmark = pytest.mark.sandbox


@pytest.fixture(autouse=True)
def _watched():
    need_sandbox()
    if why := seccomp_notify.unavailable_reason():
        pytest.skip(f"system calls cannot be watched here: {why}")


def attempt(line: str) -> ObservedEffects:
    outcome: SandboxOutcome = sandboxed(trying(line))
    assert outcome.status == "ok", outcome
    return outcome.observed


@pytest.mark.parametrize(
    ("line", "path"),
    [
        # What Python's own events show without the folder, or not at all.
        pytest.param(
            "os.open('x', os.O_CREAT | os.O_WRONLY, dir_fd=os.open('/usr', 0))",
            "/usr/x",
            id="open beside a folder",
        ),
        pytest.param("os.mkfifo('/etc/x')", "/etc/x", id="mkfifo"),
        pytest.param("os.mknod('/etc/x', 0o600 | 0o100000)", "/etc/x", id="mknod"),
        pytest.param(
            "os.mknod('x', 0o100600, dir_fd=os.open('/usr', 0))", "/usr/x", id="mknod beside"
        ),
        pytest.param("os.link('/etc/passwd', '/usr/x')", "/usr/x", id="link"),
        pytest.param(
            "os.link('/etc/passwd', 'x', dst_dir_fd=os.open('/usr', 0))", "/usr/x", id="linkat"
        ),
        # A second name is a second way to write what the first one names.
        pytest.param("os.link('/etc/group', '/tmp/scratch/x')", "/etc/group", id="linked into tmp"),
        pytest.param("os.symlink('/tmp', '/usr/x')", "/usr/x", id="symlink"),
        pytest.param("os.rename('/usr/bin/env', '/tmp/x')", "/usr/bin/env", id="moved away"),
        pytest.param("os.replace('/tmp', '/usr/x')", "/usr/x", id="moved to"),
        pytest.param("os.rmdir('/usr/bin')", "/usr/bin", id="rmdir"),
        pytest.param("os.chmod('/usr/bin/env', 0o777)", "/usr/bin/env", id="chmod"),
        pytest.param(
            "os.fchmod(os.open('/etc/group', 0), 0o777)", "/etc/group", id="by a descriptor"
        ),
        pytest.param("os.chown('/etc/group', 0, 0)", "/etc/group", id="chown"),
        pytest.param("os.lchown('/etc/group', 0, 0)", "/etc/group", id="lchown"),
        pytest.param("os.utime('/etc/group')", "/etc/group", id="utime"),
        pytest.param(
            "os.symlink('/etc/group', 'l'); os.utime('l')", "/etc/group", id="utime through a link"
        ),
        pytest.param(
            "os.utime(os.open('/etc/group', 0))", "/etc/group", id="utime of an open file"
        ),
        pytest.param("os.setxattr('/etc/group', 'user.x', b'')", "/etc/group", id="setxattr"),
        pytest.param("os.removexattr('/etc/group', 'user.x')", "/etc/group", id="removexattr"),
        pytest.param("os.truncate('/etc/group', 0)", "/etc/group", id="truncate"),
        pytest.param(
            "fcntl.ioctl(os.open('/etc/group', 0), 0x40086602, bytes(8))", "/etc/group", id="chattr"
        ),
        pytest.param("open('/dev/shm/x', 'w').close()", "/dev/shm/x", id="in shared memory"),
        pytest.param(
            "os.sendfile(os.open('/usr/x', os.O_WRONLY), 0, 0, 1)", "/usr/x", id="sendfile"
        ),
        pytest.param(
            "socket.socket(socket.AF_UNIX).bind('/usr/x')", "/usr/x", id="a socket that is bound"
        ),
        pytest.param("os.open('/usr', os.O_TMPFILE | os.O_WRONLY)", "/usr", id="nameless file"),
        pytest.param(
            "os.symlink('/usr/x', 'l'); os.open('l', os.O_EXCL | os.O_WRONLY)",
            "/usr/x",
            id="opened for itself through a link",
        ),
        pytest.param("os.open('/var/x', os.O_RDWR)", "/var/x", id="opened to read and write"),
        pytest.param(
            "sqlite3.connect('file:/var/x', uri=True)",
            "/var/x",
            id="a database by its address",
        ),
        # Native code in the same process.
        pytest.param("libc.open(b'/usr/x', 0o101, 0o600)", "/usr/x", id="native open"),
        pytest.param("libc.fopen(b'/usr/x', b'w')", "/usr/x", id="native fopen"),
        pytest.param("libc.unlink(b'/usr/bin/env')", "/usr/bin/env", id="native unlink"),
        pytest.param("libc.syscall(87, b'/usr/bin/env')", "/usr/bin/env", id="bare system call"),
        # Programs.
        pytest.param("shell('echo 1 > /usr/x')", "/usr/x", id="shell redirection"),
        pytest.param("shell('cd /usr; touch x')", "/usr/x", id="program in another folder"),
        pytest.param("shell('rm -rf /usr/bin/env')", "/usr/bin/env", id="program deletes"),
        pytest.param("shell('cp /etc/group ~/x')", "~/x", id="program in the home"),
        pytest.param("shell('ln -s /usr l; echo > l/x')", "/usr/x", id="program through a link"),
        pytest.param("shell('(sleep .1; touch /usr/x) &')", "/usr/x", id="orphan of a program"),
        pytest.param(
            "subprocess.run([sys.executable, '-c', 'import os; os.mkfifo(\"/etc/x\")'])",
            "/etc/x",
            id="another interpreter",
        ),
        pytest.param(
            "import multiprocessing as m; m.get_context('spawn').Process("
            "target=os.mkdir, args=('/usr/x',)).start()",
            "/usr/x",
            id="spawned worker",
        ),
        pytest.param(
            "os.posix_spawn('/bin/touch', ['touch', '/usr/x'], {})", "/usr/x", id="posix_spawn"
        ),
    ],
)
def test_changes_by_python_native_code_and_programs_are_reported(line, path):
    assert path in attempt(line).paths


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("shell('mkdir -p a/b; echo 1 > a/b/c; mv a d; rm -r d')", id="below tmp"),
        pytest.param("shell('mkdir -p /usr/bin')", id="a folder that is there"),
        pytest.param("shell('ls / > /dev/null; cat /etc/passwd; echo x >&2')", id="reading"),
        pytest.param("shell('id; getent passwd nobody; getent services http')", id="looking up"),
        pytest.param("open('/dev/stderr', 'w').close()", id="its own streams"),
        pytest.param("shell('fc-list; fc-cache')", id="caches of fonts"),
        pytest.param(
            "from multiprocessing import Array, Lock, shared_memory as m; Lock(); Array('i', 3);"
            "a = m.SharedMemory(create=True, size=9); a.close(); a.unlink()",
            id="shared memory of Python",
        ),
        pytest.param("shell('lsattr -d /usr; mount; hostname')", id="asking"),
        pytest.param("socket.socket(socket.AF_UNIX).bind('x')", id="socket in tmp"),
        pytest.param(
            "shell('mkdir a; ln -s /usr a/l; tar cf a.tar a; rm -r a; tar xf a.tar; cp -a a b')",
            id="links as such",
        ),
        pytest.param(
            "os.symlink('/usr', 'l'); os.utime('l', follow_symlinks=False);"
            "os.open('l', os.O_NOFOLLOW | os.O_WRONLY)",
            id="a link that is not followed",
        ),
        pytest.param(
            "a, b = socket.socketpair(); a.sendmsg([b'x']); a.send(b'x')", id="its own sockets"
        ),
    ],
)
def test_calls_that_change_nothing_outside_are_not_effects(line):
    seen = attempt(f"os.chdir(os.environ['TMPDIR']); {line}")
    assert (seen.paths, seen.hosts, seen.others) == ((), (), ())


@pytest.mark.parametrize(
    ("line", "host"),
    [
        pytest.param(
            "subprocess.run(['bash', '-c', ': > /dev/tcp/192.0.2.1/443'], stderr=-3)",
            "192.0.2.1:443",
            id="program",
        ),
        pytest.param(
            "subprocess.run(['bash', '-c', ': > /dev/udp/192.0.2.1/514'], stderr=-3)",
            "192.0.2.1:514",
            id="datagram of a program",
        ),
        pytest.param(
            "s = socket.socket(type=socket.SOCK_DGRAM); "
            "s.sendmsg([b'x'], [], 0, ('192.0.2.1', 53))",
            "192.0.2.1:53",
            id="sendmsg",
        ),
        pytest.param(
            "libc.connect(socket.socket().fileno(), "
            "b'\\2\\0\\1\\xbb\\xc0\\0\\2\\1' + bytes(8), 16)",
            "192.0.2.1:443",
            id="native",
        ),
        pytest.param(
            "subprocess.run([sys.executable, '-c', 'import socket as s;"
            's.getaddrinfo("Shop.example", 80)\'], stderr=-3)',
            "shop.example",
            id="name that a program looks up",
        ),
        pytest.param("socket.socket(2, socket.SOCK_RAW, 1)", "raw socket", id="raw"),
        pytest.param("libc.socket(2, 3 | 0o2000000, 1)", "raw socket", id="native raw"),
    ],
)
def test_hosts_reached_by_native_code_and_programs_are_reported(line, host):
    assert host in attempt(line).hosts


@pytest.mark.parametrize(
    ("line", "item"),
    [
        pytest.param("os.kill(os.getppid(), 15)", "signals process 1", id="its parent"),
        pytest.param("os.kill(54321, 15)", "signals process 54321", id="a stranger"),
        pytest.param("os.killpg(54321, 15)", "signals process group 54321", id="a group"),
        pytest.param("libc.kill(54321, 9)", "signals process 54321", id="native"),
        pytest.param("shell('kill 54321')", "signals process 54321", id="program"),
        pytest.param("libc.syscall(234, 54321, 54321, 9)", "signals process 54321", id="thread"),
        pytest.param(
            "signal.pidfd_send_signal(os.pidfd_open(1), 15)", "signals process 1", id="pidfd"
        ),
        pytest.param(
            "signal.signal(15, signal.SIG_IGN); os.kill(-1, 15)",
            "signals every process",
            id="every",
        ),
    ],
)
def test_a_signal_to_others_is_seen(line, item):
    opened = ("calls pidfd_open for process 1",) if "pidfd" in line else ()
    assert attempt(line).others == (*opened, item)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("time.clock_settime(time.CLOCK_REALTIME, 1.0)", "clock_settime"),
        ("socket.sethostname('elsewhere')", "sethostname"),
        ("libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)", "mount"),
        ("libc.ptrace(0, 0, 0, 0)", "ptrace"),
        ("libc.reboot(0x1234567)", "reboot"),
        ("libc.shmget(0, 4096, 0o1600)", "shmget"),
        ("libc.semget(0, 1, 0o1600)", "semget"),
        ("libc.msgget(0, 0o1600)", "msgget"),
        ("ctypes.CDLL('librt.so.1').mq_open(b'/x', 0o102, 0o600, None)", "mq_open"),
        ("subprocess.run([sys.executable, '-c', 'import time; time.clock_settime(0, 1)'])", ""),
    ],
)
def test_calls_that_the_sandbox_refuses_are_reported(line, name):
    assert attempt(line).others == (f"calls {name or 'clock_settime'}",)


def test_refused_calls_fail_with_the_same_error_without_a_listener(monkeypatch):
    source = """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        def run():
            assert libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == -1
            return ctypes.get_errno()
    """
    assert sandboxed(source).value == 1
    monkeypatch.setattr(seccomp_notify, "_refused", ["not here"])
    assert sandboxed(source).value == 1


SERVE = (
    "s = http.server.HTTPServer(({host!r}, {port}), http.server.SimpleHTTPRequestHandler);"
    "threading.Thread(target=s.handle_request).start();"
    "urllib.request.urlopen(f'http://localhost:{{s.server_port}}/')"
)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", ""])
def test_connections_to_an_own_server_are_not_hosts(host):
    assert attempt(SERVE.format(host=host, port=0)).hosts == ()


@pytest.mark.parametrize(
    ("line", "hosts"),
    [
        pytest.param(SERVE.format(host="", port=8765), "localhost:8765", id="known port"),
        pytest.param(
            "socket.create_connection(('127.0.0.1', 40000))", "127.0.0.1:40000", id="none"
        ),
        pytest.param("socket.create_connection(('127.1', 40000))", "127.0.0.1:40000", id="short"),
        pytest.param("socket.gethostbyname('127.0.0.1.x')", "127.0.0.1.x", id="a name"),
    ],
)
def test_ports_of_possible_foreign_services_are_reported(line, hosts):
    assert hosts in attempt(line).hosts


@pytest.mark.parametrize(
    "line",
    [
        "os.kill(54321, 0)",
        "p = subprocess.Popen(['sleep', '9']); p.kill(); p.wait()",
        "p = subprocess.Popen(['sleep', '9']); os.kill(p.pid, 9); p.wait(); os.kill(p.pid, 9)",
        "p = subprocess.Popen(['sleep', '9'], start_new_session=True); os.killpg(p.pid, 9)",
        "signal.signal(10, signal.SIG_IGN); signal.raise_signal(10); os.kill(os.getpid(), 10)",
        "signal.signal(10, signal.SIG_IGN); os.kill(0, 10)",
    ],
)
def test_signals_to_own_processes_are_not_effects(line):
    assert attempt(line).others == ()


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        pytest.param("subprocess.run(['true'])", ("true",), id="by name, once"),
        pytest.param(
            "subprocess.run(['git'], executable='/bin/true')", ("/bin/true", "git"), id="false name"
        ),
        pytest.param("libc.system(b'true')", ("/bin/sh",), id="native"),
        pytest.param(
            "shell('true; env true; ls /')", ("sh",), id="what a program starts is its own"
        ),
        pytest.param("subprocess.run(['no-such'])", ("no-such",), id="not there"),
        pytest.param(
            "pid = os.fork() or os.execv('/bin/true', ['x']); os.waitpid(pid, 0)",
            ("/bin/true", "x"),
            id="forked",
        ),
    ],
)
def test_programs_are_reported_by_their_path_or_name(line, commands):
    assert attempt(line).commands == commands


def test_ending_the_process_hides_nothing_of_a_program():
    outcome = sandboxed(
        "import os\ndef run():\n    os.system('touch /usr/x; kill -9 $PPID')\n    return 1"
    )
    assert outcome.status == "failed"
    assert outcome.observed.paths == ("/usr/x",)


def test_the_candidate_cannot_answer_for_itself():
    outcome = sandboxed(
        """
        import os
        def run():
            links = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
            return [os.readlink(link) for link in links if os.path.exists(link)]
        """
    )
    assert not [name for name in outcome.value if "seccomp" in name], outcome.value


@pytest.mark.seconds
def test_calls_with_senseless_arguments_do_not_stop_the_host():
    # What may end the caller itself, or make it wait for every other process of the machine.
    ends = ("kill", "sig", "clone", "fork", "prlimit", "priority", "sched_set")
    numbers = [n for n, name in names().items() if not any(word in name for word in ends)]
    outcome = sandboxed(
        f"""
        import ctypes, random, struct
        libc, rng = ctypes.CDLL(None), random.Random(7)
        libc.syscall.argtypes = [ctypes.c_long, *[ctypes.c_ulong] * 6]
        held = [ctypes.create_string_buffer(rng.randbytes(512)) for _ in range(40)]
        wild = [0, 1, 2, 16, 64, 4095, 2**31, 2**32 - 100, 2**47 - 8, 2**63, 2**64 - 1]
        for number, buffer in enumerate(held):
            own = [rng.choice([2, 10, 1, 7]), ctypes.addressof(rng.choice(held)), rng.choice(wild)]
            struct.pack_into("=H6xQQQQ", buffer, 0, own[0], own[1], 2, own[1], own[2])
        def run():
            for number in {numbers}:
                for _ in range(40):
                    args = [rng.choice([*wild, *map(ctypes.addressof, held)]) for _ in range(6)]
                    libc.syscall(number, *args)
            return 1
        """,
        run_seconds=120.0,
    )
    assert outcome.value == 1, outcome


def test_a_second_listener_is_refused():
    outcome = sandboxed(
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        def run():
            allow = ctypes.create_string_buffer(b"\\6\\0\\0\\0\\0\\0\\xff\\x7f")
            order = (1).to_bytes(8, "little") + ctypes.addressof(allow).to_bytes(8, "little")
            return libc.syscall(317, 1, 8, order), ctypes.get_errno()
        """
    )
    assert outcome.value in ([-1, 1], [-1, 38]), outcome


def test_a_process_that_hides_its_memory_is_reported():
    seen = attempt("libc.prctl(4, 0); libc.unlink(b'/usr/bin/env')")
    assert seen.paths == ("/usr/bin/env",) or seen.others == ("hides what it does",)


def queued_seconds():
    """Return how long this process was ready to run while other work had the cores."""
    return int(Path("/proc/self/schedstat").read_text(encoding="ascii").split()[1]) / 1e9


SMALL_FILES = f"""
import time
from pathlib import Path
{inspect.getsource(queued_seconds)}
def run():
    began, queued = time.monotonic(), queued_seconds()
    for number in range(2000):
        open(f"/tmp/{{number}}", "w").close()
    return time.monotonic() - began - (queued_seconds() - queued)
"""


def test_many_small_files_do_not_cost_a_run():
    # Each file is a call to this process and back, and a busy machine keeps both ends waiting.
    queued = queued_seconds()
    outcome = sandboxed(SMALL_FILES, run_seconds=PATIENCE_SECONDS)
    assert outcome.status == "ok", outcome
    assert outcome.value - (queued_seconds() - queued) < 5


@pytest.mark.parametrize("path", ["/usr/bin/env", "/tmp/" + "a/" * 2000], ids=["short", "deep"])
def test_a_flood_of_calls_does_not_outlast_the_clock(path):
    began = time.monotonic()
    outcome = sandboxed(
        f"""
        import os
        from contextlib import suppress
        def run():
            for _ in range(3):
                os.fork()
            while True:
                with suppress(OSError):
                    os.unlink({path!r})
        """,
        run_seconds=1.0,
    )
    assert "longer than 1 s" in outcome.message or "processes" in outcome.message, outcome
    assert time.monotonic() - began < PATIENCE_SECONDS


def test_without_a_listener_the_audit_hook_reports_effects(monkeypatch):
    monkeypatch.setattr(seccomp_notify, "_refused", ["not here"])
    seen = attempt("open('/etc/x', 'w')")
    assert seen.paths == ("/etc/x",)


def test_a_program_whose_name_the_hook_cannot_read_is_reported_and_not_forgotten(monkeypatch):
    monkeypatch.setattr(seccomp_notify, "_refused", ["not here"])
    unreadable = "type('Name', (), {'__fspath__': lambda self: os.listdir('/none')})()"
    seen = attempt(f"subprocess.Popen([{unreadable}])")
    assert seen.others == ("calls subprocess.Popen with arguments that cannot be read",)


def test_a_listener_that_cannot_be_taken_is_done_without(monkeypatch):
    def refuse(first):
        raise PermissionError("not allowed")

    monkeypatch.setattr(seccomp_notify, "harness_of", refuse)
    monkeypatch.setattr(seccomp_notify, "_refused", [])
    assert attempt("open('/etc/x', 'w')").paths == ("/etc/x",)
    assert seccomp_notify.unavailable_reason() == "not allowed"


def test_a_name_is_shown_once():
    assert attempt("socket.getaddrinfo('shop.example', 80)").hosts == ("shop.example:80",)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\x12\x34\1\0\0\1\0\0\0\0\0\0\1a\2BC\0\0\1\0\1", "a.bc"),
        (b"\x12\x34\1\0\0\1\0\0\0\0\0\0\1a\x3fBC\0\0\1\0\1", ""),
        (b"\x12\x34\1\0\0\2\0\0\0\0\0\0\1a\2BC\0\0\1\0\1", ""),
        (b"GET / HTTP/1.1\r\nHost: a\r\n", ""),
        (b"", ""),
    ],
)
def test_a_question_to_a_name_server_is_read_and_nothing_else(data, name):
    assert parse_dns_question(data) == name


def test_a_program_reported_by_name_is_not_listed_by_folder_too():
    told = ObservedEffects(commands=("git",))
    seen = {"p": (), "h": (), "c": ("/usr/bin/git", "/tmp/git"), "s": (), "l": ()}
    assert add_syscall_effects(told, seen).commands == ("/tmp/git", "git")
