"""The type step (spec §8.2), with the real mypy."""

import pytest

from pulsus.config.settings import ValidationConfig
from pulsus.core.validators.mypy import mypy
from pulsus.errors import ConfigError

FLAGS = ValidationConfig().mypy_flags
WRONG = "def run() -> int:\n    return 'x'\n"
EVIL = (
    "from pathlib import Path\nPath({!r}).touch()\n\n\ndef plugin(version):\n    raise SystemExit\n"
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("mypy")


@pytest.fixture
def check(cache):
    def call(source, **given):
        known = {"flags": FLAGS, "seconds": 60.0, "cache_dir": cache}
        return mypy(source.encode(), "tool", **{**known, **given})

    return call


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
    finding = mypy(source.encode(), "json", flags=FLAGS, seconds=60.0, cache_dir=cache)
    assert finding.ok, finding.output


def test_an_unknown_library_is_left_to_the_import_smoke(check):
    assert check("import not_there_at_all\n\n\ndef run() -> int:\n    return 1\n").ok


def test_too_late_is_a_failure(check):
    finding = check("x = 1\n", seconds=0.001)
    assert (finding.ok, finding.unverified) == (False, False)


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


def test_an_unusable_cache_folder_is_done_without(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    finding = mypy(b"x = 1\n", "t", flags=FLAGS, seconds=60.0, cache_dir=tmp_path / "file" / "sub")
    assert finding.ok, finding.output
