"""What is left to happen once an entry point has returned (spec §8, §12).

Runs inside the sandbox. A real run ends as a Python program does: threads are waited for, exit
handlers run, objects are dropped. So does a dry run, where all of it can still be seen. Standard
library only, and little of it: it is loaded at every start.
"""

from __future__ import annotations

import _thread
import atexit
import gc
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types
    from collections.abc import Callable
    from typing import Any

_NAMED = 5

# Bound before the candidate runs, which may replace them.
_count, _own = _thread._count, _thread.get_ident
_run_handlers: Callable[[], None] = atexit._run_exitfuncs
_collect = gc.collect


def waited_for() -> list[str]:
    """Names of the threads that a program waits for at its end, the first few."""
    return [_shown(t.name) for t in _others() if not t.daemon][:_NAMED]


def still_running() -> list[str]:
    """Names of every thread of Python's but this one, the first few."""
    named = [_shown(each.name) for each in _others()]
    nameless = max(0, _count() - len(named))  # started without `threading`
    return [*named, *["without a name"] * nameless][:_NAMED]


def wait_for_threads() -> None:
    """Wait as the interpreter does, which also ends the workers of executors."""
    threading = sys.modules.get("threading")
    if threading is not None:
        threading._shutdown()


def run_exit_handlers() -> None:
    """Those of `atexit`, and so of `weakref.finalize`, last registered first."""
    _run_handlers()


def drop_loaded() -> None:
    """Drop the candidate's modules, and those of the steps that it called."""
    drop([m for name, m in list(sys.modules.items()) if name.startswith("pulsus_tool_")])


def drop(modules: list[types.ModuleType]) -> None:
    """Forget what those modules hold, as the interpreter does: what has a `__del__` runs it."""
    for module in modules:
        names = [name for name in module.__dict__ if name != "__builtins__"]
        for name in sorted(names, key=lambda n: not (n[:1] == "_" and n[:2] != "__")):
            module.__dict__[name] = None
    modules.clear()
    _collect()


def _others() -> list[Any]:
    threading, own = sys.modules.get("threading"), _own()
    if threading is None:
        return []
    return [each for each in list(threading._active.values()) if each.ident != own]


def _shown(name: object) -> str:
    return str(name).encode("ascii", "backslashreplace").decode("ascii")[:60]
