"""A module's text is refused if it could do what its contract rules out (ADR 33)."""

import pytest

from pulsus.core.validators.effects import constant_targets
from tests.candidates import tool_of

HEAD = '''"""Tell.

Kind: {kind}
Effects:
    paths: {paths}
    hosts: {hosts}
    commands: {commands}
"""
{imports}


def run(text: str, level: int = 0) -> dict[str, bool]:
    """Tell."""
    if level > 90:
        {code}
    return {{"ok": True}}
'''


def _beyond(code, imports="", *, kind="read", paths="none", hosts="none", commands="none"):
    code = code.replace("\n", "\n        ")
    text = HEAD.format(
        kind=kind, paths=paths, hosts=hosts, commands=commands, imports=imports, code=code
    )
    return constant_targets.judge_source(tool_of(text), constant_targets.read_index(text.encode()))[
        0
    ].exceeded


@pytest.mark.parametrize(
    ("imports", "code"),
    [
        ("import os", "list(map(os.unlink, [text]))"),
        ("import os as system", "system.remove(text)"),
        ("from os import unlink as tidy", "tidy(text)"),
        ("from os import *", "unlink(text)"),
        ("import os", "remove = os.remove\nremove(text)"),
        ("import os", 'getattr(os, "un" + "link")(text)'),
        ("import os", 'vars(os)["unlink"](text)'),
        ("import os", 'os.__dict__["unlink"](text)'),
        ("import sys", 'sys.modules["os"].unlink(text)'),
        ("import importlib", 'importlib.import_module("os").unlink(text)'),
        ("", '__import__("os").unlink(text)'),
        ("import pathlib", "pathlib.os.unlink(text)"),
        ("import tempfile", "tempfile._os.unlink(text)"),
        ("import posix", "posix.unlink(text)"),
        ("import os", "where = level\ngetattr(os, text)(where)"),
        ("from pathlib import Path", "Path(text).unlink()"),
        ("from pathlib import Path", "any(map(Path.unlink, [Path(text)]))"),
        ("from pathlib import Path", "Path(text).replace(text)"),
        ("import operator", 'operator.methodcaller("unlink")(text)'),
        ("", 'open(text, "w")'),
        ("", 'open(text, mode="r+")'),
        ("", "open(text, text)"),
        ("from functools import partial", 'partial(open, mode="a")(text)'),
        ("import gzip", 'opener = gzip.open if text else open\nopener(text, "wb")'),
        ("import gzip", '{"z": gzip.open}[text](text, "wb")'),
        ("from pathlib import Path", 'Path(text).open("w")'),
        ("import os", "os.open(text, os.O_RDWR)"),
        ("import os", "os.open(text, 66)"),
        ("import os", "os.open(text, level)"),
        ("import shutil", "shutil.copy(text, text)"),
        ("import logging", "logging.FileHandler(text)"),
        ("import logging.handlers", "logging.handlers.RotatingFileHandler(text)"),
        ("import logging", "logging.basicConfig(filename=text)"),
        ("import cProfile", "cProfile.Profile().dump_stats(text)"),
        ("import zipfile", "zipfile.ZipFile(text).extractall(text)"),
        ("import tarfile", "tarfile.open(text).extract(text)"),
        ("import zipfile", 'zipfile.ZipFile(text, "a")'),
        ("import sqlite3", "sqlite3.connect(text)"),
        ("import sqlite3", 'sqlite3.connect(":memory:").execute("VACUUM INTO ?", [text])'),
        ("import sqlite3", 'sqlite3.connect(":memory:").execute("attach ? as x", [text])'),
        ("import tempfile", "tempfile.mkstemp(dir=text)"),
        ("import tempfile\nfrom pathlib import Path", 'Path(tempfile.mkdtemp(), "/etc/x").touch()'),
        ("", 'open(*(text, "a"))'),
        ("", 'open(**{"file": text, "mode": "a"})'),
        ("import os", "os.open(*(text, 65))"),
        (
            "import io, zipfile",
            "with zipfile.ZipFile(io.BytesIO()) as made:\n    made.extractall(text)",
        ),
        (
            "import tempfile\nfrom pathlib import Path",
            "Path(tempfile.mkdtemp(), text).rename(text)",
        ),
        ("import os", "os.kill(level, 9)"),
        ("import fileinput", "fileinput.input(text, inplace=True)"),
        ("", "exec(text)"),
        ("import pickle", "pickle.loads(text)"),
        ("import ctypes", "ctypes.CDLL(None).unlink(text)"),
        ("import ctypes", "getattr(ctypes.CDLL(None), text)()"),
        ("import ctypes", "libc = ctypes.CDLL(None)\nprint(libc)"),
    ],
)
def test_code_that_a_dry_run_does_not_reach_cannot_change_files_in_a_tool_that_reads(imports, code):
    assert _beyond(code, imports)


