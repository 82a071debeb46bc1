"""The permissions, limits and messages of confinement (ADR 28).

test_confinement_hostile.py attacks it."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pulsus.core.compose.plans import build_plan, module_source, pins
from pulsus.core.system import private_folders
from pulsus.errors import ToolFailed, UsageError
from pulsus.execution.confinement import kernel_support as found
from pulsus.execution.confinement.choose_confinement import (
    RunLimits,
    choose_confinement,
    plan_confinement,
)
from pulsus.execution.confinement.kernel_support import find_support
from pulsus.execution.tool_process import run_tool
from tests.compositions import finder, module
from tests.confined import confined, need_confinement

pytestmark = pytest.mark.seconds

HEAD = '''
"""Do something.

Kind: {kind}

Effects:
    paths: {paths}
    hosts: {hosts}
    commands: {commands}
"""
import os, socket, subprocess, tempfile, threading, time
from pathlib import Path
'''


def tool(body, *, kind="read", paths="none", hosts="none", commands="none"):
    head = HEAD.format(kind=kind, paths=paths, hosts=hosts, commands=commands)
    return head + "\n\n" + body


@pytest.fixture
def server():
    """Yield a function that listens on a free port of this machine and lists the received data."""
    held = []

    def listen(kind=socket.SOCK_STREAM):
        made = socket.socket(type=kind)
        made.bind(("127.0.0.1", 0))
        heard = []
        if kind == socket.SOCK_STREAM:
            made.listen()

        def serve():
            while True:
                try:
                    if kind == socket.SOCK_STREAM:
                        with made.accept()[0] as one:
                            heard.append(one.recv(100))
                            one.sendall(b"hello")
                    else:
                        heard.append(made.recv(100))
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        held.append(made)
        return made.getsockname()[1], heard

    yield listen
    for each in held:
        each.close()


def test_temporary_files_work_and_are_gone_afterwards():
    done = confined(
        tool(
            """
def run():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a")
        path.write_text("x")
        path.chmod(0o600)
        os.utime(path, (5, 5))
        path.rename(Path(folder, "b"))
    Path(os.environ["XDG_CACHE_HOME"], "kept").write_text("x")
    Path("/dev/null").write_text("x")
    return [os.environ["TMPDIR"], os.environ.get("HOME")]
"""
        )
    )
    folder, home = done.result
    assert not Path(folder).exists()
    assert home == os.environ.get("HOME")


@pytest.mark.parametrize("paths", ["none", "/proc"], ids=["landlock", "supervised"])
def test_files_are_copied_and_unpacked_in_the_temporary_folder(paths, tmp_path):
    (tmp_path / "a").write_text("x", encoding="utf-8")
    text = """
def run(source: str):
    import shutil, sqlite3, tarfile, zipfile
    there = Path(os.environ["TMPDIR"])
    shutil.copytree(source, there / "copy")
    with tarfile.open(there / "a.tar", "w") as made:
        made.add(there / "copy", "copy")
    with tarfile.open(there / "a.tar") as made:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        made.extractall(there / "out", **safely)
    with zipfile.ZipFile(there / "a.zip", "w") as made:
        made.write(there / "copy" / "a", "a")
    base = sqlite3.connect(there / "base.db")
    base.execute("create table t (a)")
    base.commit()
    subprocess.run("sort /etc/passwd > sorted; mkdir -p x/y; mv sorted x/y; rm -r x", shell=True,
                   cwd=there, check=True)
    return (there / "out/copy/a").read_text()
"""
    assert confined(tool(text, paths=paths), source=str(tmp_path)).result == "x"


def test_numpy_runs_within_the_limits():
    text = """
def run():
    import numpy
    return float((numpy.ones((300, 300)) @ numpy.ones((300, 300))).sum())
"""
    assert confined(tool(text)).result == 300.0**3


def test_only_the_standard_streams_and_the_report_are_open():
    extra = os.open("/etc/passwd", os.O_RDONLY)
    os.set_inheritable(extra, True)
    text = "def run():\n    return sorted(map(int, os.listdir('/proc/self/fd')))\n"
    try:
        numbers = confined(tool(text)).result
    finally:
        os.close(extra)
    assert numbers[:3] == [0, 1, 2]
    assert len(numbers) == 5  # the report, and the folder that is being listed


def test_memory_is_bounded():
    text = "def run():\n    return len(bytearray(900 << 20))\n"
    with pytest.raises(ToolFailed, match="MemoryError"):
        confined(tool(text), limits=RunLimits(max_mem_mb=512))


def test_memory_of_all_processes_together_is_bounded():
    text = """
