"""Typed values are found in a request, and what only looks like one is not."""

import pytest

from pulsus.core.arguments.spans.dates import iso_date, read_clock
from pulsus.core.arguments.spans.find_spans import find_spans


def kinds(request):
    return {(span.kind, span.value) for span in find_spans(request).values}


@pytest.mark.parametrize(
    ("request_", "span"),
    [
        ("split into /27", ("prefix", 27.0)),
        ("how many 404s", ("counted", 404.0)),
        ("within 2 weeks", ("duration", 1209600.0)),
        ("above 500 MB", ("size", 500 * 1024.0**2)),
        ("host:993 is mail.example.com:993", ("port", 993.0)),
        ("in /var/log/syslog.", ("path", "/var/log/syslog")),
        ("unpack bak/svc.tar.gz", ("path", "bak/svc.tar.gz")),
        ("lint svc/values.prod.yaml, then", ("path", "svc/values.prod.yaml")),
        ("lint svc/a.yaml.", ("path", "svc/a.yaml")),
        ("files in logs/old older", ("path", "logs/old")),
        ("back up the folder svc/data/", ("path", "svc/data/")),
        ("did anything change in play/ today", ("path", "play/")),
        ("put play/logs into an archive", ("path", "play/logs")),
        ("at 298K", ("counted", 298.0)),
        ("for 40k files", ("number", 40000.0)),
        ("run */5 * * * * daily", ("cron", "*/5 * * * *")),
        ("the net 10.0.0.0/8", ("network", "10.0.0.0/8")),
        ("the five biggest files", ("number", 5.0)),
        ("top five files", ("number", 5.0)),
        ("a dozen oldest backups", ("number", 12.0)),
        ("the five units with errors", ("numeral", 5.0)),
        ("five test files", ("numeral", 5.0)),
        ("the one biggest file", ("numeral", 1.0)),
        ("is sshd.service up", ("identifier", "sshd.service")),
        ("state of getty@tty1.service", ("identifier", "getty@tty1.service")),
        ("when does logrotate.timer fire", ("identifier", "logrotate.timer")),
        ("docker.socket, please", ("identifier", "docker.socket")),
        ("reached multi-user.target?", ("identifier", "multi-user.target")),
        ("is home-data.mount there", ("identifier", "home-data.mount")),
        ("web01.example.service failed", ("identifier", "web01.example.service")),
        ("read /etc/systemd/system/a.service", ("path", "/etc/systemd/system/a.service")),
        ("read ./a.service", ("path", "./a.service")),
        ("my.service.local answers", ("host", "my.service.local")),
        ("sum up app.target.csv", ("file", "app.target.csv")),
    ],
)
def test_a_value_is_read_with_its_kind(request_, span):
    assert span in kinds(request_)


@pytest.mark.parametrize(
    ("request_", "kind"),
    [
        ("999.1.2.3", "address"),
        ("10.0.0.0/99", "network"),
        ("into /129", "prefix"),
        ("99 99 99 99 99", "cron"),
        ("at 25:99", "clock"),
        ("host.example.com:99999", "port"),
        ("5 \u017f", "duration"),
        ("half pa\u017ft \u017fix", "clock"),
        ("m\u0131dnight", "clock"),
        ("9" * 400 + " hours", "duration"),
        ("open https://{host}/x", "url"),
    ],
)
def test_a_text_that_only_looks_like_a_value_is_none(request_, kind):
    assert kind not in {name for name, _ in kinds(request_)}


@pytest.mark.parametrize(
    "request_", ["in client/server mode", "from read/write to read", "errors and/or warnings"]
)
def test_two_words_with_a_slash_are_no_path(request_):
    assert kinds(request_) == set()


def test_plain_words_are_no_identifiers():
    assert kinds("find the largest files quickly") == set()


def test_the_date_of_the_request_is_no_value():
    assert kinds("Today is 2024-05-06. List the errors") == set()


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("May 5, 2023", "2023-05-05"),
        ("31.12.2023", "2023-12-31"),
        ("12/31/23", "2023-12-31"),
        ("2023/2/1", "2023-02-01"),
        ("0001-01-02", "0001-01-02"),
        ("01/02/0003", "0003-01-02"),
        ("0000-01-02", ""),
        ("February 30, 2023", ""),
        ("May 5", ""),
    ],
)
def test_a_date_without_a_year_or_day_is_not_completed(text, date):
    assert iso_date(text) == date


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("8am", "08:00"),
        ("12 pm", "12:00"),
        ("7 in the evening", "19:00"),
        ("half past six", "06:30"),
        ("quarter to 9", "08:45"),
        ("13pm", ""),
        ("24:00", ""),
    ],
)
def test_a_time_of_day_is_read_or_refused(text, clock):
    assert read_clock(text) == clock
