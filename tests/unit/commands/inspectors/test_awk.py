"""An awk program is a read only if it writes nothing, starts nothing and ends."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.commands.inspectors.awk.awk import awk

READS = [
    "{print $1}",
    "$1 > 5",
    "NR > 1 {print $2, $NF}",
    'BEGIN {FS = ":"; OFS = "\\t"} {$1 = $1; print}',
    "/a|b/ && !/c/",
    "/[/]x/",
    "{n = split($0, a, /[^/]+/); print a[n]}",
    "/\\//,/end/",
    "$2 ~ /^[0-9]+$/ {s += $2} END {print s / NR}",
    "!seen[$0]++",
    "length > 80",
    "length($0) / 2 > 3",
    "{print ($1 > 2)}",
    '{print(a > b, "x")}',
    "{print (1, 2)}",
    "{print a[$1 > 2]}",
    '{printf "%s %d\\n", $1, $2 > "/dev/stderr"}',
    'END {print "done" > "/dev/stdout"}',
    "NR == FNR {a[$1] = $2; next} $1 in a {print a[$1]}",
    "{for (i = 1; i <= NF; i++) if ($i ~ /x/) print i, $i}",
    '{for (i = NF; i > 0; i--) printf "%s ", $i; print ""}',
    '{for (i = 1; i <= NF; i++) {gsub(/a/, "b", $i)}; print}',
    '{n = split($0, a, ","); for (i = 1; i <= n; i++) print a[i]}',
    "END {for (k in c) print k, c[k]}",
    "END {n = asorti(c, k); for (i = 1; i <= n; i++) print k[i]}",
    "{for (i = 1; i <= NF && !x; i++) if ($i == 3) x = i}",
    "{for (i = 1; i <= NF; i += 2) $i = $i + 1; print}",
    "{for (i = 1; i < NF - 1; ++i) printf $i}",
    "{for (i = 1; i <= length($1); i++) n[substr($1, i, 1)]++}",
    "{a[n++] = $0} END {for (i = n - 1; i >= 0; i--) print a[i]}",
    "NF > m {m = NF} END {for (i = 1; i <= m; i++) print i}",
    "function f(a) {return a + 1} function g(a) {return f(a) * 2} {print g($1)}",
    'BEGIN {while ((getline line < "a.txt") > 0) n++; print n}',
    '{print > "/dev/null"}',
    "function f(a, b) {return a + b} {print f($1, $2)}",
    "function max(a, b) {return a > b ? a : b}\n{m = max(m, $1)}\nEND {print m}",
    "{print length ($0), substr ($0, 2)}",
    '{print -1 " " -2, !x, a b c}',
    "{x = y = 3; a[1, 2]++; delete a[1, 2]; print (1, 2) in a}",
    "$0 = tolower($0)",
    'BEGIN {print ENVIRON["HOME"]}',
    "{if ($1) print; else print $2}",
    "{if ($1) {print} else if ($2) {print $2} else {next}}",
    "{switch ($1) {case 1: print; break; case /x/: print 2; default: next}}",
    "# nothing\n1",
    "{a = $1 # comment with > and |\nprint a}",
    "{print a,\n b}",
    "{print $1 \\\n, $2}",
    "p {print} /x/ {p = 1}; /y/ {exit}",
    "/a/ {print} /b/ {print}",
    'BEGIN {printf("%s\\n", "system(x) | sh > y")}',
    'END {print strftime("%F", systime())}',
    "{print $(NF - 1), $NF--}",
    "{a[NR] = $0} END {for (i = NR; i > 0; i--) print a[i]}",
    "{print x++ / 2, a[1] / 3, (4) / 5}",
    "NR % 2 == 0 || NR ~ /7$/",
    'BEGIN {RS = ""; FS = "\\n"} {print $1 "-" $2}',
    "{print NR ? $1 : $2}",
    "$1 ? /x/ : /y/",
]

WRITES_OR_RUNS = [
    'BEGIN {system("id")}',
    'BEGIN {system ("id")}',
    'BEGIN {system\\\n("id")}',
    'BEGIN {x = system("id") / 2}',
    '{print > "x"}',
    '{print >> "x"}',
    "{print $1 > $2}",
    '{print x = 1 > "x"}',
    '{print a ? b : c > "x"}',
    '{print a,\n b > "x"}',
    '{print (1)(2) > "x"}',
    '{print(1, 2) > "x"}',
    '{print > "/dev/stderr" ".x"}',
    '{print > "/dev/stderr/../x"}',
    '{printf "%s", $1 >> ("x" NR)}',
    '{if (1) print > "x"}',
    '{print a[1] > "x"}',
    '{print "a" "b" > "x"; print}',
    '{print | "sh"}',
    '{print |& "sh"}',
    '{"id" | getline}',
    '{"id" |& getline x}',
    'BEGIN {f = "system"; @f("id")}',
    '@include "x"',
    '@load "filefuncs"',
    "BEGIN {getline x < $1}",
    'BEGIN {getline x < "a" "b"}',
    'BEGIN {getline < "/inet/tcp/0/h/80"}',
    'BEGIN {getline < "/dev/tcp"}',
    'BEGIN {getline x < "/etc/h\\157sts"}',
    "BEGIN {for (k in ENVIRON) print k, ENVIRON[k]}",
    "BEGIN {print ENVIRON[x]}",
    'BEGIN {print ENVIRON["API_KEY"]}',
    'BEGIN {print ENVIRON["API\\137KEY"]}',
    'BEGIN {print SYMTAB["ENVIRON"]}',
    'BEGIN {ARGV[1] = "x"; ARGC = 2}',
    "BEGIN {ARGC++}",
    'BEGIN {split("a b", ARGV)}',
    'function f(a) {a[1] = "x"} BEGIN {f(ARGV)}',
    'BEGIN {sub(/a/, "b", ARGV[1])}',
    "BEGIN {getline ARGV[1]}",
    'BEGIN {unlink("x")}',
    '{print extension("x")}',
    '/[/]/ {print} {x = "a/ && system(1) #"',
    '/[/ {print > "x"} /]/',
    "/[[:]/ {system(1)} /:]]/",
    "length / 2 / system(1)",
    "{if (x) /2/ > 1}",
    "{getline /x/}",
    'BEGIN {awk::system("id")}',
    "{print",
    "}",
    "'",
    '"',
    "/",
    "{print `id`}",
    "a\rb",
    "{" * 200,
    "(" * 500,
    "$" * 500,
    "1" + "^1" * 5000,
    '/[/]/ {print > "x"} /]/',
]

NEED_NOT_END = [
    "BEGIN {while (1) x++}",
    'BEGIN {while ("yes") x++}',
    "BEGIN {while (!0) x++}",
    "BEGIN {for (;;) x++}",
    "BEGIN {for (;;) if (x) break}",
    "BEGIN {do x++; while (1)}",
    "BEGIN {for (i = 0; i < 3;) x++}",
    "BEGIN {for (i = 0; i < 3; j++) x++}",
    "BEGIN {for (i = 0; i < 3; i--) x++}",
    "BEGIN {for (i = 0; i >= 0; i++) x++}",
    "BEGIN {for (i = 0; i < 3; i++) i = 0}",
    "BEGIN {for (i = 0; i < 3; i++) i--}",
    "BEGIN {for (i = 0; i < n; i++) n++}",
    "BEGIN {for (i = 0; i < i + 1; i++) x++}",
    "BEGIN {for (i = 0; i < 1e18; i++) x++}",
    "BEGIN {for (i = 0; i < 10 ^ 18; i++) x++}",
    "BEGIN {for (i = 0; i < 999999999999; i++) x++}",
    "BEGIN {for (i = 0; i < 3; i += 0) x++}",
    "{for (i = 1; i <= NF; i++) $(NF + 1) = 1}",
    '{for (i = 1; i <= NF; i++) $0 = $0 " x"}',
    '{for (i = 1; i <= NF; i++) gsub(/a/, "a a")}',
    "{for (i = 1; i <= NF; i++) NF++}",
    "{while (i <= NF) {i++; $i = 1}}",
    '{for (i = 1; i <= length(s); i++) s = s "x"}',
    "{for (i = 1; i <= length(a); i++) a[i + 1]}",
    "{for (i = 1; i in a; i++) a[i + 1]}",
    "function g() {n++} {for (i = 0; i < n; i++) g()}",
    "{for (i = 1; i <= NF + 5; i++) $i = 1}",
    '{for (i = 1; i < length; i++) $i = $i "x"}',
    "{for (i = 1; i <= NF / (1 / 3); i++) $i = 1}",
    "{for (i = 1; i <= NF - (1 - 6); i++) $i = 1}",
    "{for (i = 1; i <= length($0); i++) $1 = $1 1}",
    "{for (i = 1; i <= length; i++) NF++}",
    "{for (i = $1; i <= NF; i++) print}",
    "{for (i = -x; i <= NF; i++) print}",
    "{for (; i <= NF; i++) print}",
    "{for (i = 1; i <= NF; j++) for (j = 1; j <= NF; i++) print}",
    "{for (i = 1; i <= 3; i++) for (i = 1; i <= 2; i++) print}",
    "{for (i = 1; i <= NF; i++) getline}",
    "{for (i = 1; i <= n; i++) n = split($0, a)}",
    "{for (i = 1; i <= NR || 1; i++) print}",
    "{for (i = 1; !(i > 3); i++) print}",
    "{for (i = 1; i != 4; i += 2) print}",
    "{for (i = 1; i <= 3 || x; i++) print}",
    "{for (i = 1; i < 3 && i--; i++) print}",
    'BEGIN {NR = "x"; for (i = 1; i < NR; i++) print}',
    "function f(a, b) {for (i = 1; i <= length(a); i++) b[i + 1] = 1} {f(x, x)}",
    "function f(n) {for (i = 1; i <= n; i++) print} {f($1)}",
    "function f() {i = 0} {for (i = 1; i <= 3; i++) f()}",
    "function g() {return f()} function f() {return g()} {f()}",
    "{for (i = NF; i; i -= 2) x++}",
    "{for (i = NF; i; i--) i--}",
    "{while (i < 3) if (x) i++}",
    "{while (i < 3) {if (x) continue; i++}}",
    'BEGIN {while (getline x < "a") n++}',
    "END {while (getline) n++}",
    "function f() {while (getline) n++} {f()}",
    "BEGIN {while (getline) n++; while (getline line) n++}",
    "{for (i = 0; i < 2; i++) while (getline) n++}",
    'BEGIN {while ((getline x < "a") > 0) close("a")}',
    'BEGIN {while ((getline x < "a") >= 0) n++}',
    "{while (match($0, /x*/)) $0 = substr($0, RSTART + RLENGTH)}",
    "{while (match($0, /x/)) print}",
    '{while (match(s, "x*")) {s = substr(s, RSTART + 1)}}',
    '{while (i-- > "#" 0) print}',
    "{for (i = 1; i <= $1; i++) print}",
    'BEGIN {n = "x"; for (i = 1; i <= n; i++) print}',
    "{for (i = 1; i <= n; i++) print}",
    "{while (i > 0) print x ? i-- : 1}",
    "{while (i > 0) {x && i--}}",
    '{while (sub(/a/, "a")) n++}',
    '{while (sub(/ab/, "&")) n++}',
    '{while (sub(/ab/, "")) $0 = $0 "ab"}',
    "function f(n) {return f(n + 1)} {f(1)}",
    "function f() {g()} function g() {f()} {f()}",
]


def test_a_program_that_only_prints_is_a_read():
    found = {program: awk((program,), "") for program in READS}
    refused = {p: each.rule for p, each in found.items() if not each.reads or each.category}
    assert refused == {}


def test_an_awk_program_that_writes_or_runs_is_refused():
    assert [program for program in WRITES_OR_RUNS if awk((program,), "").reads] == []


def test_a_loop_that_is_not_seen_to_end_is_a_stream():
    found = {program: awk((program,), "").category for program in NEED_NOT_END}
    assert found == dict.fromkeys(NEED_NOT_END, "unbounded_stream")


OUTSIDE_THE_FORMS = [
    "{for (i = NF; i; i--) print $i}",
    "{i = 1; while (i <= NF) {print $i; i++}}",
    "{i = 3; while (i-- > 0) print}",
    "{do {i++; print i} while (i < 3)}",
    "BEGIN {while (getline) n++; print n}",
    "BEGIN {while (getline line) print line}",
    "{while (match($0, /[0-9]+/)) {print RSTART; $0 = substr($0, RSTART + RLENGTH)}}",
    "{while (match(s, /[a-z]/)) {s = substr(s, RSTART + 1)}}",
    "{a[NR] = $0} END {i = NR; while (i > 0) print a[i--]}",
    '{while (sub(/ab/, "c")); print}',
    '{while (gsub(/  /, " ")); print}',
]


@pytest.mark.parametrize("program", OUTSIDE_THE_FORMS)
def test_a_loop_outside_the_accepted_forms_is_not_followed(program):
    found = awk((program,), "")
    assert found.category == "unbounded_stream"
    assert "for (i = 1; i <= N; i++)" in found.rule


@given(st.text())
def test_no_text_makes_it_raise(program):
    awk((program,), "")


_PIECES = [
    *'{}()[];,$!?:<>=/"\\\n #+-',
    *("print", "getline", "while", "for", "if", "x", "1", "in", "do", "else", "function f("),
    *("system", "a[", "/x/", '"s"', " "),
]


@given(st.lists(st.sampled_from(_PIECES)))
def test_no_mixture_of_its_words_makes_it_raise(words):
    awk(("".join(words),), "")


_LONG = [
    "(" * 9000,
    "$" * 9000,
    "a+" * 5000 + "a",
    "/" + "[]x]" * 2400,
    '"' * 9000,
    "{" + "while(f())x++;" * 600 + "}function f(){x=1}",
    "{while(i<length(a)" + "+length(a)" * 700 + ")i++}",
    "function f(){f()}" * 500,
]


@pytest.mark.parametrize("program", _LONG, ids=range(len(_LONG)))
def test_a_long_program_is_refused_or_judged_soon(program):
    started = time.thread_time()
    found = awk((program,), "")
    assert time.thread_time() - started < 2
    assert not found.reads or found.category is not None


GROW = [
    'BEGIN {printf "%1000000000d", 1}',
    'BEGIN {x = sprintf("%1000000000s", "")}',
    'BEGIN {printf "%*d", 1000000000, 1}',
    "BEGIN {for (i = 0; i < 999; i++) for (j = 0; j < 999; j++) for (k = 0; k < 99; k++) print}",
    "BEGIN {n = 9999; for (i = 0; i < n; i++) for (j = 0; j < n; j++) print}",
    "{x = x x}",
    'BEGIN {x = "a"; for (i = 1; i <= 100; i++) x = x x}',
    "{t = x; x = x t}",
    "{y = x y; x = x y}",
    '{x = sprintf("%s%s", x, x)}',
    "{a[1] = a[1] a[1]}",
    '{gsub(/a/, "&&", x)}',
    'BEGIN {x = "a"; for (i = 1; i <= 100; i++) gsub(/a/, "aa", x)}',
    'BEGIN {$0 = "a"; for (i = 1; i <= 100; i++) gsub(/a/, "aa")}',
    "{for (i = 1; i <= 40; i++) $0 = $0 $0}",
    '{for (i = 1; i <= 40; i++) $0 = $1 $0 " " $1}',
    "{" + "$0 = $0 $0;" * 40 + "}",
    "{x = (1 ? x : y) x}",
    "{x = y = x x}",
    "{x = tolower(x) x}",
    'BEGIN {for (i = 1; i <= 9999999; i++) a[i] = sprintf("%9999s", "")}',
    "function f(s) {return s s} {x = f(x)}",
    "function f(s) {x = s s} {f(x)}",
    "{split(x x, a); x = a[1]}",
    '{x = x "" x}',
    "{x=x$0x}",
    "BEGIN {$1000000000 = 1; print}",
    "{NF = 1000000000} 1",
    "{NF *= 100} 1",
    "{$(NR * 1000000) = 2} 1",
    "{NF = 10 ^ 9} 1",
    '{sub(/a/, "b", $1000000000)} 1',
]

STAY = [
    '{s = s sep $0; sep = ","} END {print s}',
    '{a[$1] = a[$1] ? a[$1] "," $2 : $2} END {for (k in a) print k, a[k]}',
    '{$0 = $1 " " $2; print}',
    "{$3 = $1 $2} 1",
    '{l = ""; for (i = 2; i <= NF; i++) l = l " " $i; print l}',
    '{printf "%-20s %10.2f\\n", $1, $2}',
    '{x = $0; gsub(/a/, "bb", x); print x}',
    "{prev = cur; cur = $0; print prev cur}",
    "{t = a; a = b; b = t} {print a b}",
    'BEGIN {for (i = 1; i <= 10; i++) for (j = 1; j <= 10; j++) printf "%d ", i * j}',
    '{gsub(/[^a-z]/, "--"); print}',
    '{for (i = 1; i <= NF; i++) gsub(/"/, "\\"\\"", $i); print}',
    "{s += $1; m = m > $1 ? m : $1}",
    '{b = sprintf("%s", $1); print b}',
    '{printf "%*d\\n", 10, $1}',
    "BEGIN{n = 1000; for (i = 0; i < n; i++) print i}",
    "{x = x + x}",
    '{line = $0; sub(/^ +/, "", line); out = out line "\\n"} END {printf "%s", out}',
    '{gsub(/a/,"&&")}1',
    "{NF -= 1} 1",
    "NF {NF--} 1",
    "{$(NF + 1) = $1 + $2} 1",
]


@pytest.mark.parametrize("program", GROW)
def test_a_short_program_does_not_fill_the_memory(program):
    found = awk((program,), "")
    assert not found.reads or found.category == "unbounded_stream"


@pytest.mark.parametrize("program", STAY)
def test_texts_that_grow_by_a_line_stay_reads(program):
    found = awk((program,), "")
    assert found.reads, found.rule
    assert found.category is None, found.rule
