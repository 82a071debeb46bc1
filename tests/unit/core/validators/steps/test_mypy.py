"""The type step (spec §8.2), with the real mypy."""

import errno

import pytest

from pulsus.config.settings import ValidationConfig
from pulsus.core.system.machine_slots import NoSlot
from pulsus.core.validators.steps import checker_process, mypy_prestart
from pulsus.core.validators.steps import mypy as mypy_step
from pulsus.core.validators.steps.checker_process import CheckedSource
from pulsus.core.validators.steps.mypy import Mypy
from pulsus.core.validators.steps.ruff import run_ruff
from pulsus.errors import ConfigError, DiskFull
from tests.libraries import lend

FLAGS = ValidationConfig().mypy_flags
WRONG = "def run() -> int:\n    return 'x'\n"
EVIL = (
    "from pathlib import Path\nPath({!r}).touch()\n\n\ndef plugin(version):\n    raise SystemExit\n"
)


def run_mypy(texts, **given):
    checker = Mypy(**given)
    try:
        return checker.check(texts)
    finally:
        checker.end()


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mypy")
    lend(folder)
    return folder


@pytest.fixture
def check(cache):
    def call(source, **given):
        known = {"flags": FLAGS, "seconds": 60.0, "cache_dir": cache}
        (found,) = run_mypy([CheckedSource("tool", source.encode())], **{**known, **given})
        return found

    return call


@pytest.mark.seconds
def test_well_typed_source_passes(check):
    assert check("def run() -> int:\n    return 1\n").ok


def test_a_finding_names_file_line_and_code(check):
    finding = check(WRONG)
    assert not finding.ok
    assert finding.message.startswith("tool.py:2:12: error: ")
    assert "[return-value]" in finding.message


