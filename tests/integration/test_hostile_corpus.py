"""The hostile corpus: every case contained, every legitimate control accepted (spec §17).

Each case runs in a planted world: a repository, a home, a folder beside them, listeners and a
bystander process. Afterwards every planted file must be as it was, nothing new may lie there, no
listener may have been reached, no secret may be in the report and no process may be left.
Each case also goes to the sandbox alone, because a linter that happens to refuse a case first says
nothing about the sandbox.
"""

import os
import re
import secrets
import socket
import stat
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pulsus.config.settings import SandboxConfig
from pulsus.core.sandbox.job import Job
from pulsus.core.sandbox.sandbox_limits import SandboxLimits
from pulsus.core.sandbox.sandbox_probe import run_sandboxed
from pulsus.core.validators.validator_protocol import BUSY
from tests.candidates import pipeline, read
from tests.sandboxes import need_sandbox, processes_with

FOLDER = Path(os.environ.get("PULSUS_CASES", "../shared/cases"), "hostile")
CASES = sorted(FOLDER.glob("*.py"))
SECONDS = 5.0

pytestmark = [pytest.mark.cases, pytest.mark.slow, pytest.mark.sandbox]
if not CASES:
    pytestmark.append(pytest.mark.skip(reason="outside cases are not here; set PULSUS_CASES"))


