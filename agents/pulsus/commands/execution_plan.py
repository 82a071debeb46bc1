"""Plan how an allowed command runs: its program, environment, time and output limits.

It does not bind approvals to plans: that is `agent/control/call_approvals.py` for a call of the
agent and `routing/plans/changes_since_review.py` for a saved plan,
`approvals/cards/waiting_approvals.py` for a card of the server. The hash is computed in
`agent/control/call_question.py` and `core/compose/saved_plans/saved_plan_mapping.py`. The default
timeout is 30 seconds and the output limit 1 MiB; `execution/run_gated_command.py` enforces them and
starts the process. The environment is in `run_environment.py`, added options in `safe_options.py`.

A verdict is about words. What a shell, an environment, a terminal or another program of the same
name would make of them is taken away here: argv without a shell where there is one program, its
path from trusted folders, nothing of the caller's environment but language, zone and home, nothing
to read from, no terminal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Final

from pulsus.commands.command_verdict import CommandVerdict
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.run_environment import FIXED, NOWHERE, private_paths
from pulsus.commands.run_environment import PATH as PATH
from pulsus.commands.safe_options import text_with_additions, with_additions
from pulsus.commands.shell.script_parser import Script, parse_command
from pulsus.errors import CommandRefused
from pulsus.fast_dataclass import dataclass

SHELL: Final = ("/bin/bash", "--noprofile", "--norc", "-c")

SECONDS: Final = 30.0
"""As long as a dry run may take (`sandbox.max_seconds`); a follow ends by its own timeout."""

MOST_BYTES: Final = 1 << 20
"""Of output and of errors each: some 250,000 tokens, more than any model reads."""

_KEPT: Final = re.compile(r"HOME|LANG|LANGUAGE|TZ|LC_[A-Z]+")
_TILDE: Final = re.compile(r"(^|[=:])~")

Lookup = Callable[[str], str | None]
"""A program's name → its path in one of `PATH`, or None."""


@dataclass(frozen=True, slots=True)
class Execution:
    """One process: `argv[0]` is an absolute path. Standard input is /dev/null, and there is no
    terminal: it is the first of a session of its own (setsid), which is ended with it.

    `env` is the whole environment, but for the variables in `private`: each has to name that path
    in a folder that is made for this run alone and removed after it (`environment_in`). In `env`
    they lead nowhere. After `seconds` the session is killed. `most_bytes` are kept of its output,
    as many of its errors; what comes behind is read and dropped.

    If it `ends_children`, processes that it started end with it. Otherwise they may go on when it
    ends by itself: a service that it restarted.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    shell: bool
    seconds: float = SECONDS
    most_bytes: int = MOST_BYTES
    stdin: str = "/dev/null"
    new_session: bool = True
    private: Mapping[str, str] = field(default_factory=dict)
    ends_children: bool = True

    def environment_in(self, folder: str) -> dict[str, str]:
        """Return the whole environment, with caches, logs and temporary files in `folder`."""
        return {**self.env, **{name: f"{folder}/{path}" for name, path in self.private.items()}}


def prepared(
    verdict: CommandVerdict,
    environ: Mapping[str, str],
    *,
    lookup: Lookup | None = None,
    tables: Tables | None = None,
    seconds: float = SECONDS,
    most_bytes: int = MOST_BYTES,
) -> Execution:
    """Return how to run the command of `verdict`, with the variables of `environ` that may pass.

    `tables` are those that judged it, where they are not the shipped ones. Raises CommandRefused
    where it is not allowed. Effect: looks whether a file is there.
    """
    if not verdict.allow:
        raise CommandRefused(str(verdict.reason), hint="run only what classify allows")
    script, tables = parse_command(verdict.command), tables or Tables()
    program = _find_single_program(script, lookup or find_program)
    if program is None:
        text = text_with_additions(script.written_out or verdict.command, script, tables)
        argv: tuple[str, ...] = (*SHELL, text)
        set_before: Mapping[str, str] = {}
    else:
        (stage,) = script.stages
        set_before = dict(stage.assignments)
        words = with_additions(stage.words, tables)
        argv = (program, *(word.text for word in words[1:]))
    kept = {name: value for name, value in environ.items() if _KEPT.fullmatch(name)}
    env = {**kept, **set_before, **FIXED}
    plan = Execution(
        argv,
        env,
        shell=program is None,
        seconds=seconds,
        most_bytes=most_bytes,
        private=private_paths(env),
    )
    return replace(plan, env=plan.environment_in(NOWHERE))


def _find_single_program(script: Script, lookup: Lookup) -> str | None:
    """Return the path of the one program that can be started without a shell, or None.

    A shell is needed for pipes, lists, `!`, redirections, `~`, words that stand for file names, and
    builtins that are no programs (`type`).
    """
    if len(script.stages) != 1 or script.redirects or script.negated:
        return None
    words = script.stages[0].words
    if any(word.wild or _TILDE.search(word.text) for word in words):
        return None
    name = words[0].text
    return name if name.startswith("/") else lookup(name)


def find_program(name: str) -> str | None:
    """Return the first file of that name in `PATH`."""
    files = (Path(folder) / name for folder in PATH)
    return next((str(file) for file in files if file.is_file()), None)
