"""Ways to open, write or import that hide what they do (routing spec §7)."""

import sys

import pytest

from pulsus.core.compose.guardrails.all_rules import GuardrailRules, list_reasons
from tests.generation import MODULE, RULES, module
from tests.unit.core.compose.guardrails.test_guardrails import found, read

PATH = "from pathlib import Path"
ALL = GuardrailRules(frozenset(sys.stdlib_module_names))


def told(head, body, rules=RULES):
    return found(
        module(head=head, body="\n".join(f"    {line}" for line in body.split("\n"))), rules
    )


OTHER_FORMS = {
    "alias": ("", "o = open\no('x', 'w')"),
    "walrus": ("", "(o := open)('x', 'w')"),
    "map": ("", "list(map(open, ['x'], ['w']))"),
    "starmap": ("import itertools", "list(itertools.starmap(open, [('x', 'w')]))"),
    "partial": ("import functools", "functools.partial(open)('x', 'w')"),
    "reduce": ("import functools", "functools.reduce(open, ['x', 'w'])"),
    "default of a lambda": ("", "(lambda f=open: f('x', 'w'))()"),
    "default": ("", "def _f(f=open):\n    return f('x', 'w')\n_f()"),
    "comprehension": ("", "[f('x', 'w') for f in [open]]"),
    "dict": ("", "{'o': open}['o']('x', 'w')"),
    "loop": ("", "for f in (open,):\n    f('x', 'w')"),
    "class attribute": ("", "class _A:\n    o = open\n_A.o('x', 'w')"),
    "decorator": ("", "@open\ndef _f(): ..."),
    "property": ("", "class _A:\n    o = property(open)"),
    "match subject": ("", "match open:\n    case o:\n        o('x', 'w')"),
    "opener": ("", "open('x', opener=text)"),
    "keywords of a dict": ("", "open('x', **{'mode': 'w'})"),
    "arguments of a list": ("", "open(*['x', 'w'])"),
    "mode by condition": ("", "open('x', 'r' if text else 'w')"),
    "plus": ("", "open('x', 'r+')"),
    "brackets": ("", "open('x', ('w'))"),
    "shadow": ("", "def open(*a): return a"),
    "self of a builtin": ("", "print(open.__self__)"),
    "bound method": (PATH, "w = Path('x').write_text\nw('')"),
    "method in map": (PATH, "list(map(Path.write_text, [Path('x')], ['']))"),
    "getattr": (PATH, "getattr(Path, 'write_text')(Path('x'), '')"),
    "getattr of a made name": (PATH, "getattr(Path('x'), 'op' + 'en')('w')"),
    "getattr of open": (PATH, "getattr(Path('x'), 'open')('w')"),
    "mode by name": (PATH, "Path('x').open(mode='w')"),
    "unbound open": (PATH, "Path.open('x', 'w')"),
    "unbound open by name": (PATH, "Path.open(Path('x'), mode='w')"),
    "starred mode": (PATH, "Path('x').open(*['w'])"),
    "mode of a dict": (PATH, "Path('x').open(**{'mode': 'w'})"),
    "unbound replace": (PATH, "Path.replace('a', 'b')"),
    "replace by name": (PATH, "Path('a').replace(target='b')"),
    "replace starred": (PATH, "Path('a').replace(*['b'])"),
    "class alias": (PATH, "P = Path\nP.replace('a', 'b')"),
    "class of an instance": (PATH, "type(Path()).replace('a', 'b')"),
    "kept class": (PATH, "t = type(Path())\nt.replace('a', 'b')"),
    "__class__": (PATH, "Path().__class__.replace('a', 'b')"),
    "class in a loop": (PATH, "for P in [Path]:\n    P.replace('a', 'b')"),
    "class in a dict": (PATH, "{'p': Path}['p'].replace('a', 'b')"),
    "subclass": (PATH, "class _P(Path): ...\n_P.replace('a', 'b')"),
    "class as an argument": (PATH, "(lambda c: c.replace('a', 'b'))(Path)"),
    "map of another meaning": (PATH, "map = print\nmap(Path)"),
    "concrete class": ("import pathlib", "pathlib.PosixPath.replace('a', 'b')"),
    "by alias": ("from pathlib import Path as p", "x = p\nx.replace('a', 'b')"),
    "pattern": (PATH, "match Path('x'):\n    case Path(write_text=w):\n        w('')"),
    "open=o": (PATH, "match Path('x'):\n    case object(open=o):\n        o('w')"),
    "globals by pattern": ("", "match run:\n    case object(__globals__=g): ..."),
    "match args": ("", "class _A:\n    __match_args__ = ('open',)"),
    "frame": ("", "(c for c in text).gi_frame.f_builtins['open']('x', 'w')"),
    "frame by getattr": ("", "getattr((c for c in text), 'gi_frame')"),
    "traceback": ("", "try: ...\nexcept OSError as e: e.__traceback__.tb_frame"),
    "format of a global": ("", "'{0.__globals__}'.format(run)"),
    "format in a format": ("", "'{:{0.__doc__}}'.format(run)"),
    "format of any text": ("", "text.format(run)"),
    "unbound format": ("", "str.format('{0.__globals__}', run)"),
    "format as a value": ("", "f = '{0.__globals__}'.format\nf(run)"),
    "format_map": ("", "text.format_map({})"),
    "format by getattr": ("", "getattr('{0.__doc__}', 'format')(run)"),
    "vars": ("", "vars(text)"),
    "__dict__": ("", "run.__dict__"),
    "help": ("", "help(text)"),
    "getattribute": ("", "super().__getattribute__('open')"),
    "getattribute of object": ("", "object.__getattribute__(text, 'open')"),
    "a class made by type": ("", "type('A', (), {})"),
    "metaclass": ("", "class _A(metaclass=type): ..."),
    "mro": ("", "int.mro()"),
    "private attribute": (PATH, "Path('x')._flavour.os"),
    "os of a path": (PATH, "Path('x').parser.os.remove('x')"),
    "os of a class": ("import pathlib", "pathlib.Path.parser.os.remove('x')"),
    "module by from": ("from json import decoder", "decoder.scanner"),
    "private": ("import dataclasses", "dataclasses._create_fn('f', [], [])"),
    "private by from": ("from dataclasses import _create_fn", "_create_fn"),
    "hints run as code": ("import typing", "typing.get_type_hints(run)"),
    "forward reference": ("from typing import ForwardRef as F", "F('open')"),
    "singledispatch": ("import functools", "functools.singledispatch(run)"),
    "attributes copied by text": (
        "import functools",
        "functools.update_wrapper(run, run, ('write_text',))",
    ),
    "class of a raw file": (PATH, "type(open('a').buffer.raw)('b', 'w')"),
    "made anew": ("", "open('a').buffer.raw.__init__('b', 'w')"),
    "class by pattern": ("", "match open('a'):\n    case object(__class__=c): ..."),
    "opener by place": ("", "open('a', 'r', -1, None, None, None, True, text)"),
    "class out of a union": (
        f"{PATH}\nfrom typing import get_args",
        "get_args(Path | str)[0].replace('a', 'b')",
    ),
    "union of one": (PATH, "(Path | Path).replace('a', 'b')"),
    "Union": (f"{PATH}\nfrom typing import Union", "Union[Path, Path].replace('a', 'b')"),
    "Annotated": (f"{PATH}\nfrom typing import Annotated", "Annotated[Path, 1].replace('a', 'b')"),
    "field that a pattern takes of anything": (
        "from dataclasses import dataclass\nfrom typing import Protocol",
        "@dataclass\nclass _W(Protocol):\n    write_text: Any",
    ),
    "made class": ("from dataclasses import make_dataclass", "make_dataclass('W', [text])"),
    "pattern of any class": ("", "c = text\nmatch text:\n    case c(w): ..."),
    "module of another meaning": (
        f"{PATH}\nimport dataclasses",
        "for dataclasses in [Path('a')]:\n    dataclasses.replace('b')",
    ),
    "import of two meanings": (
        f"{PATH}\nfrom typing import final as cast",
        "from typing import cast\ncast(Path)",
    ),
    "class that passes for others": (
        "from collections.abc import Sized",
        "class _W(Sized):\n    def __subclasshook__(cls, c): return True",
    ),
    "match args by capture": (
        PATH,
        "class _W:\n    match ('a',):\n        case __match_args__: ...",
    ),
    "dunder": ("", "for _ in text:\n    from math import pi as __annotations__"),
    "fields made while running": (
        "from collections import namedtuple",
        "class _W(namedtuple('N', ['a'])): ...\nmatch text:\n    case _W(w): ...",
    ),
    "class as a subject": ("", "match type(text):\n    case t: ..."),
    "__class__ as a subject": ("", "match text.__class__:\n    case t: ..."),
    "class handed on by ==": (
        "",
        "class _E:\n    def __eq__(self, o):\n        return True\ne = _E()\ntype(text) == e",
    ),
    "class handed on by in": ("", "type(text) in text"),
    "command line of a module": ("import json.tool", "json.tool.main()"),
    "private submodule": ("from re import _compiler", "_compiler"),
    "copy of a shadow": (PATH, "for dict in [Path('a')]:\n    dict.copy('b')"),
    "star": ("from builtins import *", "open"),
    "private module": ("from random import _os", "_os"),
}


