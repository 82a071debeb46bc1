"""Run functions of tests in a throw-away root: they change a machine that disappears afterwards.

The root has an overlay of each folder of `/` in memory, and its own mount, process, network, host
name and IPC namespaces. A function may add users, start services, mount and kill. The machine
outside keeps its files, mounts and processes.

A function is named by its module, and starts in a new interpreter. Its
arguments and its result are JSON. So it imports what it needs, and asserts on its own.
"""

import functools
import importlib
import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMESPACES = ("--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "--kill-child=SIGKILL")
MOUNT = r"""
fail() { echo "$*" >&2; exit 99; }
room=$1; shift
kept=$1; shift
mount -t tmpfs -o mode=755 tmpfs "$room" || fail "no tmpfs"
mkdir "$room/new"
mount -t tmpfs -o mode=755 tmpfs "$room/new"
cd "$room/new"
mkdir proc sys dev run
for folder in /*; do
    name=${folder#/}
    [ -e "$name" ] && continue
    [ -L "$folder" ] && cp -P "$folder" "$name" && continue
    [ -d "$folder" ] || continue
    mkdir -p "$name" "$room/upper/$name" "$room/work/$name"
    chmod --reference="$folder" "$name" "$room/upper/$name"
    options="lowerdir=$folder,upperdir=$room/upper/$name,workdir=$room/work/$name"
    # A user's namespace may not overlay a folder that holds other mounts: it stays empty.
    mount -t overlay -o "$options$OVERLAY" overlay "$name" 2>"$room/error" ||
        [ -n "$OVERLAY" ] || fail "no overlay of $folder: $(cat "$room/error")"
done
for folder in $kept; do
    mkdir -p ".$folder" && mount --rbind "$folder" ".$folder" || fail "cannot bind $folder"
done
mount -t proc proc proc || fail "no /proc of its own"
mount --rbind /sys sys || fail "cannot bind /sys"
mount -t tmpfs -o mode=755 tmpfs run || fail "no tmpfs for /run"
mount -t tmpfs -o mode=755 tmpfs dev || fail "no tmpfs for /dev"
for name in null zero full random urandom tty; do
    : > "dev/$name"
    mount --bind "/dev/$name" "dev/$name" || fail "cannot bind /dev/$name"
done
ln -s /proc/self/fd dev/fd
mkdir dev/shm dev/pts run/lock
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts && ln -s pts/ptmx dev/ptmx
ip link set lo up 2>/dev/null
mkdir -p .outside
pivot_root . .outside && umount -l /.outside || fail "cannot change the root"
cd /
"$@"
"""
"""Exit status 99 says that this machine has no such root; stderr says why.

`pivot_root` instead of `chroot`: the sandbox needs a user namespace, and a chroot refuses it.
"""


def _mount_of(path: Path) -> Path:
    """Return the folder at which the file system of `path` is mounted."""
    found = path.resolve()
    while not os.path.ismount(found):
        found = found.parent
    return found


def _kept_folders() -> list[str]:
    """Return what Python and the project need and the overlay lacks: it holds no other mounts."""
    needed = {ROOT, Path(sys.prefix), Path(sys.base_prefix)}
    return sorted(str(path) for path in needed if _mount_of(path) != Path("/"))


def _entering() -> list[str]:
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, *NAMESPACES]


def _run(command: list[str], seconds: float, fds: tuple[int, ...] = ()) -> tuple[int, str]:
    """Run a command in a new root. Return its status and what it wrote to both streams."""
    with tempfile.TemporaryDirectory(prefix="throwaway-") as room:
        done = subprocess.run(
            [*_entering(), "sh", "-uc", MOUNT, "sh", room, " ".join(_kept_folders()), *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            check=False,
            pass_fds=fds,
            cwd="/",
            env={
                **os.environ,
                "OVERLAY": "" if os.geteuid() == 0 else ",userxattr",
                "HOME": "/root",
                "PYTHONPATH": str(ROOT),
            },
        )
    return done.returncode, done.stdout.decode("utf-8", "replace").strip()


@functools.cache
def missing() -> str | None:
    """Return the reason why this machine has no throw-away root, or None if it has one."""
    try:
        status, text = _run(["true"], seconds=30)
    except FileNotFoundError:
        return "util-linux `unshare` is not installed"
    except subprocess.TimeoutExpired:
        return "the root was not ready after 30 s"
    if status == 0:
        return None
    return text or f"unshare ended with {status}"


def need_throwaway_root(*, real_root: bool = False) -> None:
    """Skip the test, with the reason, if there is no throw-away root here.

    `real_root`: the test needs several users, or changes files of root. In the namespace of another
    user there is that user alone, and the files of root stay closed.
    """
    if real_root and os.geteuid() != 0:
        pytest.skip("only root can have several users in a throw-away root")
    reason = missing()
    if reason is None:
        return
    # CI runs as root, and there a missing root is a failure (tests/required_tests.py).
    wording = (
        "no throw-away root here" if os.geteuid() == 0 else "this user gets no throw-away root"
    )
    pytest.skip(f"{wording}: {reason}")


def in_throwaway_root(function, *args, real_root=False, seconds=120.0):
    """Call a function of a module in a new root and return its result.

    Args:
        function: A function at the top level of a module that can be imported.
        args: JSON values.
        real_root: See `need_throwaway_root`.
        seconds: After this time the root and its processes are killed.

    Raises:
        AssertionError: The function raised; the text holds its traceback and its output.
    """
    need_throwaway_root(real_root=real_root)
    # A file takes the whole answer, where a pipe would fill up before it is read.
    with tempfile.TemporaryFile() as answer:
        call = json.dumps([function.__module__, function.__qualname__, args, answer.fileno()])
        command = [sys.executable, "-m", "tests.throwaway_root", call]
        status, output = _run(command, seconds, (answer.fileno(),))
        answer.seek(0)
        text = answer.read()
    if not text:
        raise AssertionError(f"the throw-away root ended with {status} and no answer:\n{output}")
    outcome = json.loads(text)
    if "skipped" in outcome:
        pytest.skip(outcome["skipped"])
    if "raised" in outcome:
        raise AssertionError(f"in the throw-away root:\n{outcome['raised']}\n{output}")
    return outcome["returned"]


def _answer(module: str, name: str, args: list[object]) -> dict[str, object]:
    try:
        function = getattr(importlib.import_module(module), name)
        return {"returned": function(*args)}
    except pytest.skip.Exception as skipped:
        return {"skipped": str(skipped)}
    except BaseException:  # noqa: BLE001 - `pytest.fail` raises what is no Exception
        return {"raised": traceback.format_exc()}


if __name__ == "__main__":
    called = json.loads(sys.argv[1])
    os.write(called.pop(), json.dumps(_answer(*called)).encode())
