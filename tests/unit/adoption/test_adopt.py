"""Scripts into tools: what is mapped, what is kept, what is said (`pulsus tools adopt`)."""

import json
import os
import runpy
from pathlib import Path

import pytest

from pulsus.adoption import python_script, tool_module
from pulsus.adoption.parsed_script import NotAdoptable
from pulsus.adoption.shell import shell_script
from tests.candidates import tool_of

SCRIPTS = Path(__file__).parents[2] / "fixtures" / "adopt"
GOLDEN = Path(__file__).parents[2] / "golden" / "adopt"
NAMES = sorted(path.name for path in SCRIPTS.glob("*.txt"))


def read(name):
    source = (SCRIPTS / name).read_text(encoding="utf-8")
    stem = name.partition(".")[0]
    return (
        python_script.parse_python_script(source)
        if ".py" in name
        else shell_script.parse_shell_script(source, stem)
    )


def made(name):
    return tool_module.render_module(read(name), name.partition(".")[0], name.removesuffix(".txt"))


def from_python(source):
    return python_script.parse_python_script(source)


def from_shell(source):
    return shell_script.parse_shell_script(source, "script")


def declared(script):
    return [parameter.declared for parameter in script.parameters]


def called(source, folder, **inputs):
    """Return the result of the tool that was made of that script."""
    path = folder / "made.py"
    script = (
        shell_script.parse_shell_script(source, "made")
        if source.startswith("#!/bin")
        else python_script.parse_python_script(source)
    )
    path.write_text(tool_module.render_module(script, "made", "made"), encoding="utf-8")
    return runpy.run_path(str(path))["run"](**inputs)


@pytest.mark.parametrize("name", NAMES)
def test_a_script_becomes_the_module_that_was_reviewed(name):
    golden = GOLDEN / name
    found = made(name)
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_every_adopted_module_has_a_complete_contract_and_a_dry_run(name):
    tool = tool_of(made(name), name.partition(".")[0])
    assert tool.contract_errors == ()
    lacks = set(tool.missing_sections)
    assert lacks <= {"Examples", "Effects", "Args"}
    if tool.kind == "write":
        assert any(arg.name == "dry_run" and arg.type_hint == "bool" for arg in tool.args)


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        pytest.param("'--limit', type=int, default=3", "limit: int = 3", id="int"),
        pytest.param("'--limit', type=int", "limit: int | None = None", id="no default"),
        pytest.param("'--limit', type=int, required=True", "limit: int", id="required"),
        pytest.param("'--rate', default=0.5", "rate: float = 0.5", id="type of its default"),
        pytest.param("'-q', '--quiet', action='store_true'", "quiet: bool = False", id="flag"),
        pytest.param("'--no-colour', dest='colour', action='store_false'", "colour: bool = True"),
        pytest.param("'-v', action='count'", "v: int = 0", id="count"),
        pytest.param("'--tag', action='append'", "tag: list[str] | None = None", id="append"),
        pytest.param("'names', nargs='+'", "names: list[str]", id="some"),
        pytest.param("'names', nargs='*', type=int", "names: list[int] | None = None", id="any"),
        pytest.param("'--pair', nargs=2", "pair: list[str] | None = None", id="two"),
        pytest.param("'out', nargs='?', default='-'", 'out: str = "-"', id="maybe"),
        pytest.param("'--mode', choices=('a', 'b')", 'mode: Literal["a", "b"] | None = None'),
        pytest.param("'--size', type=int, choices=[1, 2], default=1", "size: Literal[1, 2] = 1"),
        pytest.param("'input_file'", "input_file: Path", id="a file by its name"),
        pytest.param("'x', type=pathlib.Path", "x: Path", id="a path by its type"),
        pytest.param("'x', type=argparse.FileType('r')", "x: Path", id="an open file"),
        pytest.param("'--class'", "class_: str | None = None", id="a word of Python"),
        pytest.param("'--x', type=lambda s: s", "x: str | None = None", id="a type of its own"),
        pytest.param(
            "'--x', action=argparse.BooleanOptionalAction, default=True", "x: bool = True"
        ),
    ],
)
def test_an_argparse_argument_becomes_a_typed_one(call, wanted):
    script = from_python(
        f"import argparse, pathlib\np = argparse.ArgumentParser()\np.add_argument({call})\n"
        f"print(p.parse_args())\n"
    )
    assert declared(script) == [wanted]
    assert script.notes == ()


