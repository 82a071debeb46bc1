"""Spellings of secrets in commands, files and answers of programs: none comes through.

A row of `secret_spellings.jsonl` has a family and a text. `§` stands for the secret. The rows of
the family `harmless` have none, and stay as they are.
"""

import base64
import json
import random
import time
from pathlib import Path

import pytest

from pulsus.core.telemetry.redaction import MARK, redact, redact_value
from tests.redaction_time import check_time_is_linear

ROWS = [
    json.loads(line)
    for line in Path("tests/fixtures/secret_spellings.jsonl").read_text("utf-8").splitlines()
]
FAMILIES = sorted({row["family"] for row in ROWS} - {"harmless"})
VALUES = ["hunterblue", "Vy9kQ2zRw", "tr0ub4dor-3"]
"""A word of letters alone is also a password."""
TABLE = Path("agents/pulsus/core/telemetry/secret_rules/secret_arguments.txt")
FORMS = [
    line for line in TABLE.read_text("utf-8").splitlines() if line and not line.startswith("#")
]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_secret_of_this_family_does_not_come_through(family):
    texts = [row["text"] for row in ROWS if row["family"] == family]
    leaks = [text for text in texts for value in VALUES if value in redact(fill(text, value))]
    assert leaks == []


def fill(text, value):
    return text.replace("§", value)


def test_texts_that_only_resemble_a_secret_stay():
    texts = [row["text"] for row in ROWS if row["family"] == "harmless"]
    assert [text for text in texts if redact(text) != text] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_a_redacted_spelling_is_not_redacted_again(family):
    texts = [redact(fill(row["text"], VALUES[1])) for row in ROWS if row["family"] == family]
    assert [text for text in texts if redact(text) != text] == []


def command_of(form):
    """Return the words of a command of this form, with a secret in each of its places."""
    programs, *parts = form.split()
    words, given = [programs.split(",")[0].replace("*", "")], False
    for part in parts:
        if part == "<X":
            given = True
        elif part.startswith("?"):
            words.append(part[1:])
        elif part[0] in "-/" and "X" in part:
            option, sign, value = part.partition("=")
            places = 1 if value.strip("X") else len(value)
            form = value if value.strip("X") else "X"
            words += [option, *[show(form)] * places] if sign else [show(part)]
        else:
            words.append("bob" if part == "*" else show(part))
    return words, given


def show(form):
    """Return a word of this form that has a secret, if the form has one."""
    filled = form.replace("*", "a")
    return filled.removesuffix("X") + "S3cretX" if filled.endswith("X") else filled


@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_the_table_lets_its_secret_through(form):
    words, given = command_of(form)
    if given:
        for text in (
            f"echo S3cretX | {' '.join(words)}",
            f"{' '.join(words)} <<< S3cretX",
            f"{' '.join(words)} <<EOF\nS3cretX\nEOF",
        ):
            assert "S3cretX" not in redact(text)
    else:
        assert "S3cretX" not in redact(" ".join(words))
        assert "S3cretX" not in redact(f"then sudo {' '.join(words)} && ls")
        assert "S3cretX" not in redact(json.dumps({"command": " ".join(words)}))
        assert "S3cretX" not in redact(repr(words))
        assert "S3cretX" not in json.dumps(redact_value({"argv": words}))


def test_an_option_of_any_program_does_not_show_its_secret_in_a_list_of_words():
    for option in ("--password", "--api-key", "-pw", "--db-token"):
        assert redact_value(["tool", option, "hunterblue", 3]) == ["tool", option, MARK, 3]
        assert "hunterblue" not in redact(f"['tool', '{option}', 'hunterblue', '-v']")
    assert redact_value(["tool", "--password", "--token"]) == ["tool", "--password", "--token"]
    assert redact_value(["--show-token", "label"]) != ["--show-token", "label"]
    assert redact('{"command": "x --show-token", "label": "y"}').endswith('"label": "y"}')


def key_lines(width):
    data = random.Random(width).randbytes(width * 3 + 20)
    text = base64.b64encode(data).decode()
    return [text[at : at + width] for at in range(0, len(text), width)]


@pytest.mark.parametrize("width", [64, 70, 76])
@pytest.mark.parametrize("start", ["", "> ", "    ", "+", "     7\t"])
def test_lines_from_the_middle_of_a_key_do_not_come_through(width, start):
    lines = key_lines(width)
    for some in (lines, lines[:1], lines[1:]):
        found = redact("\n".join(start + line for line in some))
        assert not any(line in found for line in some)
        assert not any(line in redact(json.dumps("\n".join(some))) for line in some)


def test_lines_of_hashes_and_of_encoded_sentences_are_no_key():
    sentence = base64.b64encode(b"the quick brown fox jumps over the lazy dog" * 3).decode()[:76]
    text = f"{'0123456789abcdef' * 4}\n{sentence}\n{'A' * 64}\n"
    assert redact(text) == text


UNITS = [
    "curl -u a:b ", "curl -sSub", "mysql -p", "vault login ", "echo a | kinit u\n", "kinit <<EOF\n",
    "kinit <<< a ", "net user a ", "password=[", "password=[a, ", "password='a'", "=[redacted]'a'",
    "pass'word'=", "pass''", "pa\\", "password=$(", "password=`a`", "//a:b@", "a:b@c:1/", "a:",
    "credentials a:b ", "password:\n", "password:\na\n", "password: \"a\n  b", "- a\n",
    "name: token ",
    "name=token,a=b,", '["password", ', 'set("password", ', "expect assword ", "expect send ",
    '<input value="a" ', "Aa1" * 22, f"{'Aa1' * 21}a\n", "'--token', ", '"--token", "a"',
    "sudo -S ",
    '["vault", "login", ', "password: a b ", "- password = a b\n", "\\n", '\\"',
    "keyctl add a b c ",
    "password: |\n\n a\n", "password: !a &b |\n", "<password>\n", "impacket-a a:b",
    "login: a:1bbbbb ", "a=b; path", "cookies={", "<cookie a=b for ",
    'variable "token" {a\n',
    'name="token"\n\na', "- --token\n- a\n", "password <- ", "password string = ",
    "password=<<E\na\n",
    "token 'a1bcdef", "with password ", "a/b@//c", "a:b@tcp(", "authorization%3a%20",
    "A_KEY=a1bcdef ",
    "\0--token\0a", "api key ", "set_password('", "{PLAIN}", "#define A_TOKEN ", "1:2:3:4:5\n",
    "a:1:b:",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_no_spelling_makes_the_time_grow_with_the_square_of_a_text(unit):
    check_time_is_linear(unit)


@pytest.mark.parametrize(
    "first",
    ['x = "a', "password: 'a", "password: |", "password: <<E", "chpasswd:\n  list: |", "- --token"],
)
@pytest.mark.parametrize("line", ["        b", " " * 60, "    - name: x", "      a:b=c,"])
def test_indented_lines_below_an_open_value_do_not_take_long(first, line):
    started = time.process_time()
    redact(f"{first}\n" + f"{line}\n" * 60)
    assert time.process_time() - started < 2
