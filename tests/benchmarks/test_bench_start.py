"""Start-up and discovery at catalogue scale, for docs/benchmarks.md. Nothing here asserts a time.

Processes are run turn by turn with their peer, so that both meet the same machine; the figure is
the ratio of the medians.
"""

import ast
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pulsus.config.settings import DiscoveryConfig
from pulsus.routing.index.discovery_index import DiscoveryIndex
from pulsus.routing.tool_discovery import discover

pytestmark = pytest.mark.bench

ROOT = Path(__file__).parents[2]
PULSUS = str(Path(sys.executable).with_name("pulsus"))
PEER = (sys.executable, "-c", "import click, pydantic_settings")
BARE = (sys.executable, "-c", "pass")
CONFIG = DiscoveryConfig()
SETTLED_S = 2.2
"""A file younger than 2 s is read again."""

VERBS = ("list", "show", "count", "restart", "rotate", "check", "sync", "purge", "export", "drain")
NOUNS = ("volume", "snapshot", "certificate", "queue", "bucket", "replica", "role", "route", "job")
ACTIONS = ("usage", "tls", "compute", "storage", "network", "access", "audit", "billing", "deploy")
DOMAINS = tuple(f"{name}{n}" for name in ("cloud", "edge", "core", "data", "web") for n in range(4))

MODULE = '''"""{Verb} every {noun} of the {domain} cluster.

Looks at each {noun}, tells which ones need a {verb}, and pages through long results.

Args:
    limit: Highest number of {noun}s to return.
    pattern: Only {noun}s whose name matches this.

Returns:
    items: One row a {noun}, name and size.
    total: How many there are.

Side effects: none.

Kind: read

Examples:
  - inputs: {{limit: 3, pattern: "a*"}}
    output: {{items: [], total: 0}}
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass

_NUMBER = re.compile(r"(\\d+)$")
_STEP = {number}


@dataclass(frozen=True)
class Row:
    """One {noun}."""

    name: str
    size: int


def run(limit: int = 10, pattern: str = "*") -> dict[str, object]:
    """The {noun}s of the cluster whose name matches `pattern`."""
    if limit < 1:
        raise ValueError(f"limit must be above 0, not {{limit}}")
    names = [f"{noun}-{{number}}" for number in range(limit)]
    rows = [Row(name, _size(name)) for name in names if fnmatch.fnmatch(name, pattern)]
    rows.sort(key=lambda row: (-row.size, row.name))
    return {{
        "items": [{{"name": row.name, "size": row.size}} for row in rows],
        "total": sum(row.size for row in rows),
    }}


def _size(name: str) -> int:
    found = _NUMBER.search(name)
    if found is None:
        return 0
    try:
        return int(found.group(1)) * _STEP
    except ValueError:
        return -1
'''


def catalogue(project, size):
    """A project of so many tools; every tenth has a manifest."""
    dice = random.Random(7)
    for number in range(size):
        domain, action = DOMAINS[number % 20], ACTIONS[number // 20 % 9]
        verb, noun = dice.choice(VERBS), dice.choice(NOUNS)
        file = project / "workflows/domains" / domain / action / f"{verb}_{noun}_{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = MODULE.format(
            Verb=verb.capitalize(), verb=verb, noun=noun, domain=domain, number=number
        )
        file.write_text(text, encoding="utf-8")
        if number % 10 == 0:
            hints = f"intents: [{verb} each {noun} of {domain}]\n"
            file.with_suffix(".tool.yaml").write_text(hints, encoding="utf-8")
    return project


def alternating(*commands, cwd, rounds=15):
    """Median wall seconds of each command, run in turn."""
    taken: list[list[float]] = [[] for _ in commands]
    for _ in range(rounds):
        for times, command in zip(taken, commands, strict=True):
            began = time.perf_counter()
            subprocess.run(command, cwd=cwd, check=False, capture_output=True)
            times.append(time.perf_counter() - began)
    return [statistics.median(times) for times in taken]


@pytest.fixture
def show(capsys):
    """Print past pytest's capture."""

    def line(name, own, peer_name, peer):
        with capsys.disabled():
            print(
                f"\n| {name} | {own * 1000:.0f} ms | {peer_name} {peer * 1000:.0f} ms "
                f"| {own / peer:.3f} |",
                end="",
            )

    return line


@pytest.mark.parametrize("size", [1_000, 10_000])
def test_warm_route(show, tmp_path, size):
    project = catalogue(tmp_path, size)
    request = "which volumes of the cluster need a snapshot"
    route = (PULSUS, "route", request, "--plan", "--output", "json")
    time.sleep(SETTLED_S)
    for _ in range(2):
        subprocess.run(route, cwd=project, check=False, capture_output=True)
    own, peer = alternating(route, PEER, cwd=project)
    show(f"warm `route --plan`, {size:,} tools", own, "import click, pydantic_settings", peer)
    assert peer > 0


def test_version_and_completion(show, tmp_path):
    version = (PULSUS, "--version")
    completion = ("env", "_PULSUS_COMPLETE=bash_complete", "COMP_WORDS=pulsus r", "COMP_CWORD=1")
    own, asked, peer = alternating(version, (*completion, PULSUS), BARE, cwd=tmp_path)
    show("`pulsus --version`", own, "python -c pass", peer)
    show("shell completion", asked, "python -c pass", peer)
    assert peer > 0


def test_index_of_ten_thousand_files(show, tmp_path):
    project = catalogue(tmp_path, 10_000)
    root, state = project / "workflows", project / ".pulsus"
    files = sorted(root.rglob("*.py"))

    def timed(action):
        began = time.perf_counter()
        action()
        return time.perf_counter() - began

    def parse():
        for file in files:
            ast.parse(file.read_bytes())

    def index():
        cache = DiscoveryIndex(state, max_file_bytes=CONFIG.max_file_bytes)
        discover(root, CONFIG, tmp_dirname="_tmp", cache=cache)

    def cold():
        shutil.rmtree(state, ignore_errors=True)
        index()

    time.sleep(SETTLED_S)
    turns = [(timed(parse), timed(cold)) for _ in range(3)]
    peer, own = (statistics.median(times) for times in zip(*turns, strict=True))
    show("cold index, 10,000 tools", own, "read + `ast.parse`", peer)
    warm = statistics.median(timed(index) for _ in range(7))
    show("warm index, 10,000 tools", warm, "cold index", own)

    def changed(number):
        file = files[number * 997]
        file.write_text(file.read_text(encoding="utf-8") + f"# {number}\n", encoding="utf-8")
        os.utime(file)
        return timed(index)

    again = statistics.median(changed(number) for number in range(7))
    show("one file changed, 10,000 tools", again, "cold index", own)
    assert peer > 0
