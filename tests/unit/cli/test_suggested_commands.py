"""Words that are no command: which are a mistake, and which are a request."""

import json
from pathlib import Path

from pulsus.cli.command_group import COMMANDS
from pulsus.cli.suggested_commands import command_mistake
from pulsus.commands.program_tables.loader import Tables

ROOT = Path(__file__).parents[3]


def is_request(words):
    return command_mistake(words, COMMANDS, lambda _: ()) is None


def test_no_request_of_the_golden_file_is_taken_for_a_command():
    lines = (ROOT / "config/golden.jsonl").read_text("utf-8").splitlines()
    requests = [json.loads(line)["query"].split() for line in lines]
    refused = {words[0] for words in requests if words[0] not in COMMANDS and not is_request(words)}
    assert any(len(words) == 1 for words in requests)
    assert refused == set()


def test_no_program_is_taken_for_a_misspelt_command():
    programs = [name for name in Tables().names() if name not in {*COMMANDS, "help"}]
    # A shell's `command` shows nothing by itself.
    assert [name for name in programs if not is_request([name])] == ["command"]
