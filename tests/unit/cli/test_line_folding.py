"""A long line on a narrow terminal: nothing is lost, nothing is cut."""

from hypothesis import given
from hypothesis import strategies as st

from pulsus.cli.line_folding import fold_line

LONG = "error[TOOL_NOT_FOUND]: no tool is called 'disk_usge', nor anything like it in this project"


def test_a_line_that_fits_stays_as_it_is():
    assert fold_line("a  b   c", 80) == "a  b   c"


def test_a_long_line_continues_below_its_text():
    assert fold_line(LONG, 50).split("\n") == [
        "error[TOOL_NOT_FOUND]: no tool is called",
        "  'disk_usge', nor anything like it in this",
        "  project",
    ]
    hint = fold_line("  hint: give this user write access to it, or name another folder", 40)
    assert hint.split("\n")[1].startswith("        ")


def test_a_command_or_path_is_never_cut():
    path = "/a/very/long/path/that/is/wider/than/the/terminal/is.py"
    assert path in fold_line(f"cannot write {path}: no space left", 24).split("\n")[1]


def test_a_path_that_is_too_wide_below_its_label_begins_further_left():
    path = "/srv/data/app.yaml.20260301T120000Z-97f2ee144c9a.bak"
    folded = fold_line(f"              backup  {path}", 60).split("\n")
    assert folded == ["              backup", f"        {path}"]


def test_colours_take_no_room():
    plain = LONG[:50]
    assert fold_line("\x1b[31merror\x1b[0m" + plain.removeprefix("error"), 50).count("\n") == 0


@given(st.lists(st.text("abc:/-", min_size=1, max_size=30), min_size=1), st.integers(1, 200))
def test_no_word_is_lost_and_no_line_is_wider_than_it_must_be(words, width):
    folded = fold_line(" ".join(words), width)
    assert folded.split() == words
    for line in folded.split("\n"):
        assert len(line) <= max(width, 20) or len(line.split()) == 1


def test_a_line_breaks_first_where_two_blanks_part_it():
    line = "[PULSUS] policy=select  validation=not run  route_id=route-1  already promoted"
    assert fold_line(line, 60) == (
        "[PULSUS] policy=select  validation=not run  route_id=route-1\n  already promoted"
    )


def test_a_command_in_a_hint_is_not_wrapped_so_that_it_can_be_copied():
    command = "pulsus promote workflows/_tmp/count_errors.py --action check --name 'a; b, or c'"
    hint = f"  hint: prove and promote it: {command}, or leave it in workflows/_tmp, where it is"
    assert fold_line(hint, 60).split("\n") == [
        "  hint: prove and promote it:",
        command,
        "        or leave it in workflows/_tmp, where it is",
    ]
    assert fold_line(f"[PULSUS]   promote: {command}", 60).split("\n")[1] == command


def test_a_command_in_backticks_is_not_wrapped():
    line = "this project is not trusted yet: `pulsus config trust tools.python` shows it and asks"
    assert fold_line(line, 50).split("\n") == [
        "this project is not trusted yet:",
        "  `pulsus config trust tools.python` shows it and",
        "  asks",
    ]
