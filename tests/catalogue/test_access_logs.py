"""Access logs."""

import gzip

import pytest

LINE = '{ip} - - [{day}/Mar/2025:10:00:00 +0100] "{request}" {status} {size} "-" "{agent}"\n'


def line(ip="10.0.0.1", day="01", request="GET / HTTP/1.1", status=200, size=10, agent="curl/8"):
    return LINE.format(ip=ip, day=day, request=request, status=status, size=size, agent=agent)


def test_access_log_summary_counts_a_compressed_log(load, tmp_path):
    log = tmp_path / "access.log.gz"
    lines = [line(ip=f"10.0.0.{n % 3}", status=500 if n % 10 == 0 else 200) for n in range(100)]
    with gzip.open(log, "wt", encoding="utf-8") as stream:
        stream.writelines(lines)
    result = load("web/logs/access_log_summary").run(str(log))
    assert result["requests"] == 100
    assert result["error_percent"] == 10.0
    assert result["rows"] == [{"path": "/", "requests": 100, "errors": 10, "bytes": 1000}]
    assert result["clients"][0] == {"client": "10.0.0.0", "requests": 34}


def test_access_log_summary_never_shows_a_query_string(load, tmp_path):
    log = tmp_path / "access.log"
    log.write_text(line(request="GET /login?token=s3cret HTTP/2.0"), encoding="utf-8")
    result = load("web/logs/access_log_summary").run(str(log))
    assert "s3cret" not in str(result)
    assert result["rows"][0]["path"] == "/login"


def test_access_log_summary_refuses_a_log_of_another_format(load, tmp_path):
    log = tmp_path / "app.log"
    log.write_text("ERROR no route\nok\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"none of the 2 lines of .*app\.log is in the common"):
        load("web/logs/access_log_summary").run(str(log))
    log.write_text(line(status=200), encoding="utf-8")
    assert load("web/logs/access_log_summary").run(str(log), status=404)["requests"] == 0


def test_access_log_summary_counts_what_it_cannot_read(load, tmp_path):
    log = tmp_path / "access.log"
    bad = b'\xff\xfe broken\n\x16\x03\x01 - - [x] "" 400 0\n\n'
    tls = line(request=r"\x16\x03\x01\x02", status=400).encode()
    common = b'::1 - ada [29/Feb/2024:23:59:59 +0000] "HEAD /x HTTP/1.0" 404 -\n'
    log.write_bytes(bad + tls + common + line(ip="2001:db8::1", agent=r"a \"b\"").encode())
    result = load("web/logs/access_log_summary").run(str(log))
    assert result["malformed"] == 2
    assert result["requests"] == 3
    assert {row["path"] for row in result["rows"]} == {"(invalid)", "/x", "/"}
    assert result["first"] == "2024-02-29T23:59:59+00:00"
    assert result["statuses"] == [
        {"status": 200, "requests": 1},
        {"status": 400, "requests": 1},
        {"status": 404, "requests": 1},
    ]


def test_access_log_summary_can_look_at_one_status(load, tmp_path):
    log = tmp_path / "access.log"
    log.write_text(line() + line(status=404, request="GET /gone HTTP/1.1"), encoding="utf-8")
    tool = load("web/logs/access_log_summary")
    assert [row["path"] for row in tool.run(str(log), status=404)["rows"]] == ["/gone"]
    with pytest.raises(ValueError, match="status 42"):
        tool.run(str(log), status=42)
    (tmp_path / "empty").touch()
    assert tool.run(str(tmp_path / "empty"))["requests"] == 0
    with pytest.raises(FileNotFoundError):
        tool.run(str(tmp_path / "absent"))
