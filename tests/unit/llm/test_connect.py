"""The configured model is connected, and a key goes to no host that only a project names."""

import ast
import os
from dataclasses import replace
from pathlib import Path

import pytest

import pulsus
from pulsus import bootstrap
from pulsus.agent.model.json_model import JsonModel
from pulsus.agent.model.native_model import NativeModel
from pulsus.bootstrap.language_model import connect_turn_model, new_breaker
from pulsus.config.settings import ModelConfig
from pulsus.core.compose.model_protocol import Message, Setup
from pulsus.errors import (
    ConfigError,
    ConfigUntrusted,
    LlmNotConfigured,
    ModelKeyWithheld,
    ModelRefused,
)
from pulsus.llm.address import is_local, parse_address
from pulsus.llm.connect import connect
from tests.model_server import playing, says
from tests.project import trust
from tests.scripted import Scripted

PACKAGE = Path(pulsus.__file__).parent
LOCAL = ModelConfig(base_url="http://127.0.0.1:8000/v1")
KEY = "k-0123456789"


class Kept:
    """A provider that keeps what it was made from."""

    def __init__(self, setup):
        self.setup = setup


def made(environ=None, by_project=None, **changes):
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
        by_project=by_project,
    )
    return found[0]


def test_a_missing_base_url_is_an_error_that_says_what_to_set():
    with pytest.raises(LlmNotConfigured) as caught:
        made(base_url="")
    for said in ("model.base_url", "model.name", "PULSUS_LLM_API_KEY", "pulsus doctor --model"):
        assert said in caught.value.hint
    assert caught.value.exit_status == 5


def test_a_local_server_needs_no_key():
    assert made().key == ""


def test_a_public_server_needs_a_key_or_an_empty_setting():
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
        made(environ, {"model.api_key_env": "pyproject.toml"}, api_key_env=name)
    assert made(environ, api_key_env=name).key == KEY


def test_a_project_file_and_a_user_variable_are_distinguished(tmp_path, monkeypatch):
    (tmp_path / "config").mkdir()
    settings = '[model]\nbase_url = "http://127.0.0.1:9/v1"\napi_key_env = "GITHUB_TOKEN"\n'
    (tmp_path / "config/pulsus.toml").write_text(settings, encoding="utf-8")
    trust(tmp_path)
    with pytest.raises(ConfigError, match="_API_KEY"):
        bootstrap.build(tmp_path, {}).model()
    monkeypatch.setenv("PULSUS_MODEL__API_KEY_ENV", "GITHUB_TOKEN")
    assert bootstrap.build(tmp_path, {}).model().provider == "openai"


FILE = "config/pulsus.toml"
MINE = {"PULSUS_LLM_API_KEY": KEY}


@pytest.mark.parametrize(
    "base_url",
    [
        "https://llm.evil.example/v1",
        "https://api.openai.com.evil.example/v1",
        "https://api.openai.com:8443/v1",
        "http://127.0.0.1:11434/v1",
        "http://llm.internal/v1",
        "http://api.openai.com/v1",
    ],
)
def test_a_checkout_cannot_send_for_the_user_s_key(base_url):
    with pytest.raises(ModelKeyWithheld) as caught:
        made(MINE, {"model.base_url": FILE}, base_url=base_url, allow_plain_http=True)
    said = caught.value
    assert said.code == "MODEL_KEY_WITHHELD"
    assert FILE in said.message
    assert "PULSUS_LLM_API_KEY" in said.message
    assert str(said.details["host"]) in said.message
    assert f"PULSUS_MODEL__BASE_URL={base_url}" in said.hint
    assert f"PULSUS_MODEL__KEY_HOSTS='[\"{said.details['host']}\"]'" in said.hint
    assert KEY not in said.message + said.hint


def test_the_user_s_own_address_gets_the_user_s_key():
    assert made(MINE, base_url="https://llm.mine.example/v1").key == KEY
    assert made(MINE, {"model.name": FILE}, base_url="https://llm.mine.example/v1").key == KEY


@pytest.mark.parametrize(
    ("provider", "base_url"),
    [("openai", "https://api.openai.com/v1"), ("openai", "https://API.openai.com.:443/v1")],
)
def test_the_provider_s_own_host_gets_the_key_also_if_a_project_file_names_it(provider, base_url):
    file = {"model.base_url": FILE}
    assert made(MINE, file, base_url=base_url, provider=provider).key == KEY


