"""Which model is configured, and whether a key may go where it is."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

import pulsus
from pulsus import bootstrap
from pulsus.config.settings import ModelConfig
from pulsus.core.compose.proposer import Message, Setup
from pulsus.errors import ConfigError, LlmNotConfigured, ModelRefused
from pulsus.llm.address import address, is_local
from pulsus.llm.connect import connect
from tests.model_server import playing, says
from tests.scripted import Scripted

PACKAGE = Path(pulsus.__file__).parent
LOCAL = ModelConfig(base_url="http://127.0.0.1:8000/v1")
KEY = "k-0123456789"


class Kept:
    """A provider that keeps what it was made from."""

    def __init__(self, setup):
        self.setup = setup


def made(environ=None, named_by_project=False, **changes):
    found = []

    def make(setup):
        found.append(setup)
        return Kept(setup)

    settings = replace(LOCAL, **changes)
    connect(
        settings,
        {"openai": make},
        environ or {},
        lambda text: text,
        named_by_project=named_by_project,
    )
    return found[0]


def test_no_base_url_is_no_model_and_says_what_to_set():
    with pytest.raises(LlmNotConfigured) as caught:
        made(base_url="")
    for said in ("model.base_url", "model.name", "PULSUS_LLM_API_KEY", "pulsus doctor --model"):
        assert said in caught.value.hint
    assert caught.value.exit_status == 5


def test_a_local_server_needs_no_key():
    assert made().key == ""


def test_a_public_server_needs_a_key_or_the_word_that_it_does_not():
    with pytest.raises(ModelRefused, match="PULSUS_LLM_API_KEY"):
        made(base_url="https://api.example.com/v1")
    assert made(base_url="https://api.example.com/v1", api_key_env="").key == ""


def test_the_key_comes_from_the_variable_that_is_named():
    assert made({"MY_API_KEY": f" {KEY}\n"}, api_key_env="MY_API_KEY").key == KEY


@pytest.mark.parametrize("base_url", ["http://api.example.com/v1", "http://8.8.8.8/v1"])
def test_a_key_never_travels_unencrypted_to_a_public_host(base_url):
    environ = {"PULSUS_LLM_API_KEY": KEY}
    with pytest.raises(ConfigError, match="unencrypted") as caught:
        made(environ, base_url=base_url)
    assert KEY not in caught.value.message
    assert made(environ, base_url=base_url, allow_plain_http=True).key == KEY


@pytest.mark.parametrize("key", ["a b", "a\nx-other: b", "schlüssel"])
def test_a_key_cannot_smuggle_a_header(key):
    with pytest.raises(ConfigError) as caught:
        made({"PULSUS_LLM_API_KEY": key})
    assert key not in caught.value.message


@pytest.mark.parametrize("name", ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "HOME"])
def test_a_checkout_cannot_name_another_secret_as_the_key(name):
    environ = {name: KEY}
    with pytest.raises(ConfigError, match="_API_KEY"):
        made(environ, api_key_env=name, named_by_project=True)
    assert made(environ, api_key_env=name).key == KEY


def test_the_project_s_file_is_told_from_the_user_s_variable(tmp_path, monkeypatch):
    (tmp_path / "config").mkdir()
    settings = '[model]\nbase_url = "http://127.0.0.1:9/v1"\napi_key_env = "GITHUB_TOKEN"\n'
    (tmp_path / "config/pulsus.toml").write_text(settings, encoding="utf-8")
    with pytest.raises(ConfigError, match="_API_KEY"):
        bootstrap.build(tmp_path, {}).model()
    monkeypatch.setenv("PULSUS_MODEL__API_KEY_ENV", "GITHUB_TOKEN")
    assert bootstrap.build(tmp_path, {}).model().provider == "openai"


def test_the_value_of_the_named_variable_is_a_secret_everywhere(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIN_NAME", "perfectly-ordinary-words")
    app = bootstrap.build(tmp_path, {"model": {"api_key_env": "PLAIN_NAME"}})
    assert "ordinary" not in app.redactor.redact("it is perfectly-ordinary-words, see")


def test_an_unknown_provider_is_named_with_those_there_are(tmp_path):
    flags = {"model": {"base_url": "http://127.0.0.1:9/v1", "provider": "nobody"}}
    with pytest.raises(ConfigError, match="'nobody'") as caught:
        bootstrap.build(tmp_path, flags).model()
    assert "anthropic, openai" in caught.value.hint


def test_each_run_has_a_budget_of_its_own(tmp_path):
    with playing(says("fine")) as played:
        app = bootstrap.build(tmp_path, {"model": {"base_url": played.url}})
        first = app.model()
        first.complete([Message("user", "Say it.")])
        assert first.spent.total
        assert app.model().spent.total == 0


def test_no_setting_reaches_the_scripted_provider(tmp_path):
    for name in ("scripted", "script", "tests.scripted", "tests.scripted:Scripted", "test"):
        flags = {"model": {"base_url": "http://127.0.0.1:9/v1", "provider": name}}
        with pytest.raises(ConfigError):
            bootstrap.build(tmp_path, flags).model()
    assert set(bootstrap.build(tmp_path, {}).contributions.model_providers) == {
        "openai",
        "anthropic",
    }


def test_the_package_knows_nothing_of_its_tests():
    assert Scripted.__module__.startswith("tests.")
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [n for n in names if n.split(".")[0] == "tests"], path


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST.",
        "127.0.0.1",
        "127.9.9.9",
        "::1",
        "10.1.2.3",
        "192.168.0.7",
        "172.16.0.1",
        "100.64.0.1",
        "fe80::1%eth0",
        "fd00::1",
        "::ffff:10.0.0.1",
        "ollama",
        "gpu-box.local",
        "host.docker.internal",
    ],
)
def test_local_hosts(host):
    assert is_local(host)


@pytest.mark.parametrize(
    "host",
    [
        "api.openai.com",
        "8.8.8.8",
        "::ffff:8.8.8.8",
        "2001:4860:4860::8888",
        "134744072",
        "0x08080808",
        "127.0.0.1.example.com",
        "localhost.example.com",
    ],
)
def test_public_hosts(host):
    assert not is_local(host)


@pytest.mark.parametrize(
    "base_url",
    [
        "127.0.0.1:11434/v1",
        "ftp://127.0.0.1/v1",
        "http://",
        "http://user:pw-12345@127.0.0.1/v1",
        "https://api.example.com/v1?key=pw-12345",
        "https://api.example.com/v1/chat/completions",
        "http://127.0.0.1:99999/v1",
        "http://[::1/v1",
        "http://a..b/v1",
        f"http://{'x' * 64}.local/v1",
        "http://ex ample/v1",
        "http://127.0.0.1\\.example.com/v1",
        "http://ü.local/v1",
        "http://x\u2028y/v1",
        "http://x.local/v1\x01",
    ],
)
def test_an_address_that_cannot_be_meant_is_refused_with_a_hint(base_url):
    with pytest.raises(ConfigError) as caught:
        address(base_url)
    assert caught.value.hint
    assert "pw-12345" not in caught.value.message + caught.value.hint


def test_a_plugin_s_provider_may_need_no_address():
    setups: list[Setup] = []
    settings = replace(LOCAL, base_url="", provider="own")
    connect(settings, {"own": setups.append}, {}, lambda text: text)  # type: ignore[dict-item]
    assert setups[0].settings.base_url == ""


def test_a_last_slash_means_nothing():
    assert address("http://127.0.0.1:1/v1/").of("models") == "http://127.0.0.1:1/v1/models"
