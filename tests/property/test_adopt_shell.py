"""`pulsus tools adopt` finds a command in every part of a shell script."""

import hypothesis.strategies as st
from hypothesis import given, settings

from pulsus.adoption.script_effects.shell_walk import collect_facts
from tests.example_counts import examples

AROUND = (
    "if true; then {}; fi",
    "if false; then :; elif {}; then :; fi",
    "if false; then :; else {}\nfi",
    "for x in a b; do {}; done",
    "for x in a; do\n  {}\ndone > /dev/null",
    "while {}; do break; done",
    "until {}\ndo :; done",
    "case $1 in a|b) {} ;; *) exit ;; esac",
    "case $1 in\n  (a)\n    {}\nesac",
    "f() { {}; }",
    "function g {\n  {}\n}",
    "( {} )",
    "{ {}; }",
    "! ( {} )",
    "! [ -n x ] && {}",
    "true && {} || false",
    "echo a | {}",
    "{ {} & }",
    "x=$( {})",
    'x="$( {})"',
    "x=($( {}) b)",
    "export y=$( {})",
    "echo ${z:-$( {})}",
    "cat <( {})",
    "{ cat <<E\n$( {})\nE\n}",
    "while read -r l; do :; done < <( {})",
    "[[ -n $( {}) ]] && :",
    "echo $(( $( {}) + 1 ))",
    "(( n = $( {}) ))",
    "set -- $( {}) b",
    "cat /dev/null # not this\n{}",
    "select x in $( {}); do break; done",
)
QUOTED = ("eval '{}'", "sh -c '{}'", "trap '{}' EXIT", "sh <<'E'\n{}\nE\n", "alias a='{}'", "`{}`")
SIMPLE = (
    "{}",
    "env A=b {}",
    "timeout 5 {}",
    "sudo -u x {}",
    "nice -n 3 {}",
    "nohup {}",
    "exec {}",
    "command {}",
    "A=b {}",
    "ls | xargs -n 1 {}",
    "find . -exec {} {{}} \\;",
    "> /dev/null {}",
    "time {}",
)


def filled(template, command):
    return template.replace("{{}}", "\0").replace("{}", command).replace("\0", "{}")


@settings(max_examples=examples(300))
@given(
    st.sampled_from(SIMPLE),
    st.lists(st.sampled_from(AROUND), max_size=4),
    st.none() | st.sampled_from(QUOTED),
    st.lists(st.sampled_from(AROUND), max_size=2),
)
def test_a_program_is_declared_in_any_context(simple, inside, quoted, outside):
    text = filled(simple, "zap out.txt")
    for template in inside:
        text = filled(template, text)
    if quoted and "'" not in text and "`" not in text:
        text = filled(quoted, text)
    for template in outside:
        text = filled(template, text)
    found = collect_facts(text, "bash")
    assert found.kind == "write"
    assert "zap" in found.commands or found.doubts, text


@settings(max_examples=examples(300))
@given(st.lists(st.sampled_from(AROUND), max_size=4))
def test_a_read_is_a_read_in_any_context(around):
    text = "grep -c x /etc/hosts 2>/dev/null"
    for template in around:
        text = filled(template, text)
    if "<<E" in text and text.count("<<E") > 1:
        return  # one document within another of the same name
    found = collect_facts(text, "bash")
    assert (found.kind, found.notes, "grep" in found.commands) == ("read", (), True), text


@settings(max_examples=examples(300))
@given(st.text(alphabet="ab $\"'`(){}[]<>|&;\n\\#=-!*?", max_size=60))
def test_no_script_makes_the_reader_raise_or_run_long(text):
    assert collect_facts(text, "sh").kind in ("read", "write")


@given(st.sampled_from(("$CMD x", "${C[@]}", '"$1" y', "eval $x", "$(which rm) a", ". ./x", "*/x")))
def test_a_command_known_only_at_run_time_is_unknown(text):
    found = collect_facts(f"ls\n{text}\n", "sh")
    assert "unknown: read the script" in found.effects.commands
    assert any(note.startswith("line 2: ") for note in found.notes)