def test_a_host_that_the_user_allows_gets_the_key_with_its_port_and_no_other():
    file = {"model.base_url": FILE}
    allowed = {"key_hosts": ("llm.team.example", "gpu.internal:8000")}
    assert made(MINE, file, base_url="https://llm.team.example/v1", **allowed).key == KEY
    assert made(MINE, file, base_url="http://gpu.internal:8000/v1", **allowed).key == KEY
    for other in ("https://llm.team.example:8443/v1", "http://gpu.internal:9000/v1"):
        with pytest.raises(ModelKeyWithheld):
            made(MINE, file, base_url=other, **allowed)


def test_a_checkout_cannot_allow_itself_a_host(tmp_path, monkeypatch):
    monkeypatch.setenv("PULSUS_LLM_API_KEY", KEY)
    monkeypatch.setenv("PULSUS_MODEL__BASE_URL", "https://mine.example/v1")
    text = '[tool.pulsus.model]\nkey_hosts = ["evil.example"]\n'
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigUntrusted, match=r"model\.key_hosts"):
        bootstrap.build(tmp_path, {})
    trust(tmp_path)
    assert bootstrap.build(tmp_path, {}).settings.model.key_hosts == ("evil.example",)


def test_a_project_s_local_server_without_a_key_still_works():
    assert made({}, {"model.base_url": FILE}).key == ""
    assert made(MINE, {"model.base_url": FILE}, api_key_env="").key == ""


def test_the_source_of_base_url_decides_about_the_key(tmp_path, monkeypatch):
    for name in [n for n in os.environ if n.startswith("PULSUS_MODEL__")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PULSUS_LLM_API_KEY", KEY)
    text = '[tool.pulsus.model]\nbase_url = "https://evil.example/v1"\n'
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    trust(tmp_path)
    for _ in range(2):  # also with settings that were kept
        with pytest.raises(ModelKeyWithheld, match=r"pyproject\.toml"):
            bootstrap.build(tmp_path, {}).model()
    monkeypatch.setenv("PULSUS_MODEL__KEY_HOSTS", '["evil.example"]')
    assert bootstrap.build(tmp_path, {}).model().provider == "openai"
    monkeypatch.delenv("PULSUS_MODEL__KEY_HOSTS")
    monkeypatch.setenv("PULSUS_MODEL__BASE_URL", "https://evil.example/v1")
    assert bootstrap.build(tmp_path, {}).model().provider == "openai"


def test_the_value_of_the_named_variable_is_a_secret_everywhere(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIN_NAME", "perfectly-ordinary-words")
    app = bootstrap.build(tmp_path, {"model": {"api_key_env": "PLAIN_NAME"}})
    assert "ordinary" not in app.redactor.redact("it is perfectly-ordinary-words, see")


def test_an_unknown_provider_error_lists_the_existing_ones(tmp_path):
    flags = {"model": {"base_url": "http://127.0.0.1:9/v1", "provider": "nobody"}}
    with pytest.raises(ConfigError, match="'nobody'") as caught:
        bootstrap.build(tmp_path, flags).model()
    assert "anthropic, ollama, openai" in caught.value.hint


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
        "ollama",
    }


def test_ollama_is_asked_below_the_address_without_v1(tmp_path):
    flags = {"model": {"base_url": "http://127.0.0.1:11434/v1", "provider": "ollama"}}
    with pytest.raises(ConfigError, match="without /v1") as caught:
        bootstrap.build(tmp_path, flags).model()
    assert "use http://127.0.0.1:11434," in caught.value.hint


@pytest.mark.parametrize(("protocol", "kind"), [("json", JsonModel), ("native", NativeModel)])
def test_the_agent_calls_tools_by_the_protocol_of_the_settings(protocol, kind, tmp_path):
    flags = {
        "model": {"base_url": "http://127.0.0.1:9", "provider": "ollama"},
        "agent": {"protocol": protocol},
    }
    app = bootstrap.build(tmp_path, flags)
    made = connect_turn_model(app, new_breaker(app.settings.agent))
    assert isinstance(made, kind)


def test_the_package_does_not_import_its_tests():
    assert Scripted.__module__.startswith("tests.")
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "tests" not in text:
            continue  # parsing every module takes seconds
        for node in ast.walk(ast.parse(text)):
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
def test_an_invalid_address_is_refused_with_a_hint(base_url):
    with pytest.raises(ConfigError) as caught:
        parse_address(base_url)
    assert caught.value.hint
    assert "pw-12345" not in caught.value.message + caught.value.hint


def test_a_plugin_s_provider_may_need_no_address():
    setups: list[Setup] = []
    settings = replace(LOCAL, base_url="", provider="own")
    connect(settings, {"own": setups.append}, {}, lambda text: text)  # type: ignore[dict-item]
    assert setups[0].settings.base_url == ""


def test_a_last_slash_does_not_change_the_address():
    assert parse_address("http://127.0.0.1:1/v1/").of("models") == "http://127.0.0.1:1/v1/models"
