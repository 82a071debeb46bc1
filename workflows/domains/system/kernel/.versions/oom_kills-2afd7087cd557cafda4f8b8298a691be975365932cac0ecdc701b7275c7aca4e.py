"""List the processes that the kernel's out-of-memory killer ended: when, which, and how big.

Reads the kernel's messages of this machine (`journalctl -k`, else `dmesg`), or a saved log file
such as `/var/log/kern.log`. Knows the messages of current and older kernels, and says for each kill
if the whole machine or only a control group (a service or container) ran out of memory.

Args:
    path (str): A saved kernel log to read; this machine's messages when empty.
    since_hours (int): How far back to ask this machine's journal, at least 1. Not applied to a
        saved log, nor to `dmesg`.
    process (str): Only kills of processes with this name; all when empty.

Returns:
    rows (list[dict[str, Any]]): One a kill, in the order of the log: `time` (as the log writes it),
        `process`, `pid`, `rss_bytes` (null if the log does not say), `scope` (`machine` or
        `cgroup`), `cgroup` (empty if the log does not say), `line` (in the log, from 1).
    total (int): How many kills.
    processes (dict[str, int]): Kills of each process name.
    lines (int): How many lines were read.
    source (str): `journalctl`, `dmesg` or the file; empty if nothing could be asked.
    error (str | None): Why this machine could not be asked.

Side effects:
    none

Kind: read

Effects:
    paths: the given log
    hosts: none
    commands: journalctl, dmesg

Secrets: none

Examples:
    - inputs: {path: /tmp/kern.log}
      files:
        /tmp/kern.log: |
          Mar  1 10:00:01 db1 kernel: postgres invoked oom-killer: gfp_mask=0xcc0, order=0
          Mar  1 10:00:01 db1 kernel: oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,oom_memcg=/system.slice/app.service,task_memcg=/system.slice/app.service,task=java,pid=4711,uid=1000
          Mar  1 10:00:01 db1 kernel: Memory cgroup out of memory: Killed process 4711 (java) total-vm:2048kB, anon-rss:100kB, file-rss:20kB, shmem-rss:0kB, UID:1000
          Mar  2 11:00:00 db1 kernel: [99.5] Out of memory: Kill process 12 (web server) score 900 or sacrifice child
          Mar  2 11:00:00 db1 kernel: [99.5] Killed process 12 (web server) total-vm:9kB, anon-rss:3kB, file-rss:1kB
      output:
        rows:
          - {time: "Mar  1 10:00:01", process: java, pid: 4711, rss_bytes: 122880, scope: cgroup,
             cgroup: /system.slice/app.service, line: 3}
          - {time: "Mar  2 11:00:00", process: web server, pid: 12, rss_bytes: 4096,
             scope: machine, cgroup: "", line: 5}
        total: 2
        processes: {java: 1, web server: 1}
        lines: 5
        source: /tmp/kern.log
        error: null
    - title: a log without a kill
      inputs: {path: /tmp/kern.log}
      files: {/tmp/kern.log: "Mar  1 10:00:01 db1 kernel: eth0: link up"}
      output: {rows: [], total: 0, processes: {}, lines: 1, source: /tmp/kern.log, error: null}
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_KILLED = re.compile(
    r"\bKilled process (?P<pid>\d+),? (?:UID \d+, )?\((?P<name>.*?)\)(?P<rest>,? total-vm:.*|,.*|\s*$)"
)
_CONSTRAINT = re.compile(r"oom-kill:constraint=(\w+),.*?\btask_memcg=([^,]*),task=.*?,pid=(\d+)")
_OLD_CGROUP = re.compile(r"Task in (/\S*) killed as a result of limit")
_RSS = re.compile(r"\b(?:anon|file|shmem)-rss:(\d+)kB")
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?|[A-Z][a-z]{2} [ \d]\d [\d:]{8}"
    r"|\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}\]|\[ *\d+\.\d+\]"
)
_TIMEOUT_S = 20


def run(path: str = "", since_hours: int = 168, process: str = "") -> dict[str, Any]:
    if since_hours < 1:
        raise ValueError(f"since_hours {since_hours} is too short: give at least 1")
    error: str | None = None
    if path:
        source = path
        with Path(path).open(encoding="utf-8", errors="replace") as stream:
            rows, lines = _kills(stream)
    else:
        text, source, error = _ask(since_hours)
        rows, lines = _kills(text.splitlines())
    rows = [row for row in rows if process in ("", row["process"])]
    processes = dict(sorted(Counter(row["process"] for row in rows).items()))
    return {"rows": rows, "total": len(rows), "processes": processes, "lines": lines} | {
        "source": source,
        "error": error,
    }


def _ask(hours: int) -> tuple[str, str, str | None]:
    """Return the kernel's messages, the program that gave them, and why there are none."""
    reasons = []
    journal = ["journalctl", "-k", "-o", "short-iso", "--no-pager", "-q", "--since", f"-{hours}h"]
    for argv in (journal, ["dmesg", "--time-format=iso"]):
        try:
            done = subprocess.run(
                argv, capture_output=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
            )
        except FileNotFoundError:
            reasons.append(f"{argv[0]} is not installed")
            continue
        except (OSError, subprocess.TimeoutExpired) as failure:
            reasons.append(f"{argv[0]} could not be asked: {failure}")
            continue
        if done.returncode == 0 and done.stdout:
            return done.stdout.decode("utf-8", "replace"), argv[0], None
        said = done.stderr.decode("utf-8", "replace").strip() or "it has no kernel messages"
        reasons.append(f"{argv[0]}: {said}")
    return "", "", "; ".join(reasons) + ": give the path of a saved kernel log"


def _kills(lines: Iterable[str]) -> tuple[list[dict[str, Any]], int]:
    rows: list[dict[str, Any]] = []
    groups: dict[int, tuple[bool, str]] = {}
    old_group = ""
    number = 0
    for number, line in enumerate(lines, 1):
        if found := _CONSTRAINT.search(line):
            groups[int(found[3])] = (found[1] == "CONSTRAINT_MEMCG", found[2])
        elif found := _OLD_CGROUP.search(line):
            old_group = found[1]
        elif found := _KILLED.search(line):
            pid, when = int(found["pid"]), _TIME.search(line)
            limited, group = groups.pop(pid, (bool(old_group), old_group))
            limited = limited or "Memory cgroup out of memory" in line
            sizes = [int(size) for size in _RSS.findall(found["rest"])]
            rows.append(
                {"time": when[0].strip("[] ") if when else "", "process": found["name"]}
                | {"pid": pid, "rss_bytes": sum(sizes) * 1024 if sizes else None}
                | {"scope": "cgroup" if limited else "machine", "cgroup": group, "line": number}
            )
            old_group = ""
    return rows, number
