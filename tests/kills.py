"""A piece of code killed at its first, second, third... system call, each time in a fresh copy."""

import json
import subprocess
import sys

KILLER = """
import os, sys

calls = 0

def counting(real):
    def call(*args, **options):
        global calls
        calls += 1
        if calls == n:
            os._exit(9)
        return real(*args, **options)
    return call

def armed():
    for name in ("open", "rename", "fsync", "unlink", "mkdir", "write", "ftruncate"):
        setattr(os, name, counting(getattr(os, name)))
"""
FORKER = f"""
import json, os, shutil, sys
from pathlib import Path

base, work, code = Path(sys.argv[1]), Path(sys.argv[2]), compile(sys.argv[3], "code", "exec")
ready = {{}}
exec(code, ready)
os.fsync = os.fstat  # a kill of a process loses no written byte: the call counts, its wait does not
codes = []
for n in range(1, 500):
    project = work / str(n)
    shutil.copytree(base, project)
    pid = os.fork()
    if pid == 0:
        about = {{"n": n}}
        exec(compile({KILLER!r}, "killer", "exec"), about)
        about["armed"]()
        ready["act"](project)
        os._exit(0)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    if codes[-1] == 0:
        break
print(json.dumps(codes))
"""


def killed_everywhere(base, work, code):
    """Run `act(project)` of `code` in copies of `base`. Return those killed, and the finished one.

    Copy number n is killed at system call n. The imports of `code` come before the first call.
    """
    out = subprocess.run(
        [sys.executable, "-c", FORKER, str(base), str(work), code],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert out.returncode == 0, out.stderr
    codes = json.loads(out.stdout)
    assert codes[-1] == 0, "it never got to its end"
    assert set(codes[:-1]) == {9}, "it failed of itself"
    copies = [work / str(n) for n in range(1, len(codes) + 1)]
    return copies[:-1], copies[-1]
