"""The scripts of the pages code texts as the terminal does. Node runs them: CI has it with npm."""

from __future__ import annotations

import json
import shutil
import subprocess
import unicodedata

import pytest

from pulsus.core.telemetry.visible_text import visible_command, visible_text
from tests.patience import PATIENCE_SECONDS
from tests.shown_characters import COMMANDS, SHOWN, all_characters, hostile_texts

pytest.importorskip("starlette")
from pulsus.web.pages.page_view import STATIC_FOLDER

NODE = shutil.which("node")
pytestmark = [
    pytest.mark.skipif(NODE is None, reason="node is not installed"),
    pytest.mark.seconds,
]

RUN = """
const fs = require("fs"), vm = require("vm");
const [script, expression, input] = JSON.parse(fs.readFileSync(0, "utf-8"));
const nothing = () => null;
const document = { querySelector: nothing, getElementById: nothing };
const page = vm.createContext({ input, document });
vm.runInContext(fs.readFileSync(script, "utf-8"), page);
process.stdout.write(JSON.stringify(vm.runInContext(expression, page)));
"""
"""Run a script of the pages without a page, and an expression with its functions."""


def in_page(expression, given):
    """Return the value of an expression in which `input` is a value of the test."""
    assert NODE is not None
    sent = json.dumps([str(STATIC_FOLDER / "shared.js"), expression, given])
    done = subprocess.run(
        [NODE, "-e", RUN], input=sent, capture_output=True, text=True, check=True,
        timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    return json.loads(done.stdout)


def test_the_page_folds_hostile_texts_as_the_terminal_does():
    texts = [
        *(text for text, _ in SHOWN), *(command for command, _ in COMMANDS), *hostile_texts(5000),
    ]  # fmt: skip
    found = in_page("input.map((text) => [visible(text), visibleCommand(text)])", texts)
    # JSON joins two halves of a surrogate pair, as every text does that comes from a server.
    joined = json.loads(json.dumps(texts))
    wanted = [[visible_text(text), visible_command(text)] for text in joined]
    wrong = [each for each in zip(joined, found, wanted, strict=True) if each[1] != each[2]]
    assert wrong == []


def test_the_page_codes_the_same_characters_as_the_terminal():
    # Each side knows its own version of Unicode: only characters that both know are compared.
    ours = [char for char in all_characters() if unicodedata.category(char) != "Cn"]
    found = in_page(
        "input.map((n) => String.fromCodePoint(n)).map((char) => /\\p{Cn}/u.test(char) ? 'new' :"
        " [char, `a${char}`].filter((text) => visible(text) !== text).length)",
        [*map(ord, ours)],
    )
    wanted = [sum(visible_text(text) != text for text in (char, f"a{char}")) for char in ours]
    both = [each for each in zip(ours, found, wanted, strict=True) if each[1] != "new"]
    assert len(both) > 140_000
    assert [hex(ord(char)) for char, theirs, own in both if theirs != own] == []
