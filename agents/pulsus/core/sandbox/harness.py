"""What runs first inside the sandbox: limits, self-check, import, call, report (spec §8, §17).

Standard library only, and little of it at the top: every import is paid at every start.
"""

from __future__ import annotations

import posix  # what `os` wraps, without its start-up
import resource
import sys
import time

from pulsus.core.sandbox import ending
from pulsus.core.sandbox.calling import load_module, run_entry
from pulsus.core.sandbox.first_process import shut
from pulsus.core.sandbox.observe import install
from pulsus.core.sandbox.trapped import NONE, listen
from pulsus.core.sandbox.wire import channel, check_json, describe, encode, line_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types
    from collections.abc import Callable
    from typing import Any

    from pulsus.core.sandbox.wire import Send


class Boundary(Exception):
    """This process is not confined as it must be; nothing of the candidate may run."""


def check_boundary(host: dict[str, str]) -> None:
    """Raise Boundary unless the kernel says that this process is confined.

    `host` maps a namespace's name to the identity it has outside. A bubblewrap that silently did
    nothing would otherwise let the candidate run unconfined.
    """
    for name, outside in host.items():
        if posix.readlink(f"/proc/self/ns/{name}") == outside:
            raise Boundary(f"the {name} namespace is the host's")
    with open("/proc/self/status", encoding="utf-8") as file:  # noqa: PTH123 - see above
        status = dict(line.split(":", 1) for line in file if ":" in line)
    wanted = {"CapEff": "0" * 16, "CapPrm": "0" * 16, "NoNewPrivs": "1", "Seccomp": "2"}
    for name, value in wanted.items():
        if status.get(name, "").strip() != value:
            raise Boundary(f"{name} is {status.get(name, 'unknown').strip()}, not {value}")
    if posix.getuid() != 65534:
        raise Boundary(f"the user is {posix.getuid()}, not 65534")
    for folder in ("/", "/usr", "/dev"):
        if not posix.statvfs(folder).f_flag & posix.ST_RDONLY:
            raise Boundary(f"{folder} is writable")


def set_limits(limits: dict[str, int]) -> None:
    """Lower this process's limits for good: no capability is left to raise them again."""
    for name in limits.keys() & {"as", "cpu", "nproc", "fsize", "nofile"}:
        kind: int = getattr(resource, f"RLIMIT_{name.upper()}")
        hard = resource.getrlimit(kind)[1]
        value = limits[name] if hard == resource.RLIM_INFINITY else min(limits[name], hard)
        resource.setrlimit(kind, (value, value))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def enter_environment(python: dict[str, Any]) -> None:
    """What `site` would have set up, without looking for it again: the host knows."""
    import _sitebuiltins
    import builtins

    sys.prefix, sys.exec_prefix = python["prefix"], python["exec_prefix"]
    sys.path += [path for path in python["path"] if path not in sys.path]
    for name in ("exit", "quit"):
        setattr(builtins, name, _sitebuiltins.Quitter(name, "Ctrl-D"))
    builtins.help = _sitebuiltins._Helper()


def write_files(files: list[dict[str, Any]]) -> None:
    """Write an example's files below /tmp, parents included, with their ages in seconds."""
    if not files:
        return
    import os

    for item in files:
        path = os.path.normpath(item["path"])
        if not path.startswith("/tmp/"):
            raise ValueError(f"example file {item['path']!r} does not lie under /tmp")
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - see above
        with open(path, "wb") as file:  # noqa: PTH123
            file.write(item["content"])
        if item["age_s"] is not None:
            when = time.time() - item["age_s"]
            os.utime(path, (when, when))


def bind_steps(steps: dict[str, dict[str, Any]]) -> None:
    """Give composed modules a `pulsus.steps` whose `call` runs exactly the given sources."""
    import json

    module = sys.modules["pulsus.steps"]
    sys.modules["pulsus"].__dict__["steps"] = module
    loaded: dict[str, types.ModuleType] = {}
    dumps, loads = json.dumps, json.loads

    def run_step(tool_id: str, inputs: dict[str, object]) -> object:
        if tool_id not in steps:
            raise KeyError(f"step {tool_id!r} is not part of this plan")
        step = steps[tool_id]
        if tool_id not in loaded:
            loaded[tool_id] = load_module(step["source"], tool_id, f"/pulsus/steps/{tool_id}.py")
        # What a real run hands from step to step is JSON, so it is here too.
        result: object = loads(dumps(run_entry(loaded[tool_id], step["entry"], inputs)))
        return result

    module.__dict__["bind"](run_step)


