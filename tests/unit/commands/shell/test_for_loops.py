"""Loops over known words are judged as if they were written out (docs/commands.md, Loops)."""

import pytest

from pulsus.commands import classify
from pulsus.commands.execution_plan import prepared
from pulsus.commands.shell.script_parser import parse_command
from tests.executed import started


def calls(command):
    return [tuple(word.text for word in stage.words) for stage in parse_command(command).stages]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("for h in a b; do ls $h; done", [("ls", "a"), ("ls", "b")]),
        ("for h in a b\ndo\n  ls $h # the folder\ndone", [("ls", "a"), ("ls", "b")]),
        ('for h in "a b" c; do ls -l "x $h" /${h}; done', None),
        ('for h in "a b" c; do ls "x $h"; done', [("ls", "x a b"), ("ls", "x c")]),
        ("for i in {1..3}; do echo $i; done", [("echo", "1"), ("echo", "2"), ("echo", "3")]),
        (
            "for a in x y; do for b in 1 2; do ls $a$b; done; done",
            [("ls", "x1"), ("ls", "x2"), ("ls", "y1"), ("ls", "y2")],
        ),
        ("for a in x; do for b in $a-1 2; do ls $b; done; done", [("ls", "x-1"), ("ls", "2")]),
        ("for h in a; do echo '$h' \\$h done; done", [("echo", "$h", "$h", "done")]),
        ("for h in a b; do ls; done | sort", [("ls",), ("ls",), ("sort",)]),
    ],
)
def test_each_iteration_is_read_as_if_written_out(command, expected):
    if expected is None:
        assert "apart into words" in str(classify(command).reason)
    else:
        assert calls(command) == expected


@pytest.mark.parametrize(
    "command",
    [
        'for h in web1 web2; do ssh "$h" uptime; done',
        "for h in web1 web2; do dig +short $h; done | sort -u",
        "for z in UTC Asia/Tokyo; do TZ=$z date; done",
        "for f in a.log b.log; do wc -l < $f; done",
        "for n in prod test; do kubectl get pods -n $n; done",
        "for d in sda sdb; do lsblk /dev/$d 2>/dev/null; done",
        "uptime; for i in 1 2 3; do date; sleep 1; done; uptime",
    ],
)
def test_a_loop_of_reads_is_allowed(command):
    assert classify(command).allow


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("for f in a b; do rm $f; done", "rm"),
        ("for p in rm; do $p -rf x; done", "rm"),
        ("for f in hosts shadow; do cat /etc/$f; done", "/etc/shadow"),
        ("for f in ../shadow; do cat /etc/x/$f; done", "/etc/x/../shadow"),
        ("for o in -print -delete; do find . $o; done", "-delete"),
        ("for f in a b; do cat $f > c; done", ">c"),
        ("for f in a b; do tail -f $f; done", "-f"),
        ("for h in a b; do ping -c 1 $h & done", "done"),
        ("for f in *.log; do cat $f; done", "*.log"),
        ("for f in ~/a; do cat $f; done", "~/a"),
        ("for f in $(cat list); do cat $f; done", "$(cat list)"),
        ("for f in $list; do cat $f; done", "$list"),
        ("for f in; do cat $f; done", ""),
        ("for f; do cat $f; done", "for"),
        ("for f in ''; do cat $f; done", "''"),
        ("for f in 'a;b'; do cat $f; done", "'a;b'"),
        ("for f in a; do cat $g; done", "$g"),
        ("for f in a; do cat ${f%x}; done", "${f%x}"),
        ("for f in a; do cat ${!f}; done", "${!f}"),
        ("for f in a; do ls; done; cat $f", "$f"),
        ("for PATH in /tmp; do ls; done", "PATH"),
        ("for IFS in a; do ls; done", "IFS"),
        ("for path in /tmp; do ls; done", "path"),
        ("for http_proxy in h:1; do curl http://a; done", "http_proxy"),
        ("for a in 1; do for a in 2; do ls $a; done; done", "a"),
        ("for a in 1; do for b in 1; do for c in 1; do ls; done; done; done", "for"),
        ("for i in {1..101}; do ls $i; done", "101 programs"),
        ("for i in {1..900}; do ls aaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done", "for"),
        ("select f in a b; do cat $f; done", "select"),
        ("for ((i = 0; i < 3; i++)); do ls; done", "for ((i"),
        ("for i in 1 2; do $(rm x); done", "$(rm x)"),
        ("for i in 1 2; do eval ls; done", "eval"),
        ("for i in 1 2; do break; done", "break"),
    ],
)
def test_a_loop_whose_body_or_words_are_not_known_to_read_is_refused(command, named):
    verdict = classify(command)
    assert not verdict.allow
    assert named in str(verdict.reason)


def test_what_runs_is_the_text_that_was_judged():
    plan = prepared(classify('for h in a "b c"; do echo "<$h>"; done'), {})
    assert "$" not in plan.argv[-1]
    assert started(plan).stdout == "<a>\n<b c>\n"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("if true; then ls; fi", "run the test alone"),
        ("case x in a) ls ;; esac", "run the test alone"),
        ("while true; do ls; done", "for h in a b; do"),
        ("until ls; do df; done", "for h in a b; do"),
        ("for ((i = 0; i < 3; i++)); do ls; done", "{1..3}"),
        ("for h in $(cat f); do ls; done", "name the words"),
        ("f() { ls; }; f", "write its body alone"),
        ("echo $HOME", "write the value itself"),
        ("ls &", "leave out the &"),
        ("[[ -f x ]]", "use [ … ]"),
        ("cat <<< x", "use a pipe"),
        ("cat <<E\nx\nE", "name a file"),
        ("ls $(cat f)", "run the inner command alone"),
    ],
)
def test_syntax_that_is_not_followed_says_what_to_write_instead(command, said):
    verdict = classify(command)
    assert not verdict.allow
    assert said in verdict.reason.instead
