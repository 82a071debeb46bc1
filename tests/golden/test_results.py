"""Golden transcripts of results: what shipped tools return, as a terminal and a pipe show it.

A transcript names a tool and its inputs, and has three parts: a terminal of 80 columns, the same
with `--full` if that differs, and a pipe. The tool runs for real on tests/golden/results/files. To
accept a change on purpose: `UPDATE_GOLDEN=1 pytest tests/golden`, then read the difference.
"""

import json
import os
import re
import time
from pathlib import Path

import pytest

from pulsus.cli.results.result_lines import MOST_ROWS, ResultView, result_lines
from pulsus.cli.results.text_cells import cells
from tests.catalogue.conftest import import_tool

RESULTS = Path(__file__).parent / "results"
TRANSCRIPTS = sorted(RESULTS.glob("*.txt"))
STYLES = {"bold": "**", "dim": "~", "red": "!!", "yellow": "!"}


@pytest.fixture
def utc(monkeypatch):
    """Make local times those of UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def case(path):
    """Return the head of a transcript, and the result of the tool that it names."""
    text = path.read_text(encoding="utf-8")
    tool, inputs = re.findall(r"^# (?:tool|inputs): (.*)$", text, re.MULTILINE)
    return tool, inputs


def result_of(tool, inputs):
    return json.loads(json.dumps(import_tool(tool).run(**json.loads(inputs))))


def shown(result, view):
    """Return the lines of a result, the style of each line at its beginning."""
    lines = [f"{STYLES.get(style, '')}{line}" for style, line in result_lines(result, view)]
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda p: p.stem)
def test_a_result_is_shown_as_in_its_transcript(path, monkeypatch, utc):
    tool, inputs = case(path)
    monkeypatch.chdir(RESULTS / "files")
    result = result_of(tool, inputs)
    terminal = shown(result, ResultView(80, most_rows=MOST_ROWS))
    full = shown(result, ResultView(80, most_rows=MOST_ROWS, full=True))
    parts = [f"# tool: {tool}\n# inputs: {inputs}\n", f"-- terminal\n{terminal}"]
    parts += [f"-- terminal, --full\n{full}"] if full != terminal else []
    parts += [f"-- pipe\n{shown(result, ResultView(None))}"]
    expected = "\n".join(parts)
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(expected, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == expected


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda p: p.stem)
def test_no_line_of_a_terminal_is_too_long(path, monkeypatch, utc):
    monkeypatch.chdir(RESULTS / "files")
    result = result_of(*case(path))
    for width in (40, 60, 80, 120):
        for full in (False, True):
            for _, line in result_lines(result, ResultView(width, full=full)):
                assert cells(line) <= width or " " not in line.strip(), line
