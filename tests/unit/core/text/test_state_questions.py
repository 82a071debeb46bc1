"""Questions for the state of one service are told from other questions with the same words."""

import time

import pytest

from pulsus.core.text.state_questions import (
    asks_for_a_service,
    find_named_services,
    find_state_questions,
)


@pytest.mark.parametrize(
    ("request_text", "name"),
    [
        ("is cron running", "cron"),
        ("Is @cron running?", "cron"),
        ("is the cron service up", "cron"),
        ("is the service nginx still running", "nginx"),
        ("is my postgres daemon alive", "postgres"),
        ("check whether docker is running on web-01", "docker"),
        ("tell me if the cups service is enabled", "cups"),
        ("is user@1000.service active", "user@1000.service"),
        ("is redis down right now", "redis"),
        ("is redis up at the moment?", "redis"),
        ("why is postgres down", "postgres"),
        ("is redis running on this machine, please", "redis"),
        ("is redis running on web01 now", "redis"),
    ],
)
def test_a_question_for_one_service_gives_its_name(request_text, name):
    assert asks_for_a_service(request_text)
    (one,) = find_state_questions(request_text)
    assert (one.name, request_text[one.start : one.end]) == (name, name)


@pytest.mark.parametrize(
    "request_text",
    [
        "is it running",
        "is anything running",
        "is the server up",
        "is the container running",
        "is the website up",
        "is website up",
        "is eth0 up",
        "is web01 up",
        "is db-primary up",
        "is example.org down",
        "is backup up to date",
        "is swap enabled",
        "which cron jobs run",
        "is cron running and how many errors are in a.log",
        "is cron running at the moment of the backup",
        "are jobs running",
    ],
)
def test_another_question_is_not_taken_for_one_of_a_service(request_text):
    assert not asks_for_a_service(request_text)


def test_each_of_several_services_is_named():
    asked = "are nginx, redis and cron still running"
    assert [name for _, name in find_named_services(asked)] == ["nginx", "redis", "cron"]


@pytest.mark.parametrize("part", ["is a", "is a.a+", "are a, ", "is the on here ", "if a is "])
def test_a_hostile_text_is_read_in_linear_time(part):
    begun = time.process_time()
    assert not asks_for_a_service(part * 4000)
    list(find_named_services(part * 4000))
    assert time.process_time() - begun < 2.0


@pytest.mark.parametrize("rest", [" at the moment", " on this here", " now", " on my", " at", "."])
def test_hostile_words_behind_a_question_are_read_in_linear_time(rest):
    begun = time.process_time()
    assert not asks_for_a_service(f"is cron running{rest * 4000} zzz")
    assert time.process_time() - begun < 2.0
