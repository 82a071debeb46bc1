"""Settings layers (docs/ADRs/0005)."""

import os
import re
import tomllib
from pathlib import Path

import pytest

from pulsus.config import layers
from pulsus.config.setting_types import plain_values
from pulsus.config.settings import Settings
from pulsus.config.settings_cache import RESERVED
from pulsus.errors import ConfigError

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in list(os.environ):
        if name.startswith("PULSUS_"):
            monkeypatch.delenv(name)


def settings(project, flags=None):
    return layers.validate_layers(Settings, layers.read_layers(Settings, project, flags or {}))


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_each_layer_wins_over_the_one_before(tmp_path, monkeypatch):
    seen = [settings(tmp_path).ranker.threshold]
    write(tmp_path / "pyproject.toml", "[tool.pulsus.ranker]\nthreshold = 0.61\n")
    seen.append(settings(tmp_path).ranker.threshold)
    write(tmp_path / "config/pulsus.toml", "[ranker]\nthreshold = 0.62\n")
    seen.append(settings(tmp_path).ranker.threshold)
    monkeypatch.setenv("PULSUS_RANKER__THRESHOLD", "0.63")
    seen.append(settings(tmp_path).ranker.threshold)
    seen.append(settings(tmp_path, {"ranker": {"threshold": 0.64}}).ranker.threshold)
    assert seen == [0.60, 0.61, 0.62, 0.63, 0.64]


def test_the_alias_of_strict_resolution_is_not_taken_for_an_unknown_setting(tmp_path, monkeypatch):
    seen = [settings(tmp_path).agent.strict_resolution]
    monkeypatch.setenv("PULSUS_STRICT_RESOLUTION", "false")
    seen.append(settings(tmp_path).agent.strict_resolution)
    monkeypatch.setenv("PULSUS_AGENT__STRICT_RESOLUTION", "true")
    seen.append(settings(tmp_path).agent.strict_resolution)
    assert seen == [True, False, True]


def test_one_weight_set_keeps_the_others(tmp_path):
    write(tmp_path / "config/pulsus.toml", "[ranker.weights]\nname = 0.1\n")
    read = layers.read_layers(Settings, tmp_path, {})
    assert layers.validate_layers(Settings, read).ranker.weights == {
        "name": 0.1,
        "doc": 0.4,
        "history": 0.2,
    }
    assert read.origins == {"ranker.weights.name": "config/pulsus.toml"}


@pytest.mark.parametrize(
    ("file", "text", "named"),
    [
        ("config/pulsus.toml", "[ranker]\ntreshold = 1\n", "ranker.threshold"),
        ("config/pulsus.toml", "workflow_root = 'x'\n", "workflows_root"),
        ("pyproject.toml", "[tool.pulsus.sandbox]\nmax_memory_mb = 1\n", "sandbox.max_mem_mb"),
    ],
)
def test_an_unknown_key_is_an_error_that_names_the_nearest(tmp_path, file, text, named):
    write(tmp_path / file, text)
    with pytest.raises(ConfigError) as caught:
        layers.read_layers(Settings, tmp_path, {})
    assert named in caught.value.hint
    assert file in caught.value.message


def test_a_mistyped_variable_does_not_silently_keep_the_default(tmp_path, monkeypatch):
    monkeypatch.setenv("PULSUS_RANKR__THRESHOLD", "0.9")
    with pytest.raises(ConfigError) as caught:
        layers.read_layers(Settings, tmp_path, {})
    assert "PULSUS_RANKER__THRESHOLD" in caught.value.hint


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_variables_that_are_no_settings_are_left_alone(tmp_path, monkeypatch, name):
    monkeypatch.setenv(name, "anything")
    assert layers.read_layers(Settings, tmp_path, {}).values == {}


def test_no_variable_of_our_own_commands_is_taken_for_a_setting(tmp_path, monkeypatch):
    files = [ROOT / "Makefile", *(ROOT / "scripts").glob("*"), *(ROOT / ".ci").glob("*")]
    text = "".join(file.read_text(encoding="utf-8") for file in files if file.is_file())
    tests = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("*.py"))
    read = re.findall(r"environ(?:\.get\(|\[)\"(PULSUS_\w+)", tests)
    names = {*read, *re.findall(r"\bPULSUS_[A-Z0-9_]+", text)}
    assert names
    for name in names:
        monkeypatch.setenv(name, "60")
    layers.read_layers(Settings, tmp_path, {})


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[ranker]\nthreshold = 1.5\n", "ranker.threshold"),
        ("[ranker]\nthreshold = 'high'\n", "ranker.threshold"),
        ("[sandbox]\nnetwork = 'on'\n", "sandbox.network"),
        ("[tmp]\ndirname = '../up'\n", "tmp.dirname"),
        ("[ranker.weights]\nname = 0\ndoc = 0\nhistory = 0\n", "ranker"),
    ],
)
def test_a_value_out_of_range_names_key_value_and_file(tmp_path, text, key):
    write(tmp_path / "config/pulsus.toml", text)
    read = layers.read_layers(Settings, tmp_path, {})
    with pytest.raises(ConfigError) as caught:
        layers.validate_layers(Settings, read)
    assert caught.value.details["key"] == key
    assert "config/pulsus.toml" in caught.value.message


