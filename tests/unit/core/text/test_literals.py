"""Values inside a request (spec §4)."""

import pytest

from pulsus.core.rankers.ranker import Ranker
from pulsus.core.text.literals import cut_out_values
from tests.ranking import CATALOGUE


@pytest.mark.parametrize(
    ("text", "rest", "kind", "own"),
    [
        ("hosts in 10.0.0.0/22", "hosts in", ("subnet", "network"), ()),
        ("ping 10.0.0.1", "ping", ("address", "host"), ()),
        ("is https://a.example/x up", "is up", ("url", "http", "https"), ("example", "x")),
        ("explain */5 * * * *", "explain", ("cron", "schedule"), ()),
        ("errors in /var/log/app.log", "errors in", ("log", "path"), ("var", "app")),
        ("what is in site.tar.gz", "what is in", ("tar", "gz", "archive", "file"), ("site",)),
        ("certs of a.example.com", "certs of", ("host", "name"), ("example", "com")),
        ("top 20 files", "top files", (), ()),
        ("INC-20817 disk full", "disk full", (), ()),
        ("is db.lan:5432 open", "is open", ("host", "name", "port"), ("db", "lan")),
        ("who answers on 587?", "who answers on ?", ("port",), ()),
        ("is it " + "0a" * 16, "is it", ("hash", "checksum", "digest"), ()),
        ("a task 'send mail' now", "a task now", (), ("send", "mail")),
    ],
)
def test_a_value_is_cut_out_with_its_kind(text, rest, kind, own):
    left, values = cut_out_values(text)
    assert " ".join(left.split()) == rest
    assert [(v.kind, v.own) for v in values] == [(kind, own)]


@pytest.mark.parametrize("text", ["don't panic, it's fine", "cpu and memory", "sha256 of ipv4"])
def test_plain_words_are_no_values(text):
    assert cut_out_values(text) == (text, ())


def test_the_kind_of_a_value_finds_the_tool():
    index = Ranker.build(CATALOGUE)
    assert index.rank("what about */5 * * * *")[0].tool.id == "services/schedule/cron_jobs"
    assert index.rank("show 42") == index.rank("show")


def test_a_word_inside_a_value_weighs_less_than_one_outside():
    index = Ranker.build(CATALOGUE)
    assert index.rank("errors in memory.log")[0].tool.id == "logs/errors/error_counts"
