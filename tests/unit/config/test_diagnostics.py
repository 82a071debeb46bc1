"""An error of the settings names place, key, value and what is allowed."""

import json

import pytest

from pulsus.bootstrap import inspect
from pulsus.config import diagnostics, layers
from pulsus.config.layers import setting_keys
from pulsus.config.settings import Settings
from pulsus.errors import ConfigError

FILE = "config/pulsus.toml"


@pytest.fixture
def said(tmp_path):
    """Return the message and the hint about a settings file."""
    (tmp_path / "config").mkdir()

    def read(text):
        (tmp_path / FILE).write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError) as failure:
            layers.validate_layers(Settings, layers.read_layers(Settings, tmp_path, {}))
        return failure.value

    return read


@pytest.mark.parametrize(
    ("text", "key", "value", "allowed"),
    [
        ("[ranker]\nthreshold = 1.5", "ranker.threshold", "1.5", "a number from 0 to 1"),
        ("[compose]\nmax_steps = 0", "compose.max_steps", "0", "a whole number from 2 to 50"),
        ("[run]\nmax_seconds = 0", "run.max_seconds", "0", "a number above 0, up to 3600"),
        ("[model]\nbudget = -1", "model.budget", "-1", "a number, 0 or more"),
        ("ranker.weights.doc = -1", "ranker.weights.doc", "-1", "a number, 0 or more"),
    ],
)
def test_a_value_out_of_range_is_told_with_the_range(said, text, key, value, allowed):
    error = said(text)
    assert error.message == f"setting {key} = {value} ({FILE}): out of range: allowed is {allowed}"
    assert error.hint == f"correct it in {FILE}"


@pytest.mark.parametrize(
    ("text", "set_to", "wanted"),
    [
        (
            '[ranker]\nthreshold = "x"',
            'ranker.threshold = "x"',
            "it should be a number from 0 to 1",
        ),
        ("cache_enabled = 3", "cache_enabled = 3", "it should be true or false"),
        ('[access]\nkinds = ["x"]', 'access.kinds[0] = "x"', 'it should be "resolve" or "read"'),
        ('[access]\nallow = "x"', 'access.allow = "x"', "it should be a list"),
        ('access = "x"', 'access = "x"', "it should be a table: write [access]"),
        ("log_dir = 3", "log_dir = 3", "it should be text"),
        ('[tmp]\ndirname = "a/b"', 'tmp.dirname = "a/b"', "text that matches ^"),
        ("[ranker]\nweights = {name = 0, doc = 0, history = 0}", "ranker = ", "above 0"),
    ],
    ids=lambda text: text[:24],
)
def test_a_value_of_another_form_is_told_with_the_form(said, text, set_to, wanted):
    message = said(text).message
    assert f"setting {set_to}" in message
    assert wanted in message
    assert "Input should" not in message


def test_a_variable_is_named_as_it_is_spelt(tmp_path, monkeypatch):
    monkeypatch.setenv("pulsus_ranker__threshold", "7")
    with pytest.raises(ConfigError) as failure:
        layers.validate_layers(Settings, layers.read_layers(Settings, tmp_path, {}))
    assert failure.value.hint == "correct it in pulsus_ranker__threshold"


