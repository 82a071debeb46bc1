"""Run one job inside the sandbox: limits, self-check, import, call, report (spec §8, §17).

It refuses to run a candidate if the process is not confined, sets the rlimits, writes the example's
files below /tmp, and checks that the result is JSON and not too large. The host's side is
`core/sandbox/sandbox_session.py`. Standard library only, and little of it at the top: every import
is paid at every start.
"""

from __future__ import annotations

import posix  # what `os` wraps, without its start-up
import resource
import sys
import time

from pulsus.core.sandbox.harness import after_return
from pulsus.core.sandbox.harness.audit_hook import install
from pulsus.core.sandbox.harness.first_process import shut_off
from pulsus.core.sandbox.harness.load_and_call import load_entry, load_module, performer, run_entry
from pulsus.core.sandbox.harness.system_calls import NONE, install_filter
from pulsus.core.sandbox.harness.wire_protocol import channel, check_json, describe, encode, line_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Generator, Iterator
    from typing import Any

    from pulsus.core.sandbox.harness.load_and_call import Task
    from pulsus.core.sandbox.harness.wire_protocol import Send


class BoundaryMissing(Exception):
    """This process is not confined as it must be; nothing of the candidate may run."""


def check_boundary(host: dict[str, str]) -> None:
    """Raise BoundaryMissing unless the kernel says that this process is confined.

    `host` maps a namespace's name to its identity outside. A bubblewrap that silently did nothing
    would otherwise let the candidate run unconfined.
    """
    for name, outside in host.items():
        if posix.readlink(f"/proc/self/ns/{name}") == outside:
            raise BoundaryMissing(f"the {name} namespace is the host's")
    with open("/proc/self/status", encoding="utf-8") as file:  # noqa: PTH123 - see above
        status = dict(line.split(":", 1) for line in file if ":" in line)
    wanted = {"CapEff": "0" * 16, "CapPrm": "0" * 16, "NoNewPrivs": "1", "Seccomp": "2"}
    for name, value in wanted.items():
        if status.get(name, "").strip() != value:
            raise BoundaryMissing(f"{name} is {status.get(name, 'unknown').strip()}, not {value}")
    if posix.getuid() != 65534:
        raise BoundaryMissing(f"the user is {posix.getuid()}, not 65534")
    for folder in ("/", "/usr", "/dev"):
        if not posix.statvfs(folder).f_flag & posix.ST_RDONLY:
            raise BoundaryMissing(f"{folder} is writable")


def set_sandbox_limits(limits: dict[str, int]) -> None:
    """Lower this process's limits for good: no capability is left to raise them again."""
    for name in limits.keys() & {"as", "cpu", "nproc", "fsize", "nofile"}:
        kind: int = getattr(resource, f"RLIMIT_{name.upper()}")
        hard = resource.getrlimit(kind)[1]
        value = limits[name] if hard == resource.RLIM_INFINITY else min(limits[name], hard)
        resource.setrlimit(kind, (value, value))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def enter_environment(python: dict[str, Any]) -> None:
    """Set up what `site` would set up, without searching for it: the host knows it."""
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
        # A real run passes JSON from step to step, so a dry run does too.
        result: object = loads(dumps(run_entry(loaded[tool_id], step["entry"], inputs)))
        return result

    module.__dict__["bind"](run_step)


def hide_pulsus() -> None:
    """Remove every module of Pulsus but those that a composed module may import."""
    for name in [n for n in sys.modules if n.partition(".")[0] == "pulsus"]:
        if name not in ("pulsus", "pulsus.steps") or "pulsus.steps" not in sys.modules:
            del sys.modules[name]


