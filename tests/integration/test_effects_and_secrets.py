"""Effects and secrets from validation to a real run (spec §8, §17). Real commands."""

import json
import shutil
import subprocess
import sys

import pytest

from tests.project import make, pulsus_here, records

SECRET = "correct-horse-battery-staple"
TOOL = '''"""Say how long the token is, and let it slip everywhere.

Args:
    fail (bool): Whether to fail with it.

Returns:
    length (int): Characters of the token.
    said (str): The token itself.

Side effects:
    none

Kind: read

Effects:
    paths: none
    hosts: none
    commands: none

Secrets: SHOP_TOKEN

Examples:
    - inputs: {fail: false}
      output: {length: 0, said: ""}
"""

import os
import sys


def run(fail: bool = False) -> dict[str, int | str]:
    """Its length, and itself."""
    token = os.environ.get("SHOP_TOKEN", "")
    for letter in token:
        sys.stderr.write(letter)
        sys.stderr.flush()
    if fail:
        raise RuntimeError(f"cannot use {token}")
    return {"length": len(token), "said": token}
'''
NOSY = '''"""Return every variable of its environment.

Kind: read
"""

import os


def run() -> dict[str, str]:
    """All of it."""
    return dict(os.environ)
'''

pytestmark = [pytest.mark.sandbox, pytest.mark.seconds]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = make(tmp_path_factory.mktemp("secrets"))
    for name, text in (("slip_token", TOOL), ("nosy", NOSY)):
        (folder / f"{name}.py").write_text(text)
        done = pulsus_here(
            folder,
            *("promote", f"{name}.py", "--domain", "shop", "--action", "check", "--yes"),
            env={"SHOP_TOKEN": SECRET},
        )
        assert done.code == 0, done.err  # the example holds: the dry run was not given it
    return folder


def test_a_run_receives_the_secret_and_prints_it_nowhere(project):
    done = pulsus_here(project, "run", "slip_token", "--output", "json", env={"SHOP_TOKEN": SECRET})
    assert done.json["result"] == {"length": len(SECRET), "said": "[redacted]"}
    assert SECRET not in done.out + done.err
    assert "[redacted]" in done.err


def test_a_failure_does_not_print_the_secret(project):
    done = pulsus_here(
        project, "run", "slip_token", "--input", "fail=true", env={"SHOP_TOKEN": SECRET}
    )
    assert done.code == 1
    assert "cannot use [redacted]" in done.err
    assert SECRET not in done.out + done.err


def test_no_log_and_no_record_contains_the_secret(project):
    pulsus_here(project, "run", "slip_token", env={"SHOP_TOKEN": SECRET})
    held = [p for p in project.rglob("*") if p.is_file() and SECRET.encode() in p.read_bytes()]
    assert held == []


def test_the_secret_may_come_from_a_file(project, tmp_path):
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n")
    env = {"SHOP_TOKEN_FILE": str(file)}
    done = pulsus_here(project, "run", "slip_token", "--output", "json", env=env)
    assert done.json["result"]["length"] == len(SECRET)


def test_a_missing_secret_is_named_before_the_run_starts(project):
    done = pulsus_here(project, "run", "slip_token", "--output", "json")
    assert done.code == 4
    assert done.json["error"]["code"] == "INPUT_MISSING"
    assert done.json["error"]["details"]["secrets"] == ["SHOP_TOKEN"]


def test_another_tool_does_not_inherit_the_secret(project):
    done = pulsus_here(project, "run", "nosy", "--output", "json", env={"SHOP_TOKEN": SECRET})
    assert done.code == 0, done.err
    assert "SHOP_TOKEN" not in done.json["result"]
    assert "PATH" in done.json["result"]


def write(folder, kind, effects, body):
    names = ("subprocess", "threading", "time", "Path")
    lines = {name: f"import {name}" for name in names} | {"Path": "from pathlib import Path"}
    needs = "\n".join(lines[name] for name in names if f"{name}." in body or f"{name}(" in body)
    text = (
        f'"""Tool.\n\n{kind}{effects}"""\n\nimport contextlib\n{needs}\n\n\ndef run() -> int:\n'
        f'    """One."""\n    with contextlib.suppress(OSError):\n        {body}\n    return 1\n'
    )
    (folder / "seen.py").write_text(text)
    return pulsus_here(folder, "validate", "seen.py", "--output", "json")


NONE = "Effects:\n    paths: none\n    hosts: none\n    commands: none\n\n"
TOUCH = 'Path("/etc/made").write_text("x")'
START = 'subprocess.run(["uname"], check=False, capture_output=True)'


def test_effects_beyond_the_declaration_are_refused_with_the_list_and_shown_in_the_json(tmp_path):
    done = write(make(tmp_path), "Kind: read\n\n", NONE, START)
    assert done.code == 3
    (module,) = done.json["modules"]
    assert "starts uname" in module["steps"][-1]["message"]
    assert module["effects"]["declared"] == {"paths": [], "hosts": [], "commands": []}
    assert module["effects"]["observed"]["commands"] == ["uname"]