@pytest.mark.parametrize(
    "code",
    [
        "tempfile.mkstemp(prefix=text)",
        "tempfile.mkdtemp(text)",
        "tempfile.NamedTemporaryFile(suffix='/../../' + text)",
        "tempfile.NamedTemporaryFile(dir=text)",
        "tempfile.tempdir = text\ntempfile.mkdtemp()",
        'setattr(tempfile, "tempdir", text)',
        'os.environ["TMPDIR"] = text',
        'os.environ.update({"TMPDIR": text})',
        'os.putenv("TMP", text)',
        "Path(OWN, text).touch()",
        "(Path(OWN) / text).touch()",
        "(Path(OWN) / os.path.relpath(text, OWN)).touch()",
        'Path(OWN, "..", "x").touch()',
        'open(f"{OWN}/{text}", "w")',
        'open(f"{OWN}{level:/>9}", "w")',
        "Path(OWN).parent.joinpath('a').touch()",
        'Path(OWN, "a").parent.parent.joinpath("a").touch()',
        "Path(OWN, Path(text).name, Path(text).name).touch()",
        "shutil.rmtree(Path(OWN, Path(text).name))",
        'os.link(text, os.path.join(OWN, "a"))',
        'os.symlink(text, os.path.join(OWN, "a"))',
        'Path(OWN, "a").symlink_to(text)',
        'Path(OWN, "a").hardlink_to(text)',
        'shutil.copytree(text, os.path.join(OWN, "a"), symlinks=True)',
        'for each in (OWN, text):\n    open(os.path.join(each, "a"), "w")',
        "place = OWN\nplace = text\nopen(place, 'w')",
        "place = OWN\nplace, _ = text, 1\nopen(place, 'w')",
        "place = OWN\nwith text as place:\n    open(place, 'w')",
        "held = tempfile.TemporaryDirectory()\nheld.name = text\nheld.cleanup()",
        "held = tempfile.TemporaryDirectory()\nvars(held)['name'] = text",
        "held = tempfile.TemporaryDirectory()\nheld.__dict__['name'] = text",
        "def put(place):\n    open(place, 'w')\nput(OWN)\nmap(put, [text])",
        "def tempfile():\n    return text\nopen(OWN, 'w')",
        'open(OWN, "w", opener=text)',
        "place = Path(OWN)\nplace._str = text\nplace.touch()",
        "held = io.BytesIO()\nheld.name = text\nopen(held.name, 'w')",
        "held = io.BytesIO()\nsetattr(held, 'name', text)\nopen(held.name, 'w')",
    ],
)
def test_a_path_that_may_lie_elsewhere_is_not_a_temporary_file(code):
    imports = "import io, os, shutil, tempfile\nfrom pathlib import Path"
    assert _beyond(code.replace("OWN", "tempfile.mkdtemp()"), imports)


