"""Secrets named in a docstring: to `run` only, and hidden in all that comes back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.telemetry.redaction import MARK
from pulsus.errors import InputMissing, ToolFailed, UsageError
from pulsus.execution.tool_secrets import (
    MAX_SECRET_BYTES,
    SecretMask,
    environment_with_secrets,
    read_secrets,
)
from tests.candidates import tool_of
from tests.sandboxes import sandboxed

VALUE = "correct horse battery"


def needs(*names):
    return tool_of(f'"""Tool.\n\nSecrets: {", ".join(names)}\n"""\n\n\ndef run():\n    return 1\n')


def test_a_secret_comes_from_the_variable_of_its_name_or_the_file_that_is_named(tmp_path):
    file = tmp_path / "token"
    file.write_text("from a file\n")
    tool = needs("DB_PASSWORD", "TOKEN")
    found = read_secrets([tool], {"DB_PASSWORD": VALUE, "TOKEN_FILE": str(file), "OTHER": "x"})
    assert found == {"DB_PASSWORD": VALUE, "TOKEN": "from a file"}


def test_the_variable_wins_over_the_file(tmp_path):
    file = tmp_path / "token"
    file.write_text("file")
    assert read_secrets([needs("TOKEN")], {"TOKEN": "var", "TOKEN_FILE": str(file)}) == {
        "TOKEN": "var"
    }


@pytest.mark.parametrize("environ", [{}, {"TOKEN": ""}], ids=["unset", "empty"])
def test_a_missing_secret_is_named_before_anything_runs(environ):
    with pytest.raises(InputMissing, match=r"TOKEN \(for shared/math/double\)") as error:
        read_secrets([needs("TOKEN")], environ)
    assert error.value.exit_status == 4
    assert "TOKEN_FILE" in error.value.hint


@pytest.mark.parametrize(
    "content",
    [None, b"x" * (MAX_SECRET_BYTES + 1), b"\xff\xfe"],
    ids=["absent", "huge", "binary"],
)
def test_a_secret_file_that_cannot_be_used_is_refused_without_its_content(tmp_path, content):
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError, match="TOKEN_FILE"):
        read_secrets([needs("TOKEN")], {"TOKEN_FILE": str(file)})


def test_a_secret_that_a_tool_does_not_name_is_not_inherited():
    environ = {
        "PATH": "/bin",
        "PWD": "/here",
        "HOME": "/root",
        "KEYBOARD": "de",
        "MY_TOKEN": "secret",
        "DB_PASSWORD": VALUE,
        "AWS_SECRET_ACCESS_KEY": "x",
        "PGPASSWORD": "x",
        "COPY_OF_IT": VALUE,
    }
    assert environment_with_secrets(environ, {"DB_PASSWORD": VALUE}) == {
        "PATH": "/bin",
        "PWD": "/here",
        "HOME": "/root",
        "KEYBOARD": "de",
        "DB_PASSWORD": VALUE,
    }


def test_a_tool_cannot_name_a_setting_of_pulsus_as_its_secret():
    tool = needs("PULSUS_LLM_API_KEY")
    assert "Pulsus's own" in tool.contract_errors[0]


def test_a_value_is_hidden_however_it_is_written():
    veil = SecretMask(['p"w ö'])
    assert veil.text('a p"w ö b') == f"a {MARK} b"
    assert veil.text("p%22w%20%C3%B6") == MARK
    assert veil.value({'p"w ö': ['x p"w ö', 1, None, True]}) == {MARK: [f"x {MARK}", 1, None, True]}


def test_a_short_secret_is_hidden_too_and_a_number_that_is_one():
    assert SecretMask(["1234"]).value({"pin": 1234, "n": 12345}) == {"pin": MARK, "n": 12345}
    assert SecretMask(["red"]).text("red [redacted]") == f"{MARK} [{MARK}acted]"


def test_an_error_loses_the_value_in_words_and_details():
    error = ToolFailed(f"bad {VALUE}", hint=VALUE, tool="x", stderr_tail=f"x {VALUE}", n=1)
    veiled = SecretMask([VALUE]).error(error)
    assert VALUE not in f"{veiled} {veiled.message} {veiled.hint} {veiled.details}"
    assert veiled.details["n"] == 1


@given(st.text("ab", max_size=30), st.text("ab", min_size=2, max_size=4), st.integers(1, 5))
def test_output_in_pieces_never_shows_a_value_and_loses_nothing_else(text, value, size):
    passed: list[bytes] = []
    stream = SecretMask([value]).output(passed.append)
    for start in range(0, len(text), size):
        stream(text[start : start + size].encode())
    stream.close()
    shown = b"".join(passed).decode()
    assert value not in shown
    if value not in text:
        assert shown == text


@pytest.mark.sandbox
def test_a_dry_run_has_no_secret_in_its_environment(monkeypatch):
    monkeypatch.setenv("DB_PASSWORD", VALUE)
    outcome = sandboxed(
        '''
        """Tool.

        Secrets: DB_PASSWORD
        """
        import os
        from pathlib import Path
        def run():
            return [os.environ.get("DB_PASSWORD"), Path("/proc/self/environ").read_text()]
        '''
    )
    assert outcome.status == "ok"
    assert VALUE not in str(outcome.value)
    assert outcome.value[0] is None
