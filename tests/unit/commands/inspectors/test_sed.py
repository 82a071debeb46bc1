"""A sed script is a read only if none of its commands writes or runs, and it ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.commands.classify import examine
from pulsus.commands.inspectors.sed import sed
from pulsus.commands.judge_context import JudgeContext

READS = [
    "p",
    "1,5p",
    "$d",
    "2~3d",
    "/a/,+3p",
    "/a/I,/b\\/c/M!d",
    "0,/x/s//y/",
    "\\,a/b,p",
    "1 ! p",
    "s/a/b/",
    "s/a/b/g;s/c/d/2p",
    "s|/usr|/opt|gI",
    "s,a\\,b,c,",
    "s/[^/]*$//",
    "s/[/]/x/",
    "s#[[:space:]/]#/#",
    "s/\\(a\\)\\(b\\)/\\2\\1&/",
    "s/a/x\\\ny/",
    "s/w/e/; s/e/w/",
    "s/a/b/w /dev/stdout",
    "s/a/b/ ; p",
    "y/abc/xyz/",
    "y/;}/ab/;p",
    "/x/{s/a/b/;p}",
    "/x/{/y/{p};d};p",
    "/x/{\np\nd\n}",
    "=",
    "l 5;q",
    "10q5",
    "$!N;P;D",
    "$!N;/^\\(.*\\)\\n\\1$/!P;D",
    "N;N;s/\\n/ /g",
    ":a;N;$!ba;s/\\n/ /g",
    ":a\nN\n$!ba\ns/\\n/,/g",
    ":a;$!{N;ba};s/\\n/,/g",
    ":a;/x$/{N;s/x\\n//;ba}",
    ":a;$q;N;11,$D;ba",
    "/a/b;s/x/y/;b end;p;:end",
    ":a;s/aa/a/;ta",
    "a hello",
    "a\\\nhello; w x",
    "i\\\n  a\\\n  b",
    "1i text }; w x",
    "$!{h;d};x;G",
    "1!G;h;$!d",
    "r other.txt",
    "R /dev/stdin",
    "F;z;x;H;g",
    "# w x\np",
    "#n\n/a/p",
    "s/a/b/;# e x",
    "n;d",
    "/^$/d;s/^[ \\t]*//",
    "s/.*/\\U&/",
    "s/\\x26/&amp;/",
    "s:a:b:;s!c!d!;s.e.f.",
    "T;p",
    "v 4.2\np",
]

WRITES_OR_RUNS = [
    "w out",
    "w",
    "1,3w out",
    "W out",
    "/a/!w out",
    "$!{w out\n}",
    "p;w out",
    "p\nw out",
    "s/a/b/w out",
    "s/a/b/gw out",
    "s/a/b/ w out",
    "s/a/b/pw/dev/stdout.x",
    "s/a/b/e",
    "s/a/b/ge",
    "s|a|b|e;p",
    "s,a,b,Ie",
    "e",
    "e id",
    "1e rm x",
    "$ e id",
    "/x/{e id\n}",
    "#x\ne id",
    "a hello\ne id",
    "a\\\nhello\ne id",
    "i\\\nx\\\\\nw out",
    "y/a/b/;w out",
    "v;w out",
    "v 4.2;e id",
    "v 4.2 w out",
    "s/[/]/x/e",
    "s/[/]/w x/;#]/w y",
    "s/[\\]/w x/;s/]/y/w out",
    "s/a\\/b/c/e",
    "s/a/b\\/c/e",
    "s/a/\\\n/e",
    "sxaxbxe",
    "s a b e",
    "r/etc/hostname",
    "r /dev/tcp/h/1",
    "r",
    "b x;:x}e",
    ":a b;e",
    "M",
    "k",
    "p}",
    "{p",
    "s/a/b",
    "s/a",
    "s",
    "y/a/b/x",
    "1,p",
    "b nowhere",
    "p;;;1e",
    "a",
    "a hello\\",
]

NEED_NOT_END = [
    ":a;ba",
    ":a;$!N;ba",
    ":a;s/a/a/;ta",
    ":a;s/a/b/;ta",
    ":a;s/ab/&/;ta",
    ":a;s/.*/x/;ta",
    ":a;/x/bb;N;:b;ba",
    ":a;/x/{N};ba",
    ":a;Ta",
    "s/^/\\n/;D",
    "G;D",
    "s/\\(.\\)/\\1\\1/;N;D",
    "y/a/\\n/;D",
    "x;D",
    "s/a/aa/g;" * 22,
]


def test_a_script_that_only_prints_is_a_read():
    found = {script: sed((script,), "") for script in READS}
    refused = {s: each.rule for s, each in found.items() if not each.reads or each.category}
    assert refused == {}


def test_a_sed_script_that_writes_or_runs_is_refused():
    assert [script for script in WRITES_OR_RUNS if sed((script,), "").reads] == []


@pytest.mark.parametrize("script", NEED_NOT_END)
def test_a_script_that_goes_back_without_getting_on_is_a_stream(script):
    assert sed((script,), "").category == "unbounded_stream"


@pytest.mark.parametrize(
    ("pieces", "reads"),
    [
        ((":a", "$!{N", "ba", "}"), True),
        (("/x/{", "p", "}"), True),
        (("p", "w out"), False),
        (("a\\", "w out"), False),
        (("a text\\", "w out"), False),
        (("s/a/", "b/e"), False),
    ],
)
def test_pieces_are_lines_of_one_script(pieces, reads):
    assert sed(pieces, "").reads is reads


@pytest.mark.parametrize(
    "command",
    [
        "sed 'r /etc/shadow' a",
        "sed -e p -e 'R /root/.ssh/id_rsa' a",
        "awk 'BEGIN {while ((getline x < \"/etc/shadow\") > 0) print x}'",
    ],
)
def test_a_secret_that_a_script_reads_is_found(command):
    assert examine(command, JudgeContext()).deciding.reason.phase == "sensitive"


@given(st.lists(st.text(max_size=20), max_size=3).filter(bool))
def test_no_text_makes_it_raise(pieces):
    sed(tuple(pieces), "")


@given(st.text(alphabet="sywerab:;{}/\\[]^$!1,~+ \n&gpNDt#", max_size=40))
def test_no_mixture_of_its_letters_makes_it_raise(script):
    sed((script,), "")


@pytest.mark.parametrize(
    "script",
    [
        "g;G;h",
        "H;g;G;h",
        "G;s/.*/&&/;h",
        "s/x/&&&&&&&&&/g;" * 7,
        "s/.*/&&/;" * 30,
        "s/\\(.*\\)/\\1\\1/;" * 30,
        "G;h;" * 10 + "G;h",
    ],
)
def test_a_script_that_copies_its_text_again_and_again_does_not_fill_the_memory(script):
    assert sed((script.rstrip(";"),), "").category == "unbounded_stream"


@pytest.mark.parametrize(
    "script",
    [
        "1!G;h;$!d",
        "x;G;1!h;s/\\n//g;$!d",
        "H;$!d;x;s/\\n/,/g",
        "/start/,/end/{H;x;s/\\n/ /;x}",
        "G;s/\\n/&&/;/^\\([ -~]*\\n\\).*\\n\\1/d;s/\\n//;h;P;d",
        "s/^\\(.*\\)\\n\\(.*\\)$/\\2 \\1 \\2/",
    ],
)
def test_scripts_that_collect_lines_stay_reads(script):
    found = sed((script,), "")
    assert found.reads, found.rule
    assert found.category is None, found.rule