def run():
    for _ in range(8):
        if os.fork() == 0:
            held = bytearray(b"x" * (100 << 20))
            time.sleep(30)
            os._exit(0)
    time.sleep(30)
"""
    with pytest.raises(ToolFailed) as caught:
        confined(tool(text), limits=RunLimits(max_mem_mb=400))
    assert "run.max_mem_mb = 400" in str(caught.value.details["stderr_tail"])


@pytest.mark.parametrize("paths", ["none", "/proc"], ids=["landlock", "supervised"])
def test_a_fork_bomb_gets_no_further_than_its_limit(paths):
    text = """
def run():
    made = 0
    try:
        while True:
            if os.fork() == 0:
                time.sleep(20)
                os._exit(0)
            made += 1
    except OSError as error:
        return [made, error.errno]
"""
    done = confined(tool(text, paths=paths), limits=RunLimits(max_processes=30))
    assert done.result == [29, 11]


def test_many_processes_one_after_another_are_no_bomb():
    text = """
def run():
    for _ in range(60):
        subprocess.run(["true"], check=True)
    return "done"
"""
    assert confined(tool(text), limits=RunLimits(max_processes=10)).result == "done"


def test_threads_are_bounded():
    text = """
def run():
    threading.stack_size(65536)
    for _ in range(5000):
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
    time.sleep(20)
"""
    with pytest.raises(ToolFailed) as caught:
        confined(tool(text), limits=RunLimits(max_processes=10))
    assert "more than 160 threads" in str(caught.value.details["stderr_tail"])


def test_folders_however_deep_are_removed():
    text = """
def run():
    os.chdir(os.environ["TMPDIR"])
    os.mkdir("closed")
    Path("closed/file").write_text("x")
    os.chmod("closed", 0)
    for _ in range(3000):
        os.mkdir("d")
        os.chdir("d")
    Path("file").write_text("x")
    return os.environ["TMPDIR"]
"""
    assert not Path(str(confined(tool(text)).result)).exists()


def test_open_files_are_bounded():
    text = "def run():\n    held = [os.open('/dev/null', 0) for _ in range(200)]\n"
    with pytest.raises(ToolFailed, match="Too many open files"):
        confined(tool(text), limits=RunLimits(max_files=64))


def test_processes_that_left_the_group_end_with_the_run(tmp_path):
    text = """
def run():
    process = subprocess.Popen(["setsid", "sh", "-c", "sleep 100"], start_new_session=True)
    time.sleep(0.3)
    return process.pid
"""
    number = confined(tool(text)).result
    assert not Path(f"/proc/{number}").exists()


def test_a_timeout_leaves_no_process_and_no_folder():
    text = """
def run():
    process = subprocess.Popen(["setsid", "sleep", "100"], start_new_session=True)
    print(process.pid, os.environ["TMPDIR"], flush=True)
    time.sleep(100)
"""
    with pytest.raises(ToolFailed) as caught:
        confined(tool(text), timeout_s=2.0)
    number, folder = str(caught.value.details["stdout_tail"]).split()
    assert not Path(f"/proc/{number}").exists()
    assert not Path(folder).exists()


def test_the_folder_of_a_killed_run_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    prefix = private_folders.run_prefix()
    left, place = private_folders.make_folder(str(tmp_path), prefix)
    (Path(left) / "deep" / "er").mkdir(parents=True)
    (Path(left) / "link").symlink_to("/etc")
    live, lock = private_folders.make_folder(str(tmp_path), prefix)
    os.close(place)
    assert private_folders.sweep(str(tmp_path), prefix, least_age_s=60.0) == 0
    assert Path(left).exists()  # its parent may be removing it
    private_folders.sweep(str(tmp_path), prefix)
    assert not Path(left).exists()
    assert Path(live).exists()
    assert Path("/etc/passwd").exists()
    os.close(lock)


def test_sigkill_of_pulsus_ends_a_confined_tool(tmp_path):
    need_confinement()
    body = "def run():\n    print(os.getpid(), flush=True)\n    time.sleep(100)\n"
    script = (
        f"import sys; from tests.confined import confined; confined({tool(body)!r}, timeout_s=60)"
    )
    root = Path(__file__).parents[2]
    # This test does not see the tool's own output: it finds its process by its parent's.
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen([sys.executable, "-c", script], cwd=root, env=environ)
    worker = _wait_for(lambda: _children(process.pid))
    inner = _wait_for(lambda: _children(worker))
    process.send_signal(signal.SIGKILL)
    process.wait()
    _wait_for(lambda: not Path(f"/proc/{worker}").exists() or None)
    _wait_for(lambda: not Path(f"/proc/{inner}").exists() or None)


def _children(pid):
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except OSError:
        return None
    return int(text.split()[0]) if text.split() else None


def _wait_for(look):
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if (value := look()) is not None:
            return value
        time.sleep(0.02)
    raise AssertionError("it did not happen within 20 s")


SPEAK = """
def run(host: str, port: int, other: int = 0):
    def ask(number):
        try:
            with socket.create_connection((host, number), 5) as link:
                link.sendall(b"x")
                return link.recv(100).decode()
        except OSError as error:
            return type(error).__name__
    return [ask(port), ask(other) if other else ""]