def hide_pulsus() -> None:
    """Leave of Pulsus only what a composed module may import."""
    for name in [n for n in sys.modules if n.partition(".")[0] == "pulsus"]:
        if name not in ("pulsus", "pulsus.steps") or "pulsus.steps" not in sys.modules:
            del sys.modules[name]


def serve(job: dict[str, Any], send: Send) -> None:
    """Import the candidate, call it, send what came of it. Never raises."""
    # Bound before the candidate runs: it may replace any name it can import.
    flush = [sys.stdout.flush, sys.stderr.flush]
    clock, ok_json, text, own_pid = time.monotonic, check_json, encode, posix.getpid
    run, tell, cap, own = run_entry, describe, int(job["limits"]["result"]), posix.getpid()
    line, filename, leave = line_in, job["filename"], posix._exit
    stage, started = "files", clock()
    try:
        if job["unwritten"] is not None:
            raise job["unwritten"]
        install(job["effects_fd"], paths=not job["traps"])
        stage, started = "import", clock()
        module = load_module(job["source"], job["name"], filename)
        if not callable(getattr(module, job["entry"], None)):
            raise TypeError(f"{job['entry']} is not a function")
        send("imported", {"ms": int((clock() - started) * 1000)})
        stage, started = "run", clock()
        value = None
        if job["inputs"] is not None:
            value = run(module, job["entry"], job["inputs"])
            stage = "result"
            ok_json(value)
            size = len(text(value))
            if size > cap:
                raise ValueError(f"the result is {size} bytes; the limit is {cap}: return less")
        if own_pid() == own:
            stage = "end"
            send("returned", {"value": value, "threads": ending.waited_for()})
            left = finish(send, flush)
            send("done", {"ms": int((clock() - started) * 1000), "threads": left})
    except BaseException as error:  # noqa: BLE001 - SystemExit and the like are failures too
        if own_pid() == own:
            body = {"stage": stage, "ms": int((clock() - started) * 1000)}
            send("failed", {**body, "line": line(error, filename), **tell(error)})
    if own_pid() != own:
        leave(1)  # a process that the candidate forked came back here


def finish(send: Send, flush: list[Callable[[], object]]) -> list[str]:
    """Do what a program's end does; names of the threads that run even then."""
    ending.wait_for_threads()
    send("joined", {})
    ending.run_exit_handlers()
    loaded = [m for name, m in list(sys.modules.items()) if name.startswith("pulsus_tool_")]
    ending.drop(loaded)
    for each in flush:
        each()
    return ending.still_running()


def main(job: dict[str, Any]) -> None:
    """Confine this process, do the job, and leave without clean-up."""
    null = posix.open("/dev/null", posix.O_RDONLY)
    posix.dup2(null, 0)
    posix.close(null)
    send = channel(job["result_fd"], job.pop("nonce"))
    try:
        check_boundary(job["host"])
        shut(job["first"])
        set_limits(job["limits"])
        enter_environment(job["python"])
        if job["network"]:
            sys.modules["pulsus.core.sandbox.relayed"].install(job["network"])
        hide_pulsus()
        if "pulsus.steps" in sys.modules:
            bind_steps(job["steps"])
        job["unwritten"] = None
        try:
            write_files(job["files"])  # before anybody looks: the candidate does not write these
        except Exception as error:  # noqa: BLE001 - the example's fault, told as such
            job["unwritten"] = error
        calls = listen(job["traps"], job["seccomp"])
    except Exception as error:  # noqa: BLE001 - whatever it is, the candidate must not run
        send("unsafe", describe(error))
        posix._exit(1)
    send("ready", {"calls": calls})
    if posix.read(job["go_fd"], 1) != b"g":
        posix._exit(1)
    posix.close(job["go_fd"])
    if calls == NONE:
        job["traps"] = b""
    else:
        posix.close(calls)  # the host has it; here it would let the candidate answer for itself
    serve(job, send)
    # Helpers of its own, such as trackers of shared memory, end once nobody holds their pipes.
    posix.closerange(3, 4096)
    inward, _ = posix.pipe()
    posix.read(inward, 1)  # until the host ends this, so that it sees what else is left running
