"""A docstring that its model did not close (spec §7). Pure.

Small models go from the last section straight on to the code. What the module does is in no doubt
where closing it there is all that Python asks for.
"""

from __future__ import annotations

import re

from pulsus.core.python_source import python_literals as python

_CODE = re.compile(rb"^from __future__ import ", re.M)


def with_closed_docstring(source: bytes) -> bytes:
    """`source` with its docstring closed before the code; as it is where that is not its fault."""
    code = _CODE.search(source)
    if code is None or not source.startswith(b'"""') or python.module(source) is not None:
        return source
    closed = source[: code.start()].rstrip() + b'\n"""\n\n' + source[code.start() :]
    return source if python.module(closed) is None else closed
