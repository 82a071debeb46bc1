"""An unclosed docstring is repaired without another answer (spec §7)."""

import pytest

from pulsus.core.compose.writing.module_from_answer import close_docstring
from tests.generation import MODULE

OPEN = MODULE.replace('"""\n\nfrom __future__', "\nfrom __future__").encode()


def test_an_unclosed_docstring_is_closed_before_the_code():
    assert OPEN.count(b'"""') == 1
    assert close_docstring(OPEN) == MODULE.encode()


@pytest.mark.parametrize(
    "source",
    [
        MODULE.encode(),
        OPEN[: OPEN.index(b"from __future__")],
        OPEN.replace(b"def run(", b"def run(("),
        b"from __future__ import annotations\ndef run(:",
        b"",
    ],
)
def test_source_with_another_error_stays_unchanged(source):
    assert close_docstring(source) == source