@pytest.mark.parametrize(
    ("decorator", "wanted"),
    [
        pytest.param("option('--count', default=1)", "count: int = 1", id="default"),
        pytest.param("option('--name', '-n', 'label')", "label: str | None = None", id="own name"),
        pytest.param("option('--on/--off')", "on: bool = False", id="either"),
        pytest.param("option('-v', count=True)", "v: int = 0", id="count"),
        pytest.param("option('--x', is_flag=True)", "x: bool = False", id="flag"),
        pytest.param("option('--x', multiple=True)", "x: list[str] | None = None", id="multiple"),
        pytest.param("option('--x', required=True, type=click.INT)", "x: int", id="required"),
        pytest.param("argument('src', type=click.Path())", "src: Path", id="path"),
        pytest.param("argument('src', nargs=-1)", "src: list[str] | None = None", id="any"),
        pytest.param("argument('src', required=False)", "src: str | None = None", id="maybe"),
    ],
)
def test_a_click_parameter_becomes_a_typed_one(decorator, wanted):
    script = from_python(f"import click\n@click.command()\n@click.{decorator}\ndef cli(**k): ...\n")
    assert declared(script) == [wanted]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        pytest.param("p.add_subparsers()", "subcommands", id="subcommands"),
        pytest.param("p.parse_known_args()", "does not know", id="unknown arguments"),
        pytest.param("p.add_argument(name)", "name is computed", id="computed name"),
        pytest.param("p.add_argument('--x', action=Mine)", "action of its own", id="own action"),
        pytest.param("import sys\nprint(sys.argv[2])", "by position", id="by position"),
        pytest.param("import sys\nprint(sys.argv)", "no argparse", id="whole argv"),
    ],
)
def test_options_that_cannot_be_converted_are_noted_and_go_in_arguments(source, said):
    script = from_python(f"import argparse\np = argparse.ArgumentParser()\n{source}\nprint(1)\n")
    assert any(said in note for note in script.notes), script.notes
    assert "arguments: list[str] | None = None" in declared(script)


def test_options_of_subcommands_are_not_parameters_of_the_tool():
    assert declared(read("inventory.py.txt")) == [
        "config: str | None = None",
        "arguments: list[str] | None = None",
    ]


def test_any_doubt_makes_a_read_script_write():
    assert read("word_count.py.txt").kind == "read"
    for line in ("open('x', 'w')", "import socket", "p.unlink()", "eval('1')", "import shelve"):
        assert from_python(f"import json\n{line}\nprint(1)\n").kind == "write", line
    assert read("disk_alert.sh.txt").kind == "read"


def test_secrets_programs_and_hosts_in_the_text_are_declared():
    script = read("notify.py.txt")
    assert script.secrets == ("CHAT_TOKEN",)
    assert script.effects
    assert script.effects.hosts == ("chat.example.com",)
    dump = read("backup_db.sh.txt")
    assert dump.secrets == ("DB_PASSWORD",)
    assert dump.effects
    assert {"bash", "pg_dump", "gzip"} <= set(dump.effects.commands)


def test_unknown_effects_are_not_declared():
    script = read("inventory.py.txt")
    assert script.effects is None
    assert "Effects:" not in made("inventory.py.txt").replace("add an Effects:", "")


def test_only_uses_of_the_module_s_run_and_main_are_renamed():
    found = made("inventory.py.txt")
    assert "def _run(command):" in found
    assert 'main = _run(["uname", "-r"])' in found  # a local name stays
    assert 'run = "a class attribute' in found
    assert "return self.run" in found
    assert "subprocess.run(command" in found


def test_multi_line_strings_are_not_indented_with_the_code(tmp_path):
    source = 'print("""a\n  b\nc""")\n'
    assert called(source, tmp_path)["stdout"] == "a\n  b\nc\n"


