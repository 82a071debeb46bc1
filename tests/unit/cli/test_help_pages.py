"""Every help page: 80 columns, whole summaries, and an end of the same form."""

import json
import re
import shlex
import subprocess
from contextlib import suppress
from pathlib import Path

import click
import pytest

from pulsus.cli.command_group import cli
from pulsus.cli.help_text import EACH_ITS_OWN, page_end
from pulsus.routing.evaluation.calibration_fit import MIN_REQUESTS

WORKFLOWS = Path(__file__).parents[3] / "workflows"


def pages():
    """Yield each command with its words and its page, on a terminal of 200 columns."""
    top = click.Context(cli, info_name="pulsus", **cli.context_settings)
    waiting: list[tuple[tuple[str, ...], click.Command, click.Context]] = [(("pulsus",), cli, top)]
    while waiting:
        words, command, context = waiting.pop()
        yield words, command, context
        if not isinstance(command, click.Group):
            continue
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found
            inner = click.Context(found, info_name=name, parent=context)
            waiting.append(((*words, name), found, inner))


PAGES = [pytest.param(*rest, id=" ".join(words)) for words, *rest in pages()]


@pytest.fixture
def page(command, context, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    return command.get_help(context)


every_page = pytest.mark.parametrize(("command", "context"), PAGES)


@every_page
def test_no_help_line_is_wider_than_80_columns(page):
    assert [line for line in page.splitlines() if len(line) > 80] == []


@every_page
def test_no_summary_of_a_subcommand_is_cut(page, command):
    is_group = isinstance(command, click.Group)
    title = "Ask" if "\nAsk:\n" in page else "Commands"  # the root has several sections
    _, _, listed = page.partition(f"\n{title}:\n")
    assert "..." not in listed.partition("\n  Examples:")[0]
    assert is_group == bool(listed)


@every_page
def test_every_help_page_ends_with_examples_and_then_exit_codes(page, command):
    options, examples, exits = map(page.index, ("Options:", "  Examples:", "  Exit codes:"))
    assert options < examples < exits
    assert page.count("Examples:") == page.count("Exit codes:") == 1
    assert "Example:" not in page
    if isinstance(command, click.Group):
        assert page.endswith(EACH_ITS_OWN)
    else:
        codes = [int(c) for c in re.findall(r"(?:: |· |\n {4})(\d+) ", page[exits:])]
        assert codes[:1] == [0]
        assert codes == sorted(set(codes))


@every_page
def test_every_example_is_a_call_that_the_command_line_accepts(page):
    shown = page[page.index("  Examples:") : page.index("  Exit codes:")].split("\n\n")[0]
    for line in shown.replace("\\\n", " ").splitlines()[1:]:
        words = shlex.split(line, comments=True)
        words = words[words.index("pulsus") + 1 :]
        _parse(words[: words.index(">")] if ">" in words else words)


@every_page
def test_every_example_is_a_call_that_a_shell_can_read(page):
    shown = page[page.index("  Examples:") : page.index("  Exit codes:")].split("\n\n")[0]
    calls = "\n".join(shown.splitlines()[1:])
    read = subprocess.run(["sh", "-n"], input=calls, text=True, capture_output=True, check=False)
    assert read.stderr == ""
    assert "..." not in calls, "it stands for something that a person cannot paste"


@every_page
def test_tools_in_examples_exist_in_the_starter_catalogue(page):
    shown = page[page.index("  Examples:") : page.index("  Exit codes:")]
    for tool in re.findall(r"(?<![\w/.])[a-z]+/[a-z]+/[a-z_]+(?![\w/.])", shown):
        is_shared = tool.startswith("shared/")
        place = tool.replace("shared/", "shared_tools/", 1) if is_shared else f"domains/{tool}"
        assert (WORKFLOWS / f"{place}.py").is_file(), tool


def _parse(words):
    """Find the command of an example, and check that it has the options."""
    command: click.Command = cli
    context = click.Context(cli)
    while words and isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, list(words))
        assert found
        command, context = found, click.Context(found, info_name=name, parent=context)
    known = {opt for p in command.params for opt in (*p.opts, *p.secondary_opts)}
    given = {word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)}
    assert given <= known


def test_exit_codes_are_folded_between_codes():
    page = page_end("pulsus x", exits={0: "a" * 60, 1: "b" * 20, 2: "c"})
    assert page.endswith(f"Exit codes: 0 {'a' * 60} ·\n  1 {'b' * 20} · 2 c")


WITHOUT_APPROVED_SETTINGS = {
    *("config trust", "config show", "doctor", "init", "diff"),
    "audit",  # reports an unapproved setting as a finding
}
"""Commands that work with unapproved settings: `test_config_trust.py` runs each of them."""


def test_every_command_that_needs_approved_settings_says_so_under_exit_4():
    commands = {
        " ".join(words[1:]): " ".join(command.get_help(context).split())
        for words, command, context in pages()
        if not isinstance(command, click.Group)
    }
    told = {
        name
        for name, page in commands.items()
        if re.search(r" 4 [^·]*(?:settings of the project wait|, or unapproved settings)", page)
    }
    assert commands.keys() - told == WITHOUT_APPROVED_SETTINGS


def test_a_command_that_reads_settings_lists_the_status_of_unapproved_ones():
    shown = page_end("pulsus gc", exits={0: "done", 2: "usage or settings", 75: "try again"})
    assert "4 settings of the project wait for your approval" in shown
    assert shown.index(" 2 usage") < shown.index("4 settings") < shown.index("75 try")
    own = page_end("pulsus run x", exits={2: "usage or settings", 4: "a confirmation is missing"})
    assert "4 a confirmation is missing" in own
    assert "wait for your approval" not in own
    assert "approval" not in page_end("pulsus init", exits={0: "done", 2: "usage"})


@every_page
def test_an_example_row_that_is_copied_is_no_invalid_row(page):
    """A row of JSON stands on one line, or its title says that it is broken over several."""
    title, row = "", ""
    for line in page.splitlines():
        title = line if line.lstrip().startswith(("A row of ", "Rows of ")) else title
        if not title or not (row or line.lstrip().startswith('{"')):
            continue
        row += line.strip()
        with suppress(ValueError):
            json.loads(row)
            row = ""
        assert not row or "on one line (broken here to fit)" in title, row
    assert not row


def test_the_help_of_eval_says_what_a_calibration_needs():
    page = next(c.get_help(context) for words, c, context in pages() if words[-1] == "eval")
    assert f"--calibrate needs at least {MIN_REQUESTS} requests, and refuses a fit" in page
