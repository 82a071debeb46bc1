"""Build the stream that the sandbox's interpreter runs: the modules of the harness, and the job.

`core/sandbox/harness/harness.py` is the program that then runs.

No file of Pulsus lies in the sandbox's file system. If host and sandbox run the same version of
Python, the modules are compiled once in a process and sent ready to run. Another version gets their
text. Effect: reads our sources.
"""

from __future__ import annotations
import __future__

import ast
import functools
import marshal
import sys
from pathlib import Path
from typing import Any

from pulsus.core.python_source import python_parser
from pulsus.core.sandbox.interpreter import Interpreter

_ROOM = "pulsus.core.sandbox.harness"
_PACKAGES = ("pulsus", "pulsus.core", "pulsus.core.sandbox", _ROOM)
_MODULES = tuple(
    f"{_ROOM}.{name}"
    for name in (
        *(
            "load_and_call",
            "after_return",
            "system_calls",
            "first_process",
            "traced_paths",
            "read_hook",
        ),
        *("audit_hook", "wire_protocol", "harness"),
    )
)
_RELAYED = f"{_ROOM}.socket_proxy"
_STEPS = "pulsus.steps"
_FORMAT = 4  # which every Python that runs tools can read
_SOURCES = Path(__file__).parents[4]

# Passed with -c, so that a child of the candidate finds no main module to run again.
BOOT = (
    "import marshal,sys\n"
    "with open(0,'rb',closefd=False) as file:modules,job=marshal.loads(file.read())\n"
    "for name,code in modules:\n"
    " module=sys.modules[name]=type(sys)(name)\n"
    " if code:exec(marshal.loads(code),module.__dict__)\n"
    " else:module.__path__=[]\n"
    "job=[job]\n"
    "del file,modules,name,code,module\n"
    # No name may lead a candidate from here to the tasks: they know the secret of the channel.
    f"for _ in map(*sys.modules['{_ROOM}.harness'].main(job.pop())):pass\n"
)
"""The first code that runs inside. It reads the bytes of `stream` from stdin."""


def stream(job: dict[str, Any], *, steps: bool, python: Interpreter | None = None) -> bytes:
    """Return our modules and the job as one stream.

    `steps` adds `pulsus.steps` to the modules.
    """
    same = python is None or python.minor == sys.version_info[:2]
    modules = _marshal_modules(steps=steps, same=same, network=bool(job.get("network")))
    return marshal.dumps((modules, job), _FORMAT)


@functools.cache
def _marshal_modules(*, steps: bool, same: bool, network: bool) -> list[tuple[str, bytes]]:
    names = (*_MODULES, *((_STEPS,) if steps else ()), *((_RELAYED,) if network else ()))
    marshal_module = _marshal_code if same else _marshal_source
    return [*((name, b"") for name in _PACKAGES), *((name, marshal_module(name)) for name in names)]


def _marshal_source(name: str) -> bytes:
    source = _SOURCES.joinpath(*name.split(".")).with_suffix(".py").read_text(encoding="utf-8")
    return marshal.dumps(source, _FORMAT)


def _marshal_code(name: str) -> bytes:
    """Return the compiled module.

    Docstrings are left out, because the module is loaded at every start.
    """
    source = _SOURCES.joinpath(*name.split(".")).with_suffix(".py").read_bytes()
    tree = python_parser.read_tree(source)
    tree.body = [line for line in tree.body if not _is_future(line)]
    flag = __future__.annotations.compiler_flag
    filename = f"/{name.replace('.', '/')}.py"
    code = compile(tree, filename, "exec", flags=flag, dont_inherit=True, optimize=2)
    return marshal.dumps(code)


def _is_future(line: ast.stmt) -> bool:
    return isinstance(line, ast.ImportFrom) and line.module == "__future__"
