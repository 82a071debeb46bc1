"""A table fits the terminal: by shorter headings, fewer columns and lines of their own."""

from pulsus.cli.results.result_lines import ResultView, result_lines
from pulsus.cli.results.text_cells import fold, fold_head, shorten

LONG = "/srv/releases/2026/november/pulsus-workbench-linux-x86_64-with-all-extras.tar.gz"


def lines(result, width=80, **view):
    return [line for _, line in result_lines(result, ResultView(width, **view))]


def test_a_path_that_is_too_wide_stands_on_its_own_line_and_stays_whole():
    records = [{"path": LONG, "bytes": 1}, {"path": "/etc/hosts", "bytes": 2048}]
    shown = lines(records, width=60)
    assert LONG in shown
    assert shown[-1].split() == ["/etc/hosts", "2.0", "KiB"]


def test_two_columns_never_get_the_same_short_heading():
    wide = {"used_bytes": 1, "used_percent": 2.0, "used_seconds": 3, "text": "word " * 30}
    head = lines([wide] * 2)[0]
    assert head.split()[:4] == ["used_bytes", "used", "%", "used_seconds"]


def test_columns_without_a_value_go_before_columns_with_one():
    record = {"name": "n" * 20, "empty": None, "a": "x" * 20, "b": "y" * 25}
    shown = lines([record, {**record, "b": "z" * 25}], width=72)
    assert shown[0].split() == ["name", "a", "b"]
    assert shown[-1] == "(not shown: empty; --full shows all)"


def test_an_error_column_stays_longer_than_the_columns_before_it():
    records = [{"name": "a" * 20, "x": "1" * n, "y": "2" * n, "error": "refused"} for n in (19, 20)]
    assert lines(records, width=54)[0].split() == ["name", "x", "error"]


def test_a_table_that_fits_keeps_every_name_and_column():
    assert lines([{"size_bytes": 1, "note": None}]) == ["size_bytes  note", "       1 B  –"]


def test_a_text_is_shortened_at_a_blank_and_never_in_a_word():
    assert shorten("cannot open /var/log/syslog, it is gone", 30) == "cannot open /var/log/syslog…"
    assert shorten("/var/log/syslog", 5) == "/var/log/syslog"


def test_a_heading_is_cut_after_its_underscores():
    assert fold_head("memory_limit_bytes", 8) == ["memory_", "limit_", "bytes"]


def test_a_word_that_does_not_fit_beside_the_indentation_moves_left():
    assert list(fold("see /a/very/long/path/here now", 24, "name  ", 6)) == [
        "name  see",
        "  /a/very/long/path/here",
        "      now",
    ]


def test_a_time_is_never_shortened_while_another_column_repeats(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    name = "a certificate authority of some length"
    row = {"subject": name, "issuer": name, "not_after": "2026-12-18T10:11:12+00:00", "days": 20}
    shown = lines([row], width=64)
    assert "2026-12-18 10:11:12" in shown[1]
    assert "(not shown: issuer; --full shows all)" in shown


def test_a_column_that_the_request_names_is_not_left_out():
    row = {"user": "u" * 20, "home": "h" * 20, "shell": "s" * 20, "can_log_in": True}
    records = [row, {**row, "home": "i" * 20, "shell": "t" * 20, "can_log_in": False}]
    asked = frozenset(["which", "accounts", "can", "log", "in"])
    assert lines(records, width=50)[-1].startswith("(not shown: shell, can_log_in")
    assert lines(records, width=50, request=asked)[-1] == "(not shown: shell; --full shows all)"
