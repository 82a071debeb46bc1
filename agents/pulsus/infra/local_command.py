"""Run fixed programs of this machine in limits of time and output. Effect: starts processes.

Only Pulsus writes these commands. Names of resources are words of their own, never shell text. The
timeout is kept, the output is cut to its maximum, and the process group is killed, in
`execution/run_gated_command.py`. Few variables of the environment are passed on, such as the
language and the home. The program is looked for in trusted folders only
(`commands/execution_plan.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from pulsus.commands.execution_plan import Execution, find_program
from pulsus.commands.run_environment import FIXED, private_paths
from pulsus.errors import UsageError
from pulsus.execution import run_gated_command
from pulsus.execution.cancellation import Cancellation
from pulsus.execution.run_gated_command import CommandResult
from pulsus.fast_dataclass import dataclass

_KEPT: Final = re.compile(r"HOME|LANG|LANGUAGE|TZ|LC_[A-Z]+|DOCKER_HOST|CONTAINER_HOST|KUBECONFIG")
_MOST_BYTES: Final = 1 << 20
_SECONDS: Final = 5.0
_ROOT: Final = Path("/")


@dataclass(frozen=True, slots=True)
class LocalCommands:
    """Starts programs from trusted folders with a controlled environment.

    A few variables of `environ` are passed on: language, zone, home, and addresses of engines.
    """

    environ: Mapping[str, str]

    def run(
        self,
        argv: Sequence[str],
        *,
        seconds: float = _SECONDS,
        most_bytes: int = _MOST_BYTES,
        cancellation: Cancellation | None = None,
        ends_children: bool = True,
    ) -> CommandResult | None:
        """Return the result of the program `argv[0]`, or None if it is not installed.

        `ends_children` is False for a program that starts services: they go on when it ends.
        """
        program = find_program(argv[0])
        if program is None:
            return None
        plan = self.plan((program, *argv[1:]), seconds=seconds, most_bytes=most_bytes)
        plan = replace(plan, ends_children=ends_children)
        try:
            return run_gated_command.run(plan, _ROOT, cancellation)
        except UsageError:
            return None  # it is there, but cannot be started: a broken link, another architecture

    def plan(
        self,
        argv: tuple[str, ...],
        *,
        seconds: float,
        most_bytes: int = _MOST_BYTES,
        shell: bool = False,
    ) -> Execution:
        """Return how `argv`, whose first word is a path, is started. `shell` says it is a shell."""
        kept = {name: value for name, value in self.environ.items() if _KEPT.fullmatch(name)}
        env = {**kept, **FIXED}
        return Execution(
            argv,
            env,
            shell=shell,
            seconds=seconds,
            most_bytes=most_bytes,
            private=private_paths(env),
        )


def output_text(result: CommandResult) -> str:
    """Return the output as text; bytes that are no UTF-8 are replaced."""
    return result.output.decode("utf-8", "replace")


def failure_line(result: CommandResult) -> str:
    """Return one line that says why a program failed."""
    if result.cancelled:
        return "it was cancelled"
    if result.status is None:
        return "it gave no answer in time"
    said = (result.errors or result.output).decode("utf-8", "replace").strip()
    first = said.splitlines()[0] if said else "no message"
    return f"status {result.status}: {first[:200]}"
