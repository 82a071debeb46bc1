"""Log files and the journal."""

import gzip
import json
import os
import struct

import pytest


def test_error_counts_groups_the_same_complaint_about_different_things(load, tmp_path):
    log = tmp_path / "app.log"
    log.write_text(
        "2025-03-01T10:00:00Z [ERROR] db: timeout after 31 ms from 10.0.0.7:5432\n"
        "2025-03-01T10:00:01Z [ERROR] db: timeout after 9.5 ms from 10.0.0.8:5432\n"
        '{"level":"error","msg":"boom"}\n'
        "Mar  1 10:00:02 host app[77]: FATAL: out of memory\n"
        "2025-03-01T10:00:03Z INFO no error at all\n"
        "kernel: warning: low space\n",
        encoding="utf-8",
    )
    result = load("logs/errors/error_counts").run(str(log))
    assert result["counts"] == {"critical": 1, "error": 3, "warning": 1}
    assert result["rows"][0]["message"] == "db: timeout after <n> ms from <ip>"
    assert result["rows"][0]["count"] == 2
    assert (result["lines"], result["distinct"]) == (6, 4)


def test_error_counts_survives_bad_bytes_and_huge_lines(load, tmp_path):
    log = tmp_path / "app.log.gz"
    with gzip.open(log, "wb") as stream:
        stream.write(b"ERROR \xff\xfe broken\n" + b"x" * 5_000_000 + b"\nWARN last")
    result = load("logs/errors/error_counts").run(str(log), levels=["warning"])
    assert result["counts"] == {"critical": 0, "error": 1, "warning": 1}
    assert [row["message"] for row in result["rows"]] == ["last"]
    assert result["lines"] == 3


def test_error_counts_refuses_unknown_levels(load, tmp_path):
    tool = load("logs/errors/error_counts")
    (tmp_path / "e").touch()
    assert tool.run(str(tmp_path / "e"))["rows"] == []
    with pytest.raises(ValueError, match="'loud' is not known"):
        tool.run(str(tmp_path / "e"), levels=["loud"])
    with pytest.raises(FileNotFoundError):
        tool.run(str(tmp_path / "absent"))


def journal(*entries):
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def test_journal_errors_counts_by_unit_and_keeps_the_latest_message(load, tmp_path):
    export = tmp_path / "j.json"
    unit = {"_SYSTEMD_UNIT": "db.service", "PRIORITY": "3"}
    export.write_text(
        journal(
            unit | {"MESSAGE": "second", "__REALTIME_TIMESTAMP": "1740823260000000"},
            unit | {"MESSAGE": "first", "__REALTIME_TIMESTAMP": "1740823200000000"},
            {"SYSLOG_IDENTIFIER": "su", "PRIORITY": "4", "MESSAGE": "warned"},
            {"PRIORITY": "x"},
        )
        + "not json\n",
        encoding="utf-8",
    )
    tool = load("logs/errors/journal_errors")
    result = tool.run(str(export))
    assert result["rows"] == [
        {"unit": "db.service", "errors": 2, "worst": "error", "last_message": "second"}
        | {"last_time": "2025-03-01T10:01:00+00:00"}
    ]
    assert (result["entries"], result["malformed"]) == (5, 2)
    assert tool.run(str(export), priority=4)["total"] == 3


def test_journal_errors_refuses_a_file_that_is_no_journal(load, tmp_path):
    log = tmp_path / "app.log"
    log.write_text("ERROR no route\nok\n", encoding="utf-8")
    with pytest.raises(ValueError, match="none of the 2 entries could be read"):
        load("logs/errors/journal_errors").run(str(log))


def test_journal_errors_reads_binary_fields_of_the_export_format(load, tmp_path):
    export = tmp_path / "j.export"
    message = b"two\nlines"
    field = b"MESSAGE\n" + struct.pack("<Q", len(message)) + message + b"\n"
    export.write_bytes(b"PRIORITY=2\n_SYSTEMD_UNIT=a.service\n" + field + b"\nPRIORITY=1\n")
    result = load("logs/errors/journal_errors").run(str(export))
    assert [row["last_message"] for row in result["rows"]] == ["", "two\nlines"]
    assert [row["worst"] for row in result["rows"]] == ["alert", "critical"]


