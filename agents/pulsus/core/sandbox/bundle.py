"""What the sandbox's interpreter is given to run: our modules as code, and the job, as one stream.

Nothing of Pulsus lies in the sandbox's file system. Host and sandbox run the same interpreter, so
the modules are compiled once in a process and handed over ready to run. Effect: reads our sources.
"""

from __future__ import annotations

import functools
import marshal
from pathlib import Path
from types import CodeType
from typing import Any

_ROOM = "pulsus.core.sandbox"
_PACKAGES = ("pulsus", "pulsus.core", _ROOM)
_MODULES = tuple(f"{_ROOM}.{name}" for name in ("calling", "observe", "wire", "harness"))
_STEPS = "pulsus.steps"
_SOURCES = Path(__file__).parents[3]

# Given by -c, so that a child of the candidate finds no main module to run again.
BOOT = (
    "import marshal,sys\n"
    "stream=open(0,'rb',closefd=False)\n"
    "for name,code in marshal.load(stream):\n"
    " module=sys.modules[name]=type(sys)(name)\n"
    " if code:exec(code,module.__dict__)\n"
    " else:module.__path__=[]\n"
    f"sys.modules['{_ROOM}.harness'].main(marshal.load(stream))\n"
)
"""The first thing that runs inside: it reads from stdin what `stream` gives."""


def stream(job: dict[str, Any], *, steps: bool) -> bytes:
    """Our modules, then the job. `steps` says whether `pulsus.steps` is among them."""
    return _modules(steps=steps) + marshal.dumps(job)


@functools.cache
def _modules(*, steps: bool) -> bytes:
    names = (*_MODULES, _STEPS) if steps else _MODULES
    packages: list[tuple[str, CodeType | None]] = [(name, None) for name in _PACKAGES]
    return marshal.dumps([*packages, *((name, _code(name)) for name in names)])


def _code(name: str) -> CodeType:
    source = _SOURCES.joinpath(*name.split(".")).with_suffix(".py").read_bytes()
    return compile(source, f"/{name.replace('.', '/')}.py", "exec", dont_inherit=True)
