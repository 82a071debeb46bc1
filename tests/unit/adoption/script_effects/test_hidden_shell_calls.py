"""A shell runs some programs that no command of the script names (`pulsus tools adopt`)."""

import pytest

from pulsus.adoption.script_effects.shell_walk import collect_facts

HIDDEN = [
    'hash -p /bin/rm ls; ls "$1"',
    'hash "$1"',
    'history -w "$1"',
    "history -a",
    "BASH_CMDS[ls]=/bin/rm",
    "BASH_ALIASES[ls]=rm",
    "PS4='$(rm y)'; set -x",
    "PS4='${x@P}'",
    "PROMPT_COMMAND=date",
    "BASH_ENV=x",
    "PATH=.:$PATH",
    "PATH+=:.",
    "IFS=abc",
    "TAR_OPTIONS=--to-command=rm",
    "GIT_EXTERNAL_DIFF=rm git show",
    "for PATH in .; do ls; done",
    'for BASH_ENV in "$@"; do ls; done',
    "read PATH < x",
    "read -r -a BASH_ALIASES",
    "printf -v PATH %s .",
    "printf -vPATH .",
    "getopts ab PATH",
    "mapfile -t BASH_CMDS",
    "echo ${PATH:=.}",
    "[[ x -eq 'a[$(rm y)]' ]]",
    "[[ 'a[$(rm y)]' -lt 3 ]]",
    "[ x -eq 'a[`rm y`]' ]",
    "test -v 'a[$(rm y)]'",
    "[[ -v 'a[$(rm y)]' ]]",
    "[[ -R $x ]]",
    "printf -v 'a[$(rm y)]' x",
    'printf -v "$1" x',
    "read 'x[$(rm y)]'",
    'read "$1"',
    "let 'a[$(rm y)]=1'",
    "echo $(( a[b] ))",
    "(( a['x'] ))",
    "echo $[ x ]",
    "unset 'a[$(rm y)]'",
    "declare -i x='a[$(rm y)]'",
    "declare 'a[$(rm y)]=1'",
    "local -n r=PATH",
    "x='a[$(rm y)]'; echo $((x))",
    "x=$'a[\\x24(rm y)]'",
    "a=('$(rm y)')",
    "a[$(rm y)]=1",
    'a["$(rm y)"]=1',
    "a['$(rm y)']=1",
    "for x in 'a[$(rm y)]'; do echo $((x)); done",
    "f() { echo $(( $1 )); }; f 'a[$(rm y)]'",
    'echo "${x@P}"',
    'echo "${!x}"',
    "echo ${x:'a[$(rm y)]'}",
    "echo ${a['b[$(rm y)]']}",
    "echo ${ rm y;}",
    "[[ a == @($(rm y)|b) ]]",
    "alias ls=rm",
    "enable -n echo",
    "enable -f x y",
    'builtin "$1"',
    "shopt -s expand_aliases",
    'shopt -s "$1"',
    "trap $x",
    "trap 'rm y' EXIT",
    'trap "$1" EXIT',
    ". file",
    "source file",
    "jobs -x rm y",
    "rm() { :; }; unset -f rm; rm y",
    "rm() { :; }; unset rm; rm y",
]

