"""The clauses that exclude something are found whole. Talk about the request excludes nothing."""

import time

import pytest

from pulsus.core.text.exclusions import find_exclusions, says_only_excluded


def clauses(text):
    return [text[one.start : one.end] for one in find_exclusions(text)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("delete everything except *.gz in /srv/a", "except *.gz"),
        ("delete files older than 3 days but not *.log in /srv", "but not *.log"),
        ("delete all but *.gz in /srv", "all but *.gz"),
        ("delete old files in /srv, leave out *.iso", "leave out *.iso"),
        ("delete old files in /srv, keep *.db", "keep *.db"),
        ("delete files that do not end with .gz in /srv", "not end with .gz"),
        ("back up etc except etc/k.pem to X.tar.gz", "except etc/k.pem"),
        ("delete logs except those in /srv/keep older than 3 days", "except those in /srv/keep"),
        ("ports except 22, 80 and 443 please", "except 22, 80 and 443"),
        ("list containers excluding nginx and redis and show ports", "excluding nginx and redis"),
        ("remove logs except a.log and b.log, then show the rest", "except a.log and b.log"),
        ("which files are not owned by root", "not owned by root"),
        ("services that are not running", "not running"),
        ("delete files older than 30 days in ./data, not lower.log", "not lower.log"),
        ("delete old files in ./data, not older.log", "not older.log"),
        ("biggest files in /var, not under /var/log", "not under /var/log"),
    ],
)
def test_an_excluded_member_is_not_missed(text, words):
    assert clauses(text) == [words]


@pytest.mark.parametrize(
    "text",
    [
        "files not older than 3 days",
        "files not over 5 MB",
        "disks not under two percent",
        "show 5 files, not more",
        "processes that use no more than 5 percent",
        "drop everything whose user isn't root",
        "what is in a.env that I don't have in b.env",
        "not only the errors",
        "switch DEBUG off in a.env, keep a backup of the file",
        "keep the newest 3 backups in /srv",
    ],
)
def test_a_bound_or_talk_is_no_exclusion(text):
    assert clauses(text) == []


def test_a_word_that_also_stands_outside_is_not_only_excluded():
    assert says_only_excluded("restart nginx but not redis", "redis")
    assert not says_only_excluded("restart nginx but not redis", "nginx")
    assert not says_only_excluded("count *.gz in /a except *.gz in /b", "*.gz")


@pytest.mark.parametrize(
    "piece", ["except ", "not ", "every a but ", "but      ", "all but, ", "'except ", "n't or, "]
)
def test_hostile_exclusions_are_read_in_bounded_time(piece):
    text = (piece * 4000)[:4000]
    began = time.process_time()
    find_exclusions(text)
    assert time.process_time() - began < 1
