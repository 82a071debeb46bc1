"""Every step of the guide "Your own repository, end to end", in order, in an empty repository."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/guides/your-own-repository.md"
BLOCK = re.compile(
    r"(?:<!-- (?P<step>file|change): (?P<path>\S+) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)```",
    re.DOTALL,
)


def environ():
    """Return the variables of a user with a terminal of 110 columns and a name for git."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    person = {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
    }
    return os.environ | person | {"PATH": programs, "COLUMNS": "110"}


def sessions(text):
    """Yield each command of a console block, with the lines of output that the guide shows."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        yield command, shown


def pattern(line):
    """Return a line of the guide as an expression: any blanks between words, `…` for anything."""
    words = (re.escape(word).replace("…", ".*") for word in line.split())
    return re.compile(r"\s*" + r"\s+".join(words) + r"\s*")


def missing_lines(shown, output):
    """Return the shown lines that the output does not have, in this order."""
    rest = iter(output.splitlines())
    return [line for line in shown if not any(pattern(line).fullmatch(one) for one in rest)]


def change(path, diff):
    """Apply the lines of a diff block to the one place in the file that they fit."""
    lines = diff.splitlines()
    before = "\n".join(line[1:] for line in lines if not line.startswith("+"))
    after = "\n".join(line[1:] for line in lines if not line.startswith("-"))
    text = path.read_text(encoding="utf-8")
    assert text.count(f"{before}\n") == 1, f"{path}: {before}"
    path.write_text(text.replace(f"{before}\n", f"{after}\n"), encoding="utf-8")


def run(command, shown, folder):
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    refused = any(line.startswith("error[") or ": refused" in line for line in shown)
    assert (done.returncode != 0) == refused, f"{command}: {done.returncode}\n{done.stdout}"
    assert missing_lines(shown, done.stdout) == [], f"{command}:\n{done.stdout}"


def test_a_line_that_the_output_lacks_is_found():
    assert missing_lines(["a … c", "d"], "a  b c\nx\n") == ["d"]


@pytest.mark.slow
@pytest.mark.sandbox
def test_every_step_of_the_guide_works_and_prints_what_the_guide_shows(tmp_path):
    for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        path = tmp_path / (block["path"] or "")
        if block["step"] == "file":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block["text"], encoding="utf-8")
        elif block["step"] == "change":
            change(path, block["text"])
        elif block["language"] == "console":
            for command, shown in sessions(block["text"]):
                run(command, shown, tmp_path)
