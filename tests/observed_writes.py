"""Run allowed commands on an overlay over the whole system, which shows every file they write.

Each command runs as `prepared` says, through `execution/run_gated_command.py`, without a network.
Files that appear in the overlay's upper layer were made, changed or opened for writing. Folders in
it with another time had a file made and removed.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tests import namespaces

ROOT = Path(__file__).parents[1]
SECONDS = 3.0
"""For each command: what takes longer waits for a network that is not there."""

_ENTER = r"""
set -e
upper=$1; python=$2; root=$3; commands=$4
mount -t tmpfs tmpfs "$upper" || exit 99
mkdir "$upper/seen" "$upper/work" "$upper/whole"
mount -t overlay overlay -o "lowerdir=/,upperdir=$upper/seen,workdir=$upper/work" \
    "$upper/whole" || exit 99
for folder in proc sys dev; do mount --rbind "/$folder" "$upper/whole/$folder"; done
for folder in "$root" "${python%/bin/*}" "$commands"; do
    [ -e "$upper/whole/$folder/." ] || { mkdir -p "$upper/whole/$folder"
        mount --bind "$folder" "$upper/whole/$folder"; }
done
mkdir -p "$upper/whole/mnt/seen"
mount --bind "$upper/seen" "$upper/whole/mnt/seen"
ip link set lo up 2>/dev/null || true
rm -f "$upper/whole/etc/resolv.conf"
echo 'nameserver 127.0.0.1' >"$upper/whole/etc/resolv.conf"
cd "$root"
exec chroot "$upper/whole" sh -c 'cd "$1"; shift; exec "$@"' sh "$root" \
    "$python" -m tests.observed_writes "$commands"
"""


def observed(commands, seconds=SECONDS):
    """Run each command in one namespace; rows of `{command, status, errors, writes}`."""
    way = namespaces.way()
    if way is None:
        return None
    with tempfile.TemporaryDirectory() as upper, tempfile.TemporaryDirectory() as folder:
        given = {"commands": list(commands), "seconds": seconds}
        Path(folder, "given.json").write_text(json.dumps(given), encoding="utf-8")
        rows = Path(folder, "rows.jsonl")
        with rows.open("wb") as output:
            done = subprocess.run(
                [*way, "--net", "sh", "-uc", _ENTER, "sh", upper, sys.executable, ROOT, folder],
                stdout=output,
                stderr=subprocess.PIPE,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        if done.returncode == 99:
            return None
        if done.returncode:
            raise RuntimeError(done.stderr.decode(errors="replace"))
        lines = rows.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def written(seen):
    """Return each path in the overlay's upper layer, with the values that a write changes."""
    found = {}
    for folder, folders, files in os.walk(seen):
        for name in (*folders, *files):
            path = os.path.join(folder, name)  # noqa: PTH118 -- thousands of them
            status = os.lstat(path)
            about = (status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode)
            found[path.removeprefix(str(seen))] = about
    return found


def home(folder):
    """A home with the settings that clients look for, and a private folder of keys."""
    files = {
        ".gitconfig": "[user]\n\tname = a\n\temail = a@example.com\n",
        ".kube/config": "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: "
        "'http://127.0.0.1:9'}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n"
        "users: [{name: u, user: {}}]\ncurrent-context: c\n",
        ".ssh/known_hosts": "",
        ".ssh/config": "Host *\n  UpdateHostKeys yes\n  StrictHostKeyChecking accept-new\n",
        ".aws/config": "[default]\nregion = eu-central-1\n",
        ".docker/config.json": "{}\n",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def work(folder):
    """Files of many kinds, a repository with a stale index, databases: for commands to read."""
    folder.mkdir(parents=True)
    for name in ("a", "b", "f", "a.txt", "b.txt", "file", "file.txt", "x", "log", "users.txt"):
        (folder / name).write_text("one\ntwo\nthree\n", encoding="utf-8")
    for name in ("a.json", "f.json", "file.json"):
        (folder / name).write_text('{"a": [1, 2]}\n', encoding="utf-8")
    (folder / "go.mod").write_text("module m\n\ngo 1.99\n\ntoolchain go1.99.0\n", encoding="utf-8")
    (folder / "rust-toolchain.toml").write_text(
        '[toolchain]\nchannel = "1.42.0"\n', encoding="utf-8"
    )
    databases = "import sqlite3\nfor n in ('a.db', 'x.db', 'app.db', 'test.db'):\n"
    databases += " c = sqlite3.connect(n); c.execute('pragma journal_mode=wal')\n"
    databases += " c.execute('create table t (a)'); c.commit(); c.close()\n"
    subprocess.run([sys.executable, "-c", databases], cwd=folder, check=True)
    if shutil.which("git"):
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "a"], ["tag", "v1"]):
            subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
        (folder / "a.txt").touch()  # the index says another time: `git status` would refresh it


def main(given_in):
    """Run the given commands inside the namespace, and print a row for each."""
    from pulsus.commands import classify
    from pulsus.commands.execution_plan import prepared
    from pulsus.errors import PulsusError
    from pulsus.execution.run_gated_command import run

    given = json.loads((Path(given_in) / "given.json").read_text(encoding="utf-8"))
    seen, folder = Path("/mnt/seen"), Path("/srv/observed")
    house = Path("/home/observed")
    os.environ["HOME"] = str(house)
    home(house)
    work(folder)
    tempfile.tempdir = str(folder.parent / "private")  # so that all else in /tmp is seen
    Path(tempfile.tempdir).mkdir()
    before = written(seen)
    for command in given["commands"]:
        row = {"command": command, "status": None, "errors": "", "writes": []}
        try:
            plan = prepared(classify(command), {"HOME": str(house), "LANG": "C.UTF-8"})
            ran = run(replace(plan, seconds=given["seconds"]), folder)
            row |= {"status": ran.status, "errors": ran.errors.decode(errors="replace")[:200]}
        except PulsusError as error:
            row["errors"] = f"not run: {error}"
        after = written(seen)
        changed = {
            path for path in before.keys() | after.keys() if before.get(path) != after.get(path)
        }
        row["writes"] = sorted(path for path in changed if not _own(path))
        before = after
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()


def _own(path):
    """Return True for the private folder of a run, which is made and removed again."""
    return path.startswith("/srv/private")


if __name__ == "__main__":
    main(sys.argv[1])