def test_functions_that_open_or_import_cannot_hide_behind_another_form():
    reasons = {form: told(*code) for form, code in OTHER_FORMS.items()}
    missed = {
        form: said
        for form, said in reasons.items()
        if not any(reason.startswith("line ") for reason in said)
    }
    assert missed == {}


@pytest.mark.parametrize(
    ("head", "body"),
    [
        pytest.param("import io", "io.open('x', 'w')", id="io.open"),
        pytest.param("from io import open as o", "o('x', 'w')", id="io.open by from"),
        pytest.param("import io", "f = io.open", id="io.open as a value"),
        pytest.param("import io", "io.FileIO('x', 'w')", id="FileIO"),
        pytest.param("import os", "os.remove('x')", id="os.remove"),
        pytest.param("from os import remove as r", "r('x')", id="os.remove by from"),
        pytest.param("import os", "f = os.open", id="os.open as a value"),
        pytest.param("import os", "os.path.os.remove('x')", id="os of os.path"),
        pytest.param("import os", "os.fdopen(1, 'w')", id="fdopen"),
        pytest.param("import shutil", "shutil.copy('a', 'b')", id="shutil"),
        pytest.param("import tempfile", "tempfile.mkstemp()", id="tempfile"),
        pytest.param("import fileinput", "fileinput.input('x', inplace=True)", id="fileinput"),
        pytest.param("import sqlite3", "sqlite3.connect('x')", id="sqlite3"),
        pytest.param("import zipfile", "zipfile.ZipFile('x', 'w')", id="zip"),
        pytest.param("import tarfile", "tarfile.open('x', 'w:gz')", id="tar"),
        pytest.param("import gzip", "gzip.open('x', 'wb')", id="gzip"),
        pytest.param("import operator", "operator.methodcaller('open', 'w')", id="methodcaller"),
        pytest.param("from operator import attrgetter", "attrgetter('open')", id="attrgetter"),
        pytest.param("import sys", "sys.modules['os']", id="sys.modules"),
        pytest.param("import sys", "sys._getframe()", id="frame"),
        pytest.param("import importlib", "importlib.import_module('os')", id="importlib"),
        pytest.param("import builtins", "builtins.open('x', 'w')", id="builtins"),
        pytest.param("import timeit", "timeit.timeit('1')", id="timeit"),
        pytest.param("import types", "types.FunctionType(text, {})", id="FunctionType"),
        pytest.param("import logging", "logging.FileHandler('x')", id="log file"),
        pytest.param("import string", "string.Formatter().get_field('a', (), {})", id="Formatter"),
    ],
)
def test_modules_a_project_allows_besides_do_not_write_either(head, body):
    assert any(reason.startswith("line ") for reason in told(head, body, ALL))


