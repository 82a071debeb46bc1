"""Services and schedules."""

import json
import os
from datetime import datetime, timedelta

import pytest

UNITS = """\
  cron.service     loaded    active   running Regular background program processing daemon
● nginx.service    loaded    failed   failed  A web server
  ghost.service    not-found inactive dead    ghost.service
  dbus.socket      loaded    active   running D-Bus
"""


def test_service_status_lists_failed_services_first(load, tmp_path):
    listing = tmp_path / "units.txt"
    listing.write_text(UNITS, encoding="utf-8")
    result = load("services/status/service_status").run(path=str(listing))
    assert [row["unit"] for row in result["rows"]] == [
        "nginx.service",
        "cron.service",
        "ghost.service",
    ]
    assert result["failed"] == ["nginx.service"]
    assert result["rows"][2]["load"] == "not-found"


def test_service_status_reads_json_and_filters(load, tmp_path):
    tool = load("services/status/service_status")
    listing = tmp_path / "units.json"
    units = [
        {"unit": "a.service", "load": "loaded", "active": "active", "sub": "running"},
        {"unit": "b.service", "load": "loaded", "active": "inactive", "sub": "dead"},
    ]
    listing.write_text(json.dumps(units), encoding="utf-8")
    assert tool.run(path=str(listing), state="dead")["rows"][0]["unit"] == "b.service"
    assert tool.run(path=str(listing), name="A.")["total"] == 1
    with pytest.raises(ValueError, match="'broken' is not known"):
        tool.run(state="broken")


def test_service_status_says_so_where_there_is_no_systemd(load, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    result = load("services/status/service_status").run()
    assert result["rows"] == []
    assert "systemctl is not installed" in result["error"]


def test_service_status_asks_systemctl_for_states_and_enablement(load, monkeypatch, tmp_path):
    fake = tmp_path / "systemctl"
    fake.write_text(
        "#!/bin/sh\n"
        'case "$1" in\n'
        "list-units) echo 'a.service loaded active running A';;\n"
        "*) echo 'a.service disabled enabled';;\n"
        "esac\n",
        encoding="utf-8",
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin:/bin")
    result = load("services/status/service_status").run()
    assert result["rows"][0]["enabled"] == "disabled"
    assert result["error"] is None


def test_cron_jobs_finds_every_kind_of_crontab(load, tmp_path):
    files = {
        "etc/crontab": "PATH=/bin\n\n*/5 * * * *  root  run-parts /x\n",
        "etc/cron.d/certbot": "0 */12 * * * root certbot renew\n",
        "etc/cron.d/old.dpkg-old": "0 0 * * * root no\n",
        "etc/cron.daily/logrotate": "#!/bin/sh\n",
        "var/spool/cron/crontabs/ada": "@reboot /home/ada/start\n0 9 * jan-mar mon-fri report a\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    tool = load("services/schedule/cron_jobs")
    result = tool.run(str(tmp_path))
    assert result["users"] == {"ada": 2, "root": 3}
    assert result["errors"] == []
    assert [row["command"] for row in tool.run(str(tmp_path), user="ada")["rows"]] == [
        "/home/ada/start",
        "report a",
    ]


@pytest.mark.parametrize(
    "command",
    ["curl -u x --password s3cret", "API_KEY=s3cret run", "wget https://ada:s3cret@example.org/"],
)
def test_cron_jobs_never_shows_a_secret_of_a_command_line(load, tmp_path, command):
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/crontab").write_text(f"0 0 * * * root {command}\n", encoding="utf-8")
    result = load("services/schedule/cron_jobs").run(str(tmp_path))
    assert result["total"] == 1
    assert "s3cret" not in str(result)


def test_cron_jobs_reports_lines_it_cannot_read(load, tmp_path):
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/crontab").write_bytes(b"\xff\xff\n* * *\n1 2 3 4 5 root\n")
    result = load("services/schedule/cron_jobs").run(str(tmp_path))
    assert [error["line"] for error in result["errors"]] == [1, 2, 3]
    with pytest.raises(FileNotFoundError):
        load("services/schedule/cron_jobs").run(str(tmp_path / "absent"))


@pytest.mark.parametrize(
    ("expression", "words", "first"),
    [
        ("@daily", "at 00:00, every day", "2025-01-02T00:00"),
        ("*/15 * * * *", "every 15 minutes", "2025-01-01T00:15"),
        ("0 9 1 JAN *", "at 09:00, on day 1 of the month, in January", "2025-01-01T09:00"),
        ("30 6,18 * * 7", "at 06:30 and 18:30, on Sunday", "2025-01-05T06:30"),
        ("0 0 13 * fri", "at 00:00, on day 13 of the month or on Friday", "2025-01-03T00:00"),
        ("0 0 */2 * mon", "at 00:00, on every 2 days of the month, on Monday", "2025-01-13T00:00"),
        ("0 0 29 2 *", "at 00:00, on day 29 of the month, in February", "2028-02-29T00:00"),
        ("0 12 * * fri-sun", "at 12:00, on Friday to Sunday", "2025-01-03T12:00"),
        ("10-12 4 * * *", "at 04:10, 04:11 and 04:12, every day", "2025-01-01T04:10"),
    ],
)
def test_explain_cron_says_what_and_when(load, expression, words, first):
    result = load("services/schedule/explain_cron").run(expression, 1, "2025-01-01T00:00:00Z")
    assert result["explanation"] == words
    assert result["next_run"] == f"{first}:00+00:00"


def test_explain_cron_agrees_with_a_minute_by_minute_search(load):
    tool = load("services/schedule/explain_cron")
    start = datetime.fromisoformat("2024-02-27T22:10:00+00:00")
    rows = tool.run("*/20 1-23/7 28-31,1 * 2", 20, start.isoformat())["rows"]
    expected: list[str] = []
    time = start
    while len(expected) < 20:
        time += timedelta(minutes=1)
        day = time.day in (28, 29, 30, 31, 1) or time.isoweekday() == 2
        if time.minute % 20 == 0 and time.hour in (1, 8, 15, 22) and day:
            expected.append(time.isoformat())
    assert [row["time"] for row in rows] == expected


@pytest.mark.parametrize(
    "expression",
    ["", "* * * *", "60 * * * *", "* * 0 * *", "*/0 * * * *", "a * * * *", "5-1 * * * *"],
)
def test_explain_cron_refuses_what_cron_refuses(load, expression):
    with pytest.raises(ValueError, match=r"fields|out of range|not understood"):
        load("services/schedule/explain_cron").run(expression)


def test_explain_cron_takes_any_time_zone_and_warns_of_uneven_steps(load):
    tool = load("services/schedule/explain_cron")
    result = tool.run("0 12 * * *", 1, "2025-01-01T12:30:00+02:00")
    assert result["next_run"] == "2025-01-01T12:00:00+00:00"
    assert "evenly" in tool.run("*/7 * * * *", 0)["note"]
    assert tool.run("@reboot")["next_run"] is None
    with pytest.raises(ValueError, match="'soon' is no time"):
        tool.run("* * * * *", after="soon")