def test_a_read_tool_that_tries_to_write_is_refused(tmp_path):
    done = write(make(tmp_path), "Kind: read\n\n", "", TOUCH)
    assert done.code == 3
    assert "changes /etc/made (Kind: read)" in done.json["modules"][0]["steps"][-1]["message"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(
            'subprocess.run(["touch", "/usr/made"], check=False, capture_output=True)',
            "changes /usr/made (Kind: read)",
            id="by a program",
        ),
        pytest.param(
            "threading.Timer(0.3, Path.touch, [Path('/usr/made')]).start()",
            "changes /usr/made (Kind: read)",
            id="after it returned",
        ),
        pytest.param(
            "threading.Thread(target=time.sleep, args=(9,), name='late', daemon=True).start()",
            "leaves thread 'late' running (Kind: read)",
            id="by a thread without a join",
        ),
        pytest.param(
            'subprocess.Popen(["sleep", "60"])',
            "it returned, but left its process sleep running: wait for it or end it",
            id="by a process without a wait",
        ),
    ],
)
def test_effects_in_other_processes_or_at_exit_are_refused_too(tmp_path, body, message):
    done = write(make(tmp_path), "Kind: read\n\n", "", body)
    assert done.code == 3
    assert message in done.json["modules"][0]["steps"][-1]["message"]


def test_undeclared_effects_are_reported_and_the_promoted_tool_counts_as_write(tmp_path):
    folder = make(tmp_path)
    done = write(folder, "Kind: read\n\n", "", START)
    assert done.code == 0, done.out
    (module,) = done.json["modules"]
    assert any("counts as write" in warning for warning in module["warnings"])
    assert module["effects"]["declared"] is None
    done = pulsus_here(folder, "promote", "seen.py", "--domain", "a", "--action", "b", "--yes")
    assert done.code == 0, done.err
    assert [r["kind"] for r in records(folder) if r["name"] == "seen.py"] == ["write"]
    assert pulsus_here(folder, "run", "a/b/seen").code == 4  # non-interactive: no person to ask
    assert pulsus_here(folder, "run", "a/b/seen", "--yes").code == 0
    logged = "".join(p.read_text() for p in (folder / ".pulsus" / "audit").rglob("*.jsonl"))
    assert any(json.loads(line).get("kind") == "run" for line in logged.splitlines())


def test_filters_use_the_recorded_kind_of_a_tool(tmp_path):
    folder = make(tmp_path)
    write(folder, "Kind: read\n\n", "", START)
    promoted = pulsus_here(folder, "promote", "seen.py", "--domain", "a", "--action", "b", "--yes")
    assert promoted.code == 0, promoted.err
    env = {"PULSUS_ACCESS__KINDS": '["read"]'}
    assert pulsus_here(folder, "run", "a/b/seen", env=env).code == 6


def environment(folder):
    """A virtual environment of our own base Python, with one package that we have not."""
    program = shutil.which("python3") or sys.executable
    subprocess.run([program, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python3.*/site-packages")
    (site / "only_there").mkdir()
    (site / "only_there" / "__init__.py").write_text("NUMBER = 7\n")
    info = site / "only_there-2.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: only-there\nVersion: 2.1\n")
    return folder / "bin" / "python"


HEADER = '# /// script\n# dependencies = ["only-there>=2"]\n# ///\n'
NEEDY = """
import sys

import only_there


def run() -> dict[str, object]:
    \"\"\"Its number, and the interpreter.\"\"\"
    return {"number": only_there.NUMBER, "prefix": sys.prefix}
"""


def test_a_tool_is_validated_and_run_with_the_python_of_the_settings(tmp_path):
    python = environment(tmp_path / "venv")
    folder = make(tmp_path / "project")
    docs = f"{NONE}Examples:\n    - inputs: {{}}\n      output: {{number: 7, prefix: ...}}\n"
    text = f'"""Tool.\n\nKind: read\n\n{docs}"""\n{HEADER}{NEEDY}'
    (folder / "needy.py").write_text(text)
    done = pulsus_here(folder, "validate", "needy.py", "--output", "json")
    assert done.code == 3
    step = done.json["modules"][0]["steps"][-1]
    assert step["step"] == "static"
    assert "needs only-there>=2, not installed" in step["message"]
    env = {"PULSUS_TOOLS__PYTHON": str(python)}
    done = pulsus_here(
        folder, "promote", "needy.py", "--domain", "a", "--action", "b", "--yes", env=env
    )
    assert done.code == 0, done.err
    done = pulsus_here(folder, "run", "needy", "--output", "json", env=env)
    assert done.json["result"] == {"number": 7, "prefix": str(tmp_path / "venv")}


def test_a_python_setting_without_an_interpreter_is_a_configuration_error(tmp_path):
    env = {"PULSUS_TOOLS__PYTHON": "nowhere/python"}
    folder = make(tmp_path)
    done = pulsus_here(folder, "validate", "workflows/domains/text", "--output", "json", env=env)
    assert done.code == 2
    assert done.json["error"]["code"] == "CONFIG_INVALID"
    assert "nowhere/python is not an executable file" in done.json["error"]["message"]