@pytest.mark.parametrize("content", [b"[ranker\n", b"\xff\xfe", b"= 1", b"a = " + b"9" * 5_000])
def test_a_settings_file_that_does_not_parse_is_one_clear_error(tmp_path, content):
    (tmp_path / "config").mkdir()
    (tmp_path / "config/pulsus.toml").write_bytes(content)
    with pytest.raises(ConfigError, match=r"cannot read config/pulsus\.toml"):
        layers.read_layers(Settings, tmp_path, {})


@pytest.mark.parametrize(
    "text", ["x = [", "x = [1,\n", "x = {a = 1", 'x = """a\n', "x = 'a", "[ranker", "x =", "x"]
)
def test_a_settings_file_that_ends_too_early_is_not_told_as_an_end_of_document(tmp_path, text):
    write(tmp_path / "config/pulsus.toml", text)
    with pytest.raises(ConfigError) as caught:
        layers.read_layers(Settings, tmp_path, {})
    said = f"{caught.value.message} {caught.value.hint}"
    assert "of document" not in said
    assert "not closed" in said or "at line 1" in said


def test_a_mistake_in_a_settings_file_keeps_its_line(tmp_path):
    write(tmp_path / "config/pulsus.toml", "x = 1\ny = = 2\n")
    with pytest.raises(ConfigError, match=r"at line 2, column 5"):
        layers.read_layers(Settings, tmp_path, {})


@pytest.mark.parametrize("name", ["tools", "sandbox.tool_network"])
def test_a_section_that_stands_already_is_named_with_both_lines(tmp_path, name):
    text = f"[ranker]\n\n [ {name} ]  # here\nx = 1\n\n[access]\n[{name}]\n"
    write(tmp_path / "config/pulsus.toml", text)
    with pytest.raises(ConfigError) as caught:
        layers.read_layers(Settings, tmp_path, {})
    assert f"has the section [{name}] twice, at lines 3 and 7" in caught.value.message
    assert caught.value.hint == f"put the keys below the [{name}] of line 3, and remove line 7"


@pytest.mark.parametrize("text", ["[a]\n[a.b]\n[a]\nx = 1\n", "a = 1\na = 2\n", "[a]\n[[a]]\n"])
def test_other_repetitions_in_a_settings_file_are_still_errors(tmp_path, text):
    write(tmp_path / "config/pulsus.toml", text)
    with pytest.raises(ConfigError, match=r"config/pulsus\.toml"):
        layers.read_layers(Settings, tmp_path, {})


def test_a_list_in_a_variable_is_json(tmp_path, monkeypatch):
    monkeypatch.setenv("PULSUS_PLUGINS__DISABLED", '["one"]')
    assert settings(tmp_path).plugins.disabled == ("one",)
    monkeypatch.setenv("PULSUS_PLUGINS", "one")
    with pytest.raises(ConfigError):
        settings(tmp_path)


def test_the_shipped_settings_file_lists_every_setting_with_its_default():
    lines = (ROOT / "config/pulsus.toml").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line.removeprefix("# ") if " = " in line else line for line in lines)
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    written = dict(layers.flatten(tomllib.loads(text)))
    defaults = dict(layers.flatten(plain_values(Settings())))
    assert written == defaults


def test_a_fresh_copy_of_the_shipped_file_changes_nothing(tmp_path):
    write(
        tmp_path / "config/pulsus.toml", (ROOT / "config/pulsus.toml").read_text(encoding="utf-8")
    )
    assert settings(tmp_path) == Settings()
    assert layers.read_layers(Settings, tmp_path, {}).origins == {}


def test_a_wrong_value_is_told_in_the_words_of_the_file_and_with_its_place(tmp_path):
    write(tmp_path / "config/pulsus.toml", '[access]\ndeny = "x"\n')
    with pytest.raises(ConfigError, match="it should be a list, for example") as failure:
        settings(tmp_path)
    assert failure.value.hint == "correct it in config/pulsus.toml"
    write(tmp_path / "config/pulsus.toml", "[access\n")
    with pytest.raises(ConfigError, match=r"cannot read config/pulsus\.toml: "):
        settings(tmp_path)