READS = [
    'while IFS= read -r line; do echo "$line"; done < "$1"',
    "IFS=$'\\n\\t'",
    'IFS=, read -ra parts <<< "$1"; echo "${parts[0]}"',
    "set -euo pipefail; shopt -s nullglob; hash -r",
    "PATH=/usr/bin:/bin",
    "PS4='+ ${LINENO}: '",
    "n=0; n=$((n + 1)); ((n++)); let n=n+1; echo $n",
    "for ((i = 0; i < 3; i++)); do echo $i; done",
    '[[ $# -gt 1 && -n ${1:-} ]] && echo "$1"',
    '[ "$(wc -l < x)" -eq 5 ]',
    "[[ $x =~ ^[a-z]+$ && -v x ]]",
    'a=(b c); echo "${a[@]}" "${a[$i]}" "${#a[@]}" "${!a[@]}" "${a[@]:1:2}"',
    'a[$i]=x; a[0]=y; m["k"]=z; m[$k]=z',
    'local x=1; declare -a y; export LC_ALL=C; readonly z="$1"',
    "echo '$(rm y)'; printf '%s\\n' '`rm`'",
    "printf -v name '%s' \"$1\"; read -r -p 'x? ' name < /dev/null",
    "RED='\\033[31m'; x=\"\\033[31m$y\\033[0m\"",
    'echo "${x:-y}" "${x%%.*}" "${x//[abc]/_}" "${x:2:3}" "${x^^}" "${1:?gone}"',
    "while getopts 'ab:' o; do case $o in a) x=1 ;; esac; done; shift $((OPTIND - 1))",
    'f() { local d="$1"; ls "$d"; }; f "$1"',
    "trap 'echo done' EXIT; history 5; enable; echo PATH SHELL",
]


def test_text_that_a_shell_evaluates_again_is_never_read():
    for text in HIDDEN:
        found = collect_facts(f"#!/bin/bash\n{text}\n", "bash")
        assert found.kind == "write", text
        lines = {line for line, _, _ in found.doubts} | {line for line, _ in found.changes}
        assert lines == {2}, text


@pytest.mark.parametrize("text", READS)
def test_usual_variables_tests_and_arithmetic_are_read(text):
    found = collect_facts(f"#!/bin/bash\n{text}\n", "bash")
    assert (found.kind, found.notes) == ("read", ())


DISPUTED = [
    '[ "$1" > x ]',
    '[ -n "$1" && rm y ]',
    "[esac -r x ]",
    "[ x -eq !'a[`rm y`]' ]",
    "![[ -n x ]]",
    "[[ls =~ ^[a-z]+$ && -v x ]]",
    "[[ $x =~ a || rm ]] y",
    "*a=b",
    "{}",
    '$"rm" y',
    'echo "$ $[a[1]] 1"',
    "if [ -n x ]; then ls > &2; fi",
    "IFS=$ for rm y",
    "time PATH=. ls",
    "cat << $[1]\nrm x\nE",
    "cat <<'E'\nx\nE ",
    "cat 0<<E\nx\nE",
    "ls 2>&-ls",
    "ls-l{2>x",
    "ls >&1\\\nx",
    "find . -na\\\nme x",
    "nice [[ a =~ b && rm y ]]",
    "A=b time rm y",
    "> /dev/null time rm y",
    "ls | cat &; rm y",
    "! if rm y; then :; fi",
    "ls $(ls",
    "'\\\nrm'",
]


@pytest.mark.parametrize("text", DISPUTED)
def test_text_that_parser_and_shell_may_read_differently_is_never_read(text):
    assert collect_facts(text, "bash").kind == "write"


@pytest.mark.parametrize(
    "text",
    [
        "cat x | grep y | cut -c1 # first\nls -l 2>/dev/null",
        "cat x | grep y | cut -c1\nls -l >/dev/null\nls | sort | cat\n\nls 2>/dev/null",
        "ls # rm x",
        "a=(b # rm y\nc)",
        "test -f $f.$1; ls $a.$2; b=$a/$1; j=$t/.$b.c; k=${t-/tmp}/x$RANDOM-$$",
        "for i do ls; done; for j\ndo ls\ndone",
        "if ! [ -f x ] && ! grep -q y x; then ls; fi",
        "cat <<-E | grep x\n\ta $(ls)\n\tE\nls",
        '[[ ! -f $x && ( -n "$y" || $z == a* ) ]] && ls',
        "f() ( ls )\nf; { ls; } 2>/dev/null; (ls)",
        "case $x in\n  a | b) ls ;; # rm\n  *) exit 1 ;;\nesac",
    ],
)
def test_usual_forms_that_the_grammar_misreads_are_read(text):
    found = collect_facts(text, "bash")
    assert (found.kind, found.notes) == ("read", ())