@pytest.mark.parametrize(
    "code",
    [
        "Path(OWN, Path(text).name).write_text(text)",
        'for i in range(level):\n    Path(OWN, f"part{i:03d}").touch()',
        'for i, part in enumerate(text):\n    open(f"{OWN}/{i}", "w")',
        'place = Path(OWN, "a", "b")\nplace.parent.mkdir()\nplace.touch()',
        'for each in Path(OWN).glob("*.txt"):\n    each.unlink()',
        'Path(OWN).joinpath("a").with_suffix(".txt").write_text(text)',
        'handle, place = tempfile.mkstemp(prefix="pulsus-")\nos.unlink(place)',
        'with tempfile.NamedTemporaryFile("w", suffix=".txt") as own:\n    open(own.name, "w")',
        "def put(place):\n    open(place, 'w')\nput(OWN)",
        "text.name = level",
        'os.environ["LC_ALL"] = "C"',
    ],
)
def test_files_below_a_temporary_folder_may_be_changed(code):
    imports = "import os, shutil, tempfile\nfrom pathlib import Path"
    if code == "text.name = level":
        imports = "import os"
    assert _beyond(code.replace("OWN", "tempfile.mkdtemp()"), imports) == ()


def test_a_name_of_another_function_is_another_name():
    helper = (
        "import tempfile\ndef keep():\n    place = tempfile.mkdtemp()\n    open(place + '/a', 'w')"
    )
    assert _beyond("place = text\nopen(place)", helper) == ()
    assert _beyond("place = text\nopen(place, 'w')", helper)


def test_a_class_of_the_name_tempfile_gives_no_temporary_folder():
    helper = (
        "class tempfile:\n    chosen = ''\n    @classmethod\n    def mkdtemp(cls):\n"
        "        return cls.chosen"
    )
    assert _beyond("open(tempfile.mkdtemp(), 'w')", helper)


@pytest.mark.parametrize(
    ("imports", "code"),
    [
        ("import os", "os.devnull = text\nopen(os.devnull, 'w')"),
        ("import os", "for os.devnull in [text]:\n    open(os.devnull, 'w')"),
        ("import sys", "sys.pycache_prefix = text"),
        ("import json", "json.dumps = text"),
        ("import ssl", "text.keylog_filename = text"),
        ("import ssl", 'setattr(text, "keylog_filename", text)'),
        ("import os", "match os:\n    case object(mkdir=made):\n        made(text)"),
        ("", "match text:\n    case object(unlink=gone):\n        gone()"),
        ("import string", 'string.Formatter().get_field("0.touch", (text,), {})'),
        ("import string", 'print("{0.unlink}".format(text))'),
        ("import os", "{f.__name__: f for f in os.supports_dir_fd}[text](text)"),
        ("import os", "list(vars(os).values())[level](text)"),
        ("import sys", "sys.modules[text].remove(text)"),
        ("import functools, os", 'functools.reduce(getattr, ["unlink"], os)(text)'),
        ("", "print.__self__.open(text, text)"),
        ("", 'object.__getattribute__(text, "unlink")'),
        ("", "made = open(text, buffering=0).__class__\nmade(text, text)"),
        ("", 'type(open(text, "rb", 0))(text, "w")'),
        ("import io", 'io.FileIO.__init__(io.FileIO(text), text, "w")'),
        ("", 'mode = "r"\n(mode, _) = (text, 1)\nopen(text, mode)'),
        ("", "breakpoint(text)"),
        ("import doctest", "doctest.run_docstring_examples(text, {})"),
        ("from importlib.metadata import EntryPoint", 'EntryPoint("a", text, "b").load()(text)'),
        ("import pydoc", "pydoc.locate(text)(text)"),
        ("import pkgutil", "pkgutil.resolve_name(text)(text)"),
        ("import pkgutil", "list(pkgutil.walk_packages([text]))"),
        ("import typing", "typing.get_type_hints(text)"),
        ("import inspect", "inspect.signature(text, eval_str=True)"),
        ("import tracemalloc", "tracemalloc.Snapshot.load(text)"),
        ("import site", "site.addsitedir(text)"),
        ("import argparse", 'argparse.FileType("w")(text)'),
        ("import xml.etree.ElementTree as ET", "ET.ElementTree(text).write(text)"),
        ("from fileinput import FileInput", "FileInput(text, True)"),
        ("import dbm", 'dbm.open(text, "c")'),
        ("import tkinter", "tkinter.Tcl().eval(text)"),
        ("import sqlite3", 'sqlite3.connect(f"file:{text}#?mode=ro", uri=True)'),
        ("import sqlite3", 'sqlite3.connect(f"file:{text}?mode=ro", uri=False)'),
        ("import os", "os.environ['PYTHONBREAKPOINT'] = text"),
    ],
)
def test_a_function_that_is_reached_by_another_way_is_found(imports, code):
    assert _beyond(code, imports)


