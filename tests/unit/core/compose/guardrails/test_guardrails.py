"""A generated module may not use what the guardrails exclude (routing spec §7)."""

import pytest

from pulsus.core.compose.guardrails.all_rules import GuardrailRules, list_reasons
from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.types import BrokenTool
from tests.generation import MODULE, RULES, module


def found(code, rules=RULES):
    """The reasons against a module."""
    return list_reasons(code.encode(), read(code.encode()), rules)


def read(source):
    """The tool that the bytes define."""
    tool = read_tool(
        source,
        path=None,  # type: ignore[arg-type]
        tool_id="a/b/c",
        domain="a",
        action="b",
        name="c",
        max_bytes=100_000,
    )
    assert not isinstance(tool, BrokenTool), tool
    return tool


def test_a_whole_module_within_the_rules_passes():
    assert found(MODULE) == ()


@pytest.mark.parametrize(
    ("head", "body"),
    [
        pytest.param("import os", "os.getcwd()", id="import"),
        pytest.param("import os.path", "os.path.sep", id="submodule"),
        pytest.param("import os as json", "json.getcwd()", id="alias"),
        pytest.param("from os import system", "system('x')", id="from"),
        pytest.param("from . import secrets", "secrets", id="relative"),
        pytest.param("from math import *", "pi", id="star"),
        pytest.param("", "import socket", id="inside a function"),
        pytest.param("import importlib", "importlib.import_module('os')", id="importlib"),
        pytest.param("", "__import__('os')", id="__import__"),
        pytest.param("", "__builtins__['__import__']('os')", id="builtins by name"),
        pytest.param("", "globals()['x']", id="globals"),
        pytest.param("", "__loader__.load_module('os')", id="loader"),
        pytest.param("import pathlib", "pathlib.os.getcwd()", id="a module's module"),
        pytest.param("from pathlib import os", "os.getcwd()", id="a module's module by from"),
        pytest.param("import json", "json.codecs.open('x')", id="codecs through json"),
        pytest.param("import random", "random._os.urandom(1)", id="a private module"),
        pytest.param("import pathlib as p", "p.os.getcwd()", id="behind an alias"),
        pytest.param("import pathlib", "m = pathlib\n    m.os", id="a module as a value"),
        pytest.param("import pathlib", "getattr(pathlib, 'os')", id="getattr of a module"),
        pytest.param("", "getattr(text, '__class__')", id="getattr of a dunder"),
        pytest.param("", "getattr(text, text)", id="getattr of anything"),
        pytest.param("", "list(map(getattr, [text], ['x']))", id="getattr as a value"),
        pytest.param("", "().__class__.__base__.__subclasses__()", id="subclasses"),
        pytest.param("", "run.__globals__", id="globals of a function"),
        pytest.param("", "(lambda: 0).__code__", id="code"),
        pytest.param("import json", "json.__dict__", id="dict of a module"),
        pytest.param("", "compile('1', 'x', 'eval')", id="compile"),
        pytest.param("", "__doc__.split('output')", id="its own examples"),
        pytest.param("", "input()", id="stdin"),
        pytest.param("", "open('x', 'w')", id="open for writing"),
        pytest.param("", "open('x', mode=text)", id="open with any mode"),
        pytest.param("from pathlib import Path", "Path('x').open('a')", id="append"),
        pytest.param("from pathlib import Path", "Path('x').write_text('')", id="write_text"),
        pytest.param("from pathlib import Path", "Path('x').unlink()", id="unlink"),
        pytest.param("from pathlib import Path", "Path('x').replace('y')", id="replace"),
        pytest.param("import random", "random.choice([1])", id="chance"),
        pytest.param("import random", "random.Random().random()", id="Random without a seed"),
        pytest.param("import random", "random.Random(None).random()", id="Random of None"),
        pytest.param("import random", "random.seed()", id="seed of the clock"),
        pytest.param("import random", "random.SystemRandom(1)", id="SystemRandom"),
        pytest.param("", "list(set(text))", id="the order of a set"),
        pytest.param("", "', '.join({c for c in text})", id="the order of a joined set"),
        pytest.param("", "[c for c in set(text)]", id="the order of a set in a comprehension"),
        pytest.param("from random import randint", "randint(1, 2)", id="chance by from"),
    ],
)
def test_ways_around_the_rules_are_refused_with_their_line(head, body):
    told = found(module(head=head, body=f"    {body}"))
    assert told
    assert all(reason.startswith("line ") for reason in told)


