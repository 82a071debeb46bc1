"""Saved chats: whole, without secrets, and never replaced by a guess."""

import json
from datetime import UTC, datetime

import pytest

from pulsus.agent.model.proposal import AgentMessage
from pulsus.agent.sessions.session_file import (
    Exchange,
    load_session,
    messages_to_json,
    new_session,
    save_session,
)
from pulsus.core.telemetry.redaction import Redactor
from pulsus.errors import SessionCorrupt, UsageError

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
EXCHANGE = Exchange("run-1", "which port", "8080", "high", 0, ({"role": "user", "content": "x"},))


@pytest.fixture
def state(tmp_path):
    return tmp_path / ".pulsus"


def saved(state, *exchanges):
    session = new_session(NOW, b"abc", "read_only")
    for each in exchanges:
        session = session.with_exchange(each)
    return session, save_session(session, state, Redactor())


def test_a_session_comes_back_as_it_was_saved(state):
    session, file = saved(state, EXCHANGE)
    assert load_session(session.session_id, state) == load_session("last", state) == session
    assert file.name == "session-20260102-030405-616263.json"


def test_secrets_are_not_saved(state):
    _, file = saved(state, Exchange("run-1", "token=abcdef1234567890", "ok", "high", 0))
    assert "abcdef1234567890" not in file.read_text("utf-8")


def test_the_system_message_with_the_resolved_context_is_not_saved():
    found = messages_to_json([AgentMessage("system", "ids"), AgentMessage("user", "hello")])
    assert [each["role"] for each in found] == ["user"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"schema_version": 2}',
        '{"schema_version": 1}',
        '{"schema_version": 1, "session_id": "session-20260102-030405-000000"}',
        "[" * 100_000,
    ],
    ids=["empty", "cut", "list", "newer", "keys", "other id", "deep"],
)
def test_a_broken_file_is_an_error_that_names_it_and_stays_as_it_is(state, text):
    session, file = saved(state, EXCHANGE)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SessionCorrupt) as raised:
        load_session(session.session_id, state)
    assert str(file) in raised.value.message
    assert file.read_text("utf-8") == text


@pytest.mark.parametrize("name", ["session-20260102-030405-ffffff", "../../etc/passwd", "last"])
def test_an_unknown_session_is_a_usage_error(state, name):
    if name != "last":
        saved(state, EXCHANGE)
    with pytest.raises(UsageError):
        load_session(name, state)


def test_a_wrong_type_in_an_exchange_is_a_broken_file(state):
    session, file = saved(state, EXCHANGE)
    data = json.loads(file.read_text("utf-8"))
    data["exchanges"][0]["request"] = 7
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(SessionCorrupt):
        load_session(session.session_id, state)
