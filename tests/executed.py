"""Run an allowed command as the executor does."""

import subprocess
from pathlib import Path

from pulsus.commands import classify
from pulsus.commands.execution_plan import prepared


def executed(command, folder="/", **environ):
    """Return the result of the command; `environ` is the caller's environment."""
    return started(prepared(classify(command), environ), folder)


def started(plan, folder="/"):
    """Return the result of a prepared command."""
    with Path(plan.stdin).open(encoding="utf-8") as nothing:
        return subprocess.run(
            plan.argv,
            env=dict(plan.env),
            cwd=folder,
            stdin=nothing,
            capture_output=True,
            text=True,
            start_new_session=plan.new_session,
            timeout=plan.seconds,
            check=False,
        )
