"""Do what follows the return of an entry point (spec §8, §12).

A thread that still runs after the return delays the end here; the timeout is in
`core/sandbox/sandbox_session.py`. Runs inside the sandbox. A real run ends as a Python program
does: it waits for threads, runs exit handlers and drops objects. A dry run does the same, while the
host can still see it. Standard library only, and little of it, because it is loaded at every start.
"""

from __future__ import annotations

import _thread
import atexit
import gc
import posix
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types
    from collections.abc import Callable
    from typing import Any

_NAMED = 5

# Bound before the candidate runs, which may replace them.
_count, _own = _thread._count, _thread.get_ident
_stat, _sleep = posix.stat, time.sleep
_run_handlers: Callable[[], None] = atexit._run_exitfuncs
_collect, _objects = gc.collect, gc.get_objects
_GENERATOR: type = type(number for number in (0,))
_mro = type.__dict__["__mro__"].__get__  # which no class can replace


def list_waited_threads() -> list[str]:
    """Return the names of the first few threads that a program waits for at its end."""
    return [_printable_name(t.name) for t in _list_other_threads() if not t.daemon][:_NAMED]


def list_running_threads() -> list[str]:
    """Return the names of the first few Python threads other than this one."""
    _let_threads_begin()
    named = [_printable_name(each.name) for each in _list_other_threads()]
    nameless = max(0, _count() - len(named))  # started without `threading`
    return [*named, *["without a name"] * nameless][:_NAMED]


def _let_threads_begin() -> None:
    """Let new threads start that the kernel has and Python does not count yet.

    Other uncounted threads belong to libraries. The wait is 0.1 seconds at most.
    """
    for _ in range(20):
        tasks = _stat("/proc/self/task").st_nlink - 2
        if tasks <= _count() + 1:
            return
        _sleep(0.005)


def wait_for_threads() -> None:
    """Wait as the interpreter does, which also ends the workers of executors."""
    threading = sys.modules.get("threading")
    if threading is not None:
        threading._shutdown()


def run_exit_handlers() -> None:
    """Run the handlers of `atexit`, and so of `weakref.finalize`, last registered first."""
    _run_handlers()


def drop_loaded() -> None:
    """Drop the candidate's modules, and those of the steps that it called."""
    drop([m for name, m in list(sys.modules.items()) if name.startswith("pulsus_tool_")])


def drop(modules: list[types.ModuleType]) -> None:
    """Drop the objects of those modules, as the interpreter does; this runs each `__del__`."""
    for module in modules:
        names = [name for name in module.__dict__ if name != "__builtins__"]
        for name in sorted(names, key=lambda n: not (n[:1] == "_" and n[:2] != "__")):
            module.__dict__[name] = None
    modules.clear()
    _collect()


def run_finalizers() -> None:
    """Run the finalizers of the candidate's own objects, wherever they are stored.

    At its end the interpreter runs the finalizers of objects that a library or a built-in module
    holds. This process is killed before, so they are run here. Objects of libraries are left alone.
    """
    for each in _objects():
        generator: Any = each if type(each) is _GENERATOR else None
        code = getattr(_find_finalizer(each), "__code__", None)
        code = code if generator is None else generator.gi_code
        if code is not None and _is_candidate_file(code.co_filename):
            try:
                _find_finalizer(each)(each) if generator is None else generator.close()
            except Exception:  # noqa: BLE001 - as the interpreter does
                continue


def _find_finalizer(value: object) -> Any:
    for kind in _mro(type(value)):
        if "__del__" in kind.__dict__:
            return kind.__dict__["__del__"]
    return None


def _is_candidate_file(filename: str) -> bool:
    return filename[:8] == "/pulsus/" and filename[:21] != "/pulsus/core/sandbox/"


def _list_other_threads() -> list[Any]:
    threading, own = sys.modules.get("threading"), _own()
    if threading is None:
        return []
    return [each for each in list(threading._active.values()) if each.ident != own]


def _printable_name(name: object) -> str:
    return str(name).encode("ascii", "backslashreplace").decode("ascii")[:60]
