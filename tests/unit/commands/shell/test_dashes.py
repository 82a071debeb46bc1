"""A character that looks like a dash is judged as itself and as a dash: neither may write."""

import pytest

from pulsus.commands.classify import examine
from pulsus.commands.judge_context import JudgeContext


@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("ls {0}la", True),
        ("find . {0}name '*.txt' {0}print", True),
        ("find . {0} name '*.txt'", True),
        ("find . {0}delete", False),
        ("find . -type f {0}exec rm {0}f {{}} \\;", False),
        ("sort {0}o out in", False),
        ("sort {0}{0}output=out in", False),
        ("sort {0}-output=out in", False),
        ("tail {0}f a.log", False),
        ("tail {0}* a.log", False),
        ("timeout 5 sort {0}o out in", False),
        ("{0}ls", False),
        ("md5sum {0}c sums", False),
        ("du {0}{0}files0-from=list", False),
    ],
)
def test_a_look_alike_dash_is_an_operand_and_an_option(command, read):
    for dash in ("–", "—", "−", "‐", "‑", "﹣", "－", "➖"):
        written = command.format(dash)
        assert examine(written, JudgeContext()).deciding.is_read is read, written
