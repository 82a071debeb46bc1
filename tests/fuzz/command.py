"""A shell command: any bytes get a verdict, the same one each time, and never an exception.

What is allowed was parsed whole, is a read in every part, has the words that `shlex` sees where
that can tell, and can be prepared to be run.
"""

import re
import shlex

from pulsus.commands.classify import classify, examine
from pulsus.commands.execution_plan import prepared
from pulsus.commands.explain_verdict import explain
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.shell.script_parser import parse_command
from pulsus.commands.shell.words import Unreadable, unquoted
from tests.fuzz import attempt

WORDS = (
    *(
        b" | ",
        b" && ",
        b"; ",
        b"\\\n",
        b" 2>/dev/null",
        b" 2>&1",
        b" > ",
        b"<(",
        b"$(",
        b"`",
        b"${",
    ),
    *(b"\\;", b"{}", b"--", b"=", b"'", b'"', b"$'", b"#", b"!", b"~", b"*", b"[", b"]", b"{a,b}"),
    *(
        b"timeout 5 ",
        b"env ",
        b"ssh host ",
        b"xargs ",
        b"find . -exec ",
        b"nice ",
        b"docker exec c ",
    ),
    *(b"sort -o", b"tail -f ", b"sed -n '", b"awk '{", b"jq '.", b"psql -c 'select ", b"curl -X "),
    *(b"git log ", b"kubectl get ", b"systemctl status ", b"redis-cli get ", b"sqlite3 a.db '"),
    *(b"/usr/bin/", b"/etc/shadow", b"/dev/tcp/", b"\xe2\x80\xae", b"\xc2\xa0", b"\xe2\x80\x93"),
)
_CONTEXT = JudgeContext()
_UNLIKE = re.compile(r"[\\;&|(){}<>!#~$\n]")
"""Marks that shlex, which knows no operators and fewer escapes, reads otherwise."""


def fuzz_one(data):
    text = data.decode("utf-8", "surrogateescape")
    verdict = classify(text, _CONTEXT)
    assert classify(text, _CONTEXT) == verdict
    attempt(Unreadable, unquoted, text)
    explained = explain(text, _CONTEXT)
    assert explained.verdict == verdict
    assert all(classify(each, _CONTEXT).allow for each in explained.allowed)
    if verdict.rewrite is not None:
        assert not verdict.allow
        assert classify(verdict.rewrite, _CONTEXT).allow
    if verdict.allow:
        _allowed(text, verdict)
    else:
        assert verdict.intent == "write_or_unknown"
        assert verdict.risk


def _allowed(text, verdict):
    assert text.isprintable() or re.search(r"[\n\t]", text)
    assert (verdict.category, verdict.risk, verdict.sensitive) == (None, 0, False)
    assert all(finding.is_read for finding in examine(text, _CONTEXT).findings)
    script = parse_command(text)
    plan = prepared(verdict, {}, lookup=lambda name: f"/usr/bin/{name}")
    assert plan.argv[0].startswith("/")
    assert not classify(f"{text}\nrm x", _CONTEXT).allow
    if not (plan.shell or _UNLIKE.search(text)) and not script.stages[0].assignments:
        assert tuple(shlex.split(text)) == tuple(word.text for word in script.stages[0].words)
