"""Attempts of a candidate outside its temporary folder are seen (spec §8). Real sandboxes."""

import pytest

from pulsus.core.sandbox.harness.audit_hook import MOST, printable, reported_path
from pulsus.core.sandbox.observation.observed_effects import join_effects, parse_effects
from pulsus.core.types import ObservedEffects
from tests.sandboxes import sandboxed, trying


def attempt(line):
    return sandboxed(trying(line)).observed


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("line", "path"),
    [
        pytest.param("open('/etc/made', 'w')", "/etc/made", id="created"),
        pytest.param("open('/etc/passwd', 'a')", "/etc/passwd", id="appended to"),
        pytest.param("os.remove('/usr/bin/env')", "/usr/bin/env", id="deleted"),
        pytest.param("pathlib.Path('/opt/x').write_text('a')", "/opt/x", id="through pathlib"),
        pytest.param("shutil.copy('/etc/passwd', '/var/copy')", "/var/copy", id="copied to"),
        pytest.param("os.rename('/tmp', '/srv/moved')", "/srv/moved", id="moved to"),
        pytest.param(
            "os.mkdir('new', dir_fd=os.open('/usr', 0))", "/usr/new", id="beside a folder"
        ),
        pytest.param("os.symlink('/tmp', '/usr/link')", "/usr/link", id="linked"),
        pytest.param("os.chmod('/usr/bin/env', 0o777)", "/usr/bin/env", id="mode changed"),
        pytest.param("os.truncate('/etc/group', 0)", "/etc/group", id="emptied"),
        pytest.param("os.utime('/etc/group')", "/etc/group", id="touched"),
        pytest.param("sqlite3.connect('/var/lib/x.db')", "/var/lib/x.db", id="a database"),
        pytest.param("open(os.path.expanduser('~/.bashrc'), 'a')", "~/.bashrc", id="in the home"),
        pytest.param(
            "os.symlink('/usr', '/tmp/l'); open('/tmp/l/x', 'w')", "/usr/x", id="through a link"
        ),
        pytest.param("os.chdir('/usr'); open('x', 'w')", "/usr/x", id="from another folder"),
        pytest.param("open('report.txt', 'w')", "/tmp/report.txt", id="in the working folder"),
        pytest.param("open('/tmp/x', 'w')", "/tmp/x", id="where everybody writes"),
        pytest.param("open('/dev/shm/x', 'w')", "/dev/shm/x", id="in shared memory"),
    ],
)
def test_a_change_outside_the_temporary_folder_is_seen_though_it_fails(line, path):
    assert path in attempt(line).paths


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("line", "path"),
    [
        pytest.param("open('/etc/shadow')", "/etc/shadow", id="opened"),
        pytest.param("pathlib.Path('/etc/shadow').read_text()", "/etc/shadow", id="by pathlib"),
        pytest.param("os.open('/etc/shadow', os.O_RDONLY)", "/etc/shadow", id="by number"),
        pytest.param("os.listdir('/root')", "/root", id="listed"),
        pytest.param("next(pathlib.Path('/root').iterdir())", "/root", id="iterated"),
        pytest.param("open(os.path.expanduser('~/.ssh/id'))", "~/.ssh/id", id="in the home"),
        pytest.param("os.chdir('/etc'); open('shadow')", "/etc/shadow", id="from there"),
        pytest.param("open('/usr/../etc/shadow')", "/etc/shadow", id="up and down"),
        pytest.param("open('/proc/self/root/etc/shadow')", "/etc/shadow", id="by its root"),
        pytest.param(
            "os.symlink('/etc/shadow', '/tmp/l'); open('/tmp/l')", "/etc/shadow", id="by a link"
        ),
        pytest.param("open('/proc/net/dev')", "/proc/net/dev", id="of the kernel"),
        pytest.param("open('/proc/1/status')", "/proc/[pid]/status", id="of a process"),
    ],
)
def test_a_read_outside_the_temporary_folder_is_seen_though_it_fails(line, path):
    assert path in attempt(line).reads


@pytest.mark.sandbox
def test_reads_of_the_interpreter_are_not_reported():
    seen = attempt(
        "import json, email, sqlite3, zoneinfo, locale, mimetypes, unittest.mock, xml.dom.minidom; "
        "zoneinfo.ZoneInfo('Europe/Berlin'); mimetypes.guess_type('a.b'); "
        "open('/tmp/x', 'w').close(); open('/tmp/x').close(); open('/dev/null'); "
        "os.listdir('/tmp'); subprocess.run(['true'])"
    )
    assert seen.reads == ()


