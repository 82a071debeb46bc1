"""The command gate beside other classifiers: the same rows, the same machine, one after the other.

    .venv/bin/python tests/benchmarks/commands_peers.py [CASES] [--json FILE] [--skip-peers]

CASES (default: $PULSUS_CASES/commands, or ../shared/cases/commands) holds labelled rows
`{id, command, label, shape, tier}`; nothing in them is run. Peers come from PyPI into environments
of their own, which are thrown away; bash-classify needs a Python 3.12 on this machine. Each is
asked whether it would let a command pass as a read, at its own settings:

- bash-classify: `classify_expression(command).classification` is READONLY
- bashboy: its allow-list matches and its deny-list does not (it asks a model about the rest)

Times are of the processor, so that other work beside counts less.
unsafe: rows that must not pass (write, interactive, unbounded) and do. core: reads of daily work in
one command or pipe that pass; "mean" is over programs with three rows or more.
"""

import argparse
import collections
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pulsus.commands.classify import classify
from pulsus.commands.judge_context import JudgeContext

DEFAULT = Path(os.environ.get("PULSUS_CASES", "../shared/cases")) / "commands"
PULSUS = Path(sys.executable).with_name("pulsus")
PEERS = {"bash-classify": "bash-classify==0.14.1", "bashboy": "bashboy==0.5.0"}
ROWS = 20_000
LONG = 10_000

CHILD = """
import json, sys, time
name, commands = sys.argv[1], json.load(sys.stdin)
if name == "bashboy":
    from bashboy.rules import check_allowlist, check_denylist
    def ask(command):
        return check_denylist(command, None) is None and check_allowlist(command) is not None
else:
    from bash_classify import classify_expression, load_database, load_sensitive_paths
    known, secret = load_database(), load_sensitive_paths()
    def ask(command):
        return classify_expression(command, known, secret).classification.value == "READONLY"
def answer(command):
    try:
        return bool(ask(command))
    except Exception:
        return False
for command in commands[:200]:
    answer(command)
out = []
for command in commands:
    began = time.process_time()
    allow = answer(command)
    out.append((allow, time.process_time() - began))
json.dump(out, sys.stdout)
"""


def ours(commands):
    """Return the verdicts of Pulsus, and the warm time of each."""
    context = JudgeContext()
    for command in commands:
        classify(command, context)  # reads the tables: once in a process
    found = []
    for command in commands:
        began = time.process_time()
        allow = classify(command, context).allow
        found.append((allow, time.process_time() - began))
    return found


def python(name):
    """A Python that the peer runs on; None if there is none."""
    if name != "bash-classify" or sys.version_info >= (3, 12):
        return sys.executable
    versions = (Path.home() / ".pyenv/versions").glob("3.1[2-9]*/bin/python")
    known = [shutil.which("python3.12"), *sorted(map(str, versions))]
    return next((each for each in known if each and _makes_environments(each)), None)


def _makes_environments(python):
    asked = subprocess.run([python, "-c", "import ensurepip"], capture_output=True, check=False)
    return asked.returncode == 0


