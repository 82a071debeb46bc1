"""Results on a terminal and in a pipe: colour, markdown and pictures only for a person."""

import base64
import io
import struct
import zlib
from dataclasses import replace

import pytest

from pulsus.cli.results import pictures
from pulsus.cli.results.print_result import print_result
from pulsus.cli.results.result_parts import result_parts
from pulsus.core.types import JsonValue, Plan, PlanStep
from tests.compositions import spec

RESULT = {"rows": [{"path": "/srv", "size_bytes": 2048}], "ok": False}


class TerminalStream(io.StringIO):
    """Text that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def shown(monkeypatch):
    """Return a function that prints a result, and what the stream then holds."""
    for name in ("NO_COLOR", "COLUMNS", "TMUX", "TERM_PROGRAM", "LC_TERMINAL", "KITTY_WINDOW_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")

    def print_to(stream, result, *, parts=(), **env):
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.stdout", stream)
        print_result(result, parts=parts)
        return stream.getvalue()

    return print_to


def png(path):
    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    chunk = b"IHDR" + header
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    )
    return path


def test_a_terminal_gets_units_and_colour(shown):
    text = shown(TerminalStream(), RESULT, COLUMNS="80")
    assert "\x1b[31mnot ok\x1b[0m" in text
    assert "2.0 KiB" in text


def test_no_color_is_respected(shown):
    text = shown(TerminalStream(), RESULT | {"markdown": "# A\n\n*b*"}, COLUMNS="80", NO_COLOR="1")
    assert "\x1b[3" not in text.replace("\x1b[3m", "")  # italics are no colour


def test_a_pipe_gets_neither_colour_nor_units(shown):
    text = shown(io.StringIO(), RESULT)
    assert text == "ok  no\n\npath  size_bytes\n/srv        2048\n"


def test_a_pipe_with_columns_is_laid_out_for_a_reader_and_keeps_all_rows(shown):
    rows = [{"n": number, "size_bytes": 2048} for number in range(100)]
    text = shown(io.StringIO(), {"rows": rows}, COLUMNS="60")
    assert text.count("2.0 KiB") == 100
    assert "\x1b" not in text


def test_markdown_is_rendered_on_a_terminal_and_kept_in_a_pipe(shown):
    markdown = "## Disks\n\n| path | used |\n| --- | ---: |\n| /srv/data | 81.5 |\n"
    on_terminal = shown(TerminalStream(), {"markdown": markdown}, COLUMNS="80", NO_COLOR="1")
    assert "| --- |" not in on_terminal
    assert "/srv/data  81.5" in on_terminal


def test_a_markdown_table_in_a_pipe_stays_markdown(shown):
    assert shown(io.StringIO(), {"markdown": "| a |\n| --- |\n"}) == "| a |\n| --- |\n"


def test_a_markdown_text_cannot_drive_the_terminal(shown):
    text = shown(
        TerminalStream(), {"markdown": "a\x1b]0;owned\x07\n\n[x](http://evil)"}, COLUMNS="80"
    )
    assert "\x1b]" not in text
    assert "http://evil" in text


def test_a_picture_is_inline_where_the_terminal_can(shown, tmp_path):
    path = png(tmp_path / "plot.png")
    text = shown(TerminalStream(), {"figure_path": str(path)}, COLUMNS="200", TERM="xterm-kitty")
    assert f"figure_path  {path}" in text
    data = base64.standard_b64encode(path.read_bytes()).decode()
    assert f"\x1b_Ga=T,f=100,m=0;{data}\x1b\\" in text


def test_a_picture_is_named_only_where_the_terminal_cannot(shown, tmp_path):
    text = shown(TerminalStream(), {"figure_path": str(png(tmp_path / "a.png"))}, COLUMNS="200")
    assert "\x1b_G" not in text
    assert "\x1b]1337" not in text


@pytest.mark.parametrize(
    ("environ", "protocol"),
    [
        ({"TERM_PROGRAM": "iTerm.app"}, "iterm2"),
        ({"LC_TERMINAL": "iTerm2"}, "iterm2"),
        ({"KITTY_WINDOW_ID": "1"}, "kitty"),
        ({"KITTY_WINDOW_ID": "1", "TMUX": "/tmp/tmux"}, None),
        ({"TERM": "screen-256color", "TERM_PROGRAM": "WezTerm"}, None),
        ({"TERM": "xterm-256color"}, None),
    ],
)
def test_the_environment_says_which_pictures_a_terminal_shows(environ, protocol):
    assert pictures.inline_protocol(environ) == protocol


def test_a_file_that_is_no_picture_is_never_sent_to_the_terminal(tmp_path):
    secret = tmp_path / "id_rsa.png"
    secret.write_text("-----BEGIN", encoding="utf-8")
    link = tmp_path / "link.png"
    link.symlink_to(png(tmp_path / "real.png"))
    for path in (secret, link, tmp_path / "missing.png", "relative.png"):
        assert list(pictures.inline_pictures({"p": str(path)}, "iterm2")) == []


def test_a_markdown_table_never_cuts_a_path_on_a_terminal(shown):
    path = f"/srv/{'very-long-' * 12}name.pack"
    markdown = f"| path | size_bytes |\n| --- | ---: |\n| {path} | 2048 |\n"
    text = shown(TerminalStream(), {"markdown": markdown}, COLUMNS="80", NO_COLOR="1")
    assert path in text
    assert "2.0 KiB" in text


TWO: dict[str, JsonValue] = {
    "s1_rows": [{"mount": "/"}],
    "s1_ok": True,
    "rows": [{"kind": "ram"}],
    "ok": False,
}


def two_steps():
    gives = {"rows": "list", "ok": "bool"}
    disks, memory = (spec(f"a/b/{name}", gives=gives) for name in ("disks", "memory"))
    about = tuple(replace(o, description=f"Whether {o.name} is fine.") for o in memory.returns)
    memory = replace(memory, returns=about)
    steps = (
        PlanStep("s1", disks.id, {}, {"s1_rows": "rows", "s1_ok": "ok"}),
        PlanStep("s2", memory.id, {}, {"rows": "rows", "ok": "ok"}),
    )
    return Plan("Both.", steps), [disks, memory]


def test_two_tools_in_one_answer_have_their_names_above_them(shown):
    parts = list(result_parts(TWO, *two_steps()))
    text = shown(TerminalStream(), TWO, parts=parts, COLUMNS="80", NO_COLOR="1")
    assert "s1_" not in text
    assert text.index("disks") < text.index("mount") < text.index("memory") < text.index("kind")
    assert "not ok  expected: ok is fine" in text


def test_two_tools_in_a_pipe_keep_the_names_of_the_result(shown):
    text = shown(io.StringIO(), TWO, parts=list(result_parts(TWO, *two_steps())))
    assert "s1_rows" in text
    assert "expected" not in text


def test_a_result_that_the_plan_does_not_cover_stays_whole():
    plan, tools = two_steps()
    found: dict[str, JsonValue] = {**TWO, "more": 1}
    assert [part.result for part in result_parts(found, plan, tools)] == [found]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("Whether it is fine.", "expected: it is fine"),
        ("True if it is fine.", "expected: it is fine"),
        ("False if it still runs.", "it still runs"),
        ("The same as `open`.", "ok is: the same as `open`"),
        ("", ""),
    ],
)
def test_a_result_that_is_not_ok_says_what_is_wrong(said, why):
    tool = spec("a/b/check", gives={"ok": "bool"})
    tool = replace(tool, returns=tuple(replace(o, description=said) for o in tool.returns))
    (part,) = result_parts({"ok": False}, None, [tool])
    assert part.why_not_ok == why


def test_a_placeholder_in_a_table_is_not_lost_as_html(shown):
    table = "| message |\n| --- |\n| connection to db<n> refused |\n| a\\<b><br>c |\n"
    text = shown(TerminalStream(), {"markdown": table}, COLUMNS="80", NO_COLOR="1")
    assert "connection to db<n> refused" in text
    assert "a<b> c" in text


def test_a_composed_table_keeps_the_units_of_its_columns(shown):
    table = (
        "| mount | used_percent | version | parts |\n| --- | ---: | --- | --- |\n"
        '| / | 81.25 | 1.10 | [{"used_percent":12.5}] |\n| /var |  | 1.9 | [] |\n'
    )
    text = shown(TerminalStream(), {"markdown": table}, COLUMNS="80", NO_COLOR="1")
    assert "81.2 %" in text
    assert "1.10" in text
    assert "used_percent 12.5 %" in text
    assert "–" in text
