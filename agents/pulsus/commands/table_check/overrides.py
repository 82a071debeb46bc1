"""Find effects of tables on the examples of tables that are searched later. Effect: reads files.

A project's `wc` decides about `xargs wc` too: what the table of xargs gives as an example may come
out otherwise, though nothing is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables.loader import SHIPPED, Tables, table_name
from pulsus.commands.table_check.checker import Problem, check_table
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Effect:
    """A `problem` that the tables in `because` cause, and not the table itself."""

    problem: Problem
    because: tuple[Path, ...]

    @property
    def fix(self) -> str:
        """Return what to do about it."""
        if self.problem.code == "EXAMPLE_ALLOWED":
            return "correct the table that decides, if it was not meant to allow this"
        return "nothing, if the table that decides was meant to refuse it; else correct that one"


def split_by_cause(
    problems: Iterable[Problem], context: JudgeContext
) -> tuple[Sequence[Problem], Sequence[Effect]]:
    """Return the problems of the tables themselves, and the effects of other tables."""
    found = list(problems)
    files = dict.fromkeys(problem.file for problem in found)
    alone = {file: set(_problems_of_table_alone(file, context)) for file in files}
    own = [problem for problem in found if problem in alone[problem.file]]
    effects = [
        Effect(problem, tuple(_deciding_tables(problem, context)))
        for problem in found
        if problem not in alone[problem.file]
    ]
    return own, effects


def _problems_of_table_alone(file: Path, context: JudgeContext) -> Iterator[Problem]:
    """Yield the problems of the table without the tables in folders that are searched earlier."""
    before = _folders_before(file, context)
    behind = context.tables.folders[len(before) :]
    tables = Tables([folder for folder in behind if folder != SHIPPED])
    return check_table(file, replace(context, tables=tables))


def _folders_before(file: Path, context: JudgeContext) -> Sequence[Path]:
    folders = context.tables.folders
    return folders[: folders.index(file.parent)] if file.parent in folders else ()


def _deciding_tables(problem: Problem, context: JudgeContext) -> Iterator[Path]:
    """Yield the tables searched earlier for programs that the problem names, or else all of
    them."""
    before = _folders_before(problem.file, context)
    files = [file for folder in before for file in sorted(folder.glob("*.yaml"))]
    words = set(re.findall(r"[\w\[.+-]+", problem.reason))
    mentioned = [file for file in files if table_name(file) in words]
    yield from mentioned or files