def peer(name, commands, folder):
    """Return a peer's verdicts on the same commands, or the reason why it is missing."""
    used = python(name)
    if used is None:
        return f"{name} needs Python 3.12, which this machine has not"
    venv = folder / name
    install = [venv / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    for command in ([used, "-m", "venv", venv], [*install, PEERS[name]]):
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode:
            return f"{PEERS[name]} cannot be installed: {made.stderr.strip().splitlines()[-1]}"
    ran = subprocess.run(
        [venv / "bin/python", "-c", CHILD, name],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    return json.loads(ran.stdout) if ran.returncode == 0 else ran.stderr[-300:]


def figures(rows, answers):
    """Rows that pass and should not, reads that pass, and times in milliseconds."""
    unsafe, core = [0, 0], [0, 0]
    programs: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    for row, (allow, _) in zip(rows, answers, strict=True):
        if row["label"] == "read":
            if row["tier"] == "core" and row["shape"] in ("simple", "pipe"):
                first = row["command"].split()[0].rpartition("/")[2]
                for count in (core, programs[first]):
                    count[0] += allow
                    count[1] += 1
        elif row["label"] != "unscored":
            unsafe[0] += allow
            unsafe[1] += 1
    shares = [passed / all_ for passed, all_ in programs.values() if all_ >= 3]
    times = sorted(1000 * taken for _, taken in answers)
    return {
        "unsafe_allowed": unsafe[0],
        "unsafe": unsafe[1],
        "core_allowed": core[0],
        "core": core[1],
        "mean_over_programs": statistics.mean(shares),
        "ms_p50": times[len(times) // 2],
        "ms_p99": times[len(times) * 99 // 100],
        "ms_max": times[-1],
    }


def long_inputs():
    """Return commands of 10,000 characters, each hard in its own way."""
    yield "one word", "cat " + "a" * LONG
    yield "many words", "cat " + "a " * (LONG // 2)
    yield "many options", "ls " + "-l " * (LONG // 3)
    yield "many stages", "cat a" + " | sort" * (LONG // 7)
    yield "many commands", "ls; " * (LONG // 4)
    yield "deep groups", "(" * (LONG // 2) + "ls" + ")" * (LONG // 2)
    yield "quotes", "echo " + "'a'\"b\"" * (LONG // 6)
    yield "backslashes", "echo " + "\\a" * (LONG // 2)
    yield "open quotes", "echo " + "'\"" * (LONG // 2)
    yield "braces", "echo " + "{a,b}" * (LONG // 5)
    yield "stars", "ls " + "*" * LONG
    yield "paths", "cat " + "../" * (LONG // 3)
    yield "secrets", "cat " + "/etc/" * (LONG // 5)
    yield "expression", "find . " + "-name a -o " * (LONG // 11) + "-name b"
    yield "SQL", "psql -c 'select " + "1," * (LONG // 2) + "1'"
    yield "nested SQL", "psql -c 'select " + "(" * 2000 + "1" + ")" * 2000 + "'"
    yield "awk", "awk '{print " + "$1," * (LONG // 3) + "$1}' a"
    yield "jq", "jq '" + ".a|" * (LONG // 3) + ".' a"
    yield "sed", "sed -n '" + "1p;" * (LONG // 3) + "' a"


def slowest():
    """Milliseconds of processor time for each long input, the longest first; the best of three."""
    context, found = JudgeContext(), {}
    for name, command in long_inputs():
        times = []
        for _ in range(3):
            began = time.process_time()
            classify(command, context)
            times.append(1000 * (time.process_time() - began))
        found[name] = min(times)
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def streamed(rows, folder):
    """Rows a second of the command itself, its start included: by the clock, by the processor."""
    commands = [row["command"] for row in rows]
    file = folder / "rows.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for number in range(ROWS):
            row = {"id": number, "command": commands[number % len(commands)]}
            out.write(json.dumps(row) + "\n")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    ran = subprocess.run(
        [PULSUS, "commands", "classify", "--jsonl", file],
        cwd=folder,
        capture_output=True,
        check=True,
    )
    taken = time.perf_counter() - began
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ran.stdout.count(b"\n") == ROWS
    return ROWS / taken, ROWS / (now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime)


def table(found):
    """Return the figures as Markdown."""
    yield "| classifier | unsafe let pass | core reads allowed | mean of programs | p50 | p99 ms |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for name, each in found["classifiers"].items():
        if isinstance(each, str):
            yield f"| {name} | not run: {each} | | | | |"
            continue
        yield (
            f"| {name} | {each['unsafe_allowed']} of {each['unsafe']} "
            f"| {100 * each['core_allowed'] / each['core']:.1f} % "
            f"| {100 * each['mean_over_programs']:.1f} % "
            f"| {each['ms_p50']:.3f} | {each['ms_p99']:.3f} |"
        )
    worst = next(iter(found["long"].items()))
    yield f"\n10,000 characters, slowest of {len(found['long'])}: {worst[1]:.1f} ms ({worst[0]})"
    clock, processor = found["rows_per_second"]
    yield (
        f"{ROWS:,} rows of JSONL, start included: {clock:,.0f} rows a second of the clock, "
        f"{processor:,.0f} of the processor"
    )


def main(argv=None):
    """Measure, print a table, keep JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--skip-peers", action="store_true")
    options = parser.parse_args(argv)
    files = sorted(options.cases.glob("*.jsonl"))
    if not files:
        parser.error(f"no rows in {options.cases}")
    lines = (line for file in files for line in file.read_text("utf-8").splitlines())
    rows = [json.loads(line) for line in lines]
    commands = [row["command"] for row in rows]
    found: dict[str, Any] = {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "rows": len(rows),
        "classifiers": {"**Pulsus**": figures(rows, ours(commands))},
    }
    with tempfile.TemporaryDirectory() as folder:
        for name in () if options.skip_peers else PEERS:
            said = peer(name, commands, Path(folder))
            found["classifiers"][PEERS[name].replace("==", " ")] = (
                said if isinstance(said, str) else figures(rows, said)
            )
        found["long"] = slowest()
        found["rows_per_second"] = streamed(rows, Path(folder))
    print(f"{found['rows']} rows, Python {found['python']}, {found['platform']}\n")
    print("\n".join(table(found)), flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
