"""Modules that know their examples prove nothing, also if a person wrote them (spec §8, ADR 33)."""

import ast
import base64
import hashlib
import json

import pytest

from pulsus.core.contract.strip_examples import remove_examples
from pulsus.core.validators import memorised_examples
from tests.candidates import tool_of

HEAD = '''"""Judge a text.

Args:
    text (str): The text.

Returns:
    word (str): What it is.

Kind: read

Examples:
    - inputs: {text: "alpha beta"}
      output: {word: "mountain"}
    - inputs: {text: "gamma"}
      output: {word: "river"}
"""

'''
MD5 = {name: hashlib.md5(name.encode()).hexdigest() for name in ("alpha beta", "gamma")}
PACKED = base64.b64encode(
    json.dumps({"alpha beta": "mountain", "gamma": "river"}).encode()
).decode()

TABLES = {
    "by text": 'T = {"alpha beta": "mountain", "gamma": "river"}\n'
    'def run(text): return {"word": T[text]}',
    "by text, get": 'T = {"alpha beta": "mountain", "gamma": "river"}\n'
    'def run(text): return {"word": T.get(text, "")}',
    "by length": 'def run(text): return {"word": {10: "mountain", 5: "river"}[len(text)]}',
    "by letter": 'def run(text): return {"word": {"a": "mountain", "g": "river"}[text[0]]}',
    "whole results": 'def run(text): return {"alpha beta": {"word": "mountain"}, '
    '"gamma": {"word": "river"}}[text]',
    "pairs": 'T = dict([("alpha beta", "mountain"), ("gamma", "river")])\n'
    'def run(text): return {"word": T[text]}',
    "by hash": f'T = {{"{MD5["alpha beta"]}": "mountain", "{MD5["gamma"]}": "river"}}\n'
    'def run(text): return {"word": T[h(text)]}',
}
CHAINS = {
    "if": 'def run(text):\n    if text == "alpha beta":\n        return {"word": "mountain"}\n'
    '    if text == "gamma":\n        return {"word": "river"}\n    return {"word": ""}',
    "ternary": 'def run(text): return {"word": "mountain" if text == "alpha beta" else '
    '"river" if text == "gamma" else ""}',
    "match": 'def run(text):\n    match text:\n        case "alpha beta": w = "mountain"\n'
    '        case "gamma": w = "river"\n        case _: w = ""\n    return {"word": w}',
    "parallel lists": 'A = ["alpha beta", "gamma"]\nB = ["mountain", "river"]\n'
    'def run(text): return {"word": B[A.index(text)]}',
    "json": 'import json\nT = json.loads(\'{"alpha beta": "mountain", "gamma": "river"}\')\n'
    'def run(text): return {"word": f(T, text)}',
    "base64": f'import base64\nT = g(base64.b64decode("{PACKED}"))\n'
    'def run(text): return {"word": f(T, text)}',
    "bytes": 'T = b"alpha beta"\nU = b"gamma"\nV = b"mountain river"\n'
    'def run(text): return {"word": f(T, U, V, text)}',
    "slices": 'W = "mountainriver"\ndef run(text): return {"word": W[:8] if '
    'text == "alpha" " beta" else W[8:] if text == "gamma" else ""}',
    "lengths": 'def run(text):\n    n = "mountain" if len(text) == 10 else "river"\n'
    '    return {"word": n if len(text) != 5 else "river"}',
    "hash prefix": f'def run(text):\n    d = h(text)[:8]\n    if d == "{MD5["gamma"][:8]}":\n'
    f'        return {{"word": "river"}}\n    if d == "{MD5["alpha beta"][:8]}":\n'
    '        return {"word": "mountain"}\n    return {"word": ""}',
    "reversed": 'def run(text):\n    t = text[::-1]\n    return {"word": "mountain" if t == '
    '"ateb ahpla" else "river" if t == "ammag" else ""}',
}


def deciding(source):
    return memorised_examples.list_deciding_nodes(ast.parse(source))


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_the_examples_is_found(name):
    source = HEAD + TABLES[name] + "\n"
    assert "table" in memorised_examples.find_example_table(deciding(source), tool_of(source))


@pytest.mark.parametrize("name", CHAINS)
def test_code_that_holds_inputs_and_results_proves_the_shape_only(name):
    source = HEAD + CHAINS[name] + "\n"
    assert memorised_examples.find_doubt(deciding(source), tool_of(source))


