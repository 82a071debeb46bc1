"""A script that does not parse is no tool; its own shell says where."""

import shutil

import pytest

from pulsus.adoption.shell.shell_syntax import find_syntax_error

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")


@pytest.mark.parametrize(
    ("script", "shell", "said"),
    [
        ("ls\nif then\n", "bash", "line 2: syntax error near unexpected token `then'"),
        ("ls\nfor x in; done\n", "sh", "line 2: "),
        ("echo 'a\n", "bash", "line 1: unexpected EOF"),
    ],
)
def test_a_syntax_error_is_reported_with_its_line(script, shell, said):
    assert find_syntax_error(script, shell).startswith(said)


@pytest.mark.parametrize(
    "script",
    ["if true; then ls; fi\n", "shopt -s extglob\nls !(a|b)\n", "[[ a == @(a|b) ]]\n", ""],
)
def test_a_script_that_parses_has_no_syntax_error(script):
    assert find_syntax_error(script, "bash") == ""


def test_a_syntax_check_does_not_run_the_script(tmp_path):
    assert find_syntax_error(f"touch {tmp_path}/x\nexit 3\n", "bash") == ""
    assert not (tmp_path / "x").exists()


def test_a_missing_shell_reports_no_syntax_error():
    assert find_syntax_error("if then\n", "nosuchshell") == ""
