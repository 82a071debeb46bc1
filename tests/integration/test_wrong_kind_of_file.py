"""Each command that reads a file that you name answers a file of another kind with one clear error.

No traceback, no waiting, nothing on stdout, and exit status 2.
"""

import json
import os
import subprocess
from unittest import mock

import pytest

from pulsus.cli.server_client import read_token_file
from pulsus.core.compose.plans import pins
from pulsus.errors import UsageError
from pulsus.routing.evaluation import dataset
from tests.project import FIXTURES, PULSUS, make, pulsus, pulsus_here

CLUSTER = {"hosts": [{"name": "a", "ram_mib": 1024, "cpu_mc": 1000}], "vms": []}
COMMANDS = {
    "show": ("show", "FILE"),
    "diff": ("diff", "FILE", "FILE"),
    "apply": ("apply", "FILE"),
    "plan": ("plan", "--file", "FILE"),
    "place": ("place", "FILE"),
    "place check": ("place", "--check", "cluster.json", "FILE"),
    "place facts": ("place", "--facts", "FILE"),
    "kb": ("kb", "facts", "--facts", "FILE"),
    "eval": ("eval", "FILE"),
    "eval history": ("eval", "rows.jsonl", "--history", "FILE"),
    "eval catalogue": ("eval", "rows.jsonl", "--catalogue", "FILE"),
    "eval baseline": ("eval", "rows.jsonl", "--baseline", "FILE"),
    "compose-eval": ("compose-eval", "FILE"),
    "compose-eval catalogue": ("compose-eval", "cases.jsonl", "--catalogue", "FILE"),
    "tools check": ("tools", "check", "--golden", "FILE"),
    "adopt": ("tools", "adopt", "FILE"),
    "generate": ("generate", "count the vowels", "--example", "@FILE"),
    "input": ("route", "say hello", "--plan", "--input", "person=@FILE"),
    "serve": ("serve", "--tls-cert", "FILE", "--tls-key", "FILE"),
}
TEXTS = ("adopt", "input")
"""Commands that take any text."""
BINARY = ("picture", "Latin-1")
PLAIN = ("show", "diff", "apply", "plan", "place", "place check", "place facts", "kb")
"""Commands for a document; the others read rows, scripts or any text."""
KINDS = {
    "Markdown": b"# Read me\n\n**All** you need to know.\n",
    "text": b"just words\n",
    "empty": b"",
    "picture": b"\x89PNG\r\n\x1a\n\x00\x00",
    "Latin-1": "größe: 1\n".encode("latin-1"),
    "list": b"- 1\n- 2\n",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = make(tmp_path_factory.mktemp("kinds"))
    (folder / "cluster.json").write_text(json.dumps(CLUSTER), encoding="utf-8")
    rows = {"query": "say hello", "tools": ["demo/greet/say_hello"]}
    (folder / "rows.jsonl").write_text(json.dumps(rows), encoding="utf-8")
    plan = {
        "query": "say hello",
        "plan": [{"tool": "demo/greet/say_hello", "args": {}, "label": "a"}],
    }
    (folder / "cases.jsonl").write_text(json.dumps(plan), encoding="utf-8")
    return folder


def error_of(done):
    """Return the message and the hint of a command that failed with one clear error."""
    assert "Traceback" not in done.err
    assert (done.code, done.out) == (2, ""), done.err
    lines = [line for line in done.err.splitlines() if not line.startswith("warning: ")]
    assert lines[0].startswith("error["), done.err
    assert lines[1].startswith("  hint: "), done.err
    assert len(lines) == 2, done.err
    return lines


def call(command, name):
    return [word.replace("FILE", name) for word in COMMANDS[command]]


@pytest.mark.parametrize(
    ("command", "kind"),
    [(c, kind) for c in COMMANDS for kind in (BINARY if c in TEXTS else KINDS)],
)
def test_a_file_of_another_kind_is_one_clear_error(project, command, kind):
    (project / "other").write_bytes(KINDS[kind])
    message, _ = error_of(pulsus_here(project, *call(command, "other")))
    assert "other" in message


@pytest.mark.parametrize("command", PLAIN)
def test_a_readme_is_called_another_kind_and_not_faulty_yaml(project, command):
    (project / "other.md").write_bytes(KINDS["Markdown"])
    message, hint = error_of(pulsus_here(project, *call(command, "other.md")))
    assert "this is not a " in message
    assert "it begins with '# Read me'" in message
    assert "YAML" not in message
    assert hint.startswith("  hint: name a ")


@pytest.mark.parametrize("text", ["a: 1\n", "just words\n", "[1, 2]\n", ""])
@pytest.mark.parametrize("command", ["show", "diff", "apply"])
def test_a_file_without_a_plan_is_not_called_a_plan_that_is_not_pinned(project, command, text):
    (project / "other").write_text(text, encoding="utf-8")
    message, hint = error_of(pulsus_here(project, *call(command, "other")))
    assert "error[PLAN_INVALID]: other:1: this is not a plan: it " in message
    assert 'pulsus plan "REQUEST" -o plan.yaml' in hint


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_is_named_as_a_folder(project, command):
    message, _ = error_of(pulsus_here(project, *call(command, "workflows")))
    assert "a folder" in message or "a directory" in message


@pytest.mark.parametrize("command", COMMANDS)
def test_a_named_pipe_is_refused_without_waiting_for_a_writer(project, command):
    pipe = project / "pipe"
    if not pipe.exists():
        os.mkfifo(pipe)
    # A process of its own, because a command that waits has to be ended.
    message, _ = error_of(pulsus(project, *call(command, "pipe"), seconds=30))
    assert "is a pipe, not a file" in message


def test_a_pipe_of_the_shell_is_read(project):
    line = f"{PULSUS} eval <(cat rows.jsonl) --output json"
    done = subprocess.run(
        ["bash", "-c", line], cwd=project, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_token_in_a_named_pipe_is_not_waited_for(project):
    os.mkfifo(project / "token")
    with pytest.raises(UsageError, match="token is a pipe, not a file"):
        read_token_file(project / "token", "viewer")


def test_a_key_of_another_certificate_is_refused_before_a_link_is_shown(project):
    tls = FIXTURES / "tls"
    pair = ["--tls-cert", tls / "expired.pem", "--tls-key", tls / "localhost.key"]
    message, _ = error_of(pulsus_here(project, "serve", *pair))
    assert "expired.pem and --tls-key " in message
    assert "are not a certificate and its key: the key is that of another certificate" in message


def test_a_large_module_is_refused_before_it_is_parsed(project):
    (project / "large.py").write_bytes(b"x = 1\n" * 40_000)
    with mock.patch.object(pins, "collect_step_sources", side_effect=AssertionError):
        done = pulsus_here(project, "promote", "large.py", "--action", "greet", "--yes")
    assert done.code == 3
    assert "240000 bytes; the limit is 200000: split the module" in done.err


@pytest.mark.parametrize("script", ["", "#!/bin/sh\n# nothing yet\n"])
def test_a_script_without_code_is_no_tool(project, script):
    (project / "empty.sh").write_text(script, encoding="utf-8")
    message, _ = error_of(pulsus_here(project, "tools", "adopt", "empty.sh"))
    assert "there is no code in it" in message


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b"\x89PNG", "it is not UTF-8 text: byte 0 is 0x89", id="a picture"),
        pytest.param(
            b"# Read me\n\n**All**\n", "Invalid statement (at line 3, column 1)", id="text"
        ),
        pytest.param(b"#" * 4_000_001, "it is larger than 4000000 bytes", id="too large"),
        pytest.param("folder", "it is not a regular file", id="a folder"),
        pytest.param("pipe", "it is not a regular file", id="a pipe"),
    ],
)
def test_settings_of_another_kind_are_named_without_a_number_of_the_system(
    tmp_path, content, reason
):
    (tmp_path / "workflows").mkdir()
    settings = tmp_path / "config/pulsus.toml"
    settings.parent.mkdir()
    if content == "folder":
        settings.mkdir()
    elif content == "pipe":
        os.mkfifo(settings)
    else:
        settings.write_bytes(content)
    message, _ = error_of(pulsus_here(tmp_path, "config", "show"))
    assert message == f"error[CONFIG_INVALID]: cannot read config/pulsus.toml: {reason}"


def test_a_device_that_never_ends_is_refused(project):
    message, _ = error_of(pulsus_here(project, *call("eval", "/dev/zero")))
    assert "'/dev/zero' is a device, not a file" in message


def test_a_file_of_many_invalid_rows_is_refused_after_its_first_thousand(project):
    (project / "other").write_text('{"a": 1}\n' * 5_000, encoding="utf-8")
    with mock.patch.object(
        dataset.RowReader, "read", autospec=True, side_effect=dataset.RowReader.read
    ) as read:
        message, _ = error_of(pulsus_here(project, "eval", "other"))
    assert "other:1: query is missing or empty" in message
    assert read.call_count == 1_000


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("synonyms.toml", ("explain", "say hello")),
        ("calibration.json", ("explain", "say hello")),
        ("golden.jsonl", ("tools", "check")),
    ],
)
def test_a_pipe_in_the_place_of_a_project_file_is_not_waited_for(tmp_path, name, line):
    folder = make(tmp_path / "project", warm=False)
    (folder / "config").mkdir(exist_ok=True)
    os.mkfifo(folder / "config" / name)
    done = pulsus(folder, *line, seconds=60)
    assert "Traceback" not in done.err
    assert f"{name}" in done.err
    assert "is a pipe, not a file" in done.err
