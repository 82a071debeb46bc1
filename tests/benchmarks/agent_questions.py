"""Twenty everyday read-only questions about this machine, with the truth about each.

The questions were written before any model or the router was asked one of them. A truth is computed
here without Pulsus, immediately after the answer, and `Question.check` judges the text.
"""

import os
import platform
import pwd
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.answer_checks import (
    both,
    either,
    neither,
    says_all,
    says_any,
    says_duration,
    says_number,
    says_only,
    says_percent,
    says_size,
)

Check = Callable[[str], bool]


@dataclass(frozen=True)
class Place:
    """A folder of files and the port of a server, which some questions are about."""

    folder: Path
    port: int
    began: float


@dataclass(frozen=True)
class Question:
    """A question in words, and the function that gives its check after the answer."""

    name: str
    text: str
    truth: Callable[[Place], Check]

    def words(self, place: Place) -> str:
        """Return the question."""
        return self.text.format(folder=place.folder, port=place.port)


FILES = {"archive.bin": 900_000, "video.bin": 700_000, "photos.bin": 500_000, "notes.txt": 1200}
LINES = [
    f"2026-11-20 10:0{n} {'ERROR disk is slow' if n % 2 else 'INFO all good'}" for n in range(9)
]
LAST = "2026-11-20 10:59 INFO service marigold stopped"


@contextmanager
def prepared_place(folder: Path) -> Iterator[Place]:
    """Make the files and the listening server that some questions ask about."""
    folder.mkdir(parents=True)
    for name, size in FILES.items():
        (folder / name).write_bytes(b"x" * size)
    (folder / "app.log").write_text("\n".join([*LINES, LAST]) + "\n", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield Place(folder, server.getsockname()[1], time.time())


def _memory(place):
    return says_size(psutil.virtual_memory().total)


def _cores(place):
    return says_number(os.cpu_count())


def _uptime(place):
    return says_duration(time.time() - psutil.boot_time(), 900)


def _system(place):
    found = platform.freedesktop_os_release()
    return says_all(found["NAME"].split()[0], found["VERSION_ID"])


def _kernel(place):
    return says_all(platform.release())


def _host(place):
    return says_all(socket.gethostname())


def _root_use(place):
    return says_percent(psutil.disk_usage("/").percent, 2)


def _free_on_tmp(place):
    return says_size(shutil.disk_usage(place.folder).free)


def _biggest(place):
    three = sorted(FILES, key=FILES.__getitem__)[-3:]
    return both(says_all(*three), neither(says_any("notes.txt")))


def _file_count(place):
    return says_number(len(list(place.folder.iterdir())))


def _hungry(place):
    found = [(p.info["memory_info"].rss, p.info["name"], p.pid) for p in _processes()]
    top = max(found)
    names = {name for _, name, _ in found}
    return either(says_only((top[1],), names), says_number(top[2]))


def _processes():
    for each in psutil.process_iter(["memory_info", "name"]):
        if each.info["memory_info"]:
            yield each


def _process_count(place):
    return says_number(len(psutil.pids()), 15)


def _swap(place):
    used = psutil.swap_memory().used
    return says_any("no", "not", "0", "0.0", "none", "zero") if not used else says_size(used)


def _load(place):
    return says_number(os.getloadavg()[1], 0.5)


def _address(place):
    found = [
        each.address
        for name, addresses in psutil.net_if_addrs().items()
        for each in addresses
        if each.family == socket.AF_INET and name != "lo"
    ]
    return says_any(*found)


def _listener(place):
    return either(says_any("python", "python3", "pytest"), says_number(os.getpid()))


def _logins(place):
    shells = ("/bash", "/sh", "/zsh", "/dash", "/fish")
    return says_all(*[user.pw_name for user in pwd.getpwall() if user.pw_shell.endswith(shells)])


def _zone(place):
    zone = Path("/etc/localtime").resolve().as_posix().partition("zoneinfo/")[2]
    return says_any(zone, time.tzname[0])


def _last_line(place):
    return says_all("marigold")


def _errors(place):
    return says_number(sum("ERROR" in line for line in LINES))


QUESTIONS = (
    Question("memory", "How much memory does this machine have in total?", _memory),
    Question("cores", "How many processor cores does this machine have?", _cores),
    Question("uptime", "How long has this machine been running?", _uptime),
    Question("system", "Which operating system and version runs on this machine?", _system),
    Question("kernel", "Which kernel version is running?", _kernel),
    Question("host", "What is the host name of this machine?", _host),
    Question("root use", "How full is the root file system, in percent?", _root_use),
    Question("free space", "How much space is free on the file system of {folder}?", _free_on_tmp),
    Question("biggest files", "What are the three biggest files in {folder}?", _biggest),
    Question("file count", "How many files are in {folder}?", _file_count),
    Question("memory user", "Which process uses the most memory?", _hungry),
    Question("process count", "How many processes are running on this machine?", _process_count),
    Question("swap", "Is any swap in use, and how much?", _swap),
    Question("load", "What is the load average of the last five minutes?", _load),
    Question("address", "Which IPv4 address does this machine have?", _address),
    Question("listener", "Which process is listening on TCP port {port}?", _listener),
    Question("logins", "Which users of this machine have a login shell?", _logins),
    Question("time zone", "Which time zone is this machine set to?", _zone),
    Question("last line", "What is the last line of {folder}/app.log?", _last_line),
    Question("errors", "How many lines of {folder}/app.log contain the word ERROR?", _errors),
)