def test_journal_errors_says_why_there_is_no_journal(load, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    tool = load("logs/errors/journal_errors")
    assert "journalctl is not installed" in tool.run()["error"]
    fake = tmp_path / "journalctl"
    fake.write_text("#!/bin/sh\necho no access >&2\nexit 1\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin:/bin")
    assert tool.run()["error"] == "journalctl failed with status 1: no access"
    with pytest.raises(ValueError, match="priority 9"):
        tool.run(priority=9)


def test_journal_errors_asks_journalctl_for_the_wanted_hours(load, monkeypatch, tmp_path):
    fake = tmp_path / "journalctl"
    fake.write_text(
        '#!/bin/sh\nprintf \'{"PRIORITY":"3","UNIT":"u","MESSAGE":"%s"}\\n\' "$*"\n',
        encoding="utf-8",
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin:/bin")
    result = load("logs/errors/journal_errors").run(priority=4, since_hours=2)
    assert result["error"] is None
    assert result["rows"][0]["last_message"].endswith("-p 4 --since -2h")


STAMPS = [
    "2025-03-01T10:00:00Z iso",
    "[2025-03-01 10:00:01,250] comma",
    "2025-03-01T12:00:02+02:00 zone",
    "Mar  1 10:00:03 host syslog",
    '10.0.0.1 - - [01/Mar/2025:11:00:04 +0100] "GET /"',
    "1740823205 epoch",
]


@pytest.mark.parametrize("second", range(6))
def test_log_window_understands_every_kind_of_stamp(load, tmp_path, second):
    log = tmp_path / "mixed.log"
    log.write_text("\n".join(STAMPS), encoding="utf-8")
    moment = f"2025-03-01T10:00:0{second}"
    result = load("logs/search/log_window").run(str(log), moment, moment + ".999999", year=2025)
    assert [row["text"] for row in result["rows"]] == [STAMPS[second]]
    assert result["lines"] == 6


def test_log_window_keeps_a_stack_trace_with_its_line(load, tmp_path):
    log = tmp_path / "app.log"
    log.write_text(
        "preamble\n2025-03-01 09:00:00 before\n2025-03-01 10:00:00 boom\n  at f\n  at g\n"
        "2025-13-77 10:00:01 no such day\n2025-03-01 11:00:00 after\n",
        encoding="utf-8",
    )
    result = load("logs/search/log_window").run(str(log), "2025-03-01T10:00", "2025-03-01T10:30")
    assert [row["line"] for row in result["rows"]] == [3, 4, 5, 6]
    assert result["unstamped"] == 1


def test_log_window_filters_and_limits_without_losing_the_count(load, tmp_path):
    log = tmp_path / "big.log.gz"
    with gzip.open(log, "wt", encoding="utf-8") as stream:
        stream.writelines(f"2025-03-01T10:00:00Z request {n}\n" for n in range(5000))
    tool = load("logs/search/log_window")
    result = tool.run(str(log), pattern=r"REQUEST \d*7$", limit=3)
    assert result["matched"] == 500
    assert [row["line"] for row in result["rows"]] == [8, 18, 28]
    with pytest.raises(ValueError, match="lies after end"):
        tool.run(str(log), "2025-02-01", "2025-01-01")
    with pytest.raises(ValueError, match="'yesterday' is no time"):
        tool.run(str(log), "yesterday")
    with pytest.raises(ValueError, match="no regular expression"):
        tool.run(str(log), pattern="(")


LINES = "logs/read/log_lines"


def test_the_last_errors_are_in_the_order_of_the_log_and_not_the_most_frequent(load, tmp_path):
    log = tmp_path / "app.log"
    log.write_text(
        "ERROR often\n" * 9
        + '{"msg": "no error", "level": "info"}\n'
        + '{"level": 50, "msg": "by number"}\n'
        + "FATAL last\nINFO error 7 is gone\n  the error again\n",
        encoding="utf-8",
    )
    result = load(LINES).run(str(log), limit=3, level="ERROR")
    assert [(row["line"], row["level"]) for row in result["rows"]] == [
        (11, "error"),
        (12, "critical"),
        (14, "error"),
    ]
    assert (result["shown"], result["matched"], result["lines"]) == (3, 12, 14)
    assert load(LINES).run(str(log), limit=1)["rows"][0]["text"] == "  the error again"


def test_long_lines_bad_bytes_and_compressed_logs_are_read(load, tmp_path):
    log = tmp_path / "app.1"
    log.write_bytes(gzip.compress(b"ERROR \xff\n" + b"x" * 50_000 + b" ERROR end\r\n"))
    result = load(LINES).run(str(log), contains="error END")
    assert (result["matched"], result["cut"], len(result["rows"][0]["text"])) == (1, 1, 4096)


@pytest.mark.parametrize(
    ("content", "level", "why"),
    [
        pytest.param(b"\0\1wtmp", "", "is a binary file", id="binary"),
        pytest.param(b"\xfd7zXZ\0", "", "compressed with xz", id="xz"),
        pytest.param(gzip.compress(b"a\n" * 99)[:-9], "", "damaged", id="cut off"),
        pytest.param(b"started\nstopped\n", "error", "none of the 2 lines", id="no levels"),
        pytest.param(
            b'1.2.3.4 - - [01/Mar/2026] "GET /error HTTP/1.1" 200 1\n',
            "error",
            "is an access log",
            id="access log",
        ),
        pytest.param(
            b'{"__REALTIME_TIMESTAMP": "1", "PRIORITY": "3"}\n',
            "error",
            "is a journal export",
            id="journal",
        ),
    ],
)
def test_no_errors_of_an_unread_log_is_no_answer(load, tmp_path, content, level, why):
    log = tmp_path / "app.log"
    log.write_bytes(content)
    with pytest.raises(ValueError, match=why):
        load(LINES).run(str(log), level=level)


def test_an_empty_log_has_no_lines_and_unknown_inputs_are_refused(load, tmp_path):
    log = tmp_path / "app.log"
    log.touch()
    assert load(LINES).run(str(log), level="error")["rows"] == []
    for inputs, why in (({"limit": 0}, "out of range"), ({"level": "loud"}, "'loud' is not known")):
        with pytest.raises(ValueError, match=why):
            load(LINES).run(str(log), **inputs)
    with pytest.raises(ValueError, match="no regular file"):
        load(LINES).run(str(tmp_path))
