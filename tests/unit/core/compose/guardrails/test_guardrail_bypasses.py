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


@pytest.mark.parametrize(
    ("head", "body"),
    [
        pytest.param("", "o = open\no('x', 'w')", id="alias"),
        pytest.param("", "(o := open)('x', 'w')", id="walrus"),
        pytest.param("", "list(map(open, ['x'], ['w']))", id="map"),
        pytest.param(
            "import itertools", "list(itertools.starmap(open, [('x', 'w')]))", id="starmap"
        ),
        pytest.param("import functools", "functools.partial(open)('x', 'w')", id="partial"),
        pytest.param("import functools", "functools.reduce(open, ['x', 'w'])", id="reduce"),
        pytest.param("", "(lambda f=open: f('x', 'w'))()", id="default of a lambda"),
        pytest.param("", "def _f(f=open):\n    return f('x', 'w')\n_f()", id="default"),
        pytest.param("", "[f('x', 'w') for f in [open]]", id="comprehension"),
        pytest.param("", "{'o': open}['o']('x', 'w')", id="dict"),
        pytest.param("", "for f in (open,):\n    f('x', 'w')", id="loop"),
        pytest.param("", "class _A:\n    o = open\n_A.o('x', 'w')", id="class attribute"),
        pytest.param("", "@open\ndef _f(): ...", id="decorator"),
        pytest.param("", "class _A:\n    o = property(open)", id="property"),
        pytest.param("", "match open:\n    case o:\n        o('x', 'w')", id="match subject"),
        pytest.param("", "open('x', opener=text)", id="opener"),
        pytest.param("", "open('x', **{'mode': 'w'})", id="keywords of a dict"),
        pytest.param("", "open(*['x', 'w'])", id="arguments of a list"),
        pytest.param("", "open('x', 'r' if text else 'w')", id="mode by condition"),
        pytest.param("", "open('x', 'r+')", id="plus"),
        pytest.param("", "open('x', ('w'))", id="brackets"),
        pytest.param("", "def open(*a): return a", id="shadow"),
        pytest.param("", "print(open.__self__)", id="self of a builtin"),
        pytest.param(PATH, "w = Path('x').write_text\nw('')", id="bound method"),
        pytest.param(PATH, "list(map(Path.write_text, [Path('x')], ['']))", id="method in map"),
        pytest.param(PATH, "getattr(Path, 'write_text')(Path('x'), '')", id="getattr"),
        pytest.param(PATH, "getattr(Path('x'), 'op' + 'en')('w')", id="getattr of a made name"),
        pytest.param(PATH, "getattr(Path('x'), 'open')('w')", id="getattr of open"),
        pytest.param(PATH, "Path('x').open(mode='w')", id="mode by name"),
        pytest.param(PATH, "Path.open('x', 'w')", id="unbound open"),
        pytest.param(PATH, "Path.open(Path('x'), mode='w')", id="unbound open by name"),
        pytest.param(PATH, "Path('x').open(*['w'])", id="starred mode"),
        pytest.param(PATH, "Path('x').open(**{'mode': 'w'})", id="mode of a dict"),
        pytest.param(PATH, "Path.replace('a', 'b')", id="unbound replace"),
        pytest.param(PATH, "Path('a').replace(target='b')", id="replace by name"),
        pytest.param(PATH, "Path('a').replace(*['b'])", id="replace starred"),
        pytest.param(PATH, "P = Path\nP.replace('a', 'b')", id="class alias"),
        pytest.param(PATH, "type(Path()).replace('a', 'b')", id="class of an instance"),
        pytest.param(PATH, "t = type(Path())\nt.replace('a', 'b')", id="kept class"),
        pytest.param(PATH, "Path().__class__.replace('a', 'b')", id="__class__"),
        pytest.param(PATH, "for P in [Path]:\n    P.replace('a', 'b')", id="class in a loop"),
        pytest.param(PATH, "{'p': Path}['p'].replace('a', 'b')", id="class in a dict"),
        pytest.param(PATH, "class _P(Path): ...\n_P.replace('a', 'b')", id="subclass"),
        pytest.param(PATH, "(lambda c: c.replace('a', 'b'))(Path)", id="class as an argument"),
        pytest.param(PATH, "map = print\nmap(Path)", id="map of another meaning"),
        pytest.param("import pathlib", "pathlib.PosixPath.replace('a', 'b')", id="concrete class"),
        pytest.param("from pathlib import Path as p", "x = p\nx.replace('a', 'b')", id="by alias"),
        pytest.param(
            PATH, "match Path('x'):\n    case Path(write_text=w):\n        w('')", id="pattern"
        ),
        pytest.param(
            PATH, "match Path('x'):\n    case object(open=o):\n        o('w')", id="open=o"
        ),
        pytest.param(
            "", "match run:\n    case object(__globals__=g): ...", id="globals by pattern"
        ),
        pytest.param("", "class _A:\n    __match_args__ = ('open',)", id="match args"),
        pytest.param("", "(c for c in text).gi_frame.f_builtins['open']('x', 'w')", id="frame"),
        pytest.param("", "getattr((c for c in text), 'gi_frame')", id="frame by getattr"),
        pytest.param("", "try: ...\nexcept OSError as e: e.__traceback__.tb_frame", id="traceback"),
        pytest.param("", "'{0.__globals__}'.format(run)", id="format of a global"),
        pytest.param("", "'{:{0.__doc__}}'.format(run)", id="format in a format"),
        pytest.param("", "text.format(run)", id="format of any text"),
        pytest.param("", "str.format('{0.__globals__}', run)", id="unbound format"),
        pytest.param("", "f = '{0.__globals__}'.format\nf(run)", id="format as a value"),
        pytest.param("", "text.format_map({})", id="format_map"),
        pytest.param("", "getattr('{0.__doc__}', 'format')(run)", id="format by getattr"),
        pytest.param("", "vars(text)", id="vars"),
        pytest.param("", "run.__dict__", id="__dict__"),
        pytest.param("", "help(text)", id="help"),
        pytest.param("", "super().__getattribute__('open')", id="getattribute"),
        pytest.param("", "object.__getattribute__(text, 'open')", id="getattribute of object"),
        pytest.param("", "type('A', (), {})", id="a class made by type"),
        pytest.param("", "class _A(metaclass=type): ...", id="metaclass"),
        pytest.param("", "int.mro()", id="mro"),
        pytest.param(PATH, "Path('x')._flavour.os", id="private attribute"),
        pytest.param(PATH, "Path('x').parser.os.remove('x')", id="os of a path"),
        pytest.param("import pathlib", "pathlib.Path.parser.os.remove('x')", id="os of a class"),
        pytest.param("from json import decoder", "decoder.scanner", id="module by from"),
        pytest.param("import dataclasses", "dataclasses._create_fn('f', [], [])", id="private"),
        pytest.param("from dataclasses import _create_fn", "_create_fn", id="private by from"),
        pytest.param("import typing", "typing.get_type_hints(run)", id="hints run as code"),
        pytest.param("from typing import ForwardRef as F", "F('open')", id="forward reference"),
        pytest.param("import functools", "functools.singledispatch(run)", id="singledispatch"),
        pytest.param(
            "import functools",
            "functools.update_wrapper(run, run, ('write_text',))",
            id="attributes copied by text",
        ),
        pytest.param(PATH, "type(open('a').buffer.raw)('b', 'w')", id="class of a raw file"),
        pytest.param("", "open('a').buffer.raw.__init__('b', 'w')", id="made anew"),
        pytest.param(
            "", "match open('a'):\n    case object(__class__=c): ...", id="class by pattern"
        ),
        pytest.param("", "open('a', 'r', -1, None, None, None, True, text)", id="opener by place"),
        pytest.param(
            f"{PATH}\nfrom typing import get_args",
            "get_args(Path | str)[0].replace('a', 'b')",
            id="class out of a union",
        ),
        pytest.param(PATH, "(Path | Path).replace('a', 'b')", id="union of one"),
        pytest.param(
            f"{PATH}\nfrom typing import Union", "Union[Path, Path].replace('a', 'b')", id="Union"
        ),
        pytest.param(
            f"{PATH}\nfrom typing import Annotated",
            "Annotated[Path, 1].replace('a', 'b')",
            id="Annotated",
        ),
        pytest.param(
            "from dataclasses import dataclass\nfrom typing import Protocol",
            "@dataclass\nclass _W(Protocol):\n    write_text: Any",
            id="field that a pattern takes of anything",
        ),
        pytest.param(
            "from dataclasses import make_dataclass", "make_dataclass('W', [text])", id="made class"
        ),
        pytest.param("", "c = text\nmatch text:\n    case c(w): ...", id="pattern of any class"),
        pytest.param(
            f"{PATH}\nimport dataclasses",
            "for dataclasses in [Path('a')]:\n    dataclasses.replace('b')",
            id="module of another meaning",
        ),
        pytest.param(
            f"{PATH}\nfrom typing import final as cast",
            "from typing import cast\ncast(Path)",
            id="import of two meanings",
        ),
        pytest.param(
            "from collections.abc import Sized",
            "class _W(Sized):\n    def __subclasshook__(cls, c): return True",
            id="class that passes for others",
        ),
        pytest.param(
            PATH,
            "class _W:\n    match ('a',):\n        case __match_args__: ...",
            id="match args by capture",
        ),
        pytest.param("", "for _ in text:\n    from math import pi as __annotations__", id="dunder"),
        pytest.param(
            "from collections import namedtuple",
            "class _W(namedtuple('N', ['a'])): ...\nmatch text:\n    case _W(w): ...",
            id="fields made while running",
        ),
        pytest.param("", "match type(text):\n    case t: ...", id="class as a subject"),
        pytest.param("", "match text.__class__:\n    case t: ...", id="__class__ as a subject"),
        pytest.param(
            "",
            "class _E:\n    def __eq__(self, o):\n        return True\ne = _E()\ntype(text) == e",
            id="class handed on by ==",
        ),
        pytest.param("", "type(text) in text", id="class handed on by in"),
        pytest.param("import json.tool", "json.tool.main()", id="command line of a module"),
        pytest.param("from re import _compiler", "_compiler", id="private submodule"),
        pytest.param(PATH, "for dict in [Path('a')]:\n    dict.copy('b')", id="copy of a shadow"),
        pytest.param("from builtins import *", "open", id="star"),
        pytest.param("from random import _os", "_os", id="private module"),
    ],
)
def test_functions_that_open_or_import_cannot_hide_behind_another_form(head, body):
    assert any(reason.startswith("line ") for reason in told(head, body))


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
