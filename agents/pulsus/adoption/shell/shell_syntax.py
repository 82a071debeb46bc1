"""Check a script's syntax by its own shell, which reads but does not run it. Effect: a process.

The shell has a timeout of five seconds.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

from pulsus.core.validators.steps.checker_process import Checker, raise_storage_errors

_PATH = "/usr/bin:/bin"
_SECONDS = 5.0
_SAID = re.compile(r"^.*?: (?:line )?(\d+): (.*)$", re.M)


def find_syntax_error(script: str, shell: str) -> str:
    """Return the line and the error, or "" if the script parses or its shell is missing."""
    name = "bash" if shell in ("sh", "dash") and not shutil.which(shell, path=_PATH) else shell
    program = shutil.which(name, path=_PATH)
    if program is None:
        return ""
    # a pattern that `shopt` allows while it runs is unknown to a shell that runs nothing
    options = ("-O", "extglob") if name == "bash" and "extglob" in script else ()
    with raise_storage_errors(), tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "script"
        file.write_text(script, encoding="utf-8")
        checker = Checker((program, *options, "-n", file.name), Path(folder))
        with ExitStack() as stack:
            stack.callback(checker.end)
            ran = checker.result(_SECONDS)
    if ran.status == 0:
        return ""
    found = _SAID.search(ran.errors)
    return f"line {found[1]}: {found[2]}" if found else f"{name} -n does not get through it"