"""


def test_a_declared_host_is_reached_and_another_is_not(server):
    port, heard = server()
    done = confined(tool(SPEAK, hosts="the given host"), host="localhost", port=port)
    assert done.result[0] == "hello"
    assert (done.confinement["network"], done.confinement["hosts"]) == ("gate", ["localhost"])
    body = SPEAK.replace("(host, number)", '("127.0.0.1", number)')
    refused = confined(tool(body, hosts="the given host"), host="192.0.2.1", port=port)
    assert refused.result[0] == "PermissionError"
    assert heard == [b"x"]


def test_a_declared_port_is_the_only_one(server):
    (port, heard), (other, unheard) = server(), server()
    text = tool(SPEAK, hosts="{host}:{port}")
    done = confined(text, host="127.0.0.1", port=port, other=other)
    assert done.result == ["hello", "PermissionError"]
    assert (heard, unheard) == ([b"x"], [])


def test_hosts_named_only_at_run_time_are_open_and_reported(server):
    port, _ = server()
    text = tool(SPEAK, hosts="the host of the URL and those it redirects to")
    done = confined(text, host="127.0.0.1", port=port)
    assert (done.result[0], done.confinement["network"]) == ("hello", "undecided")


DATAGRAMS = """
def run(host: str, port: int):
    def tried(act):
        try:
            act()
            return "sent"
        except OSError as error:
            return type(error).__name__
    made = socket.socket(type=socket.SOCK_DGRAM)
    to = ("127.0.0.1", port)
    found = [
        tried(lambda: made.sendto(b"a", to)),
        tried(lambda: made.sendmsg([b"b"], [], 0, to)),
        tried(lambda: made.connect(to)),
        tried(lambda: socket.socket().sendto(b"c", 0x20000000, to)),
        tried(lambda: socket.socket().listen()),
    ]
    made.close()
    return found
"""


def test_datagrams_reach_declared_hosts_only(server):
    port, heard = server(socket.SOCK_DGRAM)
    text = tool(DATAGRAMS, hosts="{host}")
    assert confined(text, host="192.0.2.1", port=port).result == ["PermissionError"] * 5
    allowed = confined(text, host="127.0.0.1", port=port).result
    assert allowed == ["sent", "sent", "sent", "PermissionError", "PermissionError"]
    _wait_for(lambda: heard == [b"a", b"b"] or None)


def test_a_declared_local_socket_is_reached(tmp_path):
    path = str(tmp_path / "s")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen()
    text = """
def run(path: str):
    link = socket.socket(socket.AF_UNIX)
    link.connect(path)
    return link.getblocking()
"""
    done = confined(tool(text, hosts=f"unix:{path}"), path=path)
    assert done.result is True
    assert done.confinement["sockets"] == [path]
    with pytest.raises(ToolFailed, match="PermissionError"):
        confined(tool(text), path=path)
    listening.close()


MODE = """
def run(path: str, elsewhere: str):
    os.chmod(elsewhere, 0o777)
"""
WRITE = """
def run(path: str, elsewhere: str = ""):
    target = Path(elsewhere or path)
    target.write_text("x")
    target.chmod(0o640)
    return str(target)
