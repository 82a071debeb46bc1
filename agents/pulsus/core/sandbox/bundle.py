"""What the sandbox's interpreter is given to run: our modules as code, and the job, as one stream.

Nothing of Pulsus lies in the sandbox's file system. Host and sandbox run the same interpreter, so
the modules are compiled once in a process and handed over ready to run. Effect: reads our sources.
"""

from __future__ import annotations
import __future__

import ast
import functools
import marshal
from pathlib import Path
from typing import Any

_ROOM = "pulsus.core.sandbox"
_PACKAGES = ("pulsus", "pulsus.core", _ROOM)
_MODULES = tuple(f"{_ROOM}.{name}" for name in ("calling", "observe", "wire", "harness"))
_STEPS = "pulsus.steps"
_SOURCES = Path(__file__).parents[3]

# Given by -c, so that a child of the candidate finds no main module to run again.
BOOT = (
    "import marshal,sys\n"
    "with open(0,'rb',closefd=False) as file:modules,job=marshal.loads(file.read())\n"
    "for name,code in modules:\n"
    " module=sys.modules[name]=type(sys)(name)\n"
    " if code:exec(marshal.loads(code),module.__dict__)\n"
    " else:module.__path__=[]\n"
    f"sys.modules['{_ROOM}.harness'].main(job)\n"
)
"""The first thing that runs inside: it reads from stdin what `stream` gives."""


def stream(job: dict[str, Any], *, steps: bool) -> bytes:
    """Our modules and the job. `steps` says whether `pulsus.steps` is among the modules."""
    return marshal.dumps((_modules(steps=steps), job))


@functools.cache
def _modules(*, steps: bool) -> list[tuple[str, bytes]]:
    names = (*_MODULES, _STEPS) if steps else _MODULES
    return [*((name, b"") for name in _PACKAGES), *((name, _code(name)) for name in names)]


def _code(name: str) -> bytes:
    """The module ready to run. What only readers need is left out: it is loaded at every start."""
    source = _SOURCES.joinpath(*name.split(".")).with_suffix(".py").read_bytes()
    tree = ast.parse(source)
    tree.body = [line for line in tree.body if not _is_future(line)]
    flag = __future__.annotations.compiler_flag
    filename = f"/{name.replace('.', '/')}.py"
    code = compile(tree, filename, "exec", flags=flag, dont_inherit=True, optimize=2)
    return marshal.dumps(code)


def _is_future(line: ast.stmt) -> bool:
    return isinstance(line, ast.ImportFrom) and line.module == "__future__"
