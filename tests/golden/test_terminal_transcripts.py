"""Golden transcripts of a conversation: `pulsus "REQUEST"` on a real terminal of 80 columns.

A transcript begins with a comment. Then follow `$ commands`, each with `< PROMPT => ANSWER` for
every question in turn, and with the screen as a person sees it. An exit status other than 0 stands
in brackets. `# hides: machine` hides numbers of this machine. The project is a new one, made by
`pulsus init`, with the files of tests/golden/terminal/files. `$ cat FILE` shows a file, and
`$ edit FILE OLD NEW` changes one. `$ kill-in-write STEP` leaves the latest run as a kill in that
write does, and `$ kill-in-approval ID` leaves an approved migration so. `run-ID` in a command is
the latest run that was shown. To accept a change on purpose: `UPDATE_GOLDEN=1 pytest tests/golden`,
then read the difference as an engineer on call would.
"""

import os
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from pulsus.cli.results.text_cells import cells
from tests.golden.normalise import normalise
from tests.interrupted_approvals import leave_approval_open
from tests.interrupted_runs import leave_write_started
from tests.project import PULSUS, pulsus

pexpect = pytest.importorskip("pexpect", reason="pexpect is not installed")
pytestmark = [
    pytest.mark.seconds,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals"),
    # Python 3.12 warns of any fork beside a thread, such as the test runner's own.
    pytest.mark.filterwarnings("ignore:.*forkpty:DeprecationWarning"),
]

FOLDER = Path(__file__).parent / "terminal"
TRANSCRIPTS = sorted(FOLDER.glob("*.txt"))
COLUMNS = 80
ANSWER = re.compile(r"^< (.+) => (.*)$", re.MULTILINE)
RUN = re.compile(r"run-\d{8}-\d{6}-[0-9a-f]{6}")
CONTROL = re.compile(r"\x1b\[(\d*)([A-Za-z])|\x1b\[\?\d+[hl]|(\n)|\r")
"""Cursor up, erasure of a line, colours, a hidden cursor, and the ends of lines."""
HIDDEN = ((r"\d[\d.]*(?= (B|[KMGT]iB|%))", "N"), (r"\b[KMGT]?i?B\b", "B"), (r" {2,}", "  "))
REVISION = re.compile(r"(rev-DATE-)\d+")
"""Its number counts the revisions of a day, and shipped tools may be promoted on any day."""


@pytest.fixture
def project():
    """A new project with files to ask about; its .git stops the search for other projects.

    Each conversation gets its own: what Pulsus remembers of one would change the next one. Its path
    is short, because a long one is folded.
    """
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base).resolve() / "project"
        (folder / ".git").mkdir(parents=True)
        done = pulsus(folder, "init")
        assert done.code == 0, done.err
        yield shutil.copytree(FOLDER / "files", folder, dirs_exist_ok=True)


def parts(text):
    """Return the head of a transcript, and each command with its answers."""
    head, *rest = re.split(r"^\$ ", text, flags=re.MULTILINE)
    return head, [(each.split("\n", 1)[0], ANSWER.findall(each)) for each in rest]


def screen(folder, command, answers):
    """Return what the terminal shows, and the exit status."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PULSUS_")}
    child = pexpect.spawn(
        str(PULSUS),
        shlex.split(command)[1:],
        cwd=str(folder),
        env={**clean, "NO_COLOR": "1", "TERM": "xterm", "TZ": "UTC"},
        encoding="utf-8",
        timeout=60,
        dimensions=(40, COLUMNS),
    )
    sent = ""
    for prompt, answer in answers:
        child.expect_exact(prompt)
        sent += child.before + prompt
        child.sendline(answer)
    child.expect(pexpect.EOF)
    sent += child.before
    child.close()
    return rendered(re.sub(r"\x1b\[[0-9;]*m", "", sent)), child.exitstatus


def rendered(sent):
    """Return the lines on the screen at the end: a live list that is gone leaves none."""
    lines, row = [""], 0
    at = 0
    for found in (*CONTROL.finditer(sent), None):
        lines[row] += sent[at : found.start() if found else None]
        if found is None:
            break
        at = found.end()
        if found[3]:
            row += 1
            lines += [""] * (row == len(lines))
        elif found[2] == "A":
            row -= int(found[1] or 1)
        elif found[2] == "K":
            lines[row] = ""
    return "\n".join(lines)


def played(folder, command, answers, latest):
    """Return the output of a command and its exit status. `latest` is the id of the last run."""
    words = shlex.split(command)
    if words[0] == "cat":
        return (folder / words[1]).read_text("utf-8"), 0
    if words[0] == "edit":
        text = (folder / words[1]).read_text("utf-8")
        assert words[2] in text
        (folder / words[1]).write_text(text.replace(words[2], words[3], 1), encoding="utf-8")
        return "", 0
    if words[0] == "kill-in-write":
        leave_write_started(folder, words[1])
        return "", 0
    if words[0] == "kill-in-approval":
        leave_approval_open(folder, words[1])
        return "", 0
    return screen(folder, command.replace("run-ID", latest), answers)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda p: p.stem)
def test_a_conversation_reads_as_in_its_transcript(path, project):
    expected = path.read_text(encoding="utf-8")
    head, commands = parts(expected)
    found = head
    latest = ""
    for command, answers in commands:
        shown, code = played(project, command, answers, latest)
        latest = next(reversed(RUN.findall(shown)), latest)
        wide = [line for line in shown.split("\n") if cells(line) > COLUMNS and " " in line]
        # A command is not wrapped, so that it can be copied.
        assert [line for line in wide if not line.lstrip().startswith("pulsus ")] == []
        shown = REVISION.sub(r"\1N", normalise(shown, project))
        for pattern, instead in HIDDEN if "# hides: machine" in head else ():
            shown = re.sub(pattern, instead, shown)
        told = "".join(f"< {prompt} => {answer}\n" for prompt, answer in answers)
        found += f"$ {command}\n{told}{shown}" + (f"[{code}]\n" if code else "") + "\n"
    found = found.rstrip("\n") + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(found, encoding="utf-8")
    assert found == expected
