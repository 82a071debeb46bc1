"""Words to intent (spec §3)."""

import pytest

from pulsus.errors import ConfigError
from pulsus.routing.intent.synonyms import load_synonyms, merge_synonyms, shipped_synonyms
from pulsus.routing.prompt_parser import PromptParser
from tests.ranking import CATALOGUE, tool

PARSER = PromptParser.learn(CATALOGUE, shipped_synonyms())


@pytest.mark.parametrize(
    ("text", "domain", "action"),
    [
        ("how full is the disk", "storage", "usage"),
        ("ram in use", "memory", "usage"),
        ("when does my ssl cert expire", "web", "tls"),
        ("crontab entries", "services", "schedule"),
        ("errors in app.log", "logs", "errors"),
        ("render it as a markdown table", None, "report"),
    ],
)
def test_words_and_synonyms_name_the_folder(text, domain, action):
    found = PARSER.parse(text)
    assert (found.domain, found.action, found.intent) == (domain, action, text)
    assert 0 < found.confidence <= 1


@pytest.mark.parametrize("text", ["", "   ", "xyzzy plugh", "the of and", "\x00\ud800", "🦆" * 50])
def test_nothing_supported_is_nothing_guessed(text):
    found = PARSER.parse(text)
    assert (found.domain, found.action, found.confidence) == (None, None, 0.0)
    assert found.intent == text


def test_a_clear_request_is_surer_than_a_vague_one():
    clear, vague = PARSER.parse("list scheduled cron jobs"), PARSER.parse("list things")
    assert clear.confidence > 0.55 > vague.confidence


def test_an_action_that_two_folders_share_alike_is_not_guessed():
    parser = PromptParser.learn([tool("net/a/x", "one"), tool("net/b/y", "two")])
    found = parser.parse("net")
    assert (found.domain, found.action) == ("net", None)


def test_shares_and_nothing_at_all_sum_to_one():
    reading = PARSER.read("disk usage of the web server")
    shares = [g.share for g in reading.alternatives]
    assert shares == sorted(shares, reverse=True)
    assert 0 < sum(shares) < 1


def test_manifest_intents_are_vocabulary():
    hinted = tool("web/tls/x", "Does it.", intents=("handshake",))
    assert PromptParser.learn([hinted, *CATALOGUE]).parse("handshake").action == "tls"


def test_the_order_of_files_changes_nothing():
    other = PromptParser.learn(tuple(reversed(CATALOGUE)), shipped_synonyms())
    assert other.read("disk usage") == PARSER.read("disk usage")


def test_an_empty_catalogue_parses_to_nothing():
    assert PromptParser.learn(()).parse("disk usage").domain is None


def test_a_project_adds_its_own_synonyms(tmp_path):
    file = tmp_path / "synonyms.toml"
    file.write_text('Cattle = ["container"]\n', encoding="utf-8")
    merged = merge_synonyms([shipped_synonyms(), load_synonyms(file), {"ram": ("dimm",)}])
    assert merged["cattle"] == ("container",)
    assert merged["ram"][0] == "memory"
    assert merged["ram"][-1] == "dimm"


def test_no_synonyms_file_is_no_synonyms(tmp_path):
    assert load_synonyms(tmp_path / "absent.toml") == {}


@pytest.mark.parametrize("text", ["ram = 'memory'", "ram = [1]", "ram = [", "[x]\ny = ['z']"])
def test_a_bad_synonyms_file_is_named(tmp_path, text):
    file = tmp_path / "synonyms.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"synonyms\.toml"):
        load_synonyms(file)


def test_shipped_synonyms_are_lower_case_words():
    for word, meanings in shipped_synonyms().items():
        assert word == word.lower()
        assert meanings
        assert all(m == m.lower() for m in meanings)
