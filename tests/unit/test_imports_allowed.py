"""Imports against the allowlist of spec §7."""

import ast
import sys

import pytest

from pulsus.core.validators.imports import outside

ALLOWED = (
    *("typing", "dataclasses", "pathlib", "json", "csv", "math", "statistics", "re", "datetime"),
    *("collections", "itertools", "functools", "random"),
)


def found(text):
    return outside(ast.parse(text), ALLOWED)


@pytest.mark.parametrize(
    "text",
    [
        "from __future__ import annotations",
        "import json, csv, math",
        "import collections.abc as c",
        "from collections import abc",
        "from collections.abc import Mapping",
        "from datetime import datetime",
        "import random\nrandom.random()",
        "import re\nre.compile('x')",
        "class A:\n    def eval(self): ...\nA().eval()",
        "def run(x): return x.__class__.__name__",
    ],
)
def test_what_the_allowlist_names_is_inside(text):
    assert found(text) == ()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param("import os", "os", id="plain"),
        pytest.param("import json, os.path", "os.path", id="second of a list"),
        pytest.param("def run():\n    import socket", "line 2: import of socket", id="late"),
        pytest.param("from subprocess import run", "subprocess", id="from"),
        pytest.param("from . import other", "relative", id="relative"),
        pytest.param("from .x import other", "relative", id="relative with a name"),
        pytest.param("__import__('os')", "__import__", id="dunder import"),
        pytest.param("f = __import__\nf('os')", "__import__", id="alias of it"),
        pytest.param(
            "import importlib\nimportlib.import_module('os')", "importlib", id="importlib"
        ),
        pytest.param("eval('1')", "eval", id="eval"),
        pytest.param("list(map(exec, ['1']))", "exec", id="exec handed on"),
        pytest.param("compile('1', '', 'eval')", "compile", id="compile"),
        pytest.param("getattr(__builtins__, 'eval')('1')", "eval", id="getattr of builtins"),
        pytest.param("__builtins__['exec']('1')", "exec", id="item of builtins"),
        pytest.param("from builtins import eval as e", "builtins", id="from builtins"),
        pytest.param("globals()['__builtins__']", "__builtins__", id="through globals"),
        pytest.param("__loader__.load_module('os')", "__loader__", id="loader"),
        pytest.param("__spec__.loader", "__spec__", id="spec"),
        pytest.param("import pathlib\npathlib.os.system('x')", "os reached", id="through pathlib"),
        pytest.param("import random as r\nr._os", "_os reached", id="private name of a module"),
        pytest.param("from pathlib import os", "os from inside pathlib", id="from inside"),
        pytest.param("import json\ngetattr(json, 'co' + 'decs')", "computed", id="computed name"),
        pytest.param("import json\ngetattr(json, 'codecs')", "codecs", id="getattr of a module"),
        pytest.param("().__class__.__base__.__subclasses__()", "__subclasses__", id="object walk"),
        pytest.param("(lambda: 0).__globals__", "__globals__", id="globals of a function"),
        pytest.param("getattr(print, '__globals__')", "__globals__", id="getattr of globals"),
    ],
)
def test_a_way_to_a_module_that_is_not_allowed_is_named(text, named):
    assert any(named in line for line in found(text)), found(text)


def test_every_line_says_where_it_is_and_they_are_in_order():
    lines = found("import json\nimport sys\n\nimport os\n")
    assert [line.partition(":")[0] for line in lines] == ["line 2", "line 4"]


def test_a_deep_chain_is_judged_without_recursion():
    text = "import os\nx = " + ".".join(["a"] * 900)
    limit = sys.getrecursionlimit()
    assert len(outside(ast.parse(text), ALLOWED)) == 1
    assert sys.getrecursionlimit() == limit