def serve(job: dict[str, Any], send: Send, came: list[Any]) -> Iterator[Task]:
    """Yield the tasks that import the candidate and call it; send the results.

    All that may run the candidate's code is such a task. Names are bound here, before it runs,
    because it may replace any that it can import.
    """
    flush, exits, spent = [sys.stdout.flush, sys.stderr.flush], posix._exit, _start_clock()
    own_pid, own, filename = posix.getpid, posix.getpid(), job["filename"]
    check, cap, tell, line = _find_problem, int(job["limits"]["result"]), describe, line_in
    run, entry, inputs = run_entry, job["entry"], job["inputs"]
    ends: list[Callable[[], object]]
    ends = [after_return.wait_for_threads, after_return.run_exit_handlers, after_return.drop_loaded]
    ends += [after_return.run_finalizers, *flush]
    waited_for, still_running = after_return.list_waited_threads, after_return.list_running_threads

    def leave_forked() -> None:
        if own_pid() != own:
            exits(1)  # a process that the candidate forked came back here

    stage, error, module, value = "files", job["unwritten"], None, None
    if error is None:
        ends.insert(3, install(job["effects_fd"], paths=not job["traps"]))
        stage = "import"
        spent(0)
        yield load_entry, (job["source"], job["name"], filename, entry)
        leave_forked()
        module, error = came
    if error is None:
        send("imported", {"ms": spent(0)})
        stage = "run"
        if inputs is not None:
            yield run, (module, entry, inputs)
            leave_forked()
            value, error = came
            if error is None and (error := check(value, cap)) is not None:
                stage = "result"
    if error is None:
        stage = "end"
        yield waited_for, ()
        send("returned", {"value": value, "threads": came[0] or []})
        error = yield from _finish_program(ends, lambda: send("joined", {}), leave_forked, came)
    if error is None:
        yield still_running, ()
        send("done", {"ms": spent(1), "threads": came[0] or []})
        return
    body = {"stage": stage, "ms": spent(1)}
    yield line, (error, filename)
    body["line"] = came[0] or 0
    yield tell, (error,)
    leave_forked()
    send("failed", {**body, **(came[0] or {"kind": "Error", "message": "", "trace": ""})})


def _finish_program(
    ends: list[Callable[[], object]],
    joined: Callable[[], None],
    leave_forked: Callable[[], None],
    result: list[Any],
) -> Generator[Task, None, BaseException | None]:
    """Perform the steps at the end of a program, and return the first failure.

    The first step waits for threads.
    """
    failed: BaseException | None = None
    for number, each in enumerate(ends):
        yield each, ()
        leave_forked()
        failed = failed or result[1]
        if number == 0 and failed is None:
            joined()
    return failed


def _start_clock() -> Callable[[int], int]:
    """Return a function that returns the milliseconds passed. A call with 0 restarts the clock."""
    now = time.monotonic
    began = [now()]

    def spent(keep: int) -> int:
        passed = now() - began[0]
        began[0] += 0 if keep else passed
        return int(passed * 1000)

    return spent


def _find_problem(value: object, cap: int) -> ValueError | None:
    """Return the reason why that value is not a valid result."""
    try:
        check_json(value)
        size = len(encode(value))
    except ValueError as error:
        return error
    if size > cap:
        return ValueError(f"the result is {size} bytes; the limit is {cap}: return less")
    return None


def main(job: dict[str, Any]) -> tuple[Callable[[Task], None], Iterator[Task]]:
    """Confine this process, and return a function that performs tasks, and the tasks of the job.

    The caller performs them with no frame of ours above the candidate's.
    """
    null = posix.open("/dev/null", posix.O_RDONLY)
    posix.dup2(null, 0)
    posix.close(null)
    send = channel(job["result_fd"], job.pop("nonce"))
    try:
        check_boundary(job["host"])
        shut_off(job["first"])
        set_sandbox_limits(job["limits"])
        enter_environment(job["python"])
        if job["network"]:
            sys.modules["pulsus.core.sandbox.harness.socket_proxy"].install(job["network"])
        hide_pulsus()
        if "pulsus.steps" in sys.modules:
            bind_steps(job["steps"])
        job["unwritten"] = None
        try:
            write_files(job["files"])  # before the filter: these are not writes of the candidate
        except Exception as error:  # noqa: BLE001 - the example's fault, reported as such
            job["unwritten"] = error
        calls = _show_calls(job["traps"])
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
    perform, came = performer()
    return perform, until_the_end(serve(job, send, came))


def _show_calls(program: bytes) -> int:
    """Show the host the system calls that `program` picks; NONE if that cannot be done."""
    try:
        return install_filter(program, listen=True) if program else NONE
    except (ImportError, OSError):
        return NONE


def until_the_end(tasks: Iterator[Task]) -> Iterator[Task]:
    """Pass on the tasks, then wait to be killed, without clean-up."""
    close, pipe, read = posix.closerange, posix.pipe, posix.read
    yield from tasks
    # Its helper processes, such as trackers of shared memory, end once their pipes are closed.
    close(3, 4096)
    inward, _ = pipe()
    read(inward, 1)  # until the host kills it, so that the host sees leftover processes