"""


def test_a_write_tool_writes_only_below_its_declared_folder(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    text = tool(WRITE, kind="write", paths="{path}")
    done = confined(text, reads=False, path=str(inside / "a"))
    assert (inside / "a").stat().st_mode & 0o777 == 0o640
    assert done.confinement["writes"] == [str(inside)]
    with pytest.raises(ToolFailed, match="PermissionError") as denied:
        confined(text, reads=False, path=str(inside / "a"), elsewhere=str(outside / "b"))
    assert "name its path in `Effects:` of the tool" in denied.value.hint
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("paths", ["{path}", "{path}, /proc"], ids=["landlock", "supervised"])
@pytest.mark.parametrize("way", ["here/../in/a", "link/a", "link/../in/a", "in/./sub/..//a"])
def test_a_declared_folder_is_written_through_dots_and_links(tmp_path, way, paths):
    for name in ("in/sub", "here"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to("in")
    text = tool(WRITE, kind="write", paths=paths)
    done = confined(text, reads=False, path=str(tmp_path / "in"), elsewhere=f"{tmp_path}/{way}")
    assert (tmp_path / "in/a").stat().st_mode & 0o777 == 0o640
    assert str(tmp_path / "in") in done.confinement["writes"]


@pytest.mark.parametrize("paths", ["{path}", "{path}, /proc"], ids=["landlock", "supervised"])
@pytest.mark.parametrize("way", ["in/../out/kept", "in/link/kept", "in/link/../kept"])
def test_dots_and_links_do_not_lead_out_of_a_declared_folder(tmp_path, way, paths):
    for name in ("in", "out/sub"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "in/link").symlink_to("../out/sub" if ".." in Path(way).parts[2:] else "../out")
    (tmp_path / "in/kept").write_text("", encoding="utf-8")
    kept = tmp_path / "out/kept"
    kept.write_text("", encoding="utf-8")
    kept.chmod(0o600)
    text = tool(MODE, kind="write", paths=paths)
    with pytest.raises(ToolFailed, match="PermissionError"):
        confined(text, reads=False, path=str(tmp_path / "in"), elsewhere=f"{tmp_path}/{way}")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "in/kept").stat().st_mode & 0o777 != 0o777


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes files of other users")
def test_root_changes_files_of_other_users_below_the_declared_folder_alone(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "old").write_text("x", encoding="utf-8")
        os.chown(folder / "old", 1, 1)
        os.chown(folder, 1, 1)
        folder.chmod(0o1755)
    text = """
def run(path: str, elsewhere: str = ""):
    target = Path(elsewhere or path)
    target.joinpath("old").rename(target / "moved")
    target.joinpath("moved").write_text("new")
    target.joinpath("moved").unlink()
"""
    made = tool(text, kind="write", paths="{path}")
    confined(made, reads=False, path=str(inside))
    assert list(inside.iterdir()) == []
    with pytest.raises(ToolFailed, match="PermissionError"):
        confined(made, reads=False, path=str(inside), elsewhere=str(outside))
    assert [path.name for path in outside.iterdir()] == ["old"]


@pytest.mark.parametrize(
    ("paths", "commands"),
    [
        pytest.param("whatever the server says", "none", id="words"),
        pytest.param("/srv/*/data", "none", id="a pattern"),
        pytest.param("{path}", "systemctl restart nginx", id="a program that does more"),
        pytest.param("/etc/new.conf", "none", id="a file right below a folder of the system"),
    ],
)
def test_a_write_tool_without_a_certain_place_is_undecided(tmp_path, paths, commands):
    text = tool(WRITE, kind="write", paths=paths, commands=commands)
    done = confined(text, reads=False, path=str(tmp_path / "a"))
    assert done.confinement["writes"] == "undecided"
    assert done.confinement["why"]


def compose(*pairs, tool_id="c/d/both"):
    tools = [tool for tool, _ in pairs]
    composed, source = module(
        tool_id, module_source.render_module(build_plan.compose_plan("", tools), tools)
    )
    sources = {made.path: code for made, code in pairs}
    return (
        composed,
        source,
        pins.collect_step_sources(source, finder(*tools), lambda path: sources[path]),
    )


READ_STEP = """
def run(source: str) -> dict[str, str]:
    \"\"\"Read.\"\"\"
    found = ""
    try:
        Path(source).write_text("evil")
        found = "wrote"
    except OSError as error:
        found = type(error).__name__
    return {"text": found}
"""
WRITE_STEP = """
def run(text: str, target: str) -> dict[str, str]:
    \"\"\"Write.\"\"\"
    if text == "refuse":
        raise ValueError("text is refused")
    Path(target).write_text(text)
    return {"written": target}
