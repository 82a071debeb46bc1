"""What runs first inside the sandbox: limits, self-check, import, call, report (spec §8, §17).

Standard library only and in one file, because its bytes are handed into a file system that holds
nothing else of Pulsus. `load_module` and `run_entry` are also what the worker of a real run uses,
so that a tool meets the same calling rules in both places.
"""

from __future__ import annotations

import inspect
import json
import linecache
import os
import re
import resource
import sys
import time
import traceback
import types
import typing
from collections.abc import Callable
from pathlib import Path

from pulsus.core.sandbox.observe import install

Send = Callable[[str, dict[str, object]], None]


def load_module(source: bytes, name: str, filename: str) -> types.ModuleType:
    """The module those bytes define, executed.

    It is registered in `sys.modules` before it runs (dataclasses with postponed annotations look
    there), under a name that cannot hide a library. Whatever the module raises is passed on.
    """
    module = types.ModuleType("pulsus_tool_" + re.sub(r"\W", "_", name))
    module.__file__ = filename
    text = source.decode("utf-8")
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    code = compile(source, filename, "exec", dont_inherit=True)
    sys.modules[module.__name__] = module
    try:
        exec(code, module.__dict__)
    except BaseException:
        sys.modules.pop(module.__name__, None)
        raise
    return module


def run_entry(module: types.ModuleType, entry: str, inputs: dict[str, object]) -> object:
    """What the module's entry point returns for these inputs.

    Arguments go by keyword, positional-only ones by position. A string for an argument hinted as
    a path becomes `pathlib.Path`. Raises TypeError for an unknown or missing argument.
    """
    function = getattr(module, entry)
    if not callable(function):
        raise TypeError(f"{entry} is a {type(function).__name__}, not a function")
    hints = _hints(function)
    keywords = {name: _coerce(value, hints.get(name)) for name, value in inputs.items()}
    positional = [
        keywords.pop(parameter.name)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.POSITIONAL_ONLY and parameter.name in keywords
    ]
    result: object = function(*positional, **keywords)
    return result


def _hints(function: Callable[..., object]) -> dict[str, object]:
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return dict(getattr(function, "__annotations__", {}))


def _coerce(value: object, hint: object) -> object:
    """`value`, with strings made paths where the hint asks for paths and not for strings."""
    if isinstance(hint, str):
        words = set(re.findall(r"\w+", hint))
        wants = "Path" in words and "str" not in words
        return Path(value) if wants and isinstance(value, str) else value
    options = typing.get_args(hint) if _is_union(hint) else (hint,)
    if isinstance(value, str):
        wants = any(o is Path for o in options) and str not in options
        return Path(value) if wants else value
    if isinstance(value, list):
        for option in options:
            items = typing.get_args(option)
            if items and items[0] is Path and typing.get_origin(option) is not dict:
                return [_coerce(item, Path) for item in value]
    return value


def _is_union(hint: object) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


class Boundary(Exception):
    """This process is not confined as it must be; nothing of the candidate may run."""


def check_boundary(host: dict[str, str]) -> None:
    """Raise Boundary unless the kernel says that this process is confined.

    `host` maps a namespace's name to the identity it has outside. A bubblewrap that silently did
    nothing would otherwise let the candidate run unconfined.
    """
    for name, outside in host.items():
        if os.readlink(f"/proc/self/ns/{name}") == outside:  # noqa: PTH115
            raise Boundary(f"the {name} namespace is the host's")
    text = Path("/proc/self/status").read_text(encoding="utf-8")
    status = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    wanted = {"CapEff": "0" * 16, "CapPrm": "0" * 16, "NoNewPrivs": "1", "Seccomp": "2"}
    for name, value in wanted.items():
        if status.get(name, "").strip() != value:
            raise Boundary(f"{name} is {status.get(name, 'unknown').strip()}, not {value}")
    if os.getuid() != 65534:
        raise Boundary(f"the user is {os.getuid()}, not 65534")
    for folder in ("/", "/usr", "/dev"):
        if not os.statvfs(folder).f_flag & os.ST_RDONLY:
            raise Boundary(f"{folder} is writable")


def set_limits(limits: dict[str, int]) -> None:
    """Lower this process's limits for good: no capability is left to raise them again."""
    for name in limits.keys() & {"as", "cpu", "nproc", "fsize", "nofile"}:
        kind: int = getattr(resource, f"RLIMIT_{name.upper()}")
        hard = resource.getrlimit(kind)[1]
        value = limits[name] if hard == resource.RLIM_INFINITY else min(limits[name], hard)
        resource.setrlimit(kind, (value, value))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def write_files(files: list[dict[str, typing.Any]]) -> None:
    """Write an example's files below /tmp, parents included, with their ages in seconds."""
    for item in files:
        path = Path(os.path.normpath(item["path"]))
        if not path.is_relative_to("/tmp"):
            raise ValueError(f"example file {item['path']!r} does not lie under /tmp")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(item["content"])
        if item["age_s"] is not None:
            when = time.time() - item["age_s"]
            os.utime(path, (when, when))


def bind_steps(steps: dict[str, dict[str, typing.Any]]) -> None:
    """Give composed modules a `pulsus.steps` whose `call` runs exactly the given sources."""
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


