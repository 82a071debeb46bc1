"""What ruff mends by itself in a module that a model wrote (spec §7). Effect: runs ruff on a copy.

Only imports nobody uses: small models write them all the time, and taking one out changes nothing
that the module does but what it imports, which the gates then look at.
"""

from __future__ import annotations

from pulsus.core.validators.steps.checker_process import Checker, Text, working_folder
from pulsus.core.validators.steps.ruff import ruff_program

_RULES = "F401"


def without_unused_imports(source: bytes, *, seconds: float) -> bytes:
    """`source` without imports that nothing uses; as it is where ruff has no answer in time.

    Whether it passes is not said here: that is the lint step's to say, of the bytes it is given.
    """
    path = ruff_program("ruff")
    if path is None:
        return source
    text = Text("candidate", source)
    argv = [
        *(str(path), "check", "--isolated", "--no-cache", "--fix-only", "--quiet"),
        *(f"--select={_RULES}", "--target-version=py311", "--", text.file),
    ]
    with working_folder("ruff") as folder:
        (folder / text.file).write_bytes(source)
        checker = Checker(argv, folder)
        try:
            done = checker.result(seconds)
        finally:
            checker.end()
        return (folder / text.file).read_bytes() if done.status == 0 else source
