"""A request is printable words on one line. Anything else is an error."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.errors import RequestInvalid
from pulsus.routing.prompt_parser import validate_request

LIMIT = 200

WILD = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\x1b[;0123456789mJ\x9b\x00\x07\u202e\u200b\ufeff\r\n\t \x7f\ud800"),
    ),
    max_size=2 * LIMIT,
)


@given(WILD)
def test_an_accepted_request_is_printable_on_one_line(request_):
    with contextlib.suppress(RequestInvalid):
        text = validate_request(request_, LIMIT)
        assert text == strip_controls(text)
        assert text.split() == text.split(" ")
        assert text.isprintable() or text.encode("utf-8")
        assert not {c for c in text if ord(c) < 32 or 0x7F <= ord(c) < 0xA0}
        assert any(c.isalnum() for c in text)
        assert len(text) <= LIMIT
        assert validate_request(text, LIMIT) == text


@given(WILD)
def test_a_refusal_is_always_the_same_error_with_a_way_out(request_):
    refused = None
    try:
        validate_request(request_, LIMIT)
    except RequestInvalid as error:
        refused = error
    if refused:
        assert (refused.code, refused.exit_status) == ("REQUEST_INVALID", 2)
        assert "pulsus" in refused.hint
        assert "\x1b" not in refused.message


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        pytest.param("", "has no words", id="empty"),
        pytest.param(" \t\n ", "has no words", id="spaces"),
        pytest.param("?! …", "has no words", id="no words"),
        pytest.param("a" * (LIMIT + 1), "has 201 characters, at most 200", id="long"),
        pytest.param("disks\ud800", "is not UTF-8 text", id="half a character"),
        pytest.param("full\x00disks", "holds control characters", id="NUL"),
        pytest.param("\x1b[31m\x1b[2J", "control characters", id="escape sequences alone"),
        pytest.param("\x01\x02\x03\x04ab", "holds control characters", id="mostly controls"),
        pytest.param("files in '/tmp/a\x07b'", r"control characters \(U\+0007\)", id="in a path"),
    ],
)
def test_an_invalid_request_is_refused_with_a_reason(request_, why):
    with pytest.raises(RequestInvalid, match=why):
        validate_request(request_, LIMIT)


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        pytest.param("  full \n disks\t", "full disks", id="spaces"),
        pytest.param("full \x1b[1;31mdisks\x1b[0m", "full disks", id="colours"),
        pytest.param(
            "wie voll sind die Größen? 你好", "wie voll sind die Größen? 你好", id="any script"
        ),
        pytest.param("a" * LIMIT, "a" * LIMIT, id="just short enough"),
        pytest.param("[31m is an array", "[31m is an array", id="brackets are no escape"),
    ],
)
def test_a_valid_request_keeps_its_words(request_, text):
    assert validate_request(request_, LIMIT) == text
