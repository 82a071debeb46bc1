"""Values inside a request (spec §4)."""

import time

import pytest

from pulsus.core.rankers.lexical_ranker import Ranker
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


@pytest.mark.parametrize(
    "path",
    [
        *(
            "play/m.csv",
            "./m.csv",
            "../x/y.json",
            "~/x",
            "~ada/x.csv",
            "a/b/c.tar.gz",
            "/data/m.csv",
        ),
        *("conf.d/my.app.yaml", "logs/*.log", "play/", ".config/app/x", "a/b.c", "x/y.7z"),
    ],
)
@pytest.mark.parametrize(
    "sentence", ["sum {}", "sum {}.", "sum {}, then sort", "sum ({})", "sum {}?"]
)
def test_a_relative_path_is_read_as_a_path_like_an_absolute_one(path, sentence):
    """Its folder counted as words of the request, and other tools were found."""
    _, (value,) = cut_out_values(sentence.format(path))
    assert value.text.rstrip(".)?") == path
    assert "path" in value.kind


@pytest.mark.parametrize(
    "text",
    [
        *("and/or", "read/write", "in read/write mode", "24/7", "km/h", "2026/11/29", "user/group"),
        *("TCP/IP", "into TCP/IP", "path/to/file", "files/directories", "v1.2/v1.3", "1.5/2.5"),
        *("text/html", "HTTP/1.1", "archive files/folders", "US/U.K", "up/down", "start/stop them"),
    ],
)
def test_words_with_a_slash_between_them_are_no_path(text):
    _, values = cut_out_values(text)
    assert not [value for value in values if "path" in value.kind]


@pytest.mark.parametrize("folder", ["logs/old", "srv/data", "reports/q3"])
@pytest.mark.parametrize("words", ["put {} into an archive", "files in {}", "the folder {}"])
def test_a_folder_without_an_ending_is_a_path_behind_a_word_for_a_place(folder, words):
    _, values = cut_out_values(words.format(folder))
    assert [value.text for value in values] == [folder]


@pytest.mark.parametrize("text", ["a/" * 4000, "a.b/" * 3000 + "!", "(" * 3000 + "/." * 3000])
def test_many_slashes_are_read_in_time_that_grows_with_the_length(text):
    began = time.perf_counter()
    cut_out_values(text)
    assert time.perf_counter() - began < 2


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
