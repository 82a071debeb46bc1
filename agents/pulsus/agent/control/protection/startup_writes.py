"""Find commands that write what the next process of Pulsus runs, or that plan such a run.

Effect: only through `StartupFiles`, which follows links.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pulsus.agent.control.protection.files.destination_links import (
    TAKES_AWAY,
    changes_below,
    only_runs,
    written_texts,
)
from pulsus.agent.control.protection.files.startup_files import MAKES_FOLDERS, StartupFiles
from pulsus.agent.control.protection.protection_refusals import BlockedWord
from pulsus.agent.control.protection.startup_commands import (
    find_installed,
    find_loaded_settings,
    find_planned,
    only_reads_jobs,
)
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.risk.file_uses import find_uses
from pulsus.commands.shell.script_parser import Script
from pulsus.commands.shell.words import Unreadable, Word

CHANGES_START: Final = "the next process of Pulsus runs or reads it"


def find_startup_writes(
    script: Script, calls: Sequence[Sequence[Word]], startup: StartupFiles, tables: Tables
) -> BlockedWord | None:
    """Return the word of a command that writes what runs later. Raises Unreadable.

    `calls` are from `calls_of`.
    """
    for call in calls:
        if installed := find_installed(call, startup):
            return BlockedWord(installed, "it changes what the next process of Pulsus runs")
        if loaded := find_loaded_settings(call):
            rule = "what it would set is not known here"
            raise Unreadable(loaded, rule, "set each value with sysctl -w")
        if planned := find_planned(call):
            rule = "the commands that it plans are not known here"
            raise Unreadable(planned, rule, "write the job with pulsus_file_edit")
    for use in find_uses(script, tables):
        spared = use.program in TAKES_AWAY or only_reads_jobs(use.program, use.words)
        makes, runs = use.program in MAKES_FOLDERS, only_runs(use)
        for text, wild in dict.fromkeys(written_texts(use)):
            if not spared and startup.is_scheduled(text, use.folders):
                rule = "what it would plan for later is not known here"
                raise Unreadable(text, rule, "write the file with pulsus_file_edit")
            relation = startup.find(text, use.folders, wild=wild, makes=makes, runs=runs)
            if relation == "inside" or (relation == "above" and changes_below(use)):
                return BlockedWord(text, CHANGES_START)
    return None