"""


def mixed(tmp_path, write=WRITE_STEP, paths="{target}", returns=""):
    args = "Args:\n    source (str): A file.\n\nReturns:\n    text (str): What happened.\n\nKind"
    first = tool(READ_STEP).replace("Kind", args, 1)
    more = (
        "Args:\n    text (str): What happened.\n    target (str): A file.\n\n"
        f"Returns:\n    written (str): The file.\n{returns}\nKind"
    )
    second = tool(write, kind="write", paths=paths).replace("Kind", more, 1)
    pairs = (module("a/b/first", first), module("a/b/second", second))
    composed, source, steps = compose(*pairs)
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "source").write_text("kept", encoding="utf-8")
    inputs = {"source": str(tmp_path / "in" / "source"), "target": str(tmp_path / "out" / "t")}
    used = [composed, *(step for step, _ in steps.values())]
    planned = plan_confinement(used, inputs, RunLimits(), find_support(), reads=False)
    return run_tool(composed, source, inputs, steps=steps, timeout_s=30.0, planned=planned)


def test_a_confined_step_whose_script_failed_ends_the_composition(tmp_path):
    need_confinement()
    step = WRITE_STEP.replace("dict[str, str]", "dict[str, object]").replace(
        '{"written": target}', '{"written": target, "exit_status": 3}'
    )
    with pytest.raises(ToolFailed, match="step a/b/second ended with exit status 3"):
        mixed(tmp_path, step, returns="    exit_status (int): How it ended.\n")


def test_each_step_of_a_mixed_composition_is_confined_by_its_own_contract(tmp_path, monkeypatch):
    need_confinement()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    done = mixed(tmp_path)
    assert done.result == {"written": str(tmp_path / "out" / "t")}
    assert (tmp_path / "out" / "t").read_text(encoding="utf-8") == "PermissionError"
    assert (tmp_path / "in" / "source").read_text(encoding="utf-8") == "kept"
    assert done.confinement["writes"] == "by step"
    assert done.confinement["steps"]["a/b/first"]["writes"] == "none"
    assert list(temporary.iterdir()) == []


def test_a_write_step_writes_nowhere_but_where_it_declares(tmp_path):
    need_confinement()
    body = WRITE_STEP.replace("Path(target)", 'Path(target).parent.parent.joinpath("in", "new")')
    with pytest.raises(ToolFailed, match="PermissionError"):
        mixed(tmp_path, write=body)
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["source"]


def test_a_step_that_fails_is_named_with_its_line(tmp_path):
    need_confinement()
    body = WRITE_STEP.replace('text == "refuse"', "text")
    with pytest.raises((ToolFailed, UsageError), match="a/b/second") as caught:
        mixed(tmp_path, write=body)
    assert caught.value.details["step"] == "a/b/second"
    assert "text is refused" in str(caught.value)


def test_nothing_runs_if_confinement_is_required_and_impossible(monkeypatch):
    from pulsus.errors import ConfinementUnavailable

    none = found.KernelSupport(0, False, False, False, ("the kernel has neither",))
    monkeypatch.setattr(
        "pulsus.execution.confinement.choose_confinement.find_support", lambda: none
    )
    made, _ = module("a/b/tool", tool("def run():\n    return 1\n"))
    with pytest.raises(ConfinementUnavailable, match="the kernel has neither") as caught:
        choose_confinement([made], {}, RunLimits(), "required", reads=True)
    assert caught.value.exit_status == 4
    wanted = choose_confinement([made], {}, RunLimits(), "wanted", reads=True)
    assert wanted.orders is None
    assert wanted.record["files"] == "none"
    assert wanted.record["why"] == ["the kernel has neither"]


def test_a_plan_that_cannot_be_enforced_runs_nothing(tmp_path):
    from dataclasses import replace

    from pulsus.errors import ConfinementUnavailable

    need_confinement()
    text = tool(f"Path({str(tmp_path / 'ran')!r}).touch()\n\n\ndef run():\n    return 1\n")
    made, source = module("a/b/tool", text)
    planned = plan_confinement([made], {}, RunLimits(), find_support(), reads=True)
    broken = replace(planned, orders={**(planned.orders or {}), "filter": "ff" * 8})
    with pytest.raises(ConfinementUnavailable, match="the kernel refuses seccomp"):
        run_tool(made, source, {}, steps={}, timeout_s=20.0, planned=broken)
    assert list(tmp_path.iterdir()) == []