def test_an_unknown_name_like_none_is_told_what_there_is(said):
    assert said("[llm]\nx = 1").hint.startswith("there are: access, agent, approvals, audit, ")
    listed = "there are: audit.seal_days, audit.trusted_signers"
    assert said("[audit]\nkept_for_ever = 1").hint == listed
    assert said("[ranker]\ntreshold = 1").hint == "did you mean ranker.threshold?"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("PULSUS_FOO", "`pulsus config show` lists the settings"),
        ("PULSUS_VERBOSE", "`pulsus config show` lists the settings"),
        ("PULSUS_MODEL", "there are: PULSUS_MODEL__ALLOW_PLAIN_HTTP, "),
        ("PULSUS_MODEL__TIMEOUT_S", "there are: PULSUS_MODEL__ALLOW_PLAIN_HTTP, "),
        ("PULSUS_MODEL__BASEURL", "did you mean PULSUS_MODEL__BASE_URL?"),
        ("PULSUS_RANKR__THRESHOLD", "did you mean PULSUS_RANKER__THRESHOLD?"),
        ("PULSUS_STATEDIR", "did you mean PULSUS_STATE_DIR?"),
    ],
)
def test_a_variable_is_not_taken_for_one_that_is_not_like_it(tmp_path, monkeypatch, name, hint):
    monkeypatch.setenv(name, "1")
    with pytest.raises(ConfigError) as failure:
        layers.read_layers(Settings, tmp_path, {})
    assert failure.value.hint.startswith(hint)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("read", """write it as JSON, for example PULSUS_ACCESS__KINDS='["resolve"]'"""),
        ("'a b'", """write it as JSON, for example PULSUS_ACCESS__KINDS='["resolve"]'"""),
        ('["read"', "correct its JSON at character 8"),
    ],
)
def test_a_list_that_is_no_json_is_told_in_the_words_of_the_settings(
    tmp_path, monkeypatch, text, hint
):
    # Variables of texts with the same value, one before and one after the wrong one.
    monkeypatch.setenv("PULSUS_RANKER__ENGINE", text)
    monkeypatch.setenv("PULSUS_ACCESS__KINDS", text)
    monkeypatch.setenv("PULSUS_STATE_DIR", text)
    with pytest.raises(ConfigError) as failure:
        layers.read_layers(Settings, tmp_path, {})
    assert failure.value.message == (
        f"setting access.kinds = {json.dumps(text)} (PULSUS_ACCESS__KINDS): it should be a list, "
        'for example ["a", "b"]'
    )
    assert failure.value.hint == hint


def test_a_table_that_is_no_json_is_not_told_to_be_a_list(tmp_path, monkeypatch):
    monkeypatch.setenv("PULSUS_RANKER__WEIGHTS", "foo")
    with pytest.raises(ConfigError) as failure:
        layers.read_layers(Settings, tmp_path, {})
    assert "(PULSUS_RANKER__WEIGHTS): it should be a table" in failure.value.message
    assert failure.value.hint == (
        """write it as JSON, for example PULSUS_RANKER__WEIGHTS='{"name": 1}'"""
    )


def test_a_list_in_a_variable_of_lower_case_is_not_told_to_be_a_table(tmp_path, monkeypatch):
    monkeypatch.setenv("pulsus_access__kinds", "read")
    with pytest.raises(ConfigError) as failure:
        layers.read_layers(Settings, tmp_path, {})
    assert 'access.kinds = "read" (pulsus_access__kinds): it should be a list' in (
        failure.value.message
    )


SECRET = "api_key=sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.mark.parametrize("text", [SECRET, json.dumps([SECRET])])
def test_a_wrong_variable_does_not_show_the_secret_in_its_value(tmp_path, monkeypatch, text):
    monkeypatch.setenv("PULSUS_ACCESS__KINDS", text)
    with pytest.raises(ConfigError) as failure:
        inspect(tmp_path, {})
    shown = repr((failure.value.message, failure.value.hint, failure.value.details))
    assert "access.kinds" in shown
    assert "[redacted]" in shown
    assert "sk-ant" not in shown


def test_a_wrong_settings_file_does_not_show_the_secret_in_its_value(tmp_path):
    (tmp_path / "config").mkdir()
    (tmp_path / FILE).write_text(f"[ranker]\nthreshold = {json.dumps(SECRET)}", encoding="utf-8")
    with pytest.raises(ConfigError) as failure:
        inspect(tmp_path, {})
    assert "sk-ant" not in failure.value.message + failure.value.hint


def test_it_can_be_said_what_every_setting_takes():
    keys = list(setting_keys(Settings))
    told = {key: diagnostics.describe_allowed(Settings, key.split(".")) for key in keys}
    assert [key for key in keys if not told[key]] == []
    tables = [key for key in keys if isinstance(default_of(key), dict)]
    assert [key for key in keys if told[key] == "a table"] == tables


def default_of(key):
    value = Settings()
    for part in key.split("."):
        value = getattr(value, part)
    return value


def test_the_value_is_shown_as_it_is_written(said):
    value = json.dumps("naïve")
    assert 'ranker.threshold = "naïve"' in said(f"[ranker]\nthreshold = {value}").message