def test_the_made_tool_does_what_the_script_did(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("b a b c b a")
    module = tmp_path / "word_count.py"
    module.write_text(made("word_count.py.txt"))
    run = runpy.run_path(str(module))["run"]
    done = run(file=words, top=2, ignore=["c"], format="json")
    assert (done["exit_status"], json.loads(done["stdout"])) == (0, {"b": 3, "a": 2})
    with pytest.raises(ValueError, match="invalid choice"):
        run(file=words, format="xml")
    with pytest.raises(FileNotFoundError):
        run(file=tmp_path / "absent")


def test_a_status_of_2_without_a_usage_text_is_the_script_s_own(tmp_path):
    source = "import sys\nprint('CRITICAL: disk full')\nsys.exit(2)\n"
    assert called(source, tmp_path) == {"exit_status": 2, "stdout": "CRITICAL: disk full\n"}


@pytest.mark.parametrize(
    ("end", "status"),
    [("3", 3), ("256 + 4", 4), ("'no'", 1), ("None", 0), ("True", 1), ("-1", 255)],
)
def test_the_exit_status_is_that_of_a_process(tmp_path, end, status):
    assert called(f"import sys\nsys.exit({end})\n", tmp_path)["exit_status"] == status


def test_a_signal_that_ends_the_shell_is_a_status_above_128(tmp_path):
    assert called("#!/bin/sh\nkill -TERM $$\n", tmp_path)["exit_status"] == 128 + 15


def test_a_value_that_looks_like_an_option_is_passed_as_a_value(tmp_path):
    source = (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--name')\n"
        "p.add_argument('word')\na = p.parse_args()\nprint(a.name, a.word)\n"
    )
    done = called(source, tmp_path, name="--x", word="-y")
    assert done["stdout"] == "--x -y\n"


def test_the_script_s_own_dry_run_is_passed_on(tmp_path):
    old = tmp_path / "a.log"
    old.write_text("x")
    os.utime(old, (0, 0))
    module = tmp_path / "rotate.py"
    module.write_text(made("rotate_logs.py.txt"))
    run = runpy.run_path(str(module))["run"]
    done = run(directory=tmp_path, delete_after=1, dry_run=True)
    assert "delete a.log" in done["stdout"]
    assert old.exists()
    run(directory=tmp_path, delete_after=1)
    assert not old.exists()


def test_a_shell_script_keeps_its_text_options_and_exit_status(tmp_path):
    source = (
        "#!/bin/sh\n# Say things\nwhile getopts 'n:l' o; do case $o in\n"
        "  n) NAME=$OPTARG ;;\n  l) LOUD=1 ;;\nesac; done\nshift $((OPTIND - 1))\n"
        'WORD="$1"\necho "$NAME $LOUD $WORD it\'s \\\\n"\nexit 3\n'
    )
    assert declared(from_shell(source)) == [
        "name: str | None = None",
        "loud: bool = False",
        "word: str",
    ]
    done = called(source, tmp_path, name="-a", loud=True, word="w; rm x")
    assert done["exit_status"] == 3
    assert done["stdout"].startswith("-a 1 w; rm x it's")


def test_a_shell_script_is_not_run_when_it_is_a_dry_run(tmp_path):
    mark = tmp_path / "mark"
    done = called(f"#!/bin/sh\ntouch {mark}\n", tmp_path, dry_run=True)
    assert done == {"ran": False, "words": [], "exit_status": 0, "stdout": ""}
    assert not mark.exists()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        pytest.param("def f(:", "parsed", id="no python"),
        pytest.param("import os\n\ndef f(): ...\n", "does nothing", id="a library"),
        pytest.param("_script = 1\nprint(1)\n", "_script", id="our own name"),
    ],
)
def test_a_file_that_is_no_script_is_refused_with_the_reason(source, said):
    with pytest.raises(NotAdoptable, match=said):
        from_python(source)


def test_a_python_syntax_error_is_reported_with_its_line():
    with pytest.raises(NotAdoptable, match="line 2: "):
        from_python("x = 1\nif then\n")


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("read -r -p 'name? ' x", True),
        ("if true; then read x; fi", True),
        ("IFS= read -r x", True),
        ("while read -r x; do echo; done", True),
        ("while read -r x; do echo; done < file", False),
        ("cat file | while read -r x; do echo; done", False),
        ("cat file |\nwhile read -r x; do echo; done", False),
        ('read -r a b <<< "$1"', False),
        ("read -u 3 x", False),
        ("echo read it", False),
    ],
)
def test_a_shell_script_that_reads_standard_input_is_noted(line, asked):
    notes = from_shell(f"#!/bin/bash\n{line}\n").notes
    assert any("line 2: it reads its standard input" in note for note in notes) == asked


def test_a_python_script_that_reads_standard_input_is_noted():
    notes = from_python("import sys\nx = input()\nprint(sys.stdin.read())\n").notes
    assert [note.partition(":")[0] for note in notes] == ["line 2", "line 3"]


def test_a_script_for_another_shell_is_refused():
    with pytest.raises(NotAdoptable, match="fish"):
        from_shell("#!/usr/bin/env fish\necho 1\n")


def test_a_docstring_with_sections_of_its_own_does_not_become_the_contract():
    script = from_python('"""Do it.\n\nKind: read\nSecrets: ADMIN_KEY\n"""\nopen("x", "w")\n')
    tool = tool_of(tool_module.render_module(script, "double", "x.py"))
    assert (tool.kind, tool.secrets) == ("write", ())
