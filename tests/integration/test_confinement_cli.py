"""`pulsus run` and `pulsus doctor` report the confinement of tools (ADR 28)."""

import json
from pathlib import Path

import jsonschema
import pexpect
import pytest

from pulsus.execution.confinement import choose_confinement, kernel_support
from tests.confined import need_confinement
from tests.project import PULSUS, pulsus_here

pytestmark = pytest.mark.seconds

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "docs" / "schemas"


@pytest.fixture
def pulsus(tmp_path):
    """A function that runs a command in this repository, with a state folder of its own."""

    def run(*args):
        return pulsus_here(ROOT, *args, "--state-dir", tmp_path / "state")

    return run


def test_a_run_reports_its_confinement(pulsus):
    need_confinement()
    done = pulsus("run", "load_average", "--output", "json")
    assert done.code == 0, done.err
    jsonschema.validate(done.json, json.loads((SCHEMAS / "run.json").read_text(encoding="utf-8")))
    held = done.json["confinement"]
    assert held["files"] in ("landlock", "supervised")
    assert (held["writes"], held["network"]) == ("none", "none")
    assert held["limits"]["max_mem_mb"] == 2048


def test_an_unconfined_read_is_reported_as_unconfined(pulsus, monkeypatch):
    none = kernel_support.KernelSupport(0, False, False, False, ("the kernel has neither",))
    monkeypatch.setattr(choose_confinement, "find_support", lambda: none)
    done = pulsus("run", "load_average")
    assert done.code == 0
    assert "ran unconfined, with all your rights: the kernel has neither" in done.err


@pytest.mark.parametrize("more", [(), ("--yes",), ("--non-interactive",)])
def test_unconfined_is_refused_without_a_terminal(pulsus, more):
    done = pulsus("run", "load_average", "--unconfined", *more)
    assert done.code == 4
    assert "only by a person at a terminal" in done.err
    assert done.out == ""


def test_the_hint_without_unconfined_keeps_the_inputs(pulsus):
    done = pulsus("run", "smart_health", "--input", "device=/dev/vda", "--unconfined")
    hint = " ".join(done.err.split())
    assert "run it at a terminal, or leave --unconfined out: " in hint
    assert "pulsus run storage/health/smart_health --input device=/dev/vda" in hint


@pytest.mark.parametrize(("said", "code"), [("y", 0), ("n", 4)])
def test_a_person_at_a_terminal_may_run_unconfined(tmp_path, said, code):
    words = ["run", "load_average", "--unconfined", "--output", "json", "--project", str(ROOT)]
    state = ["--state-dir", str(tmp_path / "state")]
    child = pexpect.spawn(str(PULSUS), [*words, *state], encoding="utf-8", timeout=60)
    child.expect("with all your rights, unconfined. Run it\\?")
    child.sendline(said)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == code
    shown = str(child.before)
    if code:
        answer = json.loads(shown[shown.index("{") :])["error"]
        assert answer["message"] == "not run: you did not confirm it"
        assert answer["hint"].startswith("to run it confined: pulsus run ")
    else:
        assert '"files": "none"' in shown
        assert "--unconfined" in shown


def test_doctor_reports_the_confinement_of_this_machine(pulsus):
    checks = {check["name"]: check for check in pulsus("doctor", "--output", "json").json["checks"]}
    found = checks["run confinement"]
    assert found["required"] is False
    assert found["ok"] == kernel_support.can_confine()
    assert "Landlock" in found["found"]
    assert "user namespaces" in found["found"]
