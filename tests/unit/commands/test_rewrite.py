"""The same command so that it ends, judged before it is offered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.commands import classify

OFFERED = [
    ("tail -f /var/log/syslog", "tail -n 200 /var/log/syslog"),
    ("tail -F f", "tail -n 200 f"),
    ("tail --follow=name f", "tail -n 200 f"),
    ("tail -n 100 -f f", "tail -n 100 f"),
    ("tail -20 -f f", "tail -20 f"),
    ("tail -20f f", "tail -20 f"),
    ("tail -fn5 f", "tail -n5 f"),
    ("tail -f -- -f", "tail -n 200 -- -f"),
    ("tail -f 'a b' ./*.log 2>/dev/null", "tail -n 200 'a b' ./*.log 2>/dev/null"),
    ("tail -f \"a$\" | grep -i 'x y'", "tail -n 200 \"a$\" | grep -i 'x y'"),
    ("journalctl -f", 'journalctl -n 200 --since "10 min ago"'),
    ("journalctl -fu nginx", 'journalctl -n 200 --since "10 min ago" -u nginx'),
    ("journalctl --since today -f", "journalctl --since today"),
    ("docker logs -f web", "docker logs --tail=200 web"),
    ("docker logs --tail 5 --follow web", "docker logs --tail 5 web"),
    ("kubectl logs -f web", "kubectl logs --tail=200 --since=10m web"),
    ("kubectl logs -f -n prod web", "kubectl logs --tail=200 --since=10m -n prod web"),
    ("kubectl get pods -w", "kubectl get pods"),
    (
        "cat a; tail -f b; journalctl -f",
        'cat a; tail -n 200 b; journalctl -n 200 --since "10 min ago"',
    ),
    ("docker stats", "docker stats --no-stream"),
    ("ping host", "ping -c 4 host"),
    ("less /var/log/syslog", "cat /var/log/syslog"),
    ("journalctl -u x | less", "journalctl -u x | cat"),
    ("watch df -h", "df -h"),
    ("watch -n 1 'df -h'", "df -h"),
    ("watch -dn 2 df -h", "df -h"),
    ("watch -s shots df -h", "df -h"),
    ("less -N -S f", "cat f"),
    ("ps aux | less -R", "ps aux | cat"),
    ("htop -u root", "top -b -n 1 -u root"),
    ("lsof -r", "lsof"),
    ("kubectl logs web -c app -f", "kubectl logs --tail=200 --since=10m web -c app"),
]


@pytest.mark.parametrize(("command", "offered"), OFFERED)
def test_what_follows_is_offered_as_what_ends(command, offered):
    verdict = classify(command)
    assert not verdict.allow
    assert verdict.rewrite == offered
    assert classify(offered).allow


@pytest.mark.parametrize(
    "command",
    [
        "df -h",
        "rm f",
        "less -b 5 f",
        "less -T tags f",
        "btop -p 1",
        "lsof -r 5",
        "ss -E",
        "dmesg -W",
        "kubectl get pods --watch-only",
        "tail -f /etc/shadow",
        "sudo tail -f f",
        "tail -f f > out",
        "tail -f f; rm f",
        "tail -f $(cat names)",
        "less +F f",
        "watch 'df -h > out'",
        "docker run -it ubuntu bash",
        "vim f",
        "psql",
    ],
)
def test_nothing_is_offered_that_would_not_be_allowed(command):
    assert classify(command).rewrite is None


WORDS = st.sampled_from(
    ["tail", "-f", "-n", "5", "-fn5", "--follow", "--", "'-f'", '"a b"', "*.log", "log", "|", ";",
     "journalctl", "-u", "x", "docker", "logs", "kubectl", "2>/dev/null", "> out", "less", "watch",
     "ping", "-c", "rm", "exec", "-it", "$(x)", "&&", "~/f", "\\-f", "-F", "get", "-w"]
)  # fmt: skip


@given(st.lists(WORDS, max_size=8).map(" ".join))
def test_whatever_is_offered_is_allowed_and_ends(command):
    verdict = classify(command)
    assert verdict.rewrite is None or not verdict.allow
    if verdict.rewrite is not None:
        again = classify(verdict.rewrite)
        assert again.allow
        assert again.category is None
        assert again.rewrite is None
