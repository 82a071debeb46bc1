"""Adopted scripts are said to do never less than they do, and no more than is shown.

Each script in tests/fixtures/adopt/judged lies in the folder of its kind. Its line `# commands:`
names the programs that stand in it; a line that ends in `# <unknown>` has effects that only show
when it runs.
"""

import re
from pathlib import Path

import pytest

from pulsus.adoption import python_script, tool_module
from pulsus.adoption.script_effects.shell_effects import UNKNOWN
from pulsus.adoption.shell import shell_script
from tests.candidates import tool_of

ROOT = Path(__file__).parents[2] / "fixtures/adopt/judged"
SCRIPTS = sorted(p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*.txt"))
SHELL = [name for name in SCRIPTS if name.startswith("bash/")]
PYTHON = [name for name in SCRIPTS if not name.startswith("bash/")]


def read(name):
    source = (ROOT / name).read_text(encoding="utf-8")
    made = (
        shell_script.parse_shell_script(source, stem(name))
        if name in SHELL
        else python_script.parse_python_script(source)
    )
    return source, made


def stem(name):
    return Path(name).name.partition(".")[0]


def test_there_are_twenty_scripts_of_each_form_and_both_kinds():
    for form in ("bash", "argparse", "click"):
        of_form = [name for name in SCRIPTS if name.startswith(f"{form}/")]
        assert len(of_form) >= 20
        assert {name.split("/")[1] for name in of_form} == {"read", "write"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_gets_its_kind(name):
    _, made = read(name)
    assert made.kind == name.split("/")[1], made.notes
    tool = tool_of(tool_module.render_module(made, stem(name), Path(name).stem), stem(name))
    assert (tool.kind, tool.contract_errors) == (made.kind, ())


@pytest.mark.parametrize("name", SHELL)
def test_every_program_in_a_shell_script_is_declared(name):
    source, made = read(name)
    (listed,) = re.findall(r"^# commands: (.*)$", source, re.M)
    wanted = set(listed.split())
    shell_name = source.split("\n")[0].rpartition("/")[2].rpartition(" ")[2]
    own = {"command"}
    assert {*made.effects.commands} - {UNKNOWN} >= (wanted - own) | {shell_name}


@pytest.mark.parametrize("name", SHELL)
def test_exactly_the_lines_with_unknown_effects_are_reported(name):
    source, made = read(name)
    rows = source.split("\n")
    wanted = {n for n, row in enumerate(rows, start=1) if row.endswith("# <unknown>")}
    named = {int(n[1]) for note in made.notes if (n := re.match(r"line (\d+): ", note))}
    assert named == wanted, made.notes
    unknown = (*made.effects.paths, *made.effects.commands).count(UNKNOWN)
    assert bool(unknown) == bool(wanted)


@pytest.mark.parametrize("name", [n for n in SCRIPTS if "/read/" in n])
def test_a_read_script_declares_no_change_and_no_host(name):
    _, made = read(name)
    assert "change" not in " ".join(made.notes)
    assert UNKNOWN not in str(made.effects)
    assert made.effects.hosts == ()


@pytest.mark.parametrize("name", [n for n in PYTHON if "/write/" in n])
def test_a_python_write_script_declares_its_effects_or_reports_their_lines(name):
    _, made = read(name)
    if made.effects is None:
        (note,) = [n for n in made.notes if n.startswith("add an Effects:")]
        assert re.search(r"line \d+: |names no host", note)
    else:
        assert made.effects.commands or made.effects.hosts


@pytest.mark.parametrize(
    "source",
    [
        "import os as o\no.unlink('x')",
        "import pathlib\npathlib.os.remove('x')",
        "from tarfile import open as t\nt('x', 'w')",
        "from xml.etree import ElementTree as ET\nET.parse('x').write('y')",
        "import subprocess\nc = ['ls']\nc[0] = 'rm'\nsubprocess.run(c)",
        "import subprocess\nc = ['ls']\nc.insert(0, 'sudo')\nsubprocess.run(c)",
        "import subprocess\nc = ['sort', 'a']\nc += ['-o', 'b']\nsubprocess.run(c)",
        "from subprocess import run as r\nr(['rm', 'x'])",
        "import subprocess\nsubprocess.run(['sh', '-c', 'rm x'])",
        "import subprocess\nsubprocess.run('ls > x', shell=True)",
        "import subprocess\nsubprocess.run(['ls'], executable='/bin/rm')",
        "import subprocess\nrun = getattr(subprocess, 'run')\nrun(['rm'])",
        "import os\nremove = os.remove\nremove('x')",
        "from pathlib import Path\nlist(map(Path.unlink, []))",
        "open_it = open\nopen_it('x', 'w')",
        "import sys\nsys.modules['os'].remove('x')",
        "import mine\nmine.go()",
        "from pathlib import Path\nmatch Path('x'):\n    case Path(unlink=u):\n        u()",
        "class P:\n    __match_args__ = ('a',)\nmatch P():\n    case P(a):\n        a()",
        "import operator\noperator.methodcaller('unlink')(Path('x'))",
        "from operator import methodcaller as m\nm('unlink')(Path('x'))",
        "import operator as o\no.attrgetter('unlink')(Path('x'))()",
        "from operator import itemgetter\nimport sys\nitemgetter('os')(sys.modules).remove('x')",
        "from functools import reduce\nreduce(getattr, ['x', 'y'])",
        "import time\ntime.clock_settime(time.CLOCK_REALTIME, 0)",
        "from time import clock_settime_ns as c\nc(0, 0)",
        "import socket\nsocket.sethostname('x')",
        "from socket import sethostname\nsethostname('x')",
        "from pathlib import Path\nPath('x').__dict__['y']()",
        "from pathlib import Path\nvars(Path)['unlink'](Path('x'))",
        "from pathlib import Path\nPath('x').replace(target='y')",
        "from pathlib import Path\nPath.replace(Path('x'), 'y')",
        "from pathlib import Path\nmove = Path('x').replace\nmove('y')",
        "import glob\nglob.contextlib.os.remove('x')",
        "import os\np = os.path\np.os.remove('x')",
        "import random\nrandom._os.remove('x')",
        "from random import _os as o\no.remove('x')",
        "from glob import contextlib as c\nc.os.remove('x')",
        "import logging.handlers as h\nh.RotatingFileHandler('x')",
        "import typing\nclass A:\n    x: 'zap()'\ntyping.get_type_hints(A)",
        "import string\nstring.Formatter().get_field('0.unlink', ('x',), {})[0]()",
        "import sys\ntype(sys.stdout.buffer.raw)('x', 'w')",
        "print(__builtins__)",
    ],
)
def test_indirect_changes_never_make_a_python_script_read(source):
    made = python_script.parse_python_script(f"{source}\nprint(1)\n")
    assert made.kind == "write"
    if made.effects is not None:
        assert {"rm", "sort", "ls", "sh"} & {*made.effects.commands}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("match Path('x'):\n    case Path(unlink=u):\n        u()", "unlink"),
        ("operator.methodcaller('unlink')(Path('x'))", "methodcaller"),
        ("getattr(Path('x'), 'name')", "getattr"),
        ("time.clock_settime(0, 0)", "clock_settime"),
        ("socket.sethostname('x')", "sethostname"),
    ],
)
def test_a_hidden_attribute_is_reported_with_its_line(line, said):
    head = "import operator, socket, time\nfrom pathlib import Path\n"
    (note,) = python_script.parse_python_script(f"{head}{line}\n").notes
    assert said in note
    assert "line 4: " in note if "match" in line else "line 3: " in note