@pytest.mark.parametrize(
    "code",
    [
        'subprocess.run(["uname"], executable=text)',
        'subprocess.run(["uname"], env={"PATH": text})',
        'where = {**os.environ, "LD_PRELOAD": text}\nsubprocess.run(["uname"], env=where)',
        'os.environ["PATH"] = text',
        'os.environ["http_proxy"] = "http://127.0.0.1:9"',
    ],
)
def test_a_declared_program_or_host_is_not_exchanged(code):
    imports = "import os, subprocess"
    assert any("could exchange" in item for item in _beyond(code, imports, commands="uname"))


@pytest.mark.parametrize(
    "code",
    [
        'subprocess.run(["uname"], env={**os.environ, "LC_ALL": "C"})',
        'subprocess.run(["uname"], env={"PATH": os.environ.get("PATH", "/usr/bin:/bin")})',
        'subprocess.run(["uname"], env={"PATH": "/usr/sbin:/usr/bin", "PAGER": "cat"})',
        'subprocess.run(["uname"], env=dict(os.environ, HOME=text))',
        'os.environ["TZ"] = text',
    ],
)
def test_a_clean_environment_of_a_program_is_accepted(code):
    assert _beyond(code, "import os, subprocess", commands="uname") == ()


def test_a_parser_of_xml_that_takes_addresses_gets_an_open_file():
    assert any(
        "could reach" in item for item in _beyond("xml.sax.parse(text, 1)", "import xml.sax")
    )
    code = 'with open(text, "rb") as source:\n    xml.sax.parse(source, 1)'
    assert _beyond(code, "import xml.sax") == ()


@pytest.mark.parametrize(
    ("imports", "code"),
    [
        ("import configparser", "parser = configparser.ConfigParser()\nparser.optionxform = str"),
        ("", "type(text).__name__"),
        ("", "open(text)\ntext.__class__.__name__"),
        ("import sys", 'print(text) if "json" in sys.modules else None'),
        ("import os", "os.open in os.supports_dir_fd"),
        ("import sys", "sys.modules[__name__]"),
        ("", '"{0.real} {name[key]}".format(level, name=text)'),
        ("import decimal", "decimal.getcontext().prec = 5"),
        ("import logging", "logging.raiseExceptions = False"),
        ("import ssl", "context = ssl.create_default_context()\ncontext.check_hostname = False"),
        ("import sys, xml.etree.ElementTree as ET", "sys.stdout.write(ET.tostring(text))"),
        ("import io, xml.etree.ElementTree as ET", "ET.ElementTree(text).write(io.BytesIO())"),
        (
            "import subprocess\nclass Row:\n    def __init__(self, pid):\n        self.pid = pid",
            "Row(level)",
        ),
    ],
)
def test_honest_attributes_and_classes_are_accepted(imports, code):
    assert _beyond(code, imports, commands="uname" if "subprocess" in imports else "none") == ()


@pytest.mark.parametrize(
    ("imports", "code"),
    [
        ("import urllib.request", "urllib.request.urlopen(text)"),
        ("from urllib.request import urlopen as get", "get(text)"),
        ("from xmlrpc.client import ServerProxy", "ServerProxy(text)"),
        ("from logging.handlers import DatagramHandler", "DatagramHandler(text, 514)"),
        ("import socket", "socket.create_connection((text, 80))"),
        ("import socket", "socket.socket().connect((text, 80))"),
        ("import socket", "socket.gethostbyname(text)"),
        ("import asyncio", "asyncio.open_connection(text, 80)"),
        ("import syslog", "syslog.syslog(text)"),
        ("from multiprocessing.connection import Client", "Client((text, 80))"),
    ],
)
def test_nor_reach_a_host_where_none_is_declared(imports, code):
    assert any("could reach" in item for item in _beyond(code, imports))
    assert not _beyond(code, imports, hosts="the given host")