@pytest.mark.parametrize(
    ("head", "body"),
    [
        pytest.param(PATH, "with Path(text).open(encoding='utf-8') as f:\n    f.read()", id="path"),
        pytest.param(PATH, "with Path(text).open('r', newline='') as f:\n    f.read()", id="mode"),
        pytest.param("", "with open(text, 'rb') as f:\n    f.read()", id="open"),
        pytest.param("", "open(file=text, mode='r', encoding='utf-8').close()", id="by name"),
        pytest.param(PATH, "isinstance(text, (str, Path))", id="isinstance"),
        pytest.param(PATH, "sorted(map(Path, [text]))", id="map of a class"),
        pytest.param(PATH, "rows: list[Path] = []\nrows.append(Path(text))", id="type"),
        pytest.param(PATH, "[p for p in Path(text).glob('*') if p.is_file()]", id="glob"),
        pytest.param(PATH, "Path.cwd() / Path.home()", id="class methods"),
        pytest.param(PATH, "sorted([Path(text)], key=Path.as_posix)", id="reading method"),
        pytest.param(
            PATH, "match Path(text):\n    case Path(name=n):\n        n.upper()", id="match"
        ),
        pytest.param(
            PATH, "def _f(p: Path | None = None) -> Path | None:\n    return p", id="hints"
        ),
        pytest.param("", "text.replace('a', 'b').replace('c', 'd', 1)", id="replace"),
        pytest.param(
            "from datetime import UTC, datetime",
            "datetime(2024, 1, 1).replace(tzinfo=UTC, hour=1)",
            id="replace of a date",
        ),
        pytest.param(
            "from dataclasses import dataclass, field, replace",
            "@dataclass\nclass _A:\n    _n: int = 0\n    rows: list[str] = field("
            "default_factory=list)\n    def up(self) -> int:\n        return self._n\n"
            "replace(_A(), rows=[text])",
            id="dataclass",
        ),
        pytest.param("", "'{:>5} {name}'.format(1, name=2)", id="format"),
        pytest.param("", "f'{text!r:>{len(text)}}'", id="f-string"),
        pytest.param("", "type(text).__name__ == 'str' and type(text) is str", id="type"),
        pytest.param("", "type(text) in (str, bytes) or type(text) == type('')", id="types"),
        pytest.param("", "rows = [1]\nrows.copy()\ndict.copy({})", id="copy"),
        pytest.param(
            "from collections import namedtuple",
            "_P = namedtuple('_P', 'a b')\n_P(1, 2)._replace(a=2)._asdict()",
            id="namedtuple",
        ),
        pytest.param(
            "from collections import Counter", "Counter(text).most_common(1)", id="Counter"
        ),
        pytest.param("import json", "json.loads(text, parse_float=str)", id="json"),
        pytest.param("import csv", "list(csv.DictReader(text.splitlines()))", id="csv"),
        pytest.param("import re", "re.compile(r'a').sub(lambda m: m[0], text)", id="re"),
        pytest.param("import itertools", "list(itertools.starmap(pow, [(1, 2)]))", id="starmap"),
        pytest.param("import functools", "functools.partial(int, base=2)('1')", id="partial"),
        pytest.param("", "getattr(text, 'upper', None)", id="getattr"),
        pytest.param("", "raise ValueError(f'{text}: no number; give one') from None", id="raise"),
        pytest.param("", "try:\n    int(text)\nexcept ValueError as e:\n    str(e)", id="except"),
        pytest.param("", "def _walk(rows: list[str]) -> int:\n    return len(rows)", id="helper"),
    ],
)
def test_genuine_code_is_not_taken_for_a_way_around(head, body):
    assert told(head, body) == ()