@dataclass
class World:
    """The targets of a case, and their state before it."""

    folder: Path
    token: str
    secret: str
    values: dict[str, str]
    sockets: list[socket.socket]
    victim: Any
    before: dict[str, tuple[int, bytes]] = field(default_factory=dict)

    def fill(self, source: bytes) -> bytes:
        """Return the case with its placeholders replaced, grown if it says so."""
        for name, value in self.values.items():
            source = source.replace(f"@@{name}@@".encode(), value.encode())
        grow = re.search(rb"# GROW:(\d+)", source)
        return source + b"# padding line\n" * (int(grow[1]) // 15) if grow else source

    def contacts(self) -> list[str]:
        """Return every listener that was contacted."""
        found = []
        for each in self.sockets:
            try:
                each.recv(64) if each.type == socket.SOCK_DGRAM else each.accept()[0].close()
                found.append(str(each))
            except BlockingIOError:
                continue
        return found


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return every file below it: mode and bytes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        found[str(path)] = (mode, path.read_bytes() if stat.S_ISREG(mode) else b"")
    return found


@pytest.fixture
def world(tmp_path):
    need_sandbox()
    token, secret = "TOK" + secrets.token_hex(8), "PULSUSSECRET-" + secrets.token_hex(8)
    folder = tmp_path / "world"
    planted = {
        "repo/.env": f"KEY={secret}\n",
        "repo/.git/hooks/pre-commit": "#!/bin/sh\n",
        "repo/agents/pulsus/core.py": "CANARY = 1\n",
        "repo/agents/pulsus/__pycache__/.keep": "",
        "repo/pyproject.toml": "[project]\n",
        "repo/logs/decisions.jsonl": "{}\n",
        "outside/canary.txt": "untouched\n",
        "outside/private.txt": secret,
        "outside/mnt/.keep": "",
        "home/.bashrc": "# rc\n",
        "home/.ssh/id_rsa": secret,
    }
    for name, text in planted.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    with ExitStack() as stack:
        listeners, values = listen(stack, folder / "outside" / "canary.sock", token)
        command = ["/bin/sh", "-c", "sleep 600; :", "PULSUSVICTIM"]
        victim = subprocess.Popen(command, start_new_session=True)
        stack.callback(victim.wait)
        stack.callback(os.killpg, victim.pid, 9)
        values |= {name.upper(): str(folder / name) for name in ("repo", "outside", "home")}
        values |= {"TOKEN": token, "VICTIM": str(victim.pid)}
        yield World(folder, token, secret, values, listeners, victim, snapshot(folder))


def listen(stack: ExitStack, path: Path, token: str) -> tuple[list[socket.socket], dict[str, str]]:
    """Start canary listeners of every kind; return them by the names that cases use."""
    tcp, udp, unix, abstract = (
        stack.enter_context(socket.socket(family, kind))
        for family, kind in (
            (socket.AF_INET, socket.SOCK_STREAM),
            (socket.AF_INET, socket.SOCK_DGRAM),
            (socket.AF_UNIX, socket.SOCK_STREAM),
            (socket.AF_UNIX, socket.SOCK_STREAM),
        )
    )
    name = f"pulsus-{token}"
    for each, address in (
        (tcp, ("127.0.0.1", 0)),
        (udp, ("127.0.0.1", 0)),
        (unix, f"/tmp/{token}.sock"),  # a socket's path is short
        (abstract, "\0" + name),
    ):
        each.bind(address)
        each.setblocking(False)
        if each.type == socket.SOCK_STREAM:
            each.listen()
    stack.callback(os.unlink, f"/tmp/{token}.sock")
    path.symlink_to(f"/tmp/{token}.sock")
    port = str(tcp.getsockname()[1])
    values = {"TCP": port, "TCP6": port, "UDP": str(udp.getsockname()[1])}
    return [tcp, udp, unix, abstract], {**values, "UNIX": str(path), "ABSTRACT": name}


def check_world(world: World, said: str):
    assert snapshot(world.folder) == world.before
    assert world.contacts() == []
    assert world.secret not in said
    assert "\x1b" not in said
    assert world.victim.poll() is None
    assert not [p for p in processes_with(world.token) if p != os.getpid()]


def busy(report) -> bool:
    """True if the machine had no core for some step: no verdict, and no pass (ADR 32)."""
    return report.verdict == "unverified" and any(step.code == BUSY for step in report.steps)


def short_of_cores() -> bool:
    """True if more processes want to run than there are cores; a case alone has one core."""
    return os.getloadavg()[0] > (os.cpu_count() or 1)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_the_pipeline_judges_the_case_and_nothing_outside_is_touched(
    case, world, record_property, tmp_path
):
    record_property("case", f"hostile/{case.stem}")
    source = world.fill(case.read_bytes())
    header = source[:2000].decode("utf-8", "replace")
    using = pipeline(
        tmp_path, sandbox=SandboxConfig(max_seconds=SECONDS), mypy_cache=mypy_cache(tmp_path)
    )
    report, validated = using.validate(source, case, read(source, case.stem))
    if busy(report):
        report, validated = using.validate(source, case, read(source, case.stem))
    undecided = busy(report) and short_of_cores()
    assert undecided or report.verdict != "unverified", report.summary
    if undecided or re.search(r"^# check: .*exit=nonzero", header, re.M):
        assert validated is None
    if not undecided and re.search(r"^# expect: accepted", header, re.M):
        assert validated is not None, report.summary
    logs = "".join(path.read_text(encoding="utf-8") for path in report.artifacts)
    check_world(world, logs + str(report))


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_the_sandbox_alone_contains_the_case(case, world, record_property):
    record_property("case", f"hostile/{case.stem}")
    source = world.fill(case.read_bytes())
    entry = "main" if b"def main" in source else "run"
    limits = SandboxLimits.of(SandboxConfig(max_seconds=SECONDS), import_seconds=3.0)
    outcome = run_sandboxed(Job(source, case.stem, entry, {}), limits)
    if outcome.starved:
        outcome = run_sandboxed(Job(source, case.stem, entry, {}), limits)
    undecided = outcome.starved and short_of_cores()
    assert undecided or outcome.status != "unverified", outcome.message
    if (
        not undecided
        and b"exit=nonzero" in source[:2000]
        and b"expect: rejected_static" not in source[:2000]
    ):
        assert outcome.status == "failed"
    check_world(world, str(outcome))


def mypy_cache(tmp_path: Path) -> Path:
    """Return one cache for all cases of this run: mypy starts cold otherwise."""
    return tmp_path.parent / "mypy-cache"