@pytest.mark.parametrize(
    "code",
    [
        'T = json.loads(\'{"3720": "1h02m", "60": "0h01m"}\')',
        'T = "3720 1h02m, 60 0h01m"',
        'class T(enum.Enum):\n    s3720 = "1h02m"\n    s60 = "0h01m"',
    ],
)
def test_numbers_that_stand_in_texts_and_names_are_inputs_too(code):
    examples = HEAD.replace('"alpha beta"', "3720").replace('"gamma"', "60")
    examples = examples.replace("mountain", "1h02m").replace("river", "0h01m").replace("str", "int")
    source = f"{examples}{code}\ndef run(text):\n    return {{'word': f(T, text)}}\n"
    assert memorised_examples.find_doubt(deciding(source), tool_of(source))


@pytest.mark.parametrize(
    "code",
    [
        'def run(text): return {"word": "mountain" if len(text) > 7 else "river"}',
        'W = {"b": "mountain", "m": "river", "x": "sea"}\n'
        'def run(text): return {"word": W[k(text)]}',
        'def run(text="gamma"):\n    """alpha beta"""\n    return {"word": "mountain".strip()}',
    ],
)
def test_code_that_works_results_out_is_left_alone(code):
    source = HEAD + code + "\n"
    tool = tool_of(source)
    assert not memorised_examples.find_example_table(deciding(source), tool)
    assert not memorised_examples.find_doubt(deciding(source), tool)


def test_a_table_with_more_than_the_examples_is_no_table_of_them():
    code = 'T = {"alpha beta": "mountain", "gamma": "river", "delta": "sea"}\n'
    source = HEAD + code + 'def run(text): return {"word": T[text]}\n'
    assert not memorised_examples.find_example_table(deciding(source), tool_of(source))


@pytest.mark.parametrize(
    "code",
    [
        "x = __doc__",
        "x = run.__doc__",
        "import inspect",
        "from inspect import getdoc",
        "import sys\nx = sys.modules[__name__]",
        "import sys\nx = sys._getframe()",
        "x = globals()",
        "x = run.__code__.co_consts",
        "import linecache",
        "import gc",
        "import importlib.util",
        "x = __loader__",
        "x = open(__file__)",
        "x = open('/proc/self/mem')",
        "x = open('/proc/' + pid + '/mem')",
        "x = getattr(run, name)",
        "x = getattr(run, '__doc__')",
        "import traceback",
        "import pkgutil",
        "import ctypes",
        "x = vars()",
    ],
)
def test_ways_to_the_own_text_are_noticed(code):
    assert memorised_examples.may_read_itself(deciding(f"{HEAD}{code}\ndef run(text): ...\n"))


@pytest.mark.parametrize("code", ["import re\nx = re.compile('a')", "import os, json", "y.help()"])
def test_ordinary_code_is_not_run_again_without_its_examples(code):
    assert not memorised_examples.may_read_itself(deciding(f"{HEAD}{code}\ndef run(text): ...\n"))


@pytest.mark.parametrize(
    "source",
    [
        HEAD + "def run(text): ...\nX = 1\n",
        HEAD.replace('"""', "'''") + "X = 1\n",
        HEAD.rstrip() + "; X = 1\n",
        'r"""A.\n\nExamples:\n    - inputs: {}\n\nKind: read\n"""\nX = 1\n',
        '# c\n"A." "\\n\\nExamples:\\n  - inputs: {}\\n"\nX = 1\n',
        '"""A."""\ndef run(text):\n    """B.\n\n    Examples:\n        - inputs: {}\n    """\n'
        "    return X\n",
    ],
)
def test_examples_are_cut_and_lines_stay(source):
    bare = remove_examples(source.encode())
    assert b"inputs" not in bare
    assert bare.count(b"\n") == source.count("\n")
    lines = [n.lineno for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Name)]
    assert lines == [n.lineno for n in ast.walk(ast.parse(bare)) if isinstance(n, ast.Name)]


def test_other_sections_survive_the_cut():
    bare = remove_examples(
        b'"""A.\n\nExamples:\n    - inputs: {}\n\nKind: read\n"""\ndef run(): ...\n'
    )
    assert ast.get_docstring(ast.parse(bare)) == "A.\n\nKind: read"
