"""A state that the answer claims of what no result mentions is told to the reader."""

import json
import time
from pathlib import Path

import pytest

from pulsus.agent.answers.run_facts import NOTHING_CHANGED, RunFacts, run_note
from pulsus.agent.answers.unread_claims import SeenWords, find_unread_subjects
from tests.agent_runs import WEB, answers, call, proposes, world

FIXTURES = Path(__file__).parents[3] / "fixtures"


def rows(invented):
    lines = (FIXTURES / "state_claims.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if bool(row["unread"]) is invented]


def unread(row):
    command, _, output = row["result"].partition(" -> ")
    seen = SeenWords()
    args = {"action": "exec", "command": command}
    seen.add_call("pulsus_read", args, {"ok": True, "data": {"output": output}})
    return list(find_unread_subjects(row["answer"], row["request"], seen))


@pytest.mark.parametrize("row", rows(True), ids=lambda row: row["answer"])
def test_a_state_of_what_was_not_read_does_not_pass_without_a_line(row):
    assert unread(row) == row["unread"]


def test_an_answer_from_its_result_gets_no_line():
    honest = rows(False)
    assert len(honest) == 64
    assert [row["answer"] for row in honest if unread(row)] == []


def test_honest_replies_and_the_golden_answers_get_no_line():
    seen = SeenWords()
    seen.add("uptime 10:00 up 3 days")
    replies = [
        json.loads(line)
        for file in sorted((FIXTURES / "phantom").glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    honest = [row["reply"] for row in replies if not row["claims"]]
    assert len(honest) == 168
    assert not [reply for reply in honest if find_unread_subjects(reply, "how is it", seen)]
    golden = sorted((FIXTURES.parent / "golden" / "agent").rglob("*.json"))
    finals = [
        event
        for file in golden
        for event in json.loads(file.read_text(encoding="utf-8"))["events"]
        if event["event"] == "agent_final"
    ]
    assert len(finals) == 14
    assert not [event for event in finals if "is about" in event.get("note", "")]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("sshd", "ssh.service"),
        ("MySQL", "mariadb.service"),
        ("Apache", "httpd.service"),
        ("nginx", "line\\nnginx.service"),
        ("postgresql@14-main", "postgresql"),
        ("docker-compose", "docker_compose"),
    ],
)
def test_a_name_is_found_in_its_other_spellings(name, shown):
    seen = SeenWords()
    seen.add_call("x", {}, {"ok": True, "data": shown.replace("\\n", "\n")})
    assert find_unread_subjects(f"{name} is running.", "", seen) == ()


@pytest.mark.parametrize(
    "envelope",
    [
        {"ok": False, "error": {"code": "POLICY_BLOCKED", "message": "nginx"}},
        {"ok": False, "error": {"code": "EXECUTION_FAILED", "message": "nginx"}},
    ],
)
def test_a_call_that_read_nothing_supports_no_state(envelope):
    seen = SeenWords()
    seen.add_call("pulsus_read", {"command": "systemctl status nginx"}, envelope)
    assert find_unread_subjects("nginx is running.", "", seen) == ("nginx",)


@pytest.mark.parametrize(
    "envelope",
    [
        {"ok": False, "error": {"code": "NOT_FOUND", "message": "no unit nginx"}},
        {
            "ok": False,
            "error": {"code": "EXECUTION_FAILED", "message": "x"},
            "data": {"output": ""},
        },
    ],
)
def test_a_call_that_found_nothing_tells_something(envelope):
    seen = SeenWords()
    seen.add_call("pulsus_read", {"command": "systemctl status nginx"}, envelope)
    assert find_unread_subjects("nginx is stopped.", "", seen) == ()


def test_the_line_names_each_subject_once_and_is_part_of_the_event():
    session = world()
    end = session.run(
        proposes(call("pulsus_query", action="search", query="nginx")),
        answers("nginx is running. Redis is down, and the certificate has expired. Redis is down."),
        request="how are my services",
    )
    assert end.note == f"{NOTHING_CHANGED} No tool result is about: certificate, redis."
    assert session.named("agent_final")[0]["unsupported"] == ["certificate", "redis"]
    assert WEB.name == "nginx"


def test_what_was_known_before_the_request_supports_a_state():
    session = world()
    session.run(
        proposes(call("pulsus_read", action="exec", command="redis-cli ping")),
        answers("redis is running."),
    )
    session.run(
        proposes(call("pulsus_query", action="search", query="nginx")),
        answers("nginx and redis are running."),
    )
    assert "unsupported" not in session.named("agent_final")[-1]


def test_a_change_and_an_unread_state_are_told_together():
    facts = RunFacts(succeeded=1).after_write(["a"], ok=True)
    note = run_note(facts, "x", "", ["91"], ["nginx"])
    assert note == (
        "Changed for this request: a. No tool result has: 91. No tool result is about: nginx."
    )


def test_a_long_answer_is_checked_in_bounded_time():
    seen = SeenWords()
    seen.add(" ".join(f"word{n}" for n in range(20_000)))
    text = "The service nginx%d is running. " * 200 % tuple(range(200))
    started = time.process_time()
    find_unread_subjects(text + "the service " * 2_000, "", seen)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("answer", "subject"),
    [
        ("nginx is running and healthy.", "nginx"),
        ("No, nginx is offline.", "nginx"),
        ("/var is full, / has 3 GB free.", "/var"),
    ],
)
def test_a_state_behind_a_no_or_of_a_common_folder_does_not_pass_without_a_line(answer, subject):
    seen = SeenWords()
    seen.add_call("x", {"command": "uptime"}, {"ok": True, "data": "12:30 up 3 days"})
    assert find_unread_subjects(answer, "", seen) == (subject,)
    seen.add_call("x", {"command": "df"}, {"ok": True, "data": "/dev/sda1 9 8 /var nginx"})
    assert find_unread_subjects(answer, "", seen) == ()


@pytest.mark.parametrize(
    "answer",
    [
        *("nginx is not running.", "nginx isn't running.", "Yes.", "No.", "Yes, it is."),
        *("No, it is not.", "nginx works.", "nginx keeps restarting.", "Status of nginx: OK"),
        *("No problem with nginx.", "There is nothing wrong with nginx.", "nginx went down."),
    ],
)
def test_a_denied_short_or_plain_state_that_nothing_read_gets_a_line(answer):
    seen = SeenWords()
    seen.add("uptime 10:00 up 3 days")
    assert find_unread_subjects(answer, "is nginx running", seen) == ("nginx",)


@pytest.mark.parametrize("answer", ["Yes.", "nginx is not running.", "nginx works."])
def test_a_short_answer_about_what_was_read_gets_none(answer):
    seen = SeenWords()
    seen.add("systemctl is-active nginx inactive")
    assert find_unread_subjects(answer, "is nginx running", seen) == ()
