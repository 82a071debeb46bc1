"""Steps of a plan run in the order in which the words want them to happen."""

import pytest

from pulsus.core.compose.selection.time_order import order_in_time


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "before restarting nginx, back up /etc/nginx to /tmp/n.tgz",
            "back up /etc/nginx to /tmp/n.tgz, then restart nginx",
        ),
        (
            "restart nginx after setting user to web in /etc/nginx/nginx.conf",
            "set user to web in /etc/nginx/nginx.conf, then restart nginx",
        ),
        (
            "remove user bob, but first back up /home/bob to /tmp/b.tgz",
            "back up /home/bob to /tmp/b.tgz, then remove user bob",
        ),
        (
            "delete user bob, but back up /home/bob to /tmp/b.tgz first",
            "back up /home/bob to /tmp/b.tgz, then delete user bob",
        ),
        (
            "once you have rotated /var/log/a.log, restart app and then list the cron jobs",
            "rotate /var/log/a.log, then restart app and then list the cron jobs",
        ),
        (
            "back up /etc/app before you restart app",
            "back up /etc/app, then restart app",
        ),
    ],
)
def test_a_step_that_is_named_later_does_not_run_too_late(text, wanted):
    assert order_in_time(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "errors in app.log before 10:00, as a table",
        "restart nginx, then list the cron jobs",
        "processes started after the last boot",
        "set title to 'before restarting it, back up' in a.ini",
    ],
)
def test_a_time_and_a_quoted_text_are_no_order(text):
    assert order_in_time(text) == text


def test_words_of_caution_hide_no_step():
    text = "before you touch anything back up /etc/app, then restart app"
    assert order_in_time(text) == "back up /etc/app, then restart app"