@pytest.mark.parametrize(
    ("imports", "code"),
    [
        ("import subprocess", "subprocess.run([text])"),
        ("from subprocess import check_output as out", "out([text])"),
        ("import os", "os.system(text)"),
        ("import os", "os.execvp(text, [text])"),
        ("import asyncio", "asyncio.create_subprocess_exec(text)"),
        ("import pty", "pty.spawn([text])"),
    ],
)
def test_nor_start_a_program_where_none_is_declared(imports, code):
    assert any("could start" in item for item in _beyond(code, imports))
    assert not _beyond(code, imports, commands="the given program")


@pytest.mark.parametrize(
    ("imports", "code"),
    [
        ("", "open(text)"),
        ("", 'open(text, "rb")'),
        ("", 'open(text, "r" if level else "rb")'),
        ("import gzip", 'opener = gzip.open if text else open\nopener(text, "rt")'),
        ("", 'text.replace("a", "b")'),
        ("from datetime import datetime", "datetime.now().replace(tzinfo=None)"),
        ("import os", "os.open(text, os.O_RDONLY | os.O_DIRECTORY | getattr(os, 'O_CLOEXEC', 0))"),
        ("import os", "os.kill(level, 0)"),
        ("import os", 'open(os.devnull, "w")'),
        ("", 'open("/dev/null", "w")'),
        ("import re", "re.compile(text)"),
        ("import sqlite3", 'sqlite3.connect(f"file:{text}?mode=ro", uri=True)'),
        ("import sqlite3", 'sqlite3.connect(":memory:").execute("create table t (a)")'),
        ("import io, zipfile", 'zipfile.ZipFile(io.BytesIO(), "w")'),
        ("import tempfile", 'tempfile.NamedTemporaryFile("w", dir=None)'),
        (
            "import tempfile\nfrom pathlib import Path",
            "with tempfile.TemporaryDirectory() as own:\n    Path(own, 'a').write_text(text)",
        ),
        (
            "import os, tempfile",
            'folder = tempfile.mkdtemp()\nplace = os.path.join(folder, "a")\nopen(place, "w")',
        ),
        (
            "import shutil, tempfile, zipfile",
            "folder = tempfile.mkdtemp()\nzipfile.ZipFile(text).extractall(folder)\n"
            "shutil.copy(text, folder)\nshutil.rmtree(folder)",
        ),
        ("import socket", "socket.gethostbyname(socket.gethostname())"),
        ("import ctypes", 'getattr(ctypes.CDLL(None, use_errno=True), "adjtimex", None)'),
        ("import ctypes", "libc = ctypes.CDLL(None)\nlibc.getpid()"),
        ("import ctypes", "ctypes.CDLL(None).strlen(text.encode())"),
        ("import io, tarfile", 'tarfile.open(fileobj=io.BytesIO(), mode="w")'),
        ("import importlib", 'importlib.import_module("json").loads(text)'),
        ("import logging", "logging.getLogger(text).warning(text)"),
        ("import sys", "sys.argv = [text]"),
        ("class Box:\n    def save(self): ...", "Box().save()"),
    ],
)
def test_honest_code_of_a_tool_that_reads_is_accepted(imports, code):
    assert _beyond(code, imports) == ()


def test_a_helper_that_writes_below_the_folder_it_is_given_is_judged_by_its_callers():
    helper = (
        'from pathlib import Path\nimport tempfile\ndef put(folder):\n    Path(folder, "a").touch()'
    )
    assert _beyond("put(tempfile.mkdtemp())", helper) == ()
    assert _beyond("put(tempfile.mkdtemp())\nput(text)", helper)


def test_a_tool_that_writes_may_use_what_writes():
    assert _beyond("os.unlink(text)", "import os", kind="write", paths="the given file") == ()


def test_a_signal_is_declared_as_the_program_that_sends_it():
    assert _beyond("os.kill(level, 9)", "import os")
    assert _beyond("os.kill(level, 9)", "import os", commands="kill") == ()


def test_a_finding_names_what_and_where():
    (found,) = _beyond("os.unlink(text)", "import os")
    assert found == "could change files or processes: os.unlink in line 15 (Kind: read)"
