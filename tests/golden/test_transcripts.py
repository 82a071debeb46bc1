"""Golden transcripts of the command line (routing spec §11, §12, §18, §19).

A transcript is a text file: a comment, then `$ commands`, each with what it prints. Lines of stderr
begin with `! `; an exit status other than 0 stands in brackets. `# with:` names overlays of
tests/fixtures, `# hides: machine` hides versions, `# model:` names a file of answers that a model
gives in order. To accept a change of the output on purpose: `UPDATE_GOLDEN=1 pytest tests/golden`,
then read the difference.
"""

import os
import re
import shlex
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path

import pytest

from tests.golden.normalise import normalise
from tests.model_server import playing, says
from tests.project import make, pulsus, pulsus_here
from tests.sandboxes import need_sandbox

pytestmark = pytest.mark.seconds

ANSWERS = Path(__file__).parents[1] / "fixtures/answers"
TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
QUICK = {
    *("agent", "config", "explain", "fill", "help", "housekeeping", "plan", "refused_flags"),
    *("show_and_diff", "tools"),
}


def _row(path):
    return pytest.param(
        path, id=path.stem, marks=[] if path.stem in QUICK else [pytest.mark.seconds]
    )


def head_and_commands(text):
    lines = text.splitlines()
    head = list(takewhile(lambda line: line.startswith("#"), lines))
    return head, [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def directive(head, name):
    return [w for line in head for w in re.findall(rf"^# {name}: (.*)$", line)]


@contextmanager
def scripted(head):
    """Yield the variables that set the model which the transcript names."""
    names = directive(head, "model")
    if not names:
        yield {}
        return
    text = (ANSWERS / f"{names[0]}.md").read_text(encoding="utf-8")
    with playing(*map(says, text.split("\n=====\n"))) as server:
        yield {"PULSUS_MODEL__BASE_URL": server.url, "PULSUS_MODEL__NAME": "tiny"}


def play(command, folder, model, run):
    """Return the output and exit status of a command.

    `cat FILE` shows a file, and `edit FILE OLD NEW` changes one.
    """
    words = shlex.split(command)
    env = dict(model)
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        env[name] = value
    if words[0] == "edit":
        path, old, new = folder / words[1], *words[2:]
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return ""
    if words[0] == "cat":
        return (folder / words[1]).read_text(encoding="utf-8")
    assert words[0] == "pulsus"
    done = run(folder, *words[1:], env=env)
    err = "".join(f"! {line}\n" for line in done.err.splitlines())
    return done.out + err + (f"[{done.code}]\n" if done.code else "")


@pytest.mark.sandbox
@pytest.mark.usefixtures("loaded_mypy")
@pytest.mark.parametrize("path", [_row(path) for path in TRANSCRIPTS])
def test_the_output_equals_the_transcript(path, tmp_path):
    need_sandbox()
    expected = path.read_text(encoding="utf-8")
    head, commands = head_and_commands(expected)
    overlays = [name for line in directive(head, "with") for name in line.split()]
    folder = make(tmp_path / "project", *overlays)
    machine = directive(head, "hides") == ["machine"]
    shown = "".join(f"{line}\n" for line in head)
    with scripted(head) as model:
        for number, command in enumerate(commands):
            # The first is a process, and the others print here what they would as one.
            run = pulsus_here if number else pulsus
            output = normalise(play(command, folder, model, run), folder, machine=machine)
            shown += f"\n$ {command}\n{output}"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(shown, encoding="utf-8")
    assert shown == expected


def test_every_subcommand_has_a_transcript():
    from pulsus.cli.command_group import COMMANDS

    terminal = (Path(__file__).parent / "terminal").glob("*.txt")
    played = [
        command
        for path in (*TRANSCRIPTS, *terminal)
        for command in head_and_commands(path.read_text(encoding="utf-8"))[1]
    ]
    assert [name for name in COMMANDS if not any(f"pulsus {name}" in c for c in played)] == []