@pytest.mark.sandbox
def test_changes_in_the_temporary_folder_are_not_effects():
    outcome = sandboxed(
        """
        import multiprocessing.shared_memory, os, tempfile
        def run():
            with tempfile.TemporaryDirectory() as folder:
                open(os.path.join(folder, "a"), "w").close()
            multiprocessing.Lock(), multiprocessing.Array("i", 3)
            shared = multiprocessing.shared_memory.SharedMemory(create=True, size=9)
            shared.close(), shared.unlink()
            open("/dev/null", "w").close()
            print("hello", file=open("/dev/fd/2", "w"))
            return open("/etc/passwd").read()[:6]
        """
    )
    assert outcome.value == "nobody"
    assert outcome.observed == ObservedEffects(reads=("/etc/passwd",))


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("line", "host"),
    [
        pytest.param("socket.create_connection(('192.0.2.1', 443), 1)", "192.0.2.1:443", id="tcp"),
        pytest.param("socket.getaddrinfo('example.org', 80)", "example.org:80", id="name"),
        pytest.param("socket.gethostbyname('example.net')", "example.net", id="old lookup"),
        pytest.param(
            "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.7', 53))",
            "192.0.2.7:53",
            id="datagram",
        ),
        pytest.param(
            "socket.socket(socket.AF_INET6).connect(('2001:db8::1', 25))",
            "[2001:db8::1]:25",
            id="ipv6",
        ),
        pytest.param(
            "socket.socket(socket.AF_UNIX).connect('/run/docker.sock')",
            "unix:/run/docker.sock",
            id="unix",
        ),
        pytest.param(
            "socket.socket(socket.AF_UNIX).connect(b'\\0hidden')", "unix:@hidden", id="abstract"
        ),
    ],
)
def test_attempts_to_reach_a_host_are_reported(line, host):
    assert host in attempt(line).hosts


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("line", "program"),
    [
        pytest.param("subprocess.run(['ls', '/'], stdout=-3)", "ls", id="subprocess"),
        pytest.param("subprocess.run('id', shell=True, stdout=-3)", "/bin/sh", id="shell"),
        pytest.param("os.system('true')", "/bin/sh", id="system"),
        pytest.param("os.posix_spawn('/bin/true', ['true'], {})", "true", id="spawn"),
        pytest.param("os.execv('/bin/true', ['renamed'])", "renamed", id="exec"),
        pytest.param("subprocess.run(['no-such-program'])", "no-such-program", id="not there"),
    ],
)
def test_a_program_that_is_started_is_seen(line, program):
    assert program in attempt(line).commands


@pytest.mark.sandbox
@pytest.mark.parametrize("end", ["os._exit(0)", "os.abort()", "os.kill(os.getpid(), 9)"])
def test_ending_the_process_hides_nothing(end):
    outcome = sandboxed(
        f"""
        import os
        def run():
            try:
                open("/etc/made", "w")
            finally:
                {end}
        """
    )
    assert (outcome.status, outcome.observed.paths) == ("failed", ("/etc/made",))


@pytest.mark.sandbox
def test_an_effect_at_import_is_seen_although_the_import_fails():
    outcome = sandboxed("import socket\nsocket.getaddrinfo('example.org', 1)\n")
    assert (outcome.status, outcome.stage) == ("failed", "import")
    assert outcome.observed.hosts == ("example.org:1",)


@pytest.mark.sandbox
def test_importing_the_standard_library_shows_no_effect():
    outcome = sandboxed(
        "import asyncio, concurrent.futures, json, logging, multiprocessing, ssl, urllib.request\n"
        "def run():\n    return asyncio.run(asyncio.sleep(0, 7))"
    )
    assert (outcome.value, outcome.observed) == (7, ObservedEffects())


@pytest.mark.seconds
@pytest.mark.sandbox
def test_a_flood_of_effects_is_cut_and_marked():
    outcome = sandboxed(
        """
        import contextlib
        def run():
            for number in range(3000):
                with contextlib.suppress(OSError):
                    open(f"/etc/{number:05}", "w")
            return 1
        """
    )
    assert outcome.status == "ok"
    assert len(outcome.observed.paths) == MOST + 1
    assert outcome.observed.paths[-1] == "(and more)"


@pytest.mark.sandbox
def test_control_characters_do_not_reach_the_report():
    outcome = attempt("open('/etc/a\\x1b[31m\\nh forged:1', 'w')")
    assert outcome.paths == ("/etc/a?[31m?h forged:1",)
    assert outcome.hosts == ()


def test_lines_that_are_not_ours_are_dropped():
    data = b"p /etc/x\nq /etc/y\np relative\np /tmp/scratch/own\n\xff\xfe\nh \x1b[0m\nhalf"
    found = parse_effects(data, len(data))
    assert found.paths == ("/etc/x",)
    assert found.hosts == ("?[0m",)


def test_lost_lines_are_marked():
    assert parse_effects(b"c ls\n", 5).commands == ("ls",)
    assert parse_effects(b"c ls\n", 9999).commands == ("ls", "(and more)")


def test_effects_of_several_runs_are_joined():
    seen = join_effects(
        [ObservedEffects(paths=("/b",)), ObservedEffects(paths=("/a", "/b"), commands=("ls",))]
    )
    assert seen == ObservedEffects(paths=("/a", "/b"), commands=("ls",))


def test_a_long_name_is_cut():
    assert len(printable("x" * 9999)) == 401


@pytest.mark.parametrize(
    "path", ["/tmp/scratch", "/tmp/scratch/a", "/dev/shm/sem.a", "/dev/null", "/dev/pts/3"]
)
def test_the_sandboxs_own_places_are_not_outside(path):
    assert reported_path(path) == ""


@pytest.mark.parametrize("path", ["/tmpx", "/tmp/a", "/etc", "/dev/sda", "/dev/shm/a", "/"])
def test_everything_else_is(path):
    assert reported_path(path) == path