@pytest.mark.parametrize(
    "source",
    [
        "import re\nre.compile('x').sub('a', 'b'.replace('b', 'c'))",
        "import datetime as d\nprint(d.datetime.now().replace(hour=0))",
        "from datetime import datetime, time\nprint(datetime.now(), time(1))",
        "import operator, time\nprint(sorted([], key=operator.itemgetter(1)), time.time())",
        "from collections import abc\nmatch 1:\n    case int(n):\n        print(n, abc)",
        "import os.path\nprint(os.path.join(os.path.dirname(__file__), 'x'), __name__)",
        "import dataclasses\nprint(dataclasses.replace(1, a=2), {}.copy())",
    ],
)
def test_harmless_attributes_keep_a_python_script_read(source):
    made = python_script.parse_python_script(f"{source}\nprint(1)\n")
    assert (made.kind, made.notes) == ("read", ())


def test_a_shell_command_in_python_reports_its_programs():
    source = "import os\nos.system(f'cd {1} && rm -rf y')\n"
    made = python_script.parse_python_script(source)
    assert made.effects is None
    assert any("rm" in note and "line 2" in note for note in made.notes)


@pytest.mark.parametrize(
    ("pipe", "kind"),
    [
        pytest.param("du -ak . | sort -rn | head -n 5 | cut -f2", "read", id="programs that read"),
        pytest.param('ps aux |& grep "$1" | awk "{print \\$2}" | wc -l', "read", id="with errors"),
        pytest.param("find /var/log -print0 | xargs -0 grep -l x | sort", "read", id="xargs"),
        pytest.param("df -P | while read -r a b; do echo $b; done", "read", id="a loop at its end"),
        pytest.param("comm -12 <(sort a) <(sort b) | tr a-z A-Z", "read", id="substitutions"),
        pytest.param("du -ak . | tee sizes | head", "write", id="tee writes a file"),
        pytest.param("ls | xargs rm", "write", id="xargs deletes"),
        pytest.param("cat a | sort -o b", "write", id="sort writes a file"),
        pytest.param("cat a | sh", "write", id="a shell runs what comes"),
        pytest.param('ls | "$PAGER"', "write", id="an unknown program"),
        pytest.param("ps aux | grep x > found", "write", id="a redirect"),
    ],
)
def test_a_pipe_reads_only_if_each_of_its_programs_does(pipe, kind):
    assert shell_script.parse_shell_script(f"#!/bin/bash\n# Look\n{pipe}\n", "look").kind == kind
