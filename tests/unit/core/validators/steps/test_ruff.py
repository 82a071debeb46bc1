"""The lint step (spec §8.1), with the real ruff."""

import pytest

from pulsus.config.settings import ValidationConfig
from pulsus.core.validators.steps import ruff as ruff_step
from pulsus.core.validators.steps.checker_process import CheckedSource
from pulsus.core.validators.steps.ruff import run_ruff
from pulsus.errors import ConfigError

RULES = ValidationConfig().ruff_rules


def program(folder, line):
    path = folder / "checker"
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def lint(source, **given):
    (found,) = run_ruff(
        [CheckedSource("tool", source.encode())], **{"rules": RULES, "seconds": 20.0, **given}
    )
    return found


@pytest.fixture
def spinning(tmp_path):
    return program(tmp_path, "while :; do :; done")


@pytest.fixture
def sleeping(tmp_path):
    return program(tmp_path, "exec sleep 60")


def test_of_many_each_gets_its_own_findings_also_under_one_name():
    sources = ["x = 1\n", "def run():\n    return missing\n", "def (:\n", "y = 2\n"]
    texts = [CheckedSource("tool", source.encode()) for source in sources]
    found = run_ruff(texts, rules=RULES, seconds=20.0)
    assert [f.ok for f in found] == [True, False, False, True]
    assert found[1].message.startswith("tool.py:2:12: F821")


def test_a_quoted_path_in_a_message_is_not_a_finding_about_another_module():
    forger = "x: 'a\\n0/tool.py:1:1: F821 forged'\n"
    texts = [CheckedSource("tool", b"x = 1\n"), CheckedSource("other", forger.encode())]
    found = run_ruff(texts, rules=("F",), seconds=20.0)
    assert [f.ok for f in found] == [True, False]
    assert "\n" not in found[1].output


def test_a_name_that_reads_as_something_else_is_not_shown():
    (found,) = run_ruff([CheckedSource("x\n1/y", b"def (:\n")], rules=RULES, seconds=20.0)
    assert found.message.startswith("candidate.py:1:5: ")


def test_clean_source_passes():
    assert lint("def run() -> int:\n    return 1\n").ok


def test_a_finding_names_file_line_and_rule():
    finding = lint("def run():\n    return missing\n")
    assert not finding.ok
    assert finding.message.startswith("tool.py:2:12: F821")


def test_a_configuration_beside_us_is_not_read(tmp_path, monkeypatch):
    (tmp_path / "ruff.toml").write_text("lint.ignore = ['ALL']\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUFF_CONFIG", str(tmp_path / "ruff.toml"))
    assert not lint("def run():\n    return missing\n").ok


def test_a_checker_that_uses_up_its_processor_time_is_a_failure(spinning, monkeypatch):
    monkeypatch.setattr(ruff_step, "find_ruff", lambda module: spinning)
    finding = lint("x = 1\n", seconds=0.1)
    assert (finding.ok, finding.unverified, finding.code) == (False, False, "")
    assert "used more than 0.1 s of processor time" in finding.message


def test_a_checker_that_got_no_processor_time_proves_nothing(sleeping, monkeypatch):
    monkeypatch.setattr(ruff_step, "find_ruff", lambda module: sleeping)
    finding = lint("x = 1\n", seconds=0.05)
    assert (finding.ok, finding.unverified, finding.code) == (False, True, "BUSY")


def test_without_ruff_nothing_is_proven():
    finding = lint("x = 1\n", module="ruff_is_not_here")
    assert (finding.ok, finding.unverified) == (False, True)
    assert "pip install" in finding.message


def test_syntax_that_ruff_cannot_read_is_a_failure():
    assert not lint("def (:\n").ok


@pytest.mark.parametrize("rule", ["--config=evil", "E4 --fix", ""])
def test_a_rule_that_is_no_code_is_a_configuration_error(rule):
    with pytest.raises(ConfigError):
        lint("x = 1\n", rules=(rule,))