def check_json(value: object, levels: int = 100) -> None:
    """Raise ValueError saying where a result is not plain JSON with finite numbers."""
    todo: list[tuple[str, object, int]] = [("result", value, 0)]
    while todo:
        where, item, depth = todo.pop()
        if depth > levels:
            raise ValueError(f"{where[:60]} is nested more than {levels} levels deep")
        if type(item) is dict:
            for key, inner in item.items():
                if type(key) is not str:
                    raise ValueError(f"{where} has a key of type {type(key).__name__}: use str")
                _check_leaf(where, key)
                todo.append((f"{where}[{key[:40]!r}]", inner, depth + 1))
        elif type(item) in (list, tuple):
            items = typing.cast("list[object]", item)
            todo.extend((f"{where}[{i}]", inner, depth + 1) for i, inner in enumerate(items))
        else:
            _check_leaf(where, item)


def _check_leaf(where: str, item: object) -> None:
    if type(item) is float and (item != item or item in (float("inf"), float("-inf"))):
        raise ValueError(f"{where} is {item}: results hold finite numbers only")
    if type(item) is str and not item.isascii():
        try:
            item.encode("utf-8")
        except UnicodeEncodeError:
            text = f"{where} holds half a character: decode bytes with errors='replace'"
            raise ValueError(text) from None
    if item is not None and type(item) not in (str, int, bool, float):
        raise ValueError(f"{where} is a {type(item).__name__}: results hold JSON values only")


def channel(fd: int, nonce: str) -> Send:
    """A function that sends one message to the host, whatever the candidate patches later."""
    own = os.dup(fd)  # not inheritable, so no child of the candidate gets it
    os.close(fd)
    encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False).encode
    write = os.write

    def send(phase: str, body: dict[str, object]) -> None:
        data = f"{nonce} {encode({**body, 'phase': phase})}\n".encode("ascii")
        while data:
            data = data[write(own, data) :]

    return send


def describe(error: BaseException) -> dict[str, object]:
    """A failure in words, short, from the candidate's frames on."""
    kind = type(error).__name__
    try:
        message = str(error)[:500].encode("utf-8", "backslashreplace").decode("utf-8")
    except BaseException as second:  # noqa: BLE001 - the candidate wrote __str__
        message = f"(its text cannot be read: {type(second).__name__})"
    try:
        lines = "".join(traceback.format_exception(error, limit=-8))[-4000:]
        trace = lines.encode("utf-8", "backslashreplace").decode("utf-8")
    except BaseException:  # noqa: BLE001 - as above
        trace = ""
    return {"kind": str(kind)[:100], "message": message, "trace": trace}


def serve(job: dict[str, typing.Any], send: Send) -> None:
    """Import the candidate, call it, send what came of it. Never raises."""
    # Bound before the candidate runs: it may replace any name it can import.
    flush = [sys.stdout.flush, sys.stderr.flush]
    clock, ok_json, encode = time.monotonic, check_json, json.JSONEncoder(allow_nan=False).encode
    run, tell, cap = run_entry, describe, int(job["limits"]["result"])
    stage, started = "files", clock()
    try:
        write_files(job["files"])
        install(job["effects_fd"])
        stage, started = "import", clock()
        module = load_module(job["source"], job["name"], job["filename"])
        if not callable(getattr(module, job["entry"], None)):
            raise TypeError(f"{job['entry']} is not a function")
        send("imported", {"ms": int((clock() - started) * 1000)})
        stage, started = "run", clock()
        body: dict[str, object] = {"stage": "import", "value": None, "ms": 0}
        if job["inputs"] is not None:
            value = run(module, job["entry"], job["inputs"])
            body = {"stage": "run", "value": value, "ms": int((clock() - started) * 1000)}
            stage = "result"
            ok_json(value)
            size = len(encode(value))
            if size > cap:
                raise ValueError(f"the result is {size} bytes; the limit is {cap}: return less")
        for each in flush:
            each()
        send("done", body)
    except BaseException as error:  # noqa: BLE001 - SystemExit and the like are failures too
        took = int((clock() - started) * 1000)
        send("failed", {"stage": stage, "ms": took, **tell(error)})


def hide_pulsus() -> None:
    """Leave of Pulsus only what a composed module may import."""
    for name in [n for n in sys.modules if n.partition(".")[0] == "pulsus"]:
        if name not in ("pulsus", "pulsus.steps") or "pulsus.steps" not in sys.modules:
            del sys.modules[name]


def main(job: dict[str, typing.Any]) -> None:
    """Confine this process, do the job, and leave without clean-up."""
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    send = channel(job["result_fd"], job.pop("nonce"))
    try:
        check_boundary(job["host"])
        set_limits(job["limits"])
        hide_pulsus()
        if "pulsus.steps" in sys.modules:
            bind_steps(job["steps"])
    except Exception as error:  # noqa: BLE001 - whatever it is, the candidate must not run
        send("unsafe", describe(error))
        os._exit(1)
    send("ready", {})
    if os.read(job["go_fd"], 1) != b"g":
        os._exit(1)
    os.close(job["go_fd"])
    serve(job, send)
    os._exit(0)
