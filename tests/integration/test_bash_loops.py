"""The gate sees the calls that bash makes in loops: bash itself is asked."""

import random
import shutil

import pytest

from pulsus.commands.shell.script_parser import parse_command
from pulsus.commands.shell.words import Unreadable
from tests.integration.test_bash_words import called_by_bash

pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")

PIECES = (
    *(
        "show ",
        "show ",
        "show ",
        "$h",
        "${h}",
        '"$h"',
        "'$h'",
        "\\$h",
        '"\\$h"',
        "$",
        "a",
        "b",
        " ",
    ),
    *(" ", "; ", ";", "\n", " # x\n", "#", "'", '"', "\\", "done", "do", "for h in a", "; done"),
    *("{", "}", "; show ", " && show ", "$hx", "${hx}", "$g", '"x $h y"', '"', "-", "=", "[a]"),
)
WORDS = (
    *(
        "a",
        "b",
        "'a b'",
        '"c"',
        "x-1",
        "a=b",
        "{1..2}",
        "-n",
        "d\\ e",
        "do",
        "done",
        "if",
        "\n",
        ";",
    ),
    *("#", "$h", "~", "*", "''", "a;", "in", "'", "\\\n"),
)


def loop(dice):
    words = " ".join(dice.choices(WORDS, k=dice.randint(1, 3)))
    body = "show " + "".join(dice.choices(PIECES, k=dice.randint(1, 6)))
    if dice.random() < 0.3:
        inner = " ".join(dice.choices(WORDS, k=dice.randint(1, 2)))
        body = f"for g in {inner}; do {body}; show $g$h; done"
    end = dice.choice((";", "\n", " ;\n", ";#\n", " "))
    return f"for h in {words}{end}do {body}{dice.choice((';', chr(10), ' # x' + chr(10)))} done"


@pytest.mark.seconds
@pytest.mark.parametrize("seed", range(3))
def test_random_loops_are_refused_or_read_as_bash_runs_them(seed, tmp_path):
    dice = random.Random(seed)
    found = {}
    for _ in range(6_000):
        command = loop(dice)
        try:
            script = parse_command(command)
        except Unreadable:
            continue
        calls = [tuple(word.text for word in stage.words) for stage in script.stages]
        plain = not script.redirects and not any(stage.assignments for stage in script.stages)
        if plain and all(call[:1] == ("show",) for call in calls):
            found[command] = [call[1:] for call in calls]
    assert len(found) > 300
    seen = called_by_bash(list(found), tmp_path)
    assert len(seen) == len(found)
    pairs = zip(found.items(), seen, strict=True)
    assert {command: (ours, bash) for (command, ours), bash in pairs if ours != bash} == {}