@pytest.mark.parametrize(
    ("head", "body"),
    [
        pytest.param("import collections.abc", "collections.abc.Mapping", id="allowed submodule"),
        pytest.param("from collections.abc import Mapping", "Mapping", id="from a submodule"),
        pytest.param("import random", "random.Random(7).choice([1])", id="seeded Random"),
        pytest.param("import random", "random.seed(7)\n    random.random()", id="seeded module"),
        pytest.param("from random import Random", "Random(7).random()", id="seeded by from"),
        pytest.param("from pathlib import Path", "Path('x').open().read()", id="open to read"),
        pytest.param("from pathlib import Path", "Path('x').open('rb').read()", id="bytes"),
        pytest.param("", "open('x', encoding='utf-8').read()", id="builtin open"),
        pytest.param("", "text.replace('a', 'b')", id="replace of text"),
        pytest.param("", "getattr(text, 'upper')()", id="getattr of a plain name"),
        pytest.param("", "type(text).__name__", id="the name of a type"),
        pytest.param("", "sorted(set(text))", id="a sorted set"),
        pytest.param("", "len(set(text)) + sum(1 for c in set(text))", id="a counted set"),
        pytest.param("import datetime", "datetime.datetime(2024, 1, 1)", id="a class in a module"),
    ],
)
def test_ordinary_code_passes(head, body):
    assert found(module(head=head, body=f"    {body}")) == ()


def test_extra_imports_are_allowed_where_the_settings_say_so():
    code = module(head="import yaml", body="    yaml.safe_load(text)")
    assert found(code)
    assert found(code, GuardrailRules(RULES.imports | {"yaml"})) == ()


@pytest.mark.parametrize(
    "section", ["Args", "Returns", "Side effects", "Kind", "Effects", "Secrets"]
)
def test_a_generated_module_owes_every_section(section):
    told = " ".join(found(module(without=section)))
    assert section in told


def test_arguments_and_result_are_typed_and_described():
    told = found(MODULE.replace("text: str) -> dict[str, Any]", "text)"))
    assert told == ("argument 'text' has no type hint", "run() does not say what type it returns")
    assert found(MODULE.replace("text (str): What to count.", "other (str): It.")) == (
        "Args: 'other' is no argument; the arguments are text",
        "argument 'text' is not described in Args:",
    )
    assert any(
        "name every argument" in r for r in found(MODULE.replace("text: str)", "*text: str)"))
    )


def test_every_reason_is_given_in_the_order_of_lines():
    told = found(module(head="import os\nimport socket", body="    open('x', 'w')", without="Kind"))
    assert [reason.split(":")[1].split()[0] for reason in told[:3]] == [
        "imports",
        "imports",
        "opens",
    ]
    assert "Kind" in told[-1]


def test_network_and_programs_may_not_even_be_declared():
    declared = MODULE.replace("hosts: none", "hosts: example.org")
    assert any("hosts and commands must be none" in reason for reason in found(declared))


def test_a_writer_is_refused_unless_writes_are_allowed_and_then_owes_a_dry_run():
    writer = MODULE.replace("Kind: read", "Kind: write")
    assert any("allow_writes" in reason for reason in found(writer))
    allowed = GuardrailRules(RULES.imports, writes=True)
    assert any("dry_run" in reason for reason in found(writer, allowed))
    ready = writer.replace("text: str)", "text: str, dry_run: bool)").replace(
        "What to count.", "What to count.\n    dry_run (bool): Whether to change nothing."
    )
    assert found(ready, allowed) == ()
    assert found(ready.replace("    return", "    open('x', 'w')\n    return"), allowed) == ()


def test_the_static_gate_refuses_modules_that_cannot_be_parsed():
    tool = read(MODULE.encode())
    assert list_reasons(b"def run(:", tool, RULES) == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("Count the", "Count \\x1b[2J the", id="escape of a terminal"),
        pytest.param("Count the", "Count \x1b[2J the", id="raw escape"),
        pytest.param("What to count.", "What \\u202eto count.", id="reordered argument"),
        pytest.param("How many vowels", "How\\u200bmany vowels", id="invisible"),
        pytest.param("Count the", "Count \\N{RIGHT-TO-LEFT OVERRIDE} the", id="by name"),
        pytest.param("Count the", "Count \\u2028 the", id="line separator"),
        pytest.param("Count the", "Count \\u009b2J the", id="C1"),
        pytest.param("Secrets: none", "Secrets: none\\x07", id="bell"),
        pytest.param('    return {"v', '    _x = "\x1b[2J"\n    return {"v', id="raw in code"),
        pytest.param(
            '    return {"v', '    def _f() -> None:\n        "\\x1b"\n    return {"v', id="inner"
        ),
    ],
)
def test_control_and_hidden_characters_are_refused_with_their_line(before, after):
    code = MODULE.replace(before, after, 1)
    assert code != MODULE
    told = [reason for reason in found(code) if reason.startswith("line ")]
    assert told
    assert "U+" in told[0]
    assert all(reason.isprintable() for reason in told)


def test_escapes_in_code_and_letters_of_any_script_are_fine():
    code = MODULE.replace("Count the", "Zähle die 母音 🙂 of the", 1)
    assert found(code.replace('    return {"v', '    text.strip("\\x1b")\n    return {"v')) == ()