@pytest.mark.parametrize(
    ("head", "body"),
    [
        pytest.param("import os", "os.path.getsize(text) + len(os.listdir(text))", id="os"),
        pytest.param("import io", "io.StringIO(text).read()", id="io"),
        pytest.param("import shutil", "shutil.which(text)", id="shutil"),
        pytest.param(
            "import zipfile",
            "with zipfile.ZipFile(text) as z:\n    z.open('x', 'r').read()",
            id="zip",
        ),
        pytest.param("import gzip", "gzip.open(text, 'rt').read()", id="gzip"),
        pytest.param("import tarfile", "tarfile.open(text, 'r:*').getnames()", id="tar"),
        pytest.param(
            "import operator", "sorted([(1, 2)], key=operator.itemgetter(1))", id="operator"
        ),
        pytest.param("import os.path", "os.path.join(text, 'a')", id="submodule"),
        pytest.param("import urllib.parse", "urllib.parse.quote(text)", id="package"),
    ],
)
def test_reading_with_a_module_a_project_allows_passes(head, body):
    assert told(head, body, ALL) == ()


def test_a_class_is_no_type_where_annotations_are_values():
    fields = (
        "@dataclass\nclass _A:\n    p: Path\nfields(_A)[0].type.replace('a', 'b')",
        "from dataclasses import dataclass, fields\nfrom pathlib import Path",
    )
    code = module(body="\n".join(f"    {line}" for line in fields[0].split("\n")), head=fields[1])
    assert found(code) == ()
    assert found(code.replace("import annotations", "import division"))


def test_a_module_nested_too_deep_to_be_read_is_refused():
    deep = module(body=f"    text{'.a' * 1500}").encode()
    tool = read(MODULE.encode())
    assert list_reasons(deep, tool, RULES) in (
        (),  # Python's own parser gave up before
        ("it is nested too deep to be read: write it in smaller steps",),
    )


def test_a_refusal_names_the_line_and_what_to_write_instead():
    (reason,) = told("", "o = open")
    line = module(body="    o = open").splitlines().index("    o = open") + 1
    assert reason.startswith(f"line {line}: open is passed on as a value: call it")