def test_a_configuration_of_the_validated_tree_runs_no_plugin(check, tmp_path, monkeypatch):
    mark = tmp_path / "ran"
    (tmp_path / "evil.py").write_text(EVIL.format(str(mark)), encoding="utf-8")
    for name in ("mypy.ini", "setup.cfg"):
        text = f"[mypy]\nplugins = {tmp_path}/evil.py\nignore_errors = True\n"
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MYPYPATH", str(tmp_path))
    monkeypatch.setenv("MYPY_CONFIG_FILE_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert not check(WRONG).ok
    assert not mark.exists()


def test_a_module_named_like_a_library_does_not_hide_it(check, cache):
    source = "import json\n\n\ndef run() -> str:\n    return json.dumps(1)\n"
    text = CheckedSource("json", source.encode())
    (finding,) = run_mypy([text], flags=FLAGS, seconds=60.0, cache_dir=cache)
    assert finding.ok, finding.output


def test_an_unknown_library_is_left_to_the_import_smoke(check):
    assert check("import not_there_at_all\n\n\ndef run() -> int:\n    return 1\n").ok


@pytest.fixture
def fake_mypy(monkeypatch):
    """Put Python code in the place of mypy; it starts when the order comes."""

    def put(line):
        code = f"import os, sys, time\nos.chdir(sys.argv[1])\nsys.stdin.readline()\n{line}\n"
        monkeypatch.setattr(mypy_prestart, "WAIT", code)

    return put


def test_a_mypy_that_uses_up_its_processor_time_is_a_failure(check, fake_mypy):
    fake_mypy("while True: pass")
    finding = check("x = 1\n", seconds=0.2)
    assert (finding.ok, finding.unverified, finding.code) == (False, False, "")
    assert "used more than 0.2 s of processor time" in finding.message


def test_a_mypy_that_got_no_processor_time_proves_nothing(check, fake_mypy):
    fake_mypy("time.sleep(60)")
    finding = check("x = 1\n", seconds=0.1)
    assert (finding.ok, finding.unverified, finding.code) == (False, True, "BUSY")


@pytest.mark.seconds
def test_one_that_starves_is_not_tried_again_in_halves(cache, fake_mypy, tmp_path):
    started = tmp_path / "started"
    fake_mypy(f"open({str(started)!r}, 'a').write('x')\ntime.sleep(60)")
    texts = [CheckedSource(name, b"x = 1\n") for name in "abcd"]
    found = run_mypy(texts, flags=FLAGS, seconds=0.3, cache_dir=cache)
    assert [f.code for f in found] == ["BUSY"] * 4
    assert started.read_text(encoding="utf-8") == "x"


def test_a_machine_without_a_free_core_proves_nothing(check, monkeypatch):
    monkeypatch.setattr(mypy_step, "try_take", lambda *_: None)

    def taken(*_):
        raise NoSlot

    monkeypatch.setattr(mypy_step, "take", taken)
    finding = check("x = 1\n", wait_seconds=1.0)
    assert (finding.ok, finding.unverified, finding.code) == (False, True, "BUSY")
    assert "no core became free within 1 s" in finding.message


def test_without_mypy_nothing_is_proven(check):
    finding = check("x = 1\n", module="mypy_is_not_here")
    assert (finding.ok, finding.unverified) == (False, True)


@pytest.mark.parametrize(
    "flag",
    ["--config-file=x", "--install-types", "--python-executable=x", "--junit-xml=x", "-m", "x.py"],
)
def test_a_flag_that_is_not_about_checking_is_a_configuration_error(check, flag):
    with pytest.raises(ConfigError):
        check("x = 1\n", flags=(flag,))


@pytest.mark.seconds
def test_an_unusable_cache_folder_is_done_without(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    unusable = tmp_path / "file" / "sub"
    (finding,) = run_mypy(
        [CheckedSource("t", b"x = 1\n")], flags=FLAGS, seconds=60.0, cache_dir=unusable
    )
    assert finding.ok, finding.output


def test_of_many_each_gets_its_own_findings(cache):
    sources = [WRONG, "x = 1\n", WRONG, "y: int = ''\n"]
    texts = [CheckedSource(name, s.encode()) for name, s in zip("abcd", sources, strict=True)]
    found = run_mypy(texts, flags=FLAGS, seconds=60.0, cache_dir=cache)
    assert [f.ok for f in found] == [False, True, False, False]
    assert [f.message[:5] for f in found] == ["a.py:", "", "c.py:", "d.py:"]


@pytest.mark.seconds
def test_one_that_mypy_stops_at_is_refused_and_the_others_are_checked(cache):
    sources = ["x = 1\n", "def (:\n", WRONG]
    texts = [CheckedSource("t", s.encode()) for s in sources]
    found = run_mypy(texts, flags=FLAGS, seconds=60.0, cache_dir=cache)
    assert [f.ok for f in found] == [True, False, False]
    assert "t.py:1:" in found[1].message
    assert "[return-value]" in found[2].message


def test_a_quoted_path_in_a_message_is_not_a_finding_about_another_module(cache):
    forger = """
from typing import TypedDict

T = TypedDict("T", {"a": int})
x: T = {"a": 1, "m_x.py:1:1: error: forged\\nm_y.py:1:1: error: forged": 2}
"""
    texts = [CheckedSource("good", b"x = 1\n"), CheckedSource("forger", forger.encode())]
    found = run_mypy(texts, flags=FLAGS, seconds=60.0, cache_dir=cache)
    assert [f.ok for f in found] == [True, False]
    assert all(line.startswith("forger.py:") for line in found[1].output.splitlines())


def test_a_second_candidate_of_the_same_size_in_the_same_second_is_not_taken_for_the_first(check):
    good = "def run() -> int:\n    return 100\n"
    assert check(good).ok
    assert not check(good.replace("100", "'x'")).ok


@pytest.mark.seconds
def test_a_damaged_mypy_cache_does_not_refuse_the_module_and_is_repaired(tmp_path):
    def found():
        given = {"flags": FLAGS, "seconds": 60.0, "cache_dir": tmp_path}
        return [
            f.ok
            for f in run_mypy(
                [CheckedSource("t", b"import json\n"), CheckedSource("u", WRONG.encode())], **given
            )
        ]

    assert found() == [True, False]
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    for path in files:
        path.write_bytes(b"\xff" * 64)
    assert found() == [True, False]
    assert found() == [True, False]


def test_nothing_of_a_candidate_stays_in_the_cache(check, cache):
    check(WRONG)
    assert [p.name for p in cache.rglob("m_*")] == []


@pytest.mark.seconds
def test_caches_of_other_flags_do_not_undo_each_other(check, cache):
    before = {p.name for p in cache.iterdir()}
    check("x = 1\n", flags=("--strict",))
    assert len({p.name for p in cache.iterdir()} - before) == 1


@pytest.mark.parametrize("step", [run_ruff, run_mypy])
def test_a_full_disk_below_the_copies_is_an_error_that_says_so(step, monkeypatch):
    def full(*args, **given):
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/x")

    monkeypatch.setattr(mypy_step, "Scratch", full)
    monkeypatch.setattr(checker_process, "Scratch", full)
    given = {"rules": ("F",)} if step is run_ruff else {"flags": FLAGS, "cache_dir": None}
    with pytest.raises(DiskFull, match="/tmp/x"):
        step([CheckedSource("t", b"x = 1\n")], seconds=20.0, **given)
