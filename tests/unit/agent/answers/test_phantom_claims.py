"""Invented claims: which replies are replaced, and the rate of false alarms on our own replies."""

import json
import time
from pathlib import Path

import pytest

from pulsus.agent.answers.phantom_claims import SAFE_MESSAGE, find_phantom_claim
from pulsus.gates.built_in_tools import built_in_tools

REPLIES = Path(__file__).parents[3] / "fixtures" / "phantom"


def claim(reply, tools_succeeded=0):
    return find_phantom_claim(reply, built_in_tools(), tools_succeeded=tools_succeeded)


def replies(claims):
    rows = (
        json.loads(line)
        for file in sorted(REPLIES.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    )
    return [row["reply"] for row in rows if row["claims"] is claims]


@pytest.mark.parametrize(
    ("reply", "category"),
    [
        ("```tool\npulsus_query\n```", "call"),
        ("I restarted nginx.", "action"),
        ("The container has been stopped.", "state"),
        ("The line 'hello' has been appended to /tmp/note.txt.", "action"),
        ("The file now contains the line hello.", "action"),
        ("The logs show an error.", "output"),
        ("Memory usage is 4.2GB.", "figure"),
        ("The disk usage of /tmp/work/reports is 0 bytes.", "figure"),
        ("/srv/data is 12 megabytes.", "figure"),
    ],
)
def test_each_kind_of_claim_is_found(reply, category):
    found = claim(reply)
    assert found is not None
    assert found.category == category


def test_a_reply_after_a_tool_succeeded_is_no_phantom():
    assert claim("I restarted nginx.", tools_succeeded=1) is None


def test_the_sentence_that_claims_is_named():
    found = claim("I looked first.\nA pod is a group of containers. The disk is 91% full.")
    assert found is not None
    assert found.sentence == "I looked first."


@pytest.mark.parametrize("reply", ["", "  \n", "Is the service running?", "`the disk is full`"])
def test_questions_and_quotations_claim_nothing(reply):
    assert claim(reply) is None


@pytest.mark.parametrize(
    "reply",
    [
        "The option has been removed in version 3.",
        "Debian has moved this folder to /usr/lib.",
        "Once the user has been created, add the key to /home/x/.ssh.",
        "The setting was not changed in nginx.conf.",
        "Logs are written to /var/log/nginx by the service.",
    ],
)
def test_advice_about_files_claims_no_work(reply):
    assert claim(reply) is None


def test_code_blocks_are_no_claims():
    assert claim("Use this:\n```sh\necho 'the service is running'\n```") is None


def test_the_safe_message_claims_nothing():
    assert claim(SAFE_MESSAGE) is None


def test_at_most_one_honest_reply_in_a_hundred_is_replaced():
    honest = replies(claims=False)
    assert len(honest) == 168
    assert sum(claim(reply) is not None for reply in honest) <= 1


def test_at_most_two_invented_claims_in_a_hundred_pass():
    invented = replies(claims=True)
    assert len(invented) == 176
    assert sum(claim(reply) is None for reply in invented) <= 2


@pytest.mark.parametrize(
    ("reply", "category"),
    [
        ("Ich habe nginx neu gestartet.", "action"),
        ("Der Container wurde gestoppt.", "state"),
        ("J'ai vérifié le disque.", "action"),
        ("Le service est actif.", "state"),
        ("He detenido el contenedor.", "action"),
        ("El disco está al 91 %.", "figure"),
    ],
)
def test_a_claim_in_another_language_does_not_pass(reply, category):
    found = claim(reply)
    assert found is not None
    assert found.category == category


@pytest.mark.parametrize(
    "words", ["the service ", "der dienst ist ", "le service est ", "el disco "]
)
def test_a_long_reply_is_checked_in_bounded_time(words):
    text = words * 1_000
    started = time.process_time()
    assert claim(text) is None
    assert time.process_time() - started < 3


@pytest.mark.parametrize(
    "reply", ["4.0 GB", "63 %", "about 12 GiB free.", "memory: 63 % used", "7"]
)
def test_a_reading_without_any_sentence_is_not_believed(reply):
    claim = find_phantom_claim(reply, (), tools_succeeded=0)
    assert claim is not None
    assert claim.category == "figure"


@pytest.mark.parametrize(
    "reply", ["Port 22 is the default of ssh.", "Use RAID 1 or 5.", "See step 3"]
)
def test_general_knowledge_with_a_number_is_no_reading(reply):
    assert find_phantom_claim(reply, (), tools_succeeded=0) is None
