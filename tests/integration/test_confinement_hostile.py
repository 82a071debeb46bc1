"""Hostile tools that claim to be reads change nothing outside (ADR 28)."""

import os
import platform
import shutil
import socket
import subprocess
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from pulsus.errors import ToolFailed
from pulsus.execution.confinement.kernel_support import find_support
from tests.confined import USERS, confined
from tests.hostile_reads import ATTACKS, HARMLESS, TOOL
from tests.patience import PATIENCE_SECONDS

pytestmark = [
    pytest.mark.seconds,
    pytest.mark.skipif(
        platform.machine() != "x86_64", reason="the attacks name calls by their x86_64 numbers"
    ),
]

# A Landlock domain, and supervised calls for a tool that must see other processes.
FAMILIES = sorted({name.partition(":")[0] for name in ATTACKS})
WAYS = {
    "landlock": ("none", find_support(), "landlock"),
    "supervised": ("/proc", find_support(), "supervised"),
    # As on older kernels, and in containers that forbid a part.
    "no Landlock": ("none", replace(find_support(), landlock=0), "supervised"),
    "Landlock 3": (
        "none",
        replace(find_support(), landlock=min(find_support().landlock, 3)),
        "landlock",
    ),
    "Landlock alone": ("none", replace(find_support(), supervisor=False), "landlock"),
}


class Outside:
    """The targets of the attacks, and their state afterwards."""

    def __init__(self, user):
        self.folder = Path(tempfile.mkdtemp(prefix="pulsus-outside-", dir="/var/tmp"))
        self.folder.chmod(0o777)
        self.victim = self.folder / "victim"
        self.victim.write_text("kept", encoding="utf-8")
        (self.folder / "empty").mkdir()
        if user == "nobody":
            for path in (self.victim, self.folder / "empty", self.folder):
                os.chown(path, 65534, 65534)
        self.victim.chmod(0o666)
        os.utime(self.victim, (1_000_000, 1_000_000))
        self.before = self.facts()
        number = 65534 if user == "nobody" else None
        self.other = subprocess.Popen(
            ["/bin/sleep", "100"], user=number, group=number, start_new_session=True
        )
        self.reached = []
        self.sock = str(self.folder / "s")
        self._local = socket.socket(socket.AF_UNIX)
        self._local.bind(self.sock)
        Path(self.sock).chmod(0o777)
        self._internet = socket.socket()
        self._internet.bind(("127.0.0.1", 0))
        self.port = self._internet.getsockname()[1]
        self._acceptors = []
        for each in (self._local, self._internet):
            each.listen()
            acceptor = threading.Thread(target=self._accept, args=(each,), daemon=True)
            acceptor.start()
            self._acceptors.append(acceptor)
        self.entries = sorted(self.folder.iterdir())

    def _accept(self, listening):
        while True:
            try:
                listening.accept()[0].close()
            except OSError:
                return
            self.reached.append(listening.family)

    def facts(self):
        found = self.victim.stat()
        names = os.listxattr(self.victim)
        kept = (found.st_mode, found.st_uid, found.st_gid, found.st_mtime_ns, found.st_nlink)
        return self.victim.read_text(encoding="utf-8"), kept, names

    def close(self):
        self.other.kill()
        self.other.wait()
        # Closing alone does not wake a thread in accept(): it would go on to accept connections
        # of a later test, on a descriptor that this test no longer owns.
        for each in (self._local, self._internet):
            each.shutdown(socket.SHUT_RDWR)
        for acceptor in self._acceptors:
            acceptor.join(PATIENCE_SECONDS)
        self._local.close()
        self._internet.close()
        shutil.rmtree(self.folder)


@pytest.fixture(scope="module", params=[(w, u) for w in WAYS for u in USERS], ids="-".join)
def attacked(request, tmp_path_factory):
    """Run one tool with all attacks; return the result of each, and the outside afterwards."""
    way, user = request.param
    folder = tmp_path_factory.mktemp("as")
    for above in (folder, *folder.parents):
        if above.is_relative_to("/tmp") and above != Path("/tmp"):
            above.chmod(0o755)
    outside = Outside(user)
    try:
        paths, here, files = WAYS[way]
        done = confined(
            TOOL % paths,
            here=here,
            user=user,
            folder=folder,
            v=str(outside.victim),
            f=str(outside.folder),
            pid=outside.other.pid,
            sock=outside.sock,
            port=outside.port,
            attacks=ATTACKS,
        )
        assert done.confinement["files"] == files
        yield done.result, outside
    finally:
        outside.close()


@pytest.mark.parametrize("family", FAMILIES)
def test_no_attack_of_a_family_succeeds(attacked, family):
    seen, _ = attacked
    tried = {name: word for name, word in seen.items() if name.partition(":")[0] == family}
    assert tried
    assert [name for name, word in tried.items() if word == "did" and name not in HARMLESS] == []


def test_nothing_outside_was_changed(attacked):
    _, outside = attacked
    assert outside.facts() == outside.before
    assert sorted(outside.folder.iterdir()) == outside.entries


def test_no_other_process_was_touched(attacked):
    _, outside = attacked
    assert outside.other.poll() is None
    assert os.getpriority(os.PRIO_PROCESS, outside.other.pid) == os.getpriority(os.PRIO_PROCESS, 0)


def test_no_socket_was_reached(attacked):
    _, outside = attacked
    assert outside.reached == []


def test_a_system_call_of_another_architecture_ends_the_tool():
    text = (TOOL % "none").partition("def run(")[
        0
    ] + "def run():\n    call(0x40000001, 1, b'x', 1)\n"
    with pytest.raises(ToolFailed, match="SIGSYS"):
        confined(text)
