"""Mentions in a request (deep dive §1)."""

import pytest

from pulsus.agent.mentions.mention_parser import (
    MOST_MENTIONS,
    Mention,
    parse_mentions,
    without_mentions,
)


def named(request, *structured):
    return [(one.form, one.name) for one in parse_mentions(request, structured)]


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("check @homepage-docker please", [("at", "homepage-docker")]),
        ("is @nginx.service, or @web01: down?", [("at", "nginx.service"), ("at", "web01")]),
        ('why does @"my app" stop', [("at", "my app")]),
        ('restart "jellyfin"', [("quoted", "jellyfin")]),
        ("restart `jellyfin` now", [("quoted", "jellyfin")]),
        ("show lxc:delly:141", [("id", "lxc:delly:141")]),
        ("show @lxc:delly:141", [("at", "lxc:delly:141")]),
        ("(@web01)", [("at", "web01")]),
    ],
)
def test_each_form_of_a_mention_is_found(request_text, expected):
    assert named(request_text) == expected


@pytest.mark.parametrize(
    "request_text",
    [
        "write to root@web01",
        "git@host:repo",
        "the user's file isn't there",
        "an @ alone",
        "http://user@host/path",
    ],
)
def test_addresses_and_apostrophes_are_no_mentions(request_text):
    assert named(request_text) == []


def test_a_name_that_is_mentioned_twice_counts_once():
    assert named("restart @web and then look at @WEB") == [("at", "web")]


def test_a_structured_mention_takes_the_place_of_its_name_in_the_text():
    picked = Mention("structured", "web", "docker_container:vm:abc")
    assert parse_mentions("restart @web", [picked]) == (picked,)


def test_the_number_of_mentions_is_bounded():
    assert len(parse_mentions(" ".join(f"@m{n}" for n in range(500)))) == MOST_MENTIONS


def test_plain_words_are_left_without_the_mentions():
    assert without_mentions("restart @web now").split() == ["restart", "now"]
