"""What a module's text could do although its contract rules that kind of effect out (ADR 33)."""

import pytest

from pulsus.core.validators import source_effects
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
    return source_effects.judged(tool_of(text), text.encode())[0].exceeded


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
            "with tempfile.TemporaryDirectory() as own:\n    Path(own, text).write_text(text)",
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
