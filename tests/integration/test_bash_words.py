"""The gate sees the words that bash sees: for every allowed call, bash itself is asked."""

import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pulsus.commands.shell.script_parser import parse_command
from pulsus.commands.shell.words import Unreadable
from tests.command_examples import examples, plain, verdict

CASES = Path(os.environ.get("PULSUS_CASES", "../shared/cases")) / "commands"
BASH = shutil.which("bash") or ""
CLEAN = {"PATH": "/usr/bin:/bin", "HOME": "/home/ops", "LC_ALL": "C.UTF-8"}

pytestmark = pytest.mark.skipif(not BASH, reason="bash is not installed")


def bash(script, *options):
    """Run a script with bash; return its output and its exit status."""
    return subprocess.run(
        [BASH, "--noprofile", "--norc", *options],
        input=script.encode(),
        env=CLEAN,
        capture_output=True,
        check=False,
    )


def seen_by_bash(commands):
    """The words of each command as bash has them, with file names left alone."""
    lines = (f"printf '%s\\0' {command}\nprintf '\\1'\n" for command in commands)
    done = bash("set -f\n" + "".join(lines))
    assert done.stderr == b""
    calls = done.stdout.decode().split("\1")[:-1]
    return [tuple(call.split("\0")[:-1]) for call in calls]


def differing(found):
    """Calls whose words are not those of bash. `~` is left out: it stands for another word."""
    known = [(command, words) for command, words in found if "~" not in command]
    seen = seen_by_bash([command for command, _ in known])
    assert len(seen) == len(known)
    return {
        command: (words, other)
        for (command, words), other in zip(known, seen, strict=True)
        if words != other
    }


def unparsed(commands):
    """Those that bash does not parse."""
    if bash("".join(f"{command}\n" for command in commands), "-n").returncode == 0:
        return []
    return [command for command in commands if bash(command, "-n").returncode]


@pytest.mark.seconds
def test_every_allowed_example_has_the_words_that_bash_sees():
    allowed = [(command, words) for command, words in plain() if verdict(command).allow]
    assert len(allowed) > 300
    assert differing(allowed) == {}


@pytest.mark.seconds
def test_bash_parses_every_allowed_example():
    assert unparsed([command for command in examples() if verdict(command).allow]) == []


def rows():
    for file in sorted(CASES.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)["command"]


@pytest.mark.seconds
@pytest.mark.cases
def test_every_allowed_case_has_the_words_that_bash_sees():
    if not CASES.is_dir():
        pytest.skip("outside cases are not here; set PULSUS_CASES")
    allowed = [command for command in rows() if verdict(command).allow]
    assert unparsed(allowed) == []
    found = []
    for command in allowed:
        script = parse_command(command)
        (stage, *more) = script.stages
        begins = re.match(r"\s*[({!]", command)
        if not (more or script.redirects or stage.assignments or begins):
            found.append((command, tuple(word.text for word in stage.words)))
    assert differing(found) == {}


PIECES = (
    *(
        "{",
        "}",
        ",",
        "a",
        "b",
        "1",
        "'x'",
        '"y z"',
        "\\ ",
        "\\'",
        '\\"',
        "'",
        '"',
        "\\\n",
        " ",
        "  ",
    ),
    *("\t", "-o", "=", "#", " #c", "\n", "\n#c\n", ";", " ; show ", "; show", " && show ", "2>&1"),
    *(" 2>/dev/null", " >/dev/null", ">/dev/null", " 2>&1", "</dev/null", "{a,b}", "$", " $ ", "!"),
    *(
        " ! ",
        "%",
        "@",
        "[a]",
        "\\\\",
        "\\n",
        "'\\''",
        "é",
        "&>/dev/null",
        " >&2",
        "(",
        ")",
        "{ show ",
    ),
    *(
        "; }",
        "[ a = b ]",
        "==",
        "@",
        "\\$",
        '"\\$"',
        '"\\a"',
        '"a\\\nb"',
        "'a\nb'",
        "{1..3}",
        "..",
        "{}",
    ),
)
SHOWING = """set -f
show() { { printf '%s\\0' S "$@"; printf '\\1'; } >&9; }
while IFS= read -r -d '' command <&8; do eval "$command" </dev/null; printf '\\2' >&9; done
"""


def called_by_bash(commands, folder):
    """The words of every call of `show` in each command."""
    (folder / "commands").write_bytes(b"".join(command.encode() + b"\0" for command in commands))
    (folder / "show").write_text(SHOWING, encoding="utf-8")
    run = "exec 8<commands 9>calls; . ./show"
    subprocess.run(
        [BASH, "--noprofile", "--norc", "-c", run],
        cwd=folder,
        env=CLEAN,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    seen = (folder / "calls").read_bytes().decode().split("\2")[:-1]
    return [[tuple(call.split("\0")[1:-1]) for call in each.split("\1")[:-1]] for each in seen]


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.seconds) for seed in (1, 2))]


@pytest.mark.seconds
@pytest.mark.parametrize("seed", SEEDS)
def test_random_texts_are_refused_or_have_the_words_that_bash_sees(seed, tmp_path):
    dice = random.Random(seed)
    found = {}
    for _ in range(15_000):
        command = "show " + "".join(dice.choices(PIECES, k=dice.randint(1, 8)))
        try:
            script = parse_command(command)
        except Unreadable:
            continue
        calls = [tuple(word.text for word in stage.words) for stage in script.stages]
        assigned = any(stage.assignments for stage in script.stages)
        harmless = not assigned and all(
            each.target.text in {"/dev/null", "1", "2"} for each in script.redirects
        )
        if harmless and all(call[:1] == ("show",) for call in calls):
            found[command] = [call[1:] for call in calls]
    assert len(found) > 1_000
    seen = called_by_bash(list(found), tmp_path)
    assert len(seen) == len(found)
    pairs = zip(found.items(), seen, strict=True)
    assert {command: (ours, bash) for (command, ours), bash in pairs if ours != bash} == {}


@pytest.mark.parametrize(
    "command",
    [
        "cat a\\\nb",
        "echo 'a'\"b\"c\\ d",
        'echo "a\\"b\\$c\\`d\\\\e\\f"',
        "echo $ a$ \"$\" '$x'",
        "echo a#b '#c'",
        "echo {} {a} a{b}c",
        "echo a=b -x=~ x:~",
        "echo ! a!b",
        "echo '' \"\"",
        "echo \\* '*' \"?\"",
        "echo %s @ ^ , : +",
    ],
)
def test_words_that_are_easily_misread_are_those_of_bash(command):
    try:
        script = parse_command(command)
    except Unreadable:
        return  # refused: nothing is misread
    words = tuple(word.text for word in script.stages[0].words)
    assert seen_by_bash([command]) == [words]
